"""Starts a Python worker process whenever a Flink TaskManager asks for one (Beam's `EXTERNAL` environment).

    python -m sottovoce.pipelines.remote.worker_pool --port 50000

Runs beside each TaskManager, in an environment that holds the project. Beam's own `worker_pool_main` listens on all
interfaces and runs what it is sent as code; this one listens on loopback unless told otherwise and passes what it is
sent as plain arguments. With `--boot`, workers start through Beam's container boot program, which first installs the
packages that a job staged (`--setup_file`).
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc

HARNESS = """
import sys
from apache_beam.runners.worker.sdk_worker import SdkHarness
SdkHarness(sys.argv[1], worker_id=sys.argv[2], state_cache_size=100 << 20, data_buffer_time_limit_ms=-1).run()
"""
STOP_WITHIN_S = 10


class WorkerPool(beam_fn_api_pb2_grpc.BeamFnExternalWorkerPoolServicer):
    """One process per worker. What workers print goes to this process's stderr; the pool logs starts and stops.

    TaskManagers number their workers independently, so two that share a pool both ask for "1-1". A worker is therefore
    kept under its id and the connection that asked for it: stopping by id alone would kill the other one's worker.
    """

    def __init__(self, boot: str | None = None):
        self._boot = boot
        self._workers: dict[tuple[str, str], subprocess.Popen] = {}

    def StartWorker(self, request, context):
        """Answers at once: with an error in words where no process could be started, else with nothing."""
        for other in list(self._workers.values()):
            other.poll()  # a worker whose TaskManager was killed ends by itself; this reaps it
        try:
            worker = subprocess.Popen(self._command(request), stdin=subprocess.DEVNULL, stdout=sys.stderr)
        except OSError as error:
            return beam_fn_api_pb2.StartWorkerResponse(error=f"the worker did not start: {error.strerror}")
        self._workers[context.peer(), request.worker_id] = worker
        _log("started", request.worker_id, worker.pid)
        return beam_fn_api_pb2.StartWorkerResponse()

    def StopWorker(self, request, context):
        """Answers when the worker has ended; one that this caller did not start is left alone."""
        self._stop((context.peer(), request.worker_id))  # unknown here: it ends by itself with its control connection
        return beam_fn_api_pb2.StopWorkerResponse()

    def close(self) -> None:
        """Stop all workers, one after the other."""
        for key in list(self._workers):
            self._stop(key)

    def _command(self, request) -> list[str]:
        if self._boot is None:
            return [sys.executable, "-c", HARNESS, request.control_endpoint.url, request.worker_id]
        endpoints = ("logging", "artifact", "provision", "control")
        urls = [f"--{name}_endpoint={getattr(request, name + '_endpoint').url}" for name in endpoints]
        return [self._boot, f"--id={request.worker_id}", *urls]

    def _stop(self, key: tuple[str, str]) -> None:
        worker = self._workers.pop(key, None)
        if worker is None:
            return
        worker.terminate()
        try:
            worker.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        _log("stopped", key[1], worker.pid)


def _log(event: str, worker_id: str, pid: int) -> None:
    print(f"worker pool: {event} worker {worker_id} as process {pid}", file=sys.stderr, flush=True)


def main() -> None:
    """Serve until SIGTERM or SIGINT, then stop every worker that was started here."""
    parser = argparse.ArgumentParser(
        prog="python -m sottovoce.pipelines.remote.worker_pool", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--port", type=int, default=50000)
    parser.add_argument("--host", default="127.0.0.1", help="anything else lets the network start processes here")
    parser.add_argument("--boot", help="Beam's container boot program, for jobs that stage packages")
    args = parser.parse_args()
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    pool = WorkerPool(args.boot)
    pings_allowed = [("grpc.http2.max_pings_without_data", 0), ("grpc.http2.max_ping_strikes", 0)]
    server = grpc.server(ThreadPoolExecutor(), options=[("grpc.so_reuseport", 0), *pings_allowed])
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.add_insecure_port(f"{args.host}:{args.port}")
    server.start()
    print(f"worker pool: listening on {args.host}:{args.port}", file=sys.stderr, flush=True)
    done.wait()
    server.stop(grace=1).wait()
    pool.close()


if __name__ == "__main__":
    main()
