"""Who said it, by voice: released slices are compared with recordings of the people they may be from.

The attackers of `sottovoce evaluate voice` (`attacks/speaker_linkage.py`), each with every encoder at hand, on the slices
that were released. They have original recordings of each person, change their voices with the job's own method and draws
of their own, and learn from released slices of other people. A guess names one of the people who are enrolled; the worst
attacker, encoder and score is the headline, whichever wins most. The control names anybody. An encoder that the voice
was built or chosen with is none to attack with: it would hear what it was told to hide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import Attack, Design, Recordings, attacks
from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.material import Material, Missing
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials
from sottovoce.models.evaluation.metrics.verification import eer
from sottovoce.models.speech.speakers.plda import unit

FALSE_ALARMS = 0.001
TOLD_APART = 0.5  # of the originals, by the best encoder
DESIGN = Design(enrolled=3, tested=10, together=(1,))


class SpeakersByVoice:
    """Linkage by voice as an attack of the audit: the attackers of `evaluate voice`, with every encoder at hand."""

    criterion: ClassVar[Criterion] = "linkability"
    says = "has the release, recordings of the people in it and the method; tells by voice whose slice it is"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        voices = enough_voices(material)
        if isinstance(voices, NotMeasurable | NotApplicable):
            return {"stt_am": voices}
        tried = {
            name: max((by_voice(attack) for attack in attacks(recordings, DESIGN)), key=gain)
            for name, recordings in voices.items()
        }
        best = max(tried.values(), key=gain)
        each = {f"right by {name}": float(trials.hits.mean()) for name, trials in tried.items()}
        return {"stt_am": replace(best, more={**best.more, **each})}

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return invented_voices(rng, told=False)

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return invented_voices(rng, told=True)


def gain(trials: Trials) -> float:
    """Of several attackers the one with most of it is the headline."""
    return float(trials.hits.mean() - trials.control.mean())


def enough_voices(material: Material) -> dict[str, Recordings] | Missing:
    """Recordings by encoder; or why they prove nothing: too few people, or no encoder that tells the originals apart."""
    if isinstance(material.voices, NotMeasurable | NotApplicable):
        return material.voices
    people = min(_people(recordings) for recordings in material.voices.values())
    if people < MIN_PEOPLE:
        return NotMeasurable(f"at least {MIN_PEOPLE} people with recordings and slices; there are {people}")
    if (best := max(map(_told_apart, material.voices.values()))) < TOLD_APART:
        return NotMeasurable(f"an encoder that tells the originals apart; the best names {best:.2f} of them")
    return material.voices


def _told_apart(recordings: Recordings) -> float:
    """Of the originals that the attacker has, how many are nearest to another one of the same person: an encoder that hears
    nothing there would find the release safe whatever it is."""
    known = unit(recordings.original[recordings.enrolment])
    whose = recordings.speaker[recordings.enrolment]
    alike = known @ known.T
    np.fill_diagonal(alike, -np.inf)
    several = (whose[:, None] == whose[None]).sum(axis=1) > 1
    return float((whose[alike.argmax(axis=1)] == whose)[several].mean()) if several.any() else 0.0


def _people(recordings: Recordings) -> int:
    """Who has a recording that the attacker knows and one that it tries."""
    assert recordings.enrolment is not None
    known, tried = recordings.speaker[recordings.enrolment], recordings.speaker[~recordings.enrolment]
    return len(set(known) & set(tried))


def by_voice(attack: Attack, told: Mapping[str, float] | None = None) -> Trials:
    """Each slice names who scores highest; `told` are further figures."""
    scores = attack.scores
    count = len(scores)
    right = scores[np.arange(count), np.arange(count)]  # [people, trials]
    person, trial = np.nonzero(~np.isnan(right))
    against = scores[:, person, trial]  # [enrolled, guesses]
    compared = (~np.isnan(against)).sum(axis=0)
    best = np.nanmax(against, axis=0)
    hits = np.where(right[person, trial] >= best, 1 / (against == best).sum(axis=0), 0.0)
    each = np.bincount(person, weights=hits, minlength=count) / np.maximum(np.bincount(person, minlength=count), 1)
    more = {"worst-off person": float(each.max()), **_verified(scores), **(told or {})}
    return Trials(hits, 1 / compared, [str(place) for place in person], more)


def _verified(scores: np.ndarray) -> dict[str, float]:
    own = np.eye(len(scores), dtype=bool)
    mated, non_mated = scores[own].ravel(), scores[~own].ravel()
    mated, non_mated = mated[~np.isnan(mated)], non_mated[~np.isnan(non_mated)]
    threshold = np.sort(non_mated)[::-1][int(FALSE_ALARMS * len(non_mated))]
    return {"EER": eer(mated, non_mated), "hits at 1 false alarm in 1000": float((mated > threshold).mean())}


def invented_voices(rng: np.random.Generator, told: bool, count: int = 30, noise: float = 0.2) -> Material:
    """Vectors of thirty voices: what was made of them is theirs, or anybody's."""
    each, size = 7, 64
    voices = rng.normal(size=(count, size))
    owner = np.repeat(np.arange(count), each)
    original = voices[owner] + noise * rng.normal(size=(count * each, size))
    made = original if told else rng.normal(size=original.shape)
    enrolment = np.tile(np.arange(each) < DESIGN.enrolled, count)
    return Material((), voices={"invented": Recordings(owner.astype(str), original, made, enrolment)})
