"""Words outside the dictionary get pronunciations in the dictionary's own phones."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.speech.pronounce import Pronouncer

VOWELS = {"AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"}
CONSONANTS = {"B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG", "P", "R", "S", "SH", "T", "TH", "V"}
PHONES = VOWELS | CONSONANTS | {"W", "Y", "Z", "ZH"}


def test_made_up_names_sound_as_they_are_written() -> None:
    pronouncer = Pronouncer()
    assert "B L AH N T ER" in pronouncer.pronounce("blunter")
    assert pronouncer.pronounce("sottovoce")[0].startswith("S")
    assert len(pronouncer.pronounce("kowalczyk", best=3)) == 3


@settings(max_examples=60, deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz'", min_size=1, max_size=14))
def test_any_letters_give_known_phones(word: str) -> None:
    for sounds in Pronouncer().pronounce(word):
        assert set(sounds.split()) <= PHONES and re.fullmatch(r"[A-Z ]+", sounds)
