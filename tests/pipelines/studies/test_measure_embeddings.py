"""Which word vectors a language model stands on, and whether noise protects it, shows in what it remembers of secrets."""

import json

import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.training.loop.export import load_trained
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.studies import measure_embeddings as study


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.jsonl"
    said = ("turn on the light", "play some music now", "what is the weather today", "set a timer please")
    path.write_text("".join(json.dumps({"text": f"{said[n % 4]} {study.FIGURES[n % 10]}"}) + "\n" for n in range(120)))
    return path


@pytest.mark.slow
def test_secrets_are_remembered_by_a_plain_model_and_not_by_a_private_one(lines, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(study, "SIZES", (24,))
    assert main(["evaluate", "exposure", "--embeddings", str(lines), "--seeds", "1", "--json"]) == 0
    rows = {(row["vectors"], row["mode"]): row for row in json.loads(capsys.readouterr().out)}
    assert {name for name, _ in rows} == {"learned, 24", "random, 24", "public, 24"}
    told = {
        key: row["bits"]["figures"]["value"] - row["bits"]["figures, control"]["value"] for key, row in rows.items()
    }
    assert told["learned, 24", "plain"] > 4 and told["learned, 24", "private"] < told["learned, 24", "plain"] - 3
    assert all(row["bits"]["illness"]["value"] <= 5.3 and row["perplexity"] > 1 for row in rows.values())


def test_bad_input_is_told(tmp_path, lines):
    for content in ("no json\n", '{"words": 1}\n', '{"text": "a few lines"}\n'):
        (tmp_path / "bad.jsonl").write_text(content)
        with pytest.raises(CorpusError, match=r"bad\.jsonl"):
            next(study.measure(study.EmbeddingStudy(tmp_path / "bad.jsonl"), tmp_path))
    assert main(["evaluate", "exposure", "--embeddings", str(lines), "--seeds", "0"]) == 2


def test_a_model_on_given_vectors_is_kept_with_them_and_leaves_them_as_they_are(tmp_path, lines):
    (tmp_path / "vectors.txt").write_text("the 1 0 0.5\nlight 0 1 0.5\nmusic 0.5 0 1\n")
    (tmp_path / "train.yaml").write_text(
        json.dumps({"task": "lm", "mode": "plain", "epochs": 1, "device": "cpu",
                    "model": {"use": "lstm", "hidden": 4, "size": 3000, "vectors": str(tmp_path / "vectors.txt")}})
    )  # fmt: skip
    flags = ["--data", str(lines), "--config", str(tmp_path / "train.yaml"), "--out", str(tmp_path / "out")]
    assert main(["train", *flags]) == 0
    (tmp_path / "vectors.txt").unlink()
    trained = load_trained(tmp_path / "out" / "model")
    (answer,) = trained.answers(iter(["the light"]))
    assert answer["log_probability"] < 0
    light = trained.network.embed.weight[trained.member.words().numbers["light"]]
    assert light.tolist() == [0, 1, 0.5] and not light.requires_grad
