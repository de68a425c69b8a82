"""The sample of errors that is judged: which words are in it, and how judgements are counted."""

from pathlib import Path

from draw_errors import counted, errors, show_judged

from sottovoce.models.records import Span
from sottovoce.models.text.detect.builder.corpora import TaggedExample

EXAMPLE = TaggedExample(("call", "anna", "b.", "now"), ("O", "B-PER", "I-PER", "O"))


def test_missed_words_and_words_hit_in_vain_are_shown_in_their_sentence():
    found = [Span(0, 9, "PER")]
    assert list(errors(EXAMPLE, found)) == [
        ("in vain", "O", "«call» anna b. now", "call"),
        ("missed", "PER", "call anna «b.» now", "b."),
    ]


def test_training_counts_a_form_inside_and_outside():
    times = counted(iter([EXAMPLE, TaggedExample(("anna", "x"), ("O", "?"))]))
    assert times["anna"] == [1, 1] and "x" not in times


def test_every_judged_word_is_one_of_the_kinds_that_the_docs_count(capsys):
    path = Path(__file__).parents[2] / "docs" / "figures" / "judged_errors.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")][1:]
    assert {row[0] for row in rows if row[2] == "missed"} == {"missed", "small word", "gold"}
    assert {row[0] for row in rows if row[2] == "in vain"} == {"false alarm", "small word", "gold", "not judged"}
    show_judged(path)
    assert "missed, all locales, 240: missed 95" in capsys.readouterr().out
