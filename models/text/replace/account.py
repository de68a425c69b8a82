"""The ledger entry of a surrogate strategy: what holds for each type, each unit, and all units of a text or a person."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.text.replace.in_language import SAYS
from sottovoce.models.text.replace.mechanism import Response
from sottovoce.models.text.replace.private_counts import CountSettings
from sottovoce.models.text.replace.randomised_response import Composition, random_miss_epsilon

ALWAYS_REPLACED = ("EMAIL", "URL", "PHONE", "CARD", "IBAN", "ID", "CODE", "AMOUNT", "HEALTH")

NOT_PROTECTED = (
    "sensitive words that the detector missed: no figure here covers them",
    "that a unit was there, its place, its type and its letter case",
    "of dates and times their form, and of each number whether it can be an hour, a day, a minute or a year",
    "of numbers and codes their shape: length, signs, leading zeros, link words",
    "of places whether they are a city, a state, a country or an address, and of an address which parts it has",
    "everything outside the spans: the rest of the text stays as it was said",
)

StrategyOptions = TypeVar("StrategyOptions", bound=Any)  # a dataclass with the options recall and recall_on

_RAW = (
    "The surrogates are drawn from the exact counts of this corpus: a value that one person alone brought can be "
    "published, so epsilon is infinite, even at p = 1."
)


class Accounted(Protocol):
    """What the ledger needs to know of a strategy."""

    name: ClassVar[str]
    unit: ClassVar[str]
    says: ClassVar[str]
    p: float | None
    target_epsilon: float | None
    p_mode: Literal["uniform", "token"]
    mix: float
    keep_gender: bool
    values: Literal["public", "corpus", "corpus_raw"]
    units_per_utterance: int
    units_per_dialogue: int
    units_per_speaker: int
    delta: float
    recall: float | None
    recall_on: str
    bounds_units: ClassVar[bool]
    stays: ClassVar[str]
    not_protected: ClassVar[tuple[str, ...]]

    @property
    def counting(self) -> CountSettings | None:
        """How values are counted in the corpus; None where they come from public lists."""


def with_recall(strategy: StrategyOptions, detector: LedgerEntry | None) -> StrategyOptions:
    """The strategy, told the lowest recall that its detector was measured with: what is missed stays in the clear."""
    measured = detector.parameters.get("measured") if detector else None
    if not measured or strategy.recall is not None:
        return strategy
    name, row = min(measured.items(), key=lambda item: item[1]["recall"])
    return dataclasses.replace(strategy, recall=row["recall"], recall_on=name)


def ledger_entry(strategy: Accounted, responses: Mapping[str, Sequence[Response]]) -> LedgerEntry:
    """`responses`: by type, one for each list that the strategy may draw from."""
    every = [response for own in responses.values() for response in own]
    worst = max(response.epsilon for response in every)
    p, pi_min = _dominating(strategy, every, worst)
    raw = strategy.values == "corpus_raw"
    spent, spent_delta = strategy.counting.spent if strategy.counting else (0.0, 0.0)
    units = {
        "unit": 1,
        "utterance": strategy.units_per_utterance,
        "dialogue": strategy.units_per_dialogue,
        "speaker": strategy.units_per_speaker,
    }
    parameters: dict[str, Any] = {
        "p_mode": strategy.p_mode,
        "mix": strategy.mix,
        "values": strategy.values,
        "other_languages": SAYS,
        "keep_gender": strategy.keep_gender,
        "units": units,
        "types": {type_: _of_type(own, strategy) for type_, own in responses.items()}
        | {type_: {"p": 1.0, "epsilon_unit": 0.0, "list": "none: same shape"} for type_ in ALWAYS_REPLACED},
        "delta": strategy.delta + spent_delta,
        "epsilon_at_delta": {
            name: math.inf if raw else spent + Composition(p, pi_min, count).epsilon(strategy.delta)
            for name, count in units.items()
        },
    } | _of_detector(strategy, every)
    if spent:
        parameters |= {"epsilon_of_list": spent, "delta_of_list": spent_delta}
    sound = {name: math.inf if raw else spent + count * worst for name, count in units.items()}
    return LedgerEntry(
        stage="replace",
        mechanism=strategy.name,
        says=_in_words(strategy, worst),
        not_protected=NOT_PROTECTED + strategy.not_protected,
        parameters=parameters,
        adjacency=f"one detected {strategy.unit} takes another value of the same list (same type, same form, and for "
        f"listed given names the same gender if keep_gender); {strategy.stays} stay",
        assumptions=_assumptions(strategy),
        paper=None if raw else {"unit": worst},
        sound=sound,
        infinite_because=_RAW if raw else None,
    )


def _of_type(responses: Sequence[Response], strategy: Accounted) -> dict[str, float | str | None]:
    mean_p = min(response.mean_p for response in responses)
    if strategy.values != "public":
        return {"list": "counted in the corpus", "epsilon_unit": max(response.epsilon for response in responses)}
    return {
        "p": min(response.p if response.p_of is None else min(response.p_of.values()) for response in responses),
        "p_mean": mean_p,
        "pi_min": min(response.distribution.pi_min for response in responses),
        "epsilon_unit": max(response.epsilon for response in responses),
        "fraction_in_clear": None if strategy.recall is None else 1 - strategy.recall * mean_p,
    }


def _dominating(strategy: Accounted, responses: Sequence[Response], epsilon: float) -> tuple[float, float]:
    """(p, pi_min) whose trade-off curve lies above that of every list: the largest epsilon with the largest 1 - p.

    delta(e) = (1 - p) (1 - (e^e - 1) / (e^epsilon - 1)) grows in both. Where 1 - p is not one number (a p for each value,
    or a list that is counted later), any epsilon-DP unit is dominated at 1 - p = (e^epsilon - 1) / (e^epsilon + 1).
    """
    if epsilon == 0:
        return 1.0, 0.5
    if strategy.values == "public" and all(response.p_of is None for response in responses):
        kept = max(1 - response.p for response in responses)
    else:
        kept = math.tanh(epsilon / 2)
    return 1 - kept, kept / math.expm1(epsilon) / (1 - kept)


def _of_detector(strategy: Accounted, responses: Sequence[Response]) -> dict[str, Any]:
    """Recall is an average over a data set, not a privacy parameter: the epsilon that it would give is nominal."""
    if strategy.recall is None:
        return {"recall": "not stated", "fraction_in_clear": "not known: the recall of the detector is not stated"}
    mean_p = min(response.mean_p for response in responses)
    nominal = max(random_miss_epsilon(r.p, r.distribution.pi_min, strategy.recall) for r in responses)
    return {
        "recall": strategy.recall,
        "recall_on": strategy.recall_on or "not stated",
        "fraction_in_clear": 1 - strategy.recall * mean_p,
        "epsilon_random_miss_nominal": nominal,
    }


def _in_words(strategy: Accounted, epsilon: float) -> str:
    if strategy.values == "corpus_raw":
        return f"{strategy.says} {_RAW}"
    told = (
        "Whoever sees the output learns nothing of the value beyond what is released."
        if epsilon == 0
        else f"Whoever sees the output changes the odds between two values of a list by at most e^{epsilon:.4g} a unit."
    )
    counting = strategy.counting
    if counting is not None and counting.epsilon is not None:
        told += f" The lists are counted in this corpus with epsilon {counting.epsilon:g} per speaker."
    return f"{strategy.says} {told}"


def _assumptions(strategy: Accounted) -> tuple[str, ...]:
    held = "enforced: further units are always replaced" if strategy.bounds_units else "not enforced"
    lines = [
        "coins are independent: the secret of the run is not known to the reader",
        f"at most {strategy.units_per_utterance} units in an utterance ({held}), {strategy.units_per_dialogue} in a "
        f"dialogue and {strategy.units_per_speaker} of a speaker (not enforced); other numbers multiply in",
        "values outside the lists are always replaced",
    ]
    if strategy.values == "public":
        lines.append("the lists are public and do not depend on the corpus")
    elif strategy.values == "corpus":
        lines.append("a person has one speaker id; records without one count by dialogue")
        lines.append("each further run that counts the same speakers spends epsilon_of_list again")
    return tuple(lines)
