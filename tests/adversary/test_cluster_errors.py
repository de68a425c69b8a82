"""Attacker: may look at a Flink cluster, its REST API and its logs, after a job that broke with an error that quotes records.

Workers of a cluster log for themselves, and the JobManager shows what broke to whoever opens its page. `make test-flink`.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from adversary import QUICK, Operator, as_outsider, dialogues
from flink_cluster import Cluster
from whole_runs import in_its_own_process, write_manifest

pytestmark = [pytest.mark.flink, pytest.mark.slow, pytest.mark.timeout(900)]
PORT, POOL_PORT = 18091, 50110
RECORDS = dialogues(6, say=lambda dialogue, turn: f"tell petronella and alice {dialogue}")
BREAKS = """
import sottovoce.transforms.write.rows as rows
def pack(packed):
    raise ValueError([(row.columns, row.source) for row in packed])
rows.pack = pack
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    """A cluster on whose workers every write breaks."""
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(BREAKS)
    cluster = Cluster("adversary", PORT, POOL_PORT)
    cluster.down()
    with mock.patch.dict(os.environ, PYTHONPATH=str(site)):
        cluster.up()
    yield cluster
    cluster.down()


def ask(path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}") as answer:
        return answer.read()


def attack(logs: Path, seen_before: dict[str, int]) -> tuple[bool, int]:
    """Whether a word of a record stands in what the cluster shows of its newest job, or has logged; and how much there is."""
    newest = max(json.loads(ask("/jobs/overview"))["jobs"], key=lambda job: job["start-time"])["jid"]
    shown = [ask("/jobs/overview")]
    for page in ("", "/config", "/exceptions?maxExceptions=100", "/accumulators", "/plan"):
        try:
            shown.append(ask(f"/jobs/{newest}{page}"))
        except urllib.error.HTTPError as refused:
            shown.append(refused.read())
    shown += [path.read_bytes()[seen_before.get(path.name, 0) :] for path in logs.glob("*")]
    everything = b"\n".join(shown)
    return b"petronella" in everything, everything.count(b"RunError") + everything.count(b"ValueError")


def look_after_a_broken_job(cluster: Cluster, tmp_path: Path, **environment: str) -> tuple[bool, int]:
    operator = Operator(tmp_path)
    before = {path.name: path.stat().st_size for path in cluster.logs.glob("*")}
    manifest = write_manifest(operator.home / "corpus", RECORDS)
    paths = ("--input", manifest, "--output", operator.out("out"), "--secret-file", operator.secret_file)
    on_cluster = (f"--flink_master=127.0.0.1:{PORT}", f"--environment_config=127.0.0.1:{POOL_PORT}")
    done = in_its_own_process(
        *("sanitize", *paths, *QUICK, "--runner", "flink", "--", *on_cluster), env=environment, check=False
    )
    assert done.returncode == 1, done.stderr[-2000:]
    return as_outsider(attack, cluster.logs, before)


def test_a_job_that_debugs_shows_records_on_the_cluster(cluster, tmp_path):
    found, _ = look_after_a_broken_job(cluster, tmp_path, SOTTOVOCE_DEBUG="1")
    assert found


def test_our_jobs_show_type_and_place_of_an_error_on_the_cluster(cluster, tmp_path):
    found, errors = look_after_a_broken_job(cluster, tmp_path)
    assert errors and not found
