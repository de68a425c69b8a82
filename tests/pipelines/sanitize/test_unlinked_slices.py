"""What a run writes of slices says nothing of who was whose neighbour: order, ids, times, levels, silence, metadata."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
import soundfile
from whole_runs import demo_records, only_run, rows, sottovoce, write_manifest

PAD_S, LEVEL = 0.1, 10 ** (-26 / 20)
STREAM_INFO, COMMENTS = 0, 4
RECORDS = 14


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folder = tmp_path_factory.mktemp("unlinked")
    changes = ["sinks={stt_am: 1}", "detect=rules", "voice=mcadams", "relisten=none", "slice.min_seconds=0.5"]
    options = [part for change in changes for part in ("--set", change)]
    manifest = write_manifest(folder / "in", demo_records(RECORDS))
    sottovoce("sanitize", "--input", manifest, "--output", folder / "out", *options)
    return list(rows(only_run(folder / "out"), "stt_am"))


def follows(one: dict, other: dict, texts: list[str]) -> bool:
    return any(f"{one['text']} {other['text']}" in text for text in texts)


@pytest.mark.slow
def test_neighbours_do_not_lie_beside_each_other(released: list[dict]) -> None:
    """A fresh secret in each run: by chance about 1 pair lies so; more than 9 happen once in a million runs."""
    texts = [record["text"] for record in demo_records(RECORDS)]
    pairs = sum(follows(one, other, texts) for one in released for other in released if one is not other)
    assert len(released) >= 20 and pairs >= 8, "the test needs neighbours"
    assert sum(follows(a, b, texts) or follows(b, a, texts) for a, b in itertools.pairwise(released)) <= 9


@pytest.mark.slow
def test_a_row_has_no_column_for_order_or_origin_and_its_id_is_like_no_other(released: list[dict]) -> None:
    assert {tuple(row) for row in released} == {("id", "audio", "text", "duration_s", "rate_hz", "language")}
    ids = [row["id"] for row in released]
    assert len({name[:8] for name in ids}) == len(ids)
    names = {Path(row["audio"]["path"] or "").stem for row in released} - {""}
    assert names <= set(ids)


@pytest.mark.slow
def test_files_hold_samples_and_no_tags(released: list[dict]) -> None:
    for row in released:
        blocks = metadata(row["audio"]["bytes"])
        assert set(blocks) <= {STREAM_INFO, COMMENTS, 1, 3}
        vendor = int.from_bytes(blocks.get(COMMENTS, b"\0" * 8)[:4], "little")
        assert not any(blocks.get(COMMENTS, b"\0" * 8)[4 + vendor :]), "a tag was written"


def metadata(flac: bytes) -> dict[int, bytes]:
    """Blocks of a FLAC file before its sound, by kind."""
    assert flac[:4] == b"fLaC"
    found, at, last = {}, 4, False
    while not last:
        last, kind = bool(flac[at] & 0x80), flac[at] & 0x7F
        length = int.from_bytes(flac[at + 1 : at + 4], "big")
        found[kind] = flac[at + 4 : at + 4 + length]
        at += 4 + length
    return found


@pytest.mark.slow
def test_all_have_one_level_and_begin_with_one_length_of_silence(released: list[dict]) -> None:
    levels = []
    for row in released:
        samples, rate_hz = soundfile.read(io.BytesIO(row["audio"]["bytes"]))
        assert rate_hz == row["rate_hz"] and not samples[: round(PAD_S * rate_hz)].any()
        levels.append(float(np.sqrt(np.mean(np.square(samples)))))
    # Where the peaks allow it: a slice with a high crest is quieter, never louder.
    assert max(levels) == pytest.approx(LEVEL, rel=0.01) and np.median(levels) == pytest.approx(LEVEL, rel=0.01)
