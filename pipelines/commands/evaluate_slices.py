"""`sottovoce evaluate slices`: can an attacker tell which slices were neighbours?"""

from __future__ import annotations

import argparse
from typing import Any

from sottovoce.models.errors import CorpusError

EXAMPLES = """\
  sottovoce evaluate slices --input corpus/manifest.jsonl
  sottovoce evaluate slices --input corpus/manifest.jsonl --config job.yaml --delta 1 1.5 3 4 --limit 250
  sottovoce evaluate slices --input texts.jsonl --text-only
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", required=True, metavar="CORPUS", help="manifest, folder or URI of the corpus")
    parser.add_argument(
        "--config", metavar="JOB.yaml", help="the job whose detector, voice, masks and slices are tried"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one value of the job")
    parser.add_argument(
        "--delta", nargs="+", type=float, default=[1.0, 1.5, 3.0, 4.0], metavar="S", help="slice lengths"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only N utterances of the corpus, spread over it")
    parser.add_argument("--text-only", action="store_true", help="cut texts by the number of words, without any speech")
    parser.add_argument(
        "--seconds-per-word", type=float, default=0.35, metavar="S", help="of --text-only (default 0.35)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.records import Utterance
    from sottovoce.pipelines import measure_slices
    from sottovoce.pipelines.commands.evaluate_align import show
    from sottovoce.pipelines.read_locally import read_utterances

    found = [record for record in read_utterances(args.input) if isinstance(record, Utterance)]
    step = max(1, len(found) // args.limit) if args.limit else 1
    chosen = found[::step][: args.limit]
    if not chosen:
        raise CorpusError(f"{args.input}: no utterance could be read")
    results: dict[str, Any] = {}
    spoken = None if args.text_only else _spoken(chosen, args)
    for delta_s in args.delta:
        if spoken is None:
            pieces = list(measure_slices.cut_texts([u.text for u in chosen], delta_s, args.seconds_per_word))
        else:
            import dataclasses

            slicer = dataclasses.replace(spoken[1], min_seconds=delta_s)
            pieces = list(measure_slices.cut_speech(spoken[0], slicer))
        results[f"slices of at least {delta_s:g} s"] = measure_slices.linkage(pieces)
    show(results, args.json)
    return 0


def _spoken(utterances: list[Any], args: argparse.Namespace) -> Any:
    """Anonymised, masked speech with its words, and the job's slicer; what is refused is left out, as in a run."""
    import dataclasses

    from sottovoce.models.audio import load
    from sottovoce.models.errors import Refusal
    from sottovoce.models.masked_words import mark
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.pipelines.job_file import read_job
    from sottovoce.transforms.corpus import open_file

    job = read_job(args.config, args.set)
    members = {family: job.specs[family].make() for family in ("detect", "align", "voice", "mask")}
    for member in members.values():
        member.setup()
    secret, out = fresh_secret(), []
    for utterance in utterances:
        try:
            found = dataclasses.replace(utterance, spans=tuple(members["detect"].detect([utterance.text])[0]))
            speech = load(found.audio, open_file)
            words = members["align"].align(speech, found.text, found.language)
            voiced = members["voice"].transform(found, speech, words, secret)
            stretches = mark(found.text, found.spans, voiced.words).stretches
            out.append((found, members["mask"].mask(voiced.speech, stretches), voiced.words))
        except Refusal:
            continue
    return out, job.sections["slice"]
