"""What the aligner computes with the stored weights is what the trained network says, and doubtful words teach nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.align import phone_judge

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
tool = pytest.importorskip("build_judge")


def test_stored_weights_say_what_the_network_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    torch.manual_seed(0)
    network = tool.PhoneNetwork()
    network(torch.randn(4, tool.BANDS, 50))  # the norms get means of their own
    network.eval()
    np.savez(tmp_path / "judge.npz", **network.folded())
    monkeypatch.setattr(phone_judge, "JUDGE", tmp_path / "judge.npz")
    pcm = (np.random.default_rng(0).normal(0, 3000, 16_000)).astype(np.int16).tobytes()
    with torch.inference_mode():
        bands = phone_judge.heard_bands(pcm).astype(np.float32)
        scores = network(torch.from_numpy(bands).T[None])[0].T.numpy()
    expected = np.maximum(scores - scores.max(axis=1, keepdims=True), phone_judge.LEAST_LIKELY)
    assert np.abs(phone_judge.Judge().ratios(pcm) - expected).max() < 0.02  # weights are stored in sixteen bits


def test_a_word_that_fits_badly_teaches_nothing() -> None:
    sure = Word(0, 2, 0.1, 0.3, 0.9, (Phone("AA", 0.1, 0.2), Phone("T", 0.2, 0.3)))
    unsure = Word(3, 5, 0.4, 0.5, 0.01, (Phone("S", 0.4, 0.5),))
    found = tool.labels((sure, unsure), 60)
    aa, t = phone_judge.LABELS["AA"], phone_judge.LABELS["T"]
    assert found[5] == 0 and found[15] == aa and found[25] == t and found[35] == 0 and found[45] == tool.UNKNOWN
