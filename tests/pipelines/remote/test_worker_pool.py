"""The worker pool: who asked for a worker, and who can ask."""

import subprocess
import sys

import psutil
import pytest
from apache_beam.portability.api import beam_fn_api_pb2

from sottovoce.pipelines.remote.worker_pool import WorkerPool


class Asking:
    """The connection of one TaskManager."""

    def __init__(self, peer: str):
        self._peer = peer

    def peer(self) -> str:
        return self._peer


@pytest.fixture
def pool(tmp_path):
    boot = tmp_path / "boot"
    boot.write_text('#!/bin/sh\necho "$@" >> ' + str(tmp_path / "asked") + "\nexec sleep 600\n")
    boot.chmod(0o755)
    pool = WorkerPool(str(boot))
    yield pool
    pool.close()


def start(pool: WorkerPool, peer: str) -> psutil.Process:
    before = set(psutil.Process().children())
    request = beam_fn_api_pb2.StartWorkerRequest(worker_id="1-1")
    assert not pool.StartWorker(request, Asking(peer)).error
    (worker,) = set(psutil.Process().children()) - before
    return worker


def test_taskmanagers_that_number_their_workers_alike_keep_their_own(pool):
    first, second = start(pool, "ipv4:127.0.0.1:1"), start(pool, "ipv4:127.0.0.1:2")
    pool.StopWorker(beam_fn_api_pb2.StopWorkerRequest(worker_id="1-1"), Asking("ipv4:127.0.0.1:1"))
    assert not first.is_running() and second.is_running()


def test_an_unknown_worker_is_nothing_to_stop(pool):
    worker = start(pool, "ipv4:127.0.0.1:1")
    pool.StopWorker(beam_fn_api_pb2.StopWorkerRequest(worker_id="2-1"), Asking("ipv4:127.0.0.1:1"))
    assert worker.is_running()


def test_closing_the_pool_ends_its_workers(pool):
    worker = start(pool, "ipv4:127.0.0.1:1")
    pool.close()
    assert not worker.is_running()


def test_a_worker_that_cannot_start_is_answered_with_an_error(tmp_path):
    answer = WorkerPool(str(tmp_path / "absent")).StartWorker(beam_fn_api_pb2.StartWorkerRequest(), Asking("a"))
    assert "did not start" in answer.error


@pytest.mark.slow
def test_it_listens_on_loopback_only_and_ends_when_told(tmp_path):
    command = [sys.executable, "-m", "sottovoce.pipelines.remote.worker_pool", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as pool:
        try:
            assert "listening on 127.0.0.1" in pool.stderr.readline()
            listening = [c for c in psutil.Process(pool.pid).net_connections() if c.status == psutil.CONN_LISTEN]
            # gRPC may bind the IPv4 address through an IPv6 socket
            assert listening and {c.laddr.ip.removeprefix("::ffff:") for c in listening} == {"127.0.0.1"}
            pool.terminate()
            assert pool.wait(60) == 0
        finally:
            pool.kill()
