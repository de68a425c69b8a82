"""The auto-encoder of `rewrite: adept` from the `slu` sink, trained so that its decoder says nobody's sentence by heart.

A model folder of this task is a rewriter: `rewrite: {use: adept, model: OUT/model}` takes it, and adds the epsilon of its
card to that of the noise (`models/text/rewrite/adept.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.models.records import Source
from sottovoce.models.text.rewrite.autoencoder import SPECIAL, UNKNOWN, AutoEncoder, text_of, tokens_from
from sottovoce.models.training.examples import TOKEN, Example, Labels
from sottovoce.models.training.tasks.slu import Understanding

if TYPE_CHECKING:
    from sottovoce.models.training.batches import NamedBatch
    from sottovoce.models.training.loop.evaluation import Confidence
    from sottovoce.models.training.networks.rewriter import RewriterNetwork

ROWS = 64


class Rewriting(Understanding):
    """Trains the auto-encoder to say its input again; it reads the same rows as understanding does."""

    default_model = "rewriter"
    publishes = "the names of intents and slots, and a public list of words"
    judged_by = "loss"

    def encode(self, examples: Sequence[Example], member: Any, schema: Labels) -> list[Any]:
        from sottovoce.models.training.networks.rewriter import row_of

        number = {token: at for at, token in enumerate(member.tokens(schema))}
        unknown = SPECIAL.index(UNKNOWN)
        sentences = (tokens_from(one.tokens, one.tags, one.intent) for one in examples)
        return [row_of([number.get(token, unknown) for token in said], member.longest) for said in sentences]

    def collate(self, rows: Sequence[Any], weights: Sequence[float] | None = None) -> NamedBatch:  # type: ignore[override]
        """One batch of sentences padded to the longest; rows weigh the same where no weights are given."""
        from sottovoce.models.training.batches import collate_named

        return collate_named(rows, weights)

    def evaluate(
        self, network: RewriterNetwork, rows: Sequence[Any], examples: Sequence[Example], schema: Labels
    ) -> dict[str, float]:
        """`guessed_right` is what the commonest token alone would give."""
        targets = np.concatenate([row["targets"] for row in rows])
        losses, right = self._judged(network, rows)
        return {
            "loss": sum(map(sum, losses)) / len(targets),
            "tokens_right": right / len(targets),
            "guessed_right": float(np.bincount(targets).max() / len(targets)),
            "examples": len(rows),
        }

    def nothing_learnt(self, scores: Mapping[str, float]) -> str | None:
        if scores["tokens_right"] > scores["guessed_right"]:
            return None
        return f"it decodes {scores['tokens_right']:.1%} of the tokens right, which the commonest one alone would give"

    def confidence(self, network: RewriterNetwork, rows: Sequence[Any]) -> Confidence:
        from sottovoce.models.training.loop.evaluation import Confidence

        means = np.array([[sum(line) / len(line), max(line), min(line)] for line in self._judged(network, rows)[0]])
        return Confidence(-means, -means[:, 0])

    def canary(self, examples: Sequence[Example], draw: np.random.Generator) -> Example:
        """A sentence under the intent of another one: words outside the public list would be one to the model."""
        one, other = (examples[at] for at in draw.integers(len(examples), size=2))
        return replace(one, intent=other.intent)

    def predict(self, network: Any, member: Any, schema: Labels, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """What comes back of a line without noise: how much the vector holds."""
        coder = AutoEncoder({}, network.tokens, network.arrays())
        for number, line in enumerate(lines, 1):
            tokens = tuple(TOKEN.findall(line))
            if not tokens:
                yield {"text": line, "decoded": None, "intent": None}
                continue
            example = Example(tokens, ("O",) * len(tokens), "", Source("input", number))
            (vector,) = coder.encode([tokens_from(example.tokens, example.tags, None)])
            text, intent, _ = text_of(coder.decode(vector[None], 1)[0])
            yield {"text": line, "decoded": text, "intent": intent}

    @staticmethod
    def _judged(network: RewriterNetwork, rows: Sequence[Any]) -> tuple[list[list[float]], int]:
        """(losses of each token of each row, how many tokens are decoded right)."""
        import torch

        from sottovoce.models.training.batches import collate_named

        device, was_training = next(network.parameters()).device, network.training
        found: list[list[float]] = []
        right = 0
        network.eval()
        with torch.no_grad():
            for begin in range(0, len(rows), ROWS):
                batch = collate_named(rows[begin : begin + ROWS]).to(device)
                right += network.right(batch)[0]
                for line, length in zip(network.losses(batch).tolist(), batch.lengths["targets"].tolist(), strict=True):
                    found.append(line[:length])
        network.train(was_training)
        return found, right
