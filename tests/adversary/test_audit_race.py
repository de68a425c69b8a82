"""Attacker: starts the training of a run at the very moment when it is attacked again, edited or scored, so that an audit that
no longer stands is believed. Won is every job that is submitted while no audit that opens the gate stands beside the run.

What happens in between is put there on purpose, at each step of the start, by a thread with a lock of its own: the kernel
keeps two openings of a file apart, whoever made them.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from adversary import weakened
from committed_run import commit, digest_of, held, held_audit, make_run
from whole_runs import private_of

from sottovoce.models.errors import RunError
from sottovoce.models.evaluation.audit.judge import audit_seal, reasons_not_held
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.audit.audit_run import AuditRequest, audit, no_start_meanwhile
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.run_folder import open_run
from sottovoce.pipelines.training import start_training as starting
from sottovoce.pipelines.training.marker import one_at_a_time
from sottovoce.pipelines.training.order import read_order

SECRET = Secret(b"s" * 32)
DECIDES = ("judge", "charge_of", "create_marker")  # what a start does between reading the audit and submitting
PAUSE_S = 0.5
NO_LOCK = {
    f"sottovoce.pipelines.{module}:one_at_a_time": lambda folder: contextlib.nullcontext()
    for module in ("audit.audit_run", "training.start_training")
}


class Race:
    """A run that held, and its starts; a job is noted, with whether an audit stood that opens the gate, and not run."""

    def __init__(self, folder: Path, monkeypatch):
        counts = {"read": 100, "failed": 0, "by_reason": {}, "rows": {"slu": 4}}
        self.run, self._patch, self.jobs = held(commit(make_run(folder / "out" / "run-1"), counts)), monkeypatch, []
        self.audit = private_of(self.run) / "audit.json"
        (folder / "train.yaml").write_text("mode: plain\nepochs: 1\n")
        (folder / "launch.yaml").write_text("launch: {use: local, poll_s: 0.05}\n")
        self._order = read_order(str(folder / "train.yaml"), str(folder / "launch.yaml"))
        monkeypatch.setattr(starting, "_submit", lambda folder, marker: self.jobs.append(self.stands()) or marker)

    def stands(self) -> bool:
        return self.audit.exists() and json.loads(self.audit.read_text()).get("held") is True

    def start(self, secret: Secret | None = None) -> None:
        with contextlib.suppress(RunError):
            starting.start_training(str(self.run), self._order, secret=secret)

    def attack_again(self) -> None:
        """A real audit. The run has no index, so that it is not measurable: it does not hold."""
        assert not audit(AuditRequest(str(self.run), read_job(None, [])), open_run(str(self.run)))["held"]

    def meanwhile(self, step: str, happens: Callable[[], None]) -> threading.Thread:
        """Begins when the start comes to this step, which goes on when it has ended or waits for a lock."""
        thread, own = threading.Thread(target=happens), getattr(starting, step)

        def at_this_step(*given, **named):
            if thread.ident is None:
                thread.start()
                thread.join(PAUSE_S)
            return own(*given, **named)

        self._patch.setattr(starting, step, at_this_step)
        return thread


def attack(race: Race, step: str) -> list[bool]:
    """The jobs of a start during which the run is attacked again: False for each that no audit stood behind."""
    thread = race.meanwhile(step, race.attack_again)
    race.start()
    found = list(race.jobs)
    thread.join()
    return found


@pytest.fixture
def race(tmp_path, monkeypatch) -> Race:
    return Race(tmp_path, monkeypatch)


@pytest.mark.parametrize("step", DECIDES)
def test_an_audit_that_begins_while_a_training_starts_waits_for_it(race, step):
    assert attack(race, step) == [True], "what the start believed stood until its job was submitted"
    assert not race.stands()


@pytest.mark.parametrize("step", DECIDES)
def test_without_the_lock_a_start_looks_twice(race, step):
    with weakened("the lock", NO_LOCK):
        assert attack(race, step) == []


@pytest.mark.parametrize("step", DECIDES)
def test_on_a_build_that_has_no_lock_and_looks_once_an_audit_is_believed_that_is_gone(race, step):
    believed, read = [], starting.read_audit

    def looks_once(*given):
        believed.extend(() if believed else [read(*given)])
        return believed[0]

    one_look = {"sottovoce.pipelines.training.start_training:read_audit": looks_once}
    with weakened("the lock, and the second look", NO_LOCK | one_look):
        assert attack(race, step) == [False]


def test_a_training_that_starts_while_the_run_is_attacked_finds_the_gate_closed(race, monkeypatch):
    from sottovoce.pipelines.audit import audit_run

    attacks = audit_run.attacked
    monkeypatch.setattr(audit_run, "attacked", lambda *given: (race.start(), attacks(*given))[1])
    race.attack_again()
    assert race.jobs == []


def test_an_audit_that_is_cut_off_opens_nothing(race, monkeypatch):
    from sottovoce.pipelines.audit import audit_run

    monkeypatch.setattr(audit_run, "attacked", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        race.attack_again()
    race.start()
    assert race.jobs == [] and not race.audit.exists()


def test_a_decision_that_a_crash_left_is_judged_by_the_audit_that_stands_now(race, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(starting, "_submit", lambda *_: (_ for _ in ()).throw(RunError("killed")))
        race.start()
    race.attack_again()
    race.start()
    assert race.jobs == [], "decided before the run was attacked again"
    believed = {"sottovoce.pipelines.training.start_training:_check_still_held": lambda *_: None}
    with weakened("looking again", believed):
        race.start()
    assert race.jobs == [False]
    held(race.run)
    race.start()
    assert race.jobs == [False, True]


def test_an_edit_while_a_training_starts_opens_nothing(race):
    """What is read is read once and whole: a verdict that is written over it afterwards is not what was judged; with the secret
    a forgery is none, whenever it comes; and half a file is damaged."""
    content = {"commit": digest_of(race.run)} | held_audit()
    content["results"][3] |= {"verdict": "fell", "risk": {"value": 0.8, "low": 0.7, "high": 0.9}}
    fell = content | {"held": False, "reasons": reasons_not_held(content["results"], "refuse")}
    race.audit.write_text(json.dumps(fell))
    race.meanwhile("judge", lambda: held(race.run))
    race.start()
    assert race.stands() and race.jobs == []
    race.audit.write_text(race.audit.read_text()[:-40])
    race.start()
    held(race.run)
    race.start(SECRET)
    assert race.jobs == []
    content = json.loads(race.audit.read_text())
    race.audit.write_text(json.dumps(content | {"seal": audit_seal(SECRET, content)}))
    race.start(SECRET)
    assert race.jobs == [True]


def test_scores_that_come_back_do_not_put_an_audit_back_that_was_taken_away(race):
    """They are read and written under the lock that an audit takes away what was there before with."""
    began = threading.Event()

    def scored() -> None:
        with no_start_meanwhile(open_run(str(race.run))):
            before = race.audit.read_text()
            began.set()
            threading.Event().wait(PAUSE_S)
            race.audit.write_text(before)

    thread = threading.Thread(target=scored)
    thread.start()
    began.wait()
    race.attack_again()
    thread.join()
    assert not race.stands()


def test_a_bucket_has_no_lock_and_a_folder_has(race):
    class Bucket:
        uri = "s3://bucket/run-1"

    with no_start_meanwhile(Bucket()):
        pass
    with one_at_a_time(open_run(str(race.run))):
        thread = threading.Thread(target=race.attack_again)
        thread.start()
        thread.join(PAUSE_S)
        assert race.stands()
    thread.join()
    assert not race.stands()
