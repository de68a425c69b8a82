import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "demo"
MAX_BYTES = 12_000_000


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return [json.loads(line) for line in (DEMO / "manifest.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def speak_demo():
    spec = importlib.util.spec_from_file_location("speak_demo", ROOT / "tools" / "speak_demo.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["speak_demo"] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


def test_the_manifest_is_what_the_text_file_says(rows, speak_demo):
    turns = list(speak_demo.read_turns((DEMO / "dialogues.txt").read_text("utf-8").splitlines()))
    assert rows == [speak_demo.manifest_row(turn, row["duration"]) for turn, row in zip(turns, rows, strict=True)]


def test_it_is_large_enough_to_show_every_stage_and_small_enough_to_commit(rows):
    assert len(rows) >= 300
    assert len({row["dialogue_id"] for row in rows}) >= 60
    assert len({row["speaker_id"] for row in rows}) >= 6
    assert len({row["id"] for row in rows}) == len(rows)
    assert sum(path.stat().st_size for path in DEMO.rglob("*")) <= MAX_BYTES


def test_turns_of_a_dialogue_are_numbered_from_one_and_have_one_speaker(rows):
    for dialogue_id in {row["dialogue_id"] for row in rows}:
        turns = [row for row in rows if row["dialogue_id"] == dialogue_id]
        assert [row["turn"] for row in turns] == list(range(1, len(turns) + 1))
        assert 4 <= len(turns) <= 6
        assert len({row["speaker_id"] for row in turns}) == 1


def test_slots_are_whole_words_inside_the_text(rows):
    for row in rows:
        for slot in row["slots"]:
            value = row["text"][slot["begin"] : slot["end"]]
            assert value and value == value.strip()
            before, after = row["text"][: slot["begin"]], row["text"][slot["end"] :]
            assert not (before[-1:].isalnum() or after[:1].isalnum())


def test_every_recording_is_there_and_lasts_as_long_as_the_manifest_says(rows):
    assert {path.name for path in (DEMO / "audio").iterdir()} == {Path(row["audio_filepath"]).name for row in rows}
    for row in rows:
        info = soundfile.info(DEMO / row["audio_filepath"])
        assert (info.samplerate, info.channels, info.format) == (16_000, 1, "FLAC")
        assert info.duration == pytest.approx(row["duration"], abs=0.001)
        assert 1.5 <= info.duration <= 7.0


@pytest.mark.skipif(not (shutil.which("flite") and shutil.which("espeak-ng")), reason="flite or espeak-ng is absent")
def test_every_voice_says_the_same_samples_again(speak_demo):
    turns = speak_demo.read_turns((DEMO / "dialogues.txt").read_text("utf-8").splitlines())
    for voice in {turn.voice for turn in turns}:
        assert np.array_equal(speak_demo.speak(voice, "book a table"), speak_demo.speak(voice, "book a table"))
