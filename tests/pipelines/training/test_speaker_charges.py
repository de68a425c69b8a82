"""One budget: what a speaker spends over text release, nights and trainings is one figure, and nothing goes beyond it."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from adversary import weakened
from committed_run import commit, digest_of, make_run
from tiny_training import sentences
from whole_runs import private_of

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.training.privacy.plan import make_plan, of_a_group
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.models.training.units import join_people, read_units
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.nightly.cumulative_ledger import cumulative_ledger, spent_by_speaker
from sottovoce.pipelines.nightly.finished_runs import finished_runs, spent_tables
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training import start_training as starting
from sottovoce.pipelines.training.order import read_order
from sottovoce.pipelines.training.speaker_charges import NEVER, RARELY, _left, charge_of, forget_charges
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

    def started(retry=False, **changes):
        (tmp_path / "train.yaml").write_text(yaml.safe_dump({**SETTINGS, **changes}))
        order = read_order(str(tmp_path / "train.yaml"), str(tmp_path / "launch.yaml"))
        began = starting.start_training(str(run), order, retry)
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
    assert [float(ran[ran.index(flag) + 1]) for flag in ("--max-epsilon", "--max-delta")] == [2.0, 0.05]
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
    assert by_example.delta_of_a_person == 1.0  # of twenty examples at epsilon 2 nothing is left of a small delta
    assert set(charge_of(folder, "slu", TrainSettings(mode="plain", batch_size=10)).costs.values()) == {0.0}
    assert charge_of(folder, "dm", TrainSettings(**SETTINGS)) is None
    assert of_a_group(0.5, 1e-6, 3) == pytest.approx((1.5, 3 * 2.718281828 * 1e-6))


def test_an_epsilon_that_is_not_given_is_charged_for_the_fewest_units_that_can_be_left(run):
    settings = TrainSettings(**{**SETTINGS, "target_epsilon": None, "z0": 2.0, "unit": "example"})
    fewer = TrainSettings(**{**SETTINGS, "target_epsilon": None, "z0": 2.0, "unit": "example", "validation_share": 0.1})
    folder = open_run(str(run))
    assert charge_of(folder, "slu", fewer).epsilon > charge_of(folder, "slu", settings).epsilon > 0


@pytest.mark.slow
def test_a_job_that_failed_before_it_began_is_tried_again_for_what_it_costs_and_no_less(tmp_path, run, start):
    """Charged once by its name alone, the second one would spend 3 where 0.5 was charged."""
    script = (tmp_path / "script.py").read_text()
    (tmp_path / "script.py").write_text(f"{script}raise SystemExit(1)")
    start(target_epsilon=0.5)
    start(retry=True, target_epsilon=3.0)
    assert spent(run) == {"anna": 6.0, "otto": 4.0}
    start(retry=True, target_epsilon=1.0)
    assert spent(run) == {"anna": 6.0, "otto": 4.0}  # a release of the second one may have been seen
    with pytest.raises(RunError, match="beyond speaker_epsilon 6"):
        start(retry=True, target_epsilon=3.5)


FEW = {"mode": "per_example", "target_epsilon": 2.0, "unit": "example", "batch_size": 8, "n_micro": 2}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch_size": 31}, "batch_size: 31 is more than the 30 examples there are"),
        ({"batch_size": 28}, "28 is more than the 21 examples that may be left when validation_share is held out of 30 by lot"),
        ({"batch_size": 28, "validation_share": 0.0}, None),
        ({"batch_size": 28, "validation": "public.jsonl"}, None),
        ({"unit": None}, "8 is more than the 2 speakers there are; unit: example protects single examples instead"),
        ({"mode": "plain", "batch_size": 31}, "batch_size: 31"),
        ({"mode": "plain"}, None),
        ({"mode": "sound", "n_micro": 3, "batch_size": 9}, "3 micro-batches cannot be shared out evenly over 2 processes"),
        ({"delta": 0.04}, "delta: 0.04 is not below 1/n"),
        ({"task": "lm", "model": "counts", "batch_size": 64}, "counts are made in one process; here are 2"),
    ],
)  # fmt: skip
def test_nobody_is_charged_for_a_job_that_would_not_begin(run, changes, words):
    settings, folder = TrainSettings(**FEW | changes), open_run(str(run))
    if words is None:
        assert charge_of(folder, "slu", settings, processes=2) is not None
        return
    with pytest.raises(SettingsError, match=words):
        charge_of(folder, "slu", settings, processes=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train_split": "train"}, "rows of a run have no split"),
        ({"validation_split": "test"}, "rows of a run have no split"),
        ({"validation_is_public": True}, "the people of a run are not"),
    ],
)
def test_what_no_run_can_give_is_told_before_it_begins(tmp_path, changes, words):
    (tmp_path / "train.yaml").write_text(yaml.safe_dump(SETTINGS | changes))
    with pytest.raises(SettingsError, match=words):
        read_order(str(tmp_path / "train.yaml"))


@pytest.mark.parametrize("mode", ["plain", "sound", "per_example"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_a_job_that_was_charged_begins_however_the_lot_falls_and_spends_no_more(run, mode, share):
    settings = TrainSettings(**FEW | {"mode": mode, "validation_share": share, "sampling": "shuffle",
                                      "target_epsilon": None, "z0": 2.0, "epochs": 2})  # fmt: skip
    begins = 0
    for size in (2, 6, 14, 20, 28, 30):
        asked = replace(settings, batch_size=size)
        try:
            charge = charge_of(open_run(str(run)), "slu", asked)
        except SettingsError:
            continue
        begins += 1
        for left in range(_left(asked, 30, RARELY), 31):
            plan = make_plan(asked, left, 1)
            assert mode == "plain" or (plan.sound().epsilon <= charge.epsilon and plan.delta <= charge.delta)
    assert begins >= 2


def test_of_counts_a_batch_says_nothing_and_the_delta_is_that_of_the_fewest_units(run):
    settings = TrainSettings(task="lm", model="counts", mode="per_example", target_epsilon=2.0, unit="example")
    charge = charge_of(open_run(str(run)), "slu", settings)
    assert settings.batch_size > 30 and charge.delta == 0.1 / _left(settings, 30, NEVER) > 0.1 / 27
    with pytest.raises(SettingsError, match="counts without noise publish rare n-grams"):
        charge_of(open_run(str(run)), "slu", replace(settings, mode="plain"))


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
    as_a_job = [
        *order,
        "--commit",
        digest_of(run),
    ]  # whoever has the command of a job gives it again for another folder
    assert main(as_a_job) == 1 and not (tmp_path / "again" / "model").exists()
    with weakened("a job is its folder", {"sottovoce.pipelines.training.train_model:was_started": lambda *job: True}):
        assert main(as_a_job) == 0 and spent(run)["anna"] <= 5.0  # a second model, for nothing
