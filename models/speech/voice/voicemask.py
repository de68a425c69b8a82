"""VoiceMask: the formants are moved by two warps in a row, with two secret parameters.

Qian et al., "Hidebehind: enjoy voice input with voiceprint unclonability and anonymity", SenSys 2018, section 4.1: a
bilinear map (alpha) followed by a quadratic one (beta), so that undoing it takes both. Both push the same way: the one
could undo the other. Pitch and time do not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.voice import NOT_PROTECTED_BY_WARPING, Slices, Voiced
from sottovoce.models.speech.voice.pseudo_speaker import draw_key
from sottovoce.models.speech.voice.warp import ANGLES, RATE_HZ, bilinear, quadratic, warped


@dataclass(frozen=True)
class VoiceMask:
    """alpha is drawn from [alpha_low, alpha_high], beta from [0, beta_high], both up or both down, with the secret."""

    alpha_low: float = 0.06
    alpha_high: float = 0.12
    beta_high: float = 0.6
    assign: Literal["utterance", "speaker"] = "utterance"

    def __post_init__(self) -> None:
        require(
            (
                0.02 <= self.alpha_low <= self.alpha_high <= 0.3,
                "alpha_low, alpha_high: need 0.02 <= low <= high <= 0.3",
            ),
            (0 <= self.beta_high <= 2, "beta_high: must lie in [0, 2]"),
        )

    def setup(self) -> None:
        """Nothing to load."""

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        draw = secret.generator("voice.voicemask", *draw_key(utterance, self.assign))
        sign = draw.choice((-1.0, 1.0))
        alpha, beta = sign * draw.uniform(self.alpha_low, self.alpha_high), sign * draw.uniform(0, self.beta_high)
        source = quadratic(bilinear(ANGLES, alpha), beta)
        return Voiced(warped(resample(speech, RATE_HZ), source), tuple(words))

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="voice",
            mechanism="voicemask",
            says="Formants are moved by two warps whose parameters are drawn with the run's secret: a casual listener is "
            "misled",
            not_protected=NOT_PROTECTED_BY_WARPING,
            parameters={
                "alpha_low": self.alpha_low,
                "alpha_high": self.alpha_high,
                "beta_high": self.beta_high,
                "assign": self.assign,
            },
        )
