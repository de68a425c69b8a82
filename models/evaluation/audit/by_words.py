"""Who said it, by words: released texts that belong together are looked for by TF-IDF.

The attacker has the release and nothing else. For each text it names the one that is most like it, by the cosine of
TF-IDF vectors over words, pairs of words and short stretches of letters: what is said, and how it is written. The guess
is right if both are of one dialogue, or of one person in two dialogues. The control names any text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.material import Material, ReleasedText
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials

TARGETS_AT_ONCE = 256
ALIKE = 1e-6  # scores closer than this are one guess: equal texts, and texts that share nothing
NO_PAIR = "no two records of this kind belong together"


class _ByWords:
    criterion: ClassVar[Criterion] = "linkability"

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return invented_release(rng, own_words="nobody")

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return invented_release(rng, own_words="person")


class DialoguesByWords(_ByWords):
    says = "has the release; joins single records of one dialogue by their words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        def within(texts: list[ReleasedText]) -> Outcome:
            if all(text.whole_dialogue for text in texts):
                return NotApplicable("each record is a whole dialogue")
            groups = np.array([text.dialogue for text in texts])
            return linked(texts, groups, np.arange(len(texts)))

        return by_sink(material, within)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return invented_release(rng, own_words="dialogue")


class SpeakersByWords(_ByWords):
    says = "has the release; joins records of one person from different dialogues of a sink by their words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        def within(texts: list[ReleasedText]) -> Outcome:
            people = np.array([text.person for text in texts])
            return if_named(material, linked(texts, people, np.array([text.dialogue for text in texts])))

        return by_sink(material, within)


class SpeakersAcrossSinks(_ByWords):
    says = "has the release; joins records of one person in different sinks by their words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        if isinstance(material.texts, NotMeasurable | NotApplicable):
            return {"all sinks": material.texts}
        if len({text.sink for text in material.texts}) < 2:
            return {"all sinks": NotApplicable("the run has one sink")}
        texts = list(material.texts)
        people = np.array([text.person for text in texts])
        found = linked(texts, people, np.array([text.sink for text in texts]))
        return {"all sinks": if_named(material, found)}


def by_sink(material: Material, within: Any) -> dict[str, Outcome]:
    if isinstance(material.texts, NotMeasurable | NotApplicable):
        return {"all sinks": material.texts}
    sinks = dict.fromkeys((*material.sinks, *(text.sink for text in material.texts)))
    out: dict[str, Outcome] = {}
    for sink in sinks:
        texts = [text for text in material.texts if text.sink == sink]
        out[sink] = within(texts) if texts else NotApplicable("the sink holds no record that was sampled")
    return out


def if_named(material: Material, found: Outcome) -> Outcome:
    """Where nobody is found twice, either nobody is there twice or the corpus does not say who is who."""
    if isinstance(found, NotApplicable) and not material.named:
        return NotMeasurable("a corpus (--input) that says who speaks (speaker_id)")
    return found


def linked(texts: Sequence[ReleasedText], group: np.ndarray, apart: np.ndarray) -> Outcome:
    """Each text is to be joined with another of its `group`; what is equal in `apart` is not compared."""
    not_compared = _codes(group) * len(texts) + _codes(
        apart
    )  # those of the group that are not compared, itself included
    tried = np.flatnonzero(_of_own(group) > _of_own(not_compared))
    owners = np.array([text.person for text in texts])[tried]
    people = set(owners)
    if not len(tried):
        return NotApplicable(NO_PAIR)
    if len(people) < MIN_PEOPLE:
        return NotMeasurable(f"at least {MIN_PEOPLE} people whose records belong together; there are {len(people)}")
    vectors = vectors_of([text.text for text in texts])
    hits, control = np.zeros(len(tried)), np.zeros(len(tried))
    for begin in range(0, len(tried), TARGETS_AT_ONCE):
        rows = tried[begin : begin + TARGETS_AT_ONCE]
        allowed = apart[rows][:, None] != apart[None]
        right = (group[rows][:, None] == group[None]) & allowed
        hits[begin : begin + len(rows)] = best_guess((vectors[rows] @ vectors.T).toarray(), right, allowed)
        control[begin : begin + len(rows)] = right.sum(1) / allowed.sum(1)
    return Trials(hits, control, owners.tolist())


def _codes(names: np.ndarray) -> np.ndarray:
    return np.unique(names, return_inverse=True)[1]


def _of_own(names: np.ndarray) -> np.ndarray:
    """For each entry, how many are the same."""
    _, code, counts = np.unique(names, return_inverse=True, return_counts=True)
    return counts[code]


def best_guess(scores: np.ndarray, right: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """For each row, the share of right ones among the allowed that score highest."""
    scores = np.where(allowed, scores, -np.inf)
    best = (scores >= scores.max(axis=1, keepdims=True) - ALIKE) & allowed
    return (best & right).sum(1) / best.sum(1)


def vectors_of(texts: Sequence[str], fitted_on: Sequence[str] | None = None) -> Any:
    """TF-IDF rows of unit length: half of words and pairs of words, half of stretches of three letters."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    source = list(texts if fitted_on is None else fitted_on)
    kinds = ({"token_pattern": r"(?u)\S+", "ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (3, 3)})
    parts = []
    for options in kinds:
        learned = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **options)
        learned.fit(source if any(map(str.strip, source)) else ["-"])
        parts.append(learned.transform(texts) * np.sqrt(0.5, dtype=np.float32))
    return hstack(parts).tocsr()


def invented_release(rng: np.random.Generator, own_words: Literal["nobody", "person", "dialogue"]) -> Material:
    """Four dialogues for each of thirty people, two in each of two sinks, of three records each, from the same words; beside
    them, two that only this person, or this dialogue, uses."""
    words = [f"word{number}" for number in range(300)]
    texts = []
    for person in range(30):
        for dialogue in range(4):
            owner = {"nobody": None, "person": f"{person}", "dialogue": f"{person}of{dialogue}"}[own_words]
            own = [] if owner is None else [f"this{owner}", f"that{owner}"]
            for _ in range(3):
                sink = ("first", "second")[dialogue % 2]
                said = " ".join([*rng.choice(words, 6), *own])
                texts.append(ReleasedText(sink, said, f"p{person}", f"p{person} d{dialogue}"))
    return Material(texts, sinks=("first", "second"))
