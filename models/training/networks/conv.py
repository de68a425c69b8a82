"""An acoustic model: convolutions over mel bands, normalised, to letters by CTC (Graves et al. 2006).

Residual layers whose context grows; the first one takes every third frame. Loss of a row: the negative log likelihood of its
letters, per letter. `norm` says what normalisation looks at (`norms.py`), `depth` how many layers there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sottovoce.models.settings import require
from sottovoce.models.speech.mel_bands import BANDS
from sottovoce.models.training.batches import NamedBatch
from sottovoce.models.training.networks.member import Member
from sottovoce.models.training.networks.norms import Norm, Statistics

STRIDE, FIRST_KERNEL, KERNEL = 3, 9, 5
DILATIONS = (1, 1, 2, 2, 4, 1)
LETTERS = "abcdefghijklmnopqrstuvwxyz' "


@dataclass(frozen=True)
class ConvModel(Member):
    """`alphabet` is public: letters outside of it are not learned. `longest_s` seconds of a slice are heard. `whole`: a slice is
    one letter as a whole, as single words are where each has a sign of its own."""

    task: ClassVar[str] = "am"

    norm: Statistics = "layer"
    depth: int = 4
    width: int = 96
    alphabet: str = LETTERS
    longest_s: float = 10.0
    whole: bool = False

    def __post_init__(self) -> None:
        require(
            (self.depth >= 1 and self.width >= 1, "depth, width: must be at least 1"),
            (len(set(self.alphabet)) == len(self.alphabet) >= 2, "alphabet: at least two letters, each once"),
            (self.longest_s >= 0.2, "longest_s: must be at least 0.2"),
        )

    @property
    def mixes_rows(self) -> bool:
        return self.norm == "paper"

    @property
    def needs_public(self) -> bool:
        return self.norm in ("paper", "public", "with_public")

    def trial(self, rows: int, places: int) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        made = torch.Generator().manual_seed(rows)
        bands = torch.randn(rows, places, BANDS, generator=made)
        return {"bands": bands}, {"bands": torch.randint(places // 2, places + 1, (rows,), generator=made)}

    def network(self, schema: Any) -> ConvNetwork:
        return ConvNetwork(self, len(self.alphabet) + 1)


class ConvNetwork(nn.Module):
    """`public` are the rows that belong to nobody; they are passed through once before each batch."""

    def __init__(self, options: ConvModel, labels: int):
        super().__init__()
        self.public: NamedBatch | None = None
        self.first = nn.Conv1d(BANDS, options.width, FIRST_KERNEL, STRIDE, FIRST_KERNEL // 2)
        dilations = [DILATIONS[place % len(DILATIONS)] for place in range(options.depth)]
        self.layers = nn.ModuleList(
            nn.Conv1d(options.width, options.width, KERNEL, padding=KERNEL // 2 * dilation, dilation=dilation)
            for dilation in dilations
        )
        self.norms = nn.ModuleList(Norm(options.width, options.norm) for _ in range(options.depth + 1))
        self.last = nn.Conv1d(options.width, labels, 1)
        self.whole, self.space = options.whole, options.alphabet.find(" ") + 1  # 0: words are not told apart

    def scores(self, batch: NamedBatch) -> tuple[Tensor, Tensor]:
        """(log probabilities [rows, frames, labels], how many frames each row has)."""
        if self.training:
            self.measure_public()
        return self._through(batch)

    def train(self, mode: bool = True) -> ConvNetwork:
        """Where it is to answer, statistics are those of the weights as they are now; an exported model keeps them."""
        super().train(mode)
        if not mode:
            self.measure_public()
        return self

    def measure_public(self) -> None:
        """Sets the statistics of the normalisations by a pass over the public rows; without such rows nothing changes."""
        if self.public is None:
            return
        norms = [module for module in self.norms if isinstance(module, Norm)]
        for norm in norms:
            norm.measure = True
        with torch.no_grad():
            self._through(self.public)
        for norm in norms:
            norm.measure = False

    def _through(self, batch: NamedBatch) -> tuple[Tensor, Tensor]:
        x = batch["bands"].to(self.first.weight.dtype).transpose(1, 2)
        frames = torch.div(batch.lengths["bands"] - 1, STRIDE, rounding_mode="floor") + 1
        x = self.first(x)
        inside = (torch.arange(x.shape[2], device=x.device) < frames[:, None])[:, None].to(x.dtype)
        x = self.norms[0](x, inside).relu()
        for layer, norm in zip(self.layers, self.norms[1:], strict=True):
            x = x + norm(layer(x), inside).relu()
        if self.whole:  # one frame, whose CTC loss is the cross entropy of its letter
            x, frames = x.sum(2, keepdim=True) / frames[:, None, None], torch.ones_like(frames)
        scores = self.last(x).transpose(1, 2)
        return (scores.float() if scores.dtype == torch.bfloat16 else scores).log_softmax(-1), frames

    def forward(self, batch: NamedBatch) -> Tensor:
        scores, frames = self.scores(batch)
        letters = batch.lengths["letters"]
        found = nn.functional.ctc_loss(
            scores.transpose(0, 1), batch["letters"], frames, letters, reduction="none", zero_infinity=True
        )
        return found / letters.clamp_min(1)
