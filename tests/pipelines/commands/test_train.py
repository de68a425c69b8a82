"""`sottovoce train`: a whole training, its count, its death and resurrection, and what it refuses."""

import json
import math
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from committed_run import commit, make_run, replacement
from safetensors.torch import load_file
from tiny_training import die_at_step, sentences, write_jsonl

from sottovoce.models.runs.committed_run import open_local
from sottovoce.models.training.batches import collate, encode
from sottovoce.models.training.examples import read_corpus
from sottovoce.models.training.loop.export import load_model
from sottovoce.pipelines.cli import main

pytestmark = pytest.mark.slow

TINY_CLC = {"use": "clc", "hidden": 8, "word_size": 8, "buckets": 64, "filters": 4, "character_size": 4}
PRIVATE = {
    "model": TINY_CLC,
    "mode": "sound",
    "unit": "example",
    "z0": 1.0,
    "epochs": 2,
    "batch_size": 16,
    "n_micro": 2,
    "learning_rate": 0.01,
}


@pytest.fixture
def data(tmp_path):
    return write_jsonl(tmp_path / "data.jsonl", sentences(90, speakers=12))


def config(tmp_path, **changes):
    path = tmp_path / "train.yaml"
    path.write_text(yaml.safe_dump({**PRIVATE, **changes}))
    return path


def arguments(tmp_path, data, out="trained", **changes):
    flags = ["--data", data, "--config", config(tmp_path, **changes), "--out", tmp_path / out]
    return ["train", *map(str, flags)]


def killed_at(step, argv):
    process = multiprocessing.get_context("spawn").Process(target=die_at_step, args=(argv, step))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def begun(tmp_path, data, *outs, **changes):
    """The very same training, begun once and standing in several folders: only so do two folders share a key."""
    killed_at(0, arguments(tmp_path, data, outs[0], **changes))
    for other in outs[1:]:
        shutil.copytree(tmp_path / outs[0], tmp_path / other)


def weights(folder):
    return load_file(folder / "model" / "weights.safetensors")


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def test_a_training_leaves_a_model_a_card_and_a_ledger(tmp_path, data, capsys):
    assert main(arguments(tmp_path, data)) == 0
    out = tmp_path / "trained"
    book, card = (
        json.loads((out / "ledger.json").read_text()),
        json.loads((out / "model/privacy_card.json").read_text()),
    )
    assert book["state"] == "complete" and book["steps_taken"] == book["steps_planned"]
    assert book["mechanisms"][0]["sound"]["example"] == card["epsilon"] > 0
    assert card["not_protected"] and card["assumptions"] and card["adjacency"] == "add_remove"
    assert "budget: epsilon" in capsys.readouterr().out
    assert list((out / "private/tensorboard").iterdir()) and not (out / "private/checkpoint.pt").exists()
    private = [out / "private", *(out / "private").rglob("*")]
    assert not any(path.stat().st_mode & 0o077 for path in private)
    assert sorted(path.name for path in out.iterdir()) == ["ledger.json", "model", "private"]
    assert all(
        path.stat().st_mode & 0o044 == 0o044 for path in (out / "model").iterdir()
    )  # for others, by the usual umask
    network, encoder, labels = load_model(out / "model")
    examples = read_corpus(data).examples[:3]
    assert network.answer(collate(encode(examples, encoder, labels))).intents.shape == (3, 3)
    shown = "".join(path.read_text() for path in out.glob("model/*") if path.suffix != ".safetensors")
    assert not any(word in shown + (out / "ledger.json").read_text() for word in ("abba", "oslo", "noon"))


def test_a_finished_training_is_not_repeated(tmp_path, data, capsys):
    assert main(arguments(tmp_path, data, epochs=1)) == 0
    assert main(arguments(tmp_path, data, epochs=1)) == 1
    assert "spend the budget twice" in capsys.readouterr().err
    assert main([*arguments(tmp_path, data, epochs=1), "--resume"]) == 0
    assert "already complete" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.long
