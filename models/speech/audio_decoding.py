"""From an open sound file to samples of one channel: everything is bounded by the header before a sample is decoded.

A few hundred kilobytes of FLAC can claim gigabytes of sound. Length, rate, claimed duration and the number of samples over all
channels are checked first; decoding then goes in blocks of which one channel is kept, and never beyond what was allowed,
whatever the file says of itself later. libsndfile's messages quote paths, so none of them leaves this module.
"""

from __future__ import annotations

import io
import re
from typing import Any, Literal

import numpy as np

from sottovoce.models.records import AudioRef
from sottovoce.models.speech.audio_refusals import (
    AudioNotFinite,
    AudioRateOutside,
    AudioTooLarge,
    AudioTooLong,
    AudioTooShort,
    AudioTruncated,
    AudioUnreadable,
    ChannelAbsent,
    ChannelNotChosen,
    ChannelNotNamed,
    DurationMismatch,
    SegmentOutsideAudio,
)
from sottovoce.models.speech.ffmpeg import as_wav

MIN_RATE_HZ, MAX_RATE_HZ = 6_000, 384_000
MAX_SAMPLES = 1 << 25  # over all channels of what is wanted: 120 s of five channels at 48 kHz
BLOCK_SAMPLES = 1 << 20  # decoded at a time, over all channels
SEGMENT_TOLERANCE_S = 0.02  # segment times are written with two decimals
# (place in the file, bytes there): MP4 and its kin, Matroska and WebM, ASF, AMR, ADTS
CONTAINERS = (
    (4, b"ftyp"), (0, b"\x1aE\xdf\xa3"), (0, b"0&\xb2u\x8ef\xcf\x11"), (0, b"#!AMR"),
    (0, b"\xff\xf1"), (0, b"\xff\xf9"), (0, b"ADIF"),
)  # fmt: skip
PIPED_BYTES = 0x7FFF0000  # writers that cannot seek back leave the length at its maximum: not a truncation

Channel = int | Literal["left", "right", "split"] | None  # None: there must be one, or all must be the same


def decode(file: Any, ref: AudioRef, min_s: float, max_s: float, channel: Channel) -> tuple[np.ndarray, int]:
    """(float32 samples of one channel, rate in Hz) of what `ref` asks for, or a Refusal."""
    import soundfile

    if _is_container(file):
        file = as_wav(file, 2 * MAX_SAMPLES)
    quiet = _Quiet(file)
    try:
        sound = soundfile.SoundFile(quiet)
    except (soundfile.SoundFileError, TypeError, ValueError):
        raise AudioUnreadable from None
    with sound:
        if not MIN_RATE_HZ <= sound.samplerate <= MAX_RATE_HZ:
            raise AudioRateOutside
        _refuse_short_container(sound.extra_info)
        begin, count = _wanted_frames(ref, sound.frames, sound.samplerate, min_s, max_s)
        if count * sound.channels > MAX_SAMPLES:
            raise AudioTooLarge
        wanted = wanted_channel(channel, ref, sound.channels)
        try:
            sound.seek(begin)
            samples = _read(sound, count, wanted)
        except soundfile.SoundFileError:
            raise AudioTruncated from None
        if quiet.failed or len(samples) < count:
            raise AudioTruncated
        return samples, sound.samplerate


def _is_container(file: Any) -> bool:
    """Whether ffmpeg is needed, by the first bytes."""
    head = file.read(16)
    file.seek(0)
    return any(head[place : place + len(sign)] == sign for place, sign in CONTAINERS)


def wanted_channel(channel: Channel, ref: AudioRef, channels: int) -> int | None:
    """The number of the channel that holds the speaker; None where nobody said, and all must be the same."""
    if channel is None:
        return 0 if channels == 1 else None
    if channel == "split":
        if ref.channel is None and channels > 1:
            raise ChannelNotNamed
        number = ref.channel or 0
    else:
        number = channel if isinstance(channel, int) else ("left", "right").index(channel)
    if number >= channels:
        raise ChannelAbsent
    return number


def _read(sound: Any, count: int, wanted: int | None) -> np.ndarray:
    """Up to `count` samples of one channel. Of the others nothing is kept."""
    samples, at = np.empty(count, dtype=np.float32), 0
    size = max(1, BLOCK_SAMPLES // sound.channels)
    while at < count:
        block = sound.read(min(size, count - at), dtype="float32", always_2d=True)
        if len(block) == 0:
            break
        if not np.isfinite(block).all():
            raise AudioNotFinite
        if wanted is None and not (block == block[:, :1]).all():
            raise ChannelNotChosen
        samples[at : at + len(block)] = block[:, wanted or 0]
        at += len(block)
    return samples[:at]


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


def _refuse_short_container(log: str) -> None:
    """libsndfile shortens a WAV or AIFF that ends too early without an error; only its log tells."""
    for claimed, actual in re.findall(r"(\d+) \(should be (\d+)\)", log):
        if int(actual) < int(claimed) < PIPED_BYTES:
            raise AudioTruncated


def _wanted_frames(ref: AudioRef, frames: int, rate_hz: int, min_s: float, max_s: float) -> tuple[int, int]:
    total_s = frames / rate_hz
    begin_s = ref.begin_s or 0.0
    end_s = total_s if ref.end_s is None else ref.end_s
    if not 0 <= begin_s < max(end_s, 1e-9) or end_s > total_s + SEGMENT_TOLERANCE_S:
        raise SegmentOutsideAudio
    length_s = min(end_s, total_s) - begin_s
    if length_s < min_s:
        raise AudioTooShort
    if length_s > max_s:
        raise AudioTooLong
    if ref.duration_s is not None and not abs(length_s - ref.duration_s) <= max(0.5, 0.1 * ref.duration_s):
        raise DurationMismatch
    begin = round(begin_s * rate_hz)
    return begin, min(round(end_s * rate_hz), frames) - begin
