"""The user's own lists."""

import pytest
from any_text import any_text, check_spans
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.text.detect.gazetteer import Gazetteer


def gazetteer(**entries):
    made = Gazetteer(entries={kind: tuple(values) for kind, values in entries.items()})
    made.setup()
    return made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann called", [("Ann", "PER")]),
        ("that is annoying", []),
        ("ANN-MARIE O'BRIEN is here", [("ANN-MARIE O'BRIEN", "PER")]),
        ("ann marie o brien is here", [("ann marie o brien", "PER")]),
        ("josé, jose and JOSE\u0301", [("josé", "PER"), ("jose", "PER"), ("JOSE\u0301", "PER")]),
        ("the acme tower", [("acme tower", "LOC")]),
        ("acme hired ann", [("acme", "ORG"), ("ann", "PER")]),
        ("", []),
    ],
)
def test_phrases_are_found_as_whole_words_whatever_their_case(text, found):
    made = gazetteer(PER=["Ann", "Ann-Marie O'Brien", "José"], ORG=["Acme"], LOC=["Acme Tower"])
    assert [(text[s.begin : s.end], s.type) for s in made.detect([text])[0]] == found


@given(any_text, st.lists(any_text, max_size=5))
def test_any_list_and_any_text_are_handled(text, phrases):
    made = gazetteer(PER=["john", *phrases])
    check_spans(text, made.detect([text])[0])


@given(st.lists(st.sampled_from(["ann", "bob", "x", "y"]), max_size=12))
def test_every_listed_word_is_covered(words):
    text = " ".join(words)
    spans = gazetteer(PER=["ann", "bob x"]).detect([text])[0]
    covered = {at for span in spans for at in range(span.begin, span.end)}
    begin = 0
    for word in words:
        if word == "ann":
            assert set(range(begin, begin + 3)) <= covered
        begin += len(word) + 1


def test_a_file_of_phrases_is_read_and_a_bad_line_is_named_without_its_content(tmp_path):
    path = tmp_path / "staff.tsv"
    path.write_text("# our staff\nMary Major\tPER\nHead Office\tLOC\n", "utf-8")
    made = Gazetteer(model=str(path))
    made.setup()
    assert [span.type for span in made.detect(["mary major left the head office"])[0]] == ["PER", "LOC"]
    path.write_text("Mary Major\n", "utf-8")
    with pytest.raises(RunError) as error:
        Gazetteer(model=str(path)).setup()
    assert "Mary" not in str(error.value)


def test_an_empty_gazetteer_is_refused():
    with pytest.raises(SettingsError):
        Gazetteer()
