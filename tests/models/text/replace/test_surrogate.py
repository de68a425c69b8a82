"""Surrogates: what they look like, how often a value stays, and what the ledger says of it."""

import collections
import dataclasses
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.book import faults_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.text.edits import apply_edits
from sottovoce.models.text.replace.consistent import Consistent
from sottovoce.models.text.replace.date_shift import DAYS_DRAWN, shifted
from sottovoce.models.text.replace.public_lists import class_of, public_lists
from sottovoce.models.text.replace.randomised_response import Composition, epsilon_of
from sottovoce.models.text.replace.surrogate import Full, NotCounted, WordSurrogate

SECRET = Secret(b"k" * 32)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def utterance(marked, id_="u", dialogue="d"):
    """'call <PER john smith> now' -> an utterance with that span."""
    text, spans = "", []
    for plain, type_, value in re.findall(r"([^<]*)(?:<([A-Z]+) ([^>]*)>)?", marked):
        text += plain
        if type_:
            spans.append(Span(len(text), len(text) + len(value), type_))
            text += value
    return Utterance(id=id_, dialogue_id=dialogue, turn=0, text=text, source=Source("f", 1), spans=tuple(spans))


def replaced(strategy, marked, id_="u", dialogue="d"):
    u = utterance(marked, id_, dialogue)
    return apply_edits(u.text, strategy.replace(u, SECRET))[0]


def outputs(strategy, marked, count=200):
    return [replaced(strategy, marked, str(i), str(i)) for i in range(count)]


@pytest.mark.parametrize("strategy", [WordSurrogate(), Full(), Consistent()])
@pytest.mark.parametrize(
    ("marked", "pattern"),
    [
        ("call <PHONE 07744 123456>", r"call 0\d{4} [1-9]\d{5}"),
        ("my <PHONE oh seven double four one two>", r"my (\w+ ){2}double \w+ \w+ \w+"),
        ("card <CARD 4111-1111-1111-1111>", r"card [1-9]\d{3}(-[1-9]\d{3}){3}"),
        ("ref <CODE AB12345>", r"ref [A-Z]{2}[1-9]\d{4}"),
        ("at <TIME six pm>", r"at [a-z ]+ [ap]m"),
        ("at <TIME 18:30>", r"at \d\d:\d\d"),
        ("at <TIME half past seven>", r"at [a-z ]+ past [a-z]+"),
        ("on <DATE monday>", r"on [a-z]+day"),
        ("on <DATE the twenty third of march>", r"on the [a-z ]+ of [a-z]+"),
        (
            "on <DATE the twenty third of march nineteen eighty>",
            r"on the (twenty|thirty) [a-z]+ of [a-z]+ nineteen [a-z]+",
        ),
        ("on <DATE may 12>", r"on [a-z]+ [1-9]\d?"),
        ("on <DATE 12/03/1980>", r"on \d\d/\d\d/(19|20)\d\d"),
        ("pay <AMOUNT $25.50>", r"pay \$[1-9]\d\.[1-9]\d"),
        ("pay <AMOUNT twenty five dollars>", r"pay [a-z]+ty [a-z]+ dollars"),
        ("mail <EMAIL john.smith@gmail.com>", r"mail [a-z]+@example\.(com|org|net)"),
        ("mail <EMAIL john dot smith at gmail dot com>", r"mail [a-z]+ at example dot (com|org|net)"),
        ("a <AGE forty>", r"a \[AGE\]"),
    ],
)
def test_surrogates_keep_the_shape(strategy, marked, pattern):
    found = outputs(strategy, marked, 40)
    assert all(re.fullmatch(pattern, text) for text in found), found
    assert len(set(found)) > 3 or "AGE" in marked or "EMAIL" in marked


def test_a_time_becomes_a_time_of_the_same_form_in_the_list():
    times = class_of()["times"]
    assert {times[text] for text in outputs(Full(), "<TIME six pm>")} == {"times/spoken pm"}


@pytest.mark.parametrize(("surface", "check"), [("JOHN", str.isupper), ("John", str.istitle), ("john", str.islower)])
def test_letter_case_is_taken_over(surface, check):
    assert all(check(text) for text in outputs(Full(), f"<PER {surface}>", 50))


@pytest.mark.parametrize(("name", "gender"), [("mary", "f"), ("john", "m")])
def test_a_listed_name_keeps_its_gender(name, gender):
    genders = class_of()["given_names"]
    assert {genders[text] for text in outputs(Full(), f"<PER {name}>")} == {f"given_names/{gender}"}


def test_without_keep_gender_both_appear():
    genders = class_of()["given_names"]
    assert len({genders[text] for text in outputs(Full(keep_gender=False), "<PER mary>")}) == 2


