"""What a training costs each speaker, charged to the one budget of text release, nights and trainings together.

A speaker's figure is the sum over everything (basic composition), in `epsilon per speaker`: of a training whose unit is the
speaker the epsilon of its plan, of one whose unit is an example k times that for a speaker with k examples (group privacy).
`mode: plain` adds nothing: it only repeats what the released rows say, and those were charged. A training that would bring
anybody beyond `nightly.speaker_epsilon` of the job is refused before it starts; what is charged is on disk before it is
submitted, once for each model, however often its job is resumed; by hand once for each key that noise is drawn from, since a
training that begins anew in the place of another one is another release. Charges of an output wait for each other, and are
refused while a run is being written, whose own charge nobody knows yet. The delta goes with it: that of the plan for a speaker,
and k exp((k - 1) epsilon) times it for one with k examples (`of_a_group`). What the job itself would refuse is refused first; a
training that is tried again with other settings is charged what they cost beyond what it was charged before.
"""

from __future__ import annotations

import fcntl
import math
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.runs.places import INDEX, OutputPlaces
from sottovoce.models.training.privacy.plan import Plan, check_enough, delta_for, make_plan, of_a_group
from sottovoce.models.training.rows import run_around
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import index_lines, join_people
from sottovoce.pipelines.nightly.cumulative_ledger import ROUNDING, spent_by_speaker
from sottovoce.pipelines.nightly.finished_runs import DELTA, finished_runs, spent_tables, training_delta
from sottovoce.pipelines.sanitize.run_files import open_committed
from sottovoce.pipelines.sanitize.run_folder import RunFolder, open_run
from sottovoce.transforms.nightly.state import SPEAKERS
from sottovoce.transforms.write.private_files import FILE_MODE
from sottovoce.transforms.write.shards import write_private_table

CHARGES, CONFIG, UNITS = "charges", "config.yaml", "units.parquet"
NEVER, RARELY = 1e-9, 1e-3  # chances that fewer units are left, for a figure and for whether they are enough
Lines = Sequence[tuple[str, str]]  # (id of a row, keyed hash of a person)


@dataclass(frozen=True)
class Charge:
    """`epsilon` and `delta` of the plan for one unit, at most; `costs` of each person, by keyed hash; `units` of the rows."""

    epsilon: float
    delta: float
    unit: str
    costs: Mapping[str, float]
    units: Mapping[str, str]
    delta_of_a_person: float  # of the one with the most units


def charge_of(folder: RunFolder, sink: str, settings: TrainSettings, processes: int = 1) -> Charge | None:
    """What the training will cost, before it is planned; None where the run does not know whose its rows are."""
    lines = _lines(folder, sink)
    if not lines:
        return None
    units = join_people(lines)
    if settings.unit is None:
        settings = replace(settings, unit="speaker" if settings.may_protect_speakers else "example")
    n = len(set(units.values())) if settings.unit == "speaker" else len(units)
    _check_job(settings, n, processes)
    epsilon, delta = (
        _at_most(settings, n),
        0.0 if settings.mode == "plain" else delta_for(settings, _fewest(settings, n)),
    )
    costs, unit = _costs(lines, settings.protects, epsilon), settings.protects
    return Charge(epsilon, delta, unit, costs, units, _delta_of_a_person(lines, unit, epsilon, delta))


def _check_job(settings: TrainSettings, n: int, processes: int) -> None:
    """Nobody is charged for a job that would refuse to begin: with all units, and with those that a draw may leave."""
    check_enough(settings, n, processes)
    left = _left(settings, n, RARELY)
    check_enough(settings, left, processes, f"that may be left when validation_share is held out of {n} by lot")


def _left(settings: TrainSettings, n: int, chance: float) -> int:
    """Who is held out is drawn in the job: there are fewer units left by this chance at most."""
    if settings.validation is not None or not settings.validation_share:
        return n
    from scipy.stats import binom

    return int(binom.ppf(chance, n, 1 - settings.validation_share))


def _fewest(settings: TrainSettings, n: int) -> int:
    """With fewer than a batch the job does not begin."""
    return max(_left(settings, n, NEVER), 1 if settings.member.make().counts else settings.batch_size)


