"""One writer at a time, on a file system and in a bucket; tests/adversary/test_concurrent_starts.py tries real processes."""

from __future__ import annotations

import json
import socket

import pytest
from storage_stand_in import StorageStandIn

from sottovoce.models.errors import RunError
from sottovoce.pipelines.sanitize import one_writer as module
from sottovoce.pipelines.sanitize.one_writer import Busy, one_writer


@pytest.fixture(params=["folder", "bucket"])
def output(request, tmp_path, monkeypatch):
    if request.param == "folder":
        yield str(tmp_path / "out")
        return
    with StorageStandIn() as storage:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", storage.url)
        monkeypatch.setattr("apache_beam.internal.gcp.auth.get_service_credentials", lambda options: None)
        yield "gs://bucket/out"


def test_a_second_writer_is_told_who_is_at_work_and_the_lock_is_free_afterwards(output):
    told = pytest.raises(Busy, match=rf"a long run.* on {socket.gethostname()}")
    with one_writer(output, "a long run"), told, one_writer(output, "another"):
        pass
    with pytest.raises(ZeroDivisionError), one_writer(output, "a run that fails"):
        raise ZeroDivisionError
    with one_writer(output, "the next"):
        pass


def test_a_submitted_run_keeps_the_lock_until_it_is_finished(output):
    with one_writer(output, "submit") as lock:
        lock.leave("run-1")
    with pytest.raises(Busy, match=r"sottovoce finish --run .*/out/run-1"), one_writer(output, "another"):
        pass
    with pytest.raises(RunError), one_writer(output, "finish", finishing="run-1"):
        raise RunError("its job is still at work")
    with pytest.raises(Busy), one_writer(output, "finish", finishing="run-2"):
        pass
    with one_writer(output, "finish", finishing="run-1") as lock:
        lock.finished()
    with one_writer(output, "the next"):
        pass


def test_a_lock_of_another_host_is_left_alone(tmp_path):
    with one_writer(str(tmp_path), "here"):
        pass
    elsewhere = {"doing": "a run", "host": "elsewhere", "pid": 1, "started": 0.0}
    (tmp_path / "private" / "lock").write_text(json.dumps(elsewhere))
    with pytest.raises(Busy, match=r"on elsewhere.*remove"), one_writer(str(tmp_path), "another"):
        pass


def test_of_two_that_found_no_lock_in_a_bucket_one_writes_it(tmp_path, monkeypatch):
    with StorageStandIn() as storage:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", storage.url)
        monkeypatch.setattr("apache_beam.internal.gcp.auth.get_service_credentials", lambda options: None)
        with one_writer("gs://bucket/out", "first"):
            monkeypatch.setattr(module, "read_object", lambda uri: None)  # as the second saw it, a moment ago
            with pytest.raises(Busy), one_writer("gs://bucket/out", "second"):
                pass


def test_an_output_that_cannot_be_written_is_an_error_that_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"), one_writer(str(tmp_path / "file" / "out"), "run"):
        pass
