"""Go through with erasures that are decided: every step may be repeated, so that one that was killed goes on where it was.

`order.json` is the decision, made once everything lies ready (`forget.py`); it goes last. Whoever opens the output for
writing completes what is there, for until then the runs concerned have no commit.
"""

from __future__ import annotations

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.runs.places import OutputPlaces
from sottovoce.pipelines.forget.erasure_plan import READY, carry_out, read_plan
from sottovoce.pipelines.nightly.cumulative_ledger import renew_cumulative_ledger
from sottovoce.pipelines.sanitize.run_folder import RunFolder, read_json, remove_tree, remove_unfinished, write_json
from sottovoce.pipelines.training.marker import mark_stale
from sottovoce.pipelines.training.speaker_charges import forget_charges
from sottovoce.transforms.nightly.forgotten import read_marks
from sottovoce.transforms.write.private_files import make_private_folder
from sottovoce.transforms.write.shards import UNFINISHED

ORDER, MARKS = "order.json", "marks.parquet"


def complete_erasures(output: str) -> frozenset[str]:
    """The names of those that were decided; what a killed one was still preparing is cleared away."""
    places = OutputPlaces.of(output)
    decided = _names(places, ORDER)
    for name in sorted(decided):
        go_through(output, name)
    for name in _names(places, READY, "**"):
        remove_tree(places.erasure(name, READY))
    for unfinished in FileSystems.match([places.private(f"*{UNFINISHED}")])[0].metadata_list:
        remove_tree(unfinished.path)
    remove_unfinished(places.erasure())
    return decided


def _names(places: OutputPlaces, *parts: str) -> frozenset[str]:
    found = FileSystems.match([places.erasure("*", *parts)])[0].metadata_list
    return frozenset(item.path.removeprefix(places.erasure("")).split("/")[0] for item in found)


def go_through(output: str, name: str) -> None:
    """Carry out the erasure `name` in every run that it concerns, and leave its receipt; RunError, with what to do next,
    where the output cannot be written."""
    places = OutputPlaces.of(output)
    try:
        order = read_json(places.erasure(name, ORDER))
        _set_marks(places, name)
        people = read_marks((places.marks(name),)).speakers
        for run_id in order["runs"]:
            forget_charges(RunFolder(output, run_id), people)
            plan, is_done = read_plan(places, name, run_id)
            if not is_done:
                if run_id in order["receipt"]["models_to_train_anew"]:
                    mark_stale(RunFolder(output, run_id), order["receipt"]["at"])
                carry_out(places, name, plan)
        renew_cumulative_ledger(output)
        write_json(places.erasure(name, order["file"]), order["receipt"])
        FileSystems.delete([places.erasure(name, ORDER)])
        remove_tree(places.erasure(name, READY))
    except (OSError, BeamIOError) as error:
        raise RunError(
            f"{output} cannot be written ({type(error).__name__}): an erasure is decided and not complete; it is completed "
            "when `sottovoce forget`, or whatever else writes there, is run again"
        ) from None


def _set_marks(places: OutputPlaces, name: str) -> None:
    marks = places.erasure(name, READY, MARKS)
    if FileSystems.exists(marks):
        make_private_folder(places.marks(name).rpartition("/")[0])
        FileSystems.rename([marks], [places.marks(name)])
