"""Words or pieces of words as numbers, from a public list.

A vocabulary counted in private text would publish its rare words with the model, whatever the noise on the weights. So there
is no way to count one: `words` takes the most frequent whole words of the tokenizer that ships with the detector, `pieces`
all of its pieces, and a path names a public list, one word a line, or a `tokenizer.json`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from sottovoce.models.errors import SettingsError

PADDING, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
WORDS, PIECES = "words", "pieces"
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def words_of(text: str) -> tuple[str, ...]:
    """What a recogniser would write: lower case, no punctuation; `[PERSON]` is the word person."""
    return tuple(WORD.findall(text.lower()))


@dataclass(frozen=True)
class Vocabulary:
    """`names[number]` is a word or a piece of one; the first four are special."""

    names: tuple[str, ...]
    tokenizer: Any = None  # cuts words into pieces; None where words stay whole

    def __len__(self) -> int:
        return len(self.names)

    @property
    def ends(self) -> tuple[int, int]:
        """What opens and what closes a line."""
        return BEGIN, END

    @functools.cached_property
    def numbers(self) -> dict[str, int]:
        """The way back from a name to its number, made once."""
        return {name: number for number, name in enumerate(self.names)}

    def encode(self, words: Sequence[str]) -> list[int]:
        if self.tokenizer is None:
            return [self.numbers.get(word, UNKNOWN) for word in words]
        pieces = self.tokenizer.encode(" ".join(words), add_special_tokens=False).tokens
        return [self.numbers.get(piece, UNKNOWN) for piece in pieces]

    def decode(self, numbers: Sequence[int]) -> str:
        names = [self.names[number] for number in numbers if number not in (PADDING, BEGIN, END)]
        return " ".join(names).replace(" ##", "")


def vocabulary_of(source: str, size: int) -> Vocabulary:
    """`source` is words, pieces, a `tokenizer.json` or a word list. `size` bounds the whole words and not the pieces;
    the special names come first. SettingsError where a file cannot be read, or holds no word."""
    if source in (WORDS, PIECES):
        tokenizer = _tokenizer(str(resources.files("sottovoce.models.text.detect") / "weights" / "tokenizer.json"))
    elif source.endswith(".json"):
        tokenizer = _tokenizer(source)
    else:
        return Vocabulary((*SPECIAL, *_listed(source)[:size]))
    # in the order of its numbers, which is that of frequency
    names = [name for name, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    if source == WORDS:
        whole = [name for name in names if WORD.fullmatch(name) and name.isascii() and not name.isdigit()]
        return Vocabulary((*SPECIAL, *whole[:size]))
    names = [name for name in names if not re.fullmatch(r"\[.*\]|<.*>", name)]
    return Vocabulary((*SPECIAL, *names), tokenizer)


def _listed(path: str) -> list[str]:
    try:
        words = [word for line in Path(path).read_text(encoding="utf-8").splitlines() for word in words_of(line)[:1]]
    except (OSError, UnicodeDecodeError):
        raise SettingsError([f"model.vocabulary: {path!r} is not words, pieces, or a file of public words"]) from None
    if not words:
        raise SettingsError([f"model.vocabulary: {path!r} holds no word"])
    return list(dict.fromkeys(words))


@functools.lru_cache(maxsize=2)
def _tokenizer(path: str) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception:  # noqa: BLE001  the library raises nothing narrower
        raise SettingsError([f"model.vocabulary: {path!r} is not a tokenizer.json"]) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
