"""The text path with its default detector: the pipeline, the bare model, Presidio and flair, side by side in one run.

    python benchmarks/text.py [--utterances 2000] [--rounds 3] [--cores 1 2] [--sides model beam ...] [--texts FILE]

    model           the detector alone in a loop over batches: the ceiling
    beam            the pipeline: read, detect, route, replace, write, commit
    presidio ...    Presidio with the same tagger behind it, in three ways: see presidio_sides.py
    flair           a small flair tagger, trained on the spot, alone in the same loop (needs the flair extra)
    flair beam      the pipeline with that tagger

The texts are drawn from the demo, where many come more than once; or they are those of a JSONL file, in its order. A text
that comes twice in one batch is worked on once.

Every measurement is a process of its own (two for two cores, each with half of the corpus; the pipeline starts its
workers itself), one thread for each library, bound to its cores and timed after imports and loading. The pipeline cannot be
timed without its start-up, so that is measured with a corpus of ten utterances and its median is taken off. Rounds alternate
the sides, so that what else the machine does falls on all of them; ratios are of `per CPU s`, utterances by CPU second
without start-up, which other work on the machine touches least; `per second` is by the clock, start-up included.

The pipeline does all that the bare model does and more. A ratio to it above 1 is an error of measurement, the start-up
that was taken off being too noisy beside the rest: take more utterances or rounds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from overhead import BATCH, SECRET, write_corpus
from presidio_sides import analyse_all, write_twin

FEW = 10
TWIN = "twin"
SLOW = 4  # the slow sides get so many times fewer utterances
NAN = float("nan")
BEAM_SIDES = {"beam", "flair beam"}
FLAIR_SIDES = {"flair", "flair beam"}
PRESIDIO_SIDES = ("presidio", "presidio one", "presidio ours")
SLOW_SIDES = {*PRESIDIO_SIDES, *FLAIR_SIDES}
DETECTOR = "default"


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu_seconds: float

    def without(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)


class Clock:
    """Wall and CPU time since it was made, with the processes that were started and have ended."""

    def __init__(self) -> None:
        self._began = self._now()

    def cost(self) -> Cost:
        return self._now().without(self._began)

    def _now(self) -> Cost:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
        return Cost(time.perf_counter(), cpu)


def loop(detector: str, texts: list[str]) -> Cost:
    made = _ready(detector)
    clock = Clock()
    for at in range(0, len(texts), BATCH):
        made.detect(texts[at : at + BATCH])
    return clock.cost()


def presidio(side: str, detector: str, twin: Path, texts: list[str]) -> Cost:
    run = analyse_all(side, _ready(detector), twin)
    clock = Clock()
    run(texts)
    return clock.cost()


def beam(detector: str, corpus: Path, workers: int) -> Cost:
    from sottovoce.models.randomness import Secret
    from sottovoce.models.secrets.secret_reference import FileReference
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.sanitize.run import RunRequest, execute, prepare

    with tempfile.TemporaryDirectory() as out:
        secret = Path(out) / "secret"  # worker processes read it there
        secret.write_bytes(SECRET)
        key = Secret(SECRET, FileReference(str(secret)))
        order = RunRequest(read_job(None, [f"detect={detector}"]), str(corpus), out, key, workers=workers)
        clock = Clock()
        execute(prepare(order))
        return clock.cost()


SIDES = ("model", "beam", *PRESIDIO_SIDES, "flair", "flair beam")


def _ready(detector: str) -> Any:
    import yaml

    from sottovoce.models.settings import read_spec

    made = read_spec("detect", yaml.safe_load(detector)).make()
    made.setup()
    made.detect(["my name is anna and i live in oslo"])  # what loads late, loads now
    return made


def make_flair(folder: Path) -> str:
    """Characters and words, one layer, a few epochs on the demo: its speed is of interest, not what it finds."""
    import flair

    from sottovoce.models.text.detect.builder.build import build
    from sottovoce.models.text.detect.builder.recipe import read_recipe

    flair.logger.setLevel("ERROR")  # it writes to standard output
    demo = folder / "demo.jsonl"
    write_corpus(demo, 120)
    recipe = read_recipe({"corpora": {"demo": {"hold_out": 0.2}}, "templates": 0, "train": {"epochs": 1}})
    build([demo], recipe, "flair", folder / "flair", None, lambda line: None)
    return f"{{use: flair, model: {folder / 'flair' / 'model.pt'}, trust: true}}"


def copy_texts(source: Path, path: Path, records: int) -> None:
    """The first `records` texts of the source, in dialogues of five turns."""
    with gzip.open(source, "rt") if source.suffix == ".gz" else source.open() as lines, path.open("w") as file:
        for number, line in enumerate(islice(lines, records)):
            row = json.loads(line)
            text = row["text"] if "text" in row else " ".join(row["tokens"])
            turn = {"id": str(number), "dialogue_id": f"d{number // 5}", "turn": number % 5, "text": text}
            file.write(json.dumps(turn) + "\n")


def child(args: argparse.Namespace) -> None:
    """One side in this process, on its cores; prints its cost."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[: args.workers]) if args.side in BEAM_SIDES else {cores[args.part % len(cores)]})
    if args.side in BEAM_SIDES:
        cost = beam(args.detector, args.corpus, args.workers)
    else:
        texts = [json.loads(line)["text"] for line in args.corpus.read_text().splitlines()][args.part :: args.workers]
        shown = args.side in PRESIDIO_SIDES
        cost = presidio(args.side, args.detector, args.twin, texts) if shown else loop(args.detector, texts)
    print(json.dumps([cost.seconds, cost.cpu_seconds]))


