import io
import json
import os
import pickle
import types
import uuid

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from apache_beam.io.filesystem import CompressionTypes, FileMetadata
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from sottovoce.models.corpus import TABLE, Chunk
from sottovoce.models.errors import CorpusError
from sottovoce.models.randomness import Secret
from sottovoce.models.speech import audio
from sottovoce.models.tally import Tally
from sottovoce.transforms.engine.job import InputSettings
from sottovoce.transforms.read.corpus import make_reader, open_file
from sottovoce.transforms.read.read_corpus import ReadCorpus, open_corpus

PLANTED = "annalindqvist"
SECRET = Secret(b"a secret of the test run")
TEXTS = [f"please call number {i}" for i in range(40)]


def write_jsonl(folder):
    for part in range(3):
        rows = [
            {"text": text, "dialogue_id": f"d{i // 4}", "turn": i % 4} for i, text in enumerate(TEXTS) if i % 3 == part
        ]
        (folder / f"{PLANTED}-{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_kaldi(folder):
    ids = [f"u{i:02d}" for i in range(len(TEXTS))]
    tables = {
        "text": [f"{key} {text}" for key, text in zip(ids, TEXTS, strict=True)],
        "wav.scp": [f"r{i} audio/{i}.wav" for i in range(10)],
        "segments": [f"{key} r{i // 4} {i % 4} {i % 4 + 0.5}" for i, key in enumerate(ids)],
        "utt2spk": [f"{key} s{i % 3}" for i, key in enumerate(ids)],
        "spk2gender": ["s0 f", "s1 m"],
    }
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n")


def write_parquet(folder):
    table = pa.table({"text": TEXTS, "dialogue_id": [f"d{i // 4}" for i in range(len(TEXTS))]})
    pq.write_table(table.slice(0, 25), folder / f"{PLANTED}-0.parquet", row_group_size=7)
    pq.write_table(table.slice(25), folder / f"{PLANTED}-1.parquet", row_group_size=7)


def write_conll(folder):
    lines = ["".join(f"{word} O\n" for word in text.split()) for text in TEXTS]
    (folder / f"{PLANTED}.conll").write_text("-DOCSTART- O\n\n" + "\n".join(lines))


def write_csv(folder):
    rows = [f'd{i // 4},"please call\nnumber {i}"\n' for i in range(len(TEXTS))]
    (folder / f"{PLANTED}.csv").write_text("dialogue_id,text\n" + "".join(rows))


def write_json(folder):
    turns = [{"speaker": "USER", "utterance": text} for text in TEXTS]
    dialogues = [{"dialogue_id": f"d{i}", "turns": turns[i : i + 4]} for i in range(0, len(TEXTS), 4)]
    (folder / f"dialogues-{PLANTED}.json").write_text(json.dumps(dialogues, indent=1))


def write_audio(folder):
    (folder / PLANTED).mkdir()
    for i, text in enumerate(TEXTS):
        (folder / PLANTED / f"{i}.wav").write_bytes(b"RIFF")
        (folder / PLANTED / f"{i}.txt").write_text(text + "\n")


WRITE = {
    "jsonl": write_jsonl,
    "kaldi": write_kaldi,
    "parquet": write_parquet,
    "conll": write_conll,
    "csv": write_csv,
    "json": write_json,
    "audio": write_audio,
}


def keep(item, folder, kind):
    (folder / f"{kind}-{uuid.uuid4().hex}").write_bytes(pickle.dumps(item))


def kept(folder, kind):
    return [pickle.loads(path.read_bytes()) for path in folder.glob(f"{kind}-*")]


def run(corpus, tmp_path, records_per_batch=128):
    """(batches, failures, tally) of the real transform on the local runner."""
    out = tmp_path / uuid.uuid4().hex
    out.mkdir()
    settings = InputSettings(records_per_batch=records_per_batch)
    job = types.SimpleNamespace(secret=SECRET, input=settings, progress_dir=None)
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        outputs = pipeline | ReadCorpus(corpus, job)
        outputs.passed | "KeepBatches" >> beam.Map(keep, out, "batch")
        outputs.failures | "Failures" >> beam.Flatten() | "KeepFailures" >> beam.Map(keep, out, "failures")
        outputs.tallies | "Tallies" >> beam.Flatten() | "KeepTallies" >> beam.Map(keep, out, "tally")
    tally = Tally()
    for part in kept(out, "tally"):
        tally.merge(part)
    failures = [failure for batch in kept(out, "failures") for failure in batch]
    batches = sorted(kept(out, "batch"), key=lambda batch: (batch[0].source.file, batch[0].source.line, batch[0].turn))
    return batches, sorted(failures, key=lambda failure: (failure.file, failure.line)), tally


@pytest.mark.slow
@pytest.mark.parametrize("format_name", TABLE)
def test_every_format_gives_every_record_once_whatever_the_size_of_a_batch_and_the_same_in_every_run(
    format_name, tmp_path
):
    folder = tmp_path / "corpus"
    folder.mkdir()
    WRITE[format_name](folder)
    corpus = open_corpus(str(folder))
    assert corpus.format == format_name
    assert corpus.text_only == (format_name not in ("kaldi", "audio"))
    assert corpus == open_corpus(str(folder))
    seen = []
    for size in (128, 3, 3):
        batches, failures, tally = run(corpus, tmp_path, size)
        assert max(map(len, batches)) <= size and not failures
        records = sorted((record for batch in batches for record in batch), key=lambda record: record.id)
        assert sorted(" ".join(record.text.split()) for record in records) == sorted(TEXTS)
        assert (tally.stages["read"].received, tally.stages["read"].passed) == (len(TEXTS), len(TEXTS))
        seen.append((records, batches))
    assert seen[0][0] == seen[1][0]
    assert seen[1][1] == seen[2][1]


def test_kaldi_tables_meet_in_the_shuffle(tmp_path):
    write_kaldi(tmp_path)
    batches, _, _ = run(open_corpus(str(tmp_path)), tmp_path, 4)
    records = {record.id: record for batch in batches for record in batch}
    record = records["u05"]
    assert (record.dialogue_id, record.turn, record.speaker_id, record.gender) == ("r1", 1, "s2", None)
    assert record.audio == audio.AudioRef(f"{tmp_path}/audio/1.wav", 1.0, 1.5)
    assert {records[f"u{i:02d}"].gender for i in range(0, 40, 3)} == {"f"}


def test_bad_records_become_scrubbed_failures_and_the_rest_passes(tmp_path):
    folder = tmp_path / PLANTED
    folder.mkdir()
    lines = [
        b'{"text": "fine"}',
        f'{{"text": "{PLANTED}", "turn": "{PLANTED}"}}'.encode(),
        f'{{"text": "{PLANTED}'.encode(),
        f'{{"text": "{PLANTED}\xff"}}'.encode("latin-1"),
        f'{{"audio_filepath": "{PLANTED}.wav"}}'.encode(),
        f'{{"text": "hi", "intent": "{PLANTED} {PLANTED}"}}'.encode(),
        PLANTED.encode() * 100_000,
        b'{"text": "fine too"}',
    ]
    (folder / f"{PLANTED}.jsonl").write_bytes(b"\n".join(lines))
    (folder / f"{PLANTED}2.jsonl").write_bytes(b"")
    batches, failures, tally = run(open_corpus(str(folder)), tmp_path, 2)
    assert [record.text for batch in batches for record in batch] == ["fine", "fine too"]
    assert [(failure.line, failure.reason) for failure in failures] == [
        (2, "turn_not_whole"),
        (3, "not_json_object"),
        (4, "not_utf8"),
        (5, "text_missing"),
        (6, "label_malformed"),
        (7, "line_too_long"),
    ]
    assert {failure.stage for failure in failures} == {"read"}
    assert {failure.file for failure in failures} == {"file 1 of 2"}
    assert len({failure.id for failure in failures}) == 6
    assert PLANTED not in repr(failures) + repr(tally) + repr(batches)
    count = tally.stages["read"]
    assert (count.received, count.passed, count.reasons.total()) == (8, 2, 6)


def test_bad_lines_of_a_kaldi_table_are_counted_with_their_table(tmp_path):
    (tmp_path / "text").write_bytes(b"u1 hi\nu2 there\nu3\xff x\n")
    (tmp_path / "wav.scp").write_text("u1 cat secret.wav |\nu4 a.wav\n")
    batches, failures, tally = run(open_corpus(str(tmp_path)), tmp_path)
    assert [record.id for batch in batches for record in batch] == ["u2"]
    assert [(failure.file, failure.line, failure.reason) for failure in failures] == [
        ("text", 1, "audio_is_command"),
        ("text", 3, "not_utf8"),
        ("wav.scp", 2, "text_missing"),
    ]
    assert tally.stages["read"].received == 4


def test_a_damaged_parquet_file_is_one_failure_and_the_others_are_read(tmp_path):
    pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(b"no parquet")
    batches, failures, _ = run(open_corpus(str(tmp_path)), tmp_path)
    assert [record.text for batch in batches for record in batch] == ["a", "b"]
    assert [(failure.file, failure.reason) for failure in failures] == [("file 2 of 2", "file_unreadable")]


def test_an_empty_corpus_gives_an_empty_run(tmp_path):
    (tmp_path / "manifest.jsonl").write_bytes(b"")
    corpus = open_corpus(str(tmp_path))
    assert (corpus.records, corpus.text_only) == (0, True)
    assert run(corpus, tmp_path) == ([], [], Tally())


@pytest.mark.parametrize("format_name", TABLE)
def test_what_describes_a_chunk_is_small_and_says_nothing(format_name, tmp_path):
    """Only these cross the shuffle: they must not grow with the records, nor show a name in a log."""
    WRITE[format_name](tmp_path)
    corpus = open_corpus(str(tmp_path))
    reader = make_reader(corpus.format, 10)
    chunks = [chunk for file in corpus.files for chunk in reader.scan(file, open_file)]
    assert all(isinstance(chunk, Chunk) and len(pickle.dumps(chunk)) < 600 for chunk in chunks)
    assert PLANTED not in repr(chunks) + repr(corpus)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing.jsonl", "nothing there"),
        ("empty", "no file there, nor in the three levels"),
        ("pipe", "neither a file nor a folder"),
        ("*.jsonl", "nothing there"),
        ("nosuch://x/y", "cannot be read"),
    ],
)
def test_an_input_that_cannot_be_read_is_told_before_the_run(path, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty" / "a" / "b" / "c" / "d").mkdir(parents=True)
    (tmp_path / "empty" / "a" / "b" / "c" / "d" / "too_deep.jsonl").write_text("{}")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match=words) as caught:
        open_corpus(path)
    assert path in str(caught.value)


