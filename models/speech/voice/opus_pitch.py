"""Follow the pitch with the small network of Opus 1.5 (dnn/pitchdnn.c).

It hears two things of every 10 ms: how the phase of the low frequencies turns, and the correlation of the whitened
speech with itself at every lag from 32 to 256 samples. Its answer is a point on a scale of 60 steps an octave.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

FILE = Path(__file__).with_name("weights") / "opus_pitch.npz"
HOP = 160
MIN_PERIOD, MAX_PERIOD = 32, 256
LAGS = MAX_PERIOD - MIN_PERIOD
LOW_BINS = 30
TRANSFORM = 512  # longer than a frame and its past, so that no correlation wraps around
STEPS = 180
STEPS_PER_OCTAVE = 60


class PitchTracker:
    """The network with its weights; it is called on the spectrum and residual of a whole recording."""

    def __init__(self) -> None:
        self._layers = Layers()

    def __call__(self, spectrum: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Pitch in octaves [frames] (`opus_features` says what 0 means)."""
        layers = self._layers
        turning = layers.dense("dense_if_upsampler_2", layers.dense("dense_if_upsampler_1", _turning(spectrum)))
        echoes = np.pad(_echoes(residual)[:, None], ((0, 0), (0, 0), (1, 1)))
        echoes = np.pad(self._convolved("conv2d_1", echoes), ((0, 0), (0, 0), (1, 1)))
        echoes = self._convolved("conv2d_2", echoes)[:, 0]
        evidence = layers.dense("dense_downsampler", np.concatenate([echoes, turning], axis=1))
        states = layers.recurrent("gru_1", evidence)
        return _read_scale(layers.linear("dense_final_upsampler", states)[:, :STEPS])

    def _convolved(self, name: str, x: np.ndarray) -> np.ndarray:
        """[frames, channels, lags + 2] -> [frames, channels, lags]: three frames back in time, three lags wide."""
        weight, bias = self._layers.weight[name], self._layers.bias[name]
        past = np.pad(x, ((2, 0), (0, 0), (0, 0)))
        out = np.zeros((len(x), len(bias), x.shape[2] - 2), np.float32) + bias[:, None]
        for time in range(3):
            for shift in range(3):
                seen = past[time : time + len(x), :, shift : shift + x.shape[2] - 2]
                out += np.einsum("fil,oi->fol", seen, weight[:, :, time, shift])
        return np.tanh(out)


def _turning(spectrum: np.ndarray) -> np.ndarray:
    """[frames, 88]: level of bin 0, then cosine, sine and level of the phase step of each low bin since the last frame."""
    low = spectrum[:, :LOW_BINS]
    levels = np.clip((10 * np.log10(1e-15 + np.abs(low) ** 2) - 6) / 64, -1, 1)
    step = low * np.conj(np.pad(low, ((1, 0), (0, 0)))[:-1])
    step /= np.sqrt(1e-15 + np.abs(step) ** 2)
    rest = np.stack([step.real, step.imag, levels], axis=2)[:, 1:].reshape(len(low), -1)
    return np.concatenate([levels[:, :1], rest], axis=1).astype(np.float32)


def _echoes(residual: np.ndarray) -> np.ndarray:
    """[frames, 224]: normalised correlation at lags 256 to 33."""
    from scipy import fft

    softened = residual + 0.7 * np.concatenate([[0.0], residual[:-1]])
    padded = np.pad(softened, (MAX_PERIOD, 0)).astype(np.float32)
    buffers = sliding_window_view(padded, MAX_PERIOD + HOP)[::HOP]
    now = buffers[:, MAX_PERIOD:]
    spectra = fft.rfft(buffers, TRANSFORM) * np.conj(fft.rfft(now, TRANSFORM))
    products = fft.irfft(spectra, TRANSFORM)[:, :LAGS]
    total = np.concatenate([np.zeros((len(now), 1)), np.cumsum(buffers.astype(np.float64) ** 2, axis=1)], axis=1)
    energies = total[:, HOP : HOP + LAGS] - total[:, :LAGS]
    return (2 * products / (1 + np.sum(now.astype(np.float64) ** 2, axis=1)[:, None] + energies)).astype(np.float32)


def _read_scale(scores: np.ndarray) -> np.ndarray:
    """The likeliest step, refined by its two neighbours on each side."""
    best = np.where(scores.max(axis=1) > -1, scores.argmax(axis=1), 0)
    near = best[:, None] + np.arange(-2, 3)
    valid = (near >= 0) & (near < STEPS)
    weights = np.where(valid, np.exp(np.take_along_axis(scores, np.clip(near, 0, STEPS - 1), axis=1)), 0.0)
    return np.sum(weights * near, axis=1) / np.sum(weights, axis=1) / STEPS_PER_OCTAVE - 1.5


class Layers:
    """With the weights that tools/extract_fargan.py took from Opus' source. A weight W is stored in eight bits; a layer
    computes x (W scale) + bias, and rows of x are frames."""

    def __init__(self) -> None:
        with np.load(FILE) as stored:
            arrays = dict(stored)
        self.bias = {name[:-5]: array for name, array in arrays.items() if name.endswith(".bias")}
        self.weight = {
            name: arrays[f"{name}.weight"].astype(np.float32) * arrays.get(f"{name}.scale", np.float32(1))
            for name in self.bias
        }

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        """[frames, out] of the layer `name`, before any activation."""
        return x @ self.weight[name] + self.bias[name]

    def dense(self, name: str, x: np.ndarray) -> np.ndarray:
        """[frames, out] between -1 and 1: a fully connected layer with tanh."""
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
    """1 / (1 + exp(-x)) in single precision, by way of tanh: no x overflows."""
    return np.float32(0.5) + np.float32(0.5) * np.tanh(np.float32(0.5) * x)
