"""Phones with some of their prosody into the vocoder's features, in the voice of a pseudo-speaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.models.speech.audio import level
from sottovoce.models.speech.voice.opus_features import FEATURES, HOP, PITCH, VOICING, pitch_of
from sottovoce.models.speech.voice.phone_network import QUIETEST, VOICING_UNIT, PhoneNetwork
from sottovoce.models.speech.voice.phone_track import SILENCE, PhoneTrack, frame_inputs, segment_inputs
from sottovoce.models.speech.voice.pool import F0_QUANTILES, Pool
from sottovoce.models.speech.voice.prosody import LOUDEST, SourceProsody, network_inputs

LOUDNESS = 6.0  # of cepstrum 0; the level is set afterwards, this is where the vocoder is at home
PEAK = 0.99  # of the loudest sample that comes out
EDGE = 15  # frames of silence before and after
JITTER = 0.08  # spread of each length, in logarithms
UNHURRIED = 0.1  # added to each logarithm of a length: their means make hurried speech, of which recognisers miss more
PITCH_RANGE = (0.85, 1.15)
DRIFT, DRIFT_FRAMES = 0.03, 15  # octaves by which the pitch wanders, and how slowly
SHARPEST = 1.3  # a network that learnt means says them: its movements are widened, by at most so much
PITCH_LIMITS = (-1.3, 1.45)


@dataclass(frozen=True, eq=False)
class PseudoVoice:
    """A voice made of several: its embedding, empty where frames are taken as they are, and quantiles of its pitch."""

    embedding: np.ndarray
    log_f0_quantiles: np.ndarray

    @classmethod
    def of(cls, pool: Pool, weights: np.ndarray) -> PseudoVoice:
        """A mix of pool speakers; `weights` [pool] sum to one."""
        return cls((weights @ pool.voice).astype(np.float32), weights @ pool.log_f0_quantiles)


@dataclass(frozen=True, eq=False)
class VoicedFrames:
    """Frames [begin, end) that one pseudo-speaker says."""

    begin: int
    end: int
    voice: PseudoVoice


def retimed(
    network: PhoneNetwork, voice: PseudoVoice, track: PhoneTrack, source: SourceProsody, draw: np.random.Generator
) -> PhoneTrack:
    """The track with new lengths."""
    voices = np.tile(voice.embedding, (len(track.phone), 1))
    log_pool = network.duration(segment_inputs(track), voices)[:, 0] + UNHURRIED
    jitter = JITTER * draw.standard_normal(len(log_pool)) + draw.uniform(*source.tempo)
    lengths = source.lengths(track, log_pool, jitter)
    edges = [at for at in (0, -1) if track.phone[at] == SILENCE]
    lengths[edges] = EDGE
    return track.with_lengths(lengths)


def say(
    network: PhoneNetwork,
    parts: Sequence[VoicedFrames],
    said: PhoneTrack,
    source: SourceProsody,
    draw: np.random.Generator,
    sounds: np.ndarray | None = None,
) -> np.ndarray:
    """Features [frames, 20] of a retimed track. `sounds` [frames, 18]: what true sounds do otherwise than the network says."""
    voices = np.concatenate([np.tile(part.voice.embedding, (part.end - part.begin, 1)) for part in parts])
    inputs = frame_inputs(said)
    pooled = network.prosody(inputs, voices)
    pooled[:, 2] = np.clip(pooled[:, 2], 0, 1)
    told = source.told(said, pooled)
    spectrum = network.spectrum(np.concatenate([inputs, network_inputs(told)], axis=1), voices)
    features = np.empty((said.frames, FEATURES), np.float32)
    if sounds is None:
        features[:, 1:18] = _widened(spectrum[:, :17] * network.cepstra_unit, network.cepstra_spread, said.speech)
    else:  # which are as wide as speech is
        spectrum = spectrum + sounds
        features[:, 1:18] = spectrum[:, :17] * network.cepstra_unit
    features[:, VOICING] = np.clip(spectrum[:, 17] * VOICING_UNIT, -0.5, 0.5)
    features[:, 0] = np.clip(told[:, 0], QUIETEST, LOUDEST) * network.loudness_unit + LOUDNESS
    features[:, PITCH] = pitch_contour(told[:, 1], parts, told[:, 2] > 0.5, draw)
    return _with_silence(features, said.speech, network)


def _widened(cepstra: np.ndarray, spread: np.ndarray, speech: np.ndarray) -> np.ndarray:
    if not speech.any():
        return cepstra
    middle = cepstra[speech].mean(axis=0)
    return middle + (cepstra - middle) * np.clip(spread / (cepstra[speech].std(axis=0) + 1e-3), 1, SHARPEST)


def pitch_contour(
    height: np.ndarray, parts: Sequence[VoicedFrames], voiced: np.ndarray, draw: np.random.Generator
) -> np.ndarray:
    """Heights in units of the utterance to the same percentile of the pseudo-speaker's own pitch, wandering slowly."""
    from scipy.ndimage import gaussian_filter1d
    from scipy.special import ndtr

    known = height[voiced] if voiced.sum() > 10 else height
    unit = max(float(known.std()), 0.4) / draw.uniform(*PITCH_RANGE)
    percentile = ndtr(gaussian_filter1d((height - np.median(known)) / unit, 2.0))
    own = [np.interp(percentile[p.begin : p.end], F0_QUANTILES, p.voice.log_f0_quantiles) for p in parts]
    drift = gaussian_filter1d(draw.standard_normal(len(height)), DRIFT_FRAMES)
    return np.clip(pitch_of(np.concatenate(own)) + DRIFT * drift / (drift.std() + 1e-9), *PITCH_LIMITS)


def _with_silence(features: np.ndarray, speech: np.ndarray, network: PhoneNetwork) -> np.ndarray:
    """Every pause sounds the same, with soft edges; the pitch runs on, for nobody hears it."""
    from scipy.ndimage import gaussian_filter1d

    silence = network.silence.copy()
    silence[0] = network.silence_loudness * network.loudness_unit + LOUDNESS
    quiet = gaussian_filter1d((~speech).astype(np.float32), 1.0)[:, None]
    still = np.where(np.arange(FEATURES) == PITCH, features, silence)
    return ((1 - quiet) * features + quiet * still).astype(np.float32)


def speech_level(samples: np.ndarray, track: PhoneTrack) -> float:
    """Root mean square where somebody speaks, 0 where nobody does."""
    spoken = np.repeat(track.speech, HOP)[: len(samples)]
    return level(samples[: len(spoken)][spoken[: len(samples)]]) if spoken.any() else 0.0
