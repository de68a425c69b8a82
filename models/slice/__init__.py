"""Cut masked speech into slices on word borders (COMPRISE D2.3: take words until the slice is long enough)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.models.settings import require


@dataclass(frozen=True)
class Cut:
    """The `slice` section of a job. The cutting itself is in `models/slice/cut.py`."""

    min_seconds: float = 3.0
    remainder: Literal["join", "drop"] = "join"

    def __post_init__(self) -> None:
        require((0 < self.min_seconds <= 60, "min_seconds: must lie above 0 and be at most 60"))
