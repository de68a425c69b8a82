"""Which words a set of sensitive spans covers, when they are said, and the text without them.

A span that touches a word masks the whole word: half a name is still a name. A letter or digit inside a span that no
word covers cannot be located in the speech, so the utterance is refused rather than published with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sottovoce.models.errors import Refusal
from sottovoce.models.records import Span, Word

# Where these meet, an aligner finds the border between them late or early: vowel or glide and vowel or glide; consonants
# of which one may be a closure without a sound of its own. Elsewhere the masker's guard band is enough (docs/speech.md).
VOWELS, GLIDES = "AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW", "L R W Y"
FRICATIVES, STOPS, NASALS = "F V TH DH S Z SH ZH HH CH JH", "P B T D K G CH JH", "M N NG"
BLENDING = tuple(
    frozenset(f"{one} {other}".split()) for one, other in ((VOWELS, GLIDES), (FRICATIVES, STOPS), (NASALS, STOPS))
)
KNOWN = frozenset().union(*BLENDING)
BLENDING_BEGIN_S, BLENDING_END_S = 0.015, 0.025
PAUSE_S = 0.1
LINKING = "-–—/'’_.,;:"  # what is left hanging at the edge of a token when its neighbour was removed
MISFIT = "MISFIT"  # type of the span of a word that is left out only because of what the aligner heard


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


def mark(text: str, spans: Iterable[Span], words: Sequence[Word], unsaid_guard_s: float | None = None) -> MaskedWords:
    """Masked words of an aligned text. Neighbouring masked words make one stretch, pause included.

    A stretch also takes some of the pause on either side, where nothing is lost, and some of the neighbour where the border
    between the two is hard to find. With `unsaid_guard_s` the words were never spoken: a stretch is their silence less
    that guard band at both ends, so that a mask with its guard band takes nothing of the neighbours.
    """
    indices: set[int] = set()
    removed: list[tuple[int, int]] = []
    for span in spans:
        if not 0 <= span.begin < span.end <= len(text):
            raise SpanOutsideText
        touched = [i for i, word in enumerate(words) if _touching(word, [span])]
        _refuse_uncovered(text, span, [words[i] for i in touched])
        indices.update(touched)
        removed.append((span.begin, span.end))
    removed += [(words[i].begin, words[i].end) for i in indices]
    groups = _neighbours(sorted(indices))
    if unsaid_guard_s is None:
        stretches = [_stretch(words, group) for group in groups]
    else:
        stretches = [_inside(words[group[0]].begin_s, words[group[-1]].end_s, unsaid_guard_s) for group in groups]
    return MaskedWords(frozenset(indices), tuple(stretches), _merged(removed))


def with_misfits(words: Sequence[Word], spans: Iterable[Span]) -> tuple[Span, ...]:
    """These spans, and one for each other word that is left out because of a misfit.

    Those are the misfits, and the words beside them: where a misfit begins and ends nobody knows. A sensitive word among all
    these may be said a little off its place: the words beside it go, too.
    """
    own = tuple(spans)
    unsure = _and_beside([i for i, word in enumerate(words) if word.misfit], len(words))
    sensitive = [i for i in unsure if _touching(words[i], own)]
    left_out = [words[i] for i in sorted(unsure | _and_beside(sensitive, len(words)))]
    misfits = (Span(w.begin, w.end, MISFIT, detector="align") for w in left_out if not _touching(w, own))
    return tuple(sorted((*own, *misfits), key=lambda span: (span.begin, span.end)))


def to_the_edges(masked: MaskedWords, words: Sequence[Word], duration_s: float) -> MaskedWords:
    """A misfit among the first words may be said before them, one among the last after them: up to the edge all goes."""
    stretches = []
    for group, (begin_s, end_s) in zip(_neighbours(sorted(masked.indices)), masked.stretches, strict=True):
        if any(words[index].misfit for index in group):
            begin_s = 0.0 if group[0] == 0 else begin_s
            end_s = max(duration_s, end_s) if group[-1] == len(words) - 1 else end_s
        stretches.append((begin_s, end_s))
    return replace(masked, stretches=tuple(stretches))


def _and_beside(indices: Iterable[int], count: int) -> set[int]:
    return {near for i in indices for near in (i - 1, i, i + 1) if 0 <= near < count}


def _touching(word: Word, spans: Iterable[Span]) -> list[Span]:
    return [span for span in spans if word.begin < span.end and span.begin < word.end]


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


def _neighbours(indices: Sequence[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for index in indices:
        if groups and groups[-1][-1] == index - 1:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _stretch(words: Sequence[Word], group: Sequence[int]) -> tuple[float, float]:
    first, last = words[group[0]], words[group[-1]]
    begin_s, end_s = max(0.0, first.begin_s - PAUSE_S), last.end_s
    if group[0]:
        before = words[group[0] - 1]
        border_s = min(before.end_s, first.begin_s)
        more_s = BLENDING_BEGIN_S if _may_blend(before, first) else 0.0
        begin_s = max(begin_s, before.begin_s, border_s - more_s)
    if group[-1] + 1 < len(words):
        after = words[group[-1] + 1]
        border_s = max(after.begin_s, end_s)
        more_s = BLENDING_END_S if _may_blend(last, after) else 0.0
        end_s = min(end_s + max(PAUSE_S, more_s), max(after.end_s, end_s), border_s + more_s)
    return begin_s, end_s


def _may_blend(one: Word, other: Word) -> bool:
    """Whether the last sound of one and the first of the other run into each other, or nothing is known of them."""
    if not one.phones or not other.phones:
        return True
    sounds = {one.phones[-1].label, other.phones[0].label}
    return any(sounds <= kinds for kinds in BLENDING) or not sounds <= KNOWN


def _inside(begin_s: float, end_s: float, guard_s: float) -> tuple[float, float]:
    inset_s = min(guard_s, (end_s - begin_s) / 3)
    return begin_s + inset_s, end_s - inset_s


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    out: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((begin, end))
    return tuple(out)
