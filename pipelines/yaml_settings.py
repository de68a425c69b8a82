"""Settings as people write them: a YAML file, and `--set key.of.key=value`. What is wrong is told by file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from sottovoce.models.errors import SettingsError


def read_mapping(path: str | Path, flag: str) -> dict[str, Any]:
    """What the file says; nothing, if it is empty. `flag` is how the reader of an error knows the file."""
    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{flag} {path}: {error.strerror}; expected a YAML file"]) from None
    except UnicodeDecodeError:
        raise SettingsError([f"{flag} {path}: not UTF-8"]) from None
    except yaml.YAMLError as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        raise SettingsError([f"{flag} {path}{f', line {mark.line + 1}' if mark else ''}: not YAML"]) from None
    if not isinstance(values or {}, dict):
        raise SettingsError([f"{flag} {path}: expected a mapping at the top"])
    return values or {}


def read_assignment(assignment: str) -> tuple[list[str], Any]:
    """'slice.min_seconds=2' -> (['slice', 'min_seconds'], 2)."""
    path, equals, text = assignment.partition("=")
    if not equals or not path:
        raise SettingsError([f"--set {assignment}: expected key=value, such as slice.min_seconds=2"])
    try:
        return path.split("."), yaml.safe_load(text)
    except yaml.YAMLError:
        raise SettingsError([f"--set {path}: the value is not YAML"]) from None
