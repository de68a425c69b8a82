"""Corpora as they are found in the world: each is read into the same utterances."""

import bz2
import gzip
import io
import json
import lzma
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.models.corpus import TABLE, CorpusFile, Refused
from sottovoce.models.corpus.json_document import elements
from sottovoce.models.corpus.layout import is_document
from sottovoce.models.corpus.names import Naming
from sottovoce.models.corpus.probe import estimate
from sottovoce.models.corpus.shapes import TABLE as SHAPES
from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.models.settings import Spec


def read(format_name, content, name="f", naming=None, size=128, sidecars=()):
    """(utterances and refusals) of one file, read with `naming`."""
    contents = {f"/c/{name}": content, **dict(sidecars)}

    def open_file(uri):
        if uri not in contents:
            raise FileNotFoundError(uri)
        return io.BytesIO(contents[uri])

    options = [("records_per_batch", size)] + ([("naming", naming)] if naming else [])
    reader = Spec("corpus", format_name, tuple(options)).make()
    file = CorpusFile(f"/c/{name}", name, name, len(content))
    records = []
    for chunk in reader.scan(file, open_file):
        records += [chunk] if isinstance(chunk, Refused) else list(reader.parse(chunk, open_file))
    return records, estimate(reader, [file], open_file)


def slots_of(utterance):
    return [(slot.name, utterance.text[slot.begin : slot.end]) for slot in utterance.slots]


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


def test_common_voice():
    table = (
        "client_id\tpath\tsentence\tup_votes\tage\tgender\tlocale\n"
        'ab12\tcommon_voice_en_1.mp3\tHe said "no.\t2\t\tmale_masculine\ten\n'
        "cd34\tcommon_voice_en_2.mp3\tYes.\t2\t\t\ten\n"
    )
    (first, second), size = read("csv", table.encode(), "validated.tsv")
    assert (first.text, first.speaker_id, first.language, first.gender) == (
        'He said "no.',
        "ab12",
        "en",
        "male_masculine",
    )
    assert first.audio.uri == "/c/clips/common_voice_en_1.mp3"
    assert second.gender is None and second.named
    assert not size.text_only and size.records == 2


@pytest.mark.parametrize("size", [1, 2, 128])
def test_csv_cells_may_hold_commas_quotes_and_line_ends(size):
    rows = ('"one; ""two""\nthree";anna;0;;d', ";bob;1;;d", "four;bob;x;;d", '"five;b;2;;d')
    table = "text;speaker;turn;duration;dialog_id\r\n" + "\r\n".join(rows) + "\n"
    records, _ = read("csv", table.encode(), "t.csv", size=size)
    assert records[0].text == 'one; "two"\nthree' and records[0].speaker_id == "anna" and records[0].turn == 0
    codes = [record.error.code for record in records[1:]]
    assert codes == ["keys_missing", "cells_malformed", "cells_malformed"]
    assert [record.source.line for record in records] == [2, 4, 5, 6]


def test_a_table_without_a_first_line_of_names_is_read_by_numbers():
    (record,), _ = read(
        "csv", b"LJ001|in being comparatively modern|x\n", "metadata.csv", Naming({"text": "2", "id": "1"})
    )
    assert (record.id, record.text) == ("LJ001", "in being comparatively modern")


def test_snips_and_its_slots():
    document = {
        "AddToPlaylist": [{"data": [{"text": "Add "}, {"text": "Kent James", "entity": "artist"}, {"text": " now"}]}]
    }
    (record,), _ = read("json", json.dumps(document).encode(), "train_AddToPlaylist.json")
    assert (record.text, record.intent) == ("Add Kent James now", "AddToPlaylist")
    assert slots_of(record) == [("artist", "Kent James")]


def test_schema_guided_dialogues_are_dialogues():
    text = "a table at nopa please"
    slots = [
        {"slot": "restaurant_name", "start": 11, "exclusive_end": 15},
        {"slot": "place", "start": 11, "exclusive_end": 15},
    ]
    turns = [
        {"speaker": "USER", "utterance": text, "frames": [{"slots": slots, "state": {"active_intent": "Reserve"}}]},
        {"speaker": "SYSTEM", "utterance": "sure", "frames": []},
    ]
    records, _ = read("json", json.dumps([{"dialogue_id": "1_0", "services": [], "turns": turns}], indent=2).encode())
    assert [(r.dialogue_id, r.turn, r.speaker_id) for r in records] == [
        ("1_0", 0, "1_0/user"),
        ("1_0", 1, "1_0/system"),
    ]
    assert slots_of(records[0]) == [("restaurant_name", "nopa")] and records[0].intent == "Reserve"


