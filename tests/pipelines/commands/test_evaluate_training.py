"""`sottovoce evaluate training`: the tables, on data and models small enough for a test."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tiny_training import sentences, write_jsonl

from sottovoce.pipelines.cli import main
from sottovoce.pipelines.studies import training_study, training_tables

TINY = {
    "clc": {"use": "clc", "hidden": 6, "layers": 1, "word_size": 6, "buckets": 64, "filters": 4, "character_size": 4},
    "bert": {"use": "bert", "layers": 1, "hidden": 8, "heads": 2, "feed_forward": 8, "buckets": 64},
}


@pytest.fixture
def command(tmp_path, monkeypatch):
    quick = training_study.QUICK["slu"]
    settings = replace(quick.settings, epochs=5, batch_size=16, z0=2.0)
    small = replace(quick, models=TINY, settings=settings, target_examples=16, canaries=2)
    monkeypatch.setitem(training_study.QUICK, "slu", small)
    rows = [row | {"split": "test" if number % 5 == 0 else "train"} for number, row in enumerate(sentences(260))]
    data = write_jsonl(tmp_path / "toy.jsonl", rows)
    return ["evaluate", "training", "--data", f"toy={data}", "--out", str(tmp_path / "tables")]


@pytest.mark.slow
@pytest.mark.long
def test_every_method_on_both_models_is_a_row_and_a_point(tmp_path, command, capsys):
    assert main([*command, "--lira", "2"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "tables/rows.jsonl").read_text().splitlines()]
    assert [(row["model"], row["method"]) for row in rows] == [
        (model, method) for model in ("clc", "bert") for method in training_study.METHODS
    ]
    for row in rows:
        assert (
            0 <= row["mia"]["auc_low"] <= row["mia"]["auc"] <= row["mia"]["auc_high"] <= 1 and row["lira"]["auc"] >= 0
        )
        assert row["seconds_per_epoch"] > 0 and row["scores"]["examples"] == 52
        assert row["exposure"]["low"] <= row["exposure"]["bits"] <= row["exposure"]["high"]
    published = [row["epsilon_published"] for row in rows if "eDP" in row["method"]]
    assert all(figure < row["epsilon_sound"] for figure, row in zip(published[:3], rows[1:4], strict=True))
    assert rows[0]["epsilon_sound"] == "inf"
    table = (tmp_path / "tables/table.md").read_text()
    assert table.count("\n") == 12 and table in capsys.readouterr().out
    picture = (tmp_path / "tables/chart.svg").read_text()
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert all(f"<!-- {row['method']} -->" in picture for row in rows)
    capsys.readouterr()
    assert main([*command, "--lira", "2"]) == 0  # trainings that are kept are not run again
    said = capsys.readouterr()
    assert "0 of 40 steps to do" in said.err and table in said.out


def test_a_test_set_that_is_sorted_by_intent_is_not_cut_to_its_first_intents(tmp_path):
    rows = sorted(sentences(260), key=lambda row: row["intent"])
    data = write_jsonl(
        tmp_path / "sorted.jsonl", [row | {"split": split} for split in ("train", "test") for row in rows]
    )
    parts = training_tables.split(data, replace(training_study.QUICK["slu"], test_examples=40))
    assert len(parts.test) == 40 and {example.intent for example in parts.test} == {row["intent"] for row in rows}


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--methods", "magic"], "not known"),
        (["--lira", "3"], "even"),
        (["--data", "nothing"], "NAME=FILE"),
        (["--data", "tts:a=b"], "no study"),
        (["--models", "conv"], "none is a model"),
    ],
)
def test_what_cannot_be_measured_is_refused(command, capsys, flags, word):
    assert main([*command, *flags]) == 2
    assert word in capsys.readouterr().err
