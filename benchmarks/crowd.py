"""Crowd release beside replacement: utterances by second of CPU and the most memory, each in a process of its own, in one table.

    python benchmarks/crowd.py --utterances 100000
    python benchmarks/crowd.py --utterances 20000 200000 --speakers 2000    # what a speaker says more should not be held

Texts are those of the demo, said by many speakers (a tenth of the utterances, if not told), each with a word of its own in one of
ten; detection is by rules, so that what is compared is not hidden behind a tagger.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = Path(__file__).parents[1] / "examples" / "demo" / "manifest.jsonl"
JOBS = {"replace: full": "replace=full", "rewrite: crowd": "rewrite=crowd"}


def write_corpus(path: Path, utterances: int, speakers: int) -> None:
    draw, demo = random.Random(0), [json.loads(line) for line in DEMO.read_text().splitlines()]
    with path.open("w") as file:
        for number in range(utterances):
            record = draw.choice(demo)
            text = record["text"] + (f" word{number}" if draw.random() < 0.1 else "")
            speaker = f"speaker-{draw.randrange(speakers)}"
            row = {"id": str(number), "dialogue_id": f"d{number // 3}", "speaker_id": speaker, "text": text}
            file.write(json.dumps(row | {"intent": record["intent"], "slots": record["slots"]}) + "\n")


def measure(manifest: Path, setting: str, folder: Path) -> tuple[float, float]:
    """(seconds of CPU, MB at most) of a whole run."""
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", "sanitize", "--input", manifest, "--output", folder,
               "--set", setting, "--set", "sinks={slu: 1}", "--set", "detect=rules"]  # fmt: skip
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, "
        "stderr=subprocess.DEVNULL); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    said = subprocess.run([sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True, check=True,
                          env=os.environ | {"OMP_NUM_THREADS": "1"}).stdout.split()  # fmt: skip
    assert said[0] == "0", f"{setting}: the run failed"
    return float(said[1]), float(said[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument(
        "--speakers", type=int, metavar="N", help="in every corpus (default: a tenth of its utterances)"
    )
    args = parser.parse_args()
    print(f"{'utterances':>10}  {'job':<16}{'CPU s':>9}{'utterances/s':>14}{'MB at most':>12}{'against replace':>17}")
    for utterances in args.utterances:
        with tempfile.TemporaryDirectory() as folder:
            manifest = Path(folder) / "corpus.jsonl"
            write_corpus(manifest, utterances, args.speakers or max(1, utterances // 10))
            first = None
            for name, setting in JOBS.items():
                seconds, memory = measure(manifest, setting, Path(folder) / name.split(":")[0])
                first = first or seconds
                rate = utterances / seconds
                print(
                    f"{utterances:>10}  {name:<16}{seconds:>9.1f}{rate:>14.0f}{memory:>12.0f}{first / seconds:>17.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
