import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.models.corpus import CorpusFile, Refused, parquet_bounds
from sottovoce.models.corpus.parquet import MAX_PIECES, Parquet
from sottovoce.models.records import AudioRef, Slot
from sottovoce.models.speech.audio_roots import open_regular

ROW = {
    "id": "u1", "dialogue_id": "d", "turn": 3, "speaker_id": "s", "gender": "f", "language": "en", "intent": "call",
    "text": "call Ann", "slots": [{"name": "who", "begin": 5, "end": 8}], "duration": 2.0,
}  # fmt: skip


def written(table, kind, group=1024):
    out = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, out, row_group_size=group)
    else:
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table, max_chunksize=group)
    return out.getvalue()


def arrow_or_parquet(tools, rows, kind):
    return tools.Memory(**{f"f.{kind}": written(pa.Table.from_pylist(rows), kind, group=2)})


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_columns_are_the_keys_of_a_manifest(tools, kind):
    (seen,) = arrow_or_parquet(tools, [ROW | {"audio_filepath": "a/1.flac", "other": b"\xff"}], kind).read("parquet")
    assert (seen.id, seen.dialogue_id, seen.turn, seen.speaker_id) == ("u1", "d", 3, "s")
    assert (seen.gender, seen.language, seen.intent, seen.slots) == ("f", "en", "call", (Slot(5, 8, "who"),))
    assert seen.audio == AudioRef("/corpus/a/1.flac", duration_s=2.0)
    assert seen.source.line == 1


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_embedded_audio_is_carried_by_row(tools, kind):
    rows = [ROW | {"audio": {"bytes": b"RIFF", "path": "x.wav"}}] * 4 + [ROW | {"audio": None}]
    memory = arrow_or_parquet(tools, rows, kind)
    seen = memory.read("parquet")
    assert [record.audio for record in seen[:4]] == [
        AudioRef(f"/corpus/f.{kind}", duration_s=2.0, row=row, column="audio") for row in range(4)
    ]
    assert seen[4].audio is None


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("bytes_type", [pa.null(), pa.binary()])
def test_a_struct_without_bytes_is_a_path(tools, kind, bytes_type):
    audio = pa.array(
        [{"bytes": None, "path": "x.wav"}, {"bytes": None, "path": None}],
        pa.struct([("bytes", bytes_type), ("path", pa.string())]),
    )
    first, second = tools.Memory(**{f"f.{kind}": written(pa.table({"text": ["a", "b"], "audio": audio}), kind)}).read(
        "parquet"
    )
    assert first.audio.uri == "/corpus/x.wav" and first.audio.row is None
    assert second.audio is None


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_an_audio_column_may_hold_paths_or_bytes(tools, kind):
    (seen,) = arrow_or_parquet(tools, [ROW | {"audio": "x.wav"}], kind).read("parquet")
    assert seen.audio.uri == "/corpus/x.wav"
    (seen,) = arrow_or_parquet(tools, [ROW | {"audio": b"RIFF"}], kind).read("parquet")
    assert (seen.audio.row, seen.audio.column) == (0, "audio")
    (seen,) = arrow_or_parquet(tools, [ROW | {"audio": 7}], kind).read("parquet")
    assert tools.code(seen) == "audio_path_malformed"


def test_the_audio_column_is_not_read(tools):
    """200 kB of audio in each row: a pass over the text must not touch it."""
    rows = [
        {"text": f"hello {i}", "audio": {"bytes": random.Random(i).randbytes(200_000), "path": "x"}} for i in range(20)
    ]
    content = tools.parquet_bytes(rows, row_group_size=10)
    read = []

    class Counting(io.BytesIO):
        def read(self, size=-1):
            data = super().read(size)
            read.append(len(data))
            return data

    file = CorpusFile("/corpus/f.parquet", "f.parquet", "f.parquet", len(content))
    reader = Parquet(5)
    chunks = list(reader.scan(file, lambda _: Counting(content)))
    assert [record.text for chunk in chunks for record in reader.parse(chunk, lambda _: Counting(content))] == [
        f"hello {i}" for i in range(20)
    ]
    assert sum(read) < len(content) / 10


