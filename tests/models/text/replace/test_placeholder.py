"""Placeholders: the value goes, and at p < 1 the ledger says that it may stay."""

import math

import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.text.edits import apply_edits
from sottovoce.models.text.replace.placeholder import Named, Redact, Typed

SECRET = Secret(b"k" * 32)


def utterance(id_="u1", text="call john at six", spans=(Span(5, 9, "PER"), Span(13, 16, "TIME"))):
    return Utterance(id=id_, dialogue_id="d", turn=0, text=text, source=Source("f", 1), spans=spans)


def test_typed_names_the_type():
    u = utterance()
    assert apply_edits(u.text, Typed().replace(u, SECRET))[0] == "call [PER] at [TIME]"


def test_what_stands_beside_a_placeholder_fits_it():
    u = utterance(text="a coca-cola for john's wife", spans=(Span(2, 11, "ORG"), Span(16, 22, "PER")))
    assert apply_edits(u.text, Named().replace(u, SECRET))[0] == "an acme for alex's wife"
    assert apply_edits(u.text, Typed().replace(u, SECRET))[0] == "a [ORG] for [PER]'s wife"


def test_redact_shows_one_marker_for_every_type():
    u = utterance()
    assert apply_edits(u.text, Redact(marker="***").replace(u, SECRET))[0] == "call *** at ***"


def test_the_share_replaced_is_p():
    """Binomial(4000, 0.3): five standard deviations, wrong in fewer than one run of a million; the key is fixed."""
    replaced = sum(len(Typed(p=0.3).replace(utterance(str(i)), SECRET)) for i in range(2000))
    assert abs(replaced / 4000 - 0.3) < 5 * math.sqrt(0.3 * 0.7 / 4000)


def test_a_retry_repeats_the_draw():
    draws = [[Typed(p=0.5).replace(utterance(str(i)), SECRET) for i in range(50)] for _ in range(2)]
    assert draws[0] == draws[1]


def test_an_id_used_twice_for_different_texts_does_not_share_its_coin():
    coins = [
        [len(Typed(p=0.5).replace(utterance(str(i), text, (Span(5, 9, "PER"),)), SECRET)) for i in range(200)]
        for text in ("call john", "call anna")
    ]
    assert coins[0] != coins[1]


def test_ledger_at_p_below_one_is_infinite_with_delta():
    assert Redact(p=1.0).ledger().sound["unit"] == 0
    entry = Redact(p=0.9).ledger()
    assert entry.sound["unit"] == math.inf and entry.parameters["delta_unit_at_epsilon_0"] == pytest.approx(0.1)
    assert "infinite" in entry.says


def test_p_outside_zero_one_and_empty_marker_are_settings_errors():
    with pytest.raises(SettingsError):
        Typed(p=1.5)
    with pytest.raises(SettingsError):
        Redact(marker=" ")
