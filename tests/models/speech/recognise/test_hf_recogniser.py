"""A recogniser of transformers writes text for any speech, and a folder that is none is named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import Speech

pytestmark = pytest.mark.slow  # loads torch and transformers


def test_a_tiny_ctc_model_writes_letters(tmp_path) -> None:
    import torch
    from transformers import Wav2Vec2Config, Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

    letters = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefgh"]
    (tmp_path / "vocab.json").write_text(json.dumps({letter: index for index, letter in enumerate(letters)}))
    Wav2Vec2CTCTokenizer(str(tmp_path / "vocab.json")).save_pretrained(tmp_path)
    Wav2Vec2FeatureExtractor(return_attention_mask=True).save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = Wav2Vec2Config(
        vocab_size=len(letters), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        conv_dim=(16,) * 7, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, pad_token_id=0,
    )  # fmt: skip
    Wav2Vec2ForCTC(config).save_pretrained(tmp_path)
    member = read_spec("relisten", f"hf:{tmp_path}").make()
    member.setup()
    sound = Speech(np.random.default_rng(0).normal(0, 0.1, 8_000).astype(np.float32), 8_000)
    assert isinstance(member.transcribe(sound), str) and member.ledger().mechanism == "hf"


def test_a_folder_without_a_model_is_named(tmp_path) -> None:
    with pytest.raises(RunError, match="not the hub name or folder"):
        read_spec("relisten", f"hf:{tmp_path}").make().setup()
