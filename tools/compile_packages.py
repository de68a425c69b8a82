"""Compile the packages that every command waits for, where Python itself may not keep what it compiles.

Under PYTHONDONTWRITEBYTECODE each start of a worker compiles Beam and torch anew: seconds that a test suite pays hundreds of
times. Elsewhere the first start keeps its result, and nothing is done here.
"""

from __future__ import annotations

import compileall
import sys
import sysconfig
from pathlib import Path

PACKAGES = [
    "apache_beam",
    "beartype",
    "botocore",
    "google",
    "numpy",
    "onnxruntime",
    "pandas",
    "pyarrow",
    "pymongo",
    "scipy",
    "sympy",
    "torch",
]

if __name__ == "__main__" and sys.dont_write_bytecode:
    for package in PACKAGES:
        compileall.compile_dir(Path(sysconfig.get_path("purelib")) / package, quiet=2, workers=0)
