"""Reading labelled sentences, and the faults that stop it."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from committed_run import commit
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import CorpusError
from sottovoce.models.training.examples import Labels, check_labels, labels_of, read_corpus
from sottovoce.models.training.networks.words import bucket_of, bytes_of, read_vectors

SLOT = pa.struct([("begin", pa.int32()), ("end", pa.int32()), ("name", pa.string())])


def jsonl(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sink(folder, *rows):
    folder.mkdir(exist_ok=True)
    columns = {"id": pa.string(), "text": pa.string(), "intent": pa.string(), "slots": pa.list_(SLOT)}
    columns["language"] = pa.string()
    filled = [{"id": str(number), "language": "en", **row} for number, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(filled, pa.schema(list(columns.items()))), folder / "part-00000.parquet")
    commit(folder.parent)
    return folder


def slot(begin, end, name="artist"):
    return {"begin": begin, "end": end, "name": name}


def test_slots_of_the_sink_become_tags_of_words(tmp_path):
    folder = sink(tmp_path / "slu", {"text": "play [NAME] smith, please", "intent": "Play", "slots": [slot(5, 17)]})
    (example,) = read_corpus(folder).examples
    assert example.tokens == ("play", "[", "NAME", "]", "smith", ",", "please")
    assert example.tags == ("O", "B-artist", "I-artist", "I-artist", "I-artist", "O", "O")
    assert "smith" not in repr(example)


def test_given_tags_are_kept_and_rows_without_intent_are_counted(tmp_path):
    rows = [
        {"tokens": ["a", "b"], "tags": ["I-x", "I-x"], "intent": "one", "speaker": "s"},
        {"tokens": ["a"], "tags": ["O"], "intent": None},
        {"tokens": ["a"], "tags": ["O"], "intent": "two", "split": "test"},
    ]
    corpus = read_corpus(jsonl(tmp_path / "d.jsonl", *rows))
    assert corpus.left_out == 1
    assert corpus.examples[0].tags == ("B-x", "I-x") and corpus.examples[0].speaker == "s"
    assert labels_of(corpus.examples) == Labels(("one", "two"), ("x",))
    with gzip.open(tmp_path / "d.jsonl.gz", "wt") as packed:
        packed.write((tmp_path / "d.jsonl").read_text())
    assert len(read_corpus(tmp_path / "d.jsonl.gz", split="test").examples) == 1


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"text": "play Zyxwv", "intent": "P", "slots": [slot(6, 10)]}, "not aligned"),
        ({"text": "play Zyxwv", "intent": "P", "slots": [slot(5, 99)]}, "not aligned"),
        ({"text": "play Zyxwv", "intent": "P", "slots": [slot(0, 4), slot(0, 10)]}, "overlaps"),
        ({"text": " ", "intent": "P", "slots": []}, "no word"),
    ],
)
def test_a_faulty_row_of_the_sink_names_file_and_line_and_nothing_of_the_row(tmp_path, row, word):
    good = {"text": "stop", "intent": "S", "slots": []}
    with pytest.raises(CorpusError, match=rf"part-00000.parquet: line 2: .*{word}") as caught:
        read_corpus(sink(tmp_path / "slu", good, row))
    assert "Zyxwv" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"tokens": ["Zyxwv", "b"], "tags": ["O"], "intent": "i"}', "1 tags for 2 tokens"),
        ('{"tokens": ["Zyxwv"], "tags": ["Zyxwv"], "intent": "i"}', "tag 1 is none of"),
        ('{"tokens": [], "tags": [], "intent": "i"}', "no tokens"),
        ('{"tokens": "Zyxwv", "tags": [], "intent": "i"}', "two lists"),
        ('{"tokens": Zyxwv', "not a JSON object"),
        ('["Zyxwv"]', "not a JSON object"),
    ],
)
def test_a_faulty_line_names_file_and_line_and_nothing_of_the_line(tmp_path, line, word):
    (tmp_path / "d.jsonl").write_text('{"tokens": ["a"], "tags": ["O"], "intent": "i"}\n' + line + "\n")
    with pytest.raises(CorpusError, match=rf"d.jsonl: line 2: .*{word}") as caught:
        read_corpus(tmp_path / "d.jsonl")
    assert "Zyxwv" not in str(caught.value)


def test_files_that_are_no_data_are_refused(tmp_path):
    with pytest.raises(CorpusError, match="does not exist"):
        read_corpus(tmp_path / "absent")
    with pytest.raises(CorpusError, match="no data"):
        read_corpus(tmp_path)
    (tmp_path / "slu").mkdir()
    (tmp_path / "slu" / "x.jsonl").write_text("{}")
    with pytest.raises(CorpusError, match="no data"):
        read_corpus(tmp_path)  # folders in a folder are not looked into


def test_a_slot_outside_the_declared_schema_is_refused(tmp_path):
    path = jsonl(tmp_path / "d.jsonl", {"tokens": ["a"], "tags": ["B-Zyxwv"], "intent": "i"})
    with pytest.raises(CorpusError, match=r"d.jsonl: line 1: unknown slot") as caught:
        check_labels(read_corpus(path).examples, Labels(("i",), ("artist",)))
    assert "Zyxwv" not in str(caught.value)


@given(st.text(min_size=1), st.integers(3, 10_000))
def test_words_become_numbers_without_a_list_from_the_data(word, buckets):
    assert 2 <= bucket_of(word, buckets) < buckets
    assert len(bytes_of(word)) == 16 and all(0 <= byte <= 256 for byte in bytes_of(word))


def test_vectors_are_read_with_and_without_a_header(tmp_path):
    (tmp_path / "v.vec").write_text("2 3\nhello 1 2 3\nworld 3 2 1\n")
    index, matrix = read_vectors(tmp_path / "v.vec")
    assert index == {"hello": 2, "world": 3} and matrix.shape == (4, 3) and matrix[1].tolist() == [2, 2, 2]
    (tmp_path / "v.vec").write_text("hello 1 2 3\nworld 3 2\n")
    with pytest.raises(CorpusError, match="line 2: 2 numbers"):
        read_vectors(tmp_path / "v.vec")
    with pytest.raises(CorpusError, match="absent"):
        read_vectors(tmp_path / "absent")
