from io import BytesIO
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.corpus import CorpusFile, lines
from sottovoce.models.corpus.reasons import MAX_LINE_BYTES, LineTooLong, NotUtf8
from sottovoce.models.errors import CorpusError

ODD_LINES = [b"", b"\r", b" ", b"\r\r", lines.BYTE_ORDER_MARK]
CONTENT = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")) | st.sampled_from(ODD_LINES))


def file_of(tools, data):
    memory = tools.Memory(f=data)
    return memory.files[0], memory.open


@given(
    content=CONTENT, last=st.sampled_from([b"", b"\n", b"\r\n"]), at_once=st.integers(1, 5), block=st.integers(1, 50)
)
def test_cutting_never_loses_repeats_or_moves_a_line(content, last, at_once, block):
    data = b"\n".join(content) + last
    file = CorpusFile("f", "f", "f", len(data))
    with mock.patch.object(lines, "BLOCK_BYTES", block), mock.patch.object(lines, "CHUNK_BYTES", 64):
        chunks = list(lines.cut(file, lambda _: BytesIO(data), at_once))
        seen = [line for chunk in chunks for line in lines.lines_of(chunk, lambda _: BytesIO(data))]
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    expected[:1] = [first.removeprefix(lines.BYTE_ORDER_MARK) for first in expected[:1]]
    assert [line.number for line in seen] == list(range(1, len(expected) + 1))
    assert [line.content for line in seen] == [line.removesuffix(b"\r") for line in expected]
    assert [chunk.begin for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]


@given(lengths=st.lists(st.integers(0, 30), max_size=20), block=st.integers(1, 40))
def test_a_line_over_the_limit_is_told_and_its_neighbours_are_whole(lengths, block):
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    file = CorpusFile("f", "f", "f", len(data))
    with mock.patch.object(lines, "BLOCK_BYTES", block), mock.patch.object(lines, "MAX_LINE_BYTES", 16):
        seen = list(lines.lines_of(lines.whole(file), lambda _: BytesIO(data)))
    assert [line.content for line in seen] == [b"x" * length if length <= 16 else None for length in lengths]


def test_a_huge_line_is_never_held(tools):
    """The file below is 64 times the limit; peak memory stays near the limit."""
    import tracemalloc

    class Endless:
        def __init__(self, size):
            self.left = size

        def read(self, count):
            count = min(count, self.left)
            self.left -= count
            return b"x" * count

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    size = 64 * MAX_LINE_BYTES
    tracemalloc.start()
    (line,) = lines.lines_of(lines.whole(CorpusFile("f", "f", "f", size)), lambda _: Endless(size))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert line.content is None and line.end == size
    assert peak < 4 * MAX_LINE_BYTES
    with pytest.raises(LineTooLong):
        line.text()


def test_a_file_that_became_shorter_is_an_error_not_a_smaller_corpus(tools):
    file, open_file = file_of(tools, b"one\ntwo\n")
    with pytest.raises(CorpusError, match="shorter"):
        list(lines.lines_of(lines.whole(CorpusFile(file.uri, "f", "f", 100)), open_file))


def test_a_byte_order_mark_is_dropped_from_the_first_line_only(tools):
    file, open_file = file_of(tools, b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert [line.text() for line in lines.lines_of(lines.whole(file), open_file)] == ["a", "\ufeffb"]


def test_bytes_that_are_not_utf8_are_refused(tools):
    file, open_file = file_of(tools, b"\xff\n")
    with pytest.raises(NotUtf8):
        next(lines.lines_of(lines.whole(file), open_file)).text()


def test_estimate_is_exact_for_a_small_file(tools):
    file, open_file = file_of(tools, b"a\n\nb\r\nc")
    assert lines.estimate(file, open_file) == 3
