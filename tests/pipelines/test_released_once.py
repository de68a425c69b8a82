"""A dialogue is released once in an output: whichever command, job or secret comes second is told the way on."""

from __future__ import annotations

import json
import shutil

import pytest
from adversary import QUICK, dialogues
from whole_runs import everything, private_of, rows, sottovoce, write_manifest, write_secret

pytestmark = pytest.mark.slow
OTHER_JOB = ("--set", "sinks={stt_lm: 1}")


@pytest.fixture
def run(tmp_path):
    """A function that runs a command of the quick job on some records in one output."""
    secret = write_secret(tmp_path / "secret")
    (tmp_path / "job.yaml").write_text("")

    def run(command, records, *more, with_secret=True, out="out"):
        manifest = write_manifest(tmp_path / "in", records)
        flags = ("--secret-file", secret) if with_secret else ()
        flags += ("--config", tmp_path / "job.yaml", *QUICK, *more)
        return sottovoce(command, "--input", manifest, "--output", tmp_path / out, *flags, check=False)

    return run


def runs_in(tmp_path, out="out"):
    return sorted(path.parent for path in (tmp_path / out).glob("*/_COMMITTED.json"))


def forced(run):
    ledger = json.loads((run / "ledger.json").read_text())
    return [entry for entry in ledger["mechanisms"] if "--force" in entry["mechanism"]]


def test_a_second_job_over_some_of_the_dialogues_is_refused_before_anything_is_written(run, tmp_path):
    assert run("sanitize", dialogues(6)).returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.glob("out/**/*") if path.is_file()}
    done = run("sanitize", dialogues(9), *OTHER_JOB)
    assert done.returncode == 1 and "6 of the 9 dialogues" in done.stderr
    assert all(way in done.stderr for way in ("sottovoce nightly", "another --output", "--force"))
    assert {path: path.read_bytes() for path in tmp_path.glob("out/**/*") if path.is_file()} == before
    assert (
        run("sanitize", [record for record in dialogues(9) if record not in dialogues(6)], *OTHER_JOB).returncode == 0
    )


def test_the_same_job_on_the_same_corpus_is_the_same_run_and_force_replaces_it_at_no_cost(run, tmp_path):
    assert run("sanitize", dialogues(6)).returncode == 0
    (first,) = runs_in(tmp_path)
    records = everything(first)
    assert "was finished before" in run("sanitize", dialogues(6)).stdout
    assert run("sanitize", dialogues(6), "--force").returncode == 0
    assert runs_in(tmp_path) == [first] and everything(first) == records and not forced(first)


def test_force_releases_again_and_the_ledger_says_what_it_costs(run, tmp_path):
    assert run("sanitize", dialogues(6)).returncode == 0
    (first,) = runs_in(tmp_path)
    assert run("sanitize", dialogues(9), *OTHER_JOB, "--force").returncode == 0
    (second,) = set(runs_in(tmp_path)) - {first}
    (entry,) = forced(second)
    assert "6 dialogues" in entry["says"] and entry["sound"]["dialogue"] == "inf" and entry["infinite_because"]
    assert len(rows(second, "stt_lm")) == 18 and not forced(first)


def test_another_secret_is_refused_and_forced_it_is_said(run, tmp_path):
    assert run("sanitize", dialogues(6)).returncode == 0
    write_secret(tmp_path / "secret", "another")
    for command in ("sanitize", "nightly"):
        done = run(command, dialogues(6))
        assert done.returncode == 1 and "the secret is not the one" in done.stderr
    assert len(runs_in(tmp_path)) == 1
    assert run("sanitize", dialogues(6), "--force").returncode == 0
    assert len(runs_in(tmp_path)) == 2, "under another secret it is another run: ids of runs are keyed"
    (entry,) = (entry for path in runs_in(tmp_path) for entry in forced(path))
    assert "another secret" in entry["says"]
    assert run("nightly", dialogues(6)).returncode == 1, "no secret knows all that was taken here"


def test_a_night_after_a_plain_run_takes_what_is_new_and_a_plain_run_after_a_night_is_refused(run, tmp_path):
    assert run("sanitize", dialogues(4)).returncode == 0
    summary = json.loads(run("nightly", dialogues(7)).stdout.splitlines()[-1])
    assert (summary["status"], summary["new_dialogues"]) == ("committed", 3)
    done = run("sanitize", dialogues(7))
    assert done.returncode == 1 and "7 of the 7 dialogues" in done.stderr


