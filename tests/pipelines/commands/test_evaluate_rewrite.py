"""The study of rewriting from the command line, on a corpus made on the spot."""

import json
import random

import pytest

from sottovoce.models.text.rewrite.autoencoder import SHIPPED
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.studies.measure_rewrite import MeasuredStrategy

FRAMES = {
    "play": ("play X", "play X please"),
    "book": ("book X now", "book a table in X"),
    "wake": ("wake me X", "alarm X"),
}
VALUES = {"play": ["abba", "sade"], "book": ["rome", "oslo"], "wake": ["noon", "six"]}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Dialogues of four sentences; three of four are to learn from."""
    draw, path = random.Random(1), tmp_path_factory.mktemp("rewrite") / "mine.jsonl"
    with path.open("w") as file:
        for number in range(400):
            intent = draw.choice(sorted(FRAMES))
            value = draw.choice(VALUES[intent])
            tokens = [value if word == "X" else word for word in draw.choice(FRAMES[intent]).split()]
            tags = ["B-what" if word == value else "O" for word in tokens]
            row = {"tokens": tokens, "tags": tags, "intent": intent, "dialogue_id": f"d{number // 4}"}
            file.write(json.dumps(row | {"split": ("test", "dev", "train", "train")[number % 4]}) + "\n")
    return path


def study(capsys, path, *flags):
    assert main(["evaluate", "rewrite", "--data", str(path), "--json", *flags]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_every_strategy_is_measured_and_kept(labelled, capsys, tmp_path):
    rows = study(capsys, labelled, "--epsilon", "8", "--slots", "1", "--out", str(tmp_path / "study"))
    by_name = {row["strategy"]: row for row in rows}
    assert list(by_name) == ["none", "replace", "crowd", "adept", "metric"]
    assert by_name["none"]["intent_accuracy"] > 0.95 and by_name["none"]["found_among_1000"] is not None
    assert by_name["crowd"]["guarantee"] == "(8, 1e-06) utterance" and by_name["crowd"]["found_among_1000"] is None
    for row in rows:
        assert (
            0 <= row["released"] <= 1 and 0 <= row["slot_f1"] <= 1 and row["membership_low"] <= row["membership_high"]
        )
        assert list(row["triples"]) == ["once", "2 to 9 times", "10 and more"]
    assert json.loads((tmp_path / "study/rewrite.json").read_text()) == rows
    assert (tmp_path / "study/rewrite.png").read_bytes()[:4] == b"\x89PNG"


def test_ladders_are_compared_on_another_split_and_dialogues_may_be_the_unit(labelled, capsys):
    ladders = ("--ladder", "full=1", "full=0.5,skeleton=0.5", "--test-split", "dev", "--unit", "dialogue")
    rows = study(capsys, labelled, "--strategy", "crowd", "--epsilon", "20", *ladders)
    assert [row["ladder"] for row in rows] == [{"full": 1.0}, {"full": 0.5, "skeleton": 0.5}]
    assert {row["guarantee"] for row in rows} == {"(20, 1e-06) dialogue"}


@pytest.mark.parametrize(
    "wrong",
    ["--strategy crowds", "--epsilon 0", "--delta 1", "--ladder full:1", "--ladder whole=1", "--test-split other"],
)
def test_what_is_wrong_is_named(labelled, capsys, wrong):
    strategy = () if "strategy" in wrong else ("--strategy", "crowd")
    assert main(["evaluate", "rewrite", "--data", str(labelled), *strategy, *wrong.split()]) in (1, 2)
    said = capsys.readouterr().err
    assert said.startswith("error: ") and "unexpected" not in said


def test_a_decoder_that_has_read_the_corpus_is_said_to_give_nothing():
    read = json.loads((SHIPPED / "rewriter.json").read_text())["trained_on"][0].split(".")[0]
    assert MeasuredStrategy("adept", 4.0).guarantee(read) == "none: decoder read it"
    assert MeasuredStrategy("adept", 4.0).guarantee("another") == "(4, 1e-06) utterance"
