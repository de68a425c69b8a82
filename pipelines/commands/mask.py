"""`sottovoce mask`: remove chosen words from recordings and their texts, by list, by entity type, or both."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, load_audio_of

EXAMPLES = """\
  sottovoce mask --input examples/demo --output masked --types PHONE EMAIL
  sottovoce mask --input manifest.jsonl --output masked --words john "new york" --word-file names.txt
  sottovoce mask --input texts.jsonl --output masked --types all --text typed --detect rules
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input", required=True, metavar="CORPUS", help="manifest, folder or URI; text alone works too"
    )
    parser.add_argument("--output", required=True, metavar="DIR", type=Path, help="local folder to write")
    parser.add_argument("--words", nargs="+", default=[], metavar="WORD", help="words and phrases to remove")
    parser.add_argument("--word-file", type=Path, metavar="FILE", help="the same, one per line")
    parser.add_argument("--types", nargs="+", default=[], metavar="TYPE", help="entity types to remove, or: all")
    parser.add_argument(
        "--text", choices=("removed", "typed"), default="removed", help="leave words out, or write [TYPE]"
    )
    parser.add_argument("--keep-ids", action="store_true", help="keep the corpus' own ids (default: random ones)")
    parser.add_argument("--detect", default="rules", metavar="MEMBER", help="who finds the types (default rules)")
    parser.add_argument("--align", default="pocketsphinx", metavar="MEMBER", help="who finds words in speech")
    parser.add_argument("--mask", default="silence", metavar="MEMBER", help="silence, tone, noise or {use: name, ...}")
    parser.add_argument("--relisten", default="pocketsphinx", metavar="MEMBER", help="who listens to masked speech")
    parser.add_argument("--max-seconds", type=float, default=120.0, metavar="S", help="longest recording (default 120)")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    entries = (*args.words, *_lines(args.word_file))
    if not entries and not args.types:
        raise SettingsError(["nothing to mask: give --words, --word-file or --types"])
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.text.detect.word_list import WordList
    from sottovoce.pipelines.local.mask_batch import MaskBatch
    from sottovoce.pipelines.local.read_locally import read_member, read_utterances

    batch = MaskBatch(
        word_list=WordList(entries),
        types=None if "all" in args.types else tuple(args.types),
        typed=args.text == "typed",
        detector=read_member("detect", "--detect", args.detect).make() if args.types else None,
        aligner=read_member("align", "--align", args.align).make(),
        masker=read_member("mask", "--mask", args.mask).make(),
        listener=read_member("relisten", "--relisten", args.relisten).make(),
        load=load_audio_of(args.input, args, max_seconds=args.max_seconds),
    )
    if batch.detector is not None:
        _refuse_unknown_types(batch.types or (), batch.detector.finds())
    batch.setup()
    counts = batch.run(read_utterances(args.input), args.output, fresh_secret(), args.keep_ids)
    print(f"{args.output}: voices are the original ones, and words that nobody listed or found are still in them")
    for name, count in sorted(counts.items()):
        print(f"  {count:>9,}  {name}")
    for kind in batch.types or ():
        if not counts[f"found: {kind}"]:
            print(f"  note: nothing of type {kind} was found in the whole corpus")
    return 0 if counts["masked"] else 1


def _refuse_unknown_types(types: tuple[str, ...], known: frozenset[str] | None) -> None:
    """A misspelt type would leave what was meant in clear."""
    unknown = [kind for kind in types if known is not None and kind not in known]
    if unknown:
        allowed = ", ".join(sorted(known or ()))
        raise SettingsError([f"--types {' '.join(unknown)}: not found by this detector; allowed: {allowed}"])


def _lines(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError([f"--word-file {path}: cannot be read ({type(error).__name__})"]) from None
