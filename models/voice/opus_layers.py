"""The layers that Opus' pitch tracker is made of, with the weights that tools/extract_fargan.py took from its source.

A weight W is stored in eight bits; the layer computes x (W scale) + bias. Rows of x are frames.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("weights") / "opus_pitch.npz"


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

    def recurrent(self, name: str, x: np.ndarray) -> np.ndarray:
        """The states [rows, size] of a gated recurrent unit that is given the rows one after the other."""
        given = self.linear(f"{name}_input", x)
        size = given.shape[1] // 3
        state, states = np.zeros(size, np.float32), np.empty((len(x), size), np.float32)
        for row, now in enumerate(given):
            kept = self.linear(f"{name}_recurrent", state)
            gates = sigmoid(now[: 2 * size] + kept[: 2 * size])
            fresh = np.tanh(now[2 * size :] + kept[2 * size :] * gates[size:])
            states[row] = state = fresh + gates[:size] * (state - fresh)
        return states


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.float32(0.5) + np.float32(0.5) * np.tanh(np.float32(0.5) * x)
