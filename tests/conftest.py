"""Settings for all tests: property tests have no deadline, since a busy machine is no defect; `make check` draws fewer."""

import os

from hypothesis import settings

# As training itself sets it (models/training/loop/processes.py); here before any test lets torch multiply.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

settings.register_profile("patient", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("patient")
