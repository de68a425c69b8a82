"""A small committed run, for tests of what follows a commit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.models.ledger.book import open_book, to_json
from sottovoce.models.records import LedgerEntry


def make_run(
    folder: Path, *, rows: int = 4, read: int = 100, failed: int = 2, entries: tuple[LedgerEntry, ...] = ()
) -> Path:
    (folder / "slu").mkdir(parents=True)
    part = folder / "slu" / "part-00000-of-00001.parquet"
    examples = [{"id": f"{i:032x}", "text": "turn it on", "intent": "on", "slots": []} for i in range(rows)]
    pq.write_table(pa.Table.from_pylist(examples), part)
    book = open_book(folder.name, "2025-01-01T00:00:00+00:00", entries, ["slu"])
    (folder / "ledger.json").write_text(to_json(book))
    shard = {
        "path": f"slu/{part.name}",
        "sink": "slu",
        "rows": rows,
        "bytes": part.stat().st_size,
        "sha256": hashlib.sha256(part.read_bytes()).hexdigest(),
    }
    counts = {"read": read, "failed": failed, "by_reason": {}}
    committed = {"run_id": folder.name, "created": "2025-01-01T00:00:00+00:00", "shards": [shard], "counts": counts}
    (folder / "_COMMITTED.json").write_text(json.dumps(committed))
    return folder


def detector(**lower_ends: float) -> LedgerEntry:
    """A detector with the lower end of its measured recall on each set."""
    measured = {name: {"recall": 0.99, "interval": [low, 1.0]} for name, low in lower_ends.items()}
    return LedgerEntry("detect", "tagger", "finds names", ("what it misses",), parameters={"measured": measured})


def replacement(sound: dict[str, float]) -> LedgerEntry:
    return LedgerEntry("replace", "word", "swaps words", ("the rest",), adjacency="one word", sound=sound)
