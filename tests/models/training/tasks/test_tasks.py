"""Every task goes through the same private loop: one backward pass clips each unit, and what was learnt is said."""

import json
import math

import pytest
import torch
from tiny_training import tiny_of, tiny_rows, write_jsonl

from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.models.ledger.book import faults_of
from sottovoce.models.records import Source
from sottovoce.models.settings import member_class
from sottovoce.models.text.rewrite.adept import Adept
from sottovoce.models.training import TABLE
from sottovoce.models.training.networks.language import LstmModel, TransformerModel
from sottovoce.models.training.networks.rewriter import RewriterModel
from sottovoce.models.training.networks.turns import TurnsModel
from sottovoce.models.training.networks.vocabulary import UNKNOWN, vocabulary_of
from sottovoce.models.training.privacy.ghost import clip_per_unit
from sottovoce.models.training.tasks import TABLE as TASKS
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.cli import main

MEMBERS = {
    "lstm": LstmModel(hidden=6, word_size=5, size=300, layers=2),
    "transformer": TransformerModel(hidden=8, heads=2, size=300, layers=1),
    "turns": TurnsModel(hidden=8, word_size=4, buckets=40),
    "rewriter": RewriterModel(hidden_units=6, word_size=5, size=60, dimension=3, hidden=0.0, noise=0.0),
    "turns transformer": TurnsModel(reader="transformer", hidden=8, heads=2, word_size=4, buckets=40),
}


@pytest.mark.parametrize("rows_per_unit", [1, 3])
@pytest.mark.parametrize("name", MEMBERS)
def test_clipped_sums_equal_those_of_separate_gradients(name, rows_per_unit):
    torch.manual_seed(1)
    task, network, rows, *_ = tiny_of(MEMBERS[name].task, MEMBERS[name])
    network.double()
    batch, clip = task.collate(rows, [1.0] * len(rows)), 0.5
    batch.weights = batch.weights.double()
    _, norms = clip_per_unit(network, batch, clip, rows_per_unit)
    trained = {key: p.detach() for key, p in network.named_parameters() if p.requires_grad}

    def loss(values, own):
        return torch.func.functional_call(network, values, (own,)).sum()

    whole, want_norms = dict.fromkeys(trained, 0.0), []
    for begin in range(0, len(rows), rows_per_unit):
        unit = torch.func.grad(loss)(trained, task.collate(rows[begin : begin + rows_per_unit]))
        want_norms.append(math.sqrt(sum(float(g.square().sum()) for g in unit.values())))
        for key, gradient in unit.items():
            whole[key] = whole[key] + gradient * min(1.0, clip / want_norms[-1])
    assert norms.tolist() == pytest.approx(want_norms, rel=1e-6)
    for key, parameter in network.named_parameters():
        if key in trained:
            assert torch.allclose(parameter.grad, whole[key], atol=1e-6), key


def test_every_network_names_a_task_of_the_table():
    assert {member_class("training", name).task for name in TABLE} == set(TASKS)
    with pytest.raises(SettingsError, match="model: clc is for task slu; the task here is lm"):
        _ = TrainSettings(task="lm", model="clc", z0=1.0).member
    with pytest.raises(SettingsError, match="task: 'stt' is not known; allowed: slu, lm"):
        TrainSettings(task="stt", z0=1.0)


def test_the_vocabulary_is_public_and_rare_words_of_the_data_are_unknown(tmp_path):
    words = vocabulary_of("words", 500)
    assert len(words) == 504 and words.encode(("the", "xyzzyq")) == [words.numbers["the"], UNKNOWN]
    pieces = vocabulary_of("pieces", 0)
    assert (
        UNKNOWN not in pieces.encode(("xyzzyq",)) and pieces.decode(pieces.encode(("play", "xyzzyq"))) == "play xyzzyq"
    )
    (tmp_path / "list.txt").write_text("abba\nnoon\n")
    assert vocabulary_of(str(tmp_path / "list.txt"), 99).names[4:] == ("abba", "noon")
    with pytest.raises(SettingsError, match="not words, pieces, or a file"):
        vocabulary_of(str(tmp_path / "absent.txt"), 99)


def settings(tmp_path, **values):
    tiny = {"lm": {"use": "lstm", "hidden": 16, "word_size": 8, "size": 2000}, "dm": {"use": "turns", "hidden": 16},
            "rewriter": {"use": "rewriter", "hidden_units": 16, "word_size": 8, "size": 500}}  # fmt: skip
    private = {"mode": "per_example", "z0": 0.3, "epochs": 1, "batch_size": 16, "learning_rate": 0.03}
    path = tmp_path / "train.yaml"
    path.write_text(json.dumps({"model": tiny[values["task"]], **private, **values}))
    return str(path)


@pytest.mark.slow
def test_any_causal_model_by_its_path_is_trained_exported_and_asked(tmp_path, capsys):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    names = ["<unk>", "<s>", "</s>", *sorted({word for row in tiny_rows("lm", 90) for word in row["text"].split()})]
    words = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=words, **marks).save_pretrained(tmp_path / "causal")
    shape = GPT2Config(len(names), n_positions=32, n_embd=8, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2)
    GPT2LMHeadModel(shape).save_pretrained(tmp_path / "causal")
    data = write_jsonl(tmp_path / "data.jsonl", tiny_rows("lm", 90))
    model = {"use": "transformer", "pretrained": str(tmp_path / "causal"), "longest": 16}
    config = settings(tmp_path, task="lm", unit="example", model=model)
    assert main(["train", "--data", str(data), "--config", config, "--out", str(tmp_path / "out")]) == 0
    (tmp_path / "causal").rename(tmp_path / "gone")  # what was exported stands by itself
    (tmp_path / "lines.txt").write_text("play abba\n")
    capsys.readouterr()
    assert main(["predict", "--model", str(tmp_path / "out/model"), "--input", str(tmp_path / "lines.txt")]) == 0
    assert json.loads(capsys.readouterr().out)["perplexity"] > 1