def test_multiwoz_dialogues_are_dialogues():
    document = {"SNG1.json": {"goal": {}, "log": [{"text": " a train "}, {"text": "where to ?"}]}}
    records, _ = read("json", json.dumps(document).encode(), "data.json")
    assert [(r.dialogue_id, r.turn, r.text) for r in records] == [
        ("SNG1.json", 0, "a train"),
        ("SNG1.json", 1, "where to ?"),
    ]


SLURP = {
    "slurp_id": 7,
    "sentence": "call anna at nine",
    "sentence_annotation": "call [person : anna] at [time : nine]",
    "intent": "call_make",
    "recordings": [{"file": "a.flac"}, {"file": "b.flac"}],
}


def test_slurp_is_text_and_with_a_folder_its_recordings():
    (record,), size = read("jsonl", line(**SLURP))
    assert (record.text, record.intent) == ("call anna at nine", "call_make") and size.text_only
    assert slots_of(record) == [("person", "anna"), ("time", "nine")]
    both, size = read("jsonl", line(**SLURP), naming=Naming(audio_folder="/real"))
    assert [r.audio.uri for r in both] == ["/real/a.flac", "/real/b.flac"]
    assert len({r.id for r in both}) == 2 and len({r.dialogue_id for r in both}) == 1 and not size.text_only
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([SLURP]), table)
    both, _ = read("parquet", table.getvalue(), name="f.parquet", naming=Naming(audio_folder="/real"))
    assert [r.audio.uri for r in both] == ["/real/a.flac", "/real/b.flac"]


def test_tokens_and_tags():
    row = {
        "id": "r1",
        "tokens": ["call", "anna", "lind", "now"],
        "tags": ["O", "B-person", "I-person", "O"],
        "lang": "en",
    }
    (record,), _ = read("jsonl", line(**row))
    assert (record.text, record.language, slots_of(record)) == ("call anna lind now", "en", [("person", "anna lind")])
    (refused,), _ = read("jsonl", line(tokens=["a"], tags=["O", "O"]))
    assert refused.error.code == "tags_malformed"


@pytest.mark.slow  # lhotse alone takes seconds to load
def test_lhotse_cuts_by_the_library_itself(tmp_path):
    lhotse = pytest.importorskip("lhotse")
    recording = lhotse.Recording("rec", [lhotse.audio.AudioSource("file", [0], "call.wav")], 16000, 160000, 10.0)
    said = [
        lhotse.SupervisionSegment(
            f"s{i}", "rec", start=i * 2.0, duration=1.5, text=f"turn {i}", speaker=f"p{i}", language="en"
        )
        for i in range(2)
    ]
    cut = lhotse.MonoCut("c", start=1.0, duration=9.0, channel=0, supervisions=said, recording=recording)
    path = tmp_path / "cuts.jsonl.gz"
    lhotse.CutSet.from_cuts([cut]).to_file(path)
    records, size = read("jsonl", path.read_bytes(), "cuts.jsonl.gz")
    assert [(r.text, r.speaker_id, r.dialogue_id, r.audio.begin_s) for r in records] == [
        ("turn 0", "p0", "rec", 1.0),
        ("turn 1", "p1", "rec", 3.0),
    ]
    assert records[0].audio.uri == "/c/call.wav" and not size.text_only


def test_nemo_and_kaldi_like_names_are_found_by_themselves():
    (record,), size = read(
        "jsonl", line(audio_filepath="a.wav", text="hi", speaker="anna", session_id="c9", duration=2.0)
    )
    assert (record.speaker_id, record.dialogue_id, record.audio.duration_s) == ("anna", "c9", 2.0)
    assert any("speaker_id from speaker" in note for note in size.notes)


def test_a_role_is_no_person():
    (record,), _ = read("jsonl", line(text="hi", speaker="User", dialogue_id="d1"))
    assert record.speaker_id == "d1/user"
    (record,), _ = read("jsonl", line(text="hi", speaker="agent"))
    assert record.speaker_id is None


def test_the_job_maps_any_name():
    naming = Naming({"text": "frase", "speaker_id": "quien", "dialogue_id": None})
    (record,), _ = read("jsonl", line(frase="hola", quien="ana", dialogue_id="d"), naming=naming)
    assert (record.text, record.speaker_id, record.named) == ("hola", "ana", False)
    with pytest.raises(CorpusError, match="no key satz"):
        read("jsonl", line(text="hi"), naming=Naming({"text": "satz"}))
    with pytest.raises(SettingsError, match="allowed"):
        Naming({"txet": "a"})


