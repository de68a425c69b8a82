"""Labelled text, whatever file it came in."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest
from committed_run import commit

from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.text.detect.builder import corpora
from sottovoce.models.text.detect.builder.corpora import (
    TaggedExample,
    common_words,
    held_out,
    label,
    read_examples,
    slot_map,
    stretches,
    unlabelled_types,
    without,
)
from sottovoce.models.text.detect.builder.labelled_rows import split_slots
from sottovoce.models.text.languages import TABLE

TYPES = {"PER", "LOC", "ORG", "DATE", "TIME", "CODE", "PHONE", "EMAIL", "AMOUNT", "WHEN", "?"}


def test_every_row_of_the_slot_map_names_a_known_type():
    assert {known.type for slots in slot_map().values() for known in slots.values()} <= TYPES


def test_slots_become_types_and_ordinary_words_inside_them_stay_outside():
    tokens = ["table", "for", "me", "and", "kathrine", "at", "seven", "pm"]
    tags = [
        "O",
        "O",
        *["B-party_size_description", "I-party_size_description", "I-party_size_description"],
        "O",
        "B-timeRange",
        "I-timeRange",
    ]
    assert label("snips", tokens, tags) == ("O", "O", "O", "O", "B-PER", "O", "B-TIME", "I-TIME")


@pytest.mark.parametrize(
    ("slot", "value", "kept"),
    [
        ("place_name", "the nearest theatre", False),
        ("place_name", "home", False),
        ("place_name", "penn station", True),
        ("business_name", "customer service", False),
        ("business_name", "amazon customer service", True),
        ("date", "this month", True),
        ("time", "now", False),
        ("time", "two hours from now", True),
        ("person", "john's", True),
    ],
)
def test_a_value_of_common_words_alone_names_nothing(slot, value, kept):
    tokens = value.split()
    tags = [f"{'I' if at else 'B'}-{slot}" for at in range(len(tokens))]
    labels = label("nlu_eval", tokens, tags)
    assert (set(labels) != {"O"}) == kept
    assert not kept or "O" not in labels


def test_common_words_are_of_known_types_and_in_order():
    assert set(common_words()) <= TYPES
    for row in Path(corpora.__file__).with_name("common_words.tsv").read_text("utf-8").splitlines():
        words = row.split("\t")[-1].split()
        assert row.startswith("#") or words == sorted(set(words))


@pytest.mark.parametrize("code", sorted(set(TABLE) - {"en"}))
def test_common_words_of_every_language_are_of_known_types_and_in_order(code):
    rows = [
        row.split("\t")
        for row in Path(corpora.__file__).with_name("common_words_languages.tsv").read_text("utf-8").splitlines()
    ]
    own = {row[1]: row[2].split() for row in rows if row[0] == code}
    assert set(own) == {"PER", "LOC", "ORG", "DATE"}
    assert all(words == sorted(set(words)) and all(word == word.lower() for word in words) for words in own.values())
    assert common_words(code)["TIME"] == common_words(code)["DATE"] == frozenset(own["DATE"])


def test_a_value_of_common_words_alone_names_nothing_in_its_own_language():
    tags = ["B-place_name", "I-place_name"]
    assert label("de-DE", ["nach", "hause"], tags, language="de") == ("O", "O")
    assert label("de-DE", ["nach", "hause"], tags, language="pl") == ("B-LOC", "I-LOC")
    assert label("de-DE", ["new", "york"], tags, language="de") == ("B-LOC", "I-LOC")


def test_words_without_a_type_come_with_their_slot(tmp_path):
    path = tmp_path / "de-DE.jsonl"
    row = {
        "tokens": ["spiel", "hallo", "von", "adele"],
        "tags": ["O", "B-song_name", "O", "B-artist_name"],
        "lang": "de-DE",
    }
    path.write_text(json.dumps(row))
    (example,) = read_examples(path)
    assert example.labels == ("O", "O", "O", "B-PER")
    assert example.aside == (("spiel", ""), ("hallo", "song_name"), ("von", ""))


def test_the_types_that_a_set_does_not_label_come_with_its_examples(tmp_path):
    path = tmp_path / "restaurant8k.jsonl"
    path.write_text(json.dumps({"tokens": ["hi"], "tags": ["O"], "split": "test"}))
    (example,) = read_examples(path)
    assert example.unlabelled == unlabelled_types()["restaurant8k"]
    assert set().union(*unlabelled_types().values()) <= TYPES


def test_a_corpus_without_a_map_is_labelled_with_types_already():
    assert label("mine", ["bob"], ["B-PER"]) == ("B-PER",)


def test_stretches_lose_no_label():
    assert list(stretches(["I-a", "B-a", "I-a", "O", "I-b", "I-c"])) == [
        (0, 1, "a"),
        (1, 3, "a"),
        (4, 5, "b"),
        (5, 6, "c"),
    ]


def test_words_are_cut_at_slot_borders():
    text = "call Bob-Smith now"
    assert split_slots(text, [(5, 8, "PER")]) == (["call", "Bob", "-Smith", "now"], ["O", "B-PER", "O", "O"])


def test_jsonl_conll_and_gz_read_the_same(tmp_path):
    rows = [
        {"tokens": ["call", "bob"], "tags": ["O", "B-PER"]},
        {"text": "in new york", "slots": [{"begin": 3, "end": 11, "name": "LOC"}]},
    ]
    plain, packed, conll = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", tmp_path / "c.conll"
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    plain.write_text(lines, "utf-8")
    packed.write_bytes(gzip.compress(lines.encode()))
    conll.write_text("-DOCSTART- O\n\ncall _ O\nbob _ B-PER\n\nin _ O\nnew _ B-LOC\nyork _ I-LOC\n", "utf-8")
    read = [[(e.tokens, e.labels) for e in read_examples(path)] for path in (plain, packed, conll)]
    assert read[0] == read[1] == read[2]
    assert read[0][1] == (("in", "new", "york"), ("O", "B-LOC", "I-LOC"))


def test_the_slu_sink_of_a_committed_run_is_read_and_an_uncommitted_one_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    (tmp_path / "slu").mkdir()
    rows = [{"text": "call bob", "slots": [{"begin": 5, "end": 8, "name": "contact"}]}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "slu" / "part-0.parquet")
    with pytest.raises(RunError, match="not a committed run"):
        list(read_examples(tmp_path))
    (example,) = read_examples(commit(tmp_path))
    assert (example.tokens, example.labels) == (("call", "bob"), ("O", "B-contact"))
    (tmp_path / "slu" / "part-1.parquet").write_bytes(b"")
    with pytest.raises(RunError, match=r"part-1\.parquet is in the run but not committed"):
        list(read_examples(tmp_path))


def test_a_bad_line_is_named_without_its_content(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["secret"], "tags": []}\n', "utf-8")
    with pytest.raises(CorpusError, match="line 1") as error:
        list(read_examples(path))
    assert "secret" not in str(error.value)


def test_what_is_measured_is_dropped_from_training_however_it_is_written():
    measured = [TaggedExample(("Call", "Bob", "now", "!"), ("O",) * 4)]
    training = [
        TaggedExample(("call", "bob", "now", "."), ("O",) * 4),
        TaggedExample(("call", "ann", "now"), ("O",) * 3),
        TaggedExample(("ok",), ("O",)),
    ]
    assert without(training, measured) == training[1:]


def test_the_held_out_share_is_stable_and_about_right():
    examples = [TaggedExample((f"utterance{number}",), ("O",)) for number in range(2000)]
    share = sum(held_out(e, 0.1) for e in examples) / 2000
    assert 0.07 < share < 0.13  # the draw is a hash of fixed texts: no flakiness
    assert [held_out(e, 0.1) for e in examples] == [held_out(e, 0.1) for e in examples]


def test_a_line_without_an_end_is_told_before_it_fills_the_memory(tmp_path):
    """A hundred kilobytes of gzip that hold a line of a hundred megabytes."""
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(100):
            file.write(b" " * 1_000_000)
    tracemalloc.start()
    with pytest.raises(CorpusError, match=r"bomb\.jsonl\.gz, line 1: longer than 1048576 characters"):
        list(read_examples(path))
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
