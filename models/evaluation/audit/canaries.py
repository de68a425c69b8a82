"""Canary people: invented speakers with known names, places, numbers and voices, who go through a run beside everybody else.

What became of them is known for certain, so they tell tonight's recall by type and the masks that failed, on tonight's
machine with tonight's job. They are drawn with the secret of the run, and nothing of them is in what is committed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.models.randomness import Secret
from sottovoce.models.records import CANARY, Source, Utterance

_FIRST = """margaret benjamin elizabeth alexander christopher katherine victoria frederick dominic gabriella jonathan
penelope theodore rosalind sebastian valentina"""
_LAST = """abernathy blackwood carmichael dunleavy ellington fairbanks gallagher hathaway ingersoll jamieson kirkpatrick
lindqvist macallister northcott oppenheim pemberton"""
_CITIES = "liverpool baltimore edinburgh philadelphia sacramento birmingham melbourne nashville"
_MONTHS = "january february march april may june july august september october november december"
FIRST, LAST, CITIES, MONTHS = _FIRST.split(), _LAST.split(), _CITIES.split(), _MONTHS.split()
TURNS = (
    (
        "my name is {PERSON} and i live in {PLACE} and i was born on {DATE}",
        "you can call me back at {PHONE} or write to {EMAIL} and my social security number is {ID}",
    ),
    (
        "please book a table for {PERSON} in {PLACE} on {DATE}",
        "send the confirmation to {EMAIL} or ring {PHONE} and my social security number is {ID}",
    ),
    (
        "this is {PERSON} calling from {PLACE} and my date of birth is {DATE}",
        "my number is {PHONE} and my address is {EMAIL} and my social security number is {ID}",
    ),
)
SPOKEN = (
    "please send the green box to {PERSON} before the end of the week because we are waiting for it in the office "
    "and the people downstairs would like to open it first",
    "could you remind me to call {PERSON} about the new garden and the broken window when we are back at home "
    "and have found the long ladder behind the door of the old kitchen",
    "i would like to play a quiet song for {PERSON} this evening while we are cooking dinner in the kitchen "
    "and after that turn down the lights in the hall for the night",
)
LETTERS = re.compile(r"[^\W_]+")
COMMON = {"example", "org", "555"}  # in every value of its type


@dataclass(frozen=True, repr=False)
class Canary:
    """One invented turn. `planted`: (type, value); `decoys`: values of the same types that nobody said here."""

    person: str
    sink: str
    utterance: Utterance
    planted: tuple[tuple[str, str], ...]
    decoys: tuple[str, ...]
    voice: str | None = None


def invent(
    secret: Secret, counts: Mapping[str, int], route: Callable[[str], str], spoken: str, voices: Sequence[str]
) -> list[Canary]:
    """So many people for each sink, one dialogue each; `route` says where a dialogue goes, `spoken` is the sink of speech."""
    made: list[Canary] = []
    number = 0
    for sink, count in counts.items():
        own = 0
        while own < count:
            dialogue = f"{CANARY} {number}"
            if route(dialogue) == sink:
                made += _person(secret, sink, number, dialogue, voices[own % len(voices)] if sink == spoken else None)
                own += 1
            number += 1
    return made


def _person(secret: Secret, sink: str, number: int, dialogue: str, voice: str | None) -> Iterator[Canary]:
    draw = secret.generator("canary", number)
    turns = (str(draw.choice(SPOKEN)),) if voice else TURNS[int(draw.integers(len(TURNS)))]
    values, others = _values(draw), _values(draw)
    while _words(values) & _words(others):
        others = _values(draw)
    if voice:  # what is listened for is one word
        values, others = ({"PERSON": one["PERSON"].split()[0]} for one in (values, others))
    for turn, template in enumerate(turns):
        planted = tuple((type_, value) for type_, value in values.items() if f"{{{type_}}}" in template)
        utterance = Utterance(
            id=f"{dialogue} {turn}",
            dialogue_id=dialogue,
            turn=turn,
            text=template.format(**values),
            source=Source(CANARY, number * 10 + turn),
            speaker_id=f"{CANARY} speaker {number}",
            language="en",
        )
        yield Canary(str(number), sink, utterance, planted, tuple(others[type_] for type_, _ in planted), voice)


def _values(draw: np.random.Generator) -> dict[str, str]:
    first, last = str(draw.choice(FIRST)), str(draw.choice(LAST))
    phone = f"{draw.integers(201, 989)}-555-{draw.integers(1000, 9999)}"
    return {
        "PERSON": f"{first} {last}",
        "PLACE": str(draw.choice(CITIES)),
        "PHONE": phone,
        "EMAIL": f"{first}.{last}{draw.integers(10, 99)}@example.org",
        "DATE": f"{draw.choice(MONTHS)} {draw.integers(1, 29)} {draw.integers(1930, 2010)}",
        "ID": f"{draw.integers(100, 666)}-{draw.integers(10, 99)}-{draw.integers(1000, 9999)}",
    }


def _words(values: Mapping[str, str]) -> set[str]:
    return {word for value in values.values() for word in LETTERS.findall(value)} - COMMON


def in_clear(value: str, text: str) -> bool:
    """Whether any word or group of figures of the value stands in the text."""
    return bool((set(LETTERS.findall(value.casefold())) - COMMON) & set(LETTERS.findall(text.casefold())))


def words_found(canaries: Iterable[Canary], texts: Mapping[tuple[str, str], str]) -> list[list[Any]]:
    """[sink, type, person, in clear, decoy in clear] for each planted value that was released; `texts` by dialogue and id."""
    rows: list[list[Any]] = []
    for canary in canaries:
        text = texts.get((canary.utterance.dialogue_id, canary.utterance.id))
        if text is not None:
            for (type_, value), decoy in zip(canary.planted, canary.decoys, strict=True):
                rows.append([canary.sink, type_, canary.person, in_clear(value, text), in_clear(decoy, text)])
    return rows
