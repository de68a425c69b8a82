"""A small committed run, for tests of what follows a commit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.models.evaluation.audit import TABLE
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.ledger.book import open_book, to_json
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.runs.run_files import LocalFiles, list_files


def make_run(
    folder: Path, *, rows: int = 4, read: int = 100, failed: int = 2, entries: tuple[LedgerEntry, ...] | None = None
) -> Path:
    """By default every detected unit was replaced, whatever it was."""
    entries = (replacement({"unit": 0.0}),) if entries is None else entries
    (folder / "slu").mkdir(parents=True)
    part = folder / "slu" / "part-00000-of-00001.parquet"
    examples = [{"id": f"{i:032x}", "text": "turn it on", "intent": "on", "slots": []} for i in range(rows)]
    pq.write_table(pa.Table.from_pylist(examples), part)
    book = open_book(folder.name, "2025-01-01T00:00:00+00:00", entries, ["the number of examples"])
    (folder / "ledger.json").write_text(to_json(book))
    return commit(folder, counts={"read": read, "failed": failed, "by_reason": {}})


def commit(folder: Path, counts: dict[str, Any] | None = None) -> Path:
    """Vouch for what lies in the folder now, as the end of a run does."""
    files = list_files(LocalFiles(str(folder)))
    shards = [
        {"path": path, "sink": path.split("/")[0], "rows": pq.read_metadata(folder / path).num_rows, **entry}
        for path, entry in files.items()
        if path.endswith(".parquet")
    ]
    record = {"run_id": folder.name, "created": "2025-01-01T00:00:00+00:00", "counts": counts or {}}
    (folder / "_COMMITTED.json").write_text(json.dumps(record | {"shards": shards, "files": files}))
    return folder


def digest_of(run: Path) -> str:
    return hashlib.sha256((run / "_COMMITTED.json").read_bytes()).hexdigest()


def held(run: Path) -> Path:
    """With an audit that it held out against, as `sottovoce audit` leaves it."""
    private = run.parent / "private" / "runs" / run.name
    private.mkdir(parents=True, exist_ok=True)
    (private / "audit.json").write_text(json.dumps({"commit": digest_of(run)} | held_audit()))
    return run


def held_audit() -> dict[str, Any]:
    """What `sottovoce audit` says of a run that held out against every attack."""
    risk, allowed = {"value": 0.0, "low": -0.05, "high": 0.05}, AuditSettings().allowed
    return {
        "unmeasured": "refuse",
        "held": True,
        "reasons": [],
        "results": [
            {"attack": name, "where": "all sinks", "verdict": "held", "allowed": allowed(name), "risk": risk}
            for name in TABLE
        ],
        "eased": [],
        "calibration": [
            {"attack": name, "risk_where_nothing_leaks": 0.0, "risk_where_all_leaks": 1.0, "fit": True}
            for name in TABLE
        ],
    }


def detector(**lower_ends: float) -> LedgerEntry:
    """A detector with the lower end of its measured recall on each set."""
    measured = {name: {"recall": 0.99, "interval": [low, 1.0]} for name, low in lower_ends.items()}
    return LedgerEntry("detect", "tagger", "finds names", ("what it misses",), parameters={"measured": measured})


def replacement(sound: dict[str, float]) -> LedgerEntry:
    return LedgerEntry("replace", "word", "swaps words", ("the rest",), adjacency="one word", sound=sound)
