"""Attacker: reaches the host of a run that has worker processes (`--workers 2`), over the network or as another user of it.

Beam's local runner serves its workers over gRPC without authentication. The attacker finds the open ports, asks the
artifact service for files of the operator, and asks for work as if it were a worker.
"""

from __future__ import annotations

import contextlib
import ipaddress
import threading
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import psutil
import pytest
from adversary import Operator, as_outsider, dialogues, weakened
from apache_beam.portability import common_urns
from apache_beam.portability.api import (
    beam_artifact_api_pb2,
    beam_artifact_api_pb2_grpc,
    beam_fn_api_pb2,
    beam_fn_api_pb2_grpc,
    beam_runner_api_pb2,
)

pytestmark = pytest.mark.slow
PATIENCE_S = 20  # for an answer, on a busy machine; a refusal comes at once
WORKERS_GUESSED = 64


@dataclass
class Learnt:
    ports: set[int] = field(default_factory=set)
    reached_from_elsewhere: set[str] = field(default_factory=set)
    files: set[bytes] = field(default_factory=set)
    steps: set[str] = field(default_factory=set)


def attack(address: str, path: Path, learnt: Learnt) -> None:
    with grpc.insecure_channel(address) as channel:
        with contextlib.suppress(grpc.RpcError):
            learnt.files.add(_file(channel, path))
        for number in range(WORKERS_GUESSED):  # bundles are numbered, and so are workers
            with contextlib.suppress(grpc.RpcError):
                learnt.steps.update(_steps(channel, str(number), f"worker_{number}"))


def _file(channel: grpc.Channel, path: Path) -> bytes:
    payload = beam_runner_api_pb2.ArtifactFilePayload(path=str(path))
    wanted = beam_runner_api_pb2.ArtifactInformation(
        type_urn=common_urns.artifact_types.FILE.urn, type_payload=payload.SerializeToString()
    )
    service = beam_artifact_api_pb2_grpc.ArtifactRetrievalServiceStub(channel)
    request = beam_artifact_api_pb2.GetArtifactRequest(artifact=wanted)
    return b"".join(part.data for part in service.GetArtifact(request, timeout=PATIENCE_S))


def _steps(channel: grpc.Channel, bundle: str, worker: str) -> list[str]:
    """Names of the steps of a bundle: their pickled functions come with them."""
    service = beam_fn_api_pb2_grpc.BeamFnControlStub(channel)
    request = beam_fn_api_pb2.GetProcessBundleDescriptorRequest(process_bundle_descriptor_id=bundle)
    known = service.GetProcessBundleDescriptor(request, timeout=PATIENCE_S, metadata=[("worker_id", worker)])
    return [step.unique_name for step in known.transforms.values()]


def attacked_run(operator: Operator) -> Learnt:
    """A run, attacked from another thread; that it is in this process gives the attacker only a quicker port scan."""
    learnt, over = Learnt(), threading.Event()

    def keep_trying() -> None:
        while not over.wait(0.05):
            for connection in psutil.Process().net_connections(kind="tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    _try(connection.laddr)

    def _try(listening) -> None:
        learnt.ports.add(listening.port)
        host = ipaddress.ip_address(listening.ip)
        if not (getattr(host, "ipv4_mapped", None) or host).is_loopback:
            learnt.reached_from_elsewhere.add(listening.ip)
        as_outsider(attack, f"127.0.0.1:{listening.port}", operator.secret_file, learnt)

    attacker = threading.Thread(target=keep_trying)
    attacker.start()
    try:
        operator.run(dialogues(12), "--workers", "2")
    finally:
        over.set()
        attacker.join()
    return learnt


def test_beams_own_servers_hand_out_files_and_steps_to_everybody(tmp_path):
    operator = Operator(tmp_path)
    with weakened("our guard", {"sottovoce.pipelines.sanitize.run:only_own_workers": contextlib.nullcontext}):
        learnt = attacked_run(operator)
    assert operator.secret in learnt.files and learnt.reached_from_elsewhere
    assert any("Detect" in step for step in learnt.steps), learnt.steps


def test_our_workers_alone_are_served_and_nobody_from_elsewhere(tmp_path):
    learnt = attacked_run(Operator(tmp_path))
    assert learnt.ports, "the run had worker processes"
    assert not learnt.reached_from_elsewhere and not learnt.files and not learnt.steps


def test_whatever_starts_workers_here_serves_them_alone():
    pipelines = Path(__file__).parents[2] / "pipelines"
    starts = {path.name for path in pipelines.rglob("*.py") if "beam.Pipeline(" in path.read_text()}
    guards = {path.name for path in pipelines.rglob("*.py") if "with only_own_workers(" in path.read_text()}
    assert starts - guards <= {"run.py", "detached.py"}  # among others around a run; submits and leaves
