"""Traits come from the corpus and from the operator's table, by person; people whose labels disagree have none."""

import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.audit.trials import NotApplicable, NotMeasurable
from sottovoce.models.forget.whose import part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.pipelines.audit.people_traits import labelled_traits

SECRET = Secret(b"s" * 32)


def originals(*said):
    """(speaker, gender, text) by person."""
    found = {}
    for number, (speaker, gender, text) in enumerate(said):
        utterance = Utterance(str(number), str(number), 0, text, Source("f", number), speaker, gender)
        found.setdefault(part_of_utterance(SECRET, utterance).speaker, []).append(utterance)
    return found


def test_labels_of_corpus_and_table_meet_at_the_person(tmp_path):
    people = originals(
        ("anna", "f", "one"), ("anna", "f", "two"), ("bert", "m", "three"), ("bert", "f", "four"), ("carl", None, "x")
    )
    table = tmp_path / "people.csv"
    table.write_text("speaker_id,age,accent\nanna,30-39,\ncarl,60-69,north\nsomebody else,20-29,south\n")
    found = labelled_traits(people, SECRET, str(table))
    anna, bert, carl = people
    assert (
        found.of == {anna: {"gender": "f", "age": "30-39"}, carl: {"age": "60-69", "accent": "north"}}
        and bert not in found.of
    )
    assert {text.text for text in found.said} == {"one", "two", "three", "four", "x"} and "anna" not in repr(found)


def test_a_corpus_without_labels_has_no_traits_and_a_table_without_people_is_refused(tmp_path):
    assert isinstance(labelled_traits(originals(("anna", None, "one")), SECRET), NotApplicable)
    (tmp_path / "t.csv").write_text("name,age\nanna,30\n")
    for path in ("t.csv", "absent.csv"):
        with pytest.raises(CorpusError, match="--traits"):
            labelled_traits(originals(("anna", None, "one")), SECRET, str(tmp_path / path))


def test_a_table_of_strangers_is_no_leave_to_call_traits_not_applicable(tmp_path):
    (tmp_path / "t.csv").write_text("speaker_id,age\nsomebody else,30\n")
    found = labelled_traits(originals(("anna", None, "one")), SECRET, str(tmp_path / "t.csv"))
    assert isinstance(found, NotMeasurable) and "nobody there is in it" in found.needs
