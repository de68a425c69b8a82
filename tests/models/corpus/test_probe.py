import io

import pytest

from sottovoce.models.corpus import CorpusFile
from sottovoce.models.corpus.probe import EDGE_BYTES, WHOLE_BYTES, estimate, fingerprint
from sottovoce.models.errors import CorpusError


def probe(tools, format_name, **contents):
    memory = tools.Memory(**contents)
    return estimate(tools.reader(format_name, 100), memory.files, memory.open)


def test_audio_is_seen_in_the_first_records(tools):
    text = tools.jsonl(*[{"text": "hi"}] * 50)
    assert probe(tools, "jsonl", a=text).text_only
    assert not probe(tools, "jsonl", a=text, b=tools.jsonl({"text": "hi", "audio_filepath": "x.wav"})).text_only
    assert probe(tools, "kaldi", text="u hi\n").text_only
    assert not probe(tools, "kaldi", **{"text": "u hi\n", "wav.scp": "u a\n"}).text_only
    assert probe(tools, "conll", a="hi O\n").text_only


def test_the_number_of_records_is_about_right(tools):
    assert probe(tools, "jsonl", a=tools.jsonl(*[{"text": "hi"}] * 50)).records == 50
    large = tools.jsonl(*[{"text": f"{i % 1000:06d}"} for i in range(30_000)])
    assert probe(tools, "jsonl", a=large, b=large).records == pytest.approx(60_000, rel=0.01)
    assert probe(tools, "conll", a="hi O\n\nyou O\n\n").records == 2
    assert probe(tools, "parquet", **{"a.parquet": tools.parquet_bytes([{"text": "hi"}] * 70)}).records == 70


def test_the_bytes_of_text_are_estimated(tools):
    assert probe(tools, "jsonl", a=tools.jsonl(*[{"text": "é" * 10}] * 50)).text_bytes == 1000


def test_an_empty_corpus_has_nothing_and_only_bad_records_are_no_error(tools):
    seen = probe(tools, "jsonl", a="")
    assert (seen.records, seen.text_bytes, seen.text_only) == (0, 0, True)
    assert probe(tools, "jsonl", a="{\n").records == 1


def test_a_file_of_another_format_is_an_error_before_the_run(tools):
    with pytest.raises(CorpusError, match="not a complete file"):
        probe(tools, "parquet", **{"a.parquet": b"not parquet"})


def test_the_fingerprint_tells_corpora_apart_and_does_not_depend_on_where_they_lie(tools):
    def print_of(**contents):
        memory = tools.Memory(**contents)
        return fingerprint(memory.files, memory.open)

    base = print_of(a="one", b="two")
    assert base == print_of(b="two", a="one")
    others = [print_of(a="one", b="twx"), print_of(a="one", c="two"), print_of(a="onet", b="wo"), print_of(a="one")]
    long = "x" * EDGE_BYTES
    others += [print_of(a=long + "1"), print_of(a=long + "2"), print_of(a="1" + long), print_of(a=long + long + "1")]
    others += [print_of(a=long + "1" + long + long), print_of(a=long + "2" + long + long)]  # one letter in the middle
    assert len({base, *others}) == len(others) + 1

    memory = tools.Memory(a="one")
    moved = CorpusFile("/corpus/a", "a", "another label", 3)
    assert fingerprint([moved], memory.open) == fingerprint(memory.files, memory.open)


def test_of_a_huge_file_the_edges_are_looked_at():
    def print_of(edge, size=WHOLE_BYTES + 1):
        class Huge(io.BytesIO):
            """A file whose middle nobody may read."""

            def read(self, count=-1):
                assert count == EDGE_BYTES
                return super().read(count)

            def seek(self, place, *_):
                return super().seek(place - size + 2 * EDGE_BYTES)

        stored = b"x" * (2 * EDGE_BYTES - 1) + edge
        return fingerprint([CorpusFile("/corpus/a", "a", "a", size)], lambda uri: Huge(stored))

    assert len({print_of(b"1"), print_of(b"2"), print_of(b"1", WHOLE_BYTES + 2)}) == 3


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_table_in_utf_16_is_told_with_the_command_that_changes_it(tools, encoding):
    content = "\ufeffid,text\na,call anna\n".encode(encoding)
    with pytest.raises(CorpusError, match="UTF-16; expected UTF-8: iconv"):
        probe(tools, "csv", **{"a.csv": content})
