"""What was measured on one utterance before and after its voice was changed. As sensitive as the corpus: it holds voices."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, repr=False)
class MeasuredSpeech:
    """One recording: embeddings by encoder; [errors, words] by recogniser and naturalness where it was listened to."""

    duration_s: float
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)
    word_errors: dict[str, list[int]] = field(default_factory=dict)
    naturalness: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Ready for `json.dumps`: embeddings become little-endian float32 in base64."""
        packed = {
            name: base64.b64encode(vector.astype("<f4").tobytes()).decode() for name, vector in self.embeddings.items()
        }
        return {**vars(self), "embeddings": packed}

    @classmethod
    def from_json(cls, values: dict) -> MeasuredSpeech:
        """What `to_json` gave; its arrays are read-only."""
        vectors = {name: np.frombuffer(base64.b64decode(text), "<f4") for name, text in values["embeddings"].items()}
        return cls(**{**values, "embeddings": vectors})


@dataclass(frozen=True, repr=False)
class VoiceRow:
    """`recording` names the original's samples, `speaker` is a keyed token; both mean nothing elsewhere."""

    recording: str
    speaker: str
    enrolment: bool
    before: MeasuredSpeech
    after: MeasuredSpeech
    f0_correlation: float | None
    voice_s: float  # processor time of the voice alone
    pool: int = 0  # which of several pools spoke

    def to_line(self) -> str:
        """One line of JSON, without the line's end."""
        return json.dumps({**vars(self), "before": self.before.to_json(), "after": self.after.to_json()})

    @classmethod
    def from_line(cls, line: str) -> VoiceRow:
        """What `to_line` wrote."""
        values = json.loads(line)
        return cls(
            **{
                **values,
                "before": MeasuredSpeech.from_json(values["before"]),
                "after": MeasuredSpeech.from_json(values["after"]),
            }
        )
