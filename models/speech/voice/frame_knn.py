"""Speech without phones: each hundredth of a second is replaced by its nearest neighbours among public speakers' frames.

For speech whose words are located without phones (`align: ctc`, other languages). After kNN-VC (Baas et al., "Voice
conversion with just nearest neighbors", Interspeech 2023), with the vocoder's own cepstra in place of learnt features. The
spectra that come out are the pool's, but which of them are chosen follows the source: weaker than `phonetic`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, level, resample
from sottovoce.models.speech.audio_refusals import AudioNotFinite
from sottovoce.models.speech.voice import BACKGROUND_VOICES, Slices, Voiced, frame_pool
from sottovoce.models.speech.voice.fargan import Fargan
from sottovoce.models.speech.voice.frame_pool import SHAPE, FramePool, in_own_units
from sottovoce.models.speech.voice.opus_features import PITCH, RATE_HZ, VOICING, Analysis
from sottovoce.models.speech.voice.pseudo_speaker import draw_key
from sottovoce.models.speech.voice.say_phones import LOUDNESS, PEAK, PseudoVoice, VoicedFrames, pitch_contour

CONTEXT = (-3, 0, 3)  # frames that are compared together: a sound is known by how it moves
SMOOTH = 0.7  # frames


@dataclass(frozen=True)
class FrameKnn:
    """`speakers` of one gender are drawn from the pool; each frame is the mean of its `neighbours` among their frames."""

    speakers: int = 8
    neighbours: int = 8
    assign: Literal["utterance", "speaker"] = "utterance"
    pool: str | None = None
    _parts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(
            (self.speakers >= 2, "speakers: must be at least 2, or a target would be a real person"),
            (self.neighbours >= 1, "neighbours: must be at least 1"),
        )

    def setup(self) -> None:
        self._parts.update(analysis=Analysis(), vocoder=Fargan(), frames=frame_pool.load(self.pool))

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        if not np.isfinite(speech.samples).all():
            raise AudioNotFinite
        draw = secret.generator("voice.frame_knn", *draw_key(utterance, self.assign))
        source, pool = self._parts["analysis"](speech), self._parts["frames"]
        chosen = _drawn(pool, self.speakers, draw)
        features = source.copy()
        own, _, _ = in_own_units(source)
        features[:, SHAPE] = _replaced(own, pool.frames[chosen], self.neighbours) * pool.spread[chosen].mean(axis=0)
        features[:, SHAPE] += pool.mean[chosen].mean(axis=0)
        features[:, 0] += LOUDNESS - source[:, 0].mean()
        features[:, PITCH] = _new_pitch(source, pool.log_f0_quantiles[chosen].mean(axis=0), draw)
        samples = self._parts["vocoder"].speak(features)
        original = resample(speech, RATE_HZ).samples
        samples = samples[: len(original)]
        gain = min(level(original) / max(level(samples), 1e-9), PEAK / max(float(np.max(np.abs(samples))), 1e-9))
        return Voiced(Speech((samples * gain).astype(np.float32), RATE_HZ), tuple(words))

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="voice",
            mechanism="frame_knn",
            says="The spectrum of each hundredth of a second is replaced by a mean of public speakers' spectra; the pitch is "
            "moved to their height",
            not_protected=(
                "WEAKER THAN phonetic: which spectra are chosen follows the source, and a speaker encoder still links a "
                "speaker's utterances: equal error rate 17 % with one of them, 5 % with three (docs/voice.md; 50 % is chance)",
                "rhythm, pauses, loudness, and the shape of the pitch, which are the source's own",
                "words and sounds that no transcript has: everything that was said is still said",
                BACKGROUND_VOICES,
            ),
            parameters={f.name: getattr(self, f.name) for f in fields(self) if f.init},
        )


def _drawn(pool: FramePool, count: int, draw: np.random.Generator) -> np.ndarray:
    """Speakers of one gender, which is drawn as well."""
    genders = np.unique(pool.gender)
    members = np.flatnonzero(pool.gender == genders[int(draw.integers(len(genders)))])
    return draw.choice(members, min(count, len(members)), replace=False)


def _with_context(frames: np.ndarray) -> np.ndarray:
    """[..., frames, 17] -> [..., frames, 17 * 3]; beyond the ends, the frame at the end."""
    at = np.arange(frames.shape[-2])
    return np.concatenate([frames[..., np.clip(at + shift, 0, len(at) - 1), :] for shift in CONTEXT], axis=-1)


def _replaced(own: np.ndarray, pool: np.ndarray, neighbours: int) -> np.ndarray:
    """Each frame of the source as the mean of its nearest frames in the pool, all in units of their speakers."""
    from scipy.ndimage import gaussian_filter1d

    bank = _with_context(pool).reshape(-1, len(CONTEXT) * pool.shape[2])
    query = _with_context(own)
    distance = np.square(bank).sum(axis=1) - 2 * query @ bank.T
    nearest = np.argpartition(distance, neighbours, axis=1)[:, :neighbours]
    return gaussian_filter1d(pool.reshape(-1, pool.shape[2])[nearest].mean(axis=1), SMOOTH, axis=0)


def _new_pitch(source: np.ndarray, quantiles: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    pitch, voiced = source[:, PITCH], source[:, VOICING] > 0
    return pitch_contour(pitch, [VoicedFrames(0, len(source), PseudoVoice(np.zeros(0), quantiles))], voiced, draw)
