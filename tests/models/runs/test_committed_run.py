"""Laws of reading a run back: exactly the files that were committed, byte for byte, or an error that names the file."""

import json
import os
import shutil

import pytest
from committed_run import commit, make_run

from sottovoce.models.errors import RunError
from sottovoce.models.runs.committed_run import CommittedRun, open_local, seal_of
from sottovoce.models.runs.places import COMMITTED
from sottovoce.models.runs.run_files import FileEntry, LocalFiles, list_files


@pytest.fixture
def folder(tmp_path):
    """A run with two sinks, a refused record, and everything that is written beside them."""
    folder = make_run(tmp_path / "run-0123456789ab")
    for sink in ("dm", "failures"):
        (folder / sink).mkdir()
        (folder / sink / "part-00000-of-00001.parquet").write_bytes(
            (folder / "slu" / "part-00000-of-00001.parquet").read_bytes()
        )
    (folder / "config.yaml").write_text("sinks: {slu: 1}\n")
    (folder / "report.html").write_text("<p>all is well</p>")
    return commit(folder)


def open_run(folder) -> CommittedRun:
    return CommittedRun(str(folder), LocalFiles(str(folder)))


FILES = ("slu", "dm", "failures", "config.yaml", "report.html", "ledger.json")


def path_of(folder, name):
    return folder / name if "." in name else folder / name / "part-00000-of-00001.parquet"


def test_the_commit_lists_every_file_but_itself(folder):
    listed = open_run(folder).files
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert set(listed) == found - {COMMITTED}
    assert all(entry.bytes == (folder / path).stat().st_size for path, entry in listed.items())


def test_a_run_that_was_not_committed_is_refused(folder):
    (folder / COMMITTED).unlink()
    with pytest.raises(RunError, match="not a committed run"):
        open_run(folder)


@pytest.mark.parametrize("name", FILES)
def test_one_changed_byte_is_noticed_and_named(folder, name):
    run, path = open_run(folder), path_of(folder, name)
    run.verify()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(RunError, match=f"{path.relative_to(folder)} is not the file that was committed"):
        run.verify()
    with pytest.raises(RunError, match="is not the file that was committed"):
        run.read(str(path.relative_to(folder)))


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    path_of(folder, name).unlink()
    with pytest.raises(RunError, match=f"{path_of(folder, name).relative_to(folder)} is committed but missing"):
        open_run(folder).verify()


@pytest.mark.parametrize("name", ["zz.jsonl", "slu/zz.jsonl", "slu/part-00001-of-00001.parquet", "new/deep/er", ".x"])
def test_an_added_file_is_named_whatever_sink_is_wanted(folder, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("{}")
    for sinks in (None, ["slu"], []):
        with pytest.raises(RunError, match=f"{name} is in the run but not committed"):
            open_run(folder).verify(sinks)


def test_links_and_pipes_are_noticed_and_never_opened(folder, tmp_path):
    os.symlink(tmp_path, folder / "linked")
    with pytest.raises(RunError, match="linked is in the run but not committed"):
        open_run(folder).verify()
    (folder / "linked").unlink()
    report = folder / "report.html"
    elsewhere = tmp_path / "same.html"
    elsewhere.write_bytes(report.read_bytes())
    report.unlink()
    os.symlink(elsewhere, report)
    with pytest.raises(RunError, match=r"report\.html"):
        open_run(folder).verify()
    report.unlink()
    os.mkfifo(report)
    with pytest.raises(RunError, match=r"report\.html"):
        open_run(folder).verify()


def test_a_sink_that_nobody_wants_is_compared_by_size_and_not_read(folder):
    run, path = open_run(folder), path_of(folder, "dm")
    path.write_bytes(bytes(path.stat().st_size))
    run.verify(["slu"])
    with pytest.raises(RunError, match="dm/"):
        run.verify(["dm"])
    path.write_bytes(b"")
    with pytest.raises(RunError, match="dm/"):
        run.verify(["slu"])


@pytest.mark.parametrize("path", ["/etc/passwd", "../other/part.parquet", "slu/../../x", "slu/..", "slu//x"])
def test_a_file_outside_the_run_is_refused(folder, path):
    record = json.loads((folder / COMMITTED).read_text())
    record["files"][path] = record["files"].pop("slu/part-00000-of-00001.parquet")
    record["shards"] = [shard | {"path": path} if shard["sink"] == "slu" else shard for shard in record["shards"]]
    (folder / COMMITTED).write_text(json.dumps(record))
    with pytest.raises(RunError, match="damaged"):
        open_run(folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"run_id": "x"}',
        '{"run_id": "x", "shards": [{}]}',
        '{"run_id": "x", "shards": []}',
        '{"run_id": "x", "shards": [], "files": []}',
        '{"run_id": "x", "shards": [], "files": {"a": 1}}',
        '{"run_id": "x", "shards": [{"path": "a/b", "sink": "a", "rows": 1, "bytes": 1, "sha256": "0"}], "files": {}}',
    ],
)
def test_a_damaged_commit_is_refused(folder, text):
    (folder / COMMITTED).write_text(text)
    with pytest.raises(RunError, match="damaged"):
        open_run(folder)


def test_what_was_hashed_when_it_was_written_is_not_read_again_but_must_be_there(folder):
    path = "slu/part-00000-of-00001.parquet"
    known = {path: FileEntry("0" * 64, (folder / path).stat().st_size)}
    assert list_files(LocalFiles(str(folder)), known)[path]["sha256"] == "0" * 64
    for wrong in ({path: FileEntry("0" * 64, 1)}, {"slu/gone.parquet": FileEntry("0" * 64, 1)}):
        with pytest.raises(RunError, match="nothing was committed"):
            list_files(LocalFiles(str(folder)), wrong)


def test_the_digest_changes_with_every_file(folder):
    before = open_run(folder).digest
    (folder / "report.html").write_text("<p>all is better</p>")
    assert open_run(commit(folder)).digest != before


def sealed(folder):
    """The private folder of an output, as its commands leave it."""
    private = folder.parent / "private"
    (private / "runs" / folder.name).mkdir(parents=True, exist_ok=True)
    (private / "secret_check.json").write_text("{}")
    (private / "runs" / folder.name / "commit.json").write_text(json.dumps(seal_of((folder / COMMITTED).read_bytes())))
    return private


def test_a_commit_that_was_changed_together_with_its_files_is_refused(folder):
    sealed(folder)
    open_local(str(folder)).verify()
    (folder / "ledger.json").write_text("{}")
    commit(folder)
    with pytest.raises(RunError, match="not the one that the run wrote"):
        open_local(str(folder))


def test_a_commit_whose_seal_is_gone_is_refused(folder):
    (sealed(folder) / "runs" / folder.name / "commit.json").unlink()
    with pytest.raises(RunError, match="not the one that the run wrote"):
        open_local(str(folder))


def test_a_copy_that_was_handed_on_speaks_for_itself(folder, tmp_path):
    sealed(folder)
    shutil.copytree(folder, tmp_path / "handed on" / "renamed")
    open_local(str(tmp_path / "handed on" / "renamed")).verify()
