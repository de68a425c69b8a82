"""Each kind of bad record ends as one counted failure with its reason, and its neighbours are unharmed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from whole_runs import demo_records, only_run, rows, sottovoce, write_manifest

GOOD = 6


def bad_records(folder) -> list[tuple[str, dict | str | bytes]]:
    """(reason, record) for every kind of bad input."""
    template = demo_records(GOOD + 1)[-1]
    speech, rate = soundfile.read(template["audio_filepath"])

    def record(name: str, **changes) -> dict:
        return template | {"id": name, "dialogue_id": name, "duration": None} | changes

    def audio(name: str, samples, rate_hz: int, **options) -> dict:
        path = folder / f"{name}.wav"
        soundfile.write(path, samples, rate_hz, **options)
        return record(name, audio_filepath=str(path))

    def content(name: str, data: bytes) -> dict:
        (folder / name).write_bytes(data)
        return record(name, audio_filepath=str(folder / name))

    def pipe(name: str) -> dict:
        os.mkfifo(folder / name)
        return record(name, audio_filepath=str(folder / name))

    flac = Path(template["audio_filepath"]).read_bytes()
    spoiled = speech.copy()
    spoiled[100:110] = np.nan
    seconds = np.arange(3 * rate) / rate
    chords = sum(np.sin(2 * np.pi * hertz * seconds) for hertz in (262, 330, 392)) * np.exp(-2 * (seconds % 0.75))
    return [
        ("audio_not_found", record("missing file", audio_filepath=str(folder / "nowhere.wav"))),
        ("audio_outside_roots", record("elsewhere", audio_filepath="/etc/passwd")),
        ("audio_outside_roots", record("nothing elsewhere", audio_filepath="/etc/nothing.wav")),
        ("audio_outside_roots", record("in a bucket", audio_filepath="gs://bucket/a.wav")),
        ("audio_not_a_file", pipe("pipe.wav")),
        ("audio_not_a_file", record("folder", audio_filepath=str(folder))),
        ("audio_too_large", audio("bomb", np.zeros((20 * 96_000, 20), np.int16), 96_000)),
        ("channel_not_chosen", audio("two voices", np.stack([speech, speech[::-1]], axis=1), rate)),
        ("audio_empty", content("zero", b"")),
        ("audio_truncated", content("cut.flac", flac[: len(flac) // 2])),
        ("audio_unreadable", content("text.wav", b"this is not audio at all" * 50)),
        ("audio_not_finite", audio("nan", spoiled, rate, subtype="FLOAT")),
        ("audio_too_short", audio("short", speech[: rate // 100], rate)),
        ("audio_too_long", audio("long", np.zeros(2 * 3600 * 8000, np.int16), 8000)),
        ("alignment_mismatch", audio("music", 0.2 * chords, rate)),
        ("audio_silent", audio("silent", np.zeros(rate * 2), rate)),
        ("duration_mismatch", record("duration", duration=template["duration"] * 2 + 1)),
        ("audio_missing", {k: v for k, v in record("no audio").items() if k not in ("audio_filepath", "duration")}),
        ("text_empty", record("empty text", text="", slots=[])),
        ("text_missing", {k: v for k, v in record("no text").items() if k not in ("text", "slots")}),
        ("alignment_mismatch", record("wrong text", text="completely different words were never said here", slots=[])),
        ("duplicate_id", demo_records(1)[0]),
        ("not_utf8", json.dumps(record("latin")).encode() + b"\xe9\xff"),
        ("not_json_object", json.dumps(record("half"))[:60]),
        ("line_too_long", json.dumps(record("huge", text="long " * 500_000))),
        ("keys_missing", {"speaker_id": "x", "dialogue_id": "y"}),
        ("slots_outside_text", record("slots", slots=[{"name": "x", "begin": 0, "end": 10_000}])),
    ]


def good_records(folder) -> list[dict]:
    """Unusual but good: 8 kHz, 48 kHz and stereo with one voice are read like anything else."""
    from scipy.signal import resample_poly

    records = demo_records(GOOD)
    for record, (up, down, channels) in zip(records[1:], [(1, 2, 1), (3, 1, 1), (1, 1, 2)], strict=False):
        samples, rate = soundfile.read(record["audio_filepath"])
        samples = np.repeat(resample_poly(samples, up, down)[:, None], channels, axis=1)
        path = folder / f"{up}-{down}-{channels}.wav"
        soundfile.write(path, samples, rate * up // down)
        record["audio_filepath"] = str(path)
    return records


@pytest.mark.slow
def test_each_bad_record_is_one_failure_with_its_reason_and_the_rest_is_unharmed(tmp_path):
    (tmp_path / "in" / "audio").mkdir(parents=True)
    good, bad = good_records(tmp_path / "in" / "audio"), bad_records(tmp_path / "in" / "audio")
    manifest = write_manifest(tmp_path / "in", [*good, *(record for _, record in bad)])
    done = sottovoce(
        "sanitize",
        "--input",
        manifest,
        "--output",
        tmp_path / "out",
        "--set",
        "sinks={stt_am: 1}",
        "--set",
        "detect=rules",
    )
    run = only_run(tmp_path / "out")
    failures = {row["line"]: row for row in rows(run, "failures")}
    found = {line: failures[line]["reason"] for line in sorted(failures)}
    assert found == {GOOD + 1 + number: reason for number, (reason, _) in enumerate(bad)}
    assert {row["file"] for row in failures.values()} == {"manifest.jsonl"}
    assert all(row["allowed"] for row in failures.values())
    counts = json.loads((run / "_COMMITTED.json").read_text())["counts"]
    assert counts["read"] == len(good) + len(bad) and counts["failed"] == len(bad)
    assert counts["stages"]["unlink"]["passed"] == len(good)
    for reason in set(found.values()):
        assert reason in done.stdout
