import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.jsonl import Jsonl
from sottovoce.models.corpus.reasons import MAX_LINE_BYTES

BAD = [
    (b'{"text": "hi\xff"}', "not_utf8"),
    (b'{"text": "John Sm', "not_json_object"),
    (b"[1, 2]", "not_json_object"),
    (b"John Smith", "not_json_object"),
    (b"[" * 100_000, "not_json_object"),
    (b'{"turn": ' + b"9" * 5000 + b"}", "not_json_object"),
    (b'{"text": "' + b"x" * MAX_LINE_BYTES + b'"}', "line_too_long"),
    (b'{"text": "\\ud800"}', "not_utf8"),
    (b'{"text": "hi", "duration": NaN, "audio_filepath": "a"}', "duration_not_positive"),
]


@pytest.mark.parametrize(("line", "code"), BAD)
def test_each_bad_line_has_its_code_and_harms_no_other(tools, line, code):
    memory = tools.Memory(m=b'{"text": "before"}\n' + line + b'\n{"text": "after"}\n')
    before, refused, after = memory.read("jsonl")
    assert (before.text, tools.code(refused), after.text) == ("before", code, "after")
    assert [record.source.line for record in (before, refused, after)] == [1, 2, 3]
    assert "John" not in repr(refused) + str(refused.error)


def test_an_empty_file_has_no_records(tools):
    assert tools.Memory(m="").read("jsonl") == []
    assert tools.Memory(m="\n \n").read("jsonl") == []


def test_crlf_and_blank_lines_do_not_move_line_numbers(tools):
    memory = tools.Memory(m=b'\r\n{"text": "a"}\r\n\r\n{"text": "b"}')
    assert [(record.text, record.source.line) for record in memory.read("jsonl")] == [("a", 2), ("b", 4)]


LINES = st.lists(
    st.sampled_from([b"", b"  ", b"\r", b"{", b"\xff"])
    | st.builds(lambda text: json.dumps({"text": text}, ensure_ascii=False).encode("utf-8", "replace"), st.text()),
    max_size=30,
)


@given(LINES, st.integers(1, 40), st.booleans())
def test_the_size_of_a_chunk_changes_no_record(lines, records_per_batch, ended):
    data = b"\n".join(lines) + b"\n" * ended
    file = CorpusFile("f", "f", "f", len(data))

    def open_file(_):
        return io.BytesIO(data)

    def read(size):
        reader = Jsonl(size)
        batches = [
            list(reader.parse(chunk, lambda _: io.BytesIO(data)))
            for chunk in reader.scan(file, lambda _: io.BytesIO(data))
        ]
        assert all(len(batch) <= size for batch in batches)
        return [
            (record.source.line, record.error.code if isinstance(record, Refused) else record.text)
            for batch in batches
            for record in batch
        ]

    seen = read(records_per_batch)
    assert seen == read(10_000)
    assert [line for line, _ in seen] == [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
