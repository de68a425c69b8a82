"""Tell how a local run is going: bars on a terminal, a line now and then elsewhere; stop it when too much fails."""

from __future__ import annotations

import threading
import time
from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sottovoce.transforms.engine import progress

STAGES = ("read", "detect", "replace", "rewrite", "load", "align", "voice", "mask", "relisten", "slice")
LOOK_EVERY_S, PRINT_EVERY_S = 0.5, 5.0


class ShowProgress:
    """A thread that reads the workers' counts. `total` is the estimated number of records."""

    def __init__(self, directory: str, total: int, max_failures: int | float | None, console: Console):
        self._directory, self._total, self._max_failures, self._console = directory, total, max_failures, console
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ShowProgress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        if self._console.is_terminal:
            self._draw_bars()
        else:
            self._print_lines()

    def _draw_bars(self) -> None:
        columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as bars:
            tasks: dict[str, int] = {}
            while True:
                last = self._over.wait(LOOK_EVERY_S)
                counts = self._look()
                for stage in [name for name in (*STAGES, "failed") if counts[name]]:
                    if stage not in tasks:
                        total = self._total if stage in ("read", "detect") else None
                        tasks[stage] = bars.add_task(stage, total=total)
                    bars.update(tasks[stage], completed=counts[stage])  # type: ignore[arg-type]
                if last:
                    return

    def _print_lines(self) -> None:
        printed_at, printed = time.monotonic(), ""
        while True:
            last = self._over.wait(LOOK_EVERY_S)
            counts = self._look()
            line = "  ".join(f"{stage} {counts[stage]}" for stage in (*STAGES, "failed") if counts[stage])
            if line and line != printed and (last or time.monotonic() - printed_at >= PRINT_EVERY_S):
                self._console.print(f"{line}   (of about {self._total} records)", highlight=False, soft_wrap=True)
                printed_at, printed = time.monotonic(), line
            if last:
                return

    def _look(self) -> Counter[str]:
        counts = progress.read(self._directory)
        if exceeds(counts["failed"], max(counts["read"], self._total), self._max_failures):
            progress.ask_to_stop(self._directory)
        return counts


def exceeds(failed: int, records: int, limit: int | float | None) -> bool:
    """A whole number limits the count, a number from 0.0 to 1.0 the share."""
    if limit is None:
        return False
    return failed > limit * records if isinstance(limit, float) else failed > limit
