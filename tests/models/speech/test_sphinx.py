"""Speech of a telephone reaches the aligner's model with something above 4 kHz; all other speech as it is."""

from __future__ import annotations

import numpy as np

from sottovoce.models.speech import sphinx
from sottovoce.models.speech.audio import Speech, resample


def _noise(rate_hz: int) -> Speech:
    return Speech(np.random.default_rng(0).normal(0, 0.1, rate_hz).astype(np.float32), rate_hz)


def _share_above(pcm: bytes, hz: int) -> float:
    power = np.square(np.abs(np.fft.rfft(np.frombuffer(pcm, np.int16).astype(float))))
    return float(power[hz:].sum() / power.sum())  # a second of speech: a bin for each Hz


def test_a_narrow_band_gets_its_mirror_image_and_keeps_what_it_had():
    narrow = resample(_noise(8_000), sphinx.RATE_HZ)
    share = _share_above(sphinx.pcm_of(narrow), 4_400)
    assert 0.5 * sphinx.MIRRORED**2 < share < 2 * sphinx.MIRRORED**2
    assert sphinx.pcm_of(_noise(8_000)) == sphinx.pcm_of(narrow)  # told by the sound, not by the rate of the file


def test_a_wide_band_silence_and_nothing_stay_as_they_are():
    wide = _noise(16_000)
    assert sphinx.pcm_of(wide) == np.round(wide.samples.astype(float) * 32767).astype(np.int16).tobytes()
    assert not any(sphinx.pcm_of(Speech(np.zeros(160, np.float32), 16_000)))
    assert sphinx.pcm_of(Speech(np.zeros(0, np.float32), 16_000)) == b""