def measure(side: str, detector: str, corpus: Path, cores: int) -> Cost:
    """The time of the slowest process and the CPU time of all.

    One thread for each library: parallelism comes from processes on every side.
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    parts = 1 if side in BEAM_SIDES else cores
    command = [sys.executable, __file__, "--side", side, "--detector", detector, "--corpus", str(corpus)]
    command += ["--twin", str(corpus.parent / TWIN)]
    running = [
        subprocess.Popen(
            [*command, "--workers", str(cores), "--part", str(part)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for part in range(parts)
    ]  # fmt: skip
    costs = []
    for process in running:
        printed, complaint = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{side}: {complaint.strip().splitlines()[-1] if complaint.strip() else 'failed'}")
        costs.append(Cost(*json.loads(printed.splitlines()[-1])))
    return Cost(max(cost.seconds for cost in costs), sum(cost.cpu_seconds for cost in costs))


@dataclass
class Side:
    """One side on so many cores: what every round cost, and what starting alone cost (the pipeline only)."""

    utterances: int
    costs: list[Cost]
    starts: list[Cost]

    def per_second(self) -> float:
        return self.utterances / statistics.median(cost.seconds for cost in self.costs)

    def per_cpu_second(self) -> list[float]:
        """Of each round, without the median start-up. Not a number where that took longer than the whole."""
        start = statistics.median(cost.cpu_seconds for cost in self.starts) if self.starts else 0.0
        used = [cost.cpu_seconds - start for cost in self.costs]
        return [self.utterances / seconds if seconds > 0 else NAN for seconds in used]


def compare(args: argparse.Namespace, folder: Path) -> None:
    sizes = {"corpus": args.utterances, "fewer": max(FEW, args.utterances // SLOW), "few": FEW}
    corpora = {name: folder / f"{name}.jsonl" for name in sizes}
    for name, size in sizes.items():
        copy_texts(args.texts, corpora[name], size) if args.texts else write_corpus(corpora[name], size)
    flair = make_flair(folder) if FLAIR_SIDES & set(args.sides) else ""
    if set(PRESIDIO_SIDES) & set(args.sides):
        from sottovoce.models.text.detect.tagger import SHIPPED

        write_twin(SHIPPED, folder / TWIN)
    print(f"{args.utterances} utterances, medians of {args.rounds} rounds")
    print(f"{'cores':>5} {'side':<14}{'per second':>11}{'per CPU s':>11}  {'/ model (range)':<20}{'beam /':>7}")
    for cores in args.cores:
        sides: dict[str, Side] = {}
        for _ in range(args.rounds):
            for side in args.sides:
                _one_round(sides, side, flair if side in FLAIR_SIDES else DETECTOR, corpora, sizes, cores)
        for side, found in sides.items():
            _show(cores, side, found, sides)


def _one_round(
    sides: dict[str, Side], side: str, detector: str, corpora: dict[str, Path], sizes: dict[str, int], cores: int
) -> None:
    which = "fewer" if side in SLOW_SIDES else "corpus"
    try:
        cost = measure(side, detector, corpora[which], cores)
        starts = [measure(side, detector, corpora["few"], cores)] if side in BEAM_SIDES else []
    except RuntimeError as error:
        print(f"{cores:>5} {side:<14} did not run: {error}", flush=True)
        return
    kept = sides.setdefault(side, Side(sizes[which], [], []))
    kept.costs.append(cost)
    kept.starts.extend(starts)


def _show(cores: int, name: str, side: Side, sides: dict[str, Side]) -> None:
    own = side.per_cpu_second()
    ratios = [mine / model for mine, model in zip(own, sides["model"].per_cpu_second(), strict=False)] or [NAN]
    beam = statistics.median(sides["beam"].per_cpu_second()) if "beam" in sides else NAN
    shown = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    print(
        f"{cores:>5} {name:<14}{side.per_second():>11.1f}{statistics.median(own):>11.1f}  {shown:<20}"
        f"{beam / statistics.median(own):>7.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--texts", type=Path, help="JSONL with text or tokens, plain or gzip; instead of the demo's texts"
    )
    parser.add_argument("--detector", help=argparse.SUPPRESS)
    parser.add_argument("--twin", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--part", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        child(args)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(args, Path(folder))


if __name__ == "__main__":
    main()
