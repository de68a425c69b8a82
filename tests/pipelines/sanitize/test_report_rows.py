"""Before and after in the report: what the data sets were given, what was released, and no label of refused records."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.tally import Given, Tally
from sottovoce.pipelines.sanitize.report_rows import sections_of_rows
from sottovoce.transforms.sinks.route import _given


def record(tmp_path, **tables):
    shards = []
    for sink, rows in tables.items():
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / sink)
        shards.append({"sink": sink, "path": sink, "rows": len(rows)})
    return {"counts": {"rows": {sink: len(rows) for sink, rows in tables.items()}}, "shards": shards}


GIVEN = {
    "slu": {"spans": {"PER": 2, "DATE": 1}, "labels": {"call": 3, "only_refused": 2}, "words": {"3": 2, "5": 3}},
    "dm": {"spans": {"PER": 1}, "labels": {"call": 2}, "words": {"4": 2}},
}  # fmt: skip
ROWS = [{"text": "call [PER] now", "intent": "call"}, {"text": "call", "intent": "call"}]


def sections(tmp_path, given=GIVEN):
    found = sections_of_rows(record(tmp_path, slu=ROWS, dm=[{"turns": ROWS}]), lambda path: str(tmp_path / path), given)
    return {section.title: section for section in found}


def test_spans_are_told_by_type_and_data_set(tmp_path):
    table = sections(tmp_path)["Sensitive stretches found, by type and data set"]
    assert table.columns == ("type", "slu", "dm")
    assert table.rows == (("DATE", "1", "0"), ("PER", "2", "1"), ("all", "3", "1"))


def test_lengths_and_labels_stand_before_and_after(tmp_path):
    found = sections(tmp_path)
    assert ("slu", "words", "before", "3", "5", "5", "21") in found["How long its rows are"].rows
    assert ("dm", "words", "after", "1.2", "2", "2.8", "4") in found["How long its rows are"].rows
    labels = found["How the rows of slu are labelled"]
    assert labels.rows == (("call", "3", "2", ""),) and labels.bars == ((1.0, pytest.approx(2 / 3)),)


def test_a_label_of_which_every_record_was_refused_is_counted_and_not_named(tmp_path):
    labels = sections(tmp_path)["How the rows of slu are labelled"]
    assert "only_refused" not in str(labels) and labels.note.startswith("2 records have labels")


def test_without_what_was_given_only_released_rows_are_told(tmp_path):
    found = sections(tmp_path, None)
    assert "Sensitive stretches found, by type and data set" not in found
    assert {row[2] for row in found["How long its rows are"].rows} == {"after"}
    assert found["How the rows of slu are labelled"].rows == (("call", "2", ""),)


def test_what_a_sink_is_given_is_counted_and_merged():
    one = Utterance("a", "a", 0, "call anna now", Source("", 0), intent="call", spans=(Span(5, 9, "PER"),))
    tally = Tally(given={"slu": _given([one])}).merge(Tally(given={"slu": _given([one]), "dm": _given([one])}))
    assert tally.given["slu"] == Given(Counter(PER=2), Counter(call=2), Counter({3: 2}))
    assert tally.to_json()["given"]["dm"] == {"spans": {"PER": 1}, "labels": {"call": 1}, "words": {"3": 1}}
