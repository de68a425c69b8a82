"""Recordings without a transcript: refused by default; written down before detection where a recogniser is named."""

from __future__ import annotations

import importlib.util
import json

import pytest
from whole_runs import demo_records, only_run, rows, sottovoce, write_manifest

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import build
from sottovoce.transforms.engine.job import AudioSettings

pytestmark = pytest.mark.slow
SPEECH_ONLY = ("--set", "sinks={stt_am: 1}")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    records = [record | {"text": "-", "slots": []} for record in demo_records(8)]
    return write_manifest(tmp_path_factory.mktemp("corpus"), records)


def test_by_default_they_are_refused(corpus, tmp_path) -> None:
    sottovoce("sanitize", "--input", corpus, "--output", tmp_path, *SPEECH_ONLY)
    run = only_run(tmp_path)
    assert {row["reason"] for row in rows(run, "failures")} == {"nothing_spoken"}
    assert rows(run, "stt_am") == []


def test_a_recogniser_writes_them_down_and_the_ledger_says_so(corpus, tmp_path) -> None:
    if importlib.util.find_spec("moonshine_voice") is None:
        pytest.skip("moonshine_voice is not installed")
    done = ("sanitize", "--input", corpus, "--output", tmp_path, *SPEECH_ONLY, "--set", "audio.transcribe=moonshine")
    sottovoce(*done)
    run = only_run(tmp_path)
    released = rows(run, "stt_am")
    assert len(released) >= 4 and all(any(map(str.isalpha, row["text"])) for row in released)
    counts = json.loads((run / "_COMMITTED.json").read_text())["counts"]
    assert counts["stages"]["transcribe"]["received"] == 8
    assert "written down by a recogniser" in (run / "ledger.json").read_text()


def test_who_writes_nothing_down_cannot_be_asked_to() -> None:
    with pytest.raises(SettingsError, match="writes nothing down"):
        build(AudioSettings, {"transcribe": "pocketsphinx"}, "audio")
