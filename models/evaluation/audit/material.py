"""What an audit works on: the released records, what the attacker has besides, and the truth that only judges.

As sensitive as the corpus: it joins released records to people. It lives in memory while an audit runs, and is not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.models.evaluation.attacks.slice_linkage import TracedSlice
from sottovoce.models.evaluation.attacks.speaker_linkage import Recordings
from sottovoce.models.evaluation.audit.readers import TextReader, at_hand
from sottovoce.models.evaluation.audit.trials import NotApplicable, NotMeasurable


class _Hidden:
    """Nothing of it shows in a log or an error."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: sensitive>"


@dataclass(frozen=True, repr=False)
class ReleasedText(_Hidden):
    """The text of one released record, all turns of a dialogue together. `person` and `dialogue` are the truth."""

    sink: str
    text: str
    person: str
    dialogue: str
    whole_dialogue: bool = False  # the record is all that was released of the dialogue


@dataclass(frozen=True, repr=False)
class KnownText(_Hidden):
    """What the attacker knows in clear from elsewhere, and of whom. `dialogue` is None for a source of its own."""

    person: str
    text: str
    dialogue: str | None = None


@dataclass(frozen=True, repr=False)
class ReplacedValue(_Hidden):
    """A value that was replaced: what stands around it in the release, and the value itself, which is the truth."""

    sink: str
    person: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    value: str
    instead: tuple[str, ...] = ()  # what the release has there


@dataclass(frozen=True, repr=False)
class Traits(_Hidden):
    """What the corpus labels of people: {person: {trait: label}}; and what they said, in clear, to learn from."""

    of: Mapping[str, Mapping[str, str]]
    said: Sequence[KnownText]


@dataclass(frozen=True, repr=False)
class TrainedCanaries(_Hidden):
    """Of one measuring training: by how much each canary became likelier, whether it was trained on, and the gains of others
    of the same form that never were. `epsilon` (infinite for none) and `delta` are what was proved of that training."""

    scores: np.ndarray
    included: np.ndarray
    never: np.ndarray
    epsilon: float
    delta: float


@dataclass(frozen=True, repr=False)
class Membership(_Hidden):
    """What a model says of rows, half of which it was trained on, and what shadow models [models, rows] say of them; `seen` tells
    which of these were trained on a row. `unit` [rows]: whose row it is, where units go in or out as a whole."""

    target: np.ndarray
    member: np.ndarray
    shadows: np.ndarray
    seen: np.ndarray
    unit: np.ndarray


Missing = NotMeasurable | NotApplicable
Evidence = Mapping[str, Any]  # of canaries: what `pipelines/audit/planted.py` found, in counts and yes or no
NEEDS_CORPUS = NotMeasurable("the corpus (--input)")
NO_TRAINING = NotApplicable("no training was asked about (audit --training TRAIN.yaml)")
NO_TRAITS = NotApplicable("no traits of people are labelled (gender in the corpus; audit --traits)")
NEEDS_CANARIES = NotMeasurable(
    "canaries in the run: sanitize --audit, nightly and --then-train plant them (audit.canaries)"
)


@dataclass(frozen=True, repr=False)
class Material(_Hidden):
    """A part that is not at hand is told by its reason instead."""

    texts: Sequence[ReleasedText] | Missing
    known: Sequence[KnownText] | Missing = NEEDS_CORPUS
    gaps: Sequence[ReplacedValue] | Missing = NEEDS_CORPUS
    slices: Sequence[TracedSlice] | Missing = NEEDS_CORPUS
    voices: dict[str, Recordings] | Missing = NEEDS_CORPUS
    sinks: tuple[str, ...] = ()  # of the run, in its order
    canaries: Evidence | Missing = NEEDS_CANARIES
    named: bool = False  # whether it is known that the corpus tells its speakers apart
    training: TrainedCanaries | Missing = NO_TRAINING
    membership: Membership | Missing = NO_TRAINING
    traits: Traits | Missing = NO_TRAITS
    # what each row of `voices` says: in clear where the attacker knows it, else as released
    voice_texts: Sequence[str] = ()
    readers: Mapping[str, TextReader] = field(default_factory=lambda: at_hand(("tfidf", "stylometry")))
    read: dict[tuple[str, ...], Any] = field(default_factory=dict, compare=False)  # what readers made of the texts

    @classmethod
    def without(cls, why: Missing, sinks: tuple[str, ...]) -> Material:
        """Of a run that no attack can be tried on."""
        return cls(why, why, why, why, why, sinks, why, training=why, membership=why, traits=why)
