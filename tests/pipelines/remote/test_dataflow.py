"""Submission verified offline: the real DataflowRunner, answered by storage and a job service on loopback."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest
from dataflow_stand_in import DataflowStandIn
from storage_stand_in import StorageStandIn
from whole_runs import ROOT, demo_records, write_secret

from sottovoce.models.errors import RunError
from sottovoce.models.randomness import fresh_secret
from sottovoce.models.settings import Spec
from sottovoce.pipelines import cli
from sottovoce.pipelines.remote import flex_template
from sottovoce.pipelines.remote.detached import finish, submit
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.one_writer import WriterLock
from sottovoce.pipelines.sanitize.run import RunRequest, prepare
from sottovoce.pipelines.sanitize.run_folder import RunFolder

pytestmark = pytest.mark.slow
IMAGE = "registry.example/sottovoce-worker:0.1.0"
BEAM = ("--project=p", "--temp_location=gs://bucket/temp", "--no_auth", f"--sdk_container_image={IMAGE}")
IMAGE_HOLDS_ALL = "--setup_file="
TEXT_SINKS = "sinks={slu: 1, dm: 1}"
SECRET = hashlib.sha256(b"the secret of this test").digest()


@pytest.fixture
def storage(monkeypatch):
    """A bucket with a small corpus, its recordings beside it, and a secret."""
    with StorageStandIn() as stand_in:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", stand_in.url)
        monkeypatch.setattr("apache_beam.internal.gcp.auth.get_service_credentials", lambda options: None)
        records = demo_records(24)
        for record in records:
            content = Path(record["audio_filepath"]).read_bytes()
            record["audio_filepath"] = record["audio_filepath"].rpartition("/")[2]
            stand_in.objects["bucket", f"corpus/{record['audio_filepath']}"] = content
        manifest = "".join(json.dumps(record) + "\n" for record in records)
        stand_in.objects["bucket", "corpus/manifest.jsonl"] = manifest.encode()
        stand_in.objects["bucket", "secret"] = SECRET
        yield stand_in


@pytest.fixture
def service(storage):
    with DataflowStandIn(storage) as stand_in:
        yield stand_in


def launch(service, *extra: str) -> dict:
    flags = ("--input=gs://bucket/corpus", "--output=gs://bucket/out", "--secret_file=gs://bucket/secret")
    assert flex_template.main([*flags, *BEAM, f"--dataflow_endpoint={service.url}", *extra]) == 0
    return service.jobs[-1]


def run_uri(storage) -> str:
    (name,) = {key[1].split("/")[1] for key in storage.objects if key[1].startswith("out/run-")}
    return f"gs://bucket/out/{name}"


def stages_with_gpu(graph) -> set[str]:
    """The steps of the graph whose environment asks for an accelerator."""
    asking = {
        name
        for name, environment in graph.components.environments.items()
        if environment.resource_hints.get("beam:resources:accelerator:v1", b"").startswith(b"type:nvidia-tesla-t4")
    }
    steps = graph.components.transforms.values()
    return {step.unique_name for step in steps if step.environment_id in asking and not step.subtransforms}


def test_the_job_names_image_package_graph_and_options(storage, service):
    job = launch(service, IMAGE_HOLDS_ALL, "--set=" + TEXT_SINKS, "--job_name=nightly-1", "--max_num_workers=7")
    environment = job["environment"]
    pool = environment["workerPools"][0]
    options = environment["sdkPipelineOptions"]["options"]
    assert job["name"] == "nightly-1" and job["type"] in (1, "JOB_TYPE_BATCH")
    assert pool["workerHarnessContainerImage"] == IMAGE
    assert pool["autoscalingSettings"]["maxNumWorkers"] == 7
    assert options["region"] == "europe-west4" and options["number_of_worker_harness_threads"] == 2
    steps = {step.unique_name for step in service.staged_graph(job).components.transforms.values()}
    for step in ("Read/Scan", "Detect/Run", "Route/ParDo(_Route)", "dm/Rows", "Write slu/Shuffle", "WriteTally"):
        assert any(name.startswith(step) for name in steps), step


def test_the_staged_package_holds_the_project_and_its_data(storage, service):
    job = launch(service, "--set=" + TEXT_SINKS)
    packages = {package["name"]: package for package in job["environment"]["workerPools"][0]["packages"]}
    location = packages["workflow.tar.gz"]["location"].removeprefix("storage.googleapis.com/")
    content = storage.objects[tuple(location.split("/", 1))]
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        names = {name.partition("/")[2] for name in package.getnames()}
    files = {
        str(path.relative_to(ROOT))
        for folder in ("models", "transforms", "pipelines")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert not files - names
    assert {
        "setup.py",
        "runner_configs/direct.yaml",
        "runner_configs/flink.yaml",
        "runner_configs/dataflow.yaml",
    } <= names


def test_only_a_stage_told_to_use_a_gpu_asks_for_one(storage, service):
    assert not stages_with_gpu(service.staged_graph(launch(service, IMAGE_HOLDS_ALL)))
    detector = "detect={use: hf, model: some-model, device: cuda}"
    other = "--output=gs://bucket/other"  # the first job is still at work in its output
    asking = stages_with_gpu(service.staged_graph(launch(service, IMAGE_HOLDS_ALL, "--set=" + detector, other)))
    # The step after it asks as well, or the two could not be fused and every text would cross between machines.
    assert asking and {name.split("/")[0] for name in asking} == {"Detect", "LabelledSlots"}


def test_speech_stages_ask_for_a_gpu_together_so_that_speech_crosses_no_shuffle(storage, service):
    beam = (*BEAM, IMAGE_HOLDS_ALL, f"--dataflow_endpoint={service.url}")
    order = RunRequest(read_job(None), "gs://bucket/corpus", "gs://bucket/out", fresh_secret(), "dataflow", 1, beam)
    on_gpu = Spec("voice", "mcadams", (("device", "cuda"),))  # no voice has that option yet; the graph does not mind
    run = prepare(order)
    submit(dataclasses.replace(run, job=dataclasses.replace(run.job, voice=on_gpu)), WriterLock("submit"))
    asking = stages_with_gpu(service.staged_graph(service.jobs[-1]))
    stages = {re.sub(r"^stt_am/([A-Za-z]+).*", r"\1", name) for name in asking}
    assert {
        "InSmallParts",
        "LoadSpeech",
        "AlignWords",
        "AnonymiseVoice",
        "MaskWords",
        "SliceSpeech",
        "SetSlicesAside",
    } <= stages
    assert all(name.startswith("stt_am/") for name in asking)


def test_a_submitted_run_is_committed_by_finish_and_not_before(storage, service, capsys):
    job = launch(service, IMAGE_HOLDS_ALL, "--set=" + TEXT_SINKS)
    uri = run_uri(storage)
    assert cli.main(["finish", "--run", uri]) == 1
    assert "is not complete" in capsys.readouterr().err
    assert not any(name.endswith("_COMMITTED.json") for _, name in storage.objects)
    service.work_off(job)
    assert cli.main(["finish", "--run", uri]) == 0
    committed = json.loads(storage.objects["bucket", uri[len("gs://bucket/") :] + "/_COMMITTED.json"])
    assert committed["counts"]["read"] == 24 and committed["counts"]["failed"] == 0
    assert sum(committed["counts"]["rows"].values()) > 0
    assert not [name for _, name in storage.objects if "/work/" in name or name.endswith("/lock")]
    assert cli.main(["finish", "--run", uri]) == 0
    assert "was finished before" in capsys.readouterr().out


def test_canaries_go_along_with_a_submitted_run_and_are_known_again_when_it_is_finished(storage, service, capsys):
    speech = "sinks={stt_am: 1, slu: 1};voice=mcadams;relisten=none;audit.canaries=5"
    service.work_off(launch(service, IMAGE_HOLDS_ALL, "--set=" + speech, "--audit=true"))
    uri = run_uri(storage)
    assert cli.main(["finish", "--run", uri]) == 2
    assert "--secret-file: needed" in capsys.readouterr().err
    assert cli.main(["finish", "--run", uri, "--secret-file", "gs://bucket/secret"]) == 0
    (found,) = [content for (_, name), content in storage.objects.items() if name.endswith("/canaries.json")]
    found = json.loads(found)
    assert found["planted"] == {"stt_am": 2, "text sinks": 3} and len({row[2] for row in found["words"]}) >= 4
    assert len(found["sound"]) == 2 and all(heard for *_, heard in found["sound"])
    committed = json.loads(storage.objects["bucket", uri[len("gs://bucket/") :] + "/_COMMITTED.json"])
    assert committed["counts"]["read"] == 24
    assert not [name for _, name in storage.objects if "/work/" in name]


def test_a_run_that_is_at_work_is_not_submitted_again(storage, service, capsys):
    launch(service, IMAGE_HOLDS_ALL, "--set=" + TEXT_SINKS)
    flags = ("--input=gs://bucket/corpus", "--output=gs://bucket/out", "--secret_file=gs://bucket/secret")
    assert flex_template.main([*flags, *BEAM, f"--dataflow_endpoint={service.url}", "--set=" + TEXT_SINKS]) == 1
    assert "was submitted and has not finished" in capsys.readouterr().err and len(service.jobs) == 1


def test_a_nightly_launch_commits_the_night_before_and_takes_what_is_new(storage, service, capsys):
    night = (IMAGE_HOLDS_ALL, "--set=" + TEXT_SINKS + ";audit.canaries=4", "--nightly=true")
    manifest = storage.objects["bucket", "corpus/manifest.jsonl"]
    lines = manifest.splitlines(keepends=True)
    dialogues = [json.loads(line)["dialogue_id"] for line in lines]
    early = [line for line, dialogue in zip(lines, dialogues, strict=True) if dialogue in dialogues[:12]]
    storage.objects["bucket", "corpus/manifest.jsonl"] = b"".join(early)
    job = launch(service, *night)
    storage.objects["bucket", "corpus/manifest.jsonl"] = manifest
    flags = ("--input=gs://bucket/corpus", "--output=gs://bucket/out", "--secret_file=gs://bucket/secret")
    beam = (*BEAM, f"--dataflow_endpoint={service.url}")
    assert flex_template.main([*flags, *beam, *night]) == 1, "the first job is still at work"
    assert "is not complete" in capsys.readouterr().err and len(service.jobs) == 1
    service.work_off(job)
    service.work_off(launch(service, *night))
    assert flex_template.main([*flags, *beam, *night]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["status"] == "nothing_new" and len(service.jobs) == 2
    (found,) = told["audits"].values()  # the night that was found ended was attacked; so few people are not measurable
    assert found["status"] == "did_not_hold" and any("not measurable" in reason for reason in found["reasons"])
    assert len([name for _, name in storage.objects if name.endswith("/canaries.json")]) == 2
    ledger = json.loads(storage.objects["bucket", "out/private/cumulative_ledger.json"])
    assert (ledger["nights"], ledger["dialogues_taken"]) == (2, len(set(dialogues)))


def test_a_job_that_fails_on_dataflow_commits_nothing(storage, service, tmp_path, capsys):
    service.state = "JOB_STATE_CANCELLED"
    write_secret(tmp_path / "secret")
    flags = ["--input", "gs://bucket/corpus", "--output", "gs://bucket/out", "--secret-file", str(tmp_path / "secret")]
    beam = ["--", *BEAM, IMAGE_HOLDS_ALL, f"--dataflow_endpoint={service.url}"]
    assert cli.main(["sanitize", *flags, "--set", TEXT_SINKS, "--runner", "dataflow", *beam]) == 1
    assert "nothing was committed" in capsys.readouterr().err
    assert not any(name.endswith("_COMMITTED.json") for _, name in storage.objects)


def test_the_template_asks_for_what_the_launcher_takes():
    metadata = json.loads((ROOT / "runner_configs" / "dataflow" / "metadata.json").read_text())
    parameters = {parameter["name"]: parameter for parameter in metadata["parameters"]}
    required = {name for name, parameter in parameters.items() if not parameter.get("isOptional")}
    assert required == {"input", "output", "secret_file"}
    optional = {"config", "set", "nightly", "audit", "gpu_accelerator", "gpu_min_ram", "sdk_container_image"}
    assert optional == set(parameters) - required
    for parameter in (parameter for name, parameter in parameters.items() if name not in ("nightly", "audit")):
        for pattern in parameter.get("regexes", ()):
            assert re.match(pattern, "gs://bucket/thing") and not re.match(pattern, "/local/thing")


def test_a_finish_without_a_submitted_run_says_so(tmp_path):
    with pytest.raises(RunError, match="no submitted run"):
        finish(RunFolder(str(tmp_path), "run-1"), WriterLock("finish"), fresh_secret)
