"""Attacker: searches every byte of what a training gives away, for what only its owner has.

Words that one person said, names of people and of files, the path of the machine, exact scores. A model has a word list, labels,
a card, options, the hash of its run, and its exported form a graph with the history of each operation.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter

import numpy as np
import pytest
import soundfile
import torch
from adversary import weakened
from committed_run import commit, make_run
from tiny_training import tiny_rows

from sottovoce.models.errors import CorpusError
from sottovoce.models.randomness import Secret
from sottovoce.models.speech.mel_bands import BANDS
from sottovoce.models.training.batches import collate_named
from sottovoce.models.training.loop.prepare import prepare
from sottovoce.models.training.networks.conv import ConvModel
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.cli import main

pytestmark = pytest.mark.slow
WORD, PERSON, PLACE = "zorvendal", "quibbelin", "papers of ottilie"
MODELS = {
    "slu": {"use": "clc", "hidden": 4, "word_size": 4, "buckets": 32, "filters": 2, "character_size": 2, "layers": 1},
    "lm": {"use": "lstm", "hidden": 4, "word_size": 4, "size": 60},
    "counts": {"use": "counts", "size": 60},
    "dm": {"use": "turns", "hidden": 4, "word_size": 4, "buckets": 32},
    "am": {"use": "conv", "depth": 1, "width": 4, "longest_s": 2.0},
}


def corpus(folder, task):
    """Rows of which one person said a word that nobody else says."""
    if task == "am":
        draw = np.random.default_rng(0)
        for number in range(12):
            soundfile.write(folder / f"{PERSON} {number}.wav", 0.1 * draw.standard_normal(8000), 16_000)
        rows = [
            {"audio": f"{PERSON} {number}.wav", "text": f"say {WORD if number % 3 else 'hello'} {said}"}
            for number, said in enumerate("abcdefghijkl")
        ]
    else:
        rows = tiny_rows("lm" if task == "counts" else task, 24)
    for row in rows:
        row["speaker"] = PERSON
        if "tokens" in row:
            row["tokens"][0] = WORD
        elif "turns" in row:
            row["turns"][0]["text"] += f" {WORD}"
        elif task != "am":
            row["text"] += f" {WORD}"
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return data


def given_away(tmp_path, task, **model):
    """(every byte of the model's folder and its ledger, exact scores that only the owner has)."""
    folder = tmp_path / PLACE
    folder.mkdir()
    data = corpus(folder, task)
    settings = {"task": "lm" if task == "counts" else task, "model": MODELS[task] | model, "mode": "per_example", "z0": 2.0,
                "unit": "example", "epochs": 1, "batch_size": 4, "validation_share": 0.4, "delta": 0.01,
                "sampling": None if task == "counts" else "shuffle"}  # fmt: skip
    (folder / "train.yaml").write_text(json.dumps(settings))
    flags = ["--data", data, "--config", folder / "train.yaml", "--out", folder / "out"]
    assert main(["train", *map(str, flags)]) == 0
    if task == "am":
        assert main(["predict", "--model", str(folder / "out/model"), "--traced", str(folder / "out/am.pt2")]) == 0
    scores = json.loads((folder / "out/private/done.json").read_text())["validation"]
    files = [path for path in (folder / "out").rglob("*") if path.is_file() and "private" not in path.parts]
    return b"".join(map(_bytes_of, files)), [score for score in scores.values() if len(repr(score)) > 8]


def _bytes_of(path):
    if not zipfile.is_zipfile(path):
        return path.name.encode() + path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(name.encode() + archive.read(name) for name in archive.namelist())


def attack(found, scores):
    """What of the owner's it finds."""
    text = found.lower()
    sought = {"word": WORD, "person": PERSON, "path": PLACE, "machine": __file__.split("/tests/")[0]}
    said = {name for name, word in sought.items() for form in (word.encode(), word.encode("utf-16-le")) if form in text}
    return said | (
        {"score"}
        if any(_number(form).search(found) for score in scores for form in (repr(score), f"{score:.4g}"))
        else set()
    )


def _number(form):
    """As a number of its own: four figures inside longer numbers are there by chance."""
    return re.compile(rb"(?<![\d.])" + re.escape(form.encode()) + rb"(?!\d)")


@pytest.mark.parametrize("task", MODELS)
def test_nothing_of_the_owner_is_in_what_is_given_away(tmp_path, capsys, task):
    assert as_found(tmp_path, task) == set()


def as_found(tmp_path, task, **model):
    return attack(*given_away(tmp_path, task, **model))


def test_a_graph_with_its_history_names_the_machine(tmp_path, capsys):
    with weakened(
        "history of operations", {"sottovoce.models.training.loop.traced:_without_traces": lambda program: program}
    ):
        assert "machine" in as_found(tmp_path, "am")


def test_a_card_with_the_scores_of_private_lines_tells_them(tmp_path, capsys):
    with weakened("scores kept back", {"sottovoce.models.training.loop.export:published": lambda card: card}):
        assert "score" in as_found(tmp_path, "lm")


def test_a_vocabulary_that_was_counted_has_the_word_whatever_the_noise(tmp_path, capsys):
    """What `model.vocabulary` must not be given: a list of the words of the data."""
    counted = Counter(word for row in tiny_rows("lm", 24) for word in [*row["text"].split(), WORD])
    (tmp_path / "words.txt").write_text("\n".join(sorted(counted)))
    assert "word" in as_found(tmp_path, "lm", vocabulary=str(tmp_path / "words.txt"))


def test_statistics_of_examples_that_count_as_public_tell_which_they_were():
    draw, network = np.random.default_rng(1), ConvModel(norm="public", depth=1, width=4).network(None)
    recordings = [
        {"bands": draw.normal(size=(30, BANDS)).astype(np.float32), "letters": np.array([1])} for _ in range(8)
    ]
    network.public = collate_named(recordings[:5])
    network.eval()
    exported = {name: tensor.clone() for name, tensor in network.state_dict().items()}

    def off(last):
        network.public = collate_named([*recordings[:4], last])
        network.eval()
        return float((network.state_dict()["norms.0.public_mean"] - exported["norms.0.public_mean"]).abs().max())

    assert min(range(8), key=lambda at: off(recordings[at])) == 4  # whoever knows the others reads the last one off
    assert torch.equal(exported["norms.0.public_frames"], network.state_dict()["norms.0.public_frames"])


@pytest.mark.parametrize("named", ["public_data", "validation", None])
def test_so_nobody_in_a_run_counts_as_public(tmp_path, named):
    run = commit(make_run(tmp_path / "out" / "run-0123456789ab"))
    changes = (
        {"public_data": str(run)}
        if named == "public_data"
        else {"validation": named and str(run), "validation_is_public": True}
    )
    data = run if named is None else corpus(tmp_path, "slu")
    with pytest.raises(CorpusError, match="run-0123456789ab, whose people are not public"):
        prepare(str(data), TrainSettings(mode="per_example", z0=1.0, **changes), Secret(b"a key of this test"))
