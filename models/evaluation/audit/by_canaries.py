"""What became of canary people (`canaries.py`): each stage of a run is asked whether it did its work on them tonight.

words  detection and replacement: does a planted value, or a word of it, stand in the released text? The control looks for
       a value of the same type that nobody said there: a surrogate may be right by chance.
sound  aligning, masking, listening again: is a planted name heard in the released speech? The control listens for another.
       How often it is heard in the originals is told beside it: an ear that hears nothing there proves nothing.
voice  whose of a few known voices is it, by the nearest mean of cepstra, each side centred on itself? Control: anybody's.
joined routing, cutting and unlinking: is a dialogue in two sinks, an utterance of twice the length of a slice in one piece,
       or are two ids of one dialogue alike?
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.material import Evidence, Material
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials

MIN_HEARD = 0.7  # of the names in the originals
SPEECH = "stt_am"
NO_SUCH_SINK = NotApplicable("the run has no sink of this kind")


class OfCanaries(ABC):
    """A subclass turns evidence into outcomes."""

    criterion: ClassVar[Criterion] = "inference"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        found = material.canaries
        if isinstance(found, NotMeasurable | NotApplicable):
            return {"canaries": found}
        return self.of(found)

    @abstractmethod
    def of(self, found: Evidence) -> dict[str, Outcome]:
        """What became of them, by where they were sent."""

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return Material((), canaries=_invented(rng, told=False))

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return Material((), canaries=_invented(rng, told=True))


class CanaryWords(OfCanaries):
    """Whether what canaries said and a detector should have found stands in the release in clear."""

    says = "has the release; reads planted names, places, numbers and addresses in it"
    max_risk: ClassVar[float] = 0.15

    def of(self, found: Evidence) -> dict[str, Outcome]:
        rows = found["words"]
        kinds = {
            "text sinks": [row for row in rows if row[0] != SPEECH],
            SPEECH: [row for row in rows if row[0] == SPEECH],
        }
        return {kind: _read(kinds[kind]) if kind in found["planted"] else NO_SUCH_SINK for kind in kinds}


def _read(rows: Sequence[Sequence[Any]]) -> Outcome:
    counts, missed = Counter(row[1] for row in rows), Counter(row[1] for row in rows if row[3])
    more = {f"recall of {kind}": 1 - missed[kind] / count for kind, count in sorted(counts.items())}
    more |= {f"n of {kind}": float(count) for kind, count in sorted(counts.items())}
    return enough([row[3] for row in rows], [row[4] for row in rows], [row[2] for row in rows], more)


class CanarySound(OfCanaries):
    """Whether a recogniser still hears the planted names in released speech."""

    says = "has the release and pocketsphinx; listens for planted names in its speech"
    max_risk: ClassVar[float] = 0.25

    def of(self, found: Evidence) -> dict[str, Outcome]:
        rows = found["sound"]
        if SPEECH not in found["planted"]:
            return {SPEECH: NO_SUCH_SINK}
        heard = float(np.mean([row[3] for row in rows])) if rows else 0.0
        if rows and heard < MIN_HEARD:
            return {
                SPEECH: NotMeasurable(f"an ear that hears the names in the originals; it hears {heard:.2f} of them")
            }
        more = {"heard in the originals": heard}
        return {SPEECH: enough([row[1] for row in rows], [row[2] for row in rows], [row[0] for row in rows], more)}


class CanaryVoices(OfCanaries):
    """Whether the voice of a canary is known again in the slices that were made of it."""

    criterion: ClassVar[Criterion] = "linkability"
    says = "has the release and recordings of the canaries' voices; tells which of them speaks"
    max_risk: ClassVar[float] = 0.5

    def of(self, found: Evidence) -> dict[str, Outcome]:
        rows = found["voice"]
        if SPEECH not in found["planted"]:
            return {SPEECH: NO_SUCH_SINK}
        voices = max(len({row[2] for row in rows}), 1)
        return {SPEECH: enough([row[1] for row in rows], [1 / voices] * len(rows), [row[0] for row in rows])}


class CanariesJoined(OfCanaries):
    """Whether records of one canary can be put together again, by what they share beside words and voice."""

    criterion: ClassVar[Criterion] = "linkability"
    says = "has the release; joins records of a canary by sinks, whole utterances and ids"

    def of(self, found: Evidence) -> dict[str, Outcome]:
        out: dict[str, Outcome] = {}
        for kind in ("in two sinks", "in one piece", "by ids"):
            rows = [row for row in found["joined"] if row[1] == kind]
            nobody = NotApplicable("no canary that this could happen to")
            out[kind] = (
                enough([row[2] for row in rows], [0.0] * len(rows), [row[0] for row in rows]) if rows else nobody
            )
        return out


def enough(
    hits: Sequence[float], control: Sequence[float], people: Sequence[str], more: dict[str, float] | None = None
) -> Outcome:
    """Trials of one entry a guess, unless they are about fewer than MIN_PEOPLE canaries: then NotMeasurable."""
    count = len(set(people))
    if count < MIN_PEOPLE:
        return NotMeasurable(
            f"at least {MIN_PEOPLE} canaries that were released; there are {count} (audit.canaries; for speech, flite)"
        )
    return Trials(np.array(hits, float), np.array(control, float), list(people), more or {})


def _invented(rng: np.random.Generator, told: bool) -> Evidence:
    """Forty people of each kind."""
    people = [str(number) for number in range(40)]
    return {
        "planted": {"text sinks": 40, SPEECH: 40},
        "words": [[sink, "PERSON", p, told, False] for sink in ("slu", SPEECH) for p in people],
        "sound": [[p, told, False, True] for p in people],
        "voice": [[p, told or bool(rng.integers(4) == 0), str(number % 4)] for number, p in enumerate(people)],
        "joined": [[p, kind, told] for kind in ("in two sinks", "in one piece", "by ids") for p in people],
    }
