"""The next act of a dialogue from the turns so far: words of a turn are averaged, turns are read in order.

Words are hashed to buckets (no vocabulary is learned from the data), each turn's own label is one more input, and an LSTM or
a small Transformer reads turn after turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from sottovoce.models.settings import require
from sottovoce.models.training.batches import NamedBatch
from sottovoce.models.training.networks.bag import Bag
from sottovoce.models.training.networks.lstm import Lstm
from sottovoce.models.training.networks.member import Member


@dataclass(frozen=True)
class TurnsModel(Member):
    """`longest` turns of a dialogue are read, and `longest_turn` words of each."""

    task: ClassVar[str] = "dm"

    reader: Literal["lstm", "transformer"] = "lstm"
    hidden: int = 128
    layers: int = 1
    heads: int = 4
    word_size: int = 64
    buckets: int = 8000
    longest: int = 32
    longest_turn: int = 32

    def __post_init__(self) -> None:
        names = ("hidden", "layers", "heads", "word_size", "longest", "longest_turn")
        require(
            *((getattr(self, name) >= 1, f"{name}: must be at least 1") for name in names),
            (self.buckets >= 3, "buckets: must be at least 3"),
            (self.hidden % max(self.heads, 1) == 0, f"hidden: {self.hidden} is not a multiple of heads = {self.heads}"),
        )

    def network(self, schema: Any) -> TurnsNetwork:
        return TurnsNetwork(self, len(schema.acts))


class TurnsNetwork(nn.Module):
    """Words and act of each turn into a vector, those of a dialogue so far into scores of the act that comes next."""

    def __init__(self, options: TurnsModel, acts: int):
        super().__init__()
        self.words = Bag(options.buckets, options.word_size)
        self.acts = nn.Embedding(acts + 1, options.word_size)  # 0: a turn without a label
        self.enter = nn.Linear(2 * options.word_size, options.hidden)
        lstm = options.reader == "lstm"
        self.lstms = nn.ModuleList(Lstm(options.hidden, options.hidden) for _ in range(options.layers if lstm else 0))
        self.transformer = None if lstm else _transformer(options)
        self.head = nn.Linear(options.hidden, acts)

    def scores(self, batch: NamedBatch) -> Tensor:
        """[rows, turns, acts]: of the act that follows each turn."""
        turns = self.enter(torch.cat([self.words(batch["words"]), self.acts(batch["acts"])], -1)).tanh()
        for lstm in self.lstms:
            turns = lstm(turns, batch.lengths["acts"])
        if self.transformer is not None:
            places = torch.arange(turns.shape[1], device=turns.device).expand(len(turns), -1).contiguous()
            given = {"attention_mask": batch.inside("acts").long(), "position_ids": places, "use_cache": False}
            turns = self.transformer(inputs_embeds=turns, **given).last_hidden_state
        return self.head(turns)

    def losses(self, batch: NamedBatch) -> Tensor:
        """[rows, turns]: zero where no labelled turn follows."""
        scores = self.scores(batch)
        scores = scores.float() if scores.dtype == torch.bfloat16 else scores
        known = batch["targets"] > 0
        wanted = (batch["targets"] - 1).clamp_min(0)
        found = nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none")
        return found.view_as(wanted) * known

    def forward(self, batch: NamedBatch) -> Tensor:
        return self.losses(batch).sum(-1) / (batch["targets"] > 0).sum(-1).clamp_min(1)


def _transformer(options: TurnsModel) -> Any:
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        vocab_size=1,
        n_layer=options.layers,
        n_embd=options.hidden,
        n_head=options.heads,
        n_positions=options.longest,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model = GPT2Model(config)
    model.wte.requires_grad_(False)  # turns come in its place
    return model
