"""What an audit costs: a whole run with `sanitize --audit` against the same run without, side by side.

    python benchmarks/audit.py --utterances 10000 --pairs 3

Runs go in pairs, the order changing from one to the next, and the median of the pairs is what counts: other work on the same
machine makes CPU seconds longer, but of both alike. Texts are those of the demo, said by many speakers in dialogues of five;
detection is the default. Canaries, attacks and calibrations are all in the share; CPU seconds of the whole process. A run with
speech takes longer itself: its share is smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo" / "manifest.jsonl"
AIM = 0.15
USED = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, "
    "stderr=subprocess.DEVNULL); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    "print(done.returncode, used.ru_utime + used.ru_stime)"
)


def write_corpus(path: Path, utterances: int) -> None:
    draw, demo = random.Random(0), [json.loads(line) for line in DEMO.read_text().splitlines()]
    with path.open("w") as file:
        for number in range(utterances):
            said, dialogue = draw.choice(demo), number // 5
            record = {"id": str(number), "dialogue_id": f"d{dialogue}", "turn": number % 5, "text": said["text"],
                      "speaker_id": f"speaker-{dialogue // 4}"}  # fmt: skip
            file.write(json.dumps(record | {"intent": said["intent"], "slots": said["slots"]}) + "\n")


def cpu_s(manifest: Path, out: Path, *flags: str) -> float:
    command = [
        sys.executable,
        "-m",
        "sottovoce.pipelines.cli",
        "sanitize",
        "--input",
        manifest,
        "--output",
        out,
        *flags,
    ]
    said = subprocess.run([sys.executable, "-c", USED, *map(str, command)], capture_output=True, text=True, check=True,
                          env=os.environ | {"OMP_NUM_THREADS": "1"}).stdout.split()  # fmt: skip
    assert said[0] in ("0", "3"), "the run failed"  # 3: it was attacked and did not hold
    return float(said[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, nargs="+", default=[10_000])
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args()
    print(f"{'utterances':>10}{'run, CPU s':>12}{'with audit':>12}{'share':>8}   (aim: {AIM:.0%})", flush=True)
    for utterances in args.utterances:
        with tempfile.TemporaryDirectory() as folder:
            manifest = Path(folder) / "corpus.jsonl"
            write_corpus(manifest, utterances)
            shares = [pair(manifest, Path(folder) / str(number), number, utterances) for number in range(args.pairs)]
        print(f"{utterances:>10}{'median of the pairs':>24}{statistics.median(shares):>8.1%}", flush=True)


def pair(manifest: Path, folder: Path, number: int, utterances: int) -> float:
    used = {
        flags: cpu_s(manifest, folder / "-".join(("out", *flags)), *flags)
        for flags in ((), ("--audit",))[:: (-1) ** number]
    }
    alone, audited = used[()], used["--audit",]
    print(f"{utterances:>10}{alone:>12.1f}{audited:>12.1f}{audited / alone - 1:>8.1%}", flush=True)
    return audited / alone - 1


if __name__ == "__main__":
    main()
