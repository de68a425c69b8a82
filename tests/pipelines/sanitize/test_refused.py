"""What a run says of what it refused: stage, reason, what is accepted, and every file that broke off."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.models.corpus.reasons import FileUnreadable, NotJsonObject
from sottovoce.pipelines.sanitize.refused import told_of


def test_refusals_are_counted_by_stage_and_a_torn_file_is_named_with_its_last_line(tmp_path):
    unreadable, broken = ((reason.code, reason.allowed) for reason in (FileUnreadable, NotJsonObject))
    refused = [
        (*broken, "a.jsonl", 3),
        (*broken, "a.jsonl", 4),
        (*unreadable, "b.jsonl.gz", 1490),
        (*unreadable, "c.gz", 1),
    ]
    rows = [
        {"id": str(at), "stage": "read", "reason": reason, "allowed": allowed, "file": file, "line": line}
        for at, (reason, allowed, file, line) in enumerate(refused)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "failures.parquet")
    told = told_of([str(tmp_path / "failures.parquet")])
    assert any(
        "2 x not_json_object (stage read; accepted: one complete JSON object on each line)" in line for line in told
    )
    assert any("b.jsonl.gz is damaged or breaks off after line (or record) 1489: WHAT FOLLOWS" in line for line in told)
    assert any("c.gz is damaged or breaks off at its beginning" in line for line in told)
    assert len(told) == 4 and told_of([]) == []
