"""How loud, how high and how voiced each frame is, freed of the speaker's own level, range and microphone.

Loudness and pitch are counted in units of the utterance itself (mean 0, spread 1), so that only their shape is left. The
dial `share` then says how much even of the shape comes from the pool: 0 keeps the source's, 1 takes the network's.
"""

from __future__ import annotations

import numpy as np

from sottovoce.models.voice.opus_features import PITCH, VOICING
from sottovoce.models.voice.phone_track import SILENCE, PhoneTrack

LOUDEST, QUIETEST, WIDEST = 1.8, -3.0, 3.0
SHORTEST, LONGEST = 2, 60  # frames of a phone


def source_prosody(features: np.ndarray, track: PhoneTrack) -> np.ndarray:
    """[frames, 3]: loudness, pitch and voicing of aligned speech, in units of the utterance."""
    speech = track.speech
    voiced = (features[:, VOICING] > 0) & speech
    mean, spread = loudness_of(features, speech)
    loudness = np.clip((features[:, 0] - mean) / spread, QUIETEST, LOUDEST)
    pitch = features[:, PITCH]
    if voiced.sum() > 10:
        middle, width = np.median(pitch[voiced]), np.std(pitch[voiced]) + 0.05
    else:
        middle, width = np.median(pitch), 0.2
    height = np.clip((pitch - middle) / width, -WIDEST, WIDEST) * voiced
    loudness[~speech] = QUIETEST
    return np.stack([loudness, height, voiced], axis=1).astype(np.float32)


def loudness_of(features: np.ndarray, speech: np.ndarray) -> tuple[float, float]:
    """Mean of the louder four fifths of the speech, and the spread of all of it, in units of cepstrum 0."""
    levels = features[speech, 0] if speech.any() else features[:, 0]
    return float(levels[levels >= np.percentile(levels, 20)].mean()), float(levels.std()) + 1e-3


def moved(prosody: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The prosody read at fractional frames of the source. Pitch is read from voiced frames only."""
    rows = np.arange(len(prosody))
    voiced = prosody[:, 2] > 0.5
    known = rows[voiced] if voiced.any() else rows
    height = np.interp(positions, known, prosody[known, 1])
    flat = [np.interp(positions, rows, prosody[:, column]) for column in (0, 2)]
    return np.stack([flat[0], height, flat[1]], axis=1).astype(np.float32)


def network_inputs(prosody: np.ndarray) -> np.ndarray:
    """What the spectrum network is told: loudness, its slope, pitch where there is any, voicing."""
    loudness, height, voicing = prosody.T
    return np.stack([loudness, np.gradient(loudness), height * voicing, voicing], axis=1).astype(np.float32)


def mixed(source: np.ndarray, pool: np.ndarray, share: float) -> np.ndarray:
    return (1 - share) * source + share * pool


def mixed_lengths(track: PhoneTrack, log_pool: np.ndarray, share: float, jitter: np.ndarray) -> np.ndarray:
    """Frames of each segment: a geometric mean of its own length and of the pool's at the same overall tempo.

    Of the tempo, too, only 1 - share is the source's. Words that are left out keep the length they were given.
    """
    own, phones = track.length.astype(np.float64), track.phone != SILENCE
    pool = np.exp(log_pool)
    if phones.any():
        pool = pool * (own[phones].sum() / pool[phones].sum()) ** (1 - share)
    wanted = own ** (1 - share) * pool**share * np.exp(jitter)
    frames = np.clip(np.round(wanted), SHORTEST, LONGEST).astype(int)
    return np.where(track.left_out, track.length, frames)
