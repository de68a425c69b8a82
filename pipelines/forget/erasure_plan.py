"""What an erasure does to one run, written down before anything is done: whoever finds the plan can carry it out.

Everything new lies ready beside the plan; `carry_out` moves it into place. Each step may be repeated, so that an erasure
that was killed anywhere goes on where it stopped. In between the run has no commit: nobody reads it half erased.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import Any

from apache_beam.io.filesystems import FileSystems

from sottovoce.models.runs.places import COMMITTED, OutputPlaces
from sottovoce.pipelines.sanitize.run_folder import (
    at_one_time,
    read_json,
    remove_tree,
    remove_unfinished,
    write_commit,
    write_json,
)

READY, PLAN, DONE = "ready", "plan.json", "done.json"


@dataclass
class ErasurePlan:
    """Paths are relative to the output: it may have been moved in between."""

    run_id: str
    moves: list[tuple[str, str]] = field(default_factory=list)  # what lies ready, and where it goes
    removes: list[str] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    commit: dict[str, Any] | None = None
    trained_on: bool = False  # records that a training may have read are gone
    receipt: dict[str, Any] = field(default_factory=dict)


def write_plan(output: OutputPlaces, name: str, plan: ErasurePlan) -> None:
    """Keep the plan of one run as JSON, in the folder of the erasure `name` where its new files lie ready."""
    write_json(output.erasure(name, READY, plan.run_id, PLAN), asdict(plan))


def read_plan(output: OutputPlaces, name: str, run_id: str) -> tuple[ErasurePlan, bool]:
    """The plan, and whether it was carried out."""
    folder = output.erasure(name, READY, run_id)
    is_done = FileSystems.exists(f"{folder}/{DONE}")
    return ErasurePlan(**read_json(f"{folder}/{DONE if is_done else PLAN}")), is_done


def carry_out(output: OutputPlaces, name: str, plan: ErasurePlan) -> None:
    """Take the commit away, where the run has one, move and remove files, commit anew, and mark the plan as done. What was
    interrupted anywhere may be repeated."""
    run = output.run(plan.run_id)
    if plan.commit is not None:
        _delete(run.released(COMMITTED))
    for ready, target in plan.moves:
        _move(output, ready, target)
    for target in plan.removes:
        _delete(f"{output.uri}/{target}")
    remove_unfinished(run.private())
    write_json(run.tables, {"tables": plan.tables})
    if plan.commit is not None:
        remove_unfinished(run.released())
        _remove_empty_folders(run.released())
        write_commit(run, plan.commit)
        at_one_time(run.released())
    folder = output.erasure(name, READY, plan.run_id)
    FileSystems.rename([f"{folder}/{PLAN}"], [f"{folder}/{DONE}"])


def _move(output: OutputPlaces, ready: str, target: str) -> None:
    source = f"{output.uri}/{ready}"
    if FileSystems.exists(source):  # otherwise it was moved before
        FileSystems.rename([source], [f"{output.uri}/{target}"])


def _delete(uri: str) -> None:
    if FileSystems.exists(uri):
        remove_tree(uri)


def _remove_empty_folders(folder: str) -> None:
    if "://" not in folder:  # a bucket has none
        for parent, _, _ in os.walk(folder, topdown=False):
            if not os.listdir(parent):
                os.rmdir(parent)
