"""Forget people: take them out of every finished run of an output, and keep them from being taken again.

First everything is prepared aside, and nothing is touched; then the decision is written down, and from there on the
erasure goes through, by this process or by the next that opens the output for writing (`erasures.py`). A receipt stays:
numbers, hashes, and no name.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from datetime import datetime, timezone
from typing import Any

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.forget import receipt
from sottovoce.models.forget.whose import Forgotten
from sottovoce.models.randomness import Secret
from sottovoce.models.runs.places import OutputPlaces
from sottovoce.pipelines.forget.erase_run import RunErasure
from sottovoce.pipelines.forget.erased_commit import plan_of
from sottovoce.pipelines.forget.erasure_plan import READY, ErasurePlan, write_plan
from sottovoce.pipelines.forget.erasures import MARKS, ORDER, go_through
from sottovoce.pipelines.nightly.finished_runs import finished_runs, unfinished_runs
from sottovoce.pipelines.sanitize.run_folder import RunFolder, read_json, remove_tree, write_json
from sottovoce.pipelines.training.marker import read_marker
from sottovoce.transforms.nightly.forgotten import marks_of
from sottovoce.transforms.write.shards import write_private_table


def forget(
    output: str, secret: Secret, forgotten: Forgotten, completed: Collection[str] = ()
) -> tuple[dict[str, Any], str]:
    """The receipt and its place. Asked of the one writer of the output; `completed` are the erasures that it has just gone
    through with, this one perhaps among them. Whoever is not found is marked all the same."""
    places = OutputPlaces.of(output)
    name = receipt.name_of(secret, forgotten)
    if name in completed:
        place = places.erasure(name, f"receipt-{_receipts(places, name)}.json")
        return read_json(place), place
    try:
        for folder in unfinished_runs(output):
            folder.remove()  # what a killed run left may hold their records, and is not taken up again as it is
        order = _prepare(places, secret, name, forgotten)
        write_json(places.erasure(name, ORDER), order)
    except (OSError, BeamIOError) as error:
        raise RunError(f"{output} cannot be written ({type(error).__name__}); nothing was changed") from None
    go_through(output, name)
    return order["receipt"], places.erasure(name, order["file"])


def _prepare(places: OutputPlaces, secret: Secret, name: str, forgotten: Forgotten) -> dict[str, Any]:
    """All that is to be done, ready to be moved into place, and the receipt for it."""
    at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    plans: list[ErasurePlan] = []
    not_searched: dict[str, str] = {}
    try:
        write_private_table(places.erasure(name, READY, MARKS), marks_of(forgotten))
        for run in finished_runs(places.uri):
            erasure = RunErasure(run, forgotten, places.erasure(name, READY, run.folder.name))
            if why_not := erasure.why_not:
                not_searched[run.folder.name] = why_not
            elif erasure.find():
                plans.append(plan_of(erasure, receipt.entry_for(secret, name, run.folder.name, at)))
                write_plan(places, name, plans[-1])
        _check_writable(places, plans)
    except BaseException:
        remove_tree(places.erasure(name, READY))
        raise
    models = [plan.run_id for plan in plans if plan.trained_on and _is_trained(places, plan.run_id)]
    made = receipt.make_receipt(secret, name, at, [plan.receipt for plan in plans], not_searched, models)
    return {
        "file": f"receipt-{_receipts(places, name) + 1}.json",
        "runs": [plan.run_id for plan in plans],
        "receipt": made,
    }


def _receipts(places: OutputPlaces, name: str) -> int:
    return len(FileSystems.match([places.erasure(name, "receipt-*.json")])[0].metadata_list)


def _check_writable(places: OutputPlaces, plans: Iterable[ErasurePlan]) -> None:
    """A folder that cannot be written is found out before the first file is touched. In a bucket nothing can be found out
    without writing; there an erasure that is stopped half way is completed later."""
    targets = [target for plan in plans for target in (*(move[1] for move in plan.moves), *plan.removes)]
    for folder in sorted({f"{places.uri}/{target}".rpartition("/")[0] for target in targets}):
        if "://" not in folder and not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
            raise PermissionError(folder)


def _is_trained(places: OutputPlaces, run_id: str) -> bool:
    marker = read_marker(RunFolder(places.uri, run_id))
    return marker is not None and marker.state == "submitted"
