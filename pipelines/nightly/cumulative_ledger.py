"""What all nights and trainings together have taken and spent, from the private state of the runs in an output.

A speaker's figure is the sum of what each night and each training charged (basic composition; a dialogue is taken once and
its draws are permanent, so no charge is repeated). Deltas add up likewise: those of what was counted in the corpus, for a
speaker of every night, and those of the trainings, for a speaker of each. Quantiles are values that occur, the higher one
where two would do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from sottovoce.models.runs.places import OutputPlaces
from sottovoce.pipelines.nightly.finished_runs import (
    finished_runs,
    spent_tables,
    state_tables,
    training_charges,
    training_delta,
)
from sottovoce.pipelines.sanitize.run_folder import read_json
from sottovoce.transforms.nightly.state import SPEAKERS, count_dialogues
from sottovoce.transforms.write.shards import write_then_rename

ROWS_AT_ONCE = 100_000
ROUNDING = 1e-9  # sums of charges may miss the budget by less than this


def cumulative_ledger(output: str, speaker_epsilon: float | None) -> dict[str, Any]:
    """Counts, the spread of epsilon over speakers, and deltas, over all finished runs; no speaker is named. With the budget
    `speaker_epsilon` also how many have used it up."""
    runs = finished_runs(output)
    spent = spent_by_speaker(spent_tables(runs))
    parts = {"replacement": state_tables(runs, "speakers"), "training": training_charges(runs)}
    ledger: dict[str, Any] = {
        "nights": len(runs),
        "retired": sum(run.retired for run in runs),
        "not_charged": [run.folder.name for run in runs if not run.charged],
        "first": runs[0].record["created"] if runs else None,
        "last": runs[-1].record["created"] if runs else None,
        "dialogues_taken": count_dialogues(state_tables(runs, "dialogues")),
        "speakers_charged": len(spent),
        "turns_charged": pc.sum(spent["units"]).as_py() or 0,
        "epsilon_per_speaker": _distribution(spent["epsilon"]),
        # what each mechanism has cost the speakers it was charged to, over all runs; they add up for a speaker of several
        "by_mechanism": {name: _distribution(spent_by_speaker(uris)["epsilon"]) for name, uris in parts.items()},
        "delta_of_lists_at_most": sum(run.record.get("delta_of_lists", 0.0) for run in runs),
        "delta_of_trainings_at_most": min(1.0, sum(map(training_delta, parts["training"]))),
    }
    if speaker_epsilon is not None:
        used_up = pc.greater_equal(spent["epsilon"], speaker_epsilon - ROUNDING)
        ledger["speaker_epsilon"] = _plain(speaker_epsilon)
        ledger["speakers_at_the_budget"] = pc.sum(used_up).as_py() or 0
    return ledger


def write_cumulative_ledger(output: str, speaker_epsilon: float | None) -> None:
    """Count anew from all finished runs, and replace the file in the private folder of the output."""
    text = json.dumps(cumulative_ledger(output, speaker_epsilon), indent=2) + "\n"
    write_then_rename(OutputPlaces.of(output).cumulative_ledger, lambda file: file.write(text.encode()), private=True)


def renew_cumulative_ledger(output: str) -> None:
    """After an erasure: the same question again, if a night has ever asked it."""
    place = OutputPlaces.of(output).cumulative_ledger
    if FileSystems.exists(place):
        budget = read_json(place).get("speaker_epsilon")
        write_cumulative_ledger(output, None if budget is None else float(budget))


def spent_by_speaker(uris: Sequence[str]) -> pa.Table:
    """One row for each speaker. New rows wait until there are as many as sums, so that each is added a few times at most
    and memory follows the number of speakers, not of nights."""
    sums, waiting, rows = SPEAKERS.empty_table(), [], 0
    for uri in uris:
        with FileSystems.open(uri, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            for batch in pq.ParquetFile(file).iter_batches(batch_size=ROWS_AT_ONCE):
                waiting.append(pa.Table.from_batches([batch]))
                rows += len(batch)
                if rows >= max(ROWS_AT_ONCE, len(sums)):
                    sums, waiting, rows = _add_up([sums, *waiting]), [], 0
    return _add_up([sums, *waiting])


def _add_up(tables: list[pa.Table]) -> pa.Table:
    grouped = pa.concat_tables(tables).group_by("speaker").aggregate([("epsilon", "sum"), ("units", "sum")])
    return grouped.select(["speaker", "epsilon_sum", "units_sum"]).rename_columns(SPEAKERS.names)


def _distribution(epsilon: pa.ChunkedArray) -> dict[str, Any] | None:
    if not len(epsilon):
        return None
    median, p95, largest = pc.quantile(epsilon, q=[0.5, 0.95, 1.0], interpolation="higher").to_pylist()
    return {"median": _plain(median), "percentile_95": _plain(p95), "max": _plain(largest)}


def _plain(epsilon: float) -> float | str:
    """JSON has no infinity. The last digits of a sum are rounding."""
    return "inf" if math.isinf(epsilon) else round(epsilon, 9)
