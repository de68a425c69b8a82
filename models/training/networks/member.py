"""What every network of the table has: its task, the network itself, and what must lie beside its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn


class Member:
    """A subclass is a frozen dataclass whose fields are its options."""

    task: ClassVar[str]

    @property
    def mixes_rows(self) -> bool:
        """Whether a row's gradient depends on the other rows of its batch: clipping it then bounds nothing."""
        return False

    @property
    def needs_public(self) -> bool:
        """Whether it looks at public examples (`public_data`) at every step."""
        return False

    @property
    def counts(self) -> bool:
        """Whether it is counted under noise instead of trained by steps."""
        return False

    def network(self, schema: Any) -> nn.Module:
        raise NotImplementedError

    def trial(self, rows: int, places: int) -> tuple[dict[str, Tensor], dict[str, Tensor]] | None:
        """Made-up tensors and their lengths, to trace the network with (`traced.py`); None where it cannot be traced."""
        return None

    def keep_beside(self, network: nn.Module, folder: Path) -> dict[str, Any]:
        """Write what the exported weights need besides, and return the options that name it."""
        return {}