def _at_most(settings: TrainSettings, n: int) -> float:
    """Of the fewest units, for the steps and the delta of all of them. Each of the three makes the figure larger, and the
    job is told not to go beyond it."""
    if settings.mode == "plain":
        return 0.0
    if settings.target_epsilon is not None:
        return settings.target_epsilon
    left, delta = _fewest(settings, n), delta_for(settings, n)
    if settings.member.make().counts:
        # Here: it brings torch, which a run need not have and would wait for.
        from sottovoce.models.training.ngrams.noisy_counts import counting_epsilon

        return counting_epsilon(settings.z0 or 0.0, delta)
    epochs = math.ceil((n // settings.batch_size) * settings.epochs / (left // settings.batch_size))
    sound = make_plan(replace(settings, epochs=max(epochs, settings.epochs), delta=delta), left, 1).sound()
    return sound.epsilon if sound else math.inf


def _costs(lines: Lines, unit: str, epsilon: float) -> dict[str, float]:
    return {person: epsilon * count for person, count in _units_of(lines, unit).items()}


def _delta_of_a_person(lines: Lines, unit: str, epsilon: float, delta: float) -> float:
    """Of the person with the most units: nobody's is larger."""
    return of_a_group(epsilon, delta, max(_units_of(lines, unit).values()))[1] if math.isfinite(epsilon) else 1.0


def _units_of(lines: Lines, unit: str) -> dict[str, int]:
    rows = Counter(person for _, person in set(lines))
    return {person: 1 if unit == "speaker" else count for person, count in rows.items()}


def write_charge(folder: RunFolder, name: str, costs: Mapping[str, float], delta: float) -> None:
    """Refuses what would bring anybody beyond the budget; the same training is charged once, and made anew with settings that
    cost more, what they cost more: it may have ended before it began."""
    path = folder.places.training(CHARGES, f"{name}.parquet")
    with _one_at_a_time(folder.places.output):
        charged, charged_delta = (_read_charge(path), training_delta(path)) if FileSystems.exists(path) else ({}, -1.0)
        more = {person: cost for person, cost in costs.items() if person not in charged or cost > charged[person]}
        if not more and delta <= charged_delta:
            return
        _check_budget(folder, {person: cost - charged.get(person, 0.0) for person, cost in more.items()})
        rows = [{"speaker": person, "epsilon": cost, "units": 0} for person, cost in sorted((charged | more).items())]
        schema = SPEAKERS.with_metadata({DELTA: repr(max(delta, charged_delta))})
        write_private_table(path, pa.Table.from_pylist(rows, schema=schema))


def _read_charge(path: str) -> dict[str, float]:
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        columns = pq.read_table(file, columns=["speaker", "epsilon"]).to_pydict()
    return dict(zip(columns["speaker"], columns["epsilon"], strict=True))


@contextmanager
def _one_at_a_time(output: OutputPlaces) -> Iterator[None]:
    """Trainings of two runs see each other's charges. A bucket has no such lock: there a schedule keeps them apart."""
    if "://" in output.uri:
        yield
        return
    # Here: who writes completes erasures first, and those take charges out.
    from sottovoce.pipelines.sanitize.one_writer import check_no_writer_but_me

    check_no_writer_but_me(output)
    with os.fdopen(os.open(output.charges_lock, os.O_CREAT | os.O_WRONLY, FILE_MODE), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_budget(folder: RunFolder, costs: Mapping[str, float]) -> None:
    budget = _budget_of(folder)
    if budget is None:
        return
    table = spent_by_speaker(spent_tables(finished_runs(folder.places.output.uri))).to_pydict()
    spent = dict(zip(table["speaker"], table["epsilon"], strict=True))
    after = {person: spent.get(person, 0.0) + cost for person, cost in costs.items()}
    beyond = [person for person, total in after.items() if total > budget + ROUNDING]
    if beyond:
        room = budget - max(spent.get(person, 0.0) for person in costs)
        raise RunError(
            f"{folder.name}: the training would bring {len(beyond)} of {len(costs)} speakers beyond speaker_epsilon "
            f"{budget:g} over text release, nights and trainings (largest: {max(after.values()):.4g}); nothing was started. "
            f"{max(room, 0.0):.4g} is left for everybody: lower target_epsilon in train.yaml"
        )


def _budget_of(folder: RunFolder) -> float | None:
    job = yaml.safe_load(open_committed(folder.uri).read(CONFIG)) or {}
    return (job.get("nightly") or {}).get("speaker_epsilon")


def forget_charges(folder: RunFolder, people: Collection[str]) -> None:
    """Nothing of them stays: neither what trainings were charged, nor which rows were of one person."""
    for item in FileSystems.match([folder.places.training(CHARGES, "*.parquet")])[0].metadata_list:
        with FileSystems.open(item.path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            table = pq.read_table(file)
        theirs = pc.is_in(table["speaker"], value_set=pa.array(sorted(people), pa.string()))
        if pc.any(theirs).as_py():
            write_private_table(item.path, table.filter(pc.invert(theirs)))
    handed = FileSystems.match([folder.places.training("job-*", UNITS)])[0].metadata_list
    if handed:
        FileSystems.delete([item.path for item in handed])


def write_units(path: str, charge: Charge) -> None:
    """For the job, in its private folder: numbers that hold for this training alone."""
    write_private_table(path, pa.table({"id": list(charge.units), "unit": list(charge.units.values())}))


def charge_by_hand(data: str, settings: TrainSettings, plan: Plan, key: Secret) -> None:
    """`sottovoce train` on a run without start-training costs its people the same."""
    sound = plan.sound()
    epsilon = 0.0 if settings.mode == "plain" else sound.epsilon if sound else math.inf
    charge_run(data, settings, epsilon, plan.delta, key)


def charge_run(data: str, settings: TrainSettings, epsilon: float, delta: float, key: Secret) -> None:
    """Charges the people of the run that the data lie in; nothing where they lie in none, or it keeps no index. `epsilon`
    and `delta` are for one unit; `key` is the one that the noise of this training is drawn from."""
    run = run_around(Path(data))
    if run is None:
        return
    folder = open_run(str(run))
    lines = _lines(folder, task_of(settings.task).sink)
    if not lines:
        return
    # a training that is resumed has its key from the checkpoint and finds its charge again; one that begins anew does not
    name = key.digest("charge")[:6].hex()
    costs = _costs(lines, settings.protects, epsilon)
    write_charge(folder, f"by-hand-{name}", costs, _delta_of_a_person(lines, settings.protects, epsilon, delta))


def _lines(folder: RunFolder, sink: str) -> list[tuple[str, str]]:
    tables = [table["path"] for table in folder.tables() if table["path"].startswith(f"{INDEX}/{sink}-part-")]
    found: list[tuple[str, str]] = []
    for path in tables:
        with FileSystems.open(folder.places.private(path), compression_type=CompressionTypes.UNCOMPRESSED) as file:
            found += index_lines(pq.read_table(file, columns=["id", "speaker"]))
    return found
