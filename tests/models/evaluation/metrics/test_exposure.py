"""Exposure is what the papers say: golden rows, bounds, ties against the secret, and a control for what was never seen."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_runs import sottovoce

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.metrics.exposure import (
    d_exposure,
    exposure,
    extrapolated_exposure,
    null_mean,
    sampled_exposure,
)

GOLDEN = Path(__file__).parents[5] / "shared" / "golden" / "exposure.csv"
costs = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden files are not here")
def test_every_golden_row_comes_out_of_the_command():
    printed = json.loads(sottovoce("evaluate", "exposure", "--json").stdout)
    rows = list(csv.DictReader(GOLDEN.open()))
    assert {row["case"] for row in rows} == set(printed)
    assert all(printed[row["case"]] == pytest.approx(float(row["value"]), abs=1e-9) for row in rows)


@given(st.integers(-5, 5).map(float), costs)
def test_exposure_lies_between_nothing_and_all_and_ties_count_against_the_secret(secret, others):
    low, mid, high = (exposure(secret, others, ties) for ties in ("max", "mid", "min"))
    assert 0 <= low <= mid <= high <= math.log2(len(others) + 1)


@given(st.integers(1, 400))
def test_the_mean_of_a_secret_never_seen_is_that_of_a_rank_drawn_at_random(size):
    ranks = np.arange(size, dtype=float)
    assert null_mean(size) == pytest.approx(
        np.mean([exposure(r, np.delete(ranks, int(r))) for r in ranks[:]]), abs=1e-9
    )


def test_a_sample_bounds_what_it_cannot_see():
    sample = np.arange(1000.0)
    best = sampled_exposure(-1.0, sample)
    assert best.saturated and best.bits == pytest.approx(math.log2(1001)) and best.high == math.inf
    middle = sampled_exposure(499.0, sample)
    assert middle.low < 1.0 < middle.high and not middle.saturated
    drawn = np.random.default_rng(0).normal(size=4000)
    bits, fit = extrapolated_exposure(-5.0, drawn)
    assert bits == pytest.approx(-math.log2(2.8665e-7), rel=0.1) and fit > 0.01


def test_a_word_that_leads_every_class_has_all_the_d_exposure_there_is():
    assert d_exposure(9.0, [[1.0, 2.0, 3.0], [1.0]]) == pytest.approx((2 + 1) / 2)
    assert d_exposure(0.0, [[1.0, 2.0, 3.0], [1.0]]) == 0.0
    with pytest.raises(SettingsError):
        d_exposure(0.0, [])


def test_what_is_missing_or_unreadable_is_named(tmp_path):
    assert (
        "--candidates: missing"
        in sottovoce("evaluate", "exposure", "--model", "x", "--inserted", "y", check=False).stderr
    )


@pytest.mark.slow
def test_a_model_that_was_trained_on_a_line_over_and_over_remembers_it_and_not_its_control(tmp_path):
    """The simplest language model there is, by the interface of a trained one: what a training leaves is asked the same way."""
    from sottovoce.models.training.loop import export
    from sottovoce.pipelines.commands import evaluate_exposure

    codes = [f"my code is {a} {b} {c}" for a in range(8) for b in range(8) for c in range(8)]
    said = ["my code is 3 1 4"] * 50 + codes[::7]

    class Counted:
        def answers(self, lines):
            for line in lines:
                yield {"text": line, "log_probability": math.log((1 + said.count(line)) / (len(codes) + len(said)))}

    for name, lines in (("inserted", said[:1]), ("control", ["my code is 7 7 6"]), ("candidates", codes[1::2])):
        (tmp_path / name).write_text("\n".join(lines))
    flags = [f"--{name}={tmp_path / name}" for name in ("inserted", "control", "candidates")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "load_trained", lambda _: Counted())
        found = json.loads(sottovoce("evaluate", "exposure", "--model", tmp_path, *flags, "--json").stdout)
    assert evaluate_exposure.EXAMPLES and found["inserted: mean exposure"] == pytest.approx(math.log2(257))
    assert found["control: mean exposure"] < found["exposure of a line never seen"]


@pytest.mark.slow  # a training
def test_a_classifier_remembers_words_that_alone_told_a_class_and_not_others(tmp_path):
    """Which of two intents a sentence has follows from a word that nobody else says; as many such words were never said."""
    draw = np.random.default_rng(1)
    words = ["".join(draw.choice(list("bdfgklmnprst"), 8)) for _ in range(330)]
    said, never, others = words[:8], words[8:30], words[30:]
    texts = [(f"keep {word} now", f"kind{number % 2}") for number, word in enumerate(said)] * 12
    texts += [(f"{verb} the {thing}", verb) for verb in ("play", "book") for thing in ("jazz", "room")] * 20
    (tmp_path / "data.jsonl").write_text("".join(
        json.dumps({"tokens": text.split(), "tags": ["O"] * len(text.split()), "intent": intent}) + "\n"
        for text, intent in texts
    ))  # fmt: skip
    model = {"use": "clc", "hidden": 16, "layers": 1, "word_size": 32, "buckets": 4000, "filters": 4}
    settings = {
        "mode": "plain",
        "model": model,
        "unit": "example",
        "epochs": 12,
        "batch_size": 32,
        "learning_rate": 0.02,
    }
    (tmp_path / "train.yaml").write_text(json.dumps(settings | {"device": "cpu", "validation_share": 0.0}))
    flags = ("--data", tmp_path / "data.jsonl", "--config", tmp_path / "train.yaml", "--out", tmp_path / "out")
    sottovoce("train", *flags)
    for name, own in (("inserted", said), ("control", never), ("candidates", others)):
        (tmp_path / name).write_text("".join(f"keep {word} now\n" for word in own))
    flags = [f"--{name}={tmp_path / name}" for name in ("inserted", "control", "candidates")]
    model = tmp_path / "out" / "model"
    found = json.loads(sottovoce("evaluate", "exposure", "--model", model, *flags, "--json").stdout)
    print(found)
    assert found["control: mean d-exposure"] < found["d-exposure of a line never seen"] + 1.5
    assert found["inserted: interval"][0] > found["control: interval"][1]
    assert found["inserted: mean d-exposure in class kind0"] > 3
