"""`sottovoce evaluate align`: how far word borders are off, and whether what was not said is refused or left out."""

from __future__ import annotations

import argparse
import json
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.pipelines.local.audio_arguments import add_audio_arguments, load_audio_of
from sottovoce.pipelines.local.numbers import at_least_one

EXAMPLES = """\
  sottovoce evaluate align
  sottovoce evaluate align --sentences 40 --input an4.jsonl --limit 300
  sottovoce evaluate align --align '{use: pocketsphinx, floor: -0.8}' --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sentences", type=int, default=80, metavar="N", help="to synthesise with known times (default 80)"
    )
    parser.add_argument("--synthesiser", nargs="*", default=["flite", "espeak-ng"], choices=("flite", "espeak-ng"))
    parser.add_argument(
        "--input", metavar="CORPUS", help="also: recordings with transcripts, for wrong and right texts"
    )
    parser.add_argument(
        "--limit", type=at_least_one, metavar="N", help="only N recordings of the corpus, spread over it"
    )
    parser.add_argument("--align", default="pocketsphinx", metavar="MEMBER", help="name, ctc:MODEL or {use: name, ...}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_audio_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.local.read_locally import read_member
    from sottovoce.pipelines.studies import measure_alignment as measure

    aligner = read_member("align", "--align", args.align).make()
    aligner.setup()
    results: dict[str, Any] = {}
    for synthesiser in args.synthesiser if args.sentences else []:
        spoken = list(measure.spoken_sentences(args.sentences, synthesiser))
        items = [(item.known.speech, item.known.text) for item in spoken]
        results[f"word borders, {synthesiser}"] = measure.border_errors(aligner, spoken).summary()
        refused = measure.mismatches(aligner, items, [item.sensitive for item in spoken])
        results[f"right and wrong texts, {synthesiser}"] = {kind: str(share) for kind, share in refused.items()}
    if args.input:
        items = [(speech, text) for speech, text, _ in recordings(args)]
        results["right and wrong texts, corpus"] = {
            kind: str(share) for kind, share in measure.mismatches(aligner, items).items()
        }
    show(results, args.json)
    return 0


def recordings(args: argparse.Namespace) -> list[Any]:
    """Every utterance of the corpus `--input` that can be heard, or `--limit` of them spread over it."""
    from sottovoce.models.records import Utterance
    from sottovoce.pipelines.local.read_locally import read_utterances
    from sottovoce.pipelines.studies.measure_alignment import load_recordings

    found = [record for record in read_utterances(args.input) if isinstance(record, Utterance) and record.audio]
    step = max(1, len(found) // args.limit) if args.limit else 1
    loaded = load_recordings(found[::step][: args.limit], load_audio_of(args.input, args))
    if not loaded:
        raise CorpusError(f"{args.input}: no recording with a transcript could be read")
    return loaded


def show(results: dict[str, Any], as_json: bool) -> None:
    """Print figures by title: a table to read, or one JSON object."""
    if as_json:
        print(json.dumps(results, indent=2))
        return
    for title, figures in results.items():
        print(title)
        for name, value in figures.items():
            print(f"  {name:<52} {value}")
