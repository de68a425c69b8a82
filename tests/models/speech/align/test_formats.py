"""Aligned words come out in the layouts that other tools read."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.align.formats import ctm_lines, file_name, json_line, text_grid

TEXT = 'call "Jo Ann" now'
WORDS = (
    Word(0, 4, 0.1, 0.4, 0.9, (Phone("K", 0.1, 0.2), Phone("AO", 0.2, 0.4))),
    Word(5, 12, 0.4, 1.0, 0.5),
    Word(14, 17, 1.2, 1.5, 1.0),
)


def test_ctm_has_six_columns_whatever_the_words_are() -> None:
    lines = ctm_lines("a b", TEXT, WORDS)
    assert lines[0] == "a%20b 1 0.10 0.30 call 0.900"
    assert all(len(line.split()) == 6 for line in lines)


def test_json_keeps_offsets_times_and_phones() -> None:
    row = json.loads(json_line("u1", TEXT, WORDS))
    assert row["text"] == TEXT and [TEXT[w["begin"] : w["end"]] for w in row["words"]] == [
        w["word"] for w in row["words"]
    ]
    assert row["words"][0]["phones"] == [["K", 0.1, 0.2], ["AO", 0.2, 0.4]]


def test_a_text_grid_covers_the_recording_without_gaps() -> None:
    grid = text_grid(TEXT, WORDS, 2.0)
    for tier in grid.split("item [")[2:]:
        times = [float(value) for value in re.findall(r"(?:xmin|xmax) = ([\d.]+)", tier)][2:]
        assert times[0] == 0 and times[-1] == 2.0
        assert times[1:-1:2] == times[2::2]
    assert '"""Jo Ann"' in grid


def test_what_is_perhaps_not_said_is_marked_in_every_layout() -> None:
    words = (WORDS[0], replace(WORDS[1], misfit=True), WORDS[2])
    assert [line.split()[-1] for line in ctm_lines("u1", TEXT, words)] == ["0.900", "0.000", "1.000"]
    assert [word["misfit"] for word in json.loads(json_line("u1", TEXT, words))["words"]] == [False, True, False]
    assert 'name = "misfits"' not in text_grid(TEXT, WORDS, 2.0)
    tier = text_grid(TEXT, words, 2.0).partition('name = "misfits"')[2]
    assert re.findall(r"xmin = (0\.4000|1\.0000)\n +xmax = \S+\n +text = \"(.*)\"", tier) == [
        ("0.4000", "misfit"),
        ("1.0000", ""),
    ]


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1), st.text(min_size=1))
def test_file_names_are_safe_and_stay_different(one: str, other: str) -> None:
    try:
        names = file_name(one), file_name(other)
    except UnicodeEncodeError:
        return  # a lone surrogate: no reader lets one in
    assert re.fullmatch(r"[\w.~%-]+", names[0], re.ASCII) and (names[0] == names[1]) == (one == other)
