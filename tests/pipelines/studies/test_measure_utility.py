"""The study of utility on a corpus made on the spot."""

import json
import random
from pathlib import Path

import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.metrics.utility import Score
from sottovoce.models.text import replace
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.studies.measure_utility import STRATEGIES, Variant, read_study, run_cell, transform, variants

GERMAN_NAMES = Path(replace.__file__).parent / "lists" / "de" / "given_names.tsv"
NAMES = ("anna", "robert", "maria", "david", "laura", "peter")
CITIES = ("paris", "london", "new york", "berlin", "madrid")
FRAMES = (("call PER now", "call"), ("weather in LOC", "weather"), ("does PER live in LOC", "ask"), ("stop", "stop"))


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("utility") / "mine.jsonl"
    draw = random.Random(3)
    rows = []
    for number in range(160):
        frame, intent = draw.choice(FRAMES)
        tokens, tags = [], []
        for word in frame.split():
            words = {"PER": draw.choice(NAMES), "LOC": draw.choice(CITIES)}.get(word, word).split()
            inside = [f"I-{word}"] * (len(words) - 1)
            tokens += words
            tags += [f"B-{word}", *inside] if word.isupper() else ["O"]
        rows.append({"tokens": tokens, "tags": tags, "intent": intent, "split": "test" if number % 4 == 0 else "train"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def study(labelled):
    return read_study(labelled, None, None)


def test_the_test_set_stays_untouched(labelled, study):
    rows = [json.loads(line) for line in labelled.read_text().splitlines()]
    assert [list(one.words) for one in study.test] == [row["tokens"] for row in rows if row["split"] == "test"]


@pytest.mark.parametrize("variant", variants(STRATEGIES, [8.0]), ids=str)
def test_slots_and_intents_survive_every_strategy(study, variant):
    sentences, refused, _ = transform(study, variant, 0, "public")
    assert refused == 0
    for before, after in zip(study.train, sentences, strict=True):
        assert len(after.words) == len(after.tags)
        assert after.intent == before.intent
        assert [tag[2:] for tag in after.tags if tag[:1] == "B"] == [slot.name for slot in before.slots]


def test_surrogates_are_of_the_language_that_the_rows_name(tmp_path):
    row = {"tokens": ["ruf", "jonas", "an"], "tags": ["O", "B-person", "O"], "intent": "call", "lang": "de-DE"}
    lines = [json.dumps(row | {"split": split}) for split in ("train", "test") for _ in range(20)]
    (tmp_path / "de-DE.jsonl").write_text("\n".join(lines), "utf-8")
    german = read_study(tmp_path / "de-DE.jsonl", None, None)
    names = {one.words[1].lower() for one in transform(german, Variant("full", 0.0), 0, "public")[0]}
    assert names <= {line.split("\t")[0].lower() for line in GERMAN_NAMES.read_text("utf-8").splitlines()}
    assert {one.language for one in german.train} == {"de"}


def test_words_outside_the_spans_stay_and_placeholders_leave_no_name(study):
    text = " ".join(word for one in transform(study, Variant("typed", 0.0), 0, "public")[0] for word in one.words)
    assert not any(name in text for name in (*NAMES, *CITIES))
    assert "[PER]" in text and "weather in [LOC]" in text


def test_a_larger_epsilon_keeps_more(study):
    kept = [transform(study, Variant("full", epsilon), 0, "public")[2] for epsilon in (0.0, 12.0, 30.0)]
    assert kept[0] < kept[1] < kept[2]


def test_surrogates_of_the_corpus_are_values_of_the_corpus(study):
    sentences, _, _ = transform(study, Variant("full", 0.0), 0, "corpus_raw")
    names = {w for one in sentences for w, tag in zip(one.words, one.tags, strict=True) if tag == "B-PER"}
    assert names <= set(NAMES)


def test_draws_differ_between_seeds_and_repeat_within_one(study):
    first, again, other = (transform(study, Variant("word", 0.0), seed, "public")[0] for seed in (0, 0, 1))
    assert [one.words for one in first] == [one.words for one in again]
    assert [one.words for one in first] != [one.words for one in other]


def test_a_cell_has_one_score_for_each_seed(study):
    cell = run_cell(study, Variant("redact", 0.0), 3, "public", lambda train, test, seed: Score(seed / 2, None))
    assert (cell.accuracy.mean, len(cell.scores), cell.changed, cell.slot_f1) == (0.5, 3, 1.0, None)


def test_placeholders_are_measured_once_and_surrogates_at_every_epsilon():
    rows = variants(["none", "typed", "word"], [8.0, 6.0])
    assert [(row.strategy, row.epsilon) for row in rows] == [
        ("none", None), ("typed", 0.0), ("word", 0.0), ("word", 6.0), ("word", 8.0),
    ]  # fmt: skip


def test_data_without_a_test_split_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["hi"], "tags": ["O"], "intent": "greet", "split": "train"}\n')
    with pytest.raises(CorpusError, match="test"):
        read_study(tmp_path / "a.jsonl", None, None)


def test_of_one_split_a_fifth_of_the_dialogues_is_held_out(tmp_path):
    row = {"tokens": ["hi"], "tags": ["O"], "intent": "greet", "split": "all"}
    rows = [row | {"tokens": [f"hi{number % 50}"], "dialogue_id": f"d{number % 50}"} for number in range(200)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    study = read_study(tmp_path / "a.jsonl", None, None, test_split="all", train_split="all")
    learnt, tested = {one.text for one in study.train}, {one.words[0] for one in study.test}
    assert learnt.isdisjoint(tested) and len(study.train) + len(study.test) == 200
    assert 2 < len(tested) < 20


def test_all_intents_but_the_named_ones_are_one_act(labelled):
    study = read_study(labelled, None, None, acts=["stop"])
    assert {one.intent for one in study.train} == {one.intent for one in study.test} == {"stop", "request"}
    assert study.corpus == "mine, acts"


def test_unknown_strategies_and_bad_numbers_are_told_together(labelled, capsys):
    assert main(["evaluate", "utility", "--data", str(labelled), "--strategies", "hide", "--epsilon", "0"]) == 2
    told = capsys.readouterr().err
    assert "hide" in told and "--epsilon" in told


@pytest.mark.slow
def test_the_command_writes_table_and_chart(labelled, tmp_path, capsys):
    pytest.importorskip("torch", reason="the yardstick is trained with torch")
    pytest.importorskip("matplotlib", reason="the chart is drawn with matplotlib")
    arguments = ["--strategies", "none", "full", "redact", "--epsilon", "8", "--seeds", "2", "--quick"]
    assert main(["evaluate", "utility", "--data", str(labelled), *arguments, "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "utility.json").read_text())
    assert [(row["strategy"], row["epsilon"]) for row in rows] == [
        ("none", None), ("full", 0.0), ("full", 8.0), ("redact", 0.0),
    ]  # fmt: skip
    assert all(0 <= row["intent_accuracy"] <= 1 and row["seeds"] == 2 for row in rows)
    assert (tmp_path / "utility.png").read_bytes().startswith(b"\x89PNG")
    assert not any(name in capsys.readouterr().out for name in NAMES)
    again = ["--strategies", "none", "--seeds", "1", "--quick", "--acts", "stop", "--out", str(tmp_path)]
    assert main(["evaluate", "utility", "--data", str(labelled), *again]) == 0
    assert [row["corpus"] for row in json.loads((tmp_path / "utility.json").read_text())] == ["mine"] * 4 + [
        "mine, acts"
    ]
