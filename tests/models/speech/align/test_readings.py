"""Every letter and digit of a text belongs to one spoken piece, at its own offsets, or the text is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.speech.align.readings import NothingSpoken, TextNotPronounceable, pieces


def readings(text: str) -> dict[str, set[str]]:
    return {
        text[piece.begin : piece.end]: {" ".join("|".join(slot) for slot in form) for form in piece.forms}
        for piece in pieces(text)
    }


@pytest.mark.parametrize(
    "text, piece, spoken",
    [
        ("807", "807", "eight hundred seven"),
        ("807", "807", "eight hundred and seven"),
        ("807", "807", "eight zero|oh|o. seven"),
        ("in 1999", "1999", "nineteen ninety nine"),
        ("07744", "07744", "zero|oh|o. double seven four four"),
        ("3.5", "3.5", "three point|dot five"),
        ("1,000", "1,000", "one thousand"),
        ("may 5", "5", "fifth"),
        ("the 21st", "21st", "twenty first"),
        ("at 7:05pm", "7:05", "seven zero|oh|o. five"),
        ("at 17:30", "17:30", "five thirty"),
        ("$20.50", "$20.50", "twenty dollars|dollar and fifty cents"),
        ("C", "C", "c."),
        ("a", "a", "a|a."),
        ("the BBC said", "BBC", "b. b. c."),
        ("at 5 a.m.", "a.m.", "a. m."),
        ("O’Brien's", "O’Brien's", "o'brien's"),
        ("café", "café", "cafe"),
        ("5%", "%", "percent"),
        ("jo.b9@example.com", "jo.b9@example.com", "jo dot|point b. nine at example dot|point com"),
    ],
)
def test_a_piece_may_be_read_so(text: str, piece: str, spoken: str) -> None:
    assert spoken in readings(text)[piece]


def test_hyphens_part_words_and_punctuation_is_not_spoken() -> None:
    assert list(readings("(Smith-Jones, 'please'!) -- 😀 snake_case")) == ["Smith", "Jones", "please", "snake", "case"]


@pytest.mark.parametrize("text", ["東京 hotel", "½ cup", "привет"])
def test_letters_without_a_known_sound_are_refused(text: str) -> None:
    with pytest.raises(TextNotPronounceable):
        pieces(text)


@pytest.mark.parametrize("text", ["", "  ", "😀 …"])
def test_a_text_without_words_is_refused(text: str) -> None:
    with pytest.raises(NothingSpoken):
        pieces(text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("abzé 019.,:'’-_@/$%&st😀\n"), max_size=25))
def test_pieces_are_in_order_do_not_overlap_and_cover_every_letter_and_digit(text: str) -> None:
    try:
        found = pieces(text)
    except (NothingSpoken, TextNotPronounceable):
        return
    ends = [0, *(piece.end for piece in found)]
    assert all(piece.begin >= end and piece.begin < piece.end for piece, end in zip(found, ends, strict=False))
    covered = {position for piece in found for position in range(piece.begin, piece.end)}
    assert all(position in covered for position, character in enumerate(text) if character.isalnum())
    assert all(piece.forms and all(form and all(form) for form in piece.forms) for piece in found)
