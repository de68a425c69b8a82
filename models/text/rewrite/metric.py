"""The baseline: each word is moved in an embedding space by noise, and the nearest word takes its place (Feyisetan et al. 2020).

Noise z in d dimensions has the density exp(-epsilon |z|): a direction, times a length from Gamma(d, 1 / epsilon). So for any
two words w, w' and any outcome the odds differ by at most exp(epsilon |v(w) - v(w')|): metric differential privacy. It is no
epsilon-differential privacy: words that lie far apart are told apart easily, and that is the use of it. Vectors are scaled to
a mean distance of 1, so that `epsilon` is the logarithm of the odds between two words as far apart as two words usually are.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, Utterance
from sottovoce.models.settings import require
from sottovoce.models.text.edits import apply_edits
from sottovoce.models.text.replace.surface import words_in
from sottovoce.models.text.rewrite import RewritesEach

SHIPPED = "word_vectors.npz"


@dataclass(frozen=True)
class MetricPrivacy(RewritesEach):
    """`vectors`: a .npz with `words` and `vectors`; without it, the small table that ships. Words that it lacks are drawn
    from all of it."""

    epsilon: float = 10.0
    vectors: str | None = None

    def __post_init__(self) -> None:
        require((0 < self.epsilon <= 1e4, f"epsilon: {self.epsilon:g} must lie in (0, 10000]"))

    def setup(self) -> None:
        load(self.vectors)

    def rewrite(self, utterance: Utterance, secret: Secret) -> Utterance:
        text = secret.token("text", utterance.text)
        edits = []
        for begin, end in words_in(utterance.text, 0, len(utterance.text)):
            # other settings have noise of their own: what two outputs had in common would cancel out between them
            draw = secret.generator("metric", repr(self), utterance.dialogue_id, utterance.id, text, begin)
            edits.append(Edit(begin, end, self.moved(utterance.text[begin:end].casefold(), draw)))
        new, slots = apply_edits(utterance.text, edits, utterance.slots)
        return dataclasses.replace(utterance, text=new, slots=slots, spans=())

    def moved(self, word: str, draw: np.random.Generator) -> str:
        """The word nearest to the noisy vector of a lower-case word, which may be itself; any word for an unknown one."""
        words, vectors, number = load(self.vectors)
        at = number.get(word)
        if at is None:
            return words[draw.integers(len(words))]
        direction = draw.standard_normal(vectors.shape[1])
        noise = direction / np.linalg.norm(direction) * draw.gamma(vectors.shape[1], 1 / self.epsilon)
        away = vectors - (vectors[at] + noise)
        return words[int(np.argmin(np.einsum("ij,ij->i", away, away)))]

    def cost(self) -> float:
        return math.inf

    def serves(self, sink: str, from_text: bool) -> str | None:
        return None

    def released(self, sinks: Sequence[str]) -> tuple[str, ...]:
        return (
            f"of {', '.join(sinks)}: the number of records and of the words in each, intents, and the names and places of slots",
        )

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        return LedgerEntry(
            stage="rewrite",
            mechanism="metric",
            says=f"Each word was moved by noise among the vectors of a public vocabulary. For two words at distance d the odds "
            f"change by at most e^({self.epsilon:g} d), where 1 is the mean distance of two words. That is metric differential "
            "privacy, and no epsilon of the usual kind: words that mean something quite different are told apart, and a "
            "sentence of n words adds up n such figures.",
            not_protected=(
                "what a sentence is about: near words stand for near words",
                "the number of words, the intent and the slots of each record",
                "that a word is not in the vocabulary is hidden, but where it stood is not",
                "a person whose utterances are many: nothing bounds what they tell together",
            ),
            parameters={"epsilon_of_distance_1": self.epsilon},
            adjacency="one word of the vocabulary becomes another at distance d; all else stays",
            sound=dict.fromkeys(("utterance", "speaker"), math.inf),
            infinite_because="the figure grows with the distance of two words and with their number, and neither is bounded",
        )


@functools.lru_cache(maxsize=2)
def load(path: str | None) -> tuple[tuple[str, ...], np.ndarray, dict[str, int]]:
    """(words, vectors [words, dimension], row of each word), kept in memory. A SettingsError where the file holds none."""
    place = Path(path) if path else resources.files("sottovoce.models.text.rewrite").joinpath(SHIPPED)
    try:
        with place.open("rb") as file, np.load(file, allow_pickle=False) as found:
            words, vectors = tuple(found["words"].tolist()), found["vectors"].astype(np.float64)
    except (OSError, ValueError, KeyError):
        raise SettingsError(
            [f"rewrite.metric.vectors: {path} holds no vectors; expected .npz with words, vectors"]
        ) from None
    return words, vectors, {word: at for at, word in enumerate(words)}
