"""Long recordings of real voices: a reader of LibriVox with pauses between sentences, and two AN4 speakers on two channels."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sottovoce.models.speech.align.pocketsphinx import PocketSphinx
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.calls.cut import CallCutter, CallPart

SPEECH = Path(__file__).resolve().parents[4] / "shared" / "data" / "speech"
RATE_HZ = 16_000
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (SPEECH / "manifest.tsv").is_file(), reason="needs the recordings of the shared data"),
]


@pytest.fixture(scope="module")
def cutter():
    made = CallCutter(
        PocketSphinx(misfits="refuse"), PocketSphinx(floor=-1e6, word_floor=-1e6, pause_floor=-1e6, phone_floor=-1e6)
    )
    made.judge.setup()
    made.locate.setup()
    return made


def recordings(speaker: str) -> list[tuple[str, np.ndarray]]:
    with open(SPEECH / "manifest.tsv", encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["speaker"] == speaker]
    read = [(row["transcript"].lower(), *soundfile.read(SPEECH / row["path"], dtype="float32")) for row in rows]
    return [(text, resample(Speech(samples, rate_hz), RATE_HZ).samples) for text, samples, rate_hz in read]


def joined(said: list[tuple[str, np.ndarray]], pause_s: float = 0.8) -> tuple[str, Speech]:
    pause = np.zeros(int(pause_s * RATE_HZ), np.float32)
    whole = np.concatenate([part for _, samples in said for part in (samples, pause)])
    noise = np.random.default_rng(0).normal(0, 3e-4, len(whole))
    return " ".join(text for text, _ in said), Speech((whole + noise).astype(np.float32), RATE_HZ)


def cut(cutter: CallCutter, speech: Speech, text: str) -> list[str | None]:
    """The words of each part; None where it was refused."""

    def read(_: int, begin_s: float, end_s: float) -> Speech:
        return Speech(speech.samples[int(begin_s * RATE_HZ) : int(end_s * RATE_HZ)], RATE_HZ)

    parts = cutter.cut(read, [0], speech.duration_s, text)
    return [part.text if isinstance(part, CallPart) else None for part in parts]


def test_a_reader_of_librivox_is_cut_with_the_right_words_and_nothing_else_passes(cutter):
    text, speech = joined(recordings("librivox-austen"))
    parts = cut(cutter, speech, text)
    assert len(parts) >= 5 and parts.count(None) <= len(parts) // 10
    assert " ".join(part for part in parts if part) in text  # no word was moved over another
    wrong = " ".join(reversed(text.split()))
    assert all(part is None for part in cut(cutter, speech, wrong))


def test_each_side_of_a_call_takes_its_own_words_and_not_the_other_speakers(cutter):
    sides = [joined(recordings(speaker)[:4]) for speaker in ("an4-fjlp", "an4-mjwl")]
    for (text, speech), (other, _) in (sides, sides[::-1]):
        own, wrong = cut(cutter, speech, text), cut(cutter, speech, other)
        assert own.count(None) <= 1 and " ".join(part for part in own if part) in text
        assert wrong.count(None) >= len(wrong) - 1
