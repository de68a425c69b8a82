"""How loud, how high and how voiced each frame is, freed of the speaker's own level, range and microphone.

Loudness and pitch are counted in units of the utterance itself (mean 0, spread 1), so that only their shape is left. Of the
shape the pool's networks may say all, or a share (`Shared`), or what the source does otherwise is added (`departures.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sottovoce.models.speech.voice.opus_features import PITCH, VOICING
from sottovoce.models.speech.voice.phone_network import QUIETEST
from sottovoce.models.speech.voice.phone_track import SILENCE, PhoneTrack

LOUDEST, WIDEST = 1.8, 3.0
SHORTEST, LONGEST = 2, 60  # frames of a phone


class SourceProsody(Protocol):
    """What of the source's prosody passes."""

    @property
    def public_pauses(self) -> float:
        """Share of the places between words where a pause is drawn, whatever the source does there."""

    @property
    def tempo(self) -> tuple[float, float]:
        """Between which logarithms of all lengths one is drawn."""

    def lengths(self, track: PhoneTrack, log_pool: np.ndarray, jitter: np.ndarray) -> np.ndarray:
        """Frames of each segment; `log_pool` is what the pseudo-speaker would take."""

    def told(self, said: PhoneTrack, pooled: np.ndarray) -> np.ndarray:
        """Loudness, pitch and voicing [frames, 3]; `pooled` are the pseudo-speaker's own."""


@dataclass(frozen=True)
class PublicShares:
    """How much of each part of the prosody is the pool's, 0 to 1; the rest is the source's."""

    rhythm: float = 1.0  # lengths, tempo and pauses
    melody: float = 1.0  # pitch and voicing
    loudness: float = 1.0

    @classmethod
    def alike(cls, share: float | None) -> PublicShares:
        """The same share of each part; of all of it where nobody says."""
        return cls() if share is None else cls(share, share, share)

    @property
    def are_shares(self) -> bool:
        """Each lies in [0, 1]."""
        return all(0 <= share <= 1 for share in (self.rhythm, self.melody, self.loudness))

    @property
    def all_public(self) -> bool:
        """Nothing of the source passes."""
        return min(self.rhythm, self.melody, self.loudness) >= 1


USUAL = PublicShares()


@dataclass(frozen=True, eq=False)
class Shared:
    """The source's prosody, on its own clock, of which shares are replaced by the pool's."""

    prosody: np.ndarray
    shares: PublicShares = PublicShares()
    tempo: ClassVar[tuple[float, float]] = (-0.06, 0.06)

    @property
    def public_pauses(self) -> float:
        return self.shares.rhythm

    def lengths(self, track: PhoneTrack, log_pool: np.ndarray, jitter: np.ndarray) -> np.ndarray:
        return mixed_lengths(track, log_pool, self.shares.rhythm, jitter)

    def told(self, said: PhoneTrack, pooled: np.ndarray) -> np.ndarray:
        public = np.array([self.shares.loudness, self.shares.melody, self.shares.melody], np.float32)
        told = (1 - public) * moved(self.prosody, said.source_positions()) + public * pooled
        return np.where(said.unheard[said.owner, None], pooled, told)


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


def mixed_lengths(track: PhoneTrack, log_pool: np.ndarray, share: float, jitter: np.ndarray) -> np.ndarray:
    """Frames of each segment: a geometric mean of its own length and of the pool's at the same overall tempo.

    Of the tempo, too, only 1 - share is the source's.
    """
    own, phones = track.length.astype(np.float64), (track.phone != SILENCE) & ~track.unheard
    pool = np.exp(log_pool)
    if phones.any():
        pool = pool * (own[phones].sum() / pool[phones].sum()) ** (1 - share)
    wanted = np.where(track.unheard, pool, own ** (1 - share) * pool**share) * np.exp(jitter)
    return whole_frames(track, wanted)


def whole_frames(track: PhoneTrack, wanted: np.ndarray) -> np.ndarray:
    """Lengths that a phone can have. Words that are left out keep the length they were given."""
    return np.where(track.left_out, track.length, np.clip(np.round(wanted), SHORTEST, LONGEST).astype(int))