def test_without_a_secret_file_an_output_goes_on_with_its_own(run, tmp_path):
    assert run("sanitize", dialogues(4), with_secret=False).returncode == 0
    assert "was finished before" in run("sanitize", dialogues(4), with_secret=False).stdout
    done = run("sanitize", dialogues(4), *OTHER_JOB, with_secret=False)
    assert done.returncode == 1 and "4 of the 4 dialogues" in done.stderr
    summary = json.loads(run("nightly", dialogues(5), with_secret=False).stdout.splitlines()[-1])
    assert summary["new_dialogues"] == 1


def test_records_without_ids_are_for_the_first_run_alone(run, tmp_path):
    nameless = [{"text": record["text"]} for record in dialogues(5, turns=1)]
    assert run("sanitize", nameless).returncode == 0
    more = [{"text": "a line on top"}, *nameless, *dialogues(2)]
    assert run("sanitize", more).returncode == 0
    (second,) = (path for path in runs_in(tmp_path) if rows(path, "failures"))
    counts = json.loads((second / "_COMMITTED.json").read_text())["counts"]
    assert counts["by_reason"] == {"no_id": 6} and counts["dialogues"] == 2


def test_a_night_takes_records_that_name_themselves_and_refuses_those_that_do_not(run, tmp_path):
    texts = [record["text"] for record in dialogues(6, turns=1)]
    records = [{"text": text, "id": f"own-{number}"} for number, text in enumerate(texts[:4])]
    summary = json.loads(run("nightly", [*records, *({"text": text} for text in texts[4:])]).stdout.splitlines()[-1])
    assert (summary["new_dialogues"], summary["failed"]) == (4, 2)
    summary = json.loads(run("nightly", [{"text": "on top", "id": "new"}, *records]).stdout.splitlines()[-1])
    assert (summary["new_dialogues"], summary["turns_taken_before"]) == (1, 4)


def test_counts_are_exact_beyond_any_sketch(run, tmp_path):
    assert run("sanitize", dialogues(1404, turns=1), "--set", "sinks={slu: 1}").returncode == 0
    (path,) = runs_in(tmp_path)
    assert json.loads((path / "_COMMITTED.json").read_text())["counts"]["dialogues"] == 1404
    assert "1,404" in (path / "report.html").read_text()


def test_nothing_of_a_finished_run_is_open_to_others_but_what_is_handed_on(run, tmp_path):
    assert run("nightly", [*dialogues(4), "broken"]).returncode == 0
    (path,) = runs_in(tmp_path)
    private = tmp_path / "out" / "private"
    modes = {entry: entry.stat().st_mode & 0o777 for entry in [private, *private.rglob("*")]}
    assert all(mode == (0o700 if entry.is_dir() else 0o600) for entry, mode in modes.items())
    assert not (private_of(path) / "work").exists() and rows(path, "failures")
    written = {entry.name for entry in path.iterdir()} - {"stt_lm", "slu", "dm"}
    assert written == {"ledger.json", "report.html", "README.md", "croissant.json", "config.yaml", "_COMMITTED.json"}


def test_a_run_that_was_moved_away_still_counts_as_released(run, tmp_path):
    assert run("sanitize", dialogues(4)).returncode == 0
    (path,) = runs_in(tmp_path)
    path.rename(tmp_path / "handed on")
    done = run("sanitize", dialogues(6), *OTHER_JOB)
    assert done.returncode == 1 and "4 of the 6 dialogues" in done.stderr
    summary = json.loads(run("nightly", dialogues(6)).stdout.splitlines()[-1])
    assert summary["new_dialogues"] == 2


def test_what_a_replaced_run_released_stays_taken_when_its_replacement_fails(run, tmp_path, monkeypatch):
    assert run("sanitize", dialogues(4)).returncode == 0
    (path,) = runs_in(tmp_path)
    records = everything(path)
    with monkeypatch.context() as patch:
        patch.setattr("sottovoce.pipelines.sanitize.run.build_graph", lambda *_: 1 / 0)
        assert run("sanitize", dialogues(4), "--force").returncode == 1
    assert not runs_in(tmp_path)
    done = run("sanitize", dialogues(6), *OTHER_JOB)
    assert done.returncode == 1 and "4 of the 6 dialogues" in done.stderr
    assert run("sanitize", dialogues(4)).returncode == 0 and everything(path) == records


def test_runs_whose_private_folder_is_lost_are_added_to_by_force_alone(run, tmp_path):
    assert run("sanitize", dialogues(4)).returncode == 0
    (first,) = runs_in(tmp_path)
    shutil.rmtree(tmp_path / "out" / "private")
    done = run("sanitize", dialogues(4), *OTHER_JOB)
    assert done.returncode == 1 and "not the private folder" in done.stderr
    assert run("sanitize", dialogues(4), *OTHER_JOB, "--force").returncode == 0
    (second,) = set(runs_in(tmp_path)) - {first}
    assert forced(second)
