"""Containers by ffmpeg: read where it is installed, refused with a hint where not, and never led to another file."""

import io
import shutil
import subprocess

import numpy as np
import pytest

from sottovoce.models.records import AudioRef
from sottovoce.models.speech import audio, ffmpeg
from sottovoce.models.speech.audio_refusals import AudioNeedsFfmpeg, AudioTooLarge, AudioUnreadable

RATE = 16_000
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """{ending: file} of one second of a tone in each container."""
    import soundfile

    folder = tmp_path_factory.mktemp("containers")
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
    soundfile.write(folder / "tone.wav", tone, RATE)
    for ending in ("m4a", "aac", "webm"):
        command = ["ffmpeg", "-loglevel", "error", "-i", str(folder / "tone.wav"), str(folder / f"tone.{ending}")]
        subprocess.run(command, check=True)
    return folder


@needs_ffmpeg
@pytest.mark.parametrize("ending", ["m4a", "aac", "webm"])
def test_a_container_is_read(recorded, ending):
    speech = audio.load(AudioRef(str(recorded / f"tone.{ending}")))
    assert speech.duration_s == pytest.approx(1.0, abs=0.15)
    spectrum = np.abs(np.fft.rfft(speech.samples))
    assert np.argmax(spectrum) * speech.rate_hz / len(speech.samples) == pytest.approx(440, abs=5)


@needs_ffmpeg
def test_without_ffmpeg_the_refusal_says_how_to_get_it(recorded, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(AudioNeedsFfmpeg, match="audio_needs_ffmpeg"):
        audio.load(AudioRef(str(recorded / "tone.m4a")))
    assert "apt install ffmpeg" in AudioNeedsFfmpeg.allowed


@needs_ffmpeg
def test_what_only_looks_like_a_container_and_what_is_too_large_are_refused(recorded):
    with pytest.raises(AudioUnreadable):
        ffmpeg.as_wav(io.BytesIO(b"\0\0\0\x20ftypM4A " + bytes(200)), 1 << 20)
    playlist = b"ffconcat version 1.0\nfile /etc/hostname\n"
    with pytest.raises(AudioUnreadable):
        ffmpeg.as_wav(io.BytesIO(playlist), 1 << 20)
    with pytest.raises(AudioTooLarge):
        ffmpeg.as_wav(io.BytesIO((recorded / "tone.m4a").read_bytes()), 10_000)
