"""Who said it, by words: released texts that belong together are looked for.

The attacker has the release and nothing else. For each text it names the one that is most like it, by every reader at hand
(`readers`): TF-IDF, what is said and how it is written; stylometry; MiniLM, what is meant. The reader who wins most is the
headline, and what each reached is told. The guess is right if both are of one dialogue, or of one person in two dialogues. The
control names any text.
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
    """Linkage inside a dialogue: of each record, is the nearest one in words from the same dialogue?"""

    says = "has the release; joins single records of one dialogue by their words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        def within(texts: list[ReleasedText]) -> Outcome:
            if all(text.whole_dialogue for text in texts):
                return NotApplicable("each record is a whole dialogue")
            groups = np.array([text.dialogue for text in texts])
            return linked(material, texts, groups, np.arange(len(texts)))

        return by_sink(material, within)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return invented_release(rng, own_words="dialogue")


class SpeakersByWords(_ByWords):
    """Linkage of a person between dialogues of one sink: is the nearest record of another dialogue theirs?"""

    says = "has the release; joins records of one person from different dialogues of a sink by their words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        def within(texts: list[ReleasedText]) -> Outcome:
            people = np.array([text.person for text in texts])
            apart = np.array([text.dialogue for text in texts])
            return if_named(material, linked(material, texts, people, apart))

        return by_sink(material, within)


class SpeakersAcrossSinks(_ByWords):
    """Linkage of a person between sinks, which share no dialogue: is the nearest record of the other sink theirs?"""

    says = "has the release; joins records of one person in different sinks by their words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        if isinstance(material.texts, NotMeasurable | NotApplicable):
            return {"all sinks": material.texts}
        if len({text.sink for text in material.texts}) < 2:
            return {"all sinks": NotApplicable("the run has one sink")}
        texts = list(material.texts)
        people = np.array([text.person for text in texts])
        found = linked(material, texts, people, np.array([text.sink for text in texts]))
        return {"all sinks": if_named(material, found)}


def by_sink(material: Material, within: Any) -> dict[str, Outcome]:
    """What `within` finds among the texts of each sink; a sink of the run with no text in the sample is NotMeasurable."""
    if isinstance(material.texts, NotMeasurable | NotApplicable):
        return {"all sinks": material.texts}
    sinks = dict.fromkeys((*material.sinks, *(text.sink for text in material.texts)))
    out: dict[str, Outcome] = {}
    for sink in sinks:
        texts = [text for text in material.texts if text.sink == sink]
        out[sink] = within(texts) if texts else NotMeasurable("records of the sink among those sampled (--full)")
    return out


def if_named(material: Material, found: Outcome) -> Outcome:
    """Where nobody is found twice, either nobody is there twice or the corpus does not say who is who."""
    if isinstance(found, NotApplicable) and not material.named:
        return NotMeasurable("a corpus (--input) that says who speaks (speaker_id)")
    return found


def linked(material: Material, texts: Sequence[ReleasedText], group: np.ndarray, apart: np.ndarray) -> Outcome:
    """Each text is to be joined with another of its `group`; what is equal in `apart` is not compared."""
    # those of the group that are not compared, itself included
    not_compared = _codes(group) * len(texts) + _codes(apart)
    tried = np.flatnonzero(_of_own(group) > _of_own(not_compared))
    owners = np.array([text.person for text in texts])[tried]
    people = set(owners)
    if not len(tried):
        return NotApplicable(NO_PAIR)
    if len(people) < MIN_PEOPLE:
        return NotMeasurable(f"at least {MIN_PEOPLE} people whose records belong together; there are {len(people)}")
    found = {name: np.zeros(len(tried)) for name in material.readers}
    control = np.zeros(len(tried))
    for begin in range(0, len(tried), TARGETS_AT_ONCE):
        rows, here = tried[begin : begin + TARGETS_AT_ONCE], slice(begin, begin + TARGETS_AT_ONCE)
        allowed = apart[rows][:, None] != apart[None]
        right = (group[rows][:, None] == group[None]) & allowed
        for name in found:
            found[name][here] = best_guess(products(_read(material, name, texts), rows), right, allowed)
        control[here] = right.sum(1) / allowed.sum(1)
    best = max(found, key=lambda name: float(found[name].mean()))
    more = {f"right by {name}": float(hits.mean()) for name, hits in found.items()} if len(found) > 1 else {}
    return Trials(found[best], control, owners.tolist(), more)


def _read(material: Material, reader: str, texts: Sequence[ReleasedText]) -> Any:
    """Kept with the material: several attacks look at the same texts."""
    key = (reader, *dict.fromkeys(text.sink for text in texts))
    if key not in material.read:
        material.read[key] = material.readers[reader].read([text.text for text in texts])
    return material.read[key]


def products(vectors: Any, rows: np.ndarray) -> np.ndarray:
    """How alike these rows are to all, of a dense or a sparse matrix."""
    found = vectors[rows] @ vectors.T
    return found if isinstance(found, np.ndarray) else found.toarray()


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


def invented_release(
    rng: np.random.Generator, own_words: Literal["nobody", "person", "dialogue"], people: int = 30
) -> Material:
    """Four dialogues for each of so many people, two in each of two sinks, of three records each, from the same words; beside
    them, two that only this person, or this dialogue, uses."""
    words = [f"word{number}" for number in range(300)]
    texts = []
    for person in range(people):
        for dialogue in range(4):
            owner = {"nobody": None, "person": f"{person}", "dialogue": f"{person}of{dialogue}"}[own_words]
            own = [] if owner is None else [f"this{owner}", f"that{owner}"]
            for _ in range(3):
                sink = ("first", "second")[dialogue % 2]
                said = " ".join([*rng.choice(words, 6), *own])
                texts.append(ReleasedText(sink, said, f"p{person}", f"p{person} d{dialogue}"))
    return Material(texts, sinks=("first", "second"))
