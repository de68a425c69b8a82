"""FARGAN: features into sound, 40 samples at a time, with the weights of Opus 1.5.

Valin et al. 2024 (see opus_features). Each step sees the features of its frame, the last 40 samples, and what was said
one pitch period ago; three small recurrent layers make the next 40 samples. Steps follow each other, so one utterance
alone would leave the processor idle: it is cut where nobody hears a seam (unvoiced, quiet), the parts are spoken side
by side, each from a few frames before its own, and faded into each other.
"""

from __future__ import annotations

import numpy as np

from sottovoce.models.voice.opus_features import FEATURES, HOP, PITCH, PREEMPHASIS, VOICING, periods
from sottovoce.models.voice.opus_layers import Layers, sigmoid

STEP, STEPS = 40, 4  # samples a step, steps a frame
MAX_PERIOD = 256
LAG = 224  # samples by which the sound follows its features
AFTER = 2  # frames spoken beyond the end, to make up for the lag
PRIMING = 5  # frames that fill the memory of the conditioning network
RUN_UP = 6  # frames spoken and thrown away before a seam
PART = 36  # frames that a part is aimed to have
SEARCH = 12  # frames to either side of the aimed seam in which a quiet place is looked for
FADE = 80  # samples
ROWS = 4  # products of so many rows take less time than those of one row less


class Fargan:
    def __init__(self) -> None:
        self._layers = Layers()

    def speak(self, features: np.ndarray) -> np.ndarray:
        """Samples [160 * frames] of the features [frames, 20]."""
        seams = seams_of(features)
        bounds = list(zip([0, *seams], [*seams, len(features)], strict=True))
        longest = max(end - begin for begin, end in bounds) + RUN_UP + AFTER
        wanted = np.array([begin for begin, _ in bounds])[:, None] - RUN_UP + np.arange(-PRIMING, longest)
        idle = -len(bounds) % ROWS if len(bounds) > ROWS // 2 else 0
        wanted = np.pad(wanted, ((0, idle), (0, 0)), mode="edge")
        spoken = self.speak_together(features[np.clip(wanted, 0, len(features) - 1)])
        return _joined(spoken[: len(bounds)], bounds)

    def speak_together(self, features: np.ndarray) -> np.ndarray:
        """[utterances, PRIMING + frames, 20] -> [utterances, 160 * frames], late by LAG samples."""
        from scipy.signal import lfilter

        net, features = self._layers, features[..., :FEATURES].astype(np.float32)
        period = periods(features[..., PITCH])
        condition = self._condition(features, period)
        count, frames = period.shape
        gains = np.exp(net.linear("sig_net_cond_gain_dense", condition))
        heard = self._heard_of_condition(condition)
        state = _State(count)
        out = np.zeros((count, frames - PRIMING, STEPS, STEP), np.float32)
        for frame in range(PRIMING - 1, frames):
            echo = _echo_positions(period[:, frame - 1])
            for step in range(STEPS):
                sound = self._step(state, heard[:, frame, step], gains[:, frame, step], echo)
                if frame == PRIMING - 1:
                    sound = np.zeros_like(sound)  # the last frame of priming only warms the recurrent layers up
                else:
                    out[:, frame - PRIMING, step] = sound
                state.past = np.concatenate([state.past[:, STEP:], sound], axis=1)
        return lfilter([1.0], [1.0, -PREEMPHASIS], out.reshape(count, -1), axis=1).astype(np.float32)

    def _condition(self, features: np.ndarray, period: np.ndarray) -> np.ndarray:
        """[utterances, frames, 4 steps, 80]: what the features say to each step."""
        net = self._layers
        embedded = net.weight["cond_net_pembed"][np.clip(period - 32, 0, 223)]
        x = net.dense("cond_net_fdense1", np.concatenate([features, embedded], axis=-1))
        past = np.pad(x, ((0, 0), (2, 0), (0, 0)))
        x = net.dense("cond_net_fconv1", np.concatenate([past[:, :-2], past[:, 1:-1], past[:, 2:]], axis=-1))
        return net.dense("cond_net_fdense2", x).reshape(*period.shape, STEPS, -1)

    def _heard_of_condition(self, condition: np.ndarray) -> np.ndarray:
        """The part of the first layer that depends on no sound: all steps of all frames in one product."""
        weight, bias = self._layers.weight["sig_net_fwc0_conv"], self._layers.bias["sig_net_fwc0_conv"]
        count, frames, steps, width = condition.shape
        flat = condition.reshape(count, frames * steps, width)
        before = np.pad(flat, ((0, 0), (1, 0), (0, 0)))[:, :-1]
        half = len(weight) // 2
        # Before the first step there was nothing at all, not even a condition.
        before[:, (PRIMING - 1) * STEPS] = 0
        return (flat @ weight[half : half + width] + before @ weight[:width] + bias).reshape(count, frames, steps, -1)

    def _step(self, state: _State, heard: np.ndarray, gain: np.ndarray, echo: np.ndarray) -> np.ndarray:
        """The next 40 samples."""
        net = self._layers
        weight = net.weight["sig_net_fwc0_conv"]
        half, width = len(weight) // 2, len(weight) // 2 - STEP - echo.shape[1]
        scaled = np.clip(state.past / (np.float32(1e-5) + gain), -1, 1)
        predicted, last = np.take_along_axis(scaled, echo, axis=1), scaled[:, -STEP:]
        sound = np.concatenate([predicted, last], axis=1)
        x = np.tanh(heard + sound @ weight[half + width :] + state.sound @ weight[width:half])
        state.sound = sound
        x = net.gated("sig_net_fwc0_glu_gate", x)
        gate = sigmoid(net.linear("sig_net_gain_dense_out", x))
        predicted = predicted[:, 2:-2]
        echoes = [np.concatenate([gate[:, i : i + 1] * predicted, last], axis=1) for i in range(4)]
        layer, outputs = x, []
        for number in range(3):
            name = f"sig_net_gru{number + 1}"
            state.recurrent[number] = net.recurrent(
                name, np.concatenate([layer, echoes[number]], axis=1), state.recurrent[number]
            )
            layer = net.gated(f"{name}_glu_gate", state.recurrent[number])
            outputs.append(layer)
        x = net.dense("sig_net_skip_dense", np.concatenate([*outputs, x, echoes[3]], axis=1))
        return net.dense("sig_net_sig_dense_out", net.gated("sig_net_skip_glu_gate", x)) * gain


