"""Train the auto-encoder of `rewrite: adept` on public data, without noise on its gradients: quickly, and as well as it goes.

With private data it is a task of the private loop instead (`models/training/tasks/rewriter.py`); the network is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.models.settings import require
from sottovoce.models.text.rewrite.autoencoder import SPECIAL, UNKNOWN, AutoEncoder

if TYPE_CHECKING:
    from sottovoce.models.training.networks.rewriter import RewriterNetwork

SHORT = 6  # words of a sentence that counts as short


@dataclass(frozen=True)
class RewriterRecipe:
    """Sizes of the auto-encoder, how long it is trained, and against what: `hidden` words, `noise` on its vector."""

    dimension: int = 32
    hidden_units: int = 128
    word_size: int = 64
    words: int = 2500
    epochs: int = 14
    batch: int = 64
    rate: float = 3e-3
    hidden: float = 0.1
    noise: float = 0.4
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = (self.dimension, self.hidden_units, self.word_size, self.words, self.epochs, self.batch)
        require(
            (min(sizes) >= 1, "dimension, hidden_units, word_size, words, epochs, batch: must be at least 1"),
            (self.rate > 0, "rate: must be above 0"),
        )


@dataclass(frozen=True)
class TrainedRewriter:
    """`tokens_right`: told the ones before. `short_whole`: short sentences that come back whole, without noise."""

    vocabulary: tuple[str, ...]
    arrays: dict[str, np.ndarray]
    tokens_right: float
    short_whole: float


def train(
    sentences: Sequence[Sequence[str]],
    recipe: RewriterRecipe,
    tell: Callable[[str], None],
    start: AutoEncoder | None = None,
) -> TrainedRewriter:
    """Judged by a fiftieth of the sentences, drawn at random, which it does not learn from. `start`: an earlier one, to go on
    from with its vocabulary."""
    import torch

    from sottovoce.models.training.networks.rewriter import RewriterModel, RewriterNetwork, row_of

    torch.manual_seed(recipe.seed)
    draw = np.random.default_rng(recipe.seed)
    counts = Counter(token for sentence in sentences for token in sentence)
    vocabulary = (*SPECIAL, *sorted(token for token, _ in counts.most_common(recipe.words)))
    vocabulary = start.vocabulary if start else vocabulary
    number, unknown = {token: at for at, token in enumerate(vocabulary)}, SPECIAL.index(UNKNOWN)
    own = ("dimension", "hidden_units", "word_size", "hidden", "noise", "clip")
    options = RewriterModel(**{name: getattr(recipe, name) for name in own})
    order = draw.permutation(len(sentences))
    held = [sentences[at] for at in order[: max(1, len(order) // 50)]]
    learning = [sentences[at] for at in order[len(held) :]] or held
    rows, judged = (
        [row_of([number.get(token, unknown) for token in said], options.longest) for said in part]
        for part in (learning, held)
    )
    network = RewriterNetwork(options, vocabulary)
    if start:
        network.take(start.arrays)
    _learn(network, rows, recipe, draw, tell)
    arrays = network.arrays()
    return TrainedRewriter(
        vocabulary, arrays, _tokens_right(network, judged), _short_whole(vocabulary, arrays, held, recipe.clip)
    )


def _learn(
    network: RewriterNetwork,
    rows: list[Any],
    recipe: RewriterRecipe,
    draw: np.random.Generator,
    tell: Callable[[str], None],
) -> None:
    import torch

    from sottovoce.models.training.batches import collate_named

    optimiser = torch.optim.Adam(network.parameters(), recipe.rate)
    steps = recipe.epochs * -(-len(rows) // recipe.batch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.03, steps)
    lengths = np.array([len(row["said"]) for row in rows])
    network.train()
    for epoch in range(recipe.epochs):
        total = 0.0
        by_length = np.argsort(lengths + draw.uniform(0, 2, len(rows)), kind="stable")  # no padding to speak of
        groups = [by_length[begin : begin + recipe.batch] for begin in range(0, len(rows), recipe.batch)]
        for at in draw.permutation(len(groups)):
            loss = network(collate_named([rows[place] for place in groups[at]])).mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item() * len(groups[at])
        tell(f"epoch {epoch + 1} of {recipe.epochs}: loss {total / len(rows):.3f}")
    network.eval()


def _tokens_right(network: RewriterNetwork, rows: list[Any]) -> float:
    import torch

    from sottovoce.models.training.batches import collate_named

    with torch.no_grad():
        right, tokens = network.right(collate_named(rows))
    return right / tokens


def _short_whole(
    vocabulary: tuple[str, ...], arrays: dict[str, np.ndarray], held: Sequence[Sequence[str]], clip: float
) -> float:
    """Of the held-out sentences of few words, those whose words, intent and slots all come back, without noise."""
    short = [list(said) for said in held if sum(not token.startswith(("intent:", "[", "]")) for token in said) <= SHORT]
    if not short:
        return 0.0
    coder = AutoEncoder({}, vocabulary, arrays)
    vectors = coder.encode(short)
    vectors *= clip / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), clip)
    return sum(found == said for found, said in zip(coder.decode(vectors, 1), short, strict=True)) / len(short)


def card_for(
    recipe: RewriterRecipe, sources: Sequence[str], sentences: int, trained: TrainedRewriter, public: bool
) -> dict[str, Any]:
    """What the model folder says of its training: the data by name, how well it decodes, and all settings; no sentence."""
    return {
        "trained_on": list(sources),
        "sentences": sentences,
        "public": public,
        "tokens_right": round(trained.tokens_right, 4),
        "short_sentences_whole": round(trained.short_whole, 4),
        "recipe": asdict(recipe),
    }
