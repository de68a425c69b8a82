"""A call of two becomes utterances of one dialogue, each with its speaker and its own words; what does not fit is refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import soundfile
import soxr
from whole_runs import demo_records, sottovoce

from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio import AudioLimits, load

pytestmark = [pytest.mark.slow, pytest.mark.long]
SIDES = (("bank-01-1", "bank-01-4"), ("bank-02-3", "bank-02-4"))


def recorded(name):
    (record,) = [record for record in demo_records(200) if record["id"] == name]
    samples, rate_hz = soundfile.read(record["audio_filepath"], dtype="float32")
    return record["text"], soxr.resample(samples, rate_hz, 16_000)


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """Left and right take turns, over a little noise, as 16-bit stereo; the texts of either side in order."""
    folder = tmp_path_factory.mktemp("call")
    rng = np.random.default_rng(0)
    sides, texts = ([], []), ([], [])
    for turn in range(2):
        for side in range(2):
            text, samples = recorded(SIDES[side][turn])
            texts[side].append(text)
            samples = np.concatenate([samples, np.zeros(12_000, np.float32)])
            sides[side].append(samples)
            sides[1 - side].append(0.01 * samples)  # heard through the line
    stereo = np.stack([np.concatenate(side) for side in sides], axis=1)
    soundfile.write(folder / "call.wav", stereo + rng.normal(0, 3e-4, stereo.shape), 16_000)
    return folder, texts


def cut(folder, texts, *more, check=True):
    lines = [
        {
            "id": f"side{side}",
            "dialogue_id": "call",
            "audio_filepath": "call.wav",
            "channel": side,
            "text": " ".join(said),
        }
        for side, said in enumerate(texts)
    ]
    (folder / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = folder / f"cut{len(list(folder.glob('cut*')))}"
    arguments = ("calls", "--input", folder / "calls.jsonl", "--output", out, "--recognise", "none", *more)
    return out, sottovoce(*arguments, check=check), arguments


def rows(out, name="manifest.jsonl"):
    return [json.loads(line) for line in (out / name).read_text().splitlines()]


def test_each_turn_is_an_utterance_of_its_speaker_with_its_own_words(call):
    folder, texts = call
    out, _, again = cut(folder, texts)
    found = sorted(rows(out), key=lambda row: row["turn"])
    assert [row["text"] for row in found] == [texts[0][0], texts[1][0], texts[0][1], texts[1][1]]
    assert [row["speaker_id"] for row in found] == ["call/0", "call/1"] * 2
    assert {row["dialogue_id"] for row in found} == {"call"} and rows(out, "refused.jsonl") == []
    assert os.stat(out / "manifest.jsonl").st_mode & 0o077 == 0
    for row in found:
        ref = AudioRef(row["audio_filepath"], row["offset"], row["offset"] + row["duration"], channel=row["channel"])
        assert load(ref, limits=AudioLimits(), channel="split").duration_s == pytest.approx(row["duration"], abs=0.02)
    # Cut off while it wrote the second side: that one is cut anew, and nothing stands there twice.
    (out / "finished.jsonl").write_text((out / "finished.jsonl").read_text().splitlines()[0] + "\n")
    sottovoce(*again)
    assert sorted(rows(out), key=lambda row: row["turn"]) == found


def test_words_that_were_not_said_are_refused_part_by_part(call):
    folder, texts = call
    out, _, _ = cut(folder, ([texts[0][0], "nobody ever said this about the weather in december"],))
    assert [row["text"] for row in rows(out)] in ([texts[0][0]], [])
    assert {row["reason"] for row in rows(out, "refused.jsonl")} <= {"alignment_mismatch", "alignment_failed"}
    assert rows(out, "refused.jsonl")


def test_without_a_transcript_or_a_recogniser_nothing_is_taken(call):
    folder, _ = call
    out, done, _ = cut(folder, (["-"], ["-"]), check=False)
    assert done.returncode == 1 and rows(out) == []
    assert {row["reason"] for row in rows(out, "refused.jsonl")} == {"nothing_heard"}


@pytest.mark.parametrize("wrong", [("--speakers", 0), ("--max-seconds", 600), ("--recognise", "pocketsphinx")])
def test_flags_that_are_wrong_are_told(call, wrong):
    _, done, _ = cut(*call, *wrong, check=False)
    assert done.returncode == 2 and str(wrong[1]) in done.stderr
