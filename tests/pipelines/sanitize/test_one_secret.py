"""One output has one secret, whoever gives it; a secret that protects nobody is refused."""

from __future__ import annotations

import base64
import itertools
import json
import os
import pickle
import stat
import subprocess
import sys

import pytest
from adversary import QUICK, dialogues
from whole_runs import write_manifest, write_secret

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.randomness import fresh_secret
from sottovoce.models.runs.places import OutputPlaces
from sottovoce.pipelines.sanitize.graph import build_graph
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.one_secret import claim_output, knows_secret, secret_for
from sottovoce.pipelines.sanitize.one_writer import one_writer
from sottovoce.pipelines.sanitize.run import RunRequest, execute, prepare, remember
from sottovoce.pipelines.sanitize.secret_file import read_secret


def release_something(out) -> None:
    run = out / "run-000000000001"
    run.mkdir(parents=True, exist_ok=True)
    (run / "_COMMITTED.json").write_text(json.dumps({"created": "2026-01-01T00:00:00+00:00"}))


def claim(out, secret, **more):
    with one_writer(str(out), "test"):
        return claim_output(str(out), secret, **more)


def test_an_output_makes_its_own_secret_once_and_keeps_it(tmp_path):
    out = str(tmp_path / "out")
    first = secret_for(out, None)
    assert not (tmp_path / "out").exists(), "asking touches nothing"
    assert claim(out, first)
    kept = tmp_path / "out" / "private" / "secret"
    assert secret_for(out, None) == first and pickle.loads(pickle.dumps(first)) == first
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert claim(out, secret_for(out, str(kept)))


def test_of_two_commands_that_make_a_secret_together_the_second_is_told_to_run_again(tmp_path):
    one, other = secret_for(str(tmp_path), None), secret_for(str(tmp_path), None)
    assert claim(tmp_path, one)
    with pytest.raises(RunError, match="run this one again"):
        claim(tmp_path, other)


def test_a_second_secret_is_refused_with_the_way_on_and_force_is_remembered(tmp_path):
    first, second = (read_secret(str(write_secret(tmp_path / name, name))) for name in ("first", "second"))
    out = tmp_path / "out"
    assert claim(out, first)
    release_something(out)
    with pytest.raises(RunError, match="Use that secret, another --output, or --force"):
        claim(out, second)
    assert knows_secret(str(out), first) and not knows_secret(str(out), second)
    assert not claim(out, second, force=True)
    with pytest.raises(RunError):  # from now on no secret knows all that was taken
        claim(out, first)
    checks = (out / "private" / "secret_check.json").read_bytes()
    for secret in (first, second):
        assert secret.value not in checks and secret.value.hex().encode() not in checks


def test_an_output_that_has_released_nothing_can_begin_anew_with_another_secret(tmp_path):
    first, second = (read_secret(str(write_secret(tmp_path / name, name))) for name in ("first", "second"))
    assert claim(tmp_path / "out", first) and claim(tmp_path / "out", second)
    assert not knows_secret(str(tmp_path / "out"), first)


def test_an_output_whose_secret_is_kept_elsewhere_asks_for_it(tmp_path):
    claim(tmp_path / "out", read_secret(str(write_secret(tmp_path / "secret"))))
    with pytest.raises(RunError, match="--secret-file"):
        secret_for(str(tmp_path / "out"), None)


def test_a_bucket_keeps_no_secret_of_its_own():
    with pytest.raises(SettingsError, match="--secret-file: needed"):
        secret_for("gs://bucket/out", None)


def test_runs_without_their_private_folder_are_not_added_to(tmp_path):
    release_something(tmp_path)
    with pytest.raises(RunError, match="not the private folder"):
        claim(tmp_path, fresh_secret())


def test_a_private_root_that_others_could_read_is_closed_again(tmp_path):
    places = OutputPlaces.of(str(tmp_path))
    claim(tmp_path, secret_for(str(tmp_path), None))
    os.chmod(places.private(), 0o755)  # as a backup may bring it back
    with one_writer(str(tmp_path), "test"):
        assert stat.S_IMODE(os.stat(places.private()).st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o644, 0o666])