@pytest.mark.slow
@pytest.mark.parametrize(("task", "line", "answer"), [("lm", "play abba", "perplexity"), ("dm", "play abba", "next")])
def test_a_task_is_trained_exported_and_asked(tmp_path, capsys, task, line, answer):
    data = write_jsonl(tmp_path / "data.jsonl", tiny_rows(task, 90))
    config = settings(tmp_path, task=task, unit="example")
    assert main(["train", "--data", str(data), "--config", config, "--out", str(tmp_path / "out")]) == 0
    card = json.loads((tmp_path / "out/model/privacy_card.json").read_text())
    assert card["task"] == task and card["epsilon"] > 0 and "nothing_learnt" in card
    capsys.readouterr()
    (tmp_path / "lines.txt").write_text(f"{line}\n")
    assert main(["predict", "--model", str(tmp_path / "out/model"), "--input", str(tmp_path / "lines.txt")]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["text"] == line and said[answer]
    assert main(["predict", "--model", str(tmp_path / "out/model"), "--traced", str(tmp_path / "x.pt2")]) == 1
    assert "a loop over time" in capsys.readouterr().err and not (tmp_path / "x.pt2").exists()
    assert main(["predict", "--model", str(tmp_path / "absent")]) == 1
    assert "not an exported model" in capsys.readouterr().err


@pytest.mark.slow
def test_a_rewriter_that_was_trained_privately_adds_its_epsilon_to_that_of_the_noise(tmp_path, capsys):
    data = write_jsonl(tmp_path / "data.jsonl", tiny_rows("rewriter", 90))
    config = settings(tmp_path, task="rewriter", unit="example", z0=3.0, delta=0.001)
    assert main(["train", "--data", str(data), "--config", config, "--out", str(tmp_path / "out")]) == 0
    model = tmp_path / "out/model"
    card = json.loads((model / "privacy_card.json").read_text())
    rewriter = Adept(epsilon=2.0, delta=1e-6, model=str(model))
    rewriter.setup()
    entry = rewriter.ledger()
    assert card["adjacency"] == "add_remove" and card["nothing_learnt"] is None  # said of private examples: not here
    assert json.loads((tmp_path / "out/private/done.json").read_text())["nothing_learnt"]
    assert entry.sound["utterance"] == pytest.approx(2.0 + 2 * card["epsilon"]) == pytest.approx(rewriter.cost())
    assert entry.parameters["delta_in_all"] == pytest.approx(1e-6 + (1 + math.exp(card["epsilon"])) * 1e-3)
    assert "with differential privacy" in entry.says and not faults_of(entry)
    (tmp_path / "lines.txt").write_text("play abba\n\n")
    capsys.readouterr()
    assert main(["predict", "--model", str(model), "--input", str(tmp_path / "lines.txt")]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0]).keys() == {"text", "decoded", "intent"}
    (model / "privacy_card.json").write_text(json.dumps(card | {"epsilon": "inf", "adjacency": None}))
    plain = Adept(model=str(model)).ledger()
    assert math.isinf(plain.sound["utterance"]) and "No guarantee" in plain.says and not faults_of(plain)


@pytest.mark.parametrize("task", ["lm", "dm", "rewriter"])
def test_a_model_that_looks_at_nothing_is_said_to_have_learnt_nothing(task):
    member = {"lm": MEMBERS["lstm"], "dm": MEMBERS["turns"], "rewriter": MEMBERS["rewriter"]}[task]
    kind, network, rows, examples, schema = tiny_of(task, member, 24)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    assert kind.nothing_learnt(kind.evaluate(network, rows, examples, schema))


@pytest.mark.parametrize(
    ("task", "rows", "words"),
    [
        ("lm", [{"words": 1}], "expected `text` or `tokens`"),
        ("dm", [{"text": "no dialogue"}], "expected `turns`, or a `dialogue_id`"),
        ("dm", [{"turns": [1]}], "expected a list of objects"),
        ("dm", [{"turns": [{"intent": "x"}]}], "no `text` and no `tokens`"),
    ],
)
def test_rows_that_a_task_cannot_read_are_named_by_place_and_not_quoted(task, rows, words):
    with pytest.raises(CorpusError, match=words) as error:
        task_of(task).read((Source("data.jsonl", line), row) for line, row in enumerate(rows, 1))
    assert "data.jsonl: line 1" in str(error.value) and "no dialogue" not in str(error.value)


def test_one_act_is_nothing_to_tell_apart_and_turns_join_by_dialogue():
    turns = [{"dialogue_id": d, "text": f"turn {n}", "intent": "same"} for d in "ab" for n in range(2)]
    task = task_of("dm")
    corpus = task.read((Source("f", n), row) for n, row in enumerate(turns, 1))
    assert [len(dialogue.turns) for dialogue in corpus.examples] == [2, 2]
    with pytest.raises(CorpusError, match="nothing to tell apart"):
        task.schema(corpus.examples, TrainSettings(task="dm", z0=1.0))
