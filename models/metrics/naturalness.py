"""How natural speech sounds, as networks predict it from what listeners said: DNSMOS and PLCMOS, both from 1 to 5.

Reddy et al., "DNSMOS P.835", ICASSP 2022 (here the overall score), and Diener et al., "PLCMOS", Interspeech 2023, which
hears the holes and clicks of a synthesiser best. Both ride in the package `speechmos` (MIT). They are no listeners:
differences below about 0.1 mean little.
"""

from __future__ import annotations

import numpy as np

from sottovoce.models.audio import Speech, resample
from sottovoce.models.errors import RunError

RATE_HZ = 16_000


def naturalness(speech: Speech) -> dict[str, float]:
    try:
        from speechmos import dnsmos, plcmos
    except ImportError:
        raise RunError("naturalness: speechmos is not installed; pip install 'sottovoce[speakers]'") from None
    samples = np.clip(resample(speech, RATE_HZ).samples, -1, 1)
    overall = dnsmos.run(samples, RATE_HZ, return_df=False)["ovrl_mos"]
    return {"DNSMOS": float(overall), "PLCMOS": float(plcmos.run(samples, RATE_HZ, return_df=False)["plcmos"])}
