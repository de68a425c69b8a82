"""FARGAN: features into sound, 40 samples at a time, with the weights of Opus 1.5.

Valin et al. 2024 (see opus_features). Each step sees the features of its frame, the last 40 samples, and what was said
one pitch period ago; three small recurrent layers make the next 40 samples. Steps follow each other, so one utterance
alone would leave the processor idle: it is cut where nobody hears a seam (unvoiced, quiet), the parts are spoken side
by side, each from a few frames before its own, and faded into each other. `builder/vocoder_graph.py` is the network.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sottovoce.models.speech.voice.opus_features import FEATURES, HOP, PITCH, PREEMPHASIS, VOICING, periods

FILE = Path(__file__).with_name("weights") / "fargan.onnx"
STEP, STEPS = 40, 4  # samples a step, steps a frame
MAX_PERIOD = 256
LAG = 224  # samples by which the sound follows its features
AFTER = 2  # frames spoken beyond the end, to make up for the lag
PRIMING = 5  # frames that fill the memory of the conditioning network
RUN_UP = 6  # frames spoken and thrown away before a seam
PART = 64  # frames that a part is aimed to have
SEARCH = 20  # frames to either side of the aimed seam in which a quiet place is looked for
FADE = 80  # samples


class Fargan:
    """The vocoder as an ONNX session on one thread."""

    def __init__(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(FILE), options, providers=["CPUExecutionProvider"])

    def speak(self, features: np.ndarray) -> np.ndarray:
        """Samples [160 * frames] of the features [frames, 20]."""
        seams = seams_of(features)
        bounds = list(zip([0, *seams], [*seams, len(features)], strict=True))
        longest = max(end - begin for begin, end in bounds) + RUN_UP + AFTER
        wanted = np.array([begin for begin, _ in bounds])[:, None] - RUN_UP + np.arange(-PRIMING, longest)
        return _joined(self.speak_together(features[np.clip(wanted, 0, len(features) - 1)]), bounds)

    def speak_together(self, features: np.ndarray) -> np.ndarray:
        """[parts, PRIMING + frames, 20] -> [parts, 160 * frames], late by LAG samples."""
        from scipy.signal import lfilter

        features = features[..., :FEATURES].astype(np.float32)
        period = periods(features[..., PITCH])
        echo = np.repeat(_echo_positions(period[:, PRIMING - 2 : -1].T), STEPS, axis=0)
        (sound,) = self._session.run(None, {"features": features, "period": period, "echo": echo})
        heard = sound[STEPS:].transpose(1, 0, 2).reshape(len(features), -1)  # the last frame of priming is silent
        return lfilter([1.0], [1.0, -PREEMPHASIS], heard, axis=1).astype(np.float32)


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
    """[..., 44]: where in the last 256 samples one period ago lies, repeated where the period is short."""
    period = period[..., None]
    at = np.arange(-2, STEP + 2)
    wrapped = MAX_PERIOD - period + np.where(at >= period, at % period, at)
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
