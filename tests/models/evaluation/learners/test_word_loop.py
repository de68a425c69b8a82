"""The word loop finds the words whose phones were planted, whatever blanks and repetitions stand between."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sottovoce.models.evaluation.learners.word_loop import BLANK, WordLoop

WORDS = {"ab": (1, 2), "ba": (2, 1), "aa": (1, 1), "c": (3,)}
LOOP = WordLoop(list(WORDS.items()))


def frames(*labels: int, sure: float = 0.9) -> np.ndarray:
    out = np.full((len(labels), 4), (1 - sure) / 3)
    out[np.arange(len(labels)), labels] = sure
    return np.log(out)


@pytest.mark.parametrize(
    "labels, words",
    [
        ((1, 2), ("ab",)),
        ((1, 1, BLANK, 2, 2, BLANK), ("ab",)),
        ((1, BLANK, 1, 3), ("aa", "c")),
        ((BLANK, 3, 3, BLANK, 3, 1, 2), ("c", "c", "ab")),
        ((BLANK, BLANK), ()),
    ],
)
def test_planted_phones_are_read_as_their_words(labels, words) -> None:
    assert LOOP.decode(frames(*labels)) == words


def test_the_path_is_the_best_of_all_paths() -> None:
    """Against every labelling of five frames; ties and the one simplification (the best word end stands for all) aside."""
    rng, agreed = np.random.default_rng(0), 0
    for _ in range(20):
        scores = np.log(rng.dirichlet(np.full(4, 0.3), 5))
        best = max(itertools.product(range(4), repeat=5), key=lambda path: _worth(scores, path))
        agreed += " ".join(LOOP.decode(scores)) in _readings(best)
    assert agreed >= 18


def _readings(path: tuple[int, ...]) -> set[str]:
    """Ways to read the phones of a path as words; no repetition, no blank."""
    phones = tuple(label for label, _ in itertools.groupby(path) if label != BLANK)
    found = {(): [""]}
    for end in range(1, len(phones) + 1):
        for word, labels in WORDS.items():
            before = phones[: end - len(labels)] if end >= len(labels) else None
            if before in found and phones[end - len(labels) : end] == labels:
                found.setdefault(phones[:end], []).extend(f"{text} {word}".strip() for text in found[before])
    return set(found.get(phones, [])) if phones in found else set()


def _worth(scores: np.ndarray, path: tuple[int, ...]) -> float:
    readings = _readings(path)
    if not readings:
        return -np.inf
    words = min(len(text.split()) for text in readings)
    return float(scores[np.arange(len(path)), path].sum()) - words * np.log(len(WORDS))
