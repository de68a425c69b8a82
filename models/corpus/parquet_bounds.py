"""How much of a Parquet row group may be held at once. A column of a few kilobytes can stand for gigabytes.

Pages are compressed, and a dictionary page lets a million rows point at one large value. So a group whose columns say that
they are too large is refused, and rows are read a few at a time, by how large a value of their dictionary can be. (The
sizes are the file's own word; a page whose header contradicts them is decompressed before anybody can tell.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

MAX_GROUP_BYTES = 1 << 30
HELD_BYTES = 1 << 28


class TooLarge(Exception):
    """The columns asked for are larger than anything that is read here."""


def rows_at_once(stream: BinaryIO, group: Any, names: Sequence[str], most: int) -> int:
    """Rows of the group that may be read together, of the columns `names`; `group` is its metadata."""
    columns = [group.column(index) for index in range(group.num_columns)]
    wanted = [column for column in columns if any(_belongs(column.path_in_schema, name) for name in names)]
    if sum(column.total_uncompressed_size for column in wanted) > MAX_GROUP_BYTES:
        raise TooLarge
    row_bytes = sum(dictionary_bytes(stream, column) for column in wanted)
    return max(1, min(most, HELD_BYTES // max(1, row_bytes)))


def dictionary_bytes(stream: BinaryIO, column: Any) -> int:
    """The size of the column's dictionary page once decompressed: no value can be larger. 0 where it has none."""
    if column.dictionary_page_offset is None:
        return 0
    before = stream.tell()
    stream.seek(column.dictionary_page_offset)
    head = stream.read(24)
    stream.seek(before)
    return _uncompressed_size(head)


def _uncompressed_size(head: bytes) -> int:
    """Of a page header: Thrift's compact protocol, fields 1 (kind of page) and 2 (size), both zigzag numbers."""
    at = 0
    numbers: list[int] = []
    while len(numbers) < 2:
        if at >= len(head) or head[at] != 0x15:  # the next field, a number of 32 bits
            raise TooLarge
        at, shift, number = at + 1, 0, 0
        while at < len(head):
            number |= (head[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if not head[at - 1] & 0x80:
                break
        numbers.append(number >> 1)
    return numbers[1]


def _belongs(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}.")
