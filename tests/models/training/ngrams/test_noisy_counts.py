"""Counts under noise: every history sums to one, no unit alone shows, and a recogniser reads the result."""

import io
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import norm

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.ngrams.backoff import backoff_of, grams_of, read_arpa
from sottovoce.models.training.ngrams.noisy_counts import (
    CountsModel,
    count_units,
    counting_epsilon,
    counting_z,
    threshold,
)
from sottovoce.models.training.privacy.composition import gdp_epsilon
from sottovoce.pipelines.cli import main

DEMO = Path(__file__).parents[4] / "examples" / "demo"
LINES = [("play", "some", "music"), ("play", "abba"), ("stop", "the", "music"), ("play", "the", "music")]
WORDS = {word: 1 for line in LINES for word in line}


@pytest.mark.parametrize("history", [(), ("play",), ("<s>", "play"), ("play", "the"), ("music", "abba"), ("<unk>",)])
def test_what_follows_a_history_sums_to_one_and_survives_the_file(tmp_path, history):
    model = backoff_of(Counter(gram for line in LINES for gram in grams_of(line, WORDS)), WORDS)
    assert sum(
        math.exp(model.log_probability((*history, word))) for word in [*WORDS, "<unk>", "</s>"]
    ) == pytest.approx(1)
    with (tmp_path / "lm.arpa").open("w") as file:
        model.write(file)
    again = read_arpa(tmp_path / "lm.arpa")
    assert again.losses(("play", "the", "xyz")) == pytest.approx(model.losses(("play", "the", "xyz")), abs=1e-5)


@pytest.mark.parametrize("content", ["", "just a text\n", "\\1-grams:\nno tabs\n"])
def test_a_file_that_is_no_arpa_model_is_told(tmp_path, content):
    (tmp_path / "lm.arpa").write_text(content)
    with pytest.raises(RunError, match="not an ARPA model"):
        read_arpa(tmp_path / "lm.arpa")


def test_the_threshold_and_the_noise_spend_no_more_than_they_say():
    sigma, delta = 3.0, 1e-5
    above = norm.sf((threshold(sigma, 20, delta) - 1) / sigma)  # one n-gram that a single unit has
    assert 1 - (1 - above) ** 20 == pytest.approx(delta, rel=1e-6)
    z = counting_z(2.0, delta)
    assert counting_epsilon(z, delta) <= 2.0 == pytest.approx(gdp_epsilon(math.sqrt(3) / z, delta / 2), rel=1e-4)


def released(units, secret=b"key"):
    member = CountsModel(per_unit=4, size=50)
    file = io.StringIO()
    count_units(units, member, 1.0, 1e-4, Secret(secret)).write(file)
    return file.getvalue()


@pytest.mark.slow
def test_pairs_of_one_unit_alone_do_not_appear_and_those_of_many_do():
    many, alone = [[("he", "was", "first")]] * 200, [[("she", "had", "one")]]
    text = released(many + alone)
    assert "he was" in text and "<s> he was" in text and "she had" not in text
    assert released([[("he", "was", "first")] * 500]).count("he was") == 0  # however often one unit says it
    assert text != released(many + alone, b"other key")


def counting(tmp_path, rows, times=3):
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"text": row["text"]}) + "\n" for row in rows * times))
    settings = {"task": "lm", "model": {"use": "counts", "size": 4000}, "target_epsilon": 8.0, "mode": "per_example"}
    (tmp_path / "train.yaml").write_text(json.dumps(settings))
    return [
        str(part) for part in ("train", "--data", data, "--config", tmp_path / "train.yaml", "--out", tmp_path / "out")
    ]


@pytest.mark.slow
def test_a_count_that_was_cut_off_after_its_model_was_seen_is_repeated_not_drawn_anew(tmp_path, monkeypatch, capsys):
    """Two releases of one corpus under one charge would halve the noise for whoever averages them."""
    order, model = counting(tmp_path, [{"text": " ".join(line)} for line in LINES]), tmp_path / "out/model/lm.arpa"

    def cut_off(places, entry, state):
        if state == "complete":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sottovoce.pipelines.training.count_model._write_book", cut_off)
        assert main(order) != 0
    seen = model.read_text()
    assert main(order) == 1 and "go on with --resume" in capsys.readouterr().err
    assert main([*order, "--resume"]) == 0
    assert model.read_text() == seen and not list((tmp_path / "out/private").glob("checkpoint*"))


@pytest.mark.slow
def test_counted_lines_become_a_model_that_pocketsphinx_decodes_with(tmp_path, capsys):
    import numpy as np
    import soundfile
    from pocketsphinx import Decoder

    rows = [json.loads(line) for line in (DEMO / "manifest.jsonl").read_text().splitlines()]
    order = counting(tmp_path, rows, 30)  # with fewer, noise takes so many words that one draw in 25 was not understood
    assert main(order) == 0
    card = json.loads((tmp_path / "out/model/privacy_card.json").read_text())
    assert card["epsilon"] <= 8.0 and card["unit"] == "example" and card["validation"] is None
    assert json.loads((tmp_path / "out/private/done.json").read_text())["validation"]["perplexity"] > 1
    assert main(order) == 1 and "spend the budget twice" in capsys.readouterr().err
    (tmp_path / "lines.txt").write_text("what is the balance\n")
    assert main(["predict", "--model", str(tmp_path / "out/model"), "--input", str(tmp_path / "lines.txt")]) == 0
    assert json.loads(capsys.readouterr().out)["perplexity"] > 1
    decoder = Decoder(lm=str(tmp_path / "out/model/lm.arpa"), loglevel="FATAL")
    samples, _ = soundfile.read(DEMO / rows[0]["audio_filepath"], dtype="float32")
    decoder.start_utt()
    decoder.process_raw((samples * 32767).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()
    heard = decoder.hyp().hypstr.split()
    assert len(set(heard) & set(rows[0]["text"].split())) >= 3, heard
