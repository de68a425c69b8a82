"""Real-time factors of the speech stages on one core: processor seconds for each second of audio.

    .venv/bin/python benchmarks/speech.py [--input CORPUS] [--limit N] [--config job.yaml]
    .venv/bin/python benchmarks/speech.py --voices mcadams voicemask vtln phonetic

Without --input the bundled demo corpus is used. All stages run in one process, one after the other, over the same
recordings, so that their figures add up to that of the whole chain. With --voices only these voices are compared, each
on the same aligned recordings, and beside each stands the sum with alignment, which phonetic and xvector need.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

STAGES = ("load", "align", "voice", "mask", "relisten", "slice", "encode")
DEMO = Path(__file__).parents[1] / "examples" / "demo"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", default=str(DEMO))
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--config")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--voices", nargs="+", metavar="MEMBER", help="compare these voices instead of the stages")
    args = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # before numpy is loaded: the claim is about one core
    compare_voices(args) if args.voices else measure(args)


def load_of(job: Any, input_uri: str) -> Any:
    from sottovoce.transforms.read.corpus import open_corpus
    from sottovoce.transforms.speech.stages import LoadAudio

    roots = open_corpus(input_uri).audio_roots(job.sections["input"].audio_roots)
    return LoadAudio(roots, job.sections["audio"])


def compare_voices(args: argparse.Namespace) -> None:
    from sottovoce.models.errors import Refusal
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.records import Utterance
    from sottovoce.pipelines.local.read_locally import read_member, read_utterances
    from sottovoce.pipelines.sanitize.job_file import read_job

    job = read_job(args.config, args.set)
    load, aligner = load_of(job, args.input), job.specs["align"].make()
    aligner.setup()
    found = [record for record in read_utterances(args.input) if isinstance(record, Utterance) and record.audio]
    aligned, seconds = [], {"align": 0.0}
    for utterance in found[:: max(1, len(found) // args.limit)][: args.limit]:
        try:
            speech = load(utterance)
            began = time.process_time()
            aligned.append((utterance, speech, aligner.align(speech, utterance.text, utterance.language)))
            seconds["align"] += time.process_time() - began
        except Refusal:
            continue
    secret, audio_s = fresh_secret(), sum(speech.duration_s for _, speech, _ in aligned)
    for name in args.voices:
        voice = read_member("voice", "--voices", name).make()
        voice.setup()
        voice.transform(*aligned[0], secret)  # what is loaded on first use is no part of the factor
        began = time.process_time()
        for item in aligned:
            voice.transform(*item, secret)
        seconds[name] = time.process_time() - began
    print(f"{len(aligned)} recordings, {audio_s:.0f} s of audio")
    print(f"  {'align':<12} {seconds['align'] / audio_s:.4f}")
    for name in args.voices:
        print(
            f"  {name:<12} {seconds[name] / audio_s:.4f}  with align {(seconds['align'] + seconds[name]) / audio_s:.4f}"
        )


def measure(args: argparse.Namespace) -> None:
    from sottovoce.models.errors import Refusal
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.records import Utterance
    from sottovoce.models.speech.audio import to_flac
    from sottovoce.models.speech.spoken import Spoken
    from sottovoce.pipelines.local.read_locally import read_utterances
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.studies.speech_study import speech_chain

    job = read_job(args.config, args.set)
    load = load_of(job, args.input)
    detector, chain = job.specs["detect"].make(), speech_chain(job, fresh_secret())
    detector.setup()
    chain.setup()
    found = [record for record in read_utterances(args.input) if isinstance(record, Utterance) and record.audio]
    step = max(1, len(found) // args.limit)
    seconds, audio_s, outcomes = dict.fromkeys(STAGES, 0.0), 0.0, Counter[str]()
    for utterance in found[::step][: args.limit]:
        spans = detector.detect([utterance.text])[0]
        began = time.process_time()
        try:
            speech = load(utterance)
            seconds["load"] += time.process_time() - began
            audio_s += speech.duration_s
            slices = chain.run(Spoken(dataclasses.replace(utterance, spans=tuple(spans)), speech))
            began = time.process_time()
            for piece in slices:
                to_flac(piece.speech)
            seconds["encode"] += time.process_time() - began
            outcomes["released"] += 1
        except Refusal as refusal:
            outcomes[refusal.code] += 1
    seconds |= chain.seconds
    print(f"{sum(outcomes.values())} recordings, {audio_s:.0f} s of audio: {dict(outcomes)}")
    for stage in STAGES:
        print(f"  {stage:<10} {seconds[stage] / audio_s:.4f}")
    print(f"  {'whole':<10} {sum(seconds.values()) / audio_s:.4f}  (aim: at most 0.25)")


if __name__ == "__main__":
    main()
