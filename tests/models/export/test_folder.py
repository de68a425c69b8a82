import json

import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.export import TABLE
from sottovoce.models.export.folder import export


@pytest.mark.parametrize("format_name", TABLE)
def test_every_format_exports_a_full_run_and_says_what_it_wrote(run, tmp_path, format_name):
    counts = export(run, format_name, tmp_path / "made" / "here")
    mark = json.loads((tmp_path / "made" / "here" / "export.json").read_text())
    assert mark["records"] == counts and all(counts.values())
    assert mark["run_id"] == "run-0123456789ab"
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["here"]


@pytest.mark.parametrize("format_name", TABLE)
def test_a_format_with_nothing_to_export_says_so_and_writes_nothing(run_of, tmp_path, format_name):
    with pytest.raises(RunError, match=f"has nothing for {format_name}"):
        export(run_of({"stt_am": [], "stt_lm": [], "slu": [], "dm": []}), format_name, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_an_export_is_replaced_only_when_asked(run, tmp_path):
    export(run, "conll", tmp_path / "made")
    with pytest.raises(RunError, match="--force"):
        export(run, "nemo", tmp_path / "made")
    assert (tmp_path / "made" / "slu.conll").exists()
    export(run, "nemo", tmp_path / "made", force=True)
    assert not (tmp_path / "made" / "slu.conll").exists()
    assert (tmp_path / "made" / "slu.jsonl").exists()


def test_a_folder_that_is_no_export_is_never_cleared(run, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("all of it")
    with pytest.raises(RunError, match="not an export"):
        export(run, "conll", tmp_path / "thesis", force=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "all of it"


def test_a_failed_export_leaves_what_was_there(run, run_folder, tmp_path):
    export(run, "conll", tmp_path / "made")
    before = (tmp_path / "made" / "slu.conll").read_bytes()
    shard = next((run_folder / "slu").iterdir())
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(RunError, match="not the file that was committed"):
        export(run, "conll", tmp_path / "made", force=True)
    assert (tmp_path / "made" / "slu.conll").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "out"]


def test_an_export_interrupted_half_way_leaves_nothing(run, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sottovoce.models.export.conll.sentence", stop)
    with pytest.raises(KeyboardInterrupt):
        export(run, "conll", tmp_path / "made")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_groups_give_every_record_once_and_never_a_whole_shard(run, records):
    groups = list(run.groups("stt_am"))
    assert max(map(len, groups)) == 3
    assert sorted(row["id"] for group in groups for row in group) == sorted(row["id"] for row in records["stt_am"])
