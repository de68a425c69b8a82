"""Settings for all tests: property tests have no deadline, since a busy machine is no defect; `make check` draws fewer."""

import os
import sys

from hypothesis import settings

# Images say that nothing compiled is kept. Here hundreds of processes load the same modules: each would compile them anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# As training itself sets it (models/training/loop/processes.py); here before any test lets torch multiply.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

settings.register_profile("patient", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("patient")
