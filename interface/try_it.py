"""`sottovoce try`: what would happen to one text or one recording, shown before and after."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.models.errors import SettingsError

if TYPE_CHECKING:  # --help must not wait for it
    from rich.console import Console

    from sottovoce.models.records import Span

EXAMPLES = """\
  sottovoce try "remind anna to call oh seven seven double oh nine"
  sottovoce try examples/demo/audio/travel-02-4.flac --text "book it for ingrid solberg"
  sottovoce try call.wav --text "this is anna" --voice '{use: phonetic, prosody: 0}' --out tried.wav
"""

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
SOUND = (".wav", ".flac", ".ogg", ".mp3", ".opus", ".aiff", ".au")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sottovoce try`."""
    parser.add_argument("what", metavar="TEXT|FILE", help="a text in quotes, or a recording")
    parser.add_argument("--text", metavar="TEXT", help="what is said in the recording")
    parser.add_argument("--detect", default="default", metavar="MEMBER", help="who finds what is sensitive (default)")
    parser.add_argument("--voice", default="phonetic", metavar="MEMBER", help="the new voice (default phonetic)")
    parser.add_argument("--language", metavar="CODE", help="of the text, such as de (guessed where it is not given)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the new recording goes (NAME.tried.wav here)")


def run(args: argparse.Namespace) -> int:
    """`sottovoce try`: one text or recording before and after, on the screen."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    is_sound = args.what.lower().endswith(SOUND) and " " not in args.what
    if is_sound and not Path(args.what).is_file():
        raise SettingsError([f"{args.what}: no such file; give a recording, or a text in quotes"])
    if is_sound and not args.text:
        raise SettingsError([f'{args.what}: needs what is said in it: --text "..."'])
    if args.text and not is_sound:
        raise SettingsError([f"--text: {args.what} is no recording; expected a file that ends in {', '.join(SOUND)}"])
    text = args.text if is_sound else args.what
    if not text.strip():
        raise SettingsError(["the text is empty; expected words in quotes"])
    language = _language_of(text, args)
    if language != "en":
        console.print(
            f"language  {language}{'' if args.language else ', guessed from its words; --language says otherwise'}"
        )
    _try_text(console, text, args.detect, language)
    if is_sound:
        _try_recording(console, args, text, language)
    return 0


def _language_of(text: str, args: argparse.Namespace) -> str:
    """As a run knows it: said, or guessed among those that the detector knows."""
    import yaml

    from sottovoce.models.settings import languages_of, read_spec
    from sottovoce.models.text.language import spoken_in

    return spoken_in(text, args.language, languages_of(read_spec("detect", yaml.safe_load(args.detect))))


def _try_text(console: Console, text: str, detect: str, language: str) -> None:
    import yaml

    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.text.language import LanguageNotSupported
    from sottovoce.models.text.replace import TABLE
    from sottovoce.on_text import detect as find
    from sottovoce.on_text import replace

    detector = yaml.safe_load(detect)
    spans = find(text, detector=detector, language=language)
    console.print("[bold]before[/]    ", _coloured(text, spans), sep="")
    for span in spans:
        console.print("  ", _coloured(f"{span.type:<8}", [(0, len(span.type), span.type)]), sep="", end="")
        console.print(text[span.begin : span.end], f"   ({span.detector}, {span.score:.2f})", sep="", markup=False)
    if not spans:
        console.print("  nothing sensitive was found: what a detector misses stays in clear")
    secret = fresh_secret()
    console.print("[bold]after[/]")
    for strategy in TABLE:
        try:
            made = replace(text, strategy, secret=secret, detector=detector, language=language).text
        except LanguageNotSupported:
            made = "(does not know this language: refused)"
        console.print(f"  {strategy:<11}", made, markup=False)


def _try_recording(console: Console, args: argparse.Namespace, text: str, language: str) -> None:
    import yaml

    from sottovoce.on_speech import anonymise

    chosen = {"voice": yaml.safe_load(args.voice), "detector": yaml.safe_load(args.detect)}
    made = anonymise(args.what, text, **chosen, language=language)
    out = args.out or Path(f"{Path(args.what).stem}.tried.wav")
    try:
        made.save(out)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise SettingsError([f"--out {out}: cannot be written ({type(error).__name__}); such as tried.wav"]) from None
    console.print("[bold]speech[/]    ", made.text or "(no word is left)", sep="", end="\n")
    for begin_s, end_s in made.masked_s:
        console.print(f"  masked    {begin_s:.2f} to {end_s:.2f} s")
    for word, begin_s, end_s in made.words:
        console.print(f"  {begin_s:6.2f} to {end_s:.2f} s  {word}", markup=False)
    console.print(f"  {out}: {made.duration_s:.2f} s in another voice; play it", markup=False)


def _coloured(text: str, spans: list[Span] | list[tuple[int, int, str]]) -> object:
    """Each type in a colour of its own."""
    from rich.text import Text

    shown = Text(text)
    for span in spans:
        begin, end, kind = span if isinstance(span, tuple) else (span.begin, span.end, span.type)
        shown.stylize(f"bold {COLOURS[sum(map(ord, kind)) % len(COLOURS)]}", begin, end)
    return shown
