"""Any x-vector model of transformers (`*ForXVector`: WavLM, wav2vec2, UniSpeech ...), by hub name or path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.settings import require
from sottovoce.models.speech.audio import Speech, resample

MIN_S = 1.0  # shorter speech is repeated: the time-delay layers need a context


@dataclass
class XVector:
    """A speaker encoder of Hugging Face with an x-vector head, by its name on the hub or by a folder."""

    model: str
    _model: Any = field(default=None, init=False, repr=False)
    _features: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require((bool(self.model), "model: give a hub name or a path"))

    def setup(self) -> None:
        from transformers import AutoFeatureExtractor, AutoModelForAudioXVector

        try:
            self._model = AutoModelForAudioXVector.from_pretrained(self.model, trust_remote_code=False).eval()
            self._features = AutoFeatureExtractor.from_pretrained(self.model, trust_remote_code=False)
        except (OSError, ValueError):
            raise RunError(
                f"speakers: {self.model} could not be loaded; give the hub name or the folder of a *ForXVector model "
                "with its feature extractor"
            ) from None

    def embed(self, speech: Speech) -> np.ndarray:
        import torch

        rate_hz = int(self._features.sampling_rate)
        samples = resample(speech, rate_hz).samples
        samples = np.tile(samples, -(-int(MIN_S * rate_hz) // max(len(samples), 1)))
        inputs = self._features(samples, sampling_rate=rate_hz, return_tensors="pt")
        with torch.inference_mode():
            return self._model(**inputs).embeddings[0].float().numpy()
