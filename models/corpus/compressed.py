"""Compressed files, by the ends of their names. They are read from their beginning on, so each is one piece.

What is torn off in the middle gives its complete lines and one refusal.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from sottovoce.models.corpus import CorpusFile, OpenFile

OPENERS: dict[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
FAULTS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
TO_THE_END = 1 << 62  # as the end of a piece whose length only reading tells


def plain_name(name: str) -> str:
    """The name of what is inside."""
    return next((name[: -len(suffix)] for suffix in OPENERS if name.endswith(suffix)), name)


def is_compressed(file: CorpusFile) -> bool:
    return file.name.endswith(tuple(OPENERS))


@contextmanager
def reading(file: CorpusFile, open_file: OpenFile) -> Iterator[BinaryIO]:
    """The content of the file."""
    with open_file(file.uri) as stream:
        opener = next((opener for suffix, opener in OPENERS.items() if file.name.endswith(suffix)), None)
        yield stream if opener is None else opener(stream)


def sample_of(file: CorpusFile, open_file: OpenFile, size: int) -> tuple[bytes, float]:
    """The first bytes of the content, and about what share of the file they are; nothing of one that is broken."""
    with open_file(file.uri) as stream:
        opener = next((opener for suffix, opener in OPENERS.items() if file.name.endswith(suffix)), None)
        try:
            sample = stream.read(size) if opener is None else opener(stream).read(size)
        except (*FAULTS, OSError):
            return b"", 1.0
        if opener is None or len(sample) < size:
            return sample, len(sample) / file.size if opener is None and file.size else 1.0
        return sample, min(1.0, stream.tell() / file.size)
