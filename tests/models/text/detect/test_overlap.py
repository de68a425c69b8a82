"""The rule for overlaps: coverage never shrinks."""

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.records import Span
from sottovoce.models.text.detect.overlap import resolve

TEXTS = st.text(st.sampled_from(list("ab e\u0301\u200d😀👍🏽א\u0651")), max_size=30)
SPANS = st.lists(
    st.builds(Span, st.integers(-3, 33), st.integers(-3, 33), st.sampled_from(["PER", "CODE", "PHONE", "OTHER"])),
    max_size=8,
)


@given(TEXTS, SPANS)
def test_resolved_spans_are_sorted_disjoint_and_cover_all_that_was_covered(text, spans):
    resolved = resolve(spans, text)
    at = 0
    for span in resolved:
        assert at <= span.begin < span.end <= len(text)
        at = span.end
    covered = {i for span in resolved for i in range(span.begin, span.end)}
    assert {i for span in spans for i in range(max(0, span.begin), min(len(text), span.end))} <= covered


@given(TEXTS, SPANS)
def test_resolving_twice_changes_nothing(text, spans):
    once = resolve(spans, text)
    assert resolve(once, text) == once


def test_the_union_takes_the_type_of_the_longest_then_of_the_most_specific():
    assert resolve([Span(0, 4, "PER"), Span(2, 9, "EMAIL")], "x" * 20) == [Span(0, 9, "EMAIL")]
    assert resolve([Span(0, 4, "CODE"), Span(0, 4, "PHONE")], "x" * 20) == [Span(0, 4, "PHONE")]


def test_touching_spans_stay_apart():
    assert len(resolve([Span(0, 4, "PER"), Span(4, 9, "LOC")], "x" * 20)) == 2


def test_spans_widen_to_whole_graphemes():
    text = "Jose\u0301 👍🏽!"
    assert resolve([Span(0, 4, "PER")], text) == [Span(0, 5, "PER")]
    assert resolve([Span(7, 8, "PER")], text) == [Span(6, 8, "PER")]
