"""Attacker: sees all that leaves the process which was given the secret: the pipeline as it is submitted, options, staged
files, arguments and environments of processes, scripts and manifests of training jobs. Unpacks whatever is packed.

Workers must have the secret, so it is told to them where it is kept; the way there must not hold it.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apache_beam as beam
import grpc
import psutil
import pytest
from adversary import QUICK, dialogues, weakened
from apache_beam.portability.api import beam_job_api_pb2_grpc
from dataflow_stand_in import DataflowStandIn
from storage_stand_in import StorageStandIn
from whole_runs import sottovoce, write_manifest, write_secret

from sottovoce.models.launch import TrainingJob
from sottovoce.models.launch.kubernetes import Kubernetes
from sottovoce.models.launch.kubernetes_job import manifest
from sottovoce.models.launch.local import Local
from sottovoce.models.launch.slurm import Slurm
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.remote import flex_template
from sottovoce.pipelines.sanitize.graph import build_graph
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.run import RunRequest, prepare
from sottovoce.pipelines.sanitize.secret_file import read_secret

BY_VALUE = {"sottovoce.models.randomness:Secret.__reduce__": lambda self: (Secret, (self.value,))}
SETTINGS = [value for flag, value in itertools.pairwise(QUICK) if flag == "--set"]
PACKED = re.compile(rb"[A-Za-z0-9+/_-]{40,}={0,2}")


def layers(content: bytes, depth: int = 4) -> Iterator[bytes]:
    """The bytes, and all that is packed in them: base64, bz2, zlib and JSON's escapes, one in the other."""
    yield content
    if not depth:
        return
    for unpack in (bz2.decompress, zlib.decompress, lambda value: zlib.decompress(value, 31)):
        with contextlib.suppress(OSError, ValueError, EOFError, zlib.error):
            yield from layers(unpack(content), depth - 1)
    for found in set(PACKED.findall(content)):
        for decode in (base64.b64decode, base64.urlsafe_b64decode):
            try:
                inner = decode(found + b"=" * (-len(found) % 4))
            except binascii.Error:
                continue
            if inner[:3] in (b"BZh", b"\x1f\x8b\x08") or inner[:1] in (b"\x78", b"\x80"):
                yield from layers(inner, depth - 1)


def attack(contents: Iterable[bytes], secret: bytes) -> bool:
    """Whether the secret is in there in any of the ways to write bytes down. (The attacker would try what looks random.)"""
    forms = {secret, secret.hex().encode(), base64.b64encode(secret).rstrip(b"="), repr(secret)[2:-1].encode()}
    forms |= {secret.hex().upper().encode(), base64.urlsafe_b64encode(secret).rstrip(b"=")}
    return any(form in layer for content in contents for layer in layers(content) for form in forms)


@pytest.fixture
def secret(tmp_path) -> Path:
    return write_secret(tmp_path / "secret")


# The pipeline


def proto(tmp_path, secret: Path) -> list[bytes]:
    corpus = write_manifest(tmp_path / "in", dialogues(4))
    run = prepare(RunRequest(read_job(None, SETTINGS), str(corpus), str(tmp_path / "out"), read_secret(str(secret))))
    pipeline = beam.Pipeline(options=run.options)
    build_graph(pipeline, run.job, run.corpus)
    return [
        pipeline.to_runner_api().SerializeToString(),
        json.dumps(run.options.get_all_options(), default=str).encode(),
    ]


def test_a_secret_that_is_pickled_by_value_is_in_the_pipeline(tmp_path, secret):
    with weakened("the secret as a reference", BY_VALUE):
        assert attack(proto(tmp_path, secret), secret.read_bytes())


def test_beams_pipeline_holds_where_the_secret_is_and_not_the_secret(tmp_path, secret):
    submitted = proto(tmp_path, secret)
    assert not attack(submitted, secret.read_bytes())
    assert any(str(secret).encode() in layer for content in submitted for layer in layers(content))


# What Flink's job server is sent, and shows in its REST API


class JobServer(beam_job_api_pb2_grpc.JobServiceServicer):
    """Takes what a client prepares, and turns it away."""

    def __init__(self) -> None:
        self.prepared: list[bytes] = []

    def DescribePipelineOptions(self, request, context):
        from apache_beam.portability.api import beam_job_api_pb2

        return beam_job_api_pb2.DescribePipelineOptionsResponse()

    def Prepare(self, request, context):
        self.prepared.append(request.SerializeToString())
        context.abort(grpc.StatusCode.UNAVAILABLE, "only looking")


def sent_to_flink(tmp_path, secret: Path) -> list[bytes]:
    server, service = grpc.server(ThreadPoolExecutor(2)), JobServer()
    beam_job_api_pb2_grpc.add_JobServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    corpus = write_manifest(tmp_path / "in", dialogues(4))
    flags = ("--input", corpus, "--output", tmp_path / "out", "--secret-file", secret, *QUICK, "--runner", "flink")
    try:
        sottovoce("sanitize", *flags, "--", f"--job_endpoint=localhost:{port}", "--setup_file=", check=False)
    finally:
        server.stop(None)
    assert service.prepared
    return service.prepared


@pytest.mark.slow
def test_by_value_flinks_job_server_would_get_the_secret(tmp_path, secret):
    with weakened("the secret as a reference", BY_VALUE):
        assert attack(sent_to_flink(tmp_path, secret), secret.read_bytes())


@pytest.mark.slow
def test_flinks_job_server_gets_no_secret(tmp_path, secret):
    assert not attack(sent_to_flink(tmp_path, secret), secret.read_bytes())


