"""Going on from a tagger of many languages that was built before: its packed table and int8 weights, read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from sottovoce.models.errors import RunError
from sottovoce.models.text.detect.pieces import NETWORK
from sottovoce.models.text.detect.tagger import read_settings

_LAYERS = 2
_WAYS = ("", "_reverse")


def start_from(model: torch.nn.Module, folder: Path, names: Sequence[str], languages: Sequence[str]) -> None:
    """Loads the weights of a folder into `model`, all but the head that is thrown away; other labels, languages or sizes are a
    RunError."""
    kept = read_settings(folder)
    if kept["labels"] != list(names) or kept.get("languages") != list(languages):
        raise RunError(f"{folder}: has other labels or languages than this training, so it cannot be its start")
    known = model.state_dict()
    for name, values in plain_weights(folder / NETWORK).items():
        if known[name].shape != values.shape:
            raise RunError(f"{folder}: {name} is {values.shape}, expected {tuple(known[name].shape)}")
        known[name] = torch.from_numpy(np.array(values, dtype=np.float32))
    model.load_state_dict(known)


def plain_weights(path: Path) -> dict[str, np.ndarray]:
    """Weights of an exported network under their names in training."""
    import onnx
    from onnx.numpy_helper import to_array

    graph = onnx.load(str(path)).graph
    stored = {one.name: to_array(one) for one in graph.initializer}
    packed = stored["packed"].astype(np.int64)
    levels = np.stack([packed // 16, packed % 16], -1).reshape(len(packed), -1) - 8
    found = {"table.weight": levels * stored["scale"].astype(np.float32)[:, None]}
    layers = [node for node in graph.node if node.op_type == "DynamicQuantizeLSTM"]
    for layer, node in enumerate(layers[:_LAYERS]):
        inputs = [_plain(stored, name) for name in node.input[1:3]]
        biases = np.split(stored[node.input[3]], 2, axis=1)
        for way, suffix in enumerate(_WAYS):
            for part, values in zip(("ih", "hh"), inputs, strict=True):
                found[f"lstm.weight_{part}_l{layer}{suffix}"] = _gates(values[way].T)
            for part, bias in zip(("ih", "hh"), biases, strict=True):
                found[f"lstm.bias_{part}_l{layer}{suffix}"] = _gates(bias[way])
    (product,) = (node for node in graph.node if node.op_type == "MatMulInteger")
    found["head.weight"] = _plain(stored, product.input[1]).T
    found["head.bias"] = next(values for name, values in stored.items() if name.endswith("head.bias"))
    return found


def _gates(values: np.ndarray) -> np.ndarray:
    """ONNX has input, output, forget, cell; torch input, forget, cell, output."""
    into, out, forget, cell = np.split(values, 4)
    return np.concatenate([into, forget, cell, out])


def _plain(stored: dict[str, np.ndarray], quantised: str) -> np.ndarray:
    """Of one matrix, or of one for each way; scales and zero points are by output channel."""
    name = quantised.removesuffix("_quantized")
    values = stored[quantised].astype(np.float32)
    shape = (-1, 1, values.shape[-1]) if values.ndim == 3 else (1, -1)
    zero, scale = (stored[f"{name}_{part}"].astype(np.float32).reshape(shape) for part in ("zero_point", "scale"))
    return (values - zero) * scale
