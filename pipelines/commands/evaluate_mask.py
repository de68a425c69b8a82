"""`sottovoce evaluate mask`: whether masks cover sensitive words, what they cost, and whether a misplaced one is heard."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from sottovoce.pipelines.local.audio_arguments import add_audio_arguments
from sottovoce.pipelines.local.numbers import at_least_one

IN_A_ROW = "corpus, recordings in a row"
EXAMPLES = """\
  sottovoce evaluate mask
  sottovoce evaluate mask --shift-ms 200 400 800 --input an4.jsonl
  sottovoce evaluate mask --mask '{use: noise, guard_ms: 80}' --relisten moonshine
  sottovoce evaluate mask --sentences 300 --guard-ms 0 10 20 30 45 60
  sottovoce evaluate mask --voice phonetic
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sentences", type=int, default=120, metavar="N", help="to synthesise with known times (default 120)"
    )
    parser.add_argument(
        "--input", metavar="CORPUS", help="also: recordings with transcripts, three of a speaker in a row"
    )
    parser.add_argument(
        "--limit", type=at_least_one, metavar="N", help="only N recordings of the corpus, spread over it"
    )
    parser.add_argument(
        "--guard-ms",
        nargs="*",
        type=float,
        default=[],
        metavar="MS",
        help="also: what other guard bands cover and cost",
    )
    parser.add_argument("--shift-ms", nargs="*", type=float, default=[], metavar="MS", help="plant masks this far off")
    parser.add_argument("--align", default="pocketsphinx", metavar="MEMBER", help="name, ctc:MODEL or {use: name, ...}")
    parser.add_argument("--mask", default="silence", metavar="MEMBER", help="silence, tone, noise or {use: name, ...}")
    parser.add_argument("--relisten", default="pocketsphinx", metavar="MEMBER", help="who listens to masked speech")
    parser.add_argument("--voice", metavar="MEMBER", help="what is listened to is spoken in this voice, as in a run")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another draw of sentences (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.errors import CorpusError
    from sottovoce.pipelines.commands.evaluate_align import recordings, show
    from sottovoce.pipelines.studies import measure_alignment, measure_masking

    aligner, masker, listener = (_loaded(family, getattr(args, family)) for family in ("align", "mask", "relisten"))
    sets: dict[str, Any] = {}
    if args.sentences:
        made = measure_alignment.spoken_sentences(args.sentences, "flite", args.seed)
        sets["flite, known times"] = [(item.known, item.sensitive) for item in made]
    if args.input:
        sets[IN_A_ROW] = list(measure_alignment.joined(recordings(args)))
        if not sets[IN_A_ROW]:
            raise CorpusError("--input: no speaker has three recordings among those taken; allowed: a higher --limit")
    results: dict[str, Any] = {}
    for name, spoken in sets.items():
        items = measure_masking.aligned(aligner, spoken)
        if name == IN_A_ROW:
            results[f"masks, {name}"] = measure_masking.covered_recordings(masker, items)
        else:
            results[f"masks, {name}"] = measure_masking.coverage(masker, items, listener).summary()
            results |= {f"guard bands, {name}": _guard_bands(masker, items, args.guard_ms)} if args.guard_ms else {}
        if args.voice:
            items = measure_masking.in_another_voice(_loaded("voice", args.voice), masker, items)
            name = f"{name}, spoken by {args.voice}"
            results[f"masks, {name}"] = measure_masking.coverage(masker, items).summary()
        shares = measure_masking.shifted(masker, listener, items, [0.0, *_both_ways(args.shift_ms)])
        results[f"still heard, {name}"] = {_label(shift): str(share) for shift, share in shares.items()}
    show(results, args.json)
    return 0


def _guard_bands(masker: Any, items: Any, guards_ms: list[float]) -> dict[str, str]:
    """What other guard bands cover, and what they cost."""
    from sottovoce.pipelines.studies.measure_masking import coverage

    lines = {}
    for guard_ms in guards_ms:
        found = coverage(dataclasses.replace(masker, guard_ms=guard_ms), items)
        costs = ", ".join(f"{value} {name}" for name, value in found.losses().items())
        lines[f"{guard_ms:g} ms"] = f"{found.covered} covered whole, {costs}"
    return lines


def _loaded(family: str, value: str) -> Any:
    from sottovoce.pipelines.local.read_locally import read_member

    member = read_member(family, f"--{family}", value).make()
    member.setup()
    return member


def _both_ways(shifts_ms: list[float]) -> list[float]:
    return [signed for shift in shifts_ms for signed in (shift, -shift)]


def _label(shift_ms: float) -> str:
    return f"mask {shift_ms:+.0f} ms beside its place" if shift_ms else "mask in its place (false alarms)"
