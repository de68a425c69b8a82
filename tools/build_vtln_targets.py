"""Make the class spectra of public speakers that the voice `vtln` moves formants towards.

    .venv/bin/python tools/build_vtln_targets.py --data CORPUS --out models/speech/voice/weights/vtln_targets.npz

One recording of each speaker is used, at most --speakers of them, spread over the corpus.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from sottovoce.models.records import Utterance
from sottovoce.models.speech.audio import load
from sottovoce.models.speech.voice.vtln import build_targets
from sottovoce.pipelines.local.read_locally import read_utterances


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--speakers", type=int, default=60)
    args = parser.parse_args()
    first: dict[str, Utterance] = {}
    for record in read_utterances(args.data):
        if isinstance(record, Utterance) and record.audio and record.speaker_id:
            first.setdefault(record.speaker_id, record)
    step = max(1, len(first) // args.speakers)
    chosen = list(first.values())[::step][: args.speakers]
    arrays = build_targets([load(utterance.audio) for utterance in chosen])
    np.savez_compressed(args.out, **arrays)
    print(f"{len(chosen)} speakers, {args.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
