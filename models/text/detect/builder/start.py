"""Going on from a network that was trained before: a checkpoint, or the int8 file of a tagger, whose weights are read back.

Frozen word embeddings are those of the encoder and are left alone; a network that did not see case begins with one row for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sottovoce.models.errors import RunError
from sottovoce.models.text.detect.pieces import NETWORK
from sottovoce.models.text.detect.tagger import read_settings

_PER_CHANNEL = "MatMulInteger"


def start_from(model: torch.nn.Module, start: Path, names: Sequence[str]) -> None:
    """Loads the weights of a checkpoint file or a tagger's folder into `model`; other labels or shapes are a RunError."""
    if start.is_file():
        model.load_state_dict(torch.load(start, map_location="cpu", weights_only=True)["weights"])
        return
    if read_settings(start)["labels"] != list(names):
        raise RunError(f"{start}: has other labels than this training, so it cannot be its start")
    known = model.state_dict()
    for name, values in plain_weights(start / NETWORK):
        if name == "encoder.embeddings.word_embeddings.weight":
            continue
        if name == "encoder.embeddings.token_type_embeddings.weight" and len(values) != len(known[name]):
            values = np.repeat(values[:1], len(known[name]), axis=0)
        if known[name].shape != values.shape:
            raise RunError(f"{start}: {name} is {values.shape}, expected {tuple(known[name].shape)}")
        known[name] = torch.from_numpy(np.array(values, dtype=np.float32))
    model.load_state_dict(known)


def plain_weights(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names as in training. A matrix has lost its name on the way; the bias that is added to its product tells it."""
    import onnx
    from onnx.numpy_helper import to_array

    graph = onnx.load(str(path)).graph
    stored = {one.name: to_array(one) for one in graph.initializer}
    made_by = {output: node for node in graph.node for output in node.output}
    for name, values in stored.items():
        if name.endswith("LayerNorm.weight") or name.endswith(".bias"):
            yield name, values
        elif name.endswith(".weight_quantized"):
            yield name.removesuffix("_quantized"), _plain(stored, name.removesuffix("_quantized"))
    for node in graph.node:
        bias = next((name for name in node.input if node.op_type == "Add" and name.endswith(".bias")), "")
        if bias and "LayerNorm" not in bias:
            matrix = _matrix_before(node, made_by, stored)
            yield bias.removesuffix("bias") + "weight", _plain(stored, matrix).T


def _matrix_before(node: Any, made_by: dict[str, Any], stored: dict[str, np.ndarray]) -> str:
    while node.op_type != _PER_CHANNEL:
        node = next(
            made_by[name]
            for name in node.input
            if name in made_by and made_by[name].op_type in ("Cast", "Mul", _PER_CHANNEL) and not name.endswith("scale_mul")
            and "scales_mul" not in name
        )  # fmt: skip
    return next(
        name.removesuffix("_quantized") for name in node.input if name in stored and name.endswith("_quantized")
    )


def _plain(stored: dict[str, np.ndarray], name: str) -> np.ndarray:
    zero = stored[f"{name}_zero_point"].astype(np.float32)
    return (stored[f"{name}_quantized"].astype(np.float32) - zero) * stored[f"{name}_scale"]
