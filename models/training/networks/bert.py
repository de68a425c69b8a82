"""BERT: a Transformer encoder, intent head on its first position, CRF on the first piece of each word.

From scratch it has the shape of TinyBERT 4L-312 (Jiao et al. 2020) and reads hashed words; with `encoder` it is any
Hugging Face encoder with its own tokenizer, by name or path.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import require
from sottovoce.models.training.examples import Labels
from sottovoce.models.training.networks.member import Member
from sottovoce.models.training.networks.network import IntentSlotNetwork
from sottovoce.models.training.networks.words import UNKNOWN, bucket_of

# their positions begin after the padding, row by row
COUNT_POSITIONS_THEMSELVES = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl")


@dataclass(frozen=True)
class Bert(Member):
    """The sizes count only from scratch; a pre-trained encoder brings its own."""

    task: ClassVar[str] = "slu"

    pretrained: str | None = None
    layers: int = 4
    hidden: int = 312
    heads: int = 12
    feed_forward: int = 1200
    buckets: int = 8000
    longest: int = 128
    dropout: float = 0.1

    def __post_init__(self) -> None:
        require(
            (self.layers >= 1 and self.heads >= 1, "layers, heads: must be at least 1"),
            (self.hidden % max(self.heads, 1) == 0, f"hidden: {self.hidden} is not a multiple of heads = {self.heads}"),
            (self.buckets >= 4, "buckets: must be at least 4"),
            (self.longest >= 4, "longest: must be at least 4"),
            (0 <= self.dropout < 1, "dropout: must lie in [0, 1)"),
        )

    def encoder(self) -> HashedPieces | TokenizerPieces:
        """How sentences become numbers: hashed words from scratch, else the tokenizer of the pre-trained encoder."""
        if self.pretrained is None:
            return HashedPieces(self.buckets, self.longest)
        return TokenizerPieces(load_pretrained("AutoTokenizer", self.pretrained), self.longest)

    def network(self, labels: Labels) -> IntentSlotNetwork:
        from transformers import BertConfig, BertModel

        if self.pretrained is not None:
            encoder = load_pretrained("AutoModel", self.pretrained)
        else:
            encoder = BertModel(
                BertConfig(
                    vocab_size=self.buckets,
                    num_hidden_layers=self.layers,
                    hidden_size=self.hidden,
                    num_attention_heads=self.heads,
                    intermediate_size=self.feed_forward,
                    max_position_embeddings=self.longest,
                    hidden_dropout_prob=self.dropout,
                    attention_probs_dropout_prob=self.dropout,
                ),
                add_pooling_layer=False,
            )
        return IntentSlotNetwork(BertReader(encoder), encoder.config.hidden_size, labels)

    def keep_beside(self, network: Any, folder: Path) -> dict[str, Any]:
        return keep_pretrained(self.pretrained, network.reader.encoder, folder)


def keep_pretrained(pretrained: str | None, model: Any, folder: Path) -> dict[str, Any]:
    """A Hugging Face model and its tokenizer go with the exported weights: what is needed to build it again."""
    if pretrained is None:
        return {}
    model.save_pretrained(folder / "encoder")
    load_pretrained("AutoTokenizer", pretrained).save_pretrained(folder / "encoder")
    return {"pretrained": "encoder"}


@dataclass(frozen=True)
class HashedPieces:
    """One piece per word; bucket 1, which no word has, opens the sentence."""

    buckets: int
    longest: int

    def words_kept(self, tokens: Sequence[str]) -> int:
        return min(len(tokens), self.longest - 1)

    def encode(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        pieces = [UNKNOWN, *(bucket_of(token, self.buckets) for token in tokens)]
        return {
            "pieces": np.array(pieces),
            "first": np.arange(1, len(pieces)),
            "present": np.ones(len(pieces), np.int64),
        }


@dataclass(frozen=True)
class TokenizerPieces:
    """Sentences as the pieces of a Hugging Face tokenizer, cut at `longest` pieces."""

    tokenizer: Any
    longest: int

    def words_kept(self, tokens: Sequence[str]) -> int:
        found = [word for word in self._encoding(tokens).word_ids() if word is not None]
        return max(found, default=-1) + 1 or 1

    def encode(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        encoding = self._encoding(tokens)
        places: dict[int, int] = {}
        for place, word in enumerate(encoding.word_ids()):
            if word is not None:
                places.setdefault(word, place)
        # a word of which the tokenizer leaves nothing (a lone control character) borrows the opening piece
        first = np.array([places.get(word, 0) for word in range(len(tokens))])
        pieces = np.array(encoding["input_ids"])
        return {"pieces": pieces, "first": first, "present": np.ones(len(pieces), np.int64)}

    def _encoding(self, tokens: Sequence[str]) -> Any:
        return self.tokenizer(list(tokens), is_split_into_words=True, truncation=True, max_length=self.longest)


class BertReader(nn.Module):
    """States of a Hugging Face encoder: of each word's first piece, and of the first position for the sentence."""

    def __init__(self, encoder: Any):
        super().__init__()
        self.encoder = encoder
        self.accepts = set(inspect.signature(encoder.forward).parameters)
        if encoder.config.model_type in COUNT_POSITIONS_THEMSELVES:
            self.accepts.discard("position_ids")
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler.requires_grad_(False)  # not used here: it must not be noised either

    def forward(self, features: Mapping[str, Tensor], lengths: Tensor) -> tuple[Tensor, Tensor]:
        pieces = features["pieces"]
        # given per row: an encoder that makes one row of positions and spreads it would hide whose gradient is whose
        positions = torch.arange(pieces.shape[1], device=pieces.device).expand(len(pieces), -1).contiguous()
        given = {"position_ids": positions, "token_type_ids": torch.zeros_like(pieces)}
        given = {name: tensor for name, tensor in given.items() if name in self.accepts}
        states = self.encoder(input_ids=pieces, attention_mask=features["present"], **given).last_hidden_state
        first = features["first"].unsqueeze(-1).expand(-1, -1, states.shape[-1])
        return states.gather(1, first), states[:, 0]


def load_pretrained(kind: str, path: str) -> Any:
    """`kind`: a class of transformers ("AutoTokenizer"). Code of the model is never run; a SettingsError if it does not load."""
    import transformers

    options = {"trust_remote_code": False} | ({"use_fast": True} if kind == "AutoTokenizer" else {})
    try:
        return getattr(transformers, kind).from_pretrained(path, **options)
    except (OSError, ValueError) as error:
        problem = f"model.pretrained: {path!r} cannot be loaded ({type(error).__name__})"
        raise SettingsError([problem]) from None
