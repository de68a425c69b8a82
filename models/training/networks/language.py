"""Language models: the next word from the words so far, by an LSTM or by a Transformer.

Loss of a line: the mean over its words, and its end, of the negative log likelihood. Embedding and output layer are two
parameters: per-example clipping cannot tell the gradients of a shared one apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from sottovoce.models.settings import require
from sottovoce.models.training.batches import NamedBatch
from sottovoce.models.training.networks.bert import keep_pretrained, load_pretrained
from sottovoce.models.training.networks.lstm import Lstm
from sottovoce.models.training.networks.member import Member
from sottovoce.models.training.networks.vocabulary import (
    BEGIN,
    END,
    PIECES,
    WORDS,
    Vocabulary,
    vocabulary_of,
)
from sottovoce.models.training.networks.words import UNKNOWN as OTHERS
from sottovoce.models.training.networks.words import keep_vectors, read_vectors


class LanguageNetwork(nn.Module):
    """A subclass maps a batch of `inputs` to scores of the next word [rows, places, words]."""

    def scores(self, batch: NamedBatch) -> Tensor:
        raise NotImplementedError

    def losses(self, batch: NamedBatch) -> Tensor:
        """[rows, places]: zero where a line has ended."""
        scores = self.scores(batch)
        scores = scores.float() if scores.dtype == torch.bfloat16 else scores
        found = nn.functional.cross_entropy(scores.flatten(0, 1), batch["targets"].flatten(), reduction="none")
        return found.view_as(batch["targets"]) * batch.inside("targets")

    def forward(self, batch: NamedBatch) -> Tensor:
        return self.losses(batch).sum(-1) / batch.lengths["targets"]


@dataclass(frozen=True)
class LstmModel(Member):
    """`vocabulary`: words, pieces, or a file of public words; `size` of them. `vectors` is a text file of public word vectors,
    which stay as they are; without it vectors of `word_size` are learned."""

    task: ClassVar[str] = "lm"

    hidden: int = 256
    layers: int = 1
    word_size: int = 128
    vectors: str | None = None
    vocabulary: str = WORDS
    size: int = 8000
    longest: int = 64
    dropout: float = 0.0

    def __post_init__(self) -> None:
        names = ("hidden", "layers", "word_size", "size", "longest")
        require(
            *((getattr(self, name) >= 1, f"{name}: must be at least 1") for name in names),
            (0 <= self.dropout < 1, "dropout: must lie in [0, 1)"),
        )

    def words(self) -> Vocabulary:
        """The public vocabulary; SettingsError where `vocabulary` names a file that cannot be read as one."""
        return vocabulary_of(self.vocabulary, self.size)

    def network(self, schema: Any) -> LanguageNetwork:
        return _Lstm(self, self._embedding())

    def _embedding(self) -> nn.Embedding:
        names = self.words().names
        if self.vectors is None:
            return nn.Embedding(len(names), self.word_size)
        index, rows = read_vectors(self.vectors)
        return nn.Embedding.from_pretrained(torch.from_numpy(rows[[index.get(name, OTHERS) for name in names]]))

    def keep_beside(self, network: Any, folder: Path) -> dict[str, Any]:
        return keep_vocabulary(self.vocabulary, folder) | keep_vectors(self.vectors, folder)


class _Lstm(LanguageNetwork):
    def __init__(self, options: LstmModel, embed: nn.Embedding):
        super().__init__()
        self.embed = embed
        sizes = [embed.embedding_dim] + [options.hidden] * (options.layers - 1)
        self.lstms = nn.ModuleList(Lstm(size, options.hidden) for size in sizes)
        self.dropout = nn.Dropout(options.dropout)
        self.head = nn.Linear(options.hidden, embed.num_embeddings)

    def scores(self, batch: NamedBatch) -> Tensor:
        states = self.dropout(self.embed(batch["inputs"]))
        for lstm in self.lstms:
            states = self.dropout(lstm(states, batch.lengths["inputs"]))
        return self.head(states)


@dataclass(frozen=True)
class TransformerModel(Member):
    """GPT-2's shape from scratch, or with `pretrained` any causal model of Hugging Face by path, with its tokenizer."""

    task: ClassVar[str] = "lm"

    pretrained: str | None = None
    layers: int = 2
    hidden: int = 128
    heads: int = 4
    vocabulary: str = WORDS
    size: int = 8000
    longest: int = 64
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require(
            (self.layers >= 1 and self.heads >= 1, "layers, heads: must be at least 1"),
            (self.hidden % max(self.heads, 1) == 0, f"hidden: {self.hidden} is not a multiple of heads = {self.heads}"),
            (self.longest >= 2 and self.size >= 1, "longest, size: too small"),
            (0 <= self.dropout < 1, "dropout: must lie in [0, 1)"),
        )

    def words(self) -> Vocabulary | PretrainedPieces:
        """The public vocabulary, or with `pretrained` the pieces of that model's own tokenizer, whatever `size` says."""
        if self.pretrained is not None:
            return PretrainedPieces(load_pretrained("AutoTokenizer", self.pretrained))
        return vocabulary_of(self.vocabulary, self.size)

    def network(self, schema: Any) -> LanguageNetwork:
        if self.pretrained is not None:
            return _Causal(_untied(load_pretrained("AutoModelForCausalLM", self.pretrained)))
        from transformers import GPT2Config, GPT2LMHeadModel

        config = GPT2Config(
            vocab_size=len(self.words()),
            n_layer=self.layers,
            n_embd=self.hidden,
            n_head=self.heads,
            n_positions=self.longest,
            resid_pdrop=self.dropout,
            embd_pdrop=self.dropout,
            attn_pdrop=self.dropout,
            bos_token_id=BEGIN,
            eos_token_id=END,
            tie_word_embeddings=False,
        )
        return _Causal(GPT2LMHeadModel(config))

    def keep_beside(self, network: Any, folder: Path) -> dict[str, Any]:
        kept = keep_pretrained(self.pretrained, network.model, folder)
        return kept or keep_vocabulary(self.vocabulary, folder)


