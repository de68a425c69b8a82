"""Surrogates in other languages than English: from their lists, in their shapes, and of nothing that was there."""

import pytest

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.text import chain
from sottovoce.models.text.languages import TABLE, language
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.in_language import lists_of, surrogate

OTHERS = sorted(set(TABLE) - {"en"})
KEY = Secret(b"k" * 32)


def drawn(code, type_, old, name="x", surname=False):
    return surrogate(code, type_, old, Draws(KEY, name), True, surname)


@pytest.mark.parametrize("code", OTHERS)
def test_every_language_has_its_lists(code):
    lists = lists_of(code)
    assert {"given_names", "given_names/f", "given_names/m", "surnames", "places", "organisations"} <= set(lists)
    assert all(len(values) >= 50 for values in lists.values())
    assert all(value == value.lower().strip() for values in lists.values() for value in values)


@pytest.mark.parametrize("code", OTHERS)
def test_the_surrogate_is_the_same_whatever_value_of_the_class_was_there(code):
    """What is drawn depends on type, gender and shape alone: nothing else of the value is left. (Latvian: on the case too.)"""
    women = [name for name in lists_of(code)["given_names/f"] if code != "lv" or name.endswith("a")][:20]
    assert len({drawn(code, "PER", name) for name in women}) == 1
    places = [name for name in lists_of(code)["places"] if code != "lv" or name.endswith("a")][:20]
    assert len({drawn(code, "LOC", name) for name in places}) == 1
    one, other = (str(figure) * 9 for figure in (1, 2))
    assert drawn(code, "ID", one) == drawn(code, "ID", other)
    figures = {value: word for word, value in language(code).values.items() if value < 10}
    assert len({drawn(code, "PHONE", f"{figures[figure]} {figures[3]}") for figure in range(10)}) == 1


@pytest.mark.parametrize("code", OTHERS)
def test_a_date_becomes_another_of_its_shape_and_what_is_not_understood_is_gone(code):
    month = language(code).words("m")[0]
    made = {drawn(code, "DATE", f"3 {month}", name) for name in "abcdefgh"}
    assert len(made) > 3 and all(one.split()[1] in language(code).words("m") for one in made)
    assert "xyzzy" not in drawn(code, "DATE", f"xyzzy {month}")
    assert "xyzzy" not in drawn(code, "TIME", "xyzzy")


@pytest.mark.parametrize(
    ("old", "ending"),
    [("jānim", ("am", "im", "ai", "ei")), ("annai", ("ai", "ei", "am", "im")), ("annas", ("as", "es", "a"))],
)
def test_a_latvian_name_takes_the_case_of_what_it_replaces(old, ending):
    assert all(drawn("lv", "PER", old, str(at)).endswith(ending) for at in range(30))


def test_a_latvian_name_keeps_its_gender_in_every_case():
    women = lists_of("lv")["given_names/f"]
    assert all(drawn("lv", "PER", "anna", str(at)) in women for at in range(30))
    assert all(drawn("lv", "PER", "annai", str(at))[:-2] in {name[:-1] for name in women} for at in range(30))


@pytest.mark.parametrize("strategy", ["word", "full", "consistent"])
@pytest.mark.parametrize("code", OTHERS)
def test_no_strategy_leaves_a_name_or_charges_for_it(code, strategy):
    text = "xa zyxwa vutsa ponma"
    spans = (Span(3, 14, "PER"), Span(15, 20, "LOC"))
    said = Utterance("u", "d", 0, text, Source("f", 1), language=code, spans=spans)
    member = read_spec("replace", {"use": strategy, "p": 0.2}).make()
    new = chain.replaced(member, said, KEY).text
    assert new.startswith("xa ") and not {"zyxwa", "vutsa", "ponma"} & set(new.split())
    assert member.costs(said, KEY) == {}, "every unit is drawn anew: there is nothing to pay for"
