"""Nights on a growing corpus, through the command line. Text only: what speech adds is tested elsewhere."""

from __future__ import annotations

import json

import pytest
from whole_runs import demo_records, everything, private_of, rows, sottovoce, write_manifest, write_secret

from sottovoce.pipelines.sanitize.one_writer import one_writer

pytestmark = pytest.mark.slow


def text_records(first: int, last: int) -> list[dict]:
    return [
        {key: value for key, value in record.items() if key not in ("audio_filepath", "duration")}
        for record in demo_records()[first:last]
    ]


@pytest.fixture
def night(tmp_path, secret_file):
    """A function that runs a night on the given records and returns (exit code, summary)."""
    job = tmp_path / "job.yaml"
    nightly = {"output": str(tmp_path / "out"), "secret_file": str(secret_file), "keep_runs": 2}
    job.write_text(json.dumps({"detect": "rules", "nightly": nightly | {"input": str(tmp_path / "in")}}))

    def run(records, *arguments):
        write_manifest(tmp_path / "in", records)
        done = sottovoce("nightly", "--config", job, *arguments, check=False)
        return done.returncode, json.loads(done.stdout.splitlines()[-1])

    return run


def dialogues(records):
    return {record["dialogue_id"] for record in records}


def runs_in(tmp_path):
    return sorted(path for path in (tmp_path / "out").glob("run-*") if (path / "_COMMITTED.json").exists())


def test_each_dialogue_is_taken_by_one_night_and_old_runs_retire(night, tmp_path):
    first, second, third = text_records(0, 20), text_records(20, 40), text_records(40, 60)
    shared = dialogues(first) & dialogues(second)
    code, summary = night(first)
    assert (code, summary["status"], summary["new_dialogues"]) == (0, "committed", len(dialogues(first)))

    code, summary = night(first)
    assert (code, summary["status"], summary["read"]) == (0, "nothing_new", 0)

    code, summary = night(first + second)
    assert summary["new_dialogues"] == len(dialogues(second) - shared)
    grown = [record for record in first + second if record["dialogue_id"] in shared]
    assert summary["turns_of_grown_dialogues"] == len(grown)
    assert summary["turns_taken_before"] == len(first + second) - len(grown) - len(
        [record for record in second if record["dialogue_id"] not in shared]
    )

    ids = [row["id"] for run in runs_in(tmp_path) for sink in everything(run).values() for row in sink]
    assert len(ids) == len(set(ids))

    code, summary = night(first + second + third)
    assert len(summary["retired"]) == 1 and len(runs_in(tmp_path)) == 2
    retired = tmp_path / "out" / summary["retired"][0]
    assert not retired.exists() and list(private_of(retired).glob("state/*.parquet"))

    code, summary = night([*reversed(third), *second, *first])  # another file, the same dialogues
    assert (code, summary["status"], summary["new_dialogues"]) == (0, "nothing_new", 0)


def test_a_speaker_is_charged_over_all_nights_up_to_the_budget(night, tmp_path):
    """Word by word at p = 0.5: each listed word costs the same epsilon, so the budget is used up after some of them."""
    records = [record | {"speaker_id": "one person"} for record in text_records(0, 40)]
    setting = ("--set", "replace={use: word, target_epsilon: 2.0}", "--set", "sinks={slu: 1}")
    budget = ("--set", "nightly.speaker_epsilon=6.0")
    half = len(records) // 2
    early = [record for record in records if record["dialogue_id"] in dialogues(records[:half])]
    code, summary = night(early, *setting, *budget)
    assert code == 0
    code, later = night(records, *setting, *budget)
    spent = [row for run in runs_in(tmp_path) for row in rows(run, "state") if "epsilon" in row]
    assert len({row["speaker"] for row in spent}) == 1
    assert 0 < sum(row["epsilon"] for row in spent) <= 6.0
    ledger = json.loads((tmp_path / "out" / "private" / "cumulative_ledger.json").read_text())
    assert (ledger["nights"], ledger["speakers_charged"], ledger["speaker_epsilon"]) == (2, 1, 6.0)
    assert ledger["dialogues_taken"] == len(dialogues(records))
    assert ledger["epsilon_per_speaker"]["max"] == pytest.approx(sum(row["epsilon"] for row in spent))
    withheld = [row for run in runs_in(tmp_path) for row in rows(run, "failures")]
    assert {row["reason"] for row in withheld} == {"speaker_budget_used_up"}
    assert summary["failed"] + later["failed"] == len(withheld) > 0


def test_another_secret_does_not_release_the_same_dialogues_again(night, tmp_path, secret_file):
    assert night(text_records(0, 10))[0] == 0
    write_secret(secret_file, "another")
    code, summary = night(text_records(0, 20))
    assert (code, summary["status"], len(runs_in(tmp_path))) == (1, "failed", 1)
    assert "released again" in summary["error"]


def test_what_a_failed_night_left_is_removed_by_the_next(night, tmp_path):
    code, summary = night([*text_records(0, 5), "no record"], "--set", "limits.max_failures=0")
    assert (code, summary["status"]) == (1, "failed")
    (left,) = (tmp_path / "out").glob("run-*")
    assert night(text_records(0, 8))[0] == 0
    assert not left.exists() and len(runs_in(tmp_path)) == 1


def test_beyond_the_budget_everything_can_be_replaced_instead(night, tmp_path):
    records = [record | {"speaker_id": "one person"} for record in text_records(0, 20)]
    code, summary = night(
        records,
        *("--set", "replace={use: redact, p: 0.5}", "--set", "sinks={slu: 1}"),
        *("--set", "nightly={speaker_epsilon: 1.0, beyond_budget: replace_always, keep_runs: 2}"),
    )
    assert (code, summary["failed"], summary["rows"]["slu"]) == (0, 0, len(records))


def test_a_second_night_does_not_start_while_one_is_at_work(night, tmp_path):
    with one_writer(str(tmp_path / "out"), "another night"):
        code, summary = night(text_records(0, 5))
    assert (code, summary["status"]) == (75, "busy")


def test_what_a_night_needs_is_asked_for_at_once(tmp_path):
    (tmp_path / "job.yaml").write_text("")
    done = sottovoce("nightly", "--config", tmp_path / "job.yaml", check=False)
    assert done.returncode == 2
    assert all(f"nightly.{name}: missing" in done.stderr for name in ("input", "output"))
