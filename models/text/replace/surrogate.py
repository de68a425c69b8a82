"""Strategies that put another value in place: word by word, or the whole entity (`consistent.py`: one per entity and dialogue).

Each detected unit goes through randomised response over a list of its kind (`mechanism.py`); what has no list is always
replaced by something of the same shape (`shape.py`). Formulas and their conditions: `models/text/replace/randomised_response.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Edit, Span, Utterance
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.language import code_of
from sottovoce.models.text.replace import in_language
from sottovoce.models.text.replace.account import ledger_entry, with_recall
from sottovoce.models.text.replace.address import address_like
from sottovoce.models.text.replace.distribution import Distribution, Draws, ListDistribution, PairDistribution
from sottovoce.models.text.replace.kinds import (
    FALLBACK,
    LISTED,
    READING,
    Key,
    Unit,
    entity_unit,
    uniform_lists,
    units_in,
    word_units,
)
from sottovoce.models.text.replace.mechanism import Response, respond_with, respond_within
from sottovoce.models.text.replace.options import SurrogateOptions
from sottovoce.models.text.replace.public_lists import Weights, places, public_lists
from sottovoce.models.text.replace.shape import CONDITIONS, email_like, same_shape, scramble, url_like
from sottovoce.models.text.replace.surface import article_edits, bare_name_edits, render, render_like, style_of

Name = tuple[str | int, ...]


class NotCounted(Refusal):
    code = "corpus_not_counted"
    allowed = "values: public, or a run that counts the values of its corpus before it replaces them"


@dataclass
class Surrogate(SurrogateOptions):
    """What such strategies share: draws, units and the ledger's entry. A subclass says what a unit is."""

    name: ClassVar[str]
    unit: ClassVar[str]
    says: ClassVar[str]
    bounds_units: ClassVar[bool] = True
    stays: ClassVar[str] = "position, type and all other words"
    not_protected: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._responses: dict[Key, Response] = {}
        self._lists: dict[str, ListDistribution] = {}
        self._corpus: dict[str, Weights] | None = None if self.values != "public" else {}
        self._counted: dict[str, Weights] | None = None

    def setup(self) -> None:
        public_lists()

    def use_corpus(self, lists: dict[str, Weights]) -> None:
        """Weights by type, as the count of the corpus gave them. A list of fewer than two values is no list."""
        if lists == self._counted:
            return
        self._counted = lists
        self._corpus = {type_: weights for type_, weights in lists.items() if len(weights) >= 2}
        self._responses.clear()

    def values_of(self, utterance: Utterance) -> Iterator[tuple[str, str]]:
        """(type, value) of every unit that could come from a list: what is counted in the corpus."""
        for unit in self.units_of(utterance):
            if unit.type in LISTED and unit.value:
                yield unit.type, unit.value

    def units_of(self, utterance: Utterance) -> Iterator[Unit]:
        """What is replaced in an utterance, in order of its spans; text that names no language counts as English."""
        code = code_of(utterance.language or ENGLISH)
        for span in utterance.spans:
            if code != ENGLISH and code in in_language.LANGUAGES:
                yield from units_in(code, utterance.text, span, by_word=self.unit == "word")
            else:
                yield from self.english_units(utterance.text, span)

    def english_units(self, text: str, span: Span) -> Iterator[Unit]:
        """Units of one span of English text; here the whole entity."""
        yield entity_unit(text, span, self.keep_gender)

    def replace(self, utterance: Utterance, secret: Secret) -> list[Edit]:
        if self._corpus is None:
            raise NotCounted
        edits = []
        name_of = self._naming(utterance, secret)
        for number, unit in enumerate(self.units_of(utterance)):
            old = utterance.text[unit.begin : unit.end]
            new = self._surrogate(unit, old, Draws(secret, *name_of(unit)), always=self._beyond(number))
            if new != old:
                edits.append(Edit(unit.begin, unit.end, new))
            # Also where a value is kept: an article that does not fit would tell that it is.
            if unit.code == ENGLISH:
                edits += article_edits(utterance.text, unit.begin, new, edits)
                edits += bare_name_edits(utterance.text, unit.begin, unit.end, edits) if unit.type == "PER" else ()
        return sorted(edits, key=lambda edit: edit.begin)

    def costs(self, utterance: Utterance, secret: Secret) -> dict[str, float]:
        # Before the corpus is counted, public lists tell units apart that may come to share a list: never too few.
        name_of = self._naming(utterance, secret)
        found = {}
        for number, unit in enumerate(self.units_of(utterance)):
            epsilon = 0.0 if self._beyond(number) else self._epsilon(unit)
            if epsilon:
                found[secret.token("charged unit", *name_of(unit))] = epsilon
        return found

    def _epsilon(self, unit: Unit) -> float:
        if self.values == "corpus_raw":
            return math.inf
        if self.values == "corpus":  # the lists are not counted yet: any listed type may get one, and p follows from it
            return self.target_epsilon or 0.0 if unit.type in LISTED else 0.0
        return 0.0 if unit.key is None else self._response(unit.key).epsilon

    def _beyond(self, number: int) -> bool:
        return number >= self.units_per_utterance

    def _naming(self, utterance: Utterance, secret: Secret) -> Callable[[Unit], Name]:
        """What a unit's coin and draw are keyed by, and what it is charged under: units of one name are one unit."""
        # The text is part of the key, so that an id used twice for different texts does not repeat its draws.
        text = secret.token("text", utterance.text)
        return lambda unit: (utterance.dialogue_id, utterance.id, text, unit.begin)

    def _list_of(self, unit: Unit) -> Key | None:
        return unit.type if self._corpus and unit.type in self._corpus else unit.key

    def _surrogate(self, unit: Unit, old: str, draws: Draws, always: bool) -> str:
        key = self._list_of(unit)
        if key is not None:
            return render_like(self._response(key).answer(unit.value, draws, always), old)
        if unit.code != ENGLISH:
            return in_language.surrogate(unit.code, unit.type, old, draws, self.keep_gender, unit.surname)
        return self._without_list(unit.type, old, draws)

    def _without_list(self, type_: str, old: str, draws: Draws) -> str:
        if type_ == "LOC":
            return address_like(old, self._list("surnames"), self._list("places/city"), draws)
        if type_ == "HEALTH":
            return render(CONDITIONS[draws.below(len(CONDITIONS))], style_of(old))
        if type_ == "EMAIL":
            return email_like(old, self._list("given_names"), draws)
        if type_ == "URL":
            return url_like(old, draws)
        if type_ in READING:
            return same_shape(old, draws, READING[type_]) or scramble(old, draws)
        if type_ in FALLBACK:
            shaped = same_shape(old, draws, "calendar")
            return shaped if shaped is not None else render(self._list(FALLBACK[type_]).draw(draws), style_of(old))
        return f"[{type_}]"  # a type that nothing is known of: its name is all that remains

    def _response(self, key: Key) -> Response:
        if key not in self._responses:
            distribution = self._distribution(key)
            if self.target_epsilon is not None:
                self._responses[key] = respond_within(distribution, self.target_epsilon, self.p_mode == "token")
            else:
                self._responses[key] = respond_with(distribution, 1.0 if self.p is None else self.p)
        return self._responses[key]

    def _distribution(self, key: Key) -> Distribution:
        if isinstance(key, tuple):
            return ListDistribution(dict.fromkeys(key, 1.0))
        if self._corpus and key in self._corpus:
            return ListDistribution(self._corpus[key], self.mix)
        first, plus, second = key.partition("+")
        return PairDistribution(self._list(first), self._list(second)) if plus else self._list(key)

    def _list(self, key: str) -> ListDistribution:
        if key not in self._lists:
            self._lists[key] = ListDistribution(public_lists()[key], self.mix)
        return self._lists[key]

    def ledger(self, detector: LedgerEntry | None = None) -> LedgerEntry:
        keys = {type_: self.keys_of(type_) for type_ in LISTED}
        responses = {type_: [self._response(key) for key in keys[type_]] for type_ in keys}
        return ledger_entry(with_recall(self, detector), responses)

    def listed_values(self) -> Iterator[tuple[str, str]]:
        """(type, value) of the public lists: the vocabulary of a count with `corpus_vocabulary: list`."""
        for type_ in LISTED:
            for key in self.keys_of(type_):
                if isinstance(key, str) and "+" not in key:
                    yield from ((type_, value) for value in public_lists()[key])

    def keys_of(self, type_: str) -> list[Key]:
        """The lists that this strategy may use for a type."""
        given = ["given_names/f", "given_names/m"] if self.keep_gender else ["given_names"]
        if type_ == "PER":
            return [*given, "surnames", *(f"{key}+surnames" for key in given)]
        if type_ == "LOC":
            return list(places())
        own = LISTED[type_]
        return [own] if own in public_lists() else [key for key in public_lists() if key.startswith(f"{own}/")]


@dataclass
class WordSurrogate(Surrogate):
    """Each word of an entity for itself."""

    name = "word"
    unit = "word"
    says = "Each word of a detected entity is kept or drawn anew on its own."

    def english_units(self, text: str, span: Span) -> Iterator[Unit]:
        """Units of one span of English text, one for each word."""
        yield from word_units(text, span, self.keep_gender)

    def keys_of(self, type_: str) -> list[Key]:
        if type_ == "PER":
            return [key for key in super().keys_of("PER") if "+" not in key]
        if type_ in ("LOC", "ORG"):
            lists = places() if type_ == "LOC" else (LISTED[type_],)
            return [f"{key}{one}/words" for key in lists for one in ("", "/one")]
        return list(uniform_lists())

    def values_of(self, utterance: Utterance) -> Iterator[tuple[str, str]]:
        """Dates and times keep their uniform lists: a month for a month, an hour for an hour."""
        return (pair for pair in super().values_of(utterance) if pair[0] not in FALLBACK)


@dataclass
class Full(Surrogate):
    """The whole entity at once: hides the number of its words as well."""

    name = "full"
    unit = "entity"
    says = "Each detected entity is kept or drawn anew as a whole."
