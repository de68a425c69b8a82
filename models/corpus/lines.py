"""The lines of a byte range, with exact numbers and offsets, in bounded memory.

Only a line feed ends a line (a carriage return before it is dropped); a line over the limit is skipped, not held. Compressed
files, known by the ends of their names, are read from their beginning on, so each is one piece; what is torn off in the middle
gives its complete lines and one refusal.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

from sottovoce.models.corpus import CHUNK_BYTES, Chunk, CorpusFile, OpenFile
from sottovoce.models.corpus.reasons import MAX_LINE_BYTES, FileUnreadable, LineTooLong, NotUtf8
from sottovoce.models.errors import CorpusError

BLOCK_BYTES = 1 << 18
SAMPLE_BYTES = 1 << 18
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OPENERS: dict[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
FAULTS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
TO_THE_END = 1 << 62  # as the end of a piece whose length only reading tells


class Line(NamedTuple):
    """One line of a file: its number, its bytes, and where they stand, so that a refusal can name the place."""

    number: int
    begin: int
    end: int
    content: bytes | None  # None: too long, or torn
    torn: bool = False  # the compressed file breaks off here

    @property
    def blank(self) -> bool:
        """Whether it holds nothing but white space; a line that was too long or torn does not count as blank."""
        return self.content is not None and not self.content.strip()

    def text(self) -> str:
        """The content as UTF-8; a Refusal where it was too long, torn off or is not UTF-8."""
        if self.content is None:
            raise FileUnreadable if self.torn else LineTooLong
        try:
            return self.content.decode("utf-8")
        except UnicodeDecodeError:
            raise NotUtf8 from None


def lines_of(chunk: Chunk, open_file: OpenFile) -> Iterator[Line]:
    """The lines of a chunk in order, without their ends. CorpusError where the file has become shorter since it was cut."""
    with reading(chunk.file, open_file) as stream:
        if chunk.begin:
            stream.seek(chunk.begin)
        yield from _lines(stream, chunk.begin, chunk.end, chunk.first)


def whole(file: CorpusFile) -> Chunk:
    """The file as one chunk, from its first line on; how long a compressed one is, only reading tells."""
    return Chunk(file, 0, TO_THE_END if is_compressed(file) else file.size, first=1)


def _lines(stream: Any, begin: int, end: int, number: int) -> Iterator[Line]:
    held, line_begin, at = b"", begin, begin
    read = stream.read1 if end == TO_THE_END else stream.read  # `read` would lose what comes before the tear
    while at < end:
        try:
            block = read(min(BLOCK_BYTES, end - at))
        except FAULTS:
            yield Line(number, line_begin, at, None, torn=True)
            return
        if not block and end == TO_THE_END:
            end = at
            break
        if not block:  # silently losing the rest would look like a smaller corpus
            raise CorpusError("a file of the corpus became shorter while it was read; run again when it is complete")
        *complete, rest = block.split(b"\n")
        for piece in complete:
            at += len(piece) + 1
            yield _line(number, line_begin, at, held + piece)
            held, line_begin, number = b"", at, number + 1
        at += len(rest)
        if len(held) <= MAX_LINE_BYTES:
            held += rest
    if line_begin < end:
        yield _line(number, line_begin, end, held)


def _line(number: int, begin: int, end: int, content: bytes) -> Line:
    if end - begin > MAX_LINE_BYTES + 1:
        return Line(number, begin, end, None)
    if number == 1:
        content = content.removeprefix(BYTE_ORDER_MARK)
    return Line(number, begin, end, content.removesuffix(b"\r"))


def cut(file: CorpusFile, open_file: OpenFile, records_per_batch: int) -> Iterator[Chunk]:
    """Chunks of whole lines, for formats in which a line is a record; a compressed file is one chunk."""
    if is_compressed(file):
        yield whole(file)
        return
    begin, first, records = 0, 1, 0
    line = None
    for line in lines_of(whole(file), open_file):
        records += not line.blank
        if records >= records_per_batch or line.end - begin >= CHUNK_BYTES:
            yield Chunk(file, begin, line.end, first)
            begin, first, records = line.end, line.number + 1, 0
    if line is not None and begin < line.end:
        yield Chunk(file, begin, line.end, first)


def estimate(file: CorpusFile, open_file: OpenFile, separator: bytes = b"\n") -> int:
    """About how many records, from the first quarter of a megabyte."""
    sample, share = sample_of(file, open_file, SAMPLE_BYTES)
    records = sum(1 for record in sample.replace(b"\r", b"").split(separator) if record.strip())
    return round(records / share) if sample else 0


def plain_name(name: str) -> str:
    """The name of what is inside."""
    return next((name[: -len(suffix)] for suffix in OPENERS if name.endswith(suffix)), name)


def is_compressed(file: CorpusFile) -> bool:
    """By the name alone: .gz, .bz2 or .xz at its end."""
    return file.name.endswith(tuple(OPENERS))


@contextmanager
def reading(file: CorpusFile, open_file: OpenFile) -> Iterator[BinaryIO]:
    """The content of the file."""
    with open_file(file.uri) as stream:
        opener = next((opener for suffix, opener in OPENERS.items() if file.name.endswith(suffix)), None)
        yield stream if opener is None else opener(stream)


def sample_of(file: CorpusFile, open_file: OpenFile, size: int) -> tuple[bytes, float]:
    """The first bytes of the content, and about what share of the file they are; of one that is broken, what comes before."""
    with open_file(file.uri) as stream:
        opener = next((opener for suffix, opener in OPENERS.items() if file.name.endswith(suffix)), None)
        sample = b""
        try:
            read = stream.read if opener is None else opener(stream).read1
            while block := read(size - len(sample)):
                sample += block
        except (*FAULTS, OSError):
            pass
        if opener is None or len(sample) < size:
            return sample, len(sample) / file.size if opener is None and file.size else 1.0
        return sample, min(1.0, stream.tell() / file.size)
