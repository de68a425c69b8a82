"""SpeechT5 with tiny random networks: shapes, batches, determinism, and clear errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance, Word
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.voice.pool import F0_QUANTILES, PHONES, VOICE_DIMENSION, Pool
from sottovoce.models.speech.voice.speecht5 import TimeNotKept

pytestmark = pytest.mark.slow  # loads torch and transformers
SECRET = Secret(b"sixteen bytes or more")
DIMENSION = 12


def speech(seconds: float, rate_hz: int = 16_000, seed: int = 0) -> Speech:
    samples = np.random.default_rng(seed).normal(0, 0.1, int(seconds * rate_hz))
    return Speech(samples.clip(-1, 1).astype(np.float32), rate_hz)


def utterance(name: str) -> Utterance:
    return Utterance(name, "d", 0, "hello", Source("f", 1), speaker_id="s", gender="f")


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, str]:
    import torch
    from transformers import (
        SpeechT5Config,
        SpeechT5FeatureExtractor,
        SpeechT5ForSpeechToSpeech,
        SpeechT5HifiGan,
        SpeechT5HifiGanConfig,
    )

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("speecht5")
    config = SpeechT5Config(
        hidden_size=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, conv_dim=(8, 8, 8), conv_kernel=(10, 8, 4), conv_stride=(5, 8, 8),
        num_feat_extract_layers=3, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, num_mel_bins=8,
        speech_decoder_prenet_units=8, speech_decoder_postnet_units=8, speech_decoder_postnet_layers=2,
        speaker_embedding_dim=DIMENSION, encoder_max_relative_position=16, max_speech_positions=4000,
    )  # fmt: skip
    SpeechT5ForSpeechToSpeech(config).save_pretrained(folder / "model")
    SpeechT5FeatureExtractor(num_mel_bins=8).save_pretrained(folder / "model")
    hifigan = SpeechT5HifiGanConfig(
        model_in_dim=8, upsample_initial_channel=8, upsample_rates=(8, 4), upsample_kernel_sizes=(16, 8),
        resblock_kernel_sizes=(3,), resblock_dilation_sizes=((1,),),
    )  # fmt: skip
    SpeechT5HifiGan(hifigan).save_pretrained(folder / "vocoder")
    return {
        "model": str(folder / "model"),
        "vocoder": str(folder / "vocoder"),
        "pool": pool(folder / "pool", DIMENSION),
    }


def pool(folder: Path, dimension: int) -> str:
    rng, count = np.random.default_rng(1), 12
    folder.mkdir(parents=True)
    Pool(
        np.array([f"s{index}" for index in range(count)]),
        np.array(["f", "m"] * (count // 2)),
        rng.normal(0, 1, (count, dimension)),
        rng.normal(0, 1, (count, VOICE_DIMENSION)),
        rng.normal(5, 0.1, (count, len(F0_QUANTILES))),
        rng.normal(2, 0.1, (count, len(PHONES))),
    ).save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def member(folders):
    made = read_spec("voice", {"use": "speecht5", "distance": "cosine", **folders}).make()
    made.setup()
    return made


def test_speech_comes_out_at_16_khz_with_the_loudness_of_the_source(member) -> None:
    voiced = member.transform(utterance("a"), speech(0.6, 8_000), (), SECRET)
    assert voiced.speech.rate_hz == 16_000 and voiced.words == ()
    assert len(voiced.speech.samples) > 0 and np.isfinite(voiced.speech.samples).all()
    assert np.max(np.abs(voiced.speech.samples)) <= 1


def test_the_same_key_gives_the_same_speech_and_another_secret_another(member) -> None:
    first, second = (member.transform(utterance("a"), speech(0.5), (), SECRET).speech.samples for _ in range(2))
    other = member.transform(utterance("a"), speech(0.5), (), Secret(b"another key of a run")).speech.samples
    assert np.array_equal(first, second) and not np.array_equal(first, other[: len(first)])


def test_a_batch_gives_what_single_utterances_give(member) -> None:
    sounds = [speech(0.5, seed=1), speech(0.5, seed=2)]
    items = [(utterance(str(number)), sound, ()) for number, sound in enumerate(sounds)]
    together = member.transform_many(items, SECRET)
    for item, voiced in zip(items, together, strict=True):
        alone = member.transform(*item, SECRET).speech.samples
        assert len(alone) == len(voiced.speech.samples)
        assert voiced.speech.samples == pytest.approx(alone, abs=1e-3)


def test_speech_that_was_aligned_before_is_refused(member) -> None:
    with pytest.raises(TimeNotKept):
        member.transform(utterance("a"), speech(0.5), (Word(0, 5, 0.1, 0.4, 1.0),), SECRET)


def test_missing_weights_and_a_pool_of_other_vectors_are_one_clear_error_each(folders, tmp_path) -> None:
    with pytest.raises(RunError, match="could not be loaded"):
        read_spec("voice", {"use": "speecht5", **folders, "model": str(tmp_path)}).make().setup()
    wrong = {**folders, "pool": pool(tmp_path / "pool", 5)}
    with pytest.raises(RunError, match="5 dimensions and the model takes 12"):
        read_spec("voice", {"use": "speecht5", "distance": "cosine", **wrong}).make().setup()