def test_killed_in_mid_epoch_and_resumed_it_is_the_same_training(tmp_path, data):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    changes = {"checkpoint_steps": 3, "model": {**TINY_CLC, "dropout": 0.1}}
    begun(tmp_path, data, "broken", "whole", **changes)
    broken, whole = (arguments(tmp_path, data, out, **changes) for out in ("broken", "whole"))
    killed_at(7, [*broken, "--resume"])
    out = tmp_path / "broken"
    assert not (out / "model").exists()
    book = json.loads((out / "ledger.json").read_text())
    assert (
        book["state"] == "training" and book["mechanisms"][0]["sound"]["example"] > 0
    )  # known before, and still known
    assert (out / "private/checkpoint.pt").stat().st_mode & 0o077 == 0
    assert main(broken) == 1  # not without being asked
    assert main([*broken, "--resume"]) == main([*whole, "--resume"]) == 0
    torch.set_num_threads(threads)
    resumed, at_once = (json.loads((tmp_path / name / "ledger.json").read_text()) for name in ("broken", "whole"))
    assert resumed["mechanisms"] == at_once["mechanisms"] and resumed["steps_taken"] == at_once["steps_taken"]
    assert same(weights(out), weights(tmp_path / "whole"))


def test_two_trainings_share_no_draw(tmp_path, data):
    """The same data, the same settings: first weights, units, noise and held-out rows are drawn anew."""
    for out in ("one", "two"):
        assert main(arguments(tmp_path, data, out, optimizer="sgd", learning_rate=1e30)) == 1  # leaves its checkpoint
    one, two = (torch.load(tmp_path / out / "private/checkpoint.pt", weights_only=True) for out in ("one", "two"))
    assert one["key"] != two["key"] and one["identity"] != two["identity"]  # other rows are held out
    assert not any(torch.equal(one["network"][name], two["network"][name]) for name in one["network"])


def test_a_checkpoint_of_other_settings_or_data_is_refused(tmp_path, data, capsys):
    diverging = {"optimizer": "sgd", "learning_rate": 1e30}
    assert main(arguments(tmp_path, data, **diverging)) == 1
    assert main([*arguments(tmp_path, data, epochs=3, **diverging), "--resume"]) == 1
    assert "other settings or other data" in capsys.readouterr().err
    other = write_jsonl(tmp_path / "other.jsonl", sentences(80, seed=5))
    assert main([*arguments(tmp_path, other, **diverging), "--resume"]) == 1
    assert "other settings or other data" in capsys.readouterr().err


def test_a_loss_that_is_no_number_stops_keeps_the_last_good_checkpoint_and_records_the_budget(tmp_path, data, capsys):
    assert main(arguments(tmp_path, data, optimizer="sgd", learning_rate=1e30)) == 1
    assert "not finite" in capsys.readouterr().err
    book = json.loads((tmp_path / "trained/ledger.json").read_text())
    assert book["state"].startswith("stopped") and book["steps_taken"] >= 1 and book["epsilon_of_steps_taken"] > 0
    state = torch.load(tmp_path / "trained/private/checkpoint.pt", weights_only=True)
    assert state["progress"]["step"] == book["steps_taken"] - 1 and not (tmp_path / "trained/model").exists()


def test_it_stops_early_and_still_reports_the_whole_budget(tmp_path, data):
    changes = {"patience": 1, "validation_is_public": True, "epochs": 6, "learning_rate": 1e-9, "validation_share": 0.3}
    assert main(arguments(tmp_path, data, **changes)) == 0
    card = json.loads((tmp_path / "trained/model/privacy_card.json").read_text())
    assert card["stopped_early"] and card["steps_taken"] < card["steps_planned"]
    book = json.loads((tmp_path / "trained/ledger.json").read_text())
    assert card["epsilon"] == book["mechanisms"][0]["sound"]["example"] > book["epsilon_of_steps_taken"]


