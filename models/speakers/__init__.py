"""Who speaks, as a vector: speaker encoders, with which targets are selected and with which attackers listen."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sottovoce.models.audio import Speech

TABLE = {
    "campplus": "sottovoce.models.speakers.campplus:CamPlusPlus",
    "ge2e": "sottovoce.models.speakers.ge2e:Ge2e",
    "hf": "sottovoce.models.speakers.hf:XVector",
}


class SpeakerEncoder(Protocol):
    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def embed(self, speech: Speech) -> np.ndarray:
        """One vector [d], float32, for speech of any length and rate; alike voices point the same way."""
