import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.conll import Conll
from sottovoce.models.corpus.reasons import MAX_LINE_BYTES
from sottovoce.models.records import Slot

SAMPLE = """\
# intent = greet
hello O

-DOCSTART- -X- O O

John NNP B-name
Smith NNP I-name
called VB O

ok UH O

# dialogue_id = d7
# turn = 4
# speaker_id = s1
# text = ignored
to\tO
New York\tB-city
"""


def test_sentences_dialogues_and_slots(tools):
    alone, first, second, named = tools.Memory(f=SAMPLE).read("conll")
    assert (alone.text, alone.intent, alone.dialogue_id, alone.source.line) == ("hello", "greet", "f:1", 1)
    assert (first.text, first.slots) == ("John Smith called", (Slot(0, 10, "name"),))
    assert (first.dialogue_id, first.turn, second.dialogue_id, second.turn) == ("f:4", 0, "f:4", 1)
    assert (named.dialogue_id, named.turn, named.speaker_id, named.id) == ("d7", 4, "s1", "d7/4")
    assert (named.text, named.slots) == ("to New York", (Slot(3, 11, "city"),))
    assert all(record.audio is None for record in (alone, first, second, named))


@pytest.mark.parametrize(
    ("tags", "slots"),
    [
        ("O O", []),
        ("B-x I-x", [(0, 3, "x")]),
        ("B-x B-x", [(0, 1, "x"), (2, 3, "x")]),
        ("I-x I-x", [(0, 3, "x")]),
        ("B-x I-y", [(0, 1, "x"), (2, 3, "y")]),
        ("B-x E-x", [(0, 3, "x")]),
        ("S-x S-x", [(0, 1, "x"), (2, 3, "x")]),
        ("U-x I-x", [(0, 1, "x"), (2, 3, "x")]),
        ("O I-x", [(2, 3, "x")]),
    ],
)
def test_tags_become_slots(tools, tags, slots):
    lines = "\n".join(f"{token} {tag}" for token, tag in zip("ab", tags.split(), strict=True))
    (record,) = tools.Memory(f=lines).read("conll")
    assert record.slots == tuple(Slot(*slot) for slot in slots)


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        (b"John NNP\n", "tags_malformed"),
        (b"John B-\n", "tags_malformed"),
        (b"\tO\nJohn\tO\n", "tags_malformed"),
        (b"J\xffohn O\n", "not_utf8"),
        (b"John B-name,of,John\n", "label_malformed"),
        (b"# intent = call John Smith\nhi O\n", "label_malformed"),
        (b"# turn = John\nhi O\n", "turn_not_whole"),
        (b"John\x00 O\n", "text_malformed"),
        (b"x" * (MAX_LINE_BYTES + 2) + b"\n", "line_too_long"),
        (b"John O\n" * (MAX_LINE_BYTES // 7 + 1), "line_too_long"),
    ],
)
def test_each_bad_sentence_has_its_code_and_harms_no_other(tools, sentence, code):
    before, refused, after = tools.Memory(f=b"before O\n\n" + sentence + b"\nafter O\n").read("conll")
    assert (before.text, tools.code(refused), after.text) == ("before", code, "after")
    assert refused.source.line == 3
    assert "John" not in repr(refused) + str(refused.error)


@pytest.mark.parametrize("name", [b"\xff", b"x" * 600])
def test_sentences_of_a_dialogue_without_a_usable_name_are_all_refused(tools, name):
    memory = tools.Memory(f=b"# dialogue_id = " + name + b"\na O\n\nb O\n\n# dialogue_id = fine\nc O\n")
    for size in (1, 2, 3):
        first, second, third = memory.read("conll", size)
        assert tools.code(first) in ("id_malformed", "not_utf8") and tools.code(second) == "id_malformed"
        assert third.dialogue_id == "fine"


def test_a_comment_alone_is_no_record_but_begins_its_dialogue(tools):
    (record,) = tools.Memory(f="# dialogue_id = d\n\n\nhi O\n").read("conll")
    assert (record.dialogue_id, record.turn) == ("d", 0)


def test_a_hashtag_is_a_token(tools):
    (record,) = tools.Memory(f="#news O\n# O\n").read("conll")
    assert record.text == "#news #"


PIECES = st.lists(
    st.sampled_from(
        ["a O", "b B-x", "c I-x", "", "", "\r", " ", "-DOCSTART- O", "# dialogue_id = d", "# dialogue_id = e",
         "# dialogue_id =", "# intent = i", "d", "# note", "x y z"]
    ),
    max_size=40,
)  # fmt: skip


@given(PIECES, st.integers(1, 6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_size_of_a_chunk_changes_no_record(pieces, records_per_batch, line_end, ended):
    data = (line_end.join(pieces) + line_end * ended).encode()
    file = CorpusFile("f", "f", "f", len(data))

    def open_file(_):
        return io.BytesIO(data)

    def read(size):
        reader = Conll(size)
        batches = [
            list(reader.parse(chunk, lambda _: io.BytesIO(data)))
            for chunk in reader.scan(file, lambda _: io.BytesIO(data))
        ]
        assert all(0 < len(batch) <= size for batch in batches)
        return [
            (record.source, record.error.code)
            if isinstance(record, Refused)
            else (record.source, record.id, record.dialogue_id, record.turn, record.text, record.slots, record.intent)
            for batch in batches
            for record in batch
        ]

    assert read(records_per_batch) == read(10_000)
