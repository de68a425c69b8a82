"""Speech in memory, and how a reference becomes speech. The only place that decodes or encodes audio.

Length, rate and claimed duration are checked on the header, before a sample is decoded. libsndfile's messages quote
paths, so none of them leaves this module: each way to fail has its own Refusal.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np

from sottovoce.models.audio_refusals import (
    AudioEmpty,
    AudioMissing,
    AudioNotFinite,
    AudioNotFound,
    AudioRateOutside,
    AudioSilent,
    AudioTooLong,
    AudioTooShort,
    AudioTruncated,
    AudioUnreadable,
    DurationMismatch,
    SegmentOutsideAudio,
)
from sottovoce.models.parquet_audio import embedded_bytes
from sottovoce.models.records import AudioRef
from sottovoce.models.settings import require

MIN_RATE_HZ, MAX_RATE_HZ = 6_000, 384_000
SEGMENT_TOLERANCE_S = 0.02  # segment times are written with two decimals
PIPED_BYTES = 0x7FFF0000  # writers that cannot seek back leave the length at its maximum: not a truncation


@dataclass(frozen=True, slots=True, repr=False)
class Speech:
    """Mono samples in [-1, 1], float32, finite. Sensitive until masked and cut."""

    samples: np.ndarray
    rate_hz: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz

    def __repr__(self) -> str:
        return "<Speech: sensitive>"


@dataclass(frozen=True)
class AudioLimits:
    """How short and how long an utterance may be."""

    min_s: float = 0.1
    max_s: float = 120.0

    def __post_init__(self) -> None:
        require((0 < self.min_s < self.max_s, "min_s: must be above 0 and below max_s"))


def open_local(uri: str) -> BinaryIO:
    return open(uri, "rb")


def load(
    ref: AudioRef | None,
    open_file: Callable[[str], Any] = open_local,
    limits: AudioLimits = AudioLimits(),
) -> Speech:
    """The speech that `ref` points to, mixed down to mono; a Refusal where it cannot be had whole."""
    if ref is None:
        raise AudioMissing
    if ref.row is None:
        with _opened(ref.uri, open_file) as file:
            return _decode(file, ref, limits)
    content, path = embedded_bytes(ref, lambda uri: _opened(uri, open_file))
    if content == b"":
        raise AudioEmpty
    if content is not None:
        return _decode(io.BytesIO(content), ref, limits)
    if not path:
        raise AudioMissing
    with _opened(path, open_file) as file:
        return _decode(file, ref, limits)


def resample(speech: Speech, rate_hz: int) -> Speech:
    """Polyphase, linear phase: flat to 0.9 of the lower Nyquist rate, 90 dB down in the stop band."""
    if speech.rate_hz == rate_hz:
        return speech
    from scipy.signal import resample_poly

    shared = math.gcd(speech.rate_hz, rate_hz)
    up, down = rate_hz // shared, speech.rate_hz // shared
    samples = resample_poly(speech.samples.astype(np.float64), up, down, window=_low_pass(max(up, down)))
    length = round(len(speech.samples) * rate_hz / speech.rate_hz)
    return Speech(within_range(samples[:length]), rate_hz)


def to_flac(speech: Speech) -> bytes:
    """A 16-bit FLAC file that holds the samples and nothing else: no tags, no times, no names."""
    import soundfile

    out = io.BytesIO()
    pcm = np.clip(np.round(speech.samples.astype(np.float64) * 32768), -32768, 32767).astype(np.int16)
    soundfile.write(out, pcm, speech.rate_hz, format="FLAC", subtype="PCM_16")
    return out.getvalue()


def level(samples: np.ndarray) -> float:
    """Root mean square; 0 for no samples."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0


def with_level(speech: Speech, target: float) -> Speech:
    """The speech at root mean square `target`, or as near as its peaks allow without clipping."""
    current = level(speech.samples)
    if current == 0:
        return speech
    gain = min(target / current, 0.99 / float(np.max(np.abs(speech.samples))))
    return Speech((speech.samples * gain).astype(np.float32), speech.rate_hz)


