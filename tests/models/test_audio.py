"""A reference becomes speech whole, or is refused with its own code and without a word of the path."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile

from sottovoce.models.audio import AudioLimits, Speech, level, load, resample, to_flac, with_level
from sottovoce.models.errors import Refusal, SettingsError
from sottovoce.models.records import AudioRef

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
def test_any_rate_and_any_number_of_channels_become_mono(tmp_path: Path, rate_hz: int, channels: int) -> None:
    samples = noise(0.5, rate_hz, channels)
    speech = load(AudioRef(written(tmp_path, samples, rate_hz)))
    expected = samples if channels == 1 else samples.mean(axis=1)
    assert speech.rate_hz == rate_hz and speech.samples.dtype == np.float32
    np.testing.assert_allclose(speech.samples, expected, atol=1e-6)


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
    assert refused(AudioRef(str(tmp_path))) == "audio_not_found"
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
