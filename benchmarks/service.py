"""The service under load, beside Presidio's server on the same texts and tagger, in one run.

    python benchmarks/service.py [--seconds 5] [--rounds 2] [--callers 1 8 64] [--soak 20000] [--sides ours presidio]

    ours        `sottovoce serve --text-only`, one process
    presidio    what Presidio's own server does with a request (Flask, BatchAnalyzerEngine, one gunicorn worker, as its image
                starts it), with the shipped tagger as its own HuggingFaceNerRecognizer (presidio_sides.py). Its app.py is not
                in its package, so that the route stands here; no spaCy model: none comes from a package registry
    presidio ours   the same server with our detector, the int8 network, as its recogniser

All get the same `POST /analyze`. A server is bound to one core, the callers to another; rounds alternate the sides, so that what
else the machine does falls on all of them. Then speech: seconds of speech answered by second of the clock and by CPU second of
the server. Then the soak: every answer is compared with the direct call, and the memory of the server is read on the way.
Everything happens on loopback and is bounded by the flags.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "demo"
SIDES = ("ours", "presidio", "presidio ours")
SERVER_CORE, CALLER_CORE = 0, -1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement (5)")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--soak", type=int, default=20_000, help="requests; 0: none (20000)")
    parser.add_argument("--speech", type=int, default=40, help="recordings; 0: none (40)")
    parser.add_argument("--sides", nargs="*", default=list(SIDES), choices=SIDES)
    parser.add_argument("--presidio", nargs=3, help=argparse.SUPPRESS)  # this process is Presidio's server
    args = parser.parse_args()
    if args.presidio:
        return serve_presidio(*args.presidio)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[CALLER_CORE]})
    texts = demo_texts()
    with tempfile.TemporaryDirectory() as folder:
        if args.sides:
            compare(args, texts, folder)
        if args.speech:
            speech(args.speech)
        if args.soak:
            soak(args.soak, texts)


def compare(args: argparse.Namespace, texts: list[str], folder: str) -> None:
    bodies = [json.dumps({"text": text, "language": "en"}).encode() for text in texts]
    rows: dict[tuple[str, int], list[list[float]]] = {}
    with contextlib.ExitStack() as stack:
        ports = {side: stack.enter_context(server(side, folder)) for side in args.sides}
        for _ in range(args.rounds):
            for callers in args.callers:
                for side, (port, process) in ports.items():
                    before = cpu_of(process)
                    seconds, took = asyncio.run(load(port, "/analyze", bodies, callers, args.seconds))
                    row = [len(took) / seconds, *quantiles(took), len(took) / (cpu_of(process) - before)]
                    rows.setdefault((side, callers), []).append(row)
    print(
        f"{'':<15} {'callers':>7} {'requests/s':>11} {'p50 ms':>8} {'p99 ms':>8} {'p99/p50':>8} {'times presidio':>15} "
        f"{'per CPU s':>10} {'times presidio':>15}"
    )
    for callers in args.callers:
        middle = {
            side: [statistics.median(row[i] for row in rows[side, callers]) for i in range(4)] for side in args.sides
        }
        for side, (rate, p50, p99, by_cpu) in middle.items():
            theirs = middle.get("presidio", [float("nan")] * 4)
            print(
                f"{side:<15} {callers:>7} {rate:>11.1f} {1000 * p50:>8.1f} {1000 * p99:>8.1f} {p99 / p50:>8.1f} "
                f"{rate / theirs[0]:>15.2f} {by_cpu:>10.1f} {by_cpu / theirs[3]:>15.2f}"
            )


def cpu_of(process: psutil.Process) -> float:
    """Seconds of the server and of its own processes."""
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def quantiles(took: list[float]) -> tuple[float, float]:
    ordered = sorted(took)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


async def load(port: int, path: str, bodies: list[bytes], callers: int, seconds: float) -> tuple[float, list[float]]:
    """Seconds that passed, and how long each request took."""
    end, took = time.perf_counter() + seconds, []

    async def calls(number: int) -> None:
        caller, draw = Caller(port), random.Random(number)
        while time.perf_counter() < end:
            began = time.perf_counter()
            status, _ = await caller.post(path, draw.choice(bodies))
            assert status == 200, status
            took.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(calls(number) for number in range(callers)))
    return time.perf_counter() - began, took


class Caller:
    """The least that speaks HTTP: a library would cost more than the server."""

    def __init__(self, port: int):
        self._port, self._reader, self._writer = port, None, None

    async def post(self, path: str, body: bytes, kind: str = "application/json") -> tuple[int, bytes]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost:{self._port}\r\nContent-Type: {kind}\r\n"
        self._writer.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        content = await self._reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self._writer.close()
            self._writer = None
        return int(lines[0].split()[1]), content


@contextlib.contextmanager
def server(side: str, folder: str, *flags: str) -> Iterator[tuple[int, psutil.Process]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("sottovoce")),
        "serve",
        "--port",
        str(port),
        *(flags or ("--text-only",)),
    ]
    if side != "ours":
        command = [sys.executable, __file__, "--presidio", side, str(port), folder]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    core = sorted(psutil.Process().parent().cpu_affinity() or [0])[SERVER_CORE]
    process = subprocess.Popen(
        command, env={**os.environ, **threads}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )  # fmt: skip
    try:
        for _ in range(1800):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
                if answer.status == 200:
                    break
            if process.poll() is not None:
                raise SystemExit(f"{side}: the server ended; is everything installed? make bench-service")
            time.sleep(0.1)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def serve_presidio(side: str, port: str, folder: str) -> None:
    from flask import Flask, Response, request
    from gunicorn.app.base import BaseApplication
    from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider
    from presidio_sides import NO_ENGINE, _as_recogniser, _its_own, write_twin

    from sottovoce.models.settings import read_spec
    from sottovoce.models.text.detect.tagger import SHIPPED

    detector = read_spec("detect", "default").make()
    detector.setup()
    analyzer = AnalyzerEngine(
        nlp_engine=NlpEngineProvider(nlp_configuration=NO_ENGINE).create_engine(), supported_languages=["en"]
    )
    own = side == "presidio"
    analyzer.registry.add_recognizer(_its_own(write_twin(SHIPPED, Path(folder))) if own else _as_recogniser(detector))
    batched, app = BatchAnalyzerEngine(analyzer), Flask("presidio")

    @app.route("/health")
    def health() -> str:
        return "up"

    @app.route("/analyze", methods=["POST"])
    def analyze() -> Any:
        asked = request.get_json()
        (found,) = batched.analyze_iterator([asked["text"]], language=asked["language"], batch_size=1)
        rows = [{k: v for k, v in result.to_dict().items() if k != "recognition_metadata"} for result in found]
        return Response(json.dumps(rows), content_type="application/json")

    class Served(BaseApplication):
        def load_config(self) -> None:
            self.cfg.set("bind", f"127.0.0.1:{port}")
            self.cfg.set("workers", 1)

        def load(self) -> Any:
            return app

    Served().run()


def demo_texts() -> list[str]:
    return list(dict.fromkeys(json.loads(line)["text"] for line in (DEMO / "manifest.jsonl").open(encoding="utf-8")))


def form(record: dict[str, Any]) -> tuple[bytes, str]:
    edge, content = "edge-of-a-part", (DEMO / record["audio_filepath"]).read_bytes()
    text = f'--{edge}\r\nContent-Disposition: form-data; name="text"\r\n\r\n{record["text"]}\r\n'
    sound = f'--{edge}\r\nContent-Disposition: form-data; name="audio"; filename="a.flac"\r\n\r\n'
    return (
        text.encode() + sound.encode() + content + f"\r\n--{edge}--\r\n".encode(),
        f"multipart/form-data; boundary={edge}",
    )


def speech(count: int) -> None:
    records = [json.loads(line) for line in (DEMO / "manifest.jsonl").open(encoding="utf-8")][: 4 * count : 4]

    async def all_of_them(port: int) -> list[float]:
        """Lengths of the recordings that were answered: one that is refused is done early, and must not count."""
        queue = [(*form(record), record["duration"]) for record in records]

        async def calls() -> list[float]:
            caller, answered = Caller(port), []
            while queue:
                body, kind, duration_s = queue.pop()
                if (await caller.post("/v1/anonymise", body, kind))[0] == 200:
                    answered.append(duration_s)
            return answered

        return [duration_s for answered in await asyncio.gather(calls(), calls()) for duration_s in answered]

    with server("ours", "", "--set", "detect=default") as (port, process):
        asyncio.run(Caller(port).post("/v1/anonymise", *form(records[0])))
        before, began = cpu_of(process), time.perf_counter()
        answered = asyncio.run(all_of_them(port))
        seconds, cpu = time.perf_counter() - began, cpu_of(process) - before
    spoken_s = sum(answered)
    print(f"\nspeech: {len(records)} recordings, {len(answered)} answered; {spoken_s:.0f} s of speech")
    print(
        f"  {spoken_s / seconds:.1f} s of speech a second by the clock, {spoken_s / cpu:.1f} by CPU second of the server"
    )


def soak(count: int, texts: list[str]) -> None:
    from sottovoce.models.settings import read_spec

    detector = read_spec("detect", "default").make()
    detector.setup()
    rng, wrong, sizes = random.Random(0), 0, []
    texts = [*texts, *(f"{one} and {other}" for one, other in zip(texts, rng.sample(texts, len(texts)), strict=True))]
    expected = {text: [(s.begin, s.end, s.type, s.score) for s in detector.detect([text])[0]] for text in texts}

    async def all_of_them(port: int, process: psutil.Process) -> int:
        done = 0

        async def calls(number: int) -> int:
            nonlocal done
            caller, draw, bad = Caller(port), random.Random(number), 0
            while done < count:
                done += 1
                if done % (count // 10) == 0:
                    sizes.append(process.memory_info().rss / 2**20)
                text = draw.choice(texts)
                status, content = await caller.post("/v1/detect", json.dumps({"text": text}).encode())
                found = [(e["begin"], e["end"], e["type"], e["score"]) for e in json.loads(content)["entities"]]
                bad += status != 200 or found != expected[text]
            return bad

        return sum(await asyncio.gather(*(calls(number) for number in range(16))))

    with server("ours", "") as (port, process):
        wrong = asyncio.run(all_of_them(port, process))
    print(f"\nsoak: {count} requests of 16 callers, {wrong} wrong answers")
    print(f"  memory of the server in MiB, after each tenth: {', '.join(f'{size:.0f}' for size in sizes)}")


if __name__ == "__main__":
    main()
