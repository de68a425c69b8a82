"""All the ways to say a text as a graph of words, and the way back from a heard path to the pieces of the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sottovoce.models.speech.align.readings import Form
from sottovoce.models.speech.align.refusals import AlignmentFailed

Arc = tuple[int, int, float, str]  # from state, to state, probability, word


@dataclass(frozen=True, slots=True, repr=False)
class Grammar:
    """A graph whose paths are the ways to say a text; `final` is the state where they end."""

    arcs: list[Arc]
    final: int
    piece_of: dict[tuple[int, int], int]  # (from state, to state) -> index of the piece

    def accepts(self, words: Sequence[str]) -> bool:
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
