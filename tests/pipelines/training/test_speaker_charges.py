"""One budget: what a speaker spends over text release, nights and trainings is one figure, and nothing goes beyond it."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from committed_run import commit, make_run
from tiny_training import sentences
from whole_runs import private_of

from sottovoce.models.errors import RunError
from sottovoce.models.training.privacy.plan import of_a_group
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import join_people, read_units
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.nightly.cumulative_ledger import cumulative_ledger, spent_by_speaker
from sottovoce.pipelines.nightly.finished_runs import finished_runs, spent_tables
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training import start_training as starting
from sottovoce.pipelines.training.order import read_order
from sottovoce.pipelines.training.speaker_charges import charge_of, forget_charges
from sottovoce.transforms.nightly.state import SPEAKERS

SPEAKER = ["anna" if row % 3 else "otto" for row in range(30)]
SETTINGS = {
    "mode": "per_example",
    "target_epsilon": 2.0,
    "batch_size": 1,
    "n_micro": 1,
    "validation_share": 0.0,
    "epochs": 1,
}


@pytest.fixture
def run(tmp_path):
    """Of 30 rows by two people, who have spent 3 and 1 of a budget of 6 on text."""
    folder = make_run(tmp_path / "out" / "run-0123456789ab")
    rows = [{"id": f"{n:032x}", "text": " ".join(row["tokens"]), "intent": row["intent"], "slots": []}
            for n, row in enumerate(sentences(30))]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "slu" / "part-00000-of-00001.parquet")
    (folder / "config.yaml").write_text(yaml.safe_dump({"nightly": {"speaker_epsilon": 6.0}}))
    commit(folder, counts={"read": 30, "failed": 0, "stages": {"budget": {}}, "dialogues": 0})
    private = private_of(folder)
    tables = {
        "index/slu-part-00000-of-00001.parquet": pa.table({"id": [row["id"] for row in rows], "speaker": SPEAKER}),
        "state/speakers-00000.parquet": pa.Table.from_pylist(
            [{"speaker": "anna", "epsilon": 3.0, "units": 5}, {"speaker": "otto", "epsilon": 1.0, "units": 1}], SPEAKERS
        ),
    }
    for path, table in tables.items():
        (private / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, private / path)
    (private / "tables.json").write_text(json.dumps({"tables": [{"path": path} for path in tables]}))
    return folder


@pytest.fixture
def start(tmp_path, run, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(f"import sys; open({str(tmp_path / 'ran')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n")
    monkeypatch.setattr(starting, "TRAIN", (str(script),))
    (tmp_path / "launch.yaml").write_text("launch: {use: local, poll_s: 0.05}\ngate: {audit: off}\n")

    def started(**changes):
        (tmp_path / "train.yaml").write_text(yaml.safe_dump({**SETTINGS, **changes}))
        order = read_order(str(tmp_path / "train.yaml"), str(tmp_path / "launch.yaml"))
        began = starting.start_training(str(run), order)
        list(began.marker.launcher().watch(began.marker.handle))
        return (tmp_path / "ran").read_text().split()

    return started


def spent(run):
    table = spent_by_speaker(spent_tables(finished_runs(str(run.parent)))).to_pydict()
    return dict(zip(table["speaker"], table["epsilon"], strict=True))


@pytest.mark.slow
def test_a_training_is_charged_to_its_speakers_and_hands_their_units_to_the_job(run, start):
    ran = start()
    assert spent(run) == {"anna": 5.0, "otto": 3.0}
    units = read_units(ran[ran.index("--units") + 1])
    assert len(units) == 30 and set(units.values()) == {"0", "1"}  # numbers, and no hash that would last
    assert ran[ran.index("--max-epsilon") + 1] == "2.0"
    assert cumulative_ledger(str(run.parent), 6.0)["delta_of_trainings_at_most"] == pytest.approx(0.05)
    start()  # the same training again
    assert spent(run) == {"anna": 5.0, "otto": 3.0}
    forget_charges(open_run(str(run)), {"anna"})
    assert spent(run) == {"anna": 3.0, "otto": 3.0} and not list(private_of(run).rglob("units.parquet"))
    handed_on = [path for path in run.parent.rglob("*") if path.is_file() and "private" not in path.parts]
    assert not any(b"anna" in path.read_bytes() for path in handed_on)


@pytest.mark.slow
def test_what_would_go_beyond_the_budget_over_everything_is_refused_before_it_starts(run, start, capsys):
    with pytest.raises(RunError, match=r"1 of 2 speakers beyond speaker_epsilon 6 .* 3 is left for everybody"):
        start(target_epsilon=3.5)
    assert spent(run) == {"anna": 3.0, "otto": 1.0}
    assert main(["ledger", "--output", str(run.parent), "--speaker-epsilon", "6"]) == 0
    assert "replacement     ####################  " in capsys.readouterr().out


def test_units_of_examples_cost_a_speaker_each_of_theirs_and_plain_training_adds_nothing(run):
    folder = open_run(str(run))
    by_example = charge_of(folder, "slu", TrainSettings(**{**SETTINGS, "unit": "example"}))
    assert by_example.costs == {"anna": 20 * 2.0, "otto": 10 * 2.0} and by_example.unit == "example"
    assert by_example.delta == 1.0  # of twenty examples at epsilon 2 nothing is left of a small delta
    assert set(charge_of(folder, "slu", TrainSettings(mode="plain", batch_size=10)).costs.values()) == {0.0}
    assert charge_of(folder, "dm", TrainSettings(**SETTINGS)) is None
    assert of_a_group(0.5, 1e-6, 3) == pytest.approx((1.5, 3 * 2.718281828 * 1e-6))


def test_an_epsilon_that_is_not_given_is_charged_for_the_fewest_units_that_can_be_left(run):
    settings = TrainSettings(**{**SETTINGS, "target_epsilon": None, "z0": 2.0, "unit": "example"})
    fewer = TrainSettings(**{**SETTINGS, "target_epsilon": None, "z0": 2.0, "unit": "example", "validation_share": 0.1})
    folder = open_run(str(run))
    assert charge_of(folder, "slu", fewer).epsilon > charge_of(folder, "slu", settings).epsilon > 0


def test_people_who_share_a_row_are_one_unit():
    units = join_people([("a", "anna"), ("a", "otto"), ("b", "otto"), ("c", "eva"), ("d", "anna")])
    assert units["a"] == units["b"] == units["d"] != units["c"]


@pytest.mark.slow
def test_by_hand_speakers_of_a_run_are_the_unit_and_are_charged_as_well(tmp_path, run, capsys):
    model = {"use": "clc", "hidden": 4, "word_size": 4, "buckets": 16, "filters": 2, "character_size": 2, "layers": 1}
    (tmp_path / "train.yaml").write_text(yaml.safe_dump({**SETTINGS, "model": model, "sampling": "shuffle"}))
    assert main(["train", "--data", str(run), "--config", str(tmp_path / "train.yaml")]) == 0
    card = json.loads((run.parent / "trained" / run.name / "model/privacy_card.json").read_text())
    assert card["unit"] == "speaker" and card["parameters"]["n"] == 2
    assert 3.0 < spent(run)["anna"] <= 5.0
    order = [*map(str, ["train", "--data", run, "--config", tmp_path / "train.yaml", "--out", tmp_path / "again"])]
    assert main([*order, "--max-epsilon", "0.1"]) == 1
    assert "was charged to the people in the data" in capsys.readouterr().err
    assert main(order) == 1  # 3 + 2 + 2 is more than 6
    assert "beyond speaker_epsilon 6" in capsys.readouterr().err and not (tmp_path / "again" / "model").exists()
