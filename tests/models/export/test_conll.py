from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.export.conll import tagged_tokens
from sottovoce.models.export.folder import export

SLOTS = st.lists(
    st.fixed_dictionaries({"begin": st.integers(0, 30), "end": st.integers(0, 30), "name": st.sampled_from("ab")}),
    max_size=4,
)


def test_tokens_tags_and_intent_are_written_as_columns(run, tmp_path):
    export(run, "conll", tmp_path / "made")
    assert (tmp_path / "made" / "slu.conll").read_text("utf-8").split("\n\n")[0].split("\n") == [
        "# id = aa01",
        "# intent = book_trip",
        "# language = en",
        "fly\tO",
        "to\tO",
        "[CITY]\tB-city",
        ",\tO",
        "on\tO",
        "friday\tB-date",
        "morning\tI-date",
    ]


def test_our_own_reader_finds_the_same_dialogues_intents_and_slots(run, tmp_path, read_corpus):
    export(run, "conll", tmp_path / "made")
    slu = {record.id: record for record in read_corpus("conll", tmp_path / "made" / "slu.conll")}
    assert set(slu) == {"aa01", "aa02"}
    assert slu["aa01"].intent == "book_trip" and slu["aa02"].intent is None
    values = {slot.name: slu["aa01"].text[slot.begin : slot.end] for slot in slu["aa01"].slots}
    assert values == {"city": "[CITY]", "date": "friday morning"}
    turns = sorted(
        (record.dialogue_id, record.turn, record.text)
        for record in read_corpus("conll", tmp_path / "made" / "dm.conll")
    )
    assert turns == [("dd01", 1, "call [NAME]"), ("dd01", 2, "yes please"), ("dd02", 1, "stop")]


@given(st.text(alphabet="ab ,\n\t\u2028é[", max_size=30), SLOTS)
def test_no_character_but_blanks_is_lost_whatever_the_slots_are(text, slots):
    tagged = list(tagged_tokens(text, [slot for slot in slots if slot["begin"] < slot["end"]]))
    assert "".join(token for token, _ in tagged) == "".join(text.split())
    assert all(token.split() == [token] for token, _ in tagged)


@given(st.text(alphabet="ab ,", max_size=30), SLOTS)
def test_an_inside_tag_always_continues_its_own_slot(text, slots):
    before = "O"
    for _, tag in tagged_tokens(text, [slot for slot in slots if slot["begin"] < slot["end"]]):
        if tag.startswith("I-"):
            assert before[2:] == tag[2:]
        before = tag
