import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.corpus import Refused
from sottovoce.models.corpus.kaldi import TableRow
from sottovoce.models.corpus.kaldi_join import locate
from sottovoce.models.records import AudioRef, Source

TEXT = "u1 hello there\nu2\tcall Ann\nu3 bye\n"
WAVS = "r1 audio/one.wav\nr2 /abs/two.flac\n"
SEGMENTS = "u1 r1 5.0 6.5\nu2 r1 0.5 2\nu3 r2 1 -1\n"


def by_id(records):
    return {record.id: record for record in records if not isinstance(record, Refused)}


def codes_of(tools, **tables):
    memory = tools.Memory(**{name.replace("wav_scp", "wav.scp"): content for name, content in tables.items()})
    refused = [record for record in memory.read("kaldi") if isinstance(record, Refused)]
    return sorted((record.source.file, record.source.line, record.error.code) for record in refused)


def test_all_tables_are_joined(tools):
    memory = tools.Memory(
        **{
            "text": TEXT,
            "wav.scp": WAVS,
            "segments": SEGMENTS,
            "utt2spk": "u1 s1\nu2 s2\nu3 s1\n",
            "spk2gender": "s1 f\n",
        }
    )
    seen = by_id(memory.read("kaldi"))
    assert seen["u1"].audio == AudioRef("/corpus/audio/one.wav", 5.0, 6.5)
    assert seen["u3"].audio == AudioRef("/abs/two.flac", 1.0, None)
    assert [(u.text, u.speaker_id, u.gender) for u in seen.values()] == [
        ("hello there", "s1", "f"),
        ("call Ann", "s2", None),
        ("bye", "s1", "f"),
    ]
    assert seen["u2"].source == Source("text", 2)


def test_the_recording_is_the_dialogue_and_time_is_the_order(tools):
    memory = tools.Memory(**{"text": TEXT, "wav.scp": WAVS, "segments": SEGMENTS})
    seen = by_id(memory.read("kaldi"))
    assert [(seen[u].dialogue_id, seen[u].turn) for u in ("u1", "u2", "u3")] == [("r1", 1), ("r1", 0), ("r2", 0)]


def test_utt2dialogue_names_the_dialogue_and_the_turn(tools):
    memory = tools.Memory(
        **{"text": TEXT, "wav.scp": WAVS, "segments": SEGMENTS, "utt2dialogue": "u1 d1 3\nu2 d1 4\nu3 d2\n"}
    )
    seen = by_id(memory.read("kaldi"))
    assert [(seen[u].dialogue_id, seen[u].turn) for u in ("u1", "u2", "u3")] == [("d1", 3), ("d1", 4), ("d2", 3)]


def test_without_segments_a_recording_is_an_utterance_and_its_own_dialogue(tools):
    seen = by_id(tools.Memory(**{"text": TEXT, "wav.scp": "u1 a.wav\n"}).read("kaldi"))
    assert seen["u1"].audio == AudioRef("/corpus/a.wav")
    assert seen["u2"].audio is None
    assert seen["u1"].dialogue_id == "u1"


def test_text_alone_is_a_corpus(tools):
    assert set(by_id(tools.Memory(text=TEXT).read("kaldi"))) == {"u1", "u2", "u3"}


def test_commands_are_refused_and_never_run(tools, tmp_path):
    made = tmp_path / "made"
    assert codes_of(tools, text="u1 hi\n", wav_scp=f"u1 touch {made} |\n") == [("text", 1, "audio_is_command")]
    with_segments = {"text": "u1 hi\n", "wav_scp": f"r touch {made} |\n", "segments": "u1 r 0 1\n"}
    assert codes_of(tools, **with_segments) == [("text", 1, "audio_is_command")]
    assert not made.exists()


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"text": "u1\n"}, [("text", 1, "text_empty")]),
        ({"text": b"u1 hi\xff\nu2 ok\n"}, [("text", 1, "not_utf8")]),
        ({"text": "u1 hi\n", "wav_scp": "u1 a.wav\nu9 b.wav\n"}, [("wav.scp", 2, "text_missing")]),
        ({"text": "u1 hi\n", "wav_scp": "u1\n"}, [("wav.scp", 1, "columns_missing")]),
        ({"text": "u1 hi\n", "wav_scp": "u1 a.wav\nu1 b.wav\n"}, [("text", 1, "entry_duplicated")]),
        ({"text": "u1 hi\n", "wav_scp": "r a\n", "segments": "u1 q 0 1\n"}, [("text", 1, "recording_unknown")]),
        ({"text": "u1 hi\n", "wav_scp": "r a\n", "segments": "u1 r 2 1\n"}, [("text", 1, "offset_negative")]),
        ({"text": "u1 hi\n", "wav_scp": "r a\n", "segments": "u1 r nan 1\n"}, [("text", 1, "offset_negative")]),
        ({"text": "u1 hi\n", "wav_scp": "r a\n", "segments": "u1 r inf -1\n"}, [("text", 1, "offset_negative")]),
        ({"text": "u1 hi\n", "wav_scp": "r a\n", "segments": "u1 r John 1\n"}, [("text", 1, "offset_negative")]),
        ({"text": "u1 hi\n", "wav_scp": "r a\n", "segments": ""}, [("text", 1, "dialogue_unknown")]),
        (
            {"text": "u1 hi\n", "wav_scp": "r a\n", "segments": "u1 r\n"},
            [("segments", 1, "columns_missing"), ("text", 1, "dialogue_unknown")],
        ),
        ({"text": "u1 hi\n", "utt2dialogue": "u2 d\n"}, [("text", 1, "dialogue_unknown")]),
        ({"text": "u1 hi\n", "utt2dialogue": "u1 d\nu1 e\n"}, [("text", 1, "entry_duplicated")]),
        (
            {"text": "u1 hi\n", "utt2dialogue": "u1 d John\n"},
            [("text", 1, "dialogue_unknown"), ("utt2dialogue", 1, "turn_not_whole")],
        ),
        ({"text": "u1 hi\n", "utt2spk": "u1 s\n", "spk2gender": "s f\ns m\n"}, [("text", 1, "entry_duplicated")]),
        ({"text": "u1 hi\n", "utt2spk": "u1 s\n", "spk2gender": "s ?!\n"}, [("text", 1, "label_malformed")]),
        ({"text": "x" * 600 + " hi\n"}, [("text", 1, "id_malformed")]),
    ],
)
def test_each_bad_entry_has_its_code(tools, tables, expected):
    assert codes_of(tools, **tables) == expected


def test_reprs_show_nothing(tools):
    memory = tools.Memory(**{"text": "john-1 John Smith\n", "wav.scp": "john-1 john.wav\n"})
    for chunk in memory.chunks("kaldi"):
        for row in tools.reader("kaldi").parse(chunk, memory.open):
            assert "john" not in (repr(row) + repr(chunk)).lower()


ROWS = [
    TableRow("wav.scp", "r", ("a",), 1),
    *(TableRow("segments", "r", (f"u{i}", float(i % 3), None), i) for i in range(6)),
]


@given(st.permutations(ROWS))
def test_the_order_in_which_rows_arrive_does_not_matter(rows):
    found = {row.key: row.values[-1] for row in locate(rows)}
    assert found == {"u0": 0, "u3": 1, "u1": 2, "u4": 3, "u2": 4, "u5": 5}
