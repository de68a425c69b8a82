"""The tagger of many languages, in miniature: built, interrupted, exported, routed to."""

import json
import random
import shutil

import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.text.detect import grams
from sottovoce.models.text.detect.builder.build import CHECKPOINT, build
from sottovoce.models.text.detect.builder.lists import listed
from sottovoce.models.text.detect.builder.recipe import read_recipe
from sottovoce.models.text.detect.tagger import Tagger

FRAMES = {"de": ("ruf PER an", "wetter in LOC", "spiele musik"), "pl": ("zadzwoń do PER", "pogoda LOC", "włącz muzykę")}
NAMES = {"PER": ("anna", "bruno", "carla", "emil", "greta"), "LOC": ("berlin", "łódź", "riga", "oslo")}
RECIPE = {
    "augmentation": {"swap": 0.0, "say_digits": 0.0, "drop_punctuation": 0.0},
    "corpora": {"de": {"hold_out": 0.2}, "pl": {"hold_out": 0.2}},
    "train": {"rows": 2048, "width": 16, "hidden": 16, "epochs": 16, "batch": 32, "learning_rate": 2e-2, "average": 0.9,
              "hide": 0.0, "forget_words": 0.0, "dropout": 0.0},
    "tune": {"over_masking": 0.05},
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    draw, folder = random.Random(3), tmp_path_factory.mktemp("many")
    for code, frames in FRAMES.items():
        rows = []
        for at in range(160):
            words = [*draw.choice(frames).split(), *["x"] * (at % 4)]
            tokens = [draw.choice(NAMES[word]) if word in NAMES else word for word in words]
            tags = [f"B-{word}" if word in NAMES else "O" for word in words]
            rows.append({"tokens": tokens, "tags": tags, "lang": code})
        (folder / f"{code}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return sorted(folder.glob("*.jsonl"))


@pytest.fixture(scope="module")
def built(files, tmp_path_factory):
    import torch

    torch.set_num_threads(1)  # on such small tensors threads only wait for one another
    out = tmp_path_factory.mktemp("grams")
    build(files, read_recipe(RECIPE), "grams", out, None, lambda line: None)
    return out


@pytest.mark.slow
def test_a_network_of_two_languages_finds_names_in_both_and_leaves_no_checkpoint(built):
    tagger = Tagger(model=str(built))
    tagger.setup()
    assert [s.type for s in tagger.detect_in("de", ["wetter in berlin"])[0]] == ["LOC"]
    assert [s.type for s in tagger.detect_in("pl", ["zadzwoń do anna"])[0]] == ["PER"]
    assert tagger.detect_in("pl", ["", "  "]) == [[], []]
    assert not (built / CHECKPOINT).exists()
    assert set(json.loads((built / "tagger.json").read_text())["biases"]) == {"de", "pl"}


@pytest.mark.slow
def test_a_build_that_was_interrupted_ends_with_the_same_network(built, files, tmp_path):
    def stop_after_three(line):
        if line.startswith("epoch 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(files, read_recipe(RECIPE), "grams", tmp_path, None, stop_after_three)
    assert (tmp_path / CHECKPOINT).exists()
    build(files, read_recipe(RECIPE), "grams", tmp_path, None, lambda line: None)
    assert (tmp_path / "tagger.onnx").read_bytes() == (built / "tagger.onnx").read_bytes()


def test_rows_without_a_language_are_told(files, tmp_path):
    shutil.copy(files[0], tmp_path / "de.jsonl")
    (tmp_path / "de.jsonl").write_text((tmp_path / "de.jsonl").read_text().replace('"lang": "de"', '"lang": ""'))
    with pytest.raises(CorpusError, match="lang"):
        build(
            [tmp_path / "de.jsonl", files[1]], read_recipe(RECIPE), "grams", tmp_path / "out", None, lambda line: None
        )


def test_words_keep_their_place_and_share_their_parts():
    assert [("a-b 7")[begin:end] for begin, end in grams.words_of("a-b 7")] == ["a", "-", "b", "7"]
    assert set(grams.rows_of("Jānim", 1 << 16)) == set(grams.rows_of("jānim", 1 << 16))
    assert set(grams.rows_of("jānim", 1 << 16)) & set(grams.rows_of("jānis", 1 << 16))
    assert grams.rows_of("17", 4096) == grams.rows_of("23", 4096)
    assert all(grams.RESERVED <= row < 4096 for row in grams.rows_of("\ud800" * 60, 4096))


def test_rare_values_are_never_learnt_from():
    assert not set(listed("pl", "places")) & set(listed("pl", "places", rare=True))
    assert len(listed("pl", "places", rare=True)) > 100
