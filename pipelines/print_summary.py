"""The closing words of a run: what was done, and where every output is."""

from __future__ import annotations

from typing import Any

from sottovoce.pipelines.run_folder import RunFolder

FILES = {
    "ledger.json": "what each mechanism gives and does not give",
    "report.html": "the same for people: open it in a browser",
    "config.yaml": "the job as it ran",
    "_COMMITTED.json": "shards with row counts and sha256",
}


def print_summary(folder: RunFolder, committed: dict[str, Any], what: str) -> None:
    counts = committed["counts"]
    print(f"run {folder.name} {what}")
    print(f"  {counts['read']} records of {counts['dialogues']} dialogues read, {counts['failed']} refused")
    for reason, count in counts["by_reason"].items():
        print(f"    {count:>7} x {reason}")
    print(f"outputs in {folder.uri}")
    for sink, rows in (counts["rows"] | {"failures": counts["failed"]}).items():
        print(f"  {sink + '/':<16} {rows} records")
    for name, text in FILES.items():
        print(f"  {name:<16} {text}")