# What Dataflow is sent, and what is staged for its workers


def sent_to_dataflow(monkeypatch, value: bytes) -> list[bytes]:
    with StorageStandIn() as storage, DataflowStandIn(storage) as service:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", storage.url)
        monkeypatch.setattr("apache_beam.internal.gcp.auth.get_service_credentials", lambda options: None)
        lines = "".join(json.dumps(record) + "\n" for record in dialogues(4))
        storage.objects["bucket", "corpus/manifest.jsonl"] = lines.encode()
        storage.objects["vault", "secret"] = value
        flags = ["--input=gs://bucket/corpus", "--output=gs://bucket/out", "--secret_file=gs://vault/secret"]
        flags += [f"--set={';'.join(SETTINGS)}", "--project=p", "--temp_location=gs://bucket/temp", "--no_auth"]
        flags += ["--setup_file=", f"--dataflow_endpoint={service.url}", "--sdk_container_image=image:1"]
        assert flex_template.main(flags) == 0
        staged = [content for (bucket, _), content in storage.objects.items() if bucket != "vault"]
        return [*staged, json.dumps(service.jobs).encode()]


@pytest.mark.slow
def test_by_value_dataflows_staging_bucket_would_hold_the_secret(monkeypatch, secret):
    with weakened("the secret as a reference", BY_VALUE):
        assert attack(sent_to_dataflow(monkeypatch, secret.read_bytes()), secret.read_bytes())


@pytest.mark.slow
def test_neither_the_dataflow_job_nor_its_staging_bucket_hold_the_secret(monkeypatch, secret):
    assert not attack(sent_to_dataflow(monkeypatch, secret.read_bytes()), secret.read_bytes())


# Processes of a run, as the process list and /proc show them


def shown_by_processes(tmp_path, given: str, environment: dict[str, str]) -> list[bytes]:
    corpus = write_manifest(tmp_path / "in", dialogues(40))
    flags = ["--input", corpus, "--output", tmp_path / "out", "--secret-file", given, "--workers", 2, *QUICK]
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", "sanitize", *map(str, flags)]
    with open(tmp_path / "said", "wb") as said:
        run = subprocess.Popen(command, stdout=said, stderr=said, env=os.environ | environment)
    seen: dict[int, bytes] = {}
    while run.poll() is None:
        for process in (psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)):
            try:
                shown = "\0".join(process.cmdline()) + "\0" + "\0".join(process.environ().values())
                seen[process.pid] = shown.encode("utf-8", "surrogateescape")
            except psutil.Error:
                pass
        time.sleep(0.05)
    assert run.returncode == 0, (tmp_path / "said").read_text()
    assert len(seen) >= 3, "the run and its workers"
    return [*seen.values(), (tmp_path / "said").read_bytes()]


@pytest.mark.slow
def test_a_secret_in_a_variable_is_where_the_operator_put_it(tmp_path, secret):
    """No weakened build: it was asked for by name, and shows that the attack sees environments."""
    value = base64.b64encode(secret.read_bytes())
    shown = shown_by_processes(tmp_path, "env:SOTTOVOCE_KEY", {"SOTTOVOCE_KEY": value.decode()})
    assert attack(shown, value)


@pytest.mark.slow
def test_no_process_of_a_run_shows_a_secret_that_is_in_a_file(tmp_path, secret):
    assert not attack(shown_by_processes(tmp_path, str(secret), {}), secret.read_bytes())


# Training jobs


def given_to_training_jobs(tmp_path, monkeypatch) -> list[bytes]:
    """Of the launchers that run here: the environment of a real process, the call of sbatch, the manifest."""
    note = tmp_path / "note"
    code = f"import os; open({str(note)!r}, 'w').write(repr(dict(os.environ)))"
    launcher = Local(poll_s=0.05)
    list(launcher.watch(launcher.submit(TrainingJob("key", ("-c", code), str(tmp_path / "job")))))
    calls: list[bytes] = []

    def sbatch(words, *, env, input=None, **_):
        calls.append("\0".join([*words, input or "", *env.values()]).encode("utf-8", "surrogateescape"))
        return subprocess.CompletedProcess(words, 0, "1\n" if "sbatch" in words[0] else "", "")

    job = TrainingJob("key", ("-m", "sottovoce.pipelines.cli", "train"), str(tmp_path / "slurm"))
    with monkeypatch.context() as patch:
        patch.setattr("sottovoce.models.launch.slurm.subprocess.run", sbatch)
        Slurm().submit(job)
    kubernetes = manifest(Kubernetes(image="image:1", volume_claim="runs", mount_path="/runs"), job)
    return [note.read_bytes(), *calls, json.dumps(kubernetes).encode()]


@pytest.mark.slow
def test_jobs_that_inherit_everything_get_the_secret_of_the_run(tmp_path, monkeypatch, secret):
    value = base64.b64encode(secret.read_bytes())
    monkeypatch.setenv("SOTTOVOCE_KEY", value.decode())
    inherited = {
        f"sottovoce.models.launch.{name}:clean_environment": lambda: dict(os.environ) for name in ("local", "slurm")
    }
    with weakened("the clean environment of jobs", inherited):
        assert attack(given_to_training_jobs(tmp_path, monkeypatch), value)


@pytest.mark.slow
def test_training_jobs_get_nothing_of_the_secret_of_the_run(tmp_path, monkeypatch, secret):
    value = base64.b64encode(secret.read_bytes())
    monkeypatch.setenv("SOTTOVOCE_KEY", value.decode())
    assert not attack(given_to_training_jobs(tmp_path, monkeypatch), value)
