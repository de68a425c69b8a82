"""How a run grows: utterances per second and peak memory against the size of the corpus, the runner and the workers.

    python benchmarks/scale.py [--text 2000 10000 50000] [--speech 40 80] [--workers 1 2]
    make bench-scale                                   # the sizes of docs/runners.md, with a Flink cluster of its own
    python benchmarks/scale.py --text 20000 200000 --speech --workers 1 --set rewrite=crowd 'sinks={slu: 1}'

First the start-up: 40 texts of the demo by the default job, three times. Then each line is one `sottovoce sanitize` in a
process of its own, start-up included; `added/s` leaves start-up out: it is the utterances by which the corpus is larger
than in the line before, over the seconds by which the run is longer. Ratios are against the first line of the same corpus
(`speed`) and of the same runner (`memory`). Memory is the largest sum of the resident sizes of all processes of the run,
sampled; on Flink of the driver, the job server and the Beam workers, without Flink's own JVMs, whose size is fixed, and
of the Beam workers by themselves (`workers`). Flink is measured when the cluster of `make flink-up` is up.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from overhead import write_corpus

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo"
SAMPLE_EVERY_S = 0.5
RULES = ("--set", "detect=rules")
TEXT = (*RULES, "--set", "sinks={stt_lm: 1, slu: 1, dm: 1}")
SPEECH = (*RULES, "--set", "sinks={stt_am: 1}", "--set", f"input.audio_roots=[{DEMO}]")


@dataclass(frozen=True)
class Engine:
    name: str
    flags: tuple[str, ...]
    also: tuple[int, ...] = ()  # processes that work for the run and are not its children


@dataclass(frozen=True)
class Measured:
    seconds: float
    peak_mb: float
    workers_mb: float


def write_speech(path: Path, records: int) -> None:
    """Utterances of the demo, again and again under new ids."""
    turns = [json.loads(line) for line in (DEMO / "manifest.jsonl").read_text().splitlines()]
    with path.open("w") as file:
        for number in range(records):
            turn = turns[number % len(turns)]
            new = {"id": str(number), "dialogue_id": f"d{number // 5}", "turn": number % 5}
            file.write(json.dumps(turn | new | {"audio_filepath": str(DEMO / turn["audio_filepath"])}) + "\n")


def engines(workers: list[int]) -> list[Engine]:
    found = [Engine(f"direct, {n}", ("--workers", str(n))) for n in workers]
    status = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "flink_cluster.py"), "status"], capture_output=True, text=True
    )
    cluster = json.loads(status.stdout or "{}")
    if not cluster.get("slots") or not cluster.get("pool"):
        print("Flink is left out: no cluster is up (make flink-up)", flush=True)
        return found
    # A TaskManager has one worker process; two tasks at a time are spread over two TaskManagers.
    return found + [
        Engine(f"flink, {n}", ("--runner", "flink", "--", f"--parallelism={n}"), (cluster["pool"],)) for n in workers
    ]


def measure(corpus: Path, out: Path, job: tuple[str, ...], engine: Engine) -> Measured | None:
    """None where the run failed, which is said: the other lines are measured all the same."""
    command = [
        sys.executable,
        "-m",
        "sottovoce.pipelines.cli",
        "sanitize",
        "--input",
        str(corpus),
        "--output",
        str(out),
    ]
    log = out.with_suffix(".log")
    began = time.perf_counter()
    with log.open("w") as printed:
        process = psutil.Popen([*command, *job, *engine.flags], stdout=printed, stderr=printed)
        peak = most = 0
        while process.poll() is None:
            workers = sum(_resident(root, process.create_time()) for root in engine.also)
            peak = max(peak, workers + _resident(process.pid, process.create_time()))
            most = max(most, workers)
            with contextlib.suppress(psutil.TimeoutExpired):  # ends with the run: a sleep would be counted as its time
                process.wait(SAMPLE_EVERY_S)
    if process.returncode:
        print(f"{engine.name}: the run failed\n{log.read_text()[-2000:]}", flush=True)
        return None
    return Measured(time.perf_counter() - began, peak / 2**20, most / 2**20)


def _resident(pid: int, since: float) -> int:
    """Of a process and all that it started, as far as they began with this run: a pool keeps workers of earlier ones."""
    try:
        root = psutil.Process(pid)
        processes = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss if process.create_time() >= since else 0
        except psutil.NoSuchProcess:
            continue  # it ended in between
    return total


def report(kind: str, sizes: list[int], folder: Path, some_engines: list[Engine], settings: list[str]) -> None:
    write, job = (write_corpus, TEXT) if kind == "text" else (write_speech, SPEECH)
    job = (*job, *(word for setting in settings for word in ("--set", setting)))
    print(
        f"\n{kind:>7} {'runner':>10} {'seconds':>8} {'per s':>7} {'speed':>6} {'added/s':>8} {'MB':>6} {'memory':>7} "
        f"{'workers':>8}"
    )
    before: dict[str, tuple[int, Measured]] = {}
    first_mb: dict[str, float] = {}
    for size in sizes:
        corpus = folder / f"{kind}{size}.jsonl"
        write(corpus, size)
        first_s = None
        for number, engine in enumerate(some_engines):
            done = measure(corpus, folder / f"{kind}{size}-{number}", job, engine)
            if done is None:
                continue
            first_s = first_s or done.seconds
            memory = done.peak_mb / first_mb.setdefault(engine.name, done.peak_mb)
            added = ""
            if engine.name in before:
                smaller, earlier = before[engine.name]
                longer_s = done.seconds - earlier.seconds
                added = f"{(size - smaller) / longer_s:.0f}" if longer_s > 0 else "-"  # a busy machine
            before[engine.name] = (size, done)
            print(
                f"{size:>7} {engine.name:>10} {done.seconds:>8.1f} {size / done.seconds:>7.1f} "
                f"{first_s / done.seconds:>6.2f} {added:>8} {done.peak_mb:>6.0f} {memory:>7.2f} "
                f"{f'{done.workers_mb:.0f}' if engine.also else '':>8}",
                flush=True,
            )


def report_start(folder: Path) -> None:
    """The clock of a run so small that it is start-up alone, and the processor time of all its processes."""
    corpus = folder / "start.jsonl"
    write_speech(corpus, 40)
    alone = Engine("direct, 1", ())
    print(f"{'start':>7} {'seconds':>8} {'CPU s':>7}")
    for number in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = measure(corpus, folder / f"start-{number}", ("--sinks", "slu", "stt_lm"), alone)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        print(f"{40:>7} {done.seconds if done else math.nan:>8.1f} {cpu_s:>7.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=int, nargs="*", default=[2_000, 10_000, 50_000], metavar="N")
    parser.add_argument("--speech", type=int, nargs="*", default=[40, 80], metavar="N")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="further settings of every job")
    args = parser.parse_args()
    some_engines = engines(args.workers)
    with tempfile.TemporaryDirectory() as folder:
        report_start(Path(folder))
        for kind, sizes in (("text", args.text), ("speech", args.speech)):
            if sizes:
                report(kind, sizes, Path(folder), some_engines, args.set)


if __name__ == "__main__":
    main()
