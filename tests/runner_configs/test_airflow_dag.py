"""The DAG, parsed and run by a real Airflow. In an environment of its own: `make test-airflow`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

airflow = pytest.importorskip("airflow", reason="Airflow has an environment of its own: make test-airflow")
SCHEDULES = Path(__file__).parents[2] / "runner_configs" / "schedules"


@pytest.fixture(scope="module")
def dag():
    from airflow.models.dagbag import DagBag

    bag = DagBag(dag_folder=SCHEDULES / "airflow_dag.py", include_examples=False)
    assert not bag.import_errors
    assert list(bag.dags) == ["sottovoce_nightly"]
    return bag.dags["sottovoce_nightly"]


def ends_with(code: int, printed: str = "") -> str:
    return shlex.join([sys.executable, "-c", f"print({printed!r}); raise SystemExit({code})"])


def test_airflow_parses_it_and_runs_one_night_at_a_time(dag):
    assert (dag.max_active_runs, dag.catchup) == (1, False)
    (task,) = dag.tasks
    assert task.retries == 3 and task.max_active_tis_per_dag == 1
    assert dag.timetable.summary == "15 2 * * *"


def test_the_summary_of_the_night_is_what_the_task_returns(dag):
    run = dag.tasks[0].python_callable
    assert run(ends_with(0, '{"status": "committed"}')) == {"status": "committed"}


@pytest.mark.parametrize("code", [1, 75])
def test_a_busy_or_failed_night_is_tried_again(dag, code):
    from airflow.exceptions import AirflowException, AirflowFailException

    with pytest.raises(AirflowException) as raised:
        dag.tasks[0].python_callable(ends_with(code))
    assert not isinstance(raised.value, AirflowFailException)


def test_wrong_settings_are_not_tried_again(dag):
    from airflow.exceptions import AirflowFailException

    with pytest.raises(AirflowFailException):
        dag.tasks[0].python_callable(ends_with(2))
