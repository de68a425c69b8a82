"""CONTRIBUTING.md says the truth: its detector is added as it is told there, and runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from whole_runs import only_run, rows, sottovoce

from sottovoce.models.ledger.book import faults_of
from sottovoce.models.settings import SettingsError, read_spec
from sottovoce.models.text import detect

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Steps 1 and 2, with the file in a temporary folder."""
    module, row = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    (tmp_path / "plates.py").write_text(module)
    name, _, cls = re.fullmatch(r'\s*"(\w+)": "[\w.]+(\.plates):(\w+)",\n', row).groups()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(detect.TABLE, name, f"plates:{cls}")
    return name


def test_the_new_detector_keeps_the_laws_of_the_table(added):
    member = read_spec("detect", {"use": added, "letters": 2}).make()
    member.setup()
    assert [[(span.begin, span.end) for span in spans] for spans in member.detect(["my AB 123 car", "none"])] == [
        [(3, 9)],
        [],
    ]
    assert not faults_of(member.ledger())
    with pytest.raises(SettingsError, match="letters"):
        read_spec("detect", {"use": added, "leters": 2})


@pytest.mark.slow
def test_the_command_of_the_page_runs(added, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.jsonl").write_text(json.dumps({"text": "my car is AB 123"}) + "\n")
    (line,) = re.findall(r"^sottovoce (sanitize .*)$", PAGE, re.M)
    sottovoce(*shlex.split(line))
    assert [row["text"] for row in rows(only_run(tmp_path / "out"), "stt_lm")] == ["my car is [PLATE]"]
