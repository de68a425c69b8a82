"""The accounting of crowd release, against a definition of differential privacy that knows nothing of it."""

import dataclasses
import math

import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.settings import build
from sottovoce.models.text.languages import TABLE
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.in_language import lists_of
from sottovoce.models.text.replace.kinds import LISTED
from sottovoce.models.text.replace.private_counts import CountSettings, laplace_scale, threshold_of
from sottovoce.models.text.replace.public_lists import public_lists
from sottovoce.models.text.rewrite.crowd import Crowd
from sottovoce.models.text.rewrite.fill import SHAPES, of_type
from sottovoce.models.text.rewrite.template import Gap, to_key

SECRET = Secret(b"a secret of this test")


def said(text: str, intent: str | None = None, slots: tuple = ()) -> Utterance:
    return Utterance("u", "d", 0, text, Source("f", 1), intent=intent, slots=slots)


def laplace_tail(settings: CountSettings, count: int) -> float:
    """The chance that this many speakers get their template released."""
    scale = laplace_scale(settings.epsilon, settings.values_per_speaker)
    over = (threshold_of(settings) - count) / scale
    return 0.5 * math.exp(-over) if over > 0 else 1 - 0.5 * math.exp(over)


@pytest.mark.parametrize("limit", [1, 4, 16])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_release_of_one_template_changes_by_no_more_than_its_share(epsilon, limit):
    """Adding a speaker changes K counts by 1: each may spend epsilon / K and delta / K, for release and for silence."""
    settings = CountSettings(epsilon, 1e-6, "laplace", limit)
    step = math.exp(epsilon / limit)
    for count in range(60):
        without, given = (laplace_tail(settings, n) if n else 0.0 for n in (count, count + 1))
        assert given <= step * without + 1e-6 / limit + 1e-15
        assert 1 - without <= step * (1 - given) + 1e-6 / limit + 1e-15


def test_a_threshold_that_is_too_low_fails_the_same_law(monkeypatch):
    """The law bites: with the threshold of ten times the delta one template alone spends too much."""
    weak = CountSettings(1.0, 1e-5, "laplace", 1)
    assert laplace_tail(weak, 1) > 1e-6


def test_shares_of_the_ladder_add_up_to_what_the_ledger_says():
    crowd = Crowd(epsilon=3.0, delta=1e-5, ladder={"full": 2.0, "common": 1.0, "skeleton": 1.0, "parts": 1.0})
    counts = crowd.counts()
    assert [count.name for count in counts] == ["full", "common", "skeleton", "parts"]
    assert {count.settings.epsilon for count in counts} == {3.0}  # each utterance is released once: ladder.py
    assert sum(count.settings.silence for count in counts) == pytest.approx(3.0)
    assert sum(count.settings.delta for count in counts) == pytest.approx(1e-5)
    gaussian = dataclasses.replace(crowd, noise="gaussian").counts()
    assert sum(count.settings.epsilon for count in gaussian) == pytest.approx(3.0)
    assert sum(count.settings.delta for count in gaussian) == pytest.approx(1e-5)
    entry = crowd.ledger(LedgerEntry("detect", "d", "finds", ("misses",)))
    assert entry.sound == {"speaker": 3.0} and crowd.spent == (3.0, 1e-5)


@pytest.mark.parametrize(("limit", "noise"), [(1, "laplace"), (16, "laplace"), (100, "gaussian")])
def test_the_quieter_noise_is_laplace_for_few_and_gaussian_for_many(limit, noise):
    assert {count.settings.noise for count in Crowd(utterances_per_speaker=limit).counts()} == {noise}


def test_an_intent_parts_a_crowd_only_where_it_is_released():
    crowd = Crowd()
    one, other = said("good morning", "greet"), said("good morning", "thank")
    assert crowd.adds(one, "stt_lm") == crowd.adds(other, "stt_lm")
    assert crowd.adds(one, "slu") != crowd.adds(other, "slu")


def test_a_skeleton_never_goes_to_a_model_of_language():
    crowd = Crowd(ladder={"full": 1.0, "skeleton": 1.0})
    assert set(crowd.adds(said("please play some songs"), "slu")) == {"full", "skeleton"}
    assert set(crowd.adds(said("please play some songs"), "stt_lm")) == {"full"}


def test_gaps_are_filled_by_released_values_then_public_lists_and_slots_stand_where_they_are():
    crowd = Crowd()
    template = to_key(["play", Gap(slot="song"), "in", Gap(type="LOC"), Gap(slot="unheard of")], "play", "en")
    values = {"song": {"yellow submarine": 3.0}}
    filled = crowd.fill(("full/stt_lm", template), values, Draws(SECRET, "one"))
    assert filled.text.startswith("play yellow submarine in ") and len(filled.text) > len("play yellow submarine in ")
    assert filled.slots == (Slot(5, 21, "song"),) and filled.intent == "play" and filled.language == "en"
    examples = [crowd.fill(("full/slu", template), values, Draws(SECRET, n)) for n in range(60)]
    songs = [one.text[one.slots[0].begin : one.slots[0].end] for one in examples]
    assert (
        10 < songs.count("yellow submarine") < 50 and len(set(songs)) > 10
    )  # else any words: they mark where a song stands
    assert all([slot.name for slot in one.slots] == ["song", "unheard of"] for one in examples)


def test_a_template_of_one_gap_that_nothing_fills_is_no_record():
    crowd, template = Crowd(), ("full/stt_lm", to_key([Gap(slot="unheard of")], None, "en"))
    assert crowd.fill(template, {}, Draws(SECRET, "one")) is None
    assert crowd.fill(template, {"unheard of": {"seven": 2.0}}, Draws(SECRET, "one")).text == "seven"


def test_gaps_in_another_language_are_filled_from_its_own_lists():
    places = set(lists_of("de")["places"]) - set(public_lists()["places"])
    template = ("full/slu", to_key(["wetter", "in", Gap(type="LOC"), Gap(slot="unheard of")], "weather", "de-DE"))
    texts = [Crowd().fill(template, {}, Draws(SECRET, n)).text for n in range(40)]
    drawn = {text.removeprefix("wetter in ") for text in texts}
    assert drawn <= set(lists_of("de")["places"]) and drawn & places


@pytest.mark.parametrize("code", TABLE)
@pytest.mark.parametrize("type_", [*LISTED, *SHAPES, "EMAIL", "URL"])
def test_every_type_has_a_filling_in_every_language(code, type_):
    assert of_type(type_, Draws(SECRET, code), code).strip() and "[" not in of_type(type_, Draws(SECRET, code), code)


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0.0}, {"delta": 0.0}, {"utterances_per_speaker": 0}, {"ladder": {"parts": 1.0}}, {"ladder": {"full": -1.0}},
     {"ladder": {"full": float("inf")}},
     {"ladder": {"whole": 1.0}}],
)  # fmt: skip
def test_options_out_of_range_are_named_with_what_is_allowed(wrong):
    with pytest.raises(SettingsError, match=f"rewrite.crowd.{next(iter(wrong))}"):
        build(Crowd, wrong, "rewrite.crowd")