def test_names_keep_given_name_and_surname_apart():
    first, last = zip(*(text.split() for text in outputs(Full(), "<PER john smith>", 50)), strict=True)
    assert set(first) <= set(public_lists()["given_names"]) and set(last) <= set(public_lists()["surnames"])
    assert set(outputs(WordSurrogate(), "mister <PER smith>", 50)) <= {
        f"mister {name}" for name in public_lists()["surnames"]
    }


def test_word_by_word_keeps_the_number_of_words():
    assert all(len(text.split()) == 3 for text in outputs(WordSurrogate(), "<ORG bank of america>", 50))


def test_whole_entities_hide_the_number_of_words():
    assert len({len(text.split()) for text in outputs(Full(), "<LOC new york city>")}) > 1


def test_one_surrogate_per_entity_and_dialogue():
    strategy, texts = Consistent(), ("<PER john> called", "ask <PER John> again")
    in_dialogue = [[replaced(strategy, text, str(n), f"d{d}") for n, text in enumerate(texts)] for d in range(40)]
    names = [(a.split()[0], b.split()[1].lower()) for a, b in in_dialogue]
    assert all(a == b for a, b in names) and len(set(names)) > 20


def test_a_name_in_two_lists_has_a_coin_for_each_and_is_paid_for_each():
    """Were both kept by one coin, "james ... mister james" would never come from another name."""
    strategy, marked = Consistent(p=0.5), "<PER james> no mister <PER james>"
    names = [(text.split()[0], text.split()[3]) for text in outputs(strategy, marked, 400)]
    kept = [second == "james" for first, second in names if first == "james"]
    assert 120 < len(kept) < 280 and 0.3 < sum(kept) / len(kept) < 0.7
    assert len(strategy.costs(utterance(marked), SECRET)) == 2
    assert len(strategy.costs(utterance("<PER james> and <PER James>"), SECRET)) == 1


def test_the_share_kept_is_one_minus_p_plus_the_draws_of_itself():
    """Binomial(3000, 0.4 + 0.6 pi): five standard deviations; the key is fixed, so the test does not flicker."""
    weights, mix = public_lists()["times/noon"], 0.1
    pi = (1 - mix) / len(weights) + mix / len(weights)
    expected = 0.4 + 0.6 * pi
    kept = sum(text == "noon" for text in outputs(Full(p=0.6), "<TIME noon>", 3000)) / 3000
    assert abs(kept - expected) < 5 * math.sqrt(expected * (1 - expected) / 3000)


def test_a_value_may_be_drawn_in_place_of_itself():
    counts = collections.Counter(outputs(Full(), "<TIME noon>", 600))
    assert set(counts) == set(public_lists()["times/noon"]) and min(counts.values()) > 120


def test_values_outside_the_list_are_always_replaced():
    assert not any("zyxwv" in text for text in outputs(Full(p=0.1), "<PER zyxwv>"))
    assert not any("zyxwv" in text for text in outputs(WordSurrogate(p=0.1), "in <LOC zyxwv>"))


def test_an_odd_spelling_is_written_anew_when_its_value_is_kept():
    assert all("jOHN" not in text for text in outputs(Full(p=0.05), "<PER jOHN>", 50))


def test_units_beyond_the_bound_are_always_replaced():
    marked = " ".join(["<TIME noon>"] * 6)
    strategy = Full(p=0.01, units_per_utterance=2)
    words = [text.split() for text in outputs(strategy, marked, 300)]
    assert sum(w[0] == "noon" for w in words) > 280
    assert sum(w[5] == "noon" for w in words) < 200
    costs = strategy.costs(utterance(marked), SECRET)
    assert list(costs.values()) == pytest.approx([epsilon_of(0.01, 1 / 3)] * 2)


def test_target_epsilon_holds_for_every_list():
    for strategy in (
        WordSurrogate(target_epsilon=3.0),
        Full(target_epsilon=3.0),
        Full(target_epsilon=3.0, p_mode="token"),
    ):
        types = strategy.ledger().parameters["types"]
        assert types["PER"]["epsilon_unit"] == pytest.approx(3.0) and types["PHONE"]["epsilon_unit"] == 0


def test_token_dependent_p_keeps_common_values_more_often():
    uniform, token = (Full(target_epsilon=6.0, p_mode=mode) for mode in ("uniform", "token"))
    kept = [sum(text == "john" for text in outputs(strategy, "<PER john>", 300)) for strategy in (uniform, token)]
    assert kept[1] > 3 * kept[0] + 20


