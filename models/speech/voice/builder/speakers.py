"""What the pool keeps of each speaker besides embeddings: the distribution of the pitch and the lengths of the phones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.speech.voice.builder.examples import SpeechExample
from sottovoce.models.speech.voice.opus_features import PITCH, VOICING, log_f0
from sottovoce.models.speech.voice.phone_track import SILENCE
from sottovoce.models.speech.voice.pool import F0_QUANTILES, PHONES

LEAST_VOICED = 50  # frames; a speaker with less is left out
HIGH_VOICE_HZ = 160.0
PRIOR = 10  # phones of the whole pool that are counted to each speaker's own


def log_f0_quantiles(examples: Sequence[SpeechExample]) -> np.ndarray | None:
    """[21] of one speaker, or None where too little of it is voiced."""
    heights = [e.features[(e.features[:, VOICING] > 0) & e.track.speech, PITCH] for e in examples]
    voiced = np.concatenate(heights)
    return np.quantile(log_f0(voiced), F0_QUANTILES) if len(voiced) >= LEAST_VOICED else None


def gender_by_pitch(quantiles: np.ndarray) -> str:
    """For speakers of whom the corpus does not say it. Adults' medians lie around 120 and 200 Hz."""
    return "f" if np.median(quantiles) > np.log(HIGH_VOICE_HZ) else "m"


def log_durations(by_speaker: Sequence[Sequence[SpeechExample]]) -> np.ndarray:
    """[speakers, phones]: mean logarithm of the frames, drawn towards the pool's where a speaker says a phone seldom."""
    sums, counts = np.zeros((2, len(by_speaker), len(PHONES)))
    for row, examples in enumerate(by_speaker):
        for example in examples:
            kept = example.trusted & (example.track.phone != SILENCE)
            np.add.at(sums[row], example.track.phone[kept], np.log(example.track.length[kept]))
            np.add.at(counts[row], example.track.phone[kept], 1)
    pool = sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    return (sums + PRIOR * pool) / (counts + PRIOR)


def silence_of(examples: Sequence[SpeechExample]) -> np.ndarray:
    """[20]: the typical frame in the middle of a pause, which every silence becomes."""
    frames = [e.features[_inside_pauses(e)] for e in examples]
    return np.median(np.concatenate(frames), axis=0)


def _inside_pauses(example: SpeechExample) -> np.ndarray:
    speech = example.track.speech
    near = np.convolve(speech, np.ones(11), "same") > 0
    return ~near


def spreads(examples: Sequence[SpeechExample]) -> dict[str, np.ndarray]:
    """Typical spread inside one utterance of each cepstrum, and level and spread of the loudness."""
    inside = [e.features[e.track.speech, :18].std(axis=0) for e in examples if e.track.speech.sum() > 50]
    middle = np.median(inside, axis=0)
    return {"loudness_unit": middle[0], "cepstra_spread": middle[1:]}
