"""A run that gives nobody anything is told as an error, and every error names the cause and the way on."""

from __future__ import annotations

import errno
import os
import socket
from types import SimpleNamespace

import pytest
from whole_runs import sottovoce, write_manifest

from sottovoce.models.errors import RunError, SettingsError, told_by_place
from sottovoce.pipelines.remote.beam_options import beam_options
from sottovoce.pipelines.remote.reachable import check_runner
from sottovoce.pipelines.sanitize.explain import explain
from sottovoce.pipelines.sanitize.job_file import read_job, sinks_assignment


@pytest.mark.slow
@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "the corpus holds no records"),
        (["no record", "nor this"], "2 of 2 records were refused (2 x not_json_object), nothing is left"),
        ([{"text": "hello", "dialogue_id": "1"}, "no", "no"], "2 of 3 records were refused"),
    ],
)
@pytest.mark.parametrize("limit", [0.5, "null"])
def test_a_run_that_refuses_too_much_commits_nothing_and_says_why(tmp_path, records, words, limit):
    if limit == "null" and len(records) == 3:
        pytest.skip("no limit was asked for, and something is left")
    manifest = write_manifest(tmp_path / "in", records) if records else tmp_path / "empty.jsonl"
    manifest.touch()
    default = read_job(None).sections["limits"].max_failures
    assert default == 0.5
    done = sottovoce(
        "sanitize",
        "--input",
        manifest,
        "--output",
        tmp_path / "out",
        "--set",
        f"limits.max_failures={limit}",
        check=False,
    )
    assert done.returncode == 1 and words in done.stderr and "nothing was committed" in done.stderr
    assert not list((tmp_path / "out").glob("*/_COMMITTED.json"))


def test_sinks_that_the_command_line_names_are_all_there_are():
    assert read_job(None, ["sinks.slu=1"]).sinks == {"slu": 1.0}
    assert read_job(None, ["sinks.slu=0.5", "sinks.dm=0.5"]).sinks == {"slu": 0.5, "dm": 0.5}
    assert read_job(None, [sinks_assignment(["slu"])]).sinks == {"slu": 1.0}
    assert read_job(None, [sinks_assignment(["slu=0.7", "dm=0.3"])]).sinks == {"slu": 0.7, "dm": 0.3}
    assert set(read_job(None, ["sinks.slu=0"]).sinks) == {"stt_am", "stt_lm", "dm"}
    with pytest.raises(SettingsError, match=r"sinks\.radio: unknown sink"):
        read_job(None, [sinks_assignment(["radio"])])


def test_shares_that_do_not_sum_to_one_are_told_as_what_they_give():
    assert read_job(None).said_of_shares() is None
    assert read_job(None, ["sinks={slu: 1, dm: 3}"]).said_of_shares().endswith("slu 25%, dm 75%")
    assert "sum" not in read_job(None, ["sinks={slu: 1, dm: 1}"]).said_of_shares()  # `--sinks slu dm` names no shares


def test_a_flink_cluster_that_is_not_there_is_named_with_the_next_command():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(RunError, match=f"no Flink cluster answers at {master}.*make flink-up"):
        check_runner("flink", beam_options("flink", 1, (f"--flink_master={master}",)))
    check_runner("flink", beam_options("flink", 1, ("--flink_master=[local]",)))


def test_dataflow_without_a_project_says_what_to_write():
    with pytest.raises(SettingsError, match=r"--project=P --temp_location="):
        check_runner("dataflow", beam_options("dataflow", 1, ()))
    check_runner("dataflow", beam_options("dataflow", 1, ("--project=p", "--temp_location=gs://b/t")))


def test_a_full_disk_is_told_as_one():
    request = SimpleNamespace(output="out", secret=None)
    try:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a name that is nobody's business")
    except OSError as error:
        told = explain(RuntimeError(f"in a worker: {told_by_place(error)}"), None, request)
    assert "No space left on device" in str(told) and "run the same command again" in str(told)
    assert "nobody's business" not in str(told)
