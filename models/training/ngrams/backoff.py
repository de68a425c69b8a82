"""A 3-gram model with back-off, written and read as ARPA, which Kaldi, Vosk and pocketsphinx take.

Counts of any size (noisy ones, too) become probabilities by Witten and Bell (1991): a continuation w of a history u has
(c(uw) + N(u) p(w)) / (C(u) + N(u)), N(u) different ones, p of one word less. What the others of u are worth is shared out over
them by the back-off weight, so that each history sums to one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from sottovoce.models.errors import RunError

ORDER = 3
BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
FLOOR = 0.01  # of a count, for words of the vocabulary that were never seen
Gram = tuple[str, ...]


@dataclass
class Backoff:
    """Natural logarithms: `logs` of n-grams, `weights` of the histories that have continuations."""

    logs: dict[Gram, float] = field(default_factory=dict)
    weights: dict[Gram, float] = field(default_factory=dict)

    def log_probability(self, gram: Gram) -> float:
        if gram in self.logs:
            return self.logs[gram]
        if len(gram) == 1:
            return self.logs[(UNKNOWN,)]
        return self.weights.get(gram[:-1], 0.0) + self.log_probability(gram[1:])

    def losses(self, words: Sequence[str]) -> list[float]:
        """Of each word of a line, and of its end."""
        said = [BEGIN, *(word if (word,) in self.logs else UNKNOWN for word in words), END]
        return [-self.log_probability(tuple(said[max(0, at - ORDER + 1) : at + 1])) for at in range(1, len(said))]

    def write(self, file: TextIO) -> None:
        grams = [sorted(gram for gram in self.logs if len(gram) == order) for order in range(1, ORDER + 1)]
        print("\\data\\", *(f"ngram {n}={len(own)}" for n, own in enumerate(grams, 1)), sep="\n", file=file)
        for order, own in enumerate(grams, 1):
            print(f"\n\\{order}-grams:", file=file)
            for gram in own:
                weight = f"\t{_ten(self.weights.get(gram, 0.0))}" if order < ORDER else ""
                print(f"{_ten(self.logs[gram])}\t{' '.join(gram)}{weight}", file=file)
        print("\n\\end\\", file=file)


def grams_of(words: Sequence[str], vocabulary: Mapping[str, int]) -> list[Gram]:
    """All n-grams of a line, with its begin and its end."""
    said = [BEGIN, *(word if word in vocabulary else UNKNOWN for word in words), END]
    return [
        tuple(said[at : at + order])
        for order in range(1, ORDER + 1)
        for at in range(len(said) - order + 1)
        if not (order == 1 and at == 0)
    ]


def backoff_of(counts: Mapping[Gram, float], vocabulary: Iterable[str]) -> Backoff:
    """`vocabulary` are the words that may be said: each has a probability, seen or not."""
    model = Backoff()
    words = [*dict.fromkeys([*vocabulary, UNKNOWN, END])]
    singles = {word: max(counts.get((word,), 0.0), 0.0) + FLOOR for word in words}
    total = sum(singles.values())
    model.logs.update({(word,): math.log(count / total) for word, count in singles.items()})
    model.logs[(BEGIN,)] = -99 * math.log(10)  # never predicted
    for order in range(2, ORDER + 1):
        histories: dict[Gram, dict[str, float]] = {}
        for gram, count in counts.items():
            if len(gram) == order and count > 0 and all((word,) in model.logs for word in gram):
                histories.setdefault(gram[:-1], {})[gram[-1]] = count
        for history, following in histories.items():
            if history in model.logs:  # ARPA lists the history of every n-gram
                _add(model, history, following)
    return model


def _add(model: Backoff, history: Gram, following: Mapping[str, float]) -> None:
    whole, kinds = sum(following.values()), len(following)
    lower = {word: math.exp(model.log_probability((*history[1:], word))) for word in following}
    shares = {word: (count + kinds * lower[word]) / (whole + kinds) for word, count in following.items()}
    left, left_below = 1 - sum(shares.values()), 1 - sum(lower.values())
    model.logs |= {(*history, word): math.log(share) for word, share in shares.items()}
    model.weights[history] = math.log(max(left, 1e-12) / max(left_below, 1e-12))


def read_arpa(path: Path) -> Backoff:
    """A model that `Backoff.write` has written, its base-10 logarithms made natural; RunError where it is none."""
    model, order = Backoff(), 0
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.endswith("-grams:"):
                order = int(line[1])
            elif order and line and not line.startswith("\\"):
                share, gram, *weight = line.split("\t")
                model.logs[tuple(gram.split())] = float(share) * math.log(10)
                if weight and float(weight[0]):
                    model.weights[tuple(gram.split())] = float(weight[0]) * math.log(10)
        if not model.logs:
            raise ValueError("no n-gram")
    except (OSError, ValueError):
        raise RunError(f"{path}: not an ARPA model as train wrote it") from None
    return model


def _ten(natural: float) -> str:
    return f"{natural / math.log(10):.6f}"
