"""Start the service: one process, or several that share a socket. What they log is theirs and never a caller's."""

from __future__ import annotations

import functools
import logging
import os
import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from sottovoce.models.errors import RunError, told_by_place
from sottovoce.pipelines.service.service_settings import ServiceSettings

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
OURS = ("sottovoce", "uvicorn.error")


def serve(settings: ServiceSettings, port: int, workers: int, cert: str | None, key: str | None) -> None:
    """Listen and answer until asked to end; each of several workers is a process with models of its own."""
    listening = _listen(settings.host, port)
    folder = tempfile.mkdtemp(prefix="sottovoce-metrics-") if workers > 1 else None
    if folder:
        os.environ[METRICS_FOLDER] = folder  # counts only; the processes add up in it
    config = uvicorn.Config(
        functools.partial(_started, settings, _address(settings.host, port, cert)), factory=True, workers=workers,
        log_config=None, access_log=False, server_header=False, ssl_certfile=cert, ssl_keyfile=key,
        timeout_worker_healthcheck=120, timeout_graceful_shutdown=5, timeout_keep_alive=30,
    )  # fmt: skip
    quiet_logs()
    try:
        if workers > 1:
            Multiprocess(config, sockets=[listening]).run()
        else:
            server = uvicorn.Server(config)
            server.run([listening])
            if not server.started:
                raise RunError("the service did not start: see the lines above")
    except KeyboardInterrupt:
        pass  # asked to end, and did
    finally:
        listening.close()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _started(settings: ServiceSettings, address: str) -> Callable[..., Any]:
    """In each process. Memory holds what callers said: no core file may show it."""
    from sottovoce.pipelines.service.app import make_app

    quiet_logs()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.getLogger("sottovoce.service").info("process %d loads its models for %s", os.getpid(), address)
    return make_app(settings)


def _address(host: str, port: int, cert: str | None) -> str:
    return f"{'https' if cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise RunError(f"--host {host} --port {port}: {error.strerror}") from None
    listening.set_inheritable(True)
    return listening


class _Quiet(logging.Formatter):
    """Tells errors by type and place. Of libraries, whose words may quote a request, only who spoke is told."""

    def format(self, record: logging.LogRecord) -> str:
        told = record.getMessage() if record.name.startswith(OURS) else f"{record.name} said something"
        if record.exc_info and isinstance(record.exc_info[1], Exception):
            told += f": {told_by_place(record.exc_info[1])}"
        return f"{self.formatTime(record)} {record.levelname.lower()} {told}"


def quiet_logs() -> None:
    """One handler, to stderr, in place of all others: a line of the log never holds what a caller sent."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Quiet())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("sottovoce.service").setLevel(logging.INFO)
