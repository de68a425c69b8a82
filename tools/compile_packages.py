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
    "_pytest",
    "absl",
    "apache_beam",
    "apitools",
    "beartype",
    "botocore",
    "bson",
    "cryptography",
    "dateutil",
    "dill",
    "fastavro",
    "google",
    "grpc",
    "httplib2",
    "hypothesis",
    "jinja2",
    "numpy",
    "oauth2client",
    "onnxruntime",
    "pandas",
    "phonenumbers",
    "pkg_resources",
    "proto",
    "psutil",
    "pyarrow",
    "pyasn1",
    "pyasn1_modules",
    "pygments",
    "pymongo",
    "pyparsing",
    "pytz",
    "requests",
    "rich",
    "scipy",
    "sklearn",
    "sympy",
    "text_to_num",
    "tokenizers",
    "torch",
    "urllib3",
    "yaml",
]

if __name__ == "__main__" and sys.dont_write_bytecode:
    for package in PACKAGES:
        compileall.compile_dir(Path(sysconfig.get_path("purelib")) / package, quiet=2, workers=0)
