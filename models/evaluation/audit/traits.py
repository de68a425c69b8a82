"""Traits of people from single records (COMPRISE D2.3, section 4.3.3): gender, age group, accent, as far as they are labelled.

The attacker has records of half of the people with the trait of each, as they were said or as they were released (both are
tried, and told), learns a logistic regression on TF-IDF or on the embeddings of a speaker encoder, and names the trait of
each record of the other half; then the halves change places. The control names the commonest trait of those it learnt from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.by_voice import invented_voices
from sottovoce.models.evaluation.audit.by_words import invented_release
from sottovoce.models.evaluation.audit.material import KnownText, Material, Traits
from sottovoce.models.evaluation.audit.readers.tfidf import Tfidf
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials

AT_LEAST = 5  # people of a trait
# Invented for calibration: a coin tossed for each record of 30 people strays further than an attacker who is fit may.
INVENTED_PEOPLE = 120
Features = dict[str, tuple[Any, np.ndarray]]  # by how they were come by: rows to learn from, and whose each is
Learnt = Callable[[Any], np.ndarray]


class TraitsByWords:
    """Inference of a labelled trait from the words of one record, by a classifier trained on other people."""

    criterion: ClassVar[Criterion] = "inference"
    says = "has the release, and texts of other people whose traits it knows; tells gender, age group or accent of a record"
    max_risk: ClassVar[float] = 0.3

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        if isinstance(material.traits, NotMeasurable | NotApplicable):
            return {"all sinks": material.traits}
        if isinstance(material.texts, NotMeasurable | NotApplicable):
            return {"all sinks": material.texts}
        out: dict[str, Outcome] = {}
        for sink in dict.fromkeys(text.sink for text in material.texts):
            own = [text for text in material.texts if text.sink == sink]
            said = [text for text in material.traits.said if text.person in {one.person for one in own}]
            vectors = Tfidf().read([*(text.text for text in own), *(text.text for text in said)])
            people, clear = np.array([text.person for text in own]), np.array([text.person for text in said])
            learnt = {"the release": (vectors[: len(own)], people), "originals": (vectors[len(own) :], clear)}
            out |= _each(material.traits, learnt, sink)
        return out or {"all sinks": NotApplicable("no record was sampled")}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _with_traits(invented_release(rng, "nobody", INVENTED_PEOPLE), rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _with_traits(invented_release(rng, "nobody", INVENTED_PEOPLE), rng, told=True)


class TraitsByVoice:
    """Inference of a labelled trait from the voice of one slice, by a classifier trained on other people."""

    criterion: ClassVar[Criterion] = "inference"
    says = "has the release, and recordings of other people whose traits it knows; tells gender, age group or accent of a slice"
    max_risk: ClassVar[float] = 0.3

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        for part in (material.voices, material.traits):
            if isinstance(part, NotMeasurable | NotApplicable):
                return {"stt_am": part}
        assert isinstance(material.voices, dict) and isinstance(material.traits, Traits)
        found: dict[str, list[Outcome]] = {}
        for recordings in material.voices.values():
            assert recordings.enrolment is not None
            known, tried = recordings.enrolment, ~recordings.enrolment
            learnt = {
                "the release": (recordings.anonymised[tried], recordings.speaker[tried]),
                "originals": (recordings.original[known], recordings.speaker[known]),
            }
            for where, outcome in _each(material.traits, learnt, "stt_am").items():
                found.setdefault(where, []).append(outcome)
        return {where: max(outcomes, key=_gain) for where, outcomes in found.items()}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _spoken(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _spoken(rng, told=True)


def _gain(outcome: Outcome) -> float:
    return float((outcome.hits - outcome.control).mean()) if isinstance(outcome, Trials) else -np.inf


def _each(traits: Traits, learnt: Features, sink: str) -> dict[str, Outcome]:
    out = {}
    for trait in sorted({trait for own in traits.of.values() for trait in own}):
        labels = {person: own[trait] for person, own in traits.of.items() if trait in own}
        out[f"{trait} in {sink}"] = _told(labels, learnt)
    return out


def _told(labels: dict[str, str], learnt: Features) -> Outcome:
    """What is tried are the rows of "the release"."""
    rows, people = learnt["the release"]
    there = sorted(set(people.tolist()) & set(labels))
    counts = {label: sum(labels[person] == label for person in there) for label in set(labels.values())}
    if len(there) < MIN_PEOPLE:
        return NotMeasurable(f"at least {MIN_PEOPLE} people with this trait labelled; there are {len(there)}")
    if sum(count >= AT_LEAST for count in counts.values()) < 2:
        return NotApplicable(f"fewer than two kinds have {AT_LEAST} people each")
    order = sorted(there, key=lambda person: (labels[person], person))  # so that both halves have all kinds
    half = {person: place % 2 for place, person in enumerate(order)}
    tried = np.flatnonzero(np.isin(people, there))
    truth, fold = (np.array([of[person] for person in people[tried]]) for of in (labels, half))
    control = np.zeros(len(tried))
    hits = {name: np.zeros(len(tried)) for name in learnt}
    for side in (0, 1):
        taught = {person: labels[person] for person in there if half[person] != side}
        own = fold == side
        commonest = max(sorted(set(taught.values())), key=lambda label: sum(x == label for x in taught.values()))
        control[own] = truth[own] == commonest
        for name, (known, whose) in learnt.items():
            answer = _learn(known, whose, taught)
            hits[name][own] = answer(rows[tried[own]]) == truth[own]
    best = max(hits, key=lambda name: float(hits[name].mean()))
    more = {f"right, learnt on {name}": float(values.mean()) for name, values in hits.items()}
    return Trials(hits[best], control, people[tried].tolist(), more)


def _learn(rows: Any, whose: np.ndarray, labels: dict[str, str]) -> Learnt:
    from sklearn.linear_model import LogisticRegression

    known = np.flatnonzero(np.isin(whose, sorted(labels)))
    truth = [labels[person] for person in whose[known]]
    if len(set(truth)) < 2:
        return lambda tried: np.full(tried.shape[0], truth[0] if truth else "")
    return LogisticRegression(C=10.0, max_iter=300).fit(rows[known], truth).predict


def _with_traits(release: Material, rng: np.random.Generator, told: bool) -> Material:
    """Half of the people say a word of their kind in every record, or nobody does."""
    assert not isinstance(release.texts, NotMeasurable | NotApplicable)
    people = sorted({text.person for text in release.texts})
    kinds = {
        person: {"gender": ("f", "m")[int(place)]}
        for place, person in zip(rng.permutation(len(people)) % 2, people, strict=True)
    }
    word = {person: f" kind{own['gender']}" if told else "" for person, own in kinds.items()}
    texts = [type(t)(t.sink, t.text + word[t.person], t.person, t.dialogue) for t in release.texts]
    return Material(texts, sinks=release.sinks, traits=Traits(kinds, [KnownText(t.person, t.text) for t in texts]))


def _spoken(rng: np.random.Generator, told: bool) -> Material:
    release = invented_voices(rng, told, count=INVENTED_PEOPLE)
    assert isinstance(release.voices, dict)
    recordings = release.voices["invented"]
    kinds: dict[str, dict[str, str]] = {}
    for person in dict.fromkeys(recordings.speaker.tolist()):
        kinds[person] = {"gender": ("f", "m")[int(person) % 2]}
    louder = np.array([kinds[person]["gender"] == "f" for person in recordings.speaker])[:, None] * 3.0
    recordings.original[:, :4] += louder
    if told:
        recordings.anonymised[:, :4] = recordings.original[:, :4]
    return Material((), voices=release.voices, traits=Traits(kinds, ()))


def traits_of(people: Sequence[tuple[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    """Of each person what all of their labels agree on."""
    found: dict[str, dict[str, str]] = {}
    mixed: set[tuple[str, str]] = set()
    for person, labels in people:
        own = found.setdefault(person, {})
        for trait, label in labels.items():
            if own.setdefault(trait, label) != label:
                mixed.add((person, trait))
    for person, trait in mixed:
        del found[person][trait]
    return {person: own for person, own in found.items() if own}
