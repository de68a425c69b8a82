import json

import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.export.committed import CommittedRun


def open_local(path):
    return open(path, "rb")


def test_groups_give_every_record_once_and_never_a_whole_shard(run, records):
    groups = list(run.groups("stt_am"))
    assert max(map(len, groups)) == 3
    assert sorted(row["id"] for group in groups for row in group) == sorted(row["id"] for row in records["stt_am"])


def test_a_run_that_was_not_committed_is_refused(run_folder):
    (run_folder / "_COMMITTED.json").unlink()
    with pytest.raises(RunError, match="not a committed run"):
        CommittedRun(str(run_folder), open_local)


def test_one_changed_byte_is_noticed(run, run_folder):
    run.verify(["slu", "dm"])
    shard = next((run_folder / "slu").iterdir())
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    run.verify(["dm"])
    with pytest.raises(RunError, match=f"slu/{shard.name} is not the file that was committed"):
        run.verify(["slu"])


def test_a_missing_shard_is_named(run, run_folder):
    shard = next((run_folder / "dm").iterdir())
    shard.unlink()
    with pytest.raises(RunError, match=f"dm/{shard.name} is committed but missing"):
        run.verify(["dm"])


@pytest.mark.parametrize("path", ["/etc/passwd", "../other/part.parquet", "slu/../../x", "slu/..", "part.parquet"])
def test_a_shard_outside_the_run_is_refused(run_folder, path):
    record = json.loads((run_folder / "_COMMITTED.json").read_text())
    record["shards"][0]["path"] = path
    (run_folder / "_COMMITTED.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match="damaged"):
        CommittedRun(str(run_folder), open_local)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run_id": "x"}', '{"run_id": "x", "shards": [{}]}'])
def test_a_damaged_record_is_refused(run_folder, text):
    (run_folder / "_COMMITTED.json").write_text(text)
    with pytest.raises(RunError, match="damaged"):
        CommittedRun(str(run_folder), open_local)
