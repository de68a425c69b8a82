"""The sums over nights, against tables written by hand and against a plain loop."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from whole_runs import private_of, sottovoce

from sottovoce.pipelines.nightly import cumulative_ledger as module
from sottovoce.pipelines.nightly.cumulative_ledger import cumulative_ledger, write_cumulative_ledger
from sottovoce.transforms.nightly.state import DIALOGUES, SPEAKERS


def write_night(
    output: Path,
    number: int,
    speakers: dict[str, tuple[float, int]],
    dialogues: int = 3,
    place: str = "committed",
) -> None:
    """A run as a night leaves it: its commit, and the tables of its state."""
    run = output / f"run-{number:012d}"
    state = private_of(run) / "state"
    state.mkdir(parents=True)
    rows = [{"speaker": key, "epsilon": epsilon, "units": units} for key, (epsilon, units) in speakers.items()]
    pq.write_table(pa.Table.from_pylist(rows, schema=SPEAKERS), state / "speakers-00000.parquet")
    taken = [{"dialogue": f"{number}-{place}", "speaker": "", "turns": 2} for place in range(dialogues)]
    pq.write_table(pa.Table.from_pylist(taken, schema=DIALOGUES), state / "dialogues-00000.parquet")
    tables = [
        {"sink": "state", "path": "state/speakers-00000.parquet", "rows": len(rows)},
        {"sink": "state", "path": "state/dialogues-00000.parquet", "rows": dialogues},
    ]
    (state.parent / "tables.json").write_text(json.dumps({"tables": tables}))
    record = {
        "created": f"2026-01-{number:02d}T00:00:00+00:00",
        "counts": {"dialogues": dialogues, "stages": {"budget": {}}},
        "delta_of_lists": 1e-6,
        "shards": [{"sink": "slu", "path": "slu/part-00000-of-00001.parquet", "rows": 99}],
    }
    run.mkdir()
    places = {
        "committed": run / "_COMMITTED.json",
        "retired": state.parent / "record.json",
        "at work": run / "config.yaml",
    }
    places[place].write_text(json.dumps(record))


def test_charges_of_all_nights_add_up_retired_ones_included(tmp_path):
    write_night(tmp_path, 1, {"a": (2.0, 1), "b": (1.0, 2)}, place="retired")
    write_night(tmp_path, 2, {"a": (4.0, 2)}, dialogues=5)
    write_night(tmp_path, 3, {"c": (0.5, 1)}, place="at work")  # at work: counts for nothing yet
    assert cumulative_ledger(str(tmp_path), 6.0) == {
        "nights": 2,
        "retired": 1,
        "not_charged": [],
        "first": "2026-01-01T00:00:00+00:00",
        "last": "2026-01-02T00:00:00+00:00",
        "dialogues_taken": 8,
        "speakers_charged": 2,
        "turns_charged": 5,
        "epsilon_per_speaker": {"median": 6.0, "percentile_95": 6.0, "max": 6.0},
        "by_mechanism": {"replacement": {"median": 6.0, "percentile_95": 6.0, "max": 6.0}, "training": None},
        "delta_of_lists_at_most": 2e-6,
        "delta_of_trainings_at_most": 0.0,
        "speaker_epsilon": 6.0,
        "speakers_at_the_budget": 1,
    }


def test_streamed_sums_equal_those_of_a_plain_loop(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)  # so that sums are merged many times
    draw, expected = random.Random(4), defaultdict(float)
    for night in range(1, 10):
        speakers = {f"{draw.randrange(60):032x}": (draw.choice((0.7, 1.1, 2.2)), 1) for _ in range(25)}
        write_night(tmp_path, night, speakers)
        for key, (epsilon, _) in speakers.items():
            expected[key] += epsilon
    ledger = cumulative_ledger(str(tmp_path), 5.0)
    sums = sorted(expected.values())
    assert ledger["speakers_charged"] == len(sums)
    assert ledger["epsilon_per_speaker"]["max"] == pytest.approx(sums[-1])
    assert ledger["epsilon_per_speaker"]["median"] == pytest.approx(sums[math.ceil(0.5 * (len(sums) - 1))])
    assert ledger["epsilon_per_speaker"]["percentile_95"] == pytest.approx(sums[math.ceil(0.95 * (len(sums) - 1))])
    assert ledger["speakers_at_the_budget"] == sum(value >= 5.0 - 1e-9 for value in sums)


def test_what_has_no_bound_is_written_as_inf_in_valid_json(tmp_path):
    write_night(tmp_path, 1, {"a": (math.inf, 1), "b": (1.0, 1), "c": (1.0, 1)})
    write_cumulative_ledger(str(tmp_path), None)
    written = json.loads((tmp_path / "private" / "cumulative_ledger.json").read_text(), parse_constant=pytest.fail)
    assert written["epsilon_per_speaker"] == {"median": 1.0, "percentile_95": "inf", "max": "inf"}
    assert "speakers_at_the_budget" not in written


def test_runs_that_charged_nobody_are_named(tmp_path):
    write_night(tmp_path, 1, {})
    commit = tmp_path / "run-000000000001" / "_COMMITTED.json"
    record = json.loads(commit.read_text())
    commit.write_text(json.dumps(record | {"counts": {"dialogues": 3, "stages": {}}}))
    ledger = cumulative_ledger(str(tmp_path), 1.0)
    assert ledger["not_charged"] == ["run-000000000001"] and ledger["epsilon_per_speaker"] is None
    assert "1 runs by `sanitize`" in sottovoce("ledger", "--output", tmp_path).stdout


def test_the_command_prints_lines_or_json_and_refuses_an_empty_folder(tmp_path):
    done = sottovoce("ledger", "--output", tmp_path, check=False)
    assert done.returncode == 1 and "no committed run" in done.stderr
    write_night(tmp_path, 1, {"a": (2.0, 1)})
    assert "at the budget     1 speakers" in sottovoce("ledger", "--output", tmp_path, "--speaker-epsilon", 2).stdout
    assert json.loads(sottovoce("ledger", "--output", tmp_path, "--json").stdout)["speakers_charged"] == 1
    assert sottovoce("ledger", "--output", tmp_path, "--speaker-epsilon", "-1", check=False).returncode == 2
