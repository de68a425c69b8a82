"""An export is there whole or not at all: it is written beside its target and takes the name when complete."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sottovoce.models.errors import RunError
from sottovoce.models.export import TABLE, Exporter
from sottovoce.models.runs.committed_run import CommittedRun
from sottovoce.models.settings import resolve

MARK = "export.json"  # tells an export from any other folder, so that --force never clears one that is not ours


def export(run: CommittedRun, format_name: str, target: Path, *, force: bool = False) -> dict[str, int]:
    """Write the run to `target`; tells the records of each file."""
    exporter: Exporter = resolve(TABLE[format_name])()
    sinks = [sink for sink in exporter.sinks if run.rows(sink)]
    nothing = RunError(f"{run.run_id} has nothing for {format_name}, which is made from: {', '.join(exporter.sinks)}")
    if not sinks:
        raise nothing
    target = target.absolute()
    _check_target(target, force)
    run.verify(sinks)
    with _written_beside(target) as folder:
        counts = exporter.write(run, sinks, folder, target)
        if not any(counts.values()):
            raise nothing
        mark = {"run_id": run.run_id, "format": format_name, "records": counts, "says": exporter.says}
        (folder / MARK).write_text(json.dumps(mark, indent=2) + "\n", "utf-8")
    return counts


def _check_target(target: Path, force: bool) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir() or (any(target.iterdir()) and not (target / MARK).is_file()):
        raise RunError(f"{target} exists and is not an export; choose another --output")
    if any(target.iterdir()) and not force:
        raise RunError(f"{target} exists; use --force to replace it, or choose another --output")


@contextlib.contextmanager
def _written_beside(target: Path) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        folder = work / "new"
        folder.mkdir()
        yield folder
        if target.exists():
            target.rename(work / "old")
        folder.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
