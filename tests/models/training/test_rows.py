"""Whatever lies in a run is read as that run, whole and as it was committed; Parquet of no run is not read at all."""

import io
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from committed_run import commit, make_run

from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.runs.committed_run import open_local
from sottovoce.models.training import rows
from sottovoce.models.training.rows import rows_of, run_around

SHARD = "slu/part-00000-of-00001.parquet"


@pytest.fixture
def run(tmp_path):
    folder = make_run(tmp_path / "out" / "run-0123456789ab")
    (folder / "dm").mkdir()
    shutil.copy(folder / SHARD, folder / "dm" / "part-00000-of-00001.parquet")
    return commit(folder)


@pytest.mark.parametrize("inside", ["", "slu", SHARD])
def test_a_run_its_sink_and_a_shard_of_it_are_read(run, inside):
    read = list(rows_of(run / inside))
    assert len(read) == 4 and {source.file for source, _ in read} == {"part-00000-of-00001.parquet"}


@pytest.mark.parametrize("inside", ["dm", "ledger.json", "dm/part-00000-of-00001.parquet"])
def test_nothing_else_of_a_run_is_trained_on(run, inside):
    with pytest.raises(RunError, match="no shard of its slu sink"):
        list(rows_of(run / inside))


def tampered(run, how):
    shard = run / SHARD
    if how == "added":
        (run / "slu" / "zz.jsonl").write_text('{"tokens": ["raw"], "tags": ["O"], "intent": "i"}\n')
    if how == "added shard":
        shutil.copy(shard, run / "slu" / "part-00001-of-00001.parquet")
    if how == "changed":
        shard.write_bytes(shard.read_bytes()[:-1] + b"\0")
    if how == "missing":
        shard.unlink()
    if how == "ledger":
        (run / "ledger.json").write_text((run / "ledger.json").read_text().replace("0.0", "9.9"))
    return {
        "added": "zz.jsonl",
        "added shard": "part-00001-of-00001",
        "ledger": "ledger.json",
    }.get(how, "part-00000-of-00001")


@pytest.mark.parametrize("inside", ["", "slu", SHARD])
@pytest.mark.parametrize("how", ["added", "added shard", "changed", "missing", "ledger"])
def test_a_file_that_was_added_changed_or_removed_is_named_and_nothing_is_read(run, how, inside):
    name = tampered(run, how)
    if not (run / inside).exists():
        inside = "slu"
    with pytest.raises(RunError, match=name):
        next(rows_of(run / inside))


def test_links_are_followed_to_the_run_that_they_lead_into(run, tmp_path):
    os.symlink(run / SHARD, tmp_path / "examples.jsonl")
    assert run_around(tmp_path / "examples.jsonl") == run
    tampered(run, "added")
    with pytest.raises(RunError, match="zz"):
        next(rows_of(tmp_path / "examples.jsonl"))


@pytest.mark.parametrize("inside", ["", "slu", SHARD])
def test_without_its_commit_a_run_is_no_source_at_all(run, inside):
    (run / "_COMMITTED.json").unlink()
    with pytest.raises(RunError, match="no _COMMITTED"):
        next(rows_of(run / inside))


def test_json_lines_put_into_a_run_without_a_commit_are_not_read(run):
    (run / "_COMMITTED.json").unlink()
    (run / "slu" / "zz.jsonl").write_text("{}\n")
    with pytest.raises(RunError, match="no _COMMITTED"):
        next(rows_of(run / "slu" / "zz.jsonl"))


def test_parquet_of_no_run_is_not_read_whatever_it_is_called(run, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(run / SHARD, tmp_path / "elsewhere" / "mine.parquet")
    for path in (tmp_path / "elsewhere", tmp_path / "elsewhere" / "mine.parquet"):
        with pytest.raises(RunError, match="in no committed run"):
            next(rows_of(path))


def test_another_commit_than_the_judged_one_is_refused(run, tmp_path):
    judged = open_local(str(run)).digest
    assert len(list(rows_of(run, judged))) == 4
    (run / "report.html").write_text("new")
    commit(run)
    with pytest.raises(RunError, match="committed anew"):
        next(rows_of(run, judged))
    (tmp_path / "d.jsonl").write_text("{}\n")
    with pytest.raises(RunError, match="no committed run"):
        next(rows_of(tmp_path / "d.jsonl", judged))


def test_rows_are_parsed_from_the_very_bytes_that_were_hashed(run, monkeypatch):
    """Swapped after the folder was found whole: what is read is compared once more, and only then used."""
    real = rows.CommittedRun.verify

    def verify_and_swap(self, sinks=None):
        real(self, sinks)
        other = [{"id": "0", "text": "raw line", "intent": "on", "slots": []}]
        made = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(other), made)
        (run / SHARD).write_bytes(made.getvalue())

    monkeypatch.setattr(rows.CommittedRun, "verify", verify_and_swap)
    with pytest.raises(RunError, match="not the file that was committed"):
        next(rows_of(run))


def test_a_sink_that_is_none_is_told(run):
    pq.write_table(pa.table({"text": ["a"]}), run / SHARD)
    commit(run)
    with pytest.raises(CorpusError, match="intent, slots are missing"):
        next(rows_of(run))