def test_relative_paths_globs_and_nested_folders_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nested = tmp_path / "set" / "data"
    nested.mkdir(parents=True)
    write_parquet(nested)
    for path in ("set", "set/data", "set/data/*.parquet", "set/*/*-?.parquet"):
        corpus = open_corpus(path)
        assert [file.uri for file in corpus.files] == [f"{nested}/{PLANTED}-{i}.parquet" for i in (0, 1)]
    assert open_corpus(f"set/data/{PLANTED}-0.parquet").files[0].label == f"{PLANTED}-0.parquet"


def test_a_file_that_vanishes_is_told_without_its_name(tmp_path):
    write_jsonl(tmp_path)
    corpus = open_corpus(str(tmp_path))
    (tmp_path / f"{PLANTED}-1.jsonl").unlink()
    with pytest.raises(Exception, match="file 2 of 3: cannot be read") as caught:
        run(corpus, tmp_path / "..")
    assert f"{PLANTED}-1" not in str(caught.value)


class _Elsewhere(LocalFileSystem):
    """A filesystem with a scheme, as an object store has, kept in a local folder."""

    @classmethod
    def scheme(cls):
        return "elsewhere"

    def _local(self, path):
        return path.removeprefix("elsewhere:/")

    def _url_dirname(self, path):
        return path.rpartition("/")[0]

    def _list(self, prefix):
        for found in super()._list(self._local(prefix)):
            yield FileMetadata(f"elsewhere:/{found.path}", found.size_in_bytes)

    def exists(self, path):
        return os.path.exists(self._local(path))

    def metadata(self, path):
        return FileMetadata(path, os.path.getsize(self._local(path)))

    def open(self, path, mime_type="", compression_type=CompressionTypes.AUTO):
        return io.BytesIO(open(self._local(path), "rb").read())


