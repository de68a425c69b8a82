"""Who speaks, as a vector: speaker encoders, with which targets are selected and with which attackers listen."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sottovoce.models.speech.audio import Speech

TABLE = {
    "campplus": "sottovoce.models.speech.speakers.campplus:CamPlusPlus",
    "ge2e": "sottovoce.models.speech.speakers.ge2e:Ge2e",
    "wespeaker": "sottovoce.models.speech.speakers.wespeaker:WeSpeaker",
    "eres2net": "sottovoce.models.speech.speakers.eres2net:ERes2Net",
    "prosody": "sottovoce.models.speech.speakers.prosody:Prosody",
    "hf": "sottovoce.models.speech.speakers.hf:XVector",
}


class SpeakerEncoder(Protocol):
    """Tells voices apart: for attacks on released speech, and to choose pseudo-speakers."""

    def setup(self) -> None:
        """Load what is heavy. Called once per worker process."""

    def embed(self, speech: Speech) -> np.ndarray:
        """One vector [d], float32, for speech of any length and rate; alike voices point the same way."""
