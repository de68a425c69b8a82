"""The case of letters in training examples: as a recogniser leaves it (none), as people write, and all that lies between.

Case is shown to the network apart from the words (`pieces.case_of`). So that it is used where it tells and not needed where it
does not, every example is seen with and without it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.models.text.detect.builder.corpora import TaggedExample, stretches
from sottovoce.models.text.detect.builder.lists import words

_NAMES = ("PER", "LOC", "ORG")
_SMALL = frozenset(("a", "an", "and", "at", "de", "for", "in", "of", "on", "or", "the", "to", "und", "van", "von"))
_ENDS = (".", "?", "!")
# Shares of: small letters, case as it should be, only the first word and "I", capitals throughout, capitals of other words as
# well.
_WRITTEN = (0.36, 0.54, 0.03, 0.03, 0.04)
_TRANSCRIBED = (0.62, 0.25, 0.06, 0.03, 0.04)


def varied(example: TaggedExample, names: Sequence[int], draw: np.random.Generator) -> tuple[str, ...]:
    """The tokens in one of several styles. A text that has case keeps its own; one that has none is given one."""
    tokens = example.tokens
    own = "".join(tokens)
    natural = example.corpus != "templates" and own != own.lower() and own != own.upper()
    style = int(draw.choice(5, p=_WRITTEN if natural else _TRANSCRIBED))
    if style == 0:
        return tuple(token.lower() for token in tokens)
    if style == 3:
        return tuple(token.upper() for token in tokens)
    proper = set(names) if style != 2 else set()
    if style != 2:
        proper |= {at for begin, end, kind in stretches(example.labels) if kind in _NAMES for at in range(begin, end)}
    if natural and style != 2:
        return tuple(token.capitalize() if at in proper and token.islower() and token not in _SMALL else token
                     for at, token in enumerate(tokens))  # fmt: skip
    extra = draw.random(len(tokens)) < (0.25 if style == 4 else 0.01)
    return tuple(
        _cased(token.lower(), at == 0 or tokens[at - 1].endswith(_ENDS), at in proper or bool(extra[at]), style)
        for at, token in enumerate(tokens)
    )


def _cased(token: str, begins: bool, proper: bool, style: int) -> str:
    calendar = style != 2 and token in (*words("weekday"), *words("month"))
    if token in ("i", "i'm", "i'd", "i'll", "i've") or begins or calendar or (proper and token not in _SMALL):
        at = next((at for at, sign in enumerate(token) if sign.isalnum()), 0)
        return token[:at] + token[at : at + 1].upper() + token[at + 1 :]
    return token
