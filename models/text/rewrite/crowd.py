"""Crowd release: a template goes out only if enough different speakers said it, under differential privacy for the speaker.

An utterance becomes a template (`template.py`). What is released is which templates there are, with noisy counts of their
speakers; their gaps are filled from public lists and from slot values that were counted in the same way, and single words are
said together with others of their intent that were released (`fill.py`).

Theorem. Let a speaker be all records under one speaker id (where there is none: of one dialogue). Then all records of all sinks
together are (epsilon, delta)-differentially private for adding or removing a speaker with everything they said.

Proof. (1) Which template, values and words an utterance may add to a count depends on that utterance, its speaker id and public
lists alone (detectors are given each text by itself), and a keyed hash chooses one for each count. Of all that a speaker said in
all sinks a keyed hash chooses K utterances of different sorts (`full` templates), which depends on what they said alone. So the
speaker brings at most K utterances, which add at most one thing to each count, and a thing that several of them add counts once.
(2) These utterances
go down one ladder, in all sinks together (sink and rung are part of the thing that is counted): the theorem of `ladder.py` for
Laplace noise. For Gaussian noise count r has shares epsilon_r and delta_r: a speaker changes at most K counts by 1, L2
sensitivity sqrt(K); half of delta_r pays for the noise and half, by independence, for things that nobody else says
(`private_counts.py`); and who takes part in a count depends on what was released before it: adaptive composition, the shares
add up. (3) Copies, fillings, ids, order and shards are functions of what was released, of public lists and of keyed draws that
depend on nobody: post-processing. Routing a dialogue to a sink is a keyed coin of the dialogue alone. QED.

Everything else in the folder that is handed on follows from the job and from these records: exact counts of what was read,
refused and missed, and the times of the stages, stay in private state, and the number of shards does not depend on the corpus
(`models/runs/committed_run.py`, `tests/adversary/test_crowd_neighbours.py`).

What it needs: a person has one speaker id; the secret is not known to the reader (noise is keyed); noise is drawn in double
precision and rounded to whole counts. What it leaves out: that a run was committed at all, and when.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Source, Utterance
from sottovoce.models.settings import require
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.private_counts import Pair, threshold_of
from sottovoce.models.text.replace.public_lists import public_lists
from sottovoce.models.text.rewrite import Count, ReleasesTemplates
from sottovoce.models.text.rewrite import template as templates
from sottovoce.models.text.rewrite.fill import Filler
from sottovoce.models.text.rewrite.ladder import Noise, counts_of
from sottovoce.models.text.rewrite.release import PARTS, VALUES, WORDS
from sottovoce.models.text.rewrite.template import Rung

RUNGS = get_args(Rung)
ORDER = ("said", "full", "common", "skeleton", PARTS)
# A skeleton and single words are no sentence: they teach what somebody wants, and would spoil a model of how people talk.
ONLY_SENTENCES = ("stt_lm", "stt_am")
SINGLE = ("stt_lm", "slu")

NOT_PROTECTED = (
    "what a crowd has in common: a template that many said goes out, with about how many said it",
    "that there was a run at all: one whose corpus is empty, or of which limits.max_failures refuses too much, commits nothing",
    "a person with several speaker ids: each of them is protected as one",
    "several people at once: k speakers, of one dialogue or of one household, cost k epsilon",
    "the corpus against whoever holds the secret of the run: the noise can be drawn again with it",
)


@dataclass
class Crowd(ReleasesTemplates):
    """`epsilon` and `delta` are for one speaker and everything they said, over all sinks of the run.

    `ladder` says which share of delta (and of the price of silence, `ladder.py`) each count gets; one without a share is left
    out. `noise: auto` takes the kind with the lower thresholds, which depends on the options alone.
    """

    epsilon: float = 4.0
    delta: float = 1e-6
    utterances_per_speaker: int = 4
    noise: Noise = "auto"
    ladder: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("said", "full", PARTS), 1.0))
    copies: int = 1000  # of one template at most: more of the same teach nobody
    _known: tuple[Mapping[str, Mapping[str, float]], Filler] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        unknown = [name for name in self.ladder if name not in ORDER]
        require(
            (0 < self.epsilon <= 50, f"epsilon: {self.epsilon:g} must lie in (0, 50]"),
            (0 < self.delta < 0.1, f"delta: {self.delta:g} must lie between 0 and 0.1"),
            (self.epsilon >= 2 * self.delta, f"delta: {self.delta:g} must be at most half of epsilon"),
            (self.utterances_per_speaker >= 1, "utterances_per_speaker: must be at least 1"),
            (self.copies >= 1, "copies: must be at least 1"),
            (not unknown, f"ladder: {', '.join(unknown)} unknown; allowed: {', '.join(ORDER)}"),
            (
                all(0 <= share < math.inf for share in self.ladder.values()),
                "ladder: a share must be a number from 0 on",
            ),
            (any(self.ladder.get(rung, 0) > 0 for rung in RUNGS), f"ladder: one of {', '.join(RUNGS)} needs a share"),
        )

    def setup(self) -> None:
        public_lists()
        templates.common_words()

    @property
    def spent(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    def counts(self) -> list[Count]:
        return counts_of(self.ladder, ORDER, self.epsilon, self.delta, self.utterances_per_speaker, self.noise)

    def adds(self, utterance: Utterance, sink: str) -> dict[str, list[Pair]]:
        intent = (
            utterance.intent if sink == "slu" else None
        )  # a label that the sink does not release must not part a crowd
        found: dict[str, list[Pair]] = {}
        for name in (name for name in ORDER if self.ladder.get(name)):
            if name == PARTS:
                found[name] = self._parts(utterance, sink, intent)
            elif name == "skeleton" and sink in ONLY_SENTENCES:
                continue
            else:
                kept = templates.on_rung(templates.pieces_of(utterance, as_said=name == "said"), name)
                found[name] = [(f"{name}/{sink}", templates.to_key(kept, intent, utterance.language))] if kept else []
        return {name: pairs for name, pairs in found.items() if pairs}

    def _parts(self, utterance: Utterance, sink: str, intent: str | None) -> list[Pair]:
        values = [(f"{VALUES}/{slot}", value) for slot, value in sorted(set(templates.values_of(utterance)))]
        if sink in ONLY_SENTENCES:
            return values
        words = templates.words_of(templates.pieces_of(utterance))
        return values + [(f"{WORDS}/{sink}", templates.to_key([word], intent, utterance.language)) for word in words]

    def sort_of(self, utterance: Utterance, sink: str) -> str:
        return templates.to_key(
            templates.pieces_of(utterance), utterance.intent if sink == "slu" else None, utterance.language
        )

    def fill(self, template: Pair, values: Mapping[str, Mapping[str, float]], draws: Draws) -> Utterance | None:
        pieces, intent, language = templates.from_key(template[1])
        if template[0].startswith(f"{WORDS}/"):
            pieces = [self._filler(values).together(str(pieces[0]), templates.to_key((), intent, language), draws)]
        text, slots = self._filler(values).fill(pieces, draws, language, any_words=template[0].endswith("/slu"))
        if not text:
            return None
        return Utterance("", "", 0, text, Source("", 0), language=language, intent=intent, slots=slots)

    def _filler(self, values: Mapping[str, Mapping[str, float]]) -> Filler:
        if self._known is None or self._known[0] is not values:
            self._known = (values, Filler(values))
        return self._known[1]

    def serves(self, sink: str, from_text: bool) -> str | None:
        if sink in SINGLE or (sink == "stt_am" and from_text):
            return None
        if sink == "stt_am":
            return "speech says the words that were said; crowd serves it only with voice: {use: phonetic, from_text: true}"
        return f"crowd releases single utterances; allowed: {', '.join(SINGLE)}"

    def released(self, sinks: Sequence[str]) -> tuple[str, ...]:
        return (
            "of the texts of "
            + ", ".join(sinks)
            + ": nothing. Which templates there are, and how many of each, is noisy",
        )

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        counts = self.counts()
        lowest = min(threshold_of(count.settings) for count in counts)
        return LedgerEntry(
            stage="rewrite",
            mechanism="crowd",
            says=f"Only templates that enough different speakers said were released, with noisy counts, and their gaps were "
            f"filled by draws. Whoever reads the texts changes the odds of whether a person is in the corpus at all, with "
            f"everything they said, by at most e^{self.epsilon:g}, but for a chance of {self.delta:g}. A template of fewer "
            f"than about {lowest:.0f} speakers rarely goes out; a name that no detector found makes its template rare.",
            not_protected=NOT_PROTECTED,
            parameters={
                "epsilon": self.epsilon,
                "delta": self.delta,
                "unit": "speaker; a record without a speaker id counts for its dialogue, which is then what is protected",
                "counts": {
                    count.name: {
                        "epsilon": count.settings.epsilon,
                        "silence": count.settings.silence,
                        "delta": count.settings.delta,
                        "noise": count.settings.noise,
                        "per_speaker": count.settings.values_per_speaker,
                        "threshold": threshold_of(count.settings),
                    }
                    for count in counts
                },
            },
            adjacency="a speaker is added or removed, with everything they said in any sink of the run",
            assumptions=(
                "a person has one speaker id; records without one are protected by dialogue",
                "the secret of the run is not known to the reader: noise and choices are keyed by it",
                "a second run over the same people adds its own epsilon: nights add up in the cumulative ledger",
                "a dialogue comes whole in one run: of one that was taken before, nobody's later turns are counted",
            ),
            # Of no smaller unit: whoever takes back a part of what they said is counted with other utterances instead,
            # which is one speaker removed and one added, and a dialogue has several speakers.
            sound={"speaker": self.epsilon},
        )
