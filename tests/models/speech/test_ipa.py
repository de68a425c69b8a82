"""Sounds of other languages, as the phone network can say them."""

import shutil

import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.speech import ipa
from sottovoce.models.speech.voice.pool import PHONES


def test_every_sound_becomes_phones_that_the_network_says():
    for symbol in ipa.sounds():
        assert ipa.phones_of_sound(symbol) and set(ipa.phones_of_sound(symbol)) <= set(PHONES) - {"SIL"}


@pytest.mark.parametrize(
    ("said", "phones"),
    [
        ("ʃˈaltə", "SH AA L T AH"),
        ("bɔ̃ʒˈuʁ", "B AO N ZH UW R"),
        ("tsvˈantsɪç", "T S V AA N T S IH SH"),
        ("ˈaɪnə", "AY N AH"),
        ("pʲɛŋkɲɨ", "P EH NG K N Y IH"),
        ("", ""),
    ],
)
def test_a_sound_that_it_does_not_say_is_taken_for_the_nearest(said, phones):
    assert ipa.phones_of_ipa(said) == tuple(phones.split())


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="needs Debian's espeak-ng")
def test_words_are_read_by_espeak_ng_and_a_language_that_it_does_not_know_is_told():
    assert ipa.phones_of_word("schalte", "de") == ("SH", "AA", "L", "T", "AH")
    assert ipa.phones_of_word("bonjour", "fr")[-1] == "R"
    with pytest.raises(RunError, match="no voice"):
        ipa.phones_of_word("a", "xx")


def test_without_espeak_ng_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(ipa.shutil, "which", lambda name: None)
    with pytest.raises(RunError, match="apt-get install espeak-ng"):
        ipa.phones_of_word("unheard-of", "de")
