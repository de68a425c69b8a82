"""The text path with its default detector: the pipeline, the bare model, Presidio and flair, side by side in one run.

    python benchmarks/text.py [--utterances 2000] [--cores 1 2] [--detector default] [--sides model beam ...]

    model        the detector alone in a loop over batches: the ceiling
    beam         the pipeline: read, detect, route, replace, write, commit
    presidio     BatchAnalyzerEngine as it comes: its own recognisers and our detector as one more (needs the bench extra)
    flair        a small flair tagger, trained on the spot, alone in the same loop (needs the flair extra)
    flair beam   the pipeline with that tagger

Every measurement is a process of its own (two for two cores, each with half of the corpus; the pipeline starts its
workers itself), bound to its cores and timed after imports and loading. The pipeline cannot be timed without its
start-up, so that is measured with a corpus of ten utterances and taken off in `steady`. On one core the ratios are of
`per CPU s`, utterances by CPU second without start-up, which other work on the machine touches least; on two they are
of `steady`, by the clock, so the machine should be idle.

The pipeline does all that the bare model does and more. A ratio to it above 1 is an error of measurement, the start-up
that was taken off being too large or too noisy beside the rest: take more utterances, on a quieter machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overhead import BATCH, SECRET, write_corpus

FEW = 10
NAN = float("nan")
BEAM_SIDES = {"beam", "flair beam"}
FLAIR_SIDES = {"flair", "flair beam"}


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


def presidio(detector: str, texts: list[str]) -> Cost:
    """The analyzer takes texts one by one to its recognisers, so the tagger behind it sees batches of one."""
    import logging

    import spacy
    from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine, EntityRecognizer, RecognizerResult
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_analyzer.recognizer_registry import RecognizerRegistry

    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    made = _ready(detector)

    class BlankEngine(SpacyNlpEngine):
        """Words only: no English model of spaCy is needed, since the tagger does the finding."""

        def load(self) -> None:
            self.nlp: Any = {"en": spacy.blank("en")}

    class Ours(EntityRecognizer):
        def load(self) -> None:
            """Loaded before the clock starts."""

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[RecognizerResult]:
            return [RecognizerResult(span.type, span.begin, span.end, span.score) for span in made.detect([text])[0]]

    engine = BlankEngine()
    engine.load()
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"], nlp_engine=engine)
    registry.add_recognizer(Ours(["PER", "LOC", "ORG", "DATE", "TIME", "CODE"], name="ours", supported_language="en"))
    analyzer = BatchAnalyzerEngine(AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"]))
    analyzer.analyze_iterator(texts[:1], language="en")
    clock = Clock()
    analyzer.analyze_iterator(texts, language="en", batch_size=BATCH)
    return clock.cost()


def beam(detector: str, corpus: Path, workers: int) -> Cost:
    from sottovoce.models.randomness import Secret
    from sottovoce.pipelines.job_file import read_job
    from sottovoce.pipelines.run import Order, execute, prepare

    with tempfile.TemporaryDirectory() as out:
        order = Order(read_job(None, [f"detect={detector}"]), str(corpus), out, Secret(SECRET), workers=workers)
        clock = Clock()
        execute(prepare(order))
        return clock.cost()


LOOPS: dict[str, Callable[[str, list[str]], Cost]] = {"model": loop, "flair": loop, "presidio": presidio}
SIDES = ("model", "beam", "presidio", "flair", "flair beam")


def _ready(detector: str) -> Any:
    from sottovoce.models.settings import read_spec

    made = read_spec("detect", detector).make()
    made.setup()
    made.detect(["my name is anna and i live in oslo"])  # what loads late, loads now
    return made


def make_flair(folder: Path) -> str:
    """Characters and words, one layer, a few epochs on the demo: its speed is of interest, not what it finds."""
    from sottovoce.models.detect.builder.build import build
    from sottovoce.models.detect.builder.recipe import read_recipe

    demo = folder / "demo.jsonl"
    write_corpus(demo, 400)
    recipe = read_recipe({"corpora": {"demo": {"hold_out": 0.2}}, "templates": 0, "train": {"epochs": 1}})
    build([demo], recipe, "flair", folder / "flair", None, lambda line: None)
    return f"flair:{folder / 'flair' / 'model.pt'}"


def child(args: argparse.Namespace) -> None:
    """One side in this process, on its cores; prints its cost."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[: args.workers]) if args.side in BEAM_SIDES else {cores[args.part % len(cores)]})
    if args.side in BEAM_SIDES:
        cost = beam(args.detector, args.corpus, args.workers)
    else:
        texts = [json.loads(line)["text"] for line in args.corpus.read_text().splitlines()]
        cost = LOOPS[args.side](args.detector, texts[args.part :: args.workers])
    print(json.dumps([cost.seconds, cost.cpu_seconds]))


def measure(side: str, detector: str, corpus: Path, cores: int) -> Cost:
    """The time of the slowest process and the CPU time of all.

    One thread for each library: parallelism comes from processes on every side.
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    parts = 1 if side in BEAM_SIDES else cores
    command = [sys.executable, __file__, "--side", side, "--detector", detector, "--corpus", str(corpus)]
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


def compare(args: argparse.Namespace, folder: Path) -> None:
    corpus, few = folder / "corpus.jsonl", folder / "few.jsonl"
    write_corpus(corpus, args.utterances)
    write_corpus(few, FEW)
    flair = make_flair(folder) if FLAIR_SIDES & set(args.sides) else ""
    print(f"{args.utterances} utterances, detector {args.detector}")
    print(f"{'cores':>5} {'side':<11}{'per second':>11}{'steady':>9}{'per CPU s':>11}{'/ model':>9}{'beam /':>8}")
    for cores in args.cores:
        rates: dict[str, float] = {}
        for side in args.sides:
            detector = flair if side in FLAIR_SIDES else args.detector
            try:
                cost = measure(side, detector, corpus, cores)
                steady = cost.without(measure(side, detector, few, cores)) if side in BEAM_SIDES else cost
            except RuntimeError as error:
                print(f"{cores:>5} {side:<11} did not run: {error}", flush=True)
                continue
            rates[side] = _rate(args.utterances, steady.cpu_seconds if cores == 1 else steady.seconds)
            print(
                f"{cores:>5} {side:<11}{args.utterances / cost.seconds:>11.1f}"
                f"{_rate(args.utterances, steady.seconds):>9.1f}{_rate(args.utterances, steady.cpu_seconds):>11.1f}"
                f"{rates[side] / rates.get('model', NAN):>9.2f}{rates.get('beam', NAN) / rates[side]:>8.2f}",
                flush=True,
            )


def _rate(utterances: int, seconds: float) -> float:
    """Not a number where the start-up took longer than the whole: the machine was too busy to tell."""
    return utterances / seconds if seconds > 0 else NAN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, default=2000)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--detector", default="default")
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
