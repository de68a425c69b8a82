"""`sottovoce evaluate slices`: can an attacker tell which slices were neighbours?"""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.pipelines.local.numbers import at_least_one

EXAMPLES = """\
  sottovoce evaluate slices --input corpus/manifest.jsonl
  sottovoce evaluate slices --input corpus/manifest.jsonl --config job.yaml --delta 1 1.5 3 4 --limit 250
  sottovoce evaluate slices --input texts.jsonl --text-only --attacker-texts novels.jsonl
  sottovoce evaluate slices --input texts.jsonl --text-only --set slice.drop_words=2
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
    parser.add_argument(
        "--limit", type=at_least_one, metavar="N", help="only N utterances of the corpus, spread over it"
    )
    parser.add_argument("--text-only", action="store_true", help="cut texts by the number of words, without any speech")
    parser.add_argument(
        "--seconds-per-word", type=float, default=0.35, metavar="S", help="of --text-only (default 0.35)"
    )
    parser.add_argument(
        "--attacker-texts", metavar="CORPUS", help="what its 3-gram model is made of (default: the corpus's other half)"
    )
    parser.add_argument(
        "--encoder", default="campplus", metavar="NAME", help="whose likeness of voices counts: campplus, ge2e, hf:NAME"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.records import Utterance
    from sottovoce.pipelines.commands.evaluate_align import show
    from sottovoce.pipelines.local.read_locally import read_utterances
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.studies import measure_slices

    found = [record for record in read_utterances(args.input) if isinstance(record, Utterance)]
    step = max(1, len(found) // args.limit) if args.limit else 1
    chosen = found[::step][: args.limit]
    if not chosen:
        raise CorpusError(f"{args.input}: no utterance could be read")
    results: dict[str, Any] = {}
    slicer = read_job(args.config, args.set).sections["slice"]
    texts = (
        [u.text for u in read_utterances(args.attacker_texts) if isinstance(u, Utterance)]
        if args.attacker_texts
        else []
    )
    chain, loaded = (None, []) if args.text_only else _loaded(chosen, args)
    encoder = None if args.text_only else _encoder(args.encoder)
    for delta_s in args.delta:
        slicer = dataclasses.replace(slicer, min_seconds=delta_s)
        if chain is None:
            pieces = list(measure_slices.cut_texts(slicer, [u.text for u in chosen], args.seconds_per_word))
        else:
            chain.slicer = slicer
            spoken = measure_slices.protected(chain, loaded)  # a voice may change where the cuts are
            pieces = list(measure_slices.cut_speech(chain, spoken))
        linked = measure_slices.linkage(pieces, encoder, texts, slicer.drop_words)
        results[f"slices of at least {delta_s:g} s"] = linked
    show(results, args.json)
    return 0


def _encoder(name: str) -> Any:
    from sottovoce.pipelines.local.read_locally import read_member

    encoder = read_member("speakers", "--encoder", name).make()
    encoder.setup()
    return encoder.embed


def _loaded(utterances: list[Any], args: argparse.Namespace) -> Any:
    """The job's chain, and recordings with their spans; aligned once for every length of slice, where that comes first."""
    from sottovoce.models.errors import Refusal
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.speech.spoken import Spoken
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.studies.speech_study import speech_chain
    from sottovoce.transforms.read.corpus import open_corpus
    from sottovoce.transforms.speech.stages import LoadAudio

    job = read_job(args.config, args.set)
    roots = open_corpus(args.input).audio_roots(job.sections["input"].audio_roots)
    load = LoadAudio(roots, job.sections["audio"])
    chain, detector, slots = speech_chain(job, fresh_secret()), job.specs["detect"].make(), job.sections["detect"]
    chain.setup()
    detector.setup()
    out = []
    for utterance in utterances:
        try:
            spans = slots.add(utterance.text, detector.detect([utterance.text])[0], utterance.slots)
            found = dataclasses.replace(utterance, spans=tuple(spans))
            spoken = Spoken(found, load(found))
            out.append(chain.align(spoken) if chain.align_on == "original" else spoken)
        except Refusal:
            continue
    return chain, out
