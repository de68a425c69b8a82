"""Common Voice: a clip is named without its folder, which is `clips` beside the table, and names itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def rows(row: Mapping[str, Any], name: str | None) -> Iterator[Mapping[str, Any]]:
    """The row with its audio in `clips/` and the clip's name as its id; a path that has a folder is left as it is."""
    path = row["path"]
    bare = isinstance(path, str) and path and "/" not in path
    yield {**row, "id": path, "audio_filepath": f"clips/{path}" if bare else path}
