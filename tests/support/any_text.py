"""Text as it comes, and what every detector owes it."""

from __future__ import annotations

from hypothesis import strategies as st

# Emoji, right-to-left, combining marks, controls, lone surrogates, mixed scripts, long words.
_ODD = (
    "john", "Anna", "e\u0301", "👩‍👩‍👧", "مرحبا", "שלום", "\u202e", "\x00", "\ud800", "東京", "12:30", "don't", "a" * 130,
    "🏳️‍🌈", " ", "\n", "paris", "ﬁ", "\u200b", "İstanbul",
)  # fmt: skip
any_text = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(_ODD), max_size=12).map(" ".join))


def check_spans(text: str, spans) -> None:
    """The contract of a detector: sorted, not overlapping, inside the text."""
    at = 0
    for span in spans:
        assert at <= span.begin < span.end <= len(text)
        assert span.type
        assert 0 <= span.score <= 1
        at = span.end