class _State:
    """What a step remembers: the last 256 samples, what the first layer heard last, and three recurrent layers."""

    def __init__(self, count: int):
        self.past = np.zeros((count, MAX_PERIOD), np.float32)
        self.sound = np.zeros((count, 2 * STEP + 4), np.float32)
        self.recurrent = [np.zeros((count, size), np.float32) for size in (160, 128, 128)]


def seams_of(features: np.ndarray) -> list[int]:
    """Frames at which the features may be cut: unvoiced, the quietest near each multiple of PART; none where all is voiced."""
    seams: list[int] = []
    for aimed in range(PART, len(features) - PART // 2, PART):
        begin = max(aimed - SEARCH, seams[-1] + PART // 4 if seams else 0)
        near = features[begin : aimed + SEARCH]
        loudness = np.where(near[:, VOICING] < -0.1, near[:, 0], np.inf)
        if len(near) and np.isfinite(loudness).any():
            seams.append(begin + int(np.argmin(loudness)))
    return seams


def _echo_positions(period: np.ndarray) -> np.ndarray:
    """[utterances, 44]: where in the last 256 samples one period ago lies, repeated where the period is short."""
    begin = MAX_PERIOD - period[:, None]
    at = np.arange(-2, STEP + 2)
    wrapped = begin + np.where(at >= period[:, None], at % period[:, None], at)
    return np.maximum(wrapped, 0)


def _joined(spoken: np.ndarray, bounds: list[tuple[int, int]]) -> np.ndarray:
    """Each part from its seam to the next, fading over FADE samples around it."""
    total = bounds[-1][1] * HOP
    out = np.zeros(total, np.float32)
    ramp = (np.arange(FADE, dtype=np.float32) + 0.5) / FADE
    for part, (begin, end) in zip(spoken, bounds, strict=True):
        before, after = (FADE // 2 if begin else 0), (FADE // 2 if end * HOP < total else 0)
        first = RUN_UP * HOP + LAG - before
        piece = part[first : first + before + (end - begin) * HOP + after].copy()
        if before:
            piece[:FADE] *= ramp
        if after:
            piece[-FADE:] *= ramp[::-1]
        out[begin * HOP - before : end * HOP + after] += piece
    return out