class _Causal(LanguageNetwork):
    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def scores(self, batch: NamedBatch) -> Tensor:
        inputs = batch["inputs"]
        # given per row: positions that are made once for all rows would hide whose gradient is whose
        positions = torch.arange(inputs.shape[1], device=inputs.device).expand(len(inputs), -1).contiguous()
        present = batch.inside("inputs").long()
        return self.model(input_ids=inputs, attention_mask=present, position_ids=positions, use_cache=False).logits


@dataclass(frozen=True)
class PretrainedPieces:
    """The pieces of a Hugging Face tokenizer, under the names of a vocabulary."""

    tokenizer: Any

    def __len__(self) -> int:
        return len(self.tokenizer)

    @property
    def ends(self) -> tuple[int, int]:
        """What opens and what closes a line, in the words of that model."""
        end = self.tokenizer.eos_token_id
        end = 0 if end is None else end
        begin = self.tokenizer.bos_token_id
        return (end if begin is None else begin), end

    def encode(self, words: Any) -> list[int]:
        return self.tokenizer(" ".join(words), add_special_tokens=False)["input_ids"]

    def decode(self, numbers: Any) -> str:
        return self.tokenizer.decode(list(numbers), skip_special_tokens=True)


def _untied(model: Any) -> Any:
    """The output layer begins as a copy of the embedding, and is trained apart from it."""
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    if head is not None and head.weight is embedding.weight:
        head.weight = nn.Parameter(embedding.weight.detach().clone())
        model.config.tie_word_embeddings = False
    return model.float()


def keep_vocabulary(source: str, folder: Path) -> dict[str, Any]:
    """Copy a vocabulary file beside the exported model; the option that names the copy, none for the built-in lists."""
    if source in (WORDS, PIECES):
        return {}
    name = "vocabulary.json" if source.endswith(".json") else "vocabulary.txt"
    (folder / name).write_bytes(Path(source).read_bytes())
    return {"vocabulary": name}