def test_a_misspelt_dialogue_id_stops_the_run_and_others_are_told():
    with pytest.raises(CorpusError, match="dialouge_id looks like dialogue_id"):
        read("jsonl", line(text="hi", dialouge_id="d1"))
    _, size = read("jsonl", line(text="hi", dialouge_id="d1"), naming=Naming({"dialogue_id": None}))
    assert not any("dialouge" in note for note in size.notes)
    _, size = read("jsonl", line(text="hi", dialogueId="d", speakr_id="s"))
    assert any("speakr_id looks like speaker_id" in note for note in size.notes)
    assert any("dialogue_id from dialogueId" in note for note in size.notes)


def test_keys_that_are_nowhere_are_told():
    _, size = read("jsonl", line(text="hi"))
    assert any(note.startswith("no speaker_id") for note in size.notes)
    assert any(note.startswith("no dialogue_id") for note in size.notes)
    with pytest.raises(CorpusError, match="no key of the first records is read as text"):
        read("jsonl", line(wort="hallo"))


def test_guessed_names_never_refuse_what_was_read_before():
    (record,), _ = read("jsonl", line(text="hi", file={"x": 1}, turn_id="d-1", lang="not a label!", path=7))
    assert record.text == "hi" and record.audio is None and record.language is None


@pytest.mark.parametrize(
    ("suffix", "squeeze"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files_are_read_as_they_are(suffix, squeeze):
    content = b"".join(line(text=f"said {i}") for i in range(300))
    records, size = read("jsonl", squeeze(content), f"m.jsonl{suffix}", size=7)
    assert [r.text for r in records] == [f"said {i}" for i in range(300)]
    assert [r.source.line for r in records] == list(range(1, 301)) and size.records == 300


@pytest.mark.parametrize("lines", [30_000, 300])  # small ones, too, of which one block would be more than there is
def test_a_torn_file_gives_its_complete_lines_and_one_refusal(lines):
    content = b"".join(line(text=f"said {i} {i * 7919 % 1000003}") for i in range(lines))
    whole = gzip.compress(content)
    torn = whole[: len(whole) // 2]
    records, size = read("jsonl", torn, "m.jsonl.gz")
    *complete, last = records
    assert isinstance(last, Refused) and last.error.code == "file_unreadable" and size.records
    assert not any(isinstance(record, Refused) for record in complete)
    assert len(complete) == zlib.decompressobj(wbits=31).decompress(torn).count(b"\n")


def test_an_audio_folder_reads_the_texts_beside_the_recordings():
    (record,), size = read("audio", b"RIFF", "x/a.wav", sidecars={"/c/x/a.txt": b"call  anna\n"}.items())
    assert (record.text, record.audio.uri, record.id) == ("call anna", "/c/x/a.wav", "x/a") and not size.text_only
    (record,), _ = read("audio", b"RIFF", "b.m4a")
    assert record.text == "-"


@pytest.mark.parametrize(
    ("head", "document"),
    [
        (b'[{"text": 1}]', True),
        (b'{"a": [\n', True),
        (b'{"text": "a"}\n{"text": "b"}\n', False),
        (b'{"text": "a", "slots": []}', False),
        (b'{"AddToPlaylist": [{"data": []}]}', True),
        (b"", False),
    ],
)
def test_json_tells_by_its_first_bytes_whether_it_is_one_document(head, document):
    assert is_document(head) == document


def test_elements_of_a_document_are_read_one_at_a_time_whatever_their_size():
    values = [{"n": i, "x": "é" * (i % 977)} for i in range(3000)] + [17, "x", None]
    assert [value for _, value in elements(io.BytesIO(json.dumps(values, ensure_ascii=False).encode()))] == values
    named = {f"k{i}": [i] for i in range(500)}
    assert dict(elements(io.BytesIO(json.dumps(named, indent=3).encode()))) == named
    for broken in (b"[1, 2", b'{"a" 1}', b"", b"7", b'[{"a": 1} {"b": 2}]'):
        with pytest.raises(ValueError):
            list(elements(io.BytesIO(broken)))


def test_parquet_under_other_names_with_samples_as_arrays(tools):
    rows = [{"phrase": "hi anna", "client_id": "c", "sound": {"array": [0.0, 0.5], "sampling_rate": 16000}}]
    (record,), size = read("parquet", tools.parquet_bytes(rows), "a.parquet", Naming({"text": "phrase"}))
    assert (record.text, record.speaker_id, record.audio.column, record.audio.row) == ("hi anna", "c", "sound", 0)
    assert not size.text_only


def test_every_shape_and_format_is_told_on_the_page():
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "input.md").read_text()
    assert all(f"`{name}`" in page for name in (*TABLE, *SHAPES))