def test_a_secret_file_that_others_reach_is_refused_with_the_way_on(tmp_path, mode):
    path = write_secret(tmp_path / "secret")
    path.chmod(mode)
    with pytest.raises(SettingsError, match=f"chmod 600 {path}"):
        read_secret(str(path))


@pytest.mark.parametrize("value", [bytes(32), b"x" * 40, b"the secret of our nights, long enough"])
def test_a_secret_that_can_be_guessed_is_refused(tmp_path, value):
    path = write_secret(tmp_path / "secret")
    path.write_bytes(value)
    with pytest.raises(SettingsError, match=r"can be guessed.*head -c 32 /dev/urandom") as refused:
        read_secret(str(path))
    assert value[:8].decode("latin-1") not in str(refused.value)


def test_a_variable_holds_a_secret_if_no_training_job_would_inherit_it(tmp_path, monkeypatch):
    value = base64.b64encode(write_secret(tmp_path / "secret").read_bytes())
    monkeypatch.setenv("SOTTOVOCE_KEY", value.decode())
    monkeypatch.setenv("KEY", value.decode())
    assert read_secret("env:SOTTOVOCE_KEY").value == value
    with pytest.raises(SettingsError, match="begins with SOTTOVOCE_"):
        read_secret("env:KEY")
    monkeypatch.delenv("SOTTOVOCE_KEY")
    with pytest.raises(SettingsError, match="SOTTOVOCE_KEY is not set"):
        read_secret("env:SOTTOVOCE_KEY")


def test_beams_secret_managers_are_asked_by_name(tmp_path, monkeypatch):
    value = write_secret(tmp_path / "secret").read_bytes()
    asked = []
    manager = "apache_beam.utils.secret.GcpSecret.get_secret_bytes"
    monkeypatch.setattr(manager, lambda secret: asked.append(secret._version_name) or value)
    given = "type:GcpSecret;version_name:projects/p/secrets/s/versions/1"
    secret = read_secret(given)
    assert secret.value == value and asked == ["projects/p/secrets/s/versions/1"]
    assert value not in pickle.dumps(secret) and pickle.loads(pickle.dumps(secret)) == secret
    with pytest.raises(SettingsError, match="cannot be read"):
        read_secret("type:AbacusSecret;version_name:x")


@pytest.mark.slow
def test_a_run_whose_workers_cannot_read_the_secret_says_so_and_commits_nothing(tmp_path, monkeypatch):
    """The file is gone when the workers look for it, as on a machine that never had it."""
    manifest = write_manifest(tmp_path / "in", dialogues(4))
    path = write_secret(tmp_path / "secret")
    secret = read_secret(str(path))
    settings = [value for flag, value in itertools.pairwise(QUICK) if flag == "--set"]
    run = prepare(RunRequest(read_job(None, settings), str(manifest), str(tmp_path / "out"), secret, workers=2))

    def build_and_lose(*arguments):
        build_graph(*arguments)
        path.unlink()

    monkeypatch.setattr("sottovoce.pipelines.sanitize.run.build_graph", build_and_lose)
    with one_writer(str(tmp_path / "out"), "test"), pytest.raises(RunError) as failed:
        execute(remember(run))
    assert "a worker could not read the secret" in str(failed.value) and str(path) in str(failed.value)
    assert not list((tmp_path / "out").glob("*/_COMMITTED.json"))


def test_the_passing_secret_of_a_study_reaches_worker_processes_and_goes_with_its_own():
    code = (
        "import pickle, subprocess, sys; from sottovoce.pipelines.sanitize.secret_file import passing_secret;"
        "secret = passing_secret();"
        "worker = [sys.executable, '-c', 'import pickle, sys; print(pickle.load(sys.stdin.buffer).check)'];"
        "done = subprocess.run(worker, input=pickle.dumps(secret), capture_output=True, check=True);"
        "assert done.stdout.decode().strip() == secret.check; print(secret.reference)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() and not os.path.exists(os.path.dirname(done.stdout.strip()))
