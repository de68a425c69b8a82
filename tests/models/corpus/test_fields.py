"""Each way in which a record can be bad has its own code, in every format that has fields."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.fields import KEYS, attempt, utterance
from sottovoce.models.corpus.reasons import MAX_CHARACTERS, MAX_WORDS, REASONS
from sottovoce.models.records import AudioRef, Slot, Source, Utterance

FILE = CorpusFile("/corpus/secret-folder/m.jsonl", "m.jsonl", "m.jsonl", 0)


def build(**fields):
    return attempt(FILE, 7, utterance, fields, FILE, 7)


SLOT = {"name": "name", "begin": 0, "end": 2}
BAD = [
    ({}, "keys_missing"),
    ({"dialogue_id": "d"}, "keys_missing"),
    ({"audio_filepath": "a.wav"}, "text_missing"),
    ({"audio_filepath": "a.wav", "text": None}, "text_missing"),
    ({"audio_filepath": "a.wav", "text": ""}, "text_empty"),
    ({"text": " \t\n"}, "text_empty"),
    ({"text": 5}, "text_malformed"),
    ({"text": ["hi"]}, "text_malformed"),
    ({"text": "hi\0there"}, "text_malformed"),
    ({"text": "hi\x1bthere"}, "text_malformed"),
    ({"text": "hi\ud800"}, "not_utf8"),
    ({"text": "a " * (MAX_WORDS + 1)}, "text_too_long"),
    ({"text": "a" * (MAX_CHARACTERS + 1)}, "text_too_long"),
    ({"text": "hi", "turn": "3"}, "turn_not_whole"),
    ({"text": "hi", "turn": 1.5}, "turn_not_whole"),
    ({"text": "hi", "turn": float("nan")}, "turn_not_whole"),
    ({"text": "hi", "turn": float("inf")}, "turn_not_whole"),
    ({"text": "hi", "turn": True}, "turn_not_whole"),
    ({"text": "hi", "turn": -1}, "turn_not_whole"),
    ({"text": "hi", "turn": 1 << 40}, "turn_not_whole"),
    ({"text": "hi", "dialogue_id": {"a": 1}}, "id_malformed"),
    ({"text": "hi", "dialogue_id": 1.5}, "id_malformed"),
    ({"text": "hi", "speaker_id": "x" * 513}, "id_malformed"),
    ({"text": "hi", "speaker_id": "\udfff"}, "not_utf8"),
    ({"text": "hi", "id": False}, "id_malformed"),
    ({"text": "hi", "id": 10**400}, "id_malformed"),
    ({"text": "hi", "intent": "call John Smith"}, "label_malformed"),
    ({"text": "hi", "intent": "greet\n"}, "label_malformed"),
    ({"text": "hi", "intent": "x" * 65}, "label_malformed"),
    ({"text": "hi", "gender": 3}, "label_malformed"),
    ({"text": "hi", "language": "en gb"}, "label_malformed"),
    ({"text": "hi", "slots": "name"}, "slots_malformed"),
    ({"text": "hi", "slots": {"name": 1}}, "slots_malformed"),
    ({"text": "hi", "slots": [3]}, "slots_malformed"),
    ({"text": "hi", "slots": [{"name": "n", "begin": 0}]}, "slots_malformed"),
    ({"text": "hi", "slots": [SLOT | {"begin": 0.0}]}, "slots_malformed"),
    ({"text": "hi", "slots": [SLOT | {"name": None}]}, "slots_malformed"),
    ({"text": "hi", "slots": [SLOT | {"name": ""}]}, "label_malformed"),
    ({"text": "hi", "slots": [SLOT | {"name": "John Smith"}]}, "label_malformed"),
    ({"text": "hi", "slots": [SLOT | {"end": 3}]}, "slots_outside_text"),
    ({"text": "hi", "slots": [SLOT | {"begin": -1}]}, "slots_outside_text"),
    ({"text": "hi", "slots": [SLOT | {"begin": 2}]}, "slots_outside_text"),
    ({"text": "hi there", "slots": [SLOT | {"end": 4}, SLOT | {"begin": 3, "end": 5}]}, "slots_overlap"),
    ({"text": "hi", "audio_filepath": 7}, "audio_path_malformed"),
    ({"text": "hi", "audio_filepath": " "}, "audio_path_malformed"),
    ({"text": "hi", "audio_filepath": "a\0.wav"}, "audio_path_malformed"),
    ({"text": "hi", "audio_filepath": "a.wav", "duration": 0}, "duration_not_positive"),
    ({"text": "hi", "audio_filepath": "a.wav", "duration": -1.0}, "duration_not_positive"),
    ({"text": "hi", "audio_filepath": "a.wav", "duration": float("nan")}, "duration_not_positive"),
    ({"text": "hi", "audio_filepath": "a.wav", "duration": "2.0"}, "duration_not_positive"),
    ({"text": "hi", "audio_filepath": "a.wav", "duration": 10**400}, "duration_not_positive"),
    ({"text": "hi", "audio_filepath": "a.wav", "duration": True}, "duration_not_positive"),
    ({"text": "hi", "audio_filepath": "a.wav", "offset": -0.1}, "offset_negative"),
    ({"text": "hi", "audio_filepath": "a.wav", "offset": "0"}, "offset_negative"),
]


@pytest.mark.parametrize(("fields", "code"), BAD)
def test_each_bad_record_has_its_code(fields, code):
    refused = build(**fields)
    assert isinstance(refused, Refused)
    assert refused.error.code == code
    assert refused.source == Source("m.jsonl", 7)


def test_a_full_record():
    seen = build(
        id="u1", dialogue_id="d1", turn=2, speaker_id="s", gender="f", language="en-GB", intent="call.person",
        text="call Ann now", slots=[{"name": "when", "begin": 9, "end": 12}, {"name": "who", "begin": 5, "end": 8}],
        audio_filepath="a/1.flac", duration=2, unknown={"is": "ignored"},
    )  # fmt: skip
    assert seen == Utterance(
        id="u1", dialogue_id="d1", turn=2, text="call Ann now", source=Source("m.jsonl", 7), speaker_id="s",
        gender="f", language="en-GB", intent="call.person", slots=(Slot(5, 8, "who"), Slot(9, 12, "when")),
        audio=AudioRef("/corpus/secret-folder/a/1.flac", duration_s=2.0),
    )  # fmt: skip


def test_text_alone_is_enough_and_stands_for_itself():
    seen = build(text="hi")
    assert (seen.id, seen.dialogue_id, seen.turn, seen.audio) == ("m.jsonl:7", "m.jsonl:7", 7, None)


def test_id_comes_from_dialogue_and_turn():
    assert build(text="hi", dialogue_id="d", turn=3).id == "d/3"
    assert build(text="hi", dialogue_id="d").id == "m.jsonl:7"
    assert build(text="hi", dialogue_id="d").turn == 7
    assert build(text="hi", dialogue_id=12, turn=3.0).id == "12/3"


def test_control_characters_in_ids_are_kept():
    assert build(text="hi", dialogue_id="a\0b").dialogue_id == "a\0b"


@pytest.mark.parametrize("path", ["/abs/a.wav", "gs://bucket/a.wav"])
def test_absolute_paths_and_uris_stay(path):
    assert build(text="hi", audio_filepath=path).audio.uri == path


def test_offset_and_duration_are_a_segment():
    audio = build(text="hi", audio_filepath="/a.wav", offset=1.5, duration=2).audio
    assert (audio.begin_s, audio.end_s, audio.duration_s) == (1.5, 3.5, 2.0)
    audio = build(text="hi", audio_filepath="/a.wav", offset=0).audio
    assert (audio.begin_s, audio.end_s) == (0.0, None)


@pytest.mark.parametrize(
    ("said", "channel"),
    [(0, 0), (1, 1), (3.0, 3), ("right", 1), ("A", 0), ("b", 1), ("2", 2)]
    + [(value, None) for value in (None, "telephone", -1, 1024, 1.5, True, float("nan"), [0], "٣")],
)
def test_a_record_may_name_the_channel_of_its_speaker_and_what_names_none_is_no_fault(said, channel):
    assert build(text="hi", audio_filepath="a.wav", channel=said).audio.channel == channel


def test_ten_thousand_words_are_accepted():
    assert len(build(text="word " * 10_000).text.split()) == 10_000


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "begin", "end", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from(KEYS), ANYTHING)
    | st.fixed_dictionaries({"text": st.text(min_size=1)}, optional={key: ANYTHING for key in KEYS if key != "text"})
)
def test_whatever_the_fields_hold_the_refusal_is_foreseen(fields):
    """No field value may end in an unforeseen error, and what is accepted is inside the rules."""
    seen = build(**fields)
    if isinstance(seen, Refused):
        assert type(seen.error) in REASONS.values()
        return
    seen.text.encode("utf-8")
    seen.dialogue_id.encode("utf-8")
    assert all(0 <= slot.begin < slot.end <= len(seen.text) for slot in seen.slots)


def test_refusals_show_nothing_of_the_record():
    planted = "John Smith 07700900123"
    for fields, _ in BAD:
        marked = json.loads(json.dumps(fields), parse_constant=lambda _: planted)
        refused = attempt(FILE, 7, utterance, marked | {"dialogue_id": [planted], "speaker_id": planted}, FILE, 7)
        assert isinstance(refused, Refused)
        for shown in (repr(refused), str(refused.error), repr(refused.error), str(refused.source)):
            assert "John" not in shown and "secret-folder" not in shown


def test_an_unforeseen_error_is_refused_too():
    def fail():
        raise KeyError("John Smith")

    refused = attempt(FILE, 7, fail)
    assert isinstance(refused, Refused) and "John" not in repr(refused)
