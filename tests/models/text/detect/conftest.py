"""Models small enough to be made on the spot: the code under test is the one that serves the real ones."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

NAMES = ("anna", "bob", "carla", "dmitri", "elena", "farid", "grace", "hugo")
CITIES = ("paris", "lima", "oslo", "cairo", "delhi", "quito")
FRAMES = (
    "call PER now",
    "PER lives in LOC",
    "what is the weather in LOC",
    "my name is PER",
    "play some music",
    "thank you",
)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory) -> Path:
    """A one-layer BERT with random weights and a word-piece vocabulary of letters and a few words."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("encoder")
    letters = [chr(c) for c in range(97, 123)] + list("0123456789.,:@'-")
    words = [
        *NAMES,
        *CITIES,
        "call",
        "now",
        "lives",
        "in",
        "what",
        "is",
        "the",
        "weather",
        "my",
        "name",
        "play",
        "thank",
        "you",
    ]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), *words]
    tokenizer = BertWordPieceTokenizer(
        vocab={word: at for at, word in enumerate(dict.fromkeys(vocabulary))}, lowercase=True
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.set_num_threads(1)  # on such small tensors threads only wait for one another
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=72,
    )  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def labelled_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mine.jsonl"
    draw = random.Random(5)
    rows = []
    for _ in range(400):
        frame = draw.choice(FRAMES).split() + ["please"] * draw.randrange(3)
        tokens = [{"PER": draw.choice(NAMES), "LOC": draw.choice(CITIES)}.get(word, word) for word in frame]
        rows.append({"tokens": tokens, "tags": [f"B-{word}" if word in ("PER", "LOC") else "O" for word in frame]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_tagger(tiny_encoder, labelled_file, tmp_path_factory) -> Path:
    """A folder that `build text` wrote, with the embeddings trained too (they are random here)."""
    from sottovoce.models.text.detect.builder.build import build
    from sottovoce.models.text.detect.builder.recipe import read_recipe

    out = tmp_path_factory.mktemp("tagger")
    recipe = read_recipe(
        {
            "augmentation": {"swap": 0.0, "say_digits": 0.0, "drop_punctuation": 0.0},
            "corpora": {"mine": {"hold_out": 0.2}},
            "train": {"epochs": 12, "learning_rate": 5e-3, "head_learning_rate": 1e-2, "train_embeddings": True, "hide": 0.0,
                      "pieces_per_batch": 256, "longest": 24, "patience": 12},
        }
    )  # fmt: skip
    lines: list[str] = []
    build([labelled_file], recipe, "transformer", out, tiny_encoder, lines.append)
    (out / "log.txt").write_text("\n".join(lines), "utf-8")
    return out
