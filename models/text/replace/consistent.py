"""One surrogate per entity and dialogue: john, john's and john smith stay one person, and dates keep their distances."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Span, Utterance
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.replace.date_shift import shift_of, shifted
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.kinds import Key, Unit, entity_unit, word_units
from sottovoce.models.text.replace.surface import render_like
from sottovoce.models.text.replace.surrogate import Name, Surrogate


@dataclass
class Consistent(Surrogate):
    """One coin and one draw for each entity of a dialogue and each list that its mentions are drawn from.

    Let t be the value of such a unit, and y ~ M(. | t) its one draw (`randomised_response.py`). Every mention shows
    y in a letter case of its own place, so all mentions together are a function of y: they cost epsilon(M) once. Two
    things must hold for that, and both were broken once:

    * All mentions take the same branch. Let one be answered by the coin and another always be replaced: (t, y), y != t,
      comes out with probability (1 - p) pi(y) under t and never under another value, so epsilon is infinite. Therefore a
      budget is kept for whole dialogues (`transforms/nightly/speaker_budget.py`), by sums of epsilons, which neighbours share.
    * Lists do not share a coin. "mister james" is drawn from the surnames, "james" from the given names; with one coin
      both are kept at once, and (t, t) has a chance under another value only if one draw hits t in both lists.
    """

    move_dates: bool = True  # days of the year and of the week by one number of days, see date_shift.py

    name = "consistent"
    unit = "entity of a dialogue (of a person each word of the name), in all its occurrences of one form at once,"
    says = (
        "Each entity has one surrogate throughout a dialogue, a person one for each word of the name, so that john and john "
        "smith stay one; one more where a title shows that a word is a surname."
    )
    bounds_units = False  # a bound would keep an entity in one place and replace it in another
    stays = (
        "position, type, all other words, which mentions are the same entity, and how many days lie between two dates"
    )
    not_protected = (
        "which mentions in a dialogue are the same entity, and which people share a name",
        "unless move_dates is false: how many days lie between two dates of a dialogue (the dates themselves are hidden)",
    )

    def english_units(self, text: str, span: Span) -> Iterator[Unit]:
        """People word by word, all else whole; a date that moves has no list, as it is shifted and not drawn."""
        if span.type == "PER":
            yield from word_units(text, span, self.keep_gender)
            return
        unit = entity_unit(text, span, self.keep_gender)
        moves = self.move_dates and span.type == "DATE" and shifted(unit.value, 0) is not None
        yield dataclasses.replace(unit, key=None) if moves else unit

    def keys_of(self, type_: str) -> list[Key]:
        return [key for key in super().keys_of(type_) if "+" not in key]

    def _beyond(self, number: int) -> bool:
        return False

    def _naming(self, utterance: Utterance, secret: Secret) -> Callable[[Unit], Name]:
        def name_of(unit: Unit) -> Name:
            if self._moves(unit):
                return ("dates", utterance.dialogue_id)
            return ("entity", utterance.dialogue_id, unit.type, unit.value, str(self._list_of(unit)))

        return name_of

    def _moves(self, unit: Unit) -> bool:
        plain = unit.type == "DATE" and unit.code == ENGLISH and self._list_of(unit) is None
        return self.move_dates and plain and shifted(unit.value, 0) is not None

    def _surrogate(self, unit: Unit, old: str, draws: Draws, always: bool) -> str:
        moved = shifted(unit.value, shift_of(draws)) if self._moves(unit) else None
        return super()._surrogate(unit, old, draws, always) if moved is None else render_like(moved, old)