@given(
    rows=st.integers(0, 60),
    group=st.integers(1, 25),
    size=st.integers(1, 70),
    kind=st.sampled_from(["parquet", "arrow"]),
)
@settings(deadline=None, max_examples=60)
def test_the_size_of_a_chunk_changes_no_record(rows, group, size, kind):
    table = pa.table({"text": pa.array([f"t{i}" for i in range(rows)], pa.string())})
    content = written(table, kind, group)
    file = CorpusFile(f"f.{kind}", f"f.{kind}", "f", len(content))
    reader = Parquet(size)

    def open_file(_):
        return io.BytesIO(content)

    assert reader.count(file, open_file) == rows
    batches = [list(reader.parse(chunk, open_file)) for chunk in reader.scan(file, open_file)]
    assert all(len(batch) <= max(size, -(-group // MAX_PIECES)) for batch in batches)
    seen = [record for batch in batches for record in batch]
    assert [(record.text, record.source.line) for record in seen] == [(f"t{i}", i + 1) for i in range(rows)]


def test_a_large_row_group_is_read_a_bounded_number_of_times(tools):
    memory = tools.Memory(**{"f.parquet": tools.parquet_bytes([{"text": "x"}] * 5000, row_group_size=5000)})
    assert len(memory.chunks("parquet", 10)) == MAX_PIECES


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_row_that_is_not_utf8_is_refused_alone(tools, kind):
    text = pa.array([b"a", b"\xff", b"c"]).cast(pa.binary()).view(pa.string())
    first, refused, last = tools.Memory(**{f"f.{kind}": written(pa.table({"text": text}), kind)}).read("parquet")
    assert (first.text, tools.code(refused), last.text) == ("a", "not_utf8", "c")
    assert refused.source.line == 2


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"text": None}, "keys_missing"),
        ({"text": 3}, "text_malformed"),
        ({"text": b"hi"}, "text_malformed"),
        ({"other": "hi"}, "keys_missing"),
        ({"text": None, "audio": {"bytes": b"RIFF", "path": None}}, "text_missing"),
        ({"text": "hi", "turn": 1.5}, "turn_not_whole"),
        ({"text": "hi", "intent": "call John"}, "label_malformed"),
        ({"text": "hi", "slots": [{"name": "n", "begin": 0, "end": 9}]}, "slots_outside_text"),
        ({"text": "hi", "slots": {"name": ["n"], "begin": [0], "end": []}}, "slots_malformed"),
        ({"text": "hi", "slots": {"name": ["n"]}}, "slots_malformed"),
        ({"text": "hi", "audio": {"array": [0.1]}}, "audio_path_malformed"),
    ],
)
def test_each_bad_row_has_its_code(tools, row, code):
    (refused,) = tools.Memory(**{"f.parquet": tools.parquet_bytes([row])}).read("parquet")
    assert tools.code(refused) == code
    assert "John" not in repr(refused)


def test_slots_may_be_a_struct_of_lists(tools):
    row = {"text": "call Ann", "slots": {"name": ["who"], "begin": [5], "end": [8]}}
    (seen,) = tools.Memory(**{"f.parquet": tools.parquet_bytes([row])}).read("parquet")
    assert seen.slots == (Slot(5, 8, "who"),)


@pytest.mark.parametrize("name", ["f.parquet", "f.arrow"])
@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: b"John Smith" * 30, lambda data: data[: len(data) // 2]]
)
def test_a_damaged_file_is_one_counted_refusal(tools, name, damage):
    rows = [{"text": f"John Smith {i}"} for i in range(3000)]
    whole = written(pa.Table.from_pylist(rows), name.removeprefix("f."), group=500)
    seen = tools.Memory(**{name: damage(whole)}).read("parquet")
    assert [tools.code(record) for record in seen if isinstance(record, Refused)] == ["file_unreadable"]
    assert "John" not in repr(seen)


@pytest.mark.slow  # importing datasets
def test_class_labels_of_hugging_face_become_their_names(tmp_path, tools):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"text": datasets.Value("string"), "intent": datasets.ClassLabel(names=["yes", "no"])})
    data = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "intent": [0, 1, -1]}, features=features)
    data.save_to_disk(str(tmp_path / "saved"))
    data.to_parquet(str(tmp_path / "f.parquet"))
    for path in (tmp_path / "f.parquet", next((tmp_path / "saved").glob("*.arrow"))):
        seen = tools.Memory(**{path.name: path.read_bytes()}).read("parquet")
        assert [record.intent for record in seen] == ["yes", "no", None]


@pytest.mark.slow
def test_rows_that_share_one_large_text_are_read_a_few_at_a_time(tmp_path):
    """5 MB in the file; all rows at once would be 5 GB. Each is then refused for what it is: a text that is too long."""
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["a" * 5_000_000]))
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"text": shared}), path, dictionary_pagesize_limit=1 << 30, store_schema=False)
    file = CorpusFile(str(path), path.name, path.name, path.stat().st_size)
    before, peak, reasons = pa.total_allocated_bytes(), 0, []
    for chunk in Parquet().scan(file, open_regular):
        for record in Parquet().parse(chunk, open_regular):
            reasons.append(record.error.code)
            peak = max(peak, pa.total_allocated_bytes() - before)
            if len(reasons) == 100:
                break
        break
    assert set(reasons) == {"text_too_long"} and peak < 1 << 30


def test_a_group_that_says_it_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_bounds, "MAX_GROUP_BYTES", 1_000)
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"text": [f"{n} words" for n in range(1000)]}), path)
    file = CorpusFile(str(path), path.name, path.name, path.stat().st_size)
    (chunk, *_) = Parquet().scan(file, open_regular)
    (refused,) = Parquet().parse(chunk, open_regular)
    assert refused.error.code == "row_group_too_large"


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_compressed_arrow_file_is_refused_and_a_plain_one_is_read(tmp_path, codec):
    table = pa.table({"text": ["good morning"] * 10})
    for name, compression, expected in (("plain", None, ["good morning"] * 10), ("packed", codec, ["file_unreadable"])):
        path = tmp_path / f"{name}.arrow"
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        file = CorpusFile(str(path), path.name, path.name, path.stat().st_size)
        found = []
        for chunk in Parquet().scan(file, open_regular):
            found += [chunk] if isinstance(chunk, Refused) else Parquet().parse(chunk, open_regular)
        assert [item.error.code if isinstance(item, Refused) else item.text for item in found] == expected