@pytest.mark.slow
def test_a_corpus_behind_a_uri_is_read_like_a_local_one(tmp_path):
    write_jsonl(tmp_path)
    local = open_corpus(str(tmp_path))
    for path in (f"elsewhere:/{tmp_path}", f"elsewhere:/{tmp_path}/", f"elsewhere:/{tmp_path}/*.jsonl"):
        remote = open_corpus(path)
        assert remote.files[0].uri == f"elsewhere:/{local.files[0].uri}"
        assert (remote.fingerprint, remote.records) == (local.fingerprint, local.records)
    assert run(remote, tmp_path.parent)[0] == run(local, tmp_path.parent)[0]
    single = open_corpus(f"elsewhere:/{tmp_path}/{PLANTED}-0.jsonl")
    assert single.files[0].label == f"{PLANTED}-0.jsonl"


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_embedded_audio_is_found_again_by_its_reference(kind, tmp_path):
    levels = [0.1, 0.2, 0.3, 0.4, 0.5]
    sounds = []
    for level in levels:
        out = io.BytesIO()
        soundfile.write(out, level * np.sign(np.sin(np.arange(3200))), 16000, format="FLAC")
        sounds.append({"bytes": out.getvalue(), "path": None})
    table = pa.table({"text": [str(level) for level in levels], "audio": sounds})
    path = tmp_path / f"data-0.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=2)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
    batches, _, _ = run(open_corpus(str(tmp_path)), tmp_path, 3)
    for record in (record for batch in batches for record in batch):
        loudest = np.abs(audio.load(record.audio, open_file).samples).max()
        assert loudest == pytest.approx(float(record.text), abs=1e-3)
