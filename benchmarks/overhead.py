"""What the pipeline costs over its bare steps: the text path on the local runner against a plain loop, side by side.

    python benchmarks/overhead.py [--records 1000 10000 100000] [--rounds 3]

Both sides read the same JSONL, detect, route, replace and write Parquet with the same members; the loop has no Beam, no
shuffle and no shards. Each measurement is a process of its own, timed after imports; memory is its peak resident size.
Rounds alternate the sides, so that what else the machine does falls on both; figures are medians, the ratio with its
range. The local runner keeps what it shuffles in memory. What the graph costs up to its shuffle is a side of its own,
`steps`: the same stages, their rows dropped where writing would group them by shard.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo" / "manifest.jsonl"
SECRET = b"the secret of the benchmark"
BATCH = 128


def write_corpus(path: Path, records: int) -> None:
    """Dialogues of five turns drawn from the demo's texts, without audio."""
    turns = [json.loads(line) for line in DEMO.read_text().splitlines()]
    draw = random.Random(1)
    with path.open("w") as file:
        for number in range(records):
            turn = draw.choice(turns)
            record = {"id": str(number), "dialogue_id": f"d{number // 5}", "turn": number % 5, "text": turn["text"]}
            file.write(json.dumps(record | {"intent": turn["intent"], "slots": turn["slots"]}) + "\n")


def run_beam(corpus: Path, out: Path) -> float:
    from sottovoce.models.randomness import Secret
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.sanitize.run import RunRequest, execute, prepare

    order = RunRequest(read_job(None, ["detect=rules"]), str(corpus), str(out), Secret(SECRET))
    began = time.perf_counter()
    execute(prepare(order))
    return time.perf_counter() - began


def run_steps(corpus: Path, out: Path) -> float:
    import apache_beam as beam

    from sottovoce.models.randomness import Secret
    from sottovoce.pipelines.sanitize.job_file import read_job
    from sottovoce.pipelines.sanitize.run import RunRequest, prepare
    from sottovoce.transforms.read.read_corpus import ReadCorpus
    from sottovoce.transforms.sinks import sink_class
    from sottovoce.transforms.sinks.route import RouteDialogues
    from sottovoce.transforms.text.stages import DetectEntities

    run = prepare(RunRequest(read_job(None, ["detect=rules"]), str(corpus), str(out), Secret(SECRET)))
    began = time.perf_counter()
    with beam.Pipeline(options=run.options) as pipeline:
        batches = (pipeline | ReadCorpus(run.corpus, run.job)).passed | DetectEntities(run.job)
        routed = batches.passed | RouteDialogues(run.job.sinks, run.job.secret)
        for sink in run.job.sinks:
            rows = routed[sink] | sink >> sink_class(sink)(run.job)
            rows.passed | f"Drop {sink}" >> beam.FlatMap(lambda _: ())
    return time.perf_counter() - began


def run_loop(corpus: Path, out: Path) -> float:
    import dataclasses

    import pyarrow as pa
    import pyarrow.parquet as pq

    from sottovoce.models.randomness import Secret
    from sottovoce.models.records import SluExample
    from sottovoce.models.settings import Spec
    from sottovoce.models.text.edits import apply_edits
    from sottovoce.transforms.read.corpus import make_reader, open_corpus, open_file
    from sottovoce.transforms.sinks.route import choose_sink
    from sottovoce.transforms.write.rows import schema_of, to_row

    secret, weights = Secret(SECRET), {"stt_lm": 1.0, "slu": 1.0, "dm": 1.0}
    detector, strategy = Spec("detect", "rules").make(), Spec("replace", "typed").make()
    detector.setup()
    strategy.setup()
    reader = make_reader("jsonl", BATCH)
    began = time.perf_counter()
    files = open_corpus(str(corpus), "jsonl").files
    out.mkdir(parents=True)
    with pq.ParquetWriter(out / "part.parquet", schema_of(SluExample), compression="zstd") as writer:
        for chunk in (chunk for file in files for chunk in reader.scan(file, open_file)):
            batch = list(reader.parse(chunk, open_file))
            found = detector.detect([utterance.text for utterance in batch])
            columns = []
            for utterance, spans in zip(batch, found, strict=True):
                choose_sink(secret, utterance.dialogue_id, weights)
                utterance = dataclasses.replace(utterance, spans=tuple(spans))
                text, slots = apply_edits(utterance.text, strategy.replace(utterance, secret), utterance.slots)
                name = secret.token("slu example", utterance.dialogue_id, utterance.id)
                example = SluExample(name, text, utterance.intent, tuple(slots), utterance.language)
                columns.append(to_row(name, utterance.source, example).columns)
            writer.write_table(pa.Table.from_pylist(columns, schema=schema_of(SluExample)))
    return time.perf_counter() - began


SIDES = {"loop": run_loop, "beam": run_beam, "steps": run_steps}


def measure(side: str, records: int, folder: Path) -> dict[str, float]:
    corpus = folder / f"{records}.jsonl"
    if not corpus.exists():
        write_corpus(corpus, records)
    command = [
        sys.executable,
        __file__,
        "--side",
        side,
        "--corpus",
        str(corpus),
        "--out",
        tempfile.mkdtemp(dir=folder) + "/out",
    ]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(printed.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        seconds = SIDES[args.side](args.corpus, args.out)
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak_mb": peak_mb}))
        return
    print(
        f"{'records':>9} {'loop/s':>9} {'beam/s':>9} {'beam/loop':>10} {'range':>12}"
        f" {'us/record':>10} {'loop MB':>9} {'beam MB':>9} {'steps MB':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for records in args.records:
            rounds = [[measure(side, records, Path(folder)) for side in SIDES] for _ in range(args.rounds)]
            print(table_row(records, rounds), flush=True)


def table_row(records: int, rounds: list[list[dict[str, float]]]) -> str:
    loop, beam = (statistics.median(sides[side]["seconds"] for sides in rounds) for side in (0, 1))
    loop_mb, beam_mb, steps_mb = (max(sides[side]["peak_mb"] for sides in rounds) for side in (0, 1, 2))
    ratios = sorted(loop["seconds"] / beam["seconds"] for loop, beam, _ in rounds)
    return (
        f"{records:>9} {records / loop:>9.0f} {records / beam:>9.0f} {statistics.median(ratios):>10.2f}"
        f" {f'{ratios[0]:.2f}-{ratios[-1]:.2f}':>12} {1e6 * beam / records:>10.0f}"
        f" {loop_mb:>9.0f} {beam_mb:>9.0f} {steps_mb:>9.0f}"
    )


if __name__ == "__main__":
    main()
