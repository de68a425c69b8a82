"""How natural speech sounds, as networks predict it from what listeners said: DNSMOS and PLCMOS, both from 1 to 5.

Reddy et al., "DNSMOS P.835", ICASSP 2022 (here the overall score), and Diener et al., "PLCMOS", Interspeech 2023, which
hears the holes and clicks of a synthesiser best. Both ride in the package `speechmos` (MIT). They are no listeners:
differences below about 0.1 mean little.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.speech.audio import Speech, resample

RATE_HZ, WINDOW = 16_000, 144_160  # DNSMOS hears 9.01 s; shorter speech is repeated
CALIBRATION = (-0.06766283, 1.11546468, 0.04602535)  # of the overall score, as the authors give it


def naturalness(speech: Speech) -> dict[str, float]:
    """{DNSMOS, PLCMOS}: score from 1 to 5, higher is better; samples beyond [-1, 1] are clipped first."""
    samples = np.clip(resample(speech, RATE_HZ).samples, -1, 1).astype(np.float32)
    sessions = _sessions()
    return {"DNSMOS": _dnsmos(sessions["dnsmos"], samples), "PLCMOS": float(sessions["plcmos"](samples)["plcmos"])}


def _dnsmos(session: Any, samples: np.ndarray) -> float:
    """As the package does it, but for its second model, which is slow; short speech is repeated to one full window."""
    repeated = np.tile(samples, -(-WINDOW // len(samples)))
    starts = range(0, len(repeated) - WINDOW + 1, RATE_HZ)
    raw = [session.run(None, {"input_1": repeated[None, at : at + WINDOW]})[0][0][2] for at in starts]
    return float(np.mean(np.polyval(CALIBRATION, raw)))


@functools.cache
def _sessions() -> dict[str, Any]:
    """Loaded once a process, on one thread: parallelism comes from processes."""
    spec = importlib.util.find_spec("speechmos")
    if spec is None or spec.origin is None:
        raise RunError("naturalness: speechmos is not installed; pip install 'sottovoce[speakers]'")
    import onnxruntime
    from speechmos.plcmos import PLCMOS

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    folder = Path(spec.origin).parent
    plcmos = PLCMOS()
    plcmos.session = onnxruntime.InferenceSession(plcmos.model_path, options)
    return {
        "dnsmos": onnxruntime.InferenceSession(str(folder / "dnsmos_models" / "sig_bak_ovr.onnx"), options),
        "plcmos": plcmos,
    }
