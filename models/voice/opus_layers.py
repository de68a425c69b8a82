"""The layers that Opus' networks are made of, in numpy, with the weights that tools/extract_fargan.py took from its source.

A weight W is stored in eight bits; the layer computes x (W scale) + bias. Rows of x are independent: utterances, or frames.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("weights") / "opus.npz"


class Layers:
    def __init__(self) -> None:
        with np.load(FILE) as stored:
            arrays = dict(stored)
        self.bias = {name[:-5]: array for name, array in arrays.items() if name.endswith(".bias")}
        self.weight = {
            name: arrays[f"{name}.weight"].astype(np.float32) * arrays.get(f"{name}.scale", np.float32(1))
            for name in self.bias
        }

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weight[name] + self.bias[name]

    def dense(self, name: str, x: np.ndarray) -> np.ndarray:
        return np.tanh(self.linear(name, x))

    def gated(self, name: str, x: np.ndarray) -> np.ndarray:
        """Gated linear unit: the layer decides how much of each of its own inputs passes."""
        return x * sigmoid(self.linear(name, x))

    def recurrent(self, name: str, x: np.ndarray, state: np.ndarray) -> np.ndarray:
        """One step of a gated recurrent unit: the next state."""
        size = state.shape[1]
        given, kept = self.linear(f"{name}_input", x), self.linear(f"{name}_recurrent", state)
        gates = sigmoid(given[:, : 2 * size] + kept[:, : 2 * size])
        update, reset = gates[:, :size], gates[:, size:]
        fresh = np.tanh(given[:, 2 * size :] + kept[:, 2 * size :] * reset)
        return fresh + update * (state - fresh)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.float32(0.5) + np.float32(0.5) * np.tanh(np.float32(0.5) * x)
