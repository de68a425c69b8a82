"""Tiny runs as `sottovoce sanitize` commits them."""

import hashlib
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from committed_run import commit

from sottovoce.models import corpus
from sottovoce.models.runs.committed_run import CommittedRun
from sottovoce.models.runs.run_files import LocalFiles
from sottovoce.models.settings import resolve

RATE_HZ = 16_000

SLOTS = pa.list_(pa.struct([("begin", pa.int32()), ("end", pa.int32()), ("name", pa.string())]))
TURNS = pa.list_(pa.struct([("text", pa.string()), ("intent", pa.string()), ("slots", SLOTS)]))
AUDIO = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
TEXT = [("id", pa.string()), ("text", pa.string())]
SCHEMAS = {
    "stt_am": pa.schema(
        [
            TEXT[0],
            ("audio", AUDIO),
            TEXT[1],
            ("duration_s", pa.float64()),
            ("rate_hz", pa.int32()),
            ("language", pa.string()),
        ]
    ),
    "stt_lm": pa.schema([*TEXT, ("language", pa.string())]),
    "slu": pa.schema([*TEXT, ("intent", pa.string()), ("slots", SLOTS), ("language", pa.string())]),
    "dm": pa.schema([TEXT[0], ("turns", TURNS), ("language", pa.string())]),
}


def samples_of(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(-3000, 3000, 1600 + number, dtype=np.int16)


def slice_row(number: int, text: str) -> dict:
    flac, samples = io.BytesIO(), samples_of(number)
    soundfile.write(flac, samples, RATE_HZ, format="FLAC")
    name = hashlib.md5(str(number).encode()).hexdigest()
    audio = {"bytes": flac.getvalue(), "path": f"{name}.flac"}
    duration_s = len(samples) / RATE_HZ
    return {"id": name, "audio": audio, "text": text, "duration_s": duration_s, "rate_hz": RATE_HZ, "language": "en"}


SPEECH = [slice_row(number, f"say number {number}") for number in range(40)]
LINES = [{"id": f"{number:032x}", "text": f"a line\u2028with [NAME] {number}", "language": "en"} for number in range(3)]
SLU = [
    {
        "id": "aa01",
        "text": "fly to [CITY], on friday morning",
        "intent": "book_trip",
        "slots": [{"begin": 18, "end": 32, "name": "date"}, {"begin": 7, "end": 13, "name": "city"}],
        "language": "en",
    },
    {"id": "aa02", "text": "thanks", "intent": None, "slots": [], "language": None},
]
DIALOGUES = [
    {
        "id": "dd01",
        "turns": [
            {"text": "call [NAME]", "intent": "call", "slots": [{"begin": 5, "end": 11, "name": "contact"}]},
            {"text": "yes please", "intent": None, "slots": []},
        ],
        "language": "en",
    },
    {"id": "dd02", "turns": [{"text": "stop", "intent": "stop", "slots": []}], "language": "en"},
]
EVERYTHING = {"stt_am": SPEECH, "stt_lm": LINES, "slu": SLU, "dm": DIALOGUES}


def write_run(folder, records: dict[str, list[dict]], shards: int = 2):
    """Row groups of three records, so that readers meet more than one."""
    for sink, rows in records.items():
        (folder / sink).mkdir(parents=True, exist_ok=True)
        for shard in range(shards):
            path = folder / sink / f"part-{shard:05d}-of-{shards:05d}.parquet"
            part = sorted(rows[shard::shards], key=lambda row: row["id"])
            pq.write_table(pa.Table.from_pylist(part, schema=SCHEMAS[sink]), path, row_group_size=3)
    return commit(folder)


def open_run(folder) -> CommittedRun:
    return CommittedRun(str(folder), LocalFiles(str(folder)))


def open_local(path: str):
    return open(path, "rb")


@pytest.fixture
def records() -> dict[str, list[dict]]:
    return EVERYTHING


@pytest.fixture
def run_of(tmp_path):
    """A committed run of the given records."""
    return lambda records: open_run(write_run(tmp_path / "out" / "run-0123456789ab", records))


@pytest.fixture
def run_folder(tmp_path):
    return write_run(tmp_path / "out" / "run-0123456789ab", EVERYTHING)


@pytest.fixture
def run(run_folder) -> CommittedRun:
    return open_run(run_folder)


@pytest.fixture
def read_corpus():
    """What our own readers make of a file that was exported."""

    def read(format_name: str, path) -> list:
        reader = resolve(corpus.TABLE[format_name])()
        file = corpus.CorpusFile(str(path), path.name, path.name, path.stat().st_size)
        return [found for chunk in reader.scan(file, open_local) for found in reader.parse(chunk, open_local)]

    return read