def test_a_retry_repeats_every_draw():
    assert outputs(WordSurrogate(p=0.5), "<PER john smith> at <TIME six pm>") == outputs(
        WordSurrogate(p=0.5), "<PER john smith> at <TIME six pm>"
    )


@pytest.mark.parametrize("cls", [WordSurrogate, Full, Consistent])
@pytest.mark.parametrize("options", [{}, {"p": 0.9}, {"target_epsilon": 4.0, "recall": 0.95, "recall_on": "ATIS test"}])
def test_the_ledger_states_epsilon_by_unit_utterance_dialogue_and_speaker(cls, options):
    entry = cls(**options).ledger()
    assert not faults_of(entry)
    assert set(entry.sound) == {"unit", "utterance", "dialogue", "speaker"}
    assert entry.sound["utterance"] == pytest.approx(5 * entry.sound["unit"])
    at_delta = entry.parameters["epsilon_at_delta"]
    assert all(at_delta[unit] <= entry.sound[unit] + 1e-9 for unit in entry.sound)
    if not options:
        assert entry.sound["speaker"] == 0
    if "recall" in options:
        assert 0.05 <= entry.parameters["fraction_in_clear"] < 1 and entry.parameters["recall_on"] == "ATIS test"


def test_raw_corpus_values_are_infinite_in_the_ledger():
    entry = Full(values="corpus_raw").ledger()
    assert set(entry.sound.values()) == {math.inf} and "corpus" in entry.infinite_because and not faults_of(entry)


def test_counting_the_corpus_is_charged_once_on_top():
    entry = Full(values="corpus", target_epsilon=2.0, corpus_epsilon=0.5).ledger()
    assert entry.sound["unit"] == pytest.approx(2.5) and entry.sound["utterance"] == pytest.approx(10.5)
    assert entry.parameters["delta_of_list"] == 1e-6


def test_corpus_values_replace_the_public_lists_and_are_never_skipped():
    strategy = Full(values="corpus")
    with pytest.raises(NotCounted):
        strategy.replace(utterance("<PER john>"), SECRET)
    strategy.use_corpus({"PER": {"anna": 3.0, "bert": 1.0}})
    assert set(outputs(strategy, "<PER john>")) == {"anna", "bert"}
    assert "zyx" not in " ".join(outputs(strategy, "in <LOC zyx>", 20))


@pytest.mark.parametrize(
    "options",
    [{"p": 0.0}, {"p": 0.5, "target_epsilon": 1.0}, {"p_mode": "token"}, {"mix": 2.0}, {"values": "corpus", "p": 0.5}],
)
def test_options_that_make_no_sense_are_settings_errors(options):
    with pytest.raises(SettingsError):
        Full(**options)


def test_nothing_of_the_value_shows_in_the_name_of_a_unit():
    (unit,) = Full().units_of(utterance("<PER john>"))
    assert "john" not in repr(unit) and not dataclasses.is_dataclass(repr(unit))


def test_composition_in_the_ledger_covers_every_list_even_at_the_same_epsilon():
    """A list of three values keeps far more often than one of thousands at the same epsilon: the former must rule."""
    strategy = Full(target_epsilon=2.0, units_per_dialogue=10)
    at_delta = strategy.ledger().parameters["epsilon_at_delta"]["dialogue"]
    for key in ("times/noon", "places"):
        response = strategy._response(key)
        alone = Composition(response.p, response.distribution.pi_min, 10).epsilon(strategy.delta)
        assert alone <= at_delta + 1e-9


