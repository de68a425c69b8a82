"""Attacker: has the released speech, and recordings of people who may have been in the room or on the other end of the line.

A recording in two channels holds two people. Only one of them was written down, searched and masked. Where a voice keeps the
sound of its source, a channel that is mixed in is heard in what is released, and whoever has that sound finds it there.
"""

from __future__ import annotations

import hashlib
import io
import json

import numpy as np
import pytest
import soundfile
from adversary import Operator, Released, as_outsider, weakened
from whole_runs import demo_records

RATE_HZ = 16_000
SECRET = hashlib.sha256(b"the draws of this test").digest()  # phases are compared with a threshold: no chance in it
SPOKEN, SUSPECTS = demo_records(80)[:6], demo_records(80)[40:52]
PRESENT = 6  # of the suspects are in a second channel
AGREES = 0.15  # share of the phases; unrelated speech of these voices reaches 0.1, speech that is in it 0.2 and more
ALIGN = "{use: pocketsphinx, network: 0, floor: -9, word_floor: -99, pause_floor: -99, phone_floor: -99}"  # noise is no reason
JOB = ("--set", "sinks={stt_am: 1}", "--set", "voice=vtln", "--set", "relisten=none", "--set", f"align={ALIGN}")


def sound(record: dict) -> np.ndarray:
    samples, rate_hz = soundfile.read(record["audio_filepath"], dtype="float32")
    assert rate_hz == RATE_HZ
    return samples / np.sqrt(np.mean(samples**2)) * 0.05


def two_channels(operator: Operator) -> list[dict]:
    folder = operator.home / "corpus"
    folder.mkdir()
    records = []
    for number, record in enumerate(SPOKEN):
        first, second = sound(record), sound(SUSPECTS[number])
        both = np.stack([first, np.resize(second, len(first)) * 0.4], axis=1)
        soundfile.write(folder / f"{number}.wav", both, RATE_HZ)
        records.append(record | {"audio_filepath": f"{number}.wav"})
    return records


def attack(released: Released, suspects: list[np.ndarray]) -> set[int]:
    """The suspects whose sound is in what was released: its phases agree with theirs at one delay (GCC-PHAT)."""
    found = set()
    for row in released.rows("stt_am"):
        samples, _ = soundfile.read(io.BytesIO(row["audio"]["bytes"]), dtype="float32")
        for number, suspect in enumerate(suspects):
            size = len(samples) + len(suspect)
            both = np.fft.rfft(samples, size) * np.conj(np.fft.rfft(suspect, size))
            if np.abs(np.fft.irfft(both / (np.abs(both) + 1e-9), size)).max() > AGREES:
                found.add(number)
    return found


def mixed_down(audio, count, wanted):
    """As it was: the mean of all channels."""
    return audio.read(count, dtype="float32", always_2d=True).mean(axis=1)


@pytest.mark.slow
def test_a_build_that_mixes_channels_lets_the_second_voice_through(tmp_path):
    operator = Operator(tmp_path, SECRET)
    with weakened("the choice of a channel", {"sottovoce.models.speech.audio_decoding:_read": mixed_down}):
        released = operator.release(two_channels(operator), *JOB)
    found = as_outsider(attack, released, [sound(record) for record in SUSPECTS])
    assert len(found) >= 3 and not found - set(range(PRESENT))


@pytest.mark.slow
def test_of_a_named_channel_no_suspect_in_the_other_is_found(tmp_path):
    operator = Operator(tmp_path, SECRET)
    released = operator.release(two_channels(operator), *JOB, "--set", "audio.channel=left")
    assert released.rows("stt_am")
    assert not as_outsider(attack, released, [sound(record) for record in SUSPECTS])


@pytest.mark.slow
def test_without_a_named_channel_nothing_of_such_a_recording_is_released(tmp_path):
    operator = Operator(tmp_path, SECRET)
    released = operator.release(two_channels(operator), *JOB)
    assert not released.rows("stt_am")
    counts = json.loads((released.run / "_COMMITTED.json").read_text())["counts"]
    assert counts["by_reason"] == {"channel_not_chosen": len(SPOKEN)}
