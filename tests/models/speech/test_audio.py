"""A reference becomes speech whole, or is refused with its own code and without a word of the path."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile

from sottovoce.models.errors import Refusal, SettingsError
from sottovoce.models.records import AudioRef
from sottovoce.models.speech import audio_refusals, parquet_audio
from sottovoce.models.speech.audio import AudioLimits, Speech, level, load, resample, to_flac, with_level

RATE_HZ = 16_000
PLANTED = "jane-doe-secret"


def noise(seconds: float = 1.0, rate_hz: int = RATE_HZ, channels: int = 1) -> np.ndarray:
    samples = np.random.default_rng(7).normal(0, 0.1, (int(seconds * rate_hz), channels)).astype(np.float32)
    return samples[:, 0] if channels == 1 else samples


def written(
    folder: Path, samples: np.ndarray, rate_hz: int = RATE_HZ, kind: str = "WAV", subtype: str = "FLOAT"
) -> str:
    path = folder / f"{PLANTED}.{kind.lower()}"
    soundfile.write(path, samples, rate_hz, format=kind, subtype=None if kind == "MP3" else subtype)
    return str(path)


def refused(ref: AudioRef | None, **options: object) -> str:
    with pytest.raises(Refusal) as caught:
        load(ref, **options)  # type: ignore[arg-type]
    assert PLANTED not in str(caught.value) and caught.value.allowed
    return caught.value.code


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_any_rate_is_read_and_channels_that_are_the_same_are_one(tmp_path: Path, rate_hz: int, channels: int) -> None:
    samples = noise(0.5, rate_hz)
    speech = load(AudioRef(written(tmp_path, np.stack([samples] * channels, axis=1), rate_hz)))
    assert speech.rate_hz == rate_hz and speech.samples.dtype == np.float32
    np.testing.assert_allclose(speech.samples, samples, atol=1e-6)


def test_channels_that_differ_in_one_sample_are_refused_unless_one_is_named(tmp_path: Path) -> None:
    samples = np.stack([noise(2)] * 3, axis=1)
    samples[-1, 2] += 0.01
    ref = AudioRef(written(tmp_path, samples))
    assert refused(ref) == "channel_not_chosen"
    for channel, number in ((0, 0), (2, 2), ("left", 0), ("right", 1)):
        np.testing.assert_array_equal(load(ref, channel=channel).samples, samples[:, number])
    assert refused(ref, channel=3) == "channel_absent"


def test_of_a_named_channel_the_others_leave_no_trace(tmp_path: Path) -> None:
    samples = noise(1, channels=2)
    loud = samples * [1, 9]
    one, other = (load(AudioRef(written(tmp_path, s)), channel=0).samples for s in (samples, loud))
    np.testing.assert_array_equal(one, other)


def test_with_split_each_record_names_its_own_channel(tmp_path: Path) -> None:
    samples = noise(1, channels=2)
    uri = written(tmp_path, samples)
    for channel in (0, 1):
        heard = load(AudioRef(uri, channel=channel), channel="split").samples
        np.testing.assert_array_equal(heard, samples[:, channel])
    assert refused(AudioRef(uri), channel="split") == "channel_not_named"
    assert refused(AudioRef(uri, channel=2), channel="split") == "channel_absent"
    mono = AudioRef(written(tmp_path, noise(1)))
    assert load(mono, channel="split").duration_s == load(mono, channel="left").duration_s == 1.0
    assert refused(mono, channel="right") == "channel_absent"


def test_silence_in_many_channels_is_refused_on_its_header(tmp_path: Path) -> None:
    path = tmp_path / f"{PLANTED}.flac"
    soundfile.write(path, np.zeros((20 * 384_000, 8), np.int16), 384_000, format="FLAC", subtype="PCM_16")
    assert path.stat().st_size < 200_000
    assert refused(AudioRef(str(path))) == refused(AudioRef(str(path)), channel=0) == "audio_too_large"


@pytest.mark.parametrize("claimed", [0, 8_000, 1 << 35])
def test_a_flac_that_lies_about_its_length_is_never_read_beyond_what_it_claims(tmp_path: Path, claimed: int) -> None:
    path = Path(written(tmp_path, noise(3), kind="FLAC", subtype="PCM_16"))
    content = bytearray(path.read_bytes())
    begin = content.index(b"fLaC") + 8 + 13  # STREAMINFO: 36 bits of it count the samples
    content[begin] = content[begin] & 0xF0 | claimed >> 32
    content[begin + 1 : begin + 5] = (claimed & 0xFFFFFFFF).to_bytes(4, "big")
    path.write_bytes(content)
    if claimed == 8_000:
        assert load(AudioRef(str(path))).duration_s == 0.5
    else:
        assert refused(AudioRef(str(path))) in ("audio_too_long", "audio_too_short", "audio_truncated")


def test_a_pipe_does_not_make_it_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{PLANTED}.wav")
    assert refused(AudioRef(str(tmp_path / f"{PLANTED}.wav"))) == "audio_not_a_file"
    assert refused(AudioRef("/dev/zero")) == "audio_not_a_file"


def test_a_segment_is_cut_to_the_sample_and_only_its_length_counts(tmp_path: Path) -> None:
    samples = noise(5)
    uri = written(tmp_path, samples, kind="FLAC", subtype="PCM_16")
    speech = load(AudioRef(uri, begin_s=1.25, end_s=2.5, duration_s=1.25), limits=AudioLimits(max_s=2))
    np.testing.assert_allclose(speech.samples, samples[20_000:40_000], atol=1e-4)


@pytest.mark.parametrize("begin_s, end_s", [(0.5, 1.5), (0.8, 0.2), (-0.5, 0.5), (2.0, None), (float("nan"), 0.5)])
def test_a_segment_outside_its_recording_is_refused(tmp_path: Path, begin_s: float, end_s: float | None) -> None:
    assert refused(AudioRef(written(tmp_path, noise()), begin_s, end_s)) == "segment_outside_audio"


def test_each_kind_of_bad_file_has_its_code(tmp_path: Path) -> None:
    assert refused(None) == "audio_missing"
    assert refused(AudioRef(str(tmp_path / PLANTED / "gone.wav"))) == "audio_not_found"
    assert refused(AudioRef(str(tmp_path))) == "audio_not_a_file"
    assert refused(AudioRef(f"{PLANTED}\0.wav")) == "audio_not_found"
    empty, text = tmp_path / f"{PLANTED}-0.wav", tmp_path / f"{PLANTED}-t.wav"
    empty.touch()
    text.write_text("this is not a recording " * 50)
    assert refused(AudioRef(str(empty))) == "audio_empty"
    assert refused(AudioRef(str(text))) == "audio_unreadable"


@pytest.mark.parametrize("kind", ["FLAC", "WAV", "MP3", "AIFF"])
def test_a_file_cut_in_half_is_refused(tmp_path: Path, kind: str) -> None:
    uri = written(tmp_path, noise(2), kind=kind, subtype="PCM_16")
    whole = Path(uri).read_bytes()
    assert load(AudioRef(uri)).duration_s == pytest.approx(2)
    Path(uri).write_bytes(whole[: len(whole) // 2])
    assert refused(AudioRef(uri)) == "audio_truncated"


def test_a_wav_written_into_a_pipe_has_no_length_and_is_still_whole(tmp_path: Path) -> None:
    uri = written(tmp_path, noise(), subtype="PCM_16")
    content = bytearray(Path(uri).read_bytes())
    content[4:8] = content[40:44] = b"\xff\xff\xff\xff"
    Path(uri).write_bytes(content)
    assert load(AudioRef(uri)).duration_s == pytest.approx(1)


def test_samples_that_are_not_speech_are_refused(tmp_path: Path) -> None:
    broken = noise()
    broken[100] = np.nan
    assert refused(AudioRef(written(tmp_path, broken))) == "audio_not_finite"
    broken[100] = np.inf
    assert refused(AudioRef(written(tmp_path, broken))) == "audio_not_finite"
    assert refused(AudioRef(written(tmp_path, np.zeros(RATE_HZ)))) == "audio_silent"
    assert refused(AudioRef(written(tmp_path, noise(0.01)))) == "audio_too_short"
    assert refused(AudioRef(written(tmp_path, noise(), rate_hz=200))) == "audio_rate_outside"


@pytest.mark.slow
def test_two_hours_are_refused_on_the_header_alone(tmp_path: Path) -> None:
    reads: list[int] = []

    class Counting(io.FileIO):
        def read(self, count: int = -1) -> bytes:
            content = super().read(count)
            reads.append(len(content))
            return content

    uri = written(tmp_path, np.tile(noise(60, 8_000), 120), 8_000, kind="FLAC", subtype="PCM_16")
    assert refused(AudioRef(uri), open_file=Counting) == "audio_too_long"
    assert sum(reads) < 100_000


@pytest.mark.parametrize("claimed_s, fits", [(1.0, True), (1.49, True), (1.6, False), (0.4, False), (np.nan, False)])
def test_a_claimed_duration_must_fit(tmp_path: Path, claimed_s: float, fits: bool) -> None:
    ref = AudioRef(written(tmp_path, noise()), duration_s=claimed_s)
    assert load(ref).duration_s == 1.0 if fits else refused(ref) == "duration_mismatch"


def test_an_error_while_reading_is_a_refusal_and_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    class Failing(io.FileIO):
        def read(self, count: int = -1) -> bytes:
            if self.tell() + count > 1_000:
                raise OSError(f"lost connection to {PLANTED}")
            return super().read(count)

    assert refused(AudioRef(written(tmp_path, noise())), open_file=Failing) in ("audio_truncated", "audio_unreadable")
    assert PLANTED not in "".join(capfd.readouterr())


def test_embedded_audio_is_read_by_row_and_its_row_group_only_once(tmp_path: Path) -> None:
    clips = [noise(0.2) * (i + 1) / 10 for i in range(10)]
    rows = [{"bytes": to_flac(Speech(clip, RATE_HZ)), "path": None} for clip in clips]
    path = tmp_path / "corpus.parquet"
    pq.write_table(pa.table({"audio": rows, "text": ["x"] * 10}), path, row_group_size=4)
    opened: list[str] = []

    def open_file(uri: str) -> io.FileIO:
        opened.append(uri)
        return io.FileIO(uri)

    for row, clip in enumerate(clips):
        speech = load(AudioRef(str(path), row=row, column="audio"), open_file)
        np.testing.assert_allclose(speech.samples, clip, atol=1e-4)
    assert len(opened) == 3
    assert refused(AudioRef(str(path), row=10, column="audio")) == "audio_missing"
    assert refused(AudioRef(str(path), row=0, column="voice")) == "audio_unreadable"


def test_a_path_in_a_row_starts_at_the_folder_of_its_file(tmp_path: Path) -> None:
    written(tmp_path, noise())
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pq.write_table(
        pa.table({"audio": pa.array([{"bytes": None, "path": f"{PLANTED}.wav"}], kind)}), tmp_path / "c.parquet"
    )
    assert load(AudioRef(str(tmp_path / "c.parquet"), row=0, column="audio")).duration_s == 1.0


@pytest.mark.slow
def test_rows_that_share_one_large_value_are_refused_before_they_fill_the_memory(tmp_path: Path, monkeypatch) -> None:
    """20 MB in the file, 20 GB in memory: a dictionary page, and a thousand rows that point at it."""
    monkeypatch.setattr(parquet_audio, "MAX_GROUP_BYTES", 100_000_000)  # a test need not fill a gigabyte
    large = pa.array([np.random.default_rng(1).bytes(20_000_000)], pa.binary())
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), large)
    column = pa.StructArray.from_arrays([shared, pa.nulls(1000, pa.string())], ["bytes", "path"])
    path, whole = tmp_path / "bomb.parquet", {"dictionary_pagesize_limit": 1 << 30, "store_schema": False}
    pq.write_table(pa.table({"audio": column}), path, **whole)
    assert path.stat().st_size < 30_000_000
    before = pa.total_allocated_bytes()
    assert refused(AudioRef(str(path), row=0, column="audio")) == "audio_too_large"
    assert pa.total_allocated_bytes() - before < 500_000_000


def test_a_row_without_audio_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.parquet"
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    rows = [{"bytes": None, "path": None}, None, {"bytes": b"", "path": None}]
    pq.write_table(pa.table({"audio": pa.array(rows, kind)}), path)
    codes = [refused(AudioRef(str(path), row=row, column="audio")) for row in range(3)]
    assert codes == ["audio_missing", "audio_missing", "audio_empty"]


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 44_100, 48_000])
def test_resampling_keeps_a_tone_and_removes_what_does_not_fit(rate_hz: int) -> None:
    times = np.arange(rate_hz) / rate_hz
    tone = Speech((0.5 * np.sin(2 * np.pi * 440 * times)).astype(np.float32), rate_hz)
    heard = resample(tone, RATE_HZ)
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE_HZ) / RATE_HZ)
    assert len(heard.samples) == RATE_HZ
    np.testing.assert_allclose(heard.samples[400:-400], expected[400:-400], atol=1e-3)
    if rate_hz > 20_000:
        high = Speech((0.5 * np.sin(2 * np.pi * 9_000 * times)).astype(np.float32), rate_hz)
        assert level(resample(high, RATE_HZ).samples[400:-400]) < 1e-4


def test_flac_holds_the_samples_and_no_metadata() -> None:
    speech = Speech(noise(), RATE_HZ)
    content = to_flac(speech)
    samples, rate_hz = soundfile.read(io.BytesIO(content), dtype="float32")
    assert rate_hz == RATE_HZ
    np.testing.assert_allclose(samples, speech.samples, atol=1 / 32768)
    with soundfile.SoundFile(io.BytesIO(content)) as file:
        assert file.copy_metadata() == {}


def test_setting_a_level_never_clips() -> None:
    quiet = with_level(Speech(noise(), RATE_HZ), 0.02)
    assert level(quiet.samples) == pytest.approx(0.02, rel=1e-3)
    assert np.max(np.abs(with_level(quiet, 0.9).samples)) <= 1


def test_limits_must_make_sense() -> None:
    with pytest.raises(SettingsError):
        AudioLimits(min_s=5, max_s=1)


def test_the_page_lists_every_reason_that_a_recording_is_refused_for() -> None:
    page = (Path(__file__).parents[3] / "docs" / "speech.md").read_text()
    codes = {reason.code for reason in Refusal.__subclasses__() if reason.__module__ == audio_refusals.__name__}
    assert codes and not [code for code in codes if f"`{code}`" not in page]
