"""Crowd release: a template goes out only if enough different speakers said it, under differential privacy for the speaker.

An utterance becomes a template (`template.py`). What is released is which templates there are, with noisy counts of their
speakers; their gaps are filled from public lists and from slot values that were counted in the same way (`fill.py`).

Theorem. Let a speaker be all records under one speaker id (where there is none: of one dialogue). Let count r (a rung of the
ladder, or the values of slots) have K_r, epsilon_r, delta_r, with sums epsilon and delta. Then all records of all sinks
together are (epsilon, delta)-differentially private for adding or removing a speaker with everything they said.

Proof. (1) Whether and how an utterance becomes a template depends on that utterance and on public lists alone, and which
templates of a speaker are counted on their own templates and the secret alone: at most K_r different pairs of (sink,
template), chosen by a keyed hash, over all sinks together. So adding or removing a speaker changes at most K_r counts of
count r, each by 1, and no other count. (2) Counts that are zero without the speaker stay below the threshold, all of them
together, but for a probability of delta_r (`private_counts.py`: the union over K_r for Laplace; for Gaussian half of
delta_r pays for that, by independence, and half for the noise). On the counts that others share the noise gives epsilon_r
(L1 sensitivity K_r for Laplace, L2 sensitivity sqrt(K_r) for Gaussian), and comparing with the threshold and rounding are
functions of the noisy count. So count r is (epsilon_r, delta_r)-DP. (3) Which utterances take part in a count depends on
what was released by the counts before it: that is adaptive composition, and the parameters add up. (4) Copies, fillings, ids,
order and shards are functions of what was released, of public lists and of keyed draws that depend on nobody: post-processing.
Routing a dialogue to a sink is a keyed coin of the dialogue alone. QED.

Everything else in the folder that is handed on follows from the job and from these records: exact counts of what was read,
refused and missed, and the times of the stages, stay in private state, and the number of shards does not depend on the corpus
(`models/runs/committed_run.py`, `tests/adversary/test_crowd_neighbours.py`).

What it needs: a person has one speaker id; the secret is not known to the reader (noise is keyed); noise is drawn in double
precision and rounded to whole counts. What it leaves out: that a run was committed at all, and when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Source, Utterance
from sottovoce.models.settings import require
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.private_counts import CountSettings, quieter_noise, threshold_of
from sottovoce.models.text.replace.public_lists import public_lists
from sottovoce.models.text.rewrite import Count, ReleasesTemplates
from sottovoce.models.text.rewrite import template as templates
from sottovoce.models.text.rewrite.fill import Filler
from sottovoce.models.text.rewrite.template import Rung

VALUES = "values"
RUNGS = get_args(Rung)
# A skeleton is no sentence: it teaches what somebody wants, and would spoil a model of how people talk.
WITHOUT_SKELETONS = ("stt_lm", "stt_am")
SINGLE = ("stt_lm", "slu")

NOT_PROTECTED = (
    "what a crowd has in common: a template that many said goes out, with about how many said it",
    "that there was a run at all: one whose corpus is empty, or of which limits.max_failures refuses too much, commits nothing",
    "a person with several speaker ids: each of them is protected as one",
    "the corpus against whoever holds the secret of the run: the noise can be drawn again with it",
)


@dataclass
class Crowd(ReleasesTemplates):
    """`epsilon` and `delta` are for one speaker and everything they said, over all sinks of the run.

    `ladder` says which share of both each count gets; a rung with no share is left out. `noise: auto` takes for each count
    the kind with the lower threshold, which depends on the options alone.
    """

    epsilon: float = 4.0
    delta: float = 1e-6
    templates_per_speaker: int = 4
    values_per_speaker: int = 2
    noise: Literal["auto", "laplace", "gaussian"] = "auto"
    ladder: dict[str, float] = field(default_factory=lambda: {"full": 0.8, VALUES: 0.2})
    copies: int = 1000  # of one template at most: more of the same teach nobody

    def __post_init__(self) -> None:
        known = (*RUNGS, VALUES)
        unknown = [name for name in self.ladder if name not in known]
        require(
            (0 < self.epsilon <= 50, f"epsilon: {self.epsilon:g} must lie in (0, 50]"),
            (0 < self.delta < 0.1, f"delta: {self.delta:g} must lie between 0 and 0.1"),
            (self.templates_per_speaker >= 1, "templates_per_speaker: must be at least 1"),
            (self.values_per_speaker >= 1, "values_per_speaker: must be at least 1"),
            (self.copies >= 1, "copies: must be at least 1"),
            (not unknown, f"ladder: {', '.join(unknown)} unknown; allowed: {', '.join(known)}"),
            (all(share >= 0 for share in self.ladder.values()), "ladder: a share must not be negative"),
            (any(self.ladder.get(rung, 0) > 0 for rung in RUNGS), f"ladder: one of {', '.join(RUNGS)} needs a share"),
        )

    def setup(self) -> None:
        public_lists()
        templates.common_words()

    @property
    def spent(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    @property
    def of_values(self) -> Count | None:
        return self._count(VALUES, self.values_per_speaker) if self.ladder.get(VALUES) else None

    def rungs(self) -> list[Count]:
        return [self._count(rung, self.templates_per_speaker) for rung in RUNGS if self.ladder.get(rung)]

    def _count(self, name: str, limit: int) -> Count:
        share = self.ladder[name] / sum(self.ladder.values())
        epsilon, delta = share * self.epsilon, share * self.delta
        noise = quieter_noise(epsilon, delta, limit) if self.noise == "auto" else self.noise
        return Count(name, CountSettings(epsilon, delta, noise, limit))

    def templates(self, utterance: Utterance, sink: str) -> dict[str, str]:
        pieces = templates.pieces_of(utterance)
        intent = (
            utterance.intent if sink == "slu" else None
        )  # a label that the sink does not release must not part a crowd
        own = [
            rung for rung in RUNGS if self.ladder.get(rung) and (rung != "skeleton" or sink not in WITHOUT_SKELETONS)
        ]
        made = {rung: templates.on_rung(pieces, rung) for rung in own}
        return {rung: templates.to_key(kept, intent, utterance.language) for rung, kept in made.items() if kept}

    def values(self, utterance: Utterance) -> list[tuple[str, str]]:
        return sorted(set(templates.values_of(utterance)))

    def fill(self, template: str, values: Mapping[str, Mapping[str, float]], draws: Draws) -> Utterance | None:
        pieces, intent, language = templates.from_key(template)
        text, slots = self._filler(values).fill(pieces, draws)
        if not text:
            return None
        return Utterance("", "", 0, text, Source("", 0), language=language, intent=intent, slots=slots)

    def _filler(self, values: Mapping[str, Mapping[str, float]]) -> Filler:
        known: tuple[int, Filler] | None = self.__dict__.get("_known")
        if known is None or known[0] != id(values):
            known = self.__dict__["_known"] = (id(values), Filler(values))
        return known[1]

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
        counts = [*self.rungs(), *([self.of_values] if self.of_values else [])]
        lowest = min(threshold_of(count.settings) for count in self.rungs())
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
            ),
            sound=dict.fromkeys(("utterance", "dialogue", "speaker"), self.epsilon),
        )
