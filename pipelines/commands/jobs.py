"""`sottovoce jobs`: what became of the training that runs started."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from sottovoce.models.errors import RunError
from sottovoce.models.launch import JobStatus

if TYPE_CHECKING:
    from sottovoce.pipelines.training.marker import Marker

EXAMPLES = """\
  sottovoce jobs status out                        every run of a folder
  sottovoce jobs status out/run-0123456789ab --watch
  sottovoce jobs logs out/run-0123456789ab
  sottovoce jobs cancel out/run-0123456789ab
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("status", "logs", "cancel"))
    parser.add_argument("run", metavar="OUT/ID", help="a run; for status also a folder of runs")
    parser.add_argument("--watch", action="store_true", help="status: go on until the job has ended")
    parser.add_argument("--json", action="store_true", help="status: one JSON object per line")


def run(args: argparse.Namespace) -> int:
    from sottovoce.pipelines.sanitize.run_folder import open_run
    from sottovoce.pipelines.training.marker import read_marker

    marker = read_marker(open_run(args.run))
    if args.action == "status" and marker is None:
        return _show_all(args)
    if marker is not None and args.action == "status":
        return _show(marker, args)
    if marker is None or marker.handle is None:
        raise RunError(f"{args.run}: no training was started from here")
    if args.action == "logs":
        print(marker.launcher().logs(marker.handle), end="")
        return 0
    marker.launcher().cancel(marker.handle)
    return _show(marker, args)


def _show_all(args: argparse.Namespace) -> int:
    from apache_beam.io.filesystems import FileSystems

    from sottovoce.models.runs.places import OutputPlaces
    from sottovoce.pipelines.sanitize.run_folder import RunFolder
    from sottovoce.pipelines.training.marker import read_marker

    every = OutputPlaces.of(args.run).run("*").training_marker
    found = FileSystems.match([every])[0].metadata_list
    if not found:
        raise RunError(f"{args.run}: no training was started from a run here")
    place = every.split("/").index("*")
    for name in sorted(marker.path.split("/")[place] for marker in found):
        marker = read_marker(RunFolder(args.run, name))
        if marker is not None:
            _show(marker, args)
    return 0


def _show(marker: Marker, args: argparse.Namespace) -> int:
    """Prints each status; the exit code is 1 for a job that failed."""
    if marker.handle is None:
        _print(marker, JobStatus("pending", "decided, not submitted: run start-training again"), args.json)
        return 0
    launcher = marker.launcher()
    failed = False
    for status in launcher.watch(marker.handle) if args.watch else [launcher.status(marker.handle)]:
        _print(marker, status, args.json)
        failed = status.state == "failed"
    return 1 if failed else 0


def _print(marker: Marker, status: JobStatus, as_json: bool) -> None:
    job_id = marker.handle.job_id if marker.handle else ""
    row = {"run": marker.run_id, "launcher": marker.launch["use"], "job": job_id, "attempt": marker.attempt}
    row |= {"state": status.state, "detail": status.detail, "to_be_trained_anew_since": marker.stale}
    if as_json:
        print(json.dumps(row), flush=True)
    else:
        detail = f"  ({status.detail})" if status.detail else ""
        if marker.stale is not None:
            detail += f"  to be trained anew: records were erased on {marker.stale[:10]} (start-training --retry)"
        print(f"{row['run']}  {row['launcher']}  {job_id}  {status.state}{detail}", flush=True)
