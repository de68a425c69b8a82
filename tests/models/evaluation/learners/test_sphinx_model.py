"""The packaged model in sphinxtrain's own files: every phone in context is there, and weights are weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pocketsphinx
import pytest

from sottovoce.models.evaluation.learners.sphinx_model import S3_HEADER, write_definition, write_weights

MODEL = Path(pocketsphinx.get_model_path("en-us/en-us"))


@pytest.mark.slow
def test_the_definition_names_every_phone_once_with_its_states(tmp_path) -> None:
    write_definition(MODEL, tmp_path / "mdef")
    version, *lines = (tmp_path / "mdef").read_text().splitlines()
    counts = {line.split()[1]: int(line.split()[0]) for line in lines[:6]}
    rows = [line.split() for line in lines[6:]]
    assert version == "0.3" and len(rows) == counts["n_base"] + counts["n_tri"]
    assert len({tuple(row[:4]) for row in rows}) == len(rows)
    assert max(int(state) for row in rows for state in row[6:9]) == counts["n_tied_state"] - 1
    assert {row[0] for row in rows if row[4] == "filler"} == {"SIL", "+NSN+", "+SPN+"}


def test_weights_of_a_state_sum_to_one(tmp_path) -> None:
    write_weights(MODEL, tmp_path / "weights")
    data = (tmp_path / "weights").read_bytes()
    head = np.frombuffer(data, "<u4", 5, len(S3_HEADER))
    weights = np.frombuffer(data, "<f4", offset=len(S3_HEADER) + 20).reshape(head[1:4])
    assert np.median(np.abs(weights.sum(axis=-1) - 1)) < 0.05  # one byte a weight
