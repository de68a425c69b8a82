"""Laws of every strategy in the table, over texts as bad as they come."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sottovoce.models.ledger.book import faults_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Span, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.text.edits import apply_edits
from sottovoce.models.text.replace import TABLE

SECRET = Secret(b"k" * 32)
TYPES = ("PER", "LOC", "ORG", "DATE", "TIME", "CODE", "PHONE", "CARD", "IBAN", "EMAIL", "URL", "AMOUNT", "OTHER")
PARTS = """john smith|new york|six pm|12/03/1980|07744 123456|s m i t h|@|example.com|twenty third|mr|$5|😀|👩‍👧|e\u0301|\u200d|\
مرحبا|שלום|\u202e|\x00|\t|\n|東京|\ud800|İ|ß|ﬁ|１２３|٣|'"""
TEXTS = st.one_of(st.text(max_size=50), st.lists(st.sampled_from(PARTS.split("|")), max_size=10).map(" ".join))


@st.composite
def utterances(draw):
    text = draw(TEXTS)
    borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    types = st.sampled_from(TYPES)
    spans = [Span(b, e, draw(types)) for b, e in zip(borders[::2], borders[1::2], strict=False)]
    slots = [Slot(span.begin, span.end, "slot") for span in spans]
    return Utterance("u", "d", 0, text, Source("f", 1), spans=tuple(spans), slots=tuple(slots))


@pytest.fixture(
    params=[{"use": name, **options} for name in TABLE for options in ({}, {"p": 0.5})], ids=str, scope="module"
)
def strategy(request):
    made = read_spec("replace", request.param).make()
    made.setup()
    return made


def test_edits_are_sorted_inside_the_spans_and_leave_a_valid_example(strategy):
    @given(utterances())
    @example(Utterance("u", "d", 0, "a b", Source("f", 1), spans=(Span(2, 3, "ORG"),)))
    @example(Utterance("u", "d", 0, "a b", Source("f", 1), spans=(Span(0, 1, "ORG"), Span(2, 3, "ORG"))))
    def law(utterance):
        edits = strategy.replace(utterance, SECRET)
        at = 0
        for edit in edits:
            assert at <= edit.begin < edit.end
            inside = any(span.begin <= edit.begin and edit.end <= span.end for span in utterance.spans)
            assert inside or utterance.text[edit.begin : edit.end].lower() in ("a", "an")  # that fits what follows
            assert edit.replacement
            at = edit.end
        text, slots = apply_edits(utterance.text, edits, utterance.slots)
        assert len(slots) == len(utterance.slots) and all(0 <= s.begin < s.end <= len(text) for s in slots)
        assert strategy.replace(utterance, SECRET) == edits

    law()


def test_the_ledger_entry_is_fit_for_the_book(strategy):
    assert not faults_of(strategy.ledger())


@pytest.mark.slow
def test_ten_thousand_words_with_a_span_on_each(strategy):
    text = " ".join(["john"] * 10_000)
    spans = tuple(Span(at, at + 4, "PER") for at in range(0, len(text), 5))
    edits = strategy.replace(Utterance("u", "d", 0, text, Source("f", 1), spans=spans), SECRET)
    new_text, _ = apply_edits(text, edits)
    assert len(new_text.split()) == 10_000


@pytest.mark.parametrize("text", ["", "hello", "😀"])
def test_texts_without_spans_stay_as_they_are(strategy, text):
    assert strategy.replace(Utterance("u", "d", 0, text, Source("f", 1)), SECRET) == []


@pytest.mark.parametrize("name", TABLE)
def test_at_p_one_no_kept_value_remains(name):
    """Over 300 draws a value from a list of thousands comes back by chance fewer than 30 times, if at all."""
    made = read_spec("replace", name).make()
    made.setup()
    kept = 0
    for number in range(300):
        utterance = Utterance(str(number), str(number), 0, "ask zebulon", Source("f", 1), spans=(Span(4, 11, "PER"),))
        kept += "zebulon" in apply_edits(utterance.text, made.replace(utterance, SECRET))[0]
    assert kept < 30
