"""McAdams: move the formants by bending the pole angles of a linear prediction.

Patino et al., "Speaker anonymisation using the McAdams coefficient", Interspeech 2021, section 3. Each 20 ms frame is
an all-pole filter driven by a residual. A pole r e^(i phi) becomes r e^(i phi^alpha); the residual is kept. Poles below
one radian (2.5 kHz at 16 kHz) go up and those above go down when alpha < 1. Time does not move, so the words stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, level, resample, with_level
from sottovoce.models.speech.voice import BACKGROUND_VOICES, Slices, Voiced

RATE_HZ = 16_000
FRAME, HOP, ORDER = 320, 160, 20
WHITE_NOISE = 1e-6  # added to lag 0, so that the equations have a solution for a pure tone
NEAR_ONE = 0.05  # a coefficient this close to 1 would leave the voice as it was


@dataclass(frozen=True)
class McAdams:
    """The coefficient is drawn from [low, high] with the run's secret, once per utterance or once per speaker."""

    low: float = 0.6
    high: float = 0.9
    assign: Literal["utterance", "speaker"] = "utterance"

    def __post_init__(self) -> None:
        require(
            (0.3 <= self.low <= self.high <= 1.5, "low, high: need 0.3 <= low <= high <= 1.5"),
            (
                self.high <= 1 - NEAR_ONE or self.low >= 1 + NEAR_ONE,
                f"low, high: must stay {NEAR_ONE} away from 1, which changes nothing",
            ),
        )

    def setup(self) -> None:
        """Nothing to load."""

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        who = utterance.speaker_id if self.assign == "speaker" else None
        draw = secret.uniform("voice.mcadams", "speaker", who) if who else secret.uniform("voice.mcadams", utterance.id)
        coefficient = self.low + (self.high - self.low) * draw
        return Voiced(bend(resample(speech, RATE_HZ), coefficient), tuple(words))

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="voice",
            mechanism="mcadams",
            says="Formants are moved by a coefficient drawn with the run's secret: a casual listener is misled",
            not_protected=(
                "an informed attacker: one who trains on speech anonymised in the same way recognises speakers as well "
                "as before (VoicePrivacy 2024, semi-informed attacker on LibriSpeech: equal error rate 4.5 % with "
                "McAdams, 4.6 % without; 50 % would be a coin toss)",
                "an automatic attacker who knows nothing of it: a speaker encoder still links recordings far better "
                "than chance",
                "pitch, rhythm, accent and choice of words, which are left as they were",
                BACKGROUND_VOICES,
                "background sound, which may tell the place",
            ),
            parameters={"low": self.low, "high": self.high, "assign": self.assign},
        )


def bend(speech: Speech, coefficient: float) -> Speech:
    """Speech with pole angles phi -> phi^coefficient, at the loudness of the original and never clipped."""
    from scipy.signal import lfilter

    samples = speech.samples.astype(np.float64)
    padded = np.pad(samples, (HOP, FRAME))
    count = (len(padded) - FRAME) // HOP + 1
    window = np.sqrt(np.hanning(FRAME + 1)[:-1])  # analysis and synthesis windows multiply to a Hann: they sum to one
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP][:count] * window
    predictors = _linear_prediction(frames)
    bent = _bend_poles(predictors, coefficient)
    out = np.zeros_like(padded)
    for index, frame in enumerate(frames):
        residual = lfilter(predictors[index], [1.0], frame)
        out[index * HOP : index * HOP + FRAME] += lfilter([1.0], bent[index], residual) * window
    changed = out[HOP : HOP + len(samples)]
    peak = np.max(np.abs(changed), initial=1e-9)
    return with_level(Speech((changed / peak).astype(np.float32), speech.rate_hz), level(samples))


def _linear_prediction(frames: np.ndarray) -> np.ndarray:
    """Prediction polynomials (frames, ORDER + 1), autocorrelation method: all poles lie inside the unit circle."""
    spectrum = np.abs(np.fft.rfft(frames, 2 * FRAME, axis=1)) ** 2
    lags = np.fft.irfft(spectrum, axis=1)[:, : ORDER + 1]
    lags[:, 0] = lags[:, 0] * (1 + WHITE_NOISE) + 1e-12
    polynomials = np.zeros_like(lags)
    polynomials[:, 0] = 1.0
    errors = lags[:, 0].copy()
    for order in range(1, ORDER + 1):  # Levinson-Durbin, all frames at once
        reflection = -np.sum(polynomials[:, :order] * lags[:, order:0:-1], axis=1) / errors
        flipped = polynomials[:, order::-1].copy()
        polynomials[:, : order + 1] += reflection[:, None] * flipped
        errors *= 1 - reflection**2
    return polynomials


def _bend_poles(polynomials: np.ndarray, coefficient: float) -> np.ndarray:
    companions = np.zeros((len(polynomials), ORDER, ORDER))
    companions[:, np.arange(1, ORDER), np.arange(ORDER - 1)] = 1.0
    companions[:, 0, :] = -polynomials[:, 1:]
    poles = np.linalg.eigvals(companions)
    angles = np.angle(poles)
    moved = np.sign(angles) * np.minimum(np.abs(angles) ** coefficient, np.pi - 1e-3)
    poles = np.where(np.abs(poles.imag) > 1e-9, np.abs(poles) * np.exp(1j * moved), poles)
    expanded = np.zeros((len(poles), ORDER + 1), dtype=complex)
    expanded[:, 0] = 1.0
    for index in range(ORDER):
        expanded[:, 1:] -= poles[:, index : index + 1] * expanded[:, :-1]
    return expanded.real
