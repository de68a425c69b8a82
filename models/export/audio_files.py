"""Where the audio of a slice goes: `audio/<two characters of the id>/<id>.<ending>`, so that no folder grows huge."""

from __future__ import annotations

import re
from pathlib import Path

from sottovoce.models.errors import RunError

_plain_id = re.compile(r"[A-Za-z0-9_-]{2,128}").fullmatch


def audio_path(slice_id: str, ending: str) -> str:
    """Relative to the export. An id is part of a path and of lines that are split at blanks: it must be plain."""
    if not _plain_id(slice_id):
        raise RunError("a slice has an id that the run cannot have made; expected letters, digits, '-' and '_'")
    return f"audio/{slice_id[:2]}/{slice_id}.{ending}"


def write_audio(folder: Path, path: str, content: bytes) -> None:
    """`path` is what `audio_path` gives; a file that is there already is written over."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
