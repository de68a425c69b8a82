"""Attacker: gets all that one output hands on, and looks for dialogues that are in two runs of it.

Two releases of one dialogue show its words under two draws, and may show its speech in one run and its text in the other;
they are joined by what no detector marks, here the number of the line that is spoken of.
"""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from adversary import Operator, Released, as_outsider, dialogues, weakened
from whole_runs import texts_of

pytestmark = pytest.mark.slow
CORPUS = dialogues(12)
ONE_JOB, ANOTHER = ("--set", "sinks={slu: 1}"), ("--set", "sinks={stt_lm: 1}")
NO_MEMORY = {
    "sottovoce.pipelines.sanitize.run:claim_output": lambda *_, **__: True,
    "sottovoce.pipelines.sanitize.run:state_tables": lambda *_: (),
    "sottovoce.pipelines.nightly.nights:claim_output": lambda *_, **__: True,
    "sottovoce.pipelines.nightly.nights:state_tables": lambda *_: (),
}


def attack(released: Released) -> int:
    """How many dialogues are in more than one run."""
    runs: Counter[str] = Counter()
    for run in released.runs:
        runs.update({number for line in texts_of(run) for number in re.findall(r"on line (\d+) ", line)})
    return sum(count > 1 for count in runs.values())


def two_jobs(operator: Operator) -> Released:
    operator.run(CORPUS, *ONE_JOB)
    operator.run(CORPUS, *ANOTHER, check=False)
    return operator.hand_over()


def two_secrets(operator: Operator) -> Released:
    operator.run(CORPUS)
    operator.secret_file.write_bytes(bytes(reversed(operator.secret)))
    operator.run(CORPUS, check=False)
    return operator.hand_over()


def a_run_and_a_night(operator: Operator) -> Released:
    (operator.home / "job.yaml").write_text(json.dumps({}))
    operator.run(CORPUS[:14], *ONE_JOB)
    operator.run(CORPUS, *ANOTHER, "--config", operator.home / "job.yaml", command="nightly", check=False)
    return operator.hand_over()


def a_night_and_a_run(operator: Operator) -> Released:
    (operator.home / "job.yaml").write_text(json.dumps({}))
    operator.run(CORPUS[:14], *ONE_JOB, "--config", operator.home / "job.yaml", command="nightly")
    operator.run(CORPUS, *ANOTHER, check=False)
    return operator.hand_over()


HISTORIES = [two_jobs, two_secrets, a_run_and_a_night, a_night_and_a_run]


@pytest.mark.parametrize("history", HISTORIES)
def test_an_output_without_memory_releases_dialogues_twice(tmp_path, history):
    with weakened("what an output remembers", NO_MEMORY):
        released = history(Operator(tmp_path))
    assert as_outsider(attack, released) >= 7


@pytest.mark.parametrize("history", HISTORIES)
def test_no_dialogue_is_in_two_runs_of_our_output(tmp_path, history):
    operator = Operator(tmp_path)
    released = history(operator)
    assert released.runs and as_outsider(attack, released) == 0
    last = operator.said[-1]
    assert last.returncode == 0 or "--output" in last.stderr, "who is refused is told the way on"
