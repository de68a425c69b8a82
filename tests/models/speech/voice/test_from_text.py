"""Speech from text alone: every slice of a run is said again from what was released, byte for byte."""

from __future__ import annotations

import json
import shutil

import pytest
from whole_runs import demo_records, only_run, rows, sottovoce, write_manifest, write_secret

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.settings import read_spec
from sottovoce.models.speech import audio
from sottovoce.models.speech.slice import Slice, Slicer
from sottovoce.models.speech.voice.from_text import speak

FROM_TEXT = "voice={use: phonetic, from_text: true}"


@pytest.fixture(scope="module")
def voice():
    made = read_spec("voice", {"use": "phonetic", "from_text": True}).make()
    made.setup()
    return made


def said_again(voice, secret: Secret, row: dict) -> bytes:
    """From the released row and the secret; there is nothing else to say it from."""
    piece = Slice(speak(voice, row["text"], secret, row["id"]), row["text"])
    return audio.to_flac(Slicer().levelled(piece).speech)


@pytest.mark.slow
@pytest.mark.parametrize("records", [5, pytest.param(None, marks=pytest.mark.long)])  # None: the whole demo
def test_every_slice_is_said_again_byte_for_byte_when_the_recordings_are_gone(tmp_path, voice, records):
    secret_file = write_secret(tmp_path / "secret")
    manifest = write_manifest(tmp_path / "in", demo_records(records))
    flags = ("--input", manifest, "--output", tmp_path / "out", "--secret-file", secret_file)
    sottovoce("sanitize", *flags, "--set", "sinks={stt_am: 1}", "--set", FROM_TEXT, "--set", "detect=rules")
    shutil.rmtree(tmp_path / "in")
    released = rows(only_run(tmp_path / "out"), "stt_am")
    assert len(released) >= 4
    for row in released:
        assert said_again(voice, Secret(secret_file.read_bytes()), row) == row["audio"]["bytes"]
    other = Secret(b"another secret, or a recording: the law bites")
    assert said_again(voice, other, released[0]) != released[0]["audio"]["bytes"]


@pytest.mark.slow
def test_a_crowd_covers_speech_and_the_ledger_says_a_finite_epsilon(tmp_path, voice):
    """No recording is opened: those that the manifest names are not even there."""
    secret_file = write_secret(tmp_path / "secret")
    said = [
        {"id": f"{i}", "dialogue_id": f"d{i}", "speaker_id": f"s{i}", "text": "what is the news", "duration": 1.0,
         "audio_filepath": f"gone-{i}.flac"}
        for i in range(12)
    ]  # fmt: skip
    manifest = write_manifest(tmp_path / "in", said)
    flags = ("--input", manifest, "--output", tmp_path / "out", "--secret-file", secret_file, "--set", "detect=rules")
    crowd = ("--set", "rewrite={use: crowd, utterances_per_speaker: 1, copies: 2}", "--set", "sinks={stt_am: 1}")
    refused = sottovoce("sanitize", *flags, *crowd, check=False)
    assert refused.returncode == 2 and "from_text" in refused.stderr
    sottovoce("sanitize", *flags, *crowd, "--set", FROM_TEXT)
    run = only_run(tmp_path / "out")
    released = rows(run, "stt_am")
    assert [row["text"] for row in released] == ["what is the news"] * 2
    assert said_again(voice, Secret(secret_file.read_bytes()), released[0]) == released[0]["audio"]["bytes"]
    ledger = json.loads((run / "ledger.json").read_text())
    entries = {row["stage"]: row for row in ledger["mechanisms"]}
    assert entries["rewrite"]["sound"]["speaker"] == 4.0 and "align" not in entries
    assert "no more" in entries["voice"]["says"]


@pytest.mark.parametrize("wrong", [{"prosody": 0.5}, {"nearest": 3}, {"assign": "speaker"}, {"gender": "same"}])
def test_nothing_of_the_source_may_be_asked_for(wrong):
    with pytest.raises(SettingsError, match="from_text"):
        read_spec("voice", {"use": "phonetic", "from_text": True, **wrong})
