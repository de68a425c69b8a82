"""Words have the phones of the dictionary, letters are letters, and a word that no dictionary has is pronounced."""

from __future__ import annotations

from sottovoce.models.speech.align.readings import as_said
from sottovoce.models.speech.lexicon import ALL_PHONES, Lexicon


def test_words_letters_and_unknown_names_have_a_sound() -> None:
    found = Lexicon.of(["seven", "c.", "zielinskowski", "漢"])
    assert found.usual(["c.", "seven"]) == ("S", "IY", "S", "EH", "V", "AH", "N")
    assert set(found.pronunciations["zielinskowski"][0]) <= set(ALL_PHONES)
    assert "漢" not in found


def test_a_letter_beside_letters_is_spelled_and_an_article_is_not() -> None:
    assert as_said("C A T") == ("c.", "a.", "t.")
    assert as_said("send a parcel") == ("send", "a", "parcel")
    assert as_said("GO 3") == ("go", "three")
