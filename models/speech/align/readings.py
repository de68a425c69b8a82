"""From a written text to the ways it may be spoken, with every character offset kept.

"807" is said "eight hundred seven", "eight hundred and seven" or "eight oh seven": each piece of the text has several
forms, and the aligner takes the one it hears. A form is a sequence of slots, a slot a choice of words. Letters are
"c.", as in the CMU dictionary. What carries no sound (emoji, dashes) gives no piece. All the ways to say a text are a graph
of words, the `Grammar` that an aligner decodes with; it leads a heard path back to the pieces.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sottovoce.models.errors import Refusal
from sottovoce.models.speech.align.numbers import money_forms, number_forms, ordinal_forms, time_forms
from sottovoce.models.speech.align.refusals import AlignmentFailed

Form = tuple[tuple[str, ...], ...]
Arc = tuple[int, int, float, str]  # from state, to state, probability, word

SYMBOLS = {
    "&": ("and",),
    "@": ("at",),
    "%": ("percent",),
    "+": ("plus", "and"),
    "=": ("equals",),
    "#": ("number", "hash", "pound"),
    "°": ("degrees",),
    "/": ("slash",),
    ".": ("dot", "point"),
    "_": ("underscore",),
    "-": ("dash", "hyphen", "minus"),
    ":": ("colon",),
}
NOT_DECOMPOSED = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ł": "l", "ı": "i", "þ": "th", "ð": "th"}
)
LETTER = r"[^\W\d_]"
PIECE = re.compile(
    rf"""(?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+ | (?:www\.|https?://)?[\w-]{{2,}}(?:\.{LETTER}{{2,}})+(?![\w@]))
    | (?P<money>[$£€]\d[\d,]*(?:\.\d\d)?)
    | (?P<time>\d{{1,2}}:\d\d(?!\d))
    | (?P<ordinal>\d+(?:st|nd|rd|th)(?!\w))
    | (?P<number>\d[\d,]*\d(?:\.\d+)? | \d(?:\.\d+)?)
    | (?P<initials>(?:{LETTER}\.){{2,}}{LETTER}?(?:'s)?)
    | (?P<word>{LETTER}\w*?(?:['’]{LETTER}+)*(?=['’]?(?:[\W_\d]|$)))
    | (?P<symbol>[&@%+=\#°])""",
    re.VERBOSE | re.IGNORECASE,
)


class TextNotPronounceable(Refusal):
    code = "text_not_pronounceable"
    allowed = "text in Latin letters and digits"


class NothingSpoken(Refusal):
    code = "nothing_spoken"
    allowed = "a text with at least one word"


@dataclass(frozen=True, slots=True, repr=False)
class Piece:
    """Characters [begin, end) of the text, and the ways to say them."""

    begin: int
    end: int
    forms: tuple[Form, ...]


def pieces(text: str, fold: Callable[[str], str] | None = None) -> list[Piece]:
    """The spoken pieces of the text in order; a Refusal where a letter or digit has no known sound.

    `fold` brings a word into the aligner's alphabet: `plain` unless given, which is right for English.
    """
    found, silent = [], list(text)
    shouted = text.isupper()
    for match in PIECE.finditer(text):
        kind = match.lastgroup or ""
        forms = _forms(kind, match.group(), shouted, fold or plain)
        found.append(Piece(match.start(), match.end(), tuple(dict.fromkeys(forms))))
        silent[match.start() : match.end()] = " " * (match.end() - match.start())
    if any(map(str.isalnum, silent)):
        raise TextNotPronounceable
    if not found:
        raise NothingSpoken
    return found


def as_said(text: str) -> tuple[str, ...]:
    """One way to say the text, word by word: the first form of each piece. "A" is the letter beside another letter."""
    slots = [slot for piece in pieces(text) for slot in piece.forms[0]]
    letters = [len(slot[0].strip(".")) == 1 for slot in slots]
    said = []
    for place, slot in enumerate(slots):
        beside = letters[max(place - 1, 0) : place] + letters[place + 1 : place + 2]
        said.append(slot[-1] if letters[place] and any(beside) else slot[0])
    return tuple(said)


def plain(word: str) -> str:
    """Lower case, straight apostrophes, accents dropped."""
    folded = unicodedata.normalize("NFKD", word.lower().translate(NOT_DECOMPOSED).replace("’", "'"))
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    if not re.fullmatch(r"[a-z0-9'.@_+:/,$£€-]*", letters):
        raise TextNotPronounceable
    return letters


def spelled(letters: str) -> Form:
    """ "ab" -> "a." and "b.", a slot for each letter."""
    return tuple((f"{letter}.",) for letter in letters)


def _forms(kind: str, written: str, shouted: bool, fold: Callable[[str], str]) -> list[Form]:
    if kind == "symbol":
        return [(SYMBOLS[written],)]
    text = fold(written) if kind == "word" else plain(written)
    if kind == "money":
        return money_forms(text)
    if kind == "time":
        return time_forms(text)
    if kind == "ordinal":
        return ordinal_forms(int(text[:-2]))
    if kind == "number":
        return number_forms(text)
    if kind == "initials":
        letters = [c for c in text.removesuffix("'s") if c != "."]
        return [(*spelled("".join(letters)[:-1]), (f"{letters[-1]}.'s" if text.endswith("'s") else f"{letters[-1]}.",))]
    if kind == "address":
        return _address_forms(text)
    return _word_forms(text, written.isupper() and not shouted)


def _word_forms(word: str, looks_spelled: bool) -> list[Form]:
    if len(word) == 1:
        return [((word, f"{word}.") if word in "ai" else (f"{word}.",),)]
    forms: list[Form] = [((word.strip("'"),),)]
    bare = word.replace("'", "")
    if (looks_spelled and len(bare) <= 6) or (bare.isascii() and not set(bare) & set("aeiouy")):
        forms.append(spelled(bare))
    return forms


def _address_forms(text: str) -> list[Form]:
    """ "john.smith@example.com": word by word with its signs, or with the part before the @ spelled out."""
    parts = re.findall(r"[a-z']+|\d+|[@._+:/-]", re.sub(r"^https?://", "", text))
    slots: list[tuple[str, ...]] = []
    for part in parts:
        if part in SYMBOLS:
            slots.append(SYMBOLS[part])
        elif part.isdigit():
            slots += number_forms(part)[-1]
        else:
            slots += _word_forms(part, False)[0]
    letters: list[tuple[str, ...]] = []
    for part in parts:
        letters += spelled(part) if part.isalpha() and part not in ("com", "org", "net") else _slots_of(part)
    return [tuple(slots), tuple(letters)]


def _slots_of(part: str) -> Form:
    if part in SYMBOLS:
        return (SYMBOLS[part],)
    return number_forms(part)[-1] if part.isdigit() else ((part,),)


@dataclass(frozen=True, slots=True, repr=False)
class Grammar:
    """A graph whose paths are the ways to say a text; `final` is the state where they end."""

    arcs: list[Arc]
    final: int
    piece_of: dict[tuple[int, int], int]  # (from state, to state) -> index of the piece

    def accepts(self, words: Sequence[str]) -> bool:
        """Whether the words, in this order, are one way to say the whole text."""
        return self._path(words) is not None

    def owners(self, words: Sequence[str]) -> list[int]:
        """Index of the piece that each word belongs to."""
        path = self._path(words)
        if path is None:
            raise AlignmentFailed
        return [self.piece_of[step] for step in path]

    def _path(self, words: Sequence[str]) -> list[tuple[int, int]] | None:
        leaving: dict[tuple[int, str], list[int]] = defaultdict(list)
        for origin, target, _, word in self.arcs:
            leaving[origin, word].append(target)
        reached: dict[int, list[tuple[int, int]]] = {0: []}
        for word in words:
            following: dict[int, list[tuple[int, int]]] = {}
            for state, path in reached.items():
                for target in leaving[state, word]:
                    following.setdefault(target, [*path, (state, target)])
            reached = following
        return reached.get(self.final)


def grammar_of(choices: Sequence[Sequence[Form]], known: Callable[[str], bool]) -> Grammar:
    """A chain of pieces, each a choice of forms; a form with a word that is not known is left out."""
    arcs: list[Arc] = []
    piece_of: dict[tuple[int, int], int] = {}
    state = 0
    fresh = len(choices) + 1  # states 0..len(choices) are the borders between pieces
    for index, forms in enumerate(choices):
        usable = [slots for form in forms if (slots := [[w for w in slot if known(w)] for slot in form]) and all(slots)]
        if not usable:
            raise AlignmentFailed
        for slots in usable:
            at = state
            for number, slot in enumerate(slots):
                target = state + 1 if number == len(slots) - 1 else fresh
                fresh += target == fresh
                arcs += [(at, target, 1.0 / len(usable) if number == 0 else 1.0, word) for word in slot]
                piece_of[at, target] = index
                at = target
        state += 1
    return Grammar(arcs, state, piece_of)