@pytest.mark.parametrize("mode", ["sound", "per_example"])
def test_speakers_are_protected_as_a_whole(tmp_path, data, mode):
    changes = {"unit": "speaker", "batch_size": 4, "mode": mode, "validation_share": 0.0}
    assert main(arguments(tmp_path, data, **changes)) == 0
    card = json.loads((tmp_path / "trained/model/privacy_card.json").read_text())
    assert card["unit"] == "speaker" and card["parameters"]["n"] == 12 and card["delta"] < 1 / 12


def test_mode_paper_prints_claim_and_truth_and_mode_plain_claims_nothing(tmp_path, data):
    assert main(arguments(tmp_path, data, "paper", mode="paper")) == 0
    assert main(arguments(tmp_path, data, "leaky", mode="paper", alpha="private_batch", epochs=1)) == 0
    assert main(arguments(tmp_path, data, "plain", mode="plain", epochs=1)) == 0
    rows = {
        n: json.loads((tmp_path / n / "ledger.json").read_text())["mechanisms"][0] for n in ("paper", "leaky", "plain")
    }
    assert rows["paper"]["paper"]["example"] < rows["paper"]["sound"]["example"]
    assert rows["leaky"]["sound"]["example"] == "inf" and rows["leaky"]["paper"]["example"] > 0
    assert rows["plain"]["sound"]["example"] == "inf" and rows["plain"]["paper"] is None


def test_other_sources_of_alpha_and_mixed_precision_train(tmp_path, data):
    assert main(arguments(tmp_path, data, "public", alpha="public", public_data=str(data), epochs=1)) == 0
    assert main(arguments(tmp_path, data, "noisy", alpha="noisy_release", alpha_z=2.0, epochs=1)) == 0
    assert main(arguments(tmp_path, data, "mixed", mixed_precision=True, mode="per_example", epochs=1)) == 0


@pytest.mark.slow
@pytest.mark.long
def test_two_processes_train_the_model_that_one_trains(tmp_path, data):
    changes = {"batch_size": 8, "epochs": 1}
    begun(tmp_path, data, "one", "two", **changes)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m"]
    command = [*torchrun, "sottovoce.pipelines.cli", *arguments(tmp_path, data, "two", **changes), "--resume"]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    assert main([*arguments(tmp_path, data, "one", **changes), "--resume"]) == 0
    torch.set_num_threads(threads)
    assert same(weights(tmp_path / "one"), weights(tmp_path / "two"))


def bad_rows(kind):
    rows = sentences(90)
    if kind == "one class":
        rows = [row | {"intent": "only"} for row in rows]
    if kind == "misaligned":
        rows[4]["tags"] = rows[4]["tags"][:-1]
    if kind == "no intents":
        rows = [row | {"intent": None} for row in rows]
    return [] if kind == "empty" else rows[:3] if kind == "few" else rows


@pytest.mark.parametrize(
    ("kind", "changes", "code", "word"),
    [
        ("empty", {}, 1, "no labelled examples"),
        ("no intents", {}, 1, "90 rows have no intent"),
        ("one class", {}, 1, "same intent"),
        ("misaligned", {}, 1, "line 5"),
        ("good", {"slots": ["artist"]}, 1, "unknown slot"),
        ("good", {"intents": ["play"]}, 1, "unknown intent"),
        ("few", {"n_micro": 8, "validation_share": 0.0}, 2, "fewer than 8 micro-batches"),
        ("good", {"delta": 0.1}, 2, "not below 1/n"),
        ("good", {"batch_size": 1000, "n_micro": 2}, 2, "more than the"),
        ("good", {"z0": None}, 2, "give z0, or target_epsilon"),
        ("good", {"mod": "sound"}, 2, "did you mean 'mode'"),
        ("good", {"model": "clcc"}, 2, "not known"),
        ("good", {"model": {"use": "clc", "vectors": "absent.vec"}}, 1, "absent.vec"),
        ("good", {"unit": "speaker"}, 1, "no `speaker`"),
        ("good", {"alpha": "public", "public_data": "absent.jsonl"}, 1, "does not exist"),
    ],
)
def test_bad_input_is_refused_in_one_clear_line(tmp_path, capsys, kind, changes, code, word):
    data = write_jsonl(tmp_path / "bad.jsonl", bad_rows(kind))
    assert main(arguments(tmp_path, data, **changes)) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ") and word in err
    assert not (tmp_path / "trained/model").exists()