def within_range(samples: np.ndarray) -> np.ndarray:
    """float32 in [-1, 1]; too loud is scaled down as a whole, never clipped."""
    peak = float(np.max(np.abs(samples), initial=0.0))
    return (samples / max(peak, 1.0)).astype(np.float32)


@lru_cache(maxsize=16)
def _low_pass(factor: int) -> np.ndarray:
    from scipy.signal import firwin

    return firwin(2 * 32 * factor + 1, 0.95 / factor, window=("kaiser", 9.0))


def _opened(uri: str, open_file: Callable[[str], Any]) -> Any:
    try:
        file = open_file(uri)
        empty = file.seek(0, io.SEEK_END) == 0 or file.tell() == 0
        file.seek(0)
    except (OSError, ValueError):  # Beam raises ValueError for a scheme it does not know
        raise AudioNotFound from None
    if empty:
        file.close()
        raise AudioEmpty
    return file


class _Quiet:
    """A file whose read errors are kept until asked for: inside libsndfile they would be printed, path and all."""

    def __init__(self, file: Any):
        self._file, self.failed = file, False

    def read(self, count: int = -1) -> bytes:
        try:
            return self._file.read(count)
        except (OSError, EOFError, ValueError):
            self.failed = True
            return b""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            self._file.seek(offset, whence)
            return self._file.tell()
        except (OSError, EOFError, ValueError):
            self.failed = True
            return 0

    def tell(self) -> int:
        return self._file.tell()


def _decode(file: Any, ref: AudioRef, limits: AudioLimits) -> Speech:
    import soundfile

    quiet = _Quiet(file)
    try:
        sound = soundfile.SoundFile(quiet)
    except (soundfile.SoundFileError, TypeError, ValueError):
        raise AudioUnreadable from None
    with sound:
        if not MIN_RATE_HZ <= sound.samplerate <= MAX_RATE_HZ:
            raise AudioRateOutside
        _refuse_short_container(sound.extra_info)
        begin, count = _wanted_frames(ref, sound.frames, sound.samplerate, limits)
        try:
            sound.seek(begin)
            frames = sound.read(count, dtype="float32", always_2d=True)
        except soundfile.SoundFileError:
            raise AudioTruncated from None
        if quiet.failed or len(frames) < count:
            raise AudioTruncated
        return _checked(frames, sound.samplerate)


def _refuse_short_container(log: str) -> None:
    """libsndfile shortens a WAV or AIFF that ends too early without an error; only its log tells."""
    for claimed, actual in re.findall(r"(\d+) \(should be (\d+)\)", log):
        if int(actual) < int(claimed) < PIPED_BYTES:
            raise AudioTruncated


def _wanted_frames(ref: AudioRef, frames: int, rate_hz: int, limits: AudioLimits) -> tuple[int, int]:
    total_s = frames / rate_hz
    begin_s = ref.begin_s or 0.0
    end_s = total_s if ref.end_s is None else ref.end_s
    if not 0 <= begin_s < max(end_s, 1e-9) or end_s > total_s + SEGMENT_TOLERANCE_S:
        raise SegmentOutsideAudio
    length_s = min(end_s, total_s) - begin_s
    if length_s < limits.min_s:
        raise AudioTooShort
    if length_s > limits.max_s:
        raise AudioTooLong
    if ref.duration_s is not None and not abs(length_s - ref.duration_s) <= max(0.5, 0.1 * ref.duration_s):
        raise DurationMismatch
    begin = round(begin_s * rate_hz)
    return begin, min(round(end_s * rate_hz), frames) - begin


def _checked(frames: np.ndarray, rate_hz: int) -> Speech:
    if not np.isfinite(frames).all():
        raise AudioNotFinite
    samples = frames.mean(axis=1, dtype=np.float64)
    if np.ptp(samples) == 0:
        raise AudioSilent
    return Speech(within_range(samples), rate_hz)
