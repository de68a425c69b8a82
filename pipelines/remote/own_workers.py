"""Worker processes of a local run are the only ones that are served: Beam's own servers answer everybody.

With `--workers N` Beam's local runner opens ports on all interfaces, without any authentication: whoever reaches one is
sent the steps of the run with all that is pickled in them, and any file of this machine that they ask for by its path
(the artifact service). Here they listen on loopback, worker ids cannot be guessed, and a call without the id of a
worker of this run finds no such method. A worker learns its id from its environment, which only its own user can read.
Beam also starts them with connectors to every cloud (2.2 s of processor time each, 0.8 without): here they load what their
driver loaded.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from apache_beam.runners.portability.fn_api_runner.worker_handlers import WorkerHandler
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from sottovoce.pipelines.local.quick_worker import worker_command

ID_BITS = 128
MAX_WORKERS = 1 << 32  # of one run; ids count up from a random number


@contextmanager
def only_own_workers() -> Iterator[None]:
    """While a pipeline runs in this process."""
    real, count = grpc.server, WorkerHandler._worker_id_counter
    first = WorkerHandler._worker_id_counter = secrets.randbits(ID_BITS)
    grpc.server = _guarded(real, first)
    start = SubprocessSDKEnvironment.from_command_string
    SubprocessSDKEnvironment.from_command_string = lambda command_string: start(worker_command(command_string))
    try:
        yield
    finally:
        grpc.server, WorkerHandler._worker_id_counter = real, count
        SubprocessSDKEnvironment.from_command_string = start


def _guarded(make: Callable[..., Any], first: int) -> Callable[..., Any]:
    def server(*arguments: Any, interceptors: Any = (), **options: Any) -> Any:
        made = make(*arguments, interceptors=(*interceptors, _OnlyWorkers(first)), **options)
        bind = made.add_insecure_port
        made.add_insecure_port = lambda address: bind(address.replace("[::]", "127.0.0.1"))
        return made

    return server


class _OnlyWorkers(grpc.ServerInterceptor):
    def __init__(self, first: int):
        self._first = first

    def intercept_service(self, continuation: Any, details: Any) -> Any:
        return continuation(details) if self._is_own(dict(details.invocation_metadata).get("worker_id", "")) else None

    def _is_own(self, worker_id: str) -> bool:
        number = worker_id.removeprefix("worker_")
        return number.isdecimal() and 0 < int(number) - self._first < MAX_WORKERS