@pytest.mark.parametrize(
    ("marked", "pattern"),
    [
        ("call <PER dr weiss> now", r"call dr [a-z' ]+ now"),
        ("<PER john's> bag and <PER Mary>'s", r"[a-z ]+'s bag and [A-Z][a-z ]+'s"),
        ("<LOC flat 3b, 17 acacia avenue, hull ls6 2qx>", r"flat \d[a-z], \d\d [a-z' ]+ avenue, [a-z' -]+ [a-z]{2}\d \d[a-z]{2}"),
        ("in <LOC sw1a 2aa>", r"in [a-z]{2}\d[a-z] \d[a-z]{2}"),
        ("<PER John SMITH> is here", r"[A-Z][a-z]+ [A-Z' ]+ is here"),
        ("her <HEALTH asthma>", r"her [a-z ]+"),
        ("for <DATE seven nights>", r"for (?!one )[a-z]+ nights"),
        ("<DATE three weeks ago>", r"[a-z]+ weeks ago"),
        ("<DATE forty two years old>", r"[a-z]+ty [a-z]+ years old"),
        ("<DATE a week ago>", r"a (day|week|month|year) ago"),
        ("<DATE the second sunday of june>", r"the (first|second|third|fourth) \w+day of [a-z]+"),
        ("<DATE the first two weeks of may>", r"the first (?!one )[a-z]+ weeks of [a-z]+"),
        ("in <DATE the nineties>", r"in the [a-z]+ties"),
        ("<DATE next christmas>", r"(next|last|this|coming|following) [a-z]+"),
        ("<DATE nine and a half>", r"[a-z]+ and a half"),
        ("<DATE every other tuesday>", r"every other \w+day"),
        ("<TIME two hours from now>", r"(?!one )[a-z]+ hours from now"),
        ("in <TIME an hour and a half>", r"in (an|half an|three quarters of an) hour( and a (half|quarter))?"),
        ("in <TIME an hour and twenty minutes>", r"in an hour and [a-z]+ minutes"),
        ("at <TIME 17.30>", r"at ([01]\d|2[0-3])\.[0-5]\d"),
        ("<AMOUNT a tenner>", r"a (tenner|fiver)"),
        ("<CODE m for mother a for apple>", r"(\w) for \1\w+ (\w) for \2\w+"),
        ("a song by the <PER beatles>", r"a song by (?!the )\S+"),
        ("at the <PER smith> residence", r"at the \S+ residence"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("strategy", [WordSurrogate(), Full(), Consistent()])
def test_surrogates_read_as_if_they_were_said(strategy, marked, pattern):
    for text in outputs(strategy, marked, 20):
        assert re.fullmatch(pattern, text), text


def test_an_article_fits_what_stands_behind_it_and_tells_nothing_of_what_stood_there():
    for marked in ("an <ORG ikea> chair", "a <ORG tesco> bag"):
        texts = [text.split() for text in outputs(Full(), marked, 60)]
        assert {words[0] for words in texts} == {"a", "an"}
        told = [words for words in texts if words[1][0] not in "uho8" and len(words[1]) > 3]
        assert all((words[0] == "an") == (words[1][0] in "aei") for words in told)


@pytest.mark.parametrize(
    ("place", "kind"), [("france", "country"), ("texas", "state"), ("boston", "city"), ("xyzzy", "city")]
)
@pytest.mark.parametrize("strategy", [WordSurrogate(), Full()])
def test_a_city_stands_for_a_city(strategy, place, kind):
    assert set(outputs(strategy, f"<LOC {place}>", 60)) <= set(public_lists()[f"places/{kind}"])


def test_a_name_of_one_word_gets_a_name_and_no_word_of_one():
    assert {"new", "united", "san"} <= set(public_lists()["places/city/words"]) | set(
        public_lists()["places/country/words"]
    )
    assert set(outputs(WordSurrogate(), "<ORG ikea>", 60)) <= set(public_lists()["organisations"])
    assert not {"the", "of"} & {word for text in outputs(WordSurrogate(), "<ORG the ivy>", 60) for word in text.split()}


@pytest.mark.parametrize(("name", "kind"), [("xiomarita", "f"), ("bjornulf", "m"), ("josé", "m"), ("jean-luc", "m")])
def test_a_name_outside_the_list_has_the_gender_of_names_that_end_alike(name, kind):
    assert set(outputs(Full(), f"<PER {name}>", 60)) <= set(public_lists()[f"given_names/{kind}"])


def test_john_and_john_smith_and_mister_smith_are_two_words_of_one_person():
    for text in outputs(Consistent(), "<PER john smith> and <PER john> and <PER John>'s and mister <PER smith>", 30):
        first, last, _, again, _, cased, _, _, surname = text.split()
        assert (again, cased.removesuffix("'s").lower(), surname) == (first, first, last)


def test_dates_of_a_dialogue_move_by_one_number_of_days_and_alone_tell_nothing():
    marked = "<DATE monday the fifth of may>, then <DATE may 7th>"
    texts = outputs(Consistent(), marked, 200)
    moved_by = {shifted("monday the fifth of may", by): by for by in range(DAYS_DRAWN)}
    assert len(set(texts)) > 150
    for text in texts:
        first, second = text.split(", then ")
        weekday, day = DAYS.index(first.split()[0]), shifted("may 7th", -2)
        by = moved_by[first]
        assert shifted("may 7th", by) == second and weekday == by % 7 and day == "may 5th"
    assert replaced(Consistent(move_dates=False), marked) != replaced(Consistent(), marked)


@given(st.integers(0, DAYS_DRAWN - 1))
def test_one_moved_date_is_uniform_over_the_year(by):
    """A bijection for each number of days: every day of the year is reached from every other by exactly seven of them."""
    assert shifted(shifted("june 3", by), DAYS_DRAWN - by) == "june 3"
