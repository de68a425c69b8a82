"""What `training.py` measures: a model of each task at its own size, with made-up rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor, nn

from sottovoce.models.speech.mel_bands import BANDS
from sottovoce.models.training.batches import Encoded
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks.bert import Bert
from sottovoce.models.training.networks.clc import Clc
from sottovoce.models.training.networks.conv import ConvModel
from sottovoce.models.training.networks.language import LstmModel
from sottovoce.models.training.networks.lstm import BiLstm, Lstm
from sottovoce.models.training.networks.turns import TurnsModel
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.tasks.dm import Acts
from sottovoce.models.training.tasks.task import Task

LABELS = Labels(tuple(f"i{n}" for n in range(7)), tuple(f"s{n}" for n in range(39)))
WORDS, FRAMES, LETTERS, TURNS = 16, 200, 12, 8


class TorchLstm(nn.Module):
    """nn.LSTM in the place of our own layers, for the plain baseline."""

    def __init__(self, inputs: int, hidden: int, layers: int, both_ways: bool):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True, bidirectional=both_ways)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.lstm(words)[0]  # all rows are of one length here: nothing to pack


@dataclass
class Case:
    member: Any
    schema: Any = None
    rows_of: Any = field(default=None, repr=False)

    @property
    def task(self) -> Task:
        return task_of(self.member.task)

    def rows(self, count: int) -> list[Any]:
        draw = np.random.default_rng(0)
        return [self.rows_of(self.member, draw) for _ in range(count)]

    def network(self) -> Any:
        network = self.member.network(self.schema)
        if getattr(self.member, "needs_public", False):
            network.public = self.task.collate(self.rows(32))
        return network

    def with_lstms_of(self, kind: Any) -> Any:
        """The network with another kind of LSTM in the place of its own."""
        network = self.network()
        holder = network.reader if isinstance(self.member, Clc) else network
        own = [layer for layer in getattr(holder, "lstms", []) if isinstance(layer, Lstm | BiLstm)]
        if own:
            both = isinstance(self.member, Clc)
            holder.lstms = nn.ModuleList([kind(_inputs(self.member), self.member.hidden, len(own), both)])
        return network


def _inputs(member: Any) -> int:
    if isinstance(member, Clc):
        return member.word_size + member.filters
    return member.hidden if isinstance(member, TurnsModel) else member.word_size


def _sentence(member: Any, draw: np.random.Generator) -> Encoded:
    tokens = [f"w{word}" for word in draw.integers(0, 20_000, WORDS)]
    return Encoded(member.encoder().encode(tokens), draw.integers(0, len(LABELS.tags), WORDS), int(draw.integers(7)))


def _line(member: Any, draw: np.random.Generator) -> dict[str, np.ndarray]:
    words = draw.integers(4, member.size, WORDS + 1)
    return {"inputs": words[:-1], "targets": words[1:]}


def _slice(member: Any, draw: np.random.Generator) -> dict[str, np.ndarray]:
    bands = draw.standard_normal((FRAMES, BANDS)).astype(np.float32)
    return {"bands": bands, "letters": draw.integers(1, len(member.alphabet), LETTERS)}


def _dialogue(member: Any, draw: np.random.Generator) -> dict[str, np.ndarray]:
    words = draw.integers(1, member.buckets, (TURNS, WORDS))
    return {"words": words, "acts": draw.integers(0, 8, TURNS), "targets": draw.integers(1, 8, TURNS)}


CASES = {
    "clc": Case(Clc(), LABELS, _sentence),
    "bert": Case(Bert(dropout=0.0), LABELS, _sentence),
    "lstm": Case(LstmModel(), None, _line),
    "turns": Case(TurnsModel(), Acts(tuple(f"a{n}" for n in range(8))), _dialogue),
    **{f"conv, {norm}": Case(ConvModel(norm=norm), None, _slice)  # type: ignore[arg-type]
       for norm in ("layer", "group", "public", "with_public", "paper")},
}  # fmt: skip
