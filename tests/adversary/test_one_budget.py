"""Attacker: collects models. Whoever makes two under one charge, or two that do not see each other, spends a budget twice."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from adversary import weakened
from committed_run import commit, make_run
from whole_runs import private_of

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.runs.places import OutputPlaces
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.nightly.cumulative_ledger import spent_by_speaker
from sottovoce.pipelines.nightly.finished_runs import finished_runs, spent_tables
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training import speaker_charges
from sottovoce.pipelines.training.speaker_charges import charge_run, write_charge
from sottovoce.transforms.nightly.state import SPEAKERS

BUDGET, COST = 3.0, 2.0
CHARGES = "sottovoce.pipelines.training.speaker_charges"
SETTINGS = TrainSettings(mode="per_example", target_epsilon=COST, unit="speaker")


@pytest.fixture
def nights(tmp_path):
    """Two runs of one output with one and the same person in them, who has spent nothing."""
    return [_run(tmp_path / "out" / f"run-{number}123456789ab") for number in range(2)]


def _run(folder):
    make_run(folder)
    (folder / "config.yaml").write_text(yaml.safe_dump({"nightly": {"speaker_epsilon": BUDGET}}))
    commit(folder, counts={"read": 1, "failed": 0, "stages": {"budget": {}}, "dialogues": 0})
    tables = {
        "index/slu-part-00000-of-00001.parquet": pa.table({"id": ["0" * 32], "speaker": ["anna"]}),
        "state/speakers-00000.parquet": pa.Table.from_pylist(
            [{"speaker": "anna", "epsilon": 0.0, "units": 0}], SPEAKERS
        ),
    }
    for path, table in tables.items():
        (private_of(folder) / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, private_of(folder) / path)
    (private_of(folder) / "tables.json").write_text(json.dumps({"tables": [{"path": path} for path in tables]}))
    return folder


def spent(folder):
    return spent_by_speaker(spent_tables(finished_runs(str(folder.parent)))).to_pydict()["epsilon"][0]


def attack(nights, monkeypatch, patience_s):
    """Each has looked at what is left before the other writes, if nothing keeps them apart: who looks waits for the other."""
    looked, check = threading.Barrier(2), speaker_charges._check_budget

    def look(folder, costs):
        check(folder, costs)
        with contextlib.suppress(threading.BrokenBarrierError):
            looked.wait(patience_s)

    monkeypatch.setattr(speaker_charges, "_check_budget", look)

    def charge(folder):
        with contextlib.suppress(RunError):
            write_charge(open_run(str(folder)), "model", {"anna": COST}, 1e-5)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(charge, nights))
    return spent(nights[0])


def test_trainings_of_two_nights_that_begin_together_break_a_budget_that_is_looked_at_and_then_charged(
    nights, monkeypatch
):
    with weakened("the lock of charges", {f"{CHARGES}:_one_at_a_time": lambda output: contextlib.nullcontext()}):
        assert attack(nights, monkeypatch, 60) == 2 * COST > BUDGET


def test_of_our_trainings_that_begin_together_one_is_refused(nights, monkeypatch):
    assert attack(nights, monkeypatch, 0.3) == COST


def begun_anew(folder):
    """Trained, handed on, removed, and trained again in the same place: two models."""
    for key in (b"the key of the first one", b"the key of the second one"):
        charge_run(str(folder), SETTINGS, COST, 1e-5, Secret(key))


def test_a_charge_that_is_known_by_its_place_pays_for_two_models(nights):
    with weakened(
        "a charge for each key",
        {f"{CHARGES}:write_charge": lambda folder, name, *rest: write_charge(folder, "one", *rest)},
    ):
        begun_anew(nights[0])
    assert spent(nights[0]) == COST


def test_a_training_that_begins_anew_in_the_same_place_is_charged_and_one_that_is_resumed_is_not(nights):
    with pytest.raises(RunError, match=r"beyond speaker_epsilon 3 .* 1 is left for everybody"):
        begun_anew(nights[0])
    charge_run(str(nights[0]), SETTINGS, COST, 1e-5, Secret(b"the key of the first one"))
    assert spent(nights[0]) == COST


@pytest.mark.parametrize(("host", "more"), [("elsewhere", {}), (socket.gethostname(), {"submitted": "run-2"})])
def test_nothing_is_charged_while_a_night_is_written_that_may_charge_the_same_people(nights, host, more):
    lock = OutputPlaces.of(str(nights[0].parent)).lock
    holder = {"doing": "nightly", "host": host, "pid": 1, "started": 0.0, **more}
    with open(lock, "w") as file:
        file.write(json.dumps(holder))
    with pytest.raises(RunError):
        write_charge(open_run(str(nights[0])), "model", {"anna": COST}, 1e-5)
    assert spent(nights[0]) == 0
    with open(lock, "w") as file:  # committed; or a night of this host that was killed
        file.write("" if more else json.dumps(holder | {"host": socket.gethostname()}))
    write_charge(open_run(str(nights[0])), "model", {"anna": COST}, 1e-5)
    assert spent(nights[0]) == COST