@pytest.fixture
def run(tmp_path):
    """A committed run with rows enough to train on."""
    folder = make_run(tmp_path / "out" / "run-0123456789ab")
    rows = [{"id": f"{i:032x}", "text": " ".join(row["tokens"]), "intent": row["intent"], "slots": []}
            for i, row in enumerate(sentences(90))]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "slu" / "part-00000-of-00001.parquet")
    return commit(folder)


def from_run(tmp_path, run, *more, **changes):
    return ["train", "--data", str(run), "--config", str(config(tmp_path, **changes)), *map(str, more)]


def test_the_training_of_a_run_leaves_the_run_alone_and_its_curves_in_private_state(tmp_path, run, capsys):
    assert main(from_run(tmp_path, run, epochs=1)) == 0
    open_local(str(run)).verify()
    out, private = run.parent / "trained" / run.name, run.parent / "private"
    assert sorted(path.name for path in out.iterdir()) == ["ledger.json", "model"]
    assert (private / "runs" / run.name / "training/model/done.json").exists()
    made = [private, *private.rglob("*")]
    assert not any(path.stat().st_mode & 0o077 for path in made) and any("tfevents" in path.name for path in made)
    shown = capsys.readouterr().out
    assert "epoch 1 of 1" in shown and "loss" not in shown  # what is no terminal may be a log that others read


@pytest.mark.parametrize("out", ["", "slu", "slu/trained"])
def test_nothing_is_written_into_a_run(tmp_path, run, capsys, out):
    assert main(from_run(tmp_path, run, "--out", run / out)) == 1
    assert "what was committed and nothing else" in capsys.readouterr().err
    open_local(str(run)).verify()


@pytest.mark.parametrize("inside", ["", "slu", "slu/part-00000-of-00001.parquet"])
def test_a_run_that_is_not_as_it_was_committed_is_not_trained_on(tmp_path, run, capsys, inside):
    (run / "slu" / "zz.jsonl").write_text('{"tokens": ["raw"], "tags": ["O"], "intent": "i"}\n')
    assert main(from_run(tmp_path, run / inside)) == 1
    assert "slu/zz.jsonl is in the run but not committed" in capsys.readouterr().err
    assert not (run.parent / "trained").exists() and not (run.parent / "private").exists()


def test_a_run_that_was_committed_anew_since_it_was_judged_is_not_trained_on(tmp_path, run, capsys):
    assert main(from_run(tmp_path, run, "--commit", "0" * 64)) == 1
    assert "committed anew" in capsys.readouterr().err


def test_plain_training_needs_a_replacement_with_a_finite_epsilon_by_hand_as_well(tmp_path, capsys):
    run = make_run(tmp_path / "out" / "run-0123456789ab", entries=(replacement({"unit": math.inf}),))
    assert main(from_run(tmp_path, run, mode="plain")) == 1
    assert "infinite epsilon, and mode plain protects nothing" in capsys.readouterr().err


def test_an_uncommitted_run_and_unreadable_settings_are_refused(tmp_path, data, capsys):
    (tmp_path / "run/slu").mkdir(parents=True)
    (tmp_path / "run/slu/part-00000.parquet").write_bytes(b"")
    for path in (tmp_path / "run/slu", tmp_path / "run/slu/part-00000.parquet"):
        assert main(arguments(tmp_path, path)) == 1
        assert "_COMMITTED.json" in capsys.readouterr().err
    (tmp_path / "broken.yaml").write_text("[")
    assert main(["train", "--data", str(data), "--config", str(tmp_path / "broken.yaml")]) == 2
    assert main(["train", "--data", str(data), "--config", str(tmp_path / "absent.yaml")]) == 2
    assert main(["train", "--data", "gs://bucket/run/slu", "--config", str(tmp_path / "broken.yaml")]) == 1
