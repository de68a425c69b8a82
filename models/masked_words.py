"""Which words a set of sensitive spans covers, when they are said, and the text without them.

A span that touches a word masks the whole word: half a name is still a name. A letter or digit inside a span that no
word covers cannot be located in the speech, so the utterance is refused rather than published with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sottovoce.models.errors import Refusal
from sottovoce.models.records import Span, Word

LINKING = "-–—/'’_.,;:"  # what is left hanging at the edge of a token when its neighbour was removed


class WordNotLocated(Refusal):
    code = "word_not_located"
    allowed = "sensitive spans whose letters and digits all belong to words that the aligner found in the speech"


class SpanOutsideText(Refusal):
    code = "span_outside_text"
    allowed = "spans that begin before they end and lie inside the text"


@dataclass(frozen=True, slots=True, repr=False)
class MaskedWords:
    """`indices` of masked words, their time `stretches`, and the `removed` character ranges: words and spans alike."""

    indices: frozenset[int]
    stretches: tuple[tuple[float, float], ...]
    removed: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        return "<MaskedWords: sensitive>"


def mark(text: str, spans: Iterable[Span], words: Sequence[Word], pause_s: float = 0.1) -> MaskedWords:
    """Masked words of an aligned text. Neighbouring masked words make one stretch, pause included.

    A stretch also takes up to `pause_s` of the pause on either side: nothing is lost there, and an aligner that puts a
    border a little too far inside the word does no harm.
    """
    indices: set[int] = set()
    removed: list[tuple[int, int]] = []
    for span in spans:
        if not 0 <= span.begin < span.end <= len(text):
            raise SpanOutsideText
        touched = [i for i, word in enumerate(words) if word.begin < span.end and span.begin < word.end]
        _refuse_uncovered(text, span, [words[i] for i in touched])
        indices.update(touched)
        removed.append((span.begin, span.end))
    removed += [(words[i].begin, words[i].end) for i in indices]
    return MaskedWords(frozenset(indices), tuple(_stretches(words, sorted(indices), pause_s)), _merged(removed))


def text_between(text: str, begin: int, end: int, removed: Iterable[tuple[int, int]]) -> str:
    """text[begin:end] without the removed characters, single-spaced, without tokens in which nothing is spoken."""
    kept = list(text[begin:end])
    for first, last in removed:
        for position in range(max(first, begin), min(last, end)):
            kept[position - begin] = "\0"
    tokens = []
    for token in "".join(kept).split():
        parts = [part.strip(LINKING) for part in token.split("\0")] if "\0" in token else [token]
        tokens += [part for part in parts if any(map(str.isalnum, part))]
    return " ".join(tokens)


def text_with_markers(text: str, spans: Iterable[Span], words: Sequence[Word]) -> str:
    """The text with `[TYPE]` in place of each span, widened to whole words. For evaluation; speech sinks remove."""
    pieces, done = [], 0
    for span in sorted(spans, key=lambda span: (span.begin, span.end)):
        touched = [word for word in words if word.begin < span.end and span.begin < word.end]
        begin = min([span.begin, *(word.begin for word in touched)])
        end = max([span.end, *(word.end for word in touched)])
        if begin >= done:
            pieces += [text[done:begin], f"[{span.type}]"]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def _refuse_uncovered(text: str, span: Span, touched: Sequence[Word]) -> None:
    for position in range(span.begin, span.end):
        if text[position].isalnum() and not any(word.begin <= position < word.end for word in touched):
            raise WordNotLocated


def _stretches(words: Sequence[Word], indices: Sequence[int], pause_s: float) -> Iterable[tuple[float, float]]:
    groups: list[list[int]] = []
    for index in indices:
        if groups and groups[-1][-1] == index - 1:
            groups[-1].append(index)
        else:
            groups.append([index])
    for group in groups:
        first, last = words[group[0]], words[group[-1]]
        before_s = words[group[0] - 1].end_s if group[0] else 0.0
        after_s = words[group[-1] + 1].begin_s if group[-1] + 1 < len(words) else last.end_s
        yield (
            max(min(before_s, first.begin_s), first.begin_s - pause_s),
            min(max(after_s, last.end_s), last.end_s + pause_s),
        )


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    out: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((begin, end))
    return tuple(out)
