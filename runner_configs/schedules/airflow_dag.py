"""Airflow: `sottovoce nightly` every night. Copy into the folder of DAGs; needs nothing but Airflow and the command.

The command runs on the worker of Airflow, in an environment of its own (SOTTOVOCE). Exit code 75, another night still at
work, and 1, failed with nothing committed, are tried again half an hour later; 2, wrong settings, is not.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from datetime import datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import dag, task

SOTTOVOCE = "/srv/sottovoce/.venv/bin/sottovoce"
COMMAND = f"{SOTTOVOCE} nightly --config /srv/sottovoce/job.yaml --workers 2"
WRONG_SETTINGS, BUSY = 2, 75


@dag(
    dag_id="sottovoce_nightly",
    schedule="15 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # a night takes all that is new: nights that were missed need no making up
    max_active_runs=1,
    tags=["sottovoce"],
)
def sottovoce_nightly() -> None:
    @task(retries=3, retry_delay=timedelta(minutes=30), max_active_tis_per_dag=1, execution_timeout=timedelta(hours=20))
    def sanitise_what_is_new(command: str = COMMAND) -> dict:
        """The summary of the night: counts only, so it may be kept in Airflow's database."""
        done = subprocess.run(shlex.split(command), stdout=subprocess.PIPE, text=True)
        if done.returncode == WRONG_SETTINGS:
            raise AirflowFailException("the settings are wrong; the log of the task says which")
        if done.returncode == BUSY:
            raise AirflowException("another night is still at work; trying again later")
        if done.returncode:
            raise AirflowException(f"the night failed with exit code {done.returncode}; nothing was committed")
        return json.loads(done.stdout.splitlines()[-1])

    sanitise_what_is_new()


sottovoce_nightly()
