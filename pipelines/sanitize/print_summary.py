"""The closing words of a run: what was done, and where every output is."""

from __future__ import annotations

from typing import Any

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.runs.places import FAILURES
from sottovoce.pipelines.sanitize.refused import told_of
from sottovoce.pipelines.sanitize.run_folder import RunFolder
from sottovoce.transforms.sinks import sink_class

FILES = {
    "ledger.json": "what each mechanism gives and does not give",
    "report.html": "the same for people: open it in a browser",
    "README.md": "dataset card: datasets.load_dataset(RUN, SINK) reads it; croissant.json says the same",
    "config.yaml": "the job as it ran",
    "_COMMITTED.json": "shards with row counts and sha256",
}


def print_summary(folder: RunFolder, committed: dict[str, Any], what: str) -> None:
    """`committed` is the record of the commit, `what` says how the run came to its end. No word of a record is printed."""
    counts = committed["counts"]
    print(f"run {folder.name} {what}")
    records, dialogues = _of(counts["read"], "record"), _of(counts["dialogues"], "dialogue")
    print(f"  {records} of {dialogues} read, {counts['failed']} refused")
    refused = [folder.places.private(table["path"]) for table in folder.tables() if table["sink"] == FAILURES]
    for line in told_of(filter(FileSystems.exists, refused)) or [
        f"{count:>7} x {reason}" for reason, count in counts["by_reason"].items()
    ]:
        print(f"    {line}")
    if left_out := folder.left_out():
        print(f"  {_of(left_out, 'record')} of people who were forgotten left out")
    print(f"may be handed on: {folder.uri}")
    for sink, rows in counts["rows"].items():
        print(f"  {sink + '/':<16} {_of(rows, 'record')}: {sink_class(sink).holds}")
    if committed.get("crowd") and not all(counts["rows"].values()):
        print("  a sink is empty: nothing was said by enough speakers; ledger.json has the threshold (rewrite: crowd)")
    for name, text in FILES.items():
        print(f"  {name:<16} {text}")
    print(f"may not: {folder.places.output.private()}")
    if counts["failed"]:
        print(f"  refused records, with file and line, as Parquet: {folder.places.private(FAILURES)}")


def _of(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
