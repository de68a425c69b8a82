"""Whole runs through the command line, on real demo speech."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from whole_runs import (
    DEMO,
    demo_records,
    everything,
    only_run,
    private_of,
    rows,
    sottovoce,
    write_manifest,
    write_secret,
)

from sottovoce.pipelines.sanitize.one_writer import one_writer

pytestmark = pytest.mark.slow

RECORDS = 48


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_manifest(tmp_path_factory.mktemp("corpus"), demo_records(RECORDS))


@pytest.fixture(scope="module")
def secret(tmp_path_factory):
    return write_secret(tmp_path_factory.mktemp("secret") / "secret")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, corpus, secret):
    """One undisturbed run that the tests below look at from all sides."""
    out = tmp_path_factory.mktemp("finished")
    done = sottovoce("sanitize", "--input", corpus, "--output", out, "--secret-file", secret)
    return only_run(out), done


def committed(run):
    return json.loads((run / "_COMMITTED.json").read_text())


def test_every_record_is_in_a_sink_or_counted_as_a_failure(finished):
    run, _ = finished
    counts = committed(run)["counts"]
    stages = counts["stages"]
    assert (
        counts["read"] == RECORDS == stages["route"]["received"] + stages["read"]["received"] - stages["read"]["passed"]
    )
    in_text = len(rows(run, "stt_lm")) + len(rows(run, "slu")) + sum(len(row["turns"]) for row in rows(run, "dm"))
    in_speech = stages["unlink"]["passed"]
    assert in_text + in_speech + counts["failed"] == RECORDS
    assert all(counts["rows"].values()), "the corpus is meant to reach every sink"


def test_the_closing_summary_names_every_output(finished):
    run, done = finished
    for name in (
        "stt_am/",
        "stt_lm/",
        "slu/",
        "dm/",
        "may be handed on",
        "ledger.json",
        "report.html",
        "config.yaml",
        "records: whole dialogues",  # and so fewer than were read
        str(run),
    ):
        assert name in done.stdout
    assert "detect" in done.stderr, "progress is shown"


def test_shards_are_what_the_commit_says(finished):
    run, _ = finished
    shards = committed(run)["shards"]
    assert {shard["path"] for shard in shards} == {str(p.relative_to(run)) for p in run.rglob("*.parquet")}
    for shard in shards:
        assert hashlib.sha256((run / shard["path"]).read_bytes()).hexdigest() == shard["sha256"]
    assert not (private_of(run) / "work").exists() and not (run.parent / "private" / "lock").read_text()


def test_speech_is_real_sound_without_the_original_words_timing_or_names(finished):
    import io

    import soundfile

    run, _ = finished
    for row in rows(run, "stt_am"):
        samples, rate = soundfile.read(io.BytesIO(row["audio"]["bytes"]))
        assert rate == row["rate_hz"] == 16_000
        assert abs(len(samples) / rate - row["duration_s"]) < 0.01
        assert 0 < abs(samples).max() <= 1 and row["text"]
        assert row["audio"]["path"] == f"{row['id']}.flac"


def test_hugging_face_datasets_reads_every_sink(finished, tmp_path):
    import datasets

    run, _ = finished
    for sink in ("stt_am", "stt_lm", "slu", "dm"):
        files = [str(path) for path in run.glob(f"{sink}/*.parquet")]
        data = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=str(tmp_path))
        assert len(data) == len(rows(run, sink)) > 0
    speech = [str(path) for path in run.glob("stt_am/*.parquet")]
    data = datasets.load_dataset("parquet", data_files=speech, split="train", cache_dir=str(tmp_path))
    assert isinstance(data.features["audio"], datasets.Audio)
    audio = data.cast_column("audio", datasets.Audio(decode=False))[0]["audio"]
    assert audio["bytes"][:4] == b"fLaC"


@pytest.mark.long
def test_two_workers_give_the_same_records(finished, corpus, secret, tmp_path):
    sottovoce("sanitize", "--input", corpus, "--output", tmp_path, "--secret-file", secret, "--workers", 2)
    assert everything(only_run(tmp_path)) == everything(finished[0])


def test_another_secret_gives_other_ids_and_other_routes(finished, corpus, tmp_path):
    sottovoce("sanitize", "--input", corpus, "--output", tmp_path)
    fresh = everything(only_run(tmp_path))
    for sink, records in everything(finished[0]).items():
        assert not {row["id"] for row in records} & {row["id"] for row in fresh[sink]}


def test_a_finished_run_is_left_alone_unless_forced(finished, corpus, secret):
    run, _ = finished
    before = (run / "_COMMITTED.json").stat().st_mtime_ns
    again = sottovoce("sanitize", "--input", corpus, "--output", run.parent, "--secret-file", secret)
    assert "was finished before" in again.stdout
    assert (run / "_COMMITTED.json").stat().st_mtime_ns == before
    records = everything(run)
    sottovoce("sanitize", "--input", corpus, "--output", run.parent, "--secret-file", secret, "--force")
    assert (run / "_COMMITTED.json").stat().st_mtime_ns > before
    assert everything(run) == records


def wait_for(condition, process, seconds=240):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.05)
    raise AssertionError("nothing happened")


def test_a_killed_run_commits_nothing_and_running_again_completes_it(finished, corpus, secret, tmp_path):
    command = ["sanitize", "--input", str(corpus), "--output", str(tmp_path), "--secret-file", str(secret)]
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce.pipelines.cli", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # staged audio shows that the speech stages are at work
        wait_for(lambda: any(path.stat().st_size for path in tmp_path.glob("private/runs/*/work/audio/*")), process)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    run = only_run(tmp_path)
    assert not (run / "_COMMITTED.json").exists()
    sottovoce(*command)
    assert everything(run) == everything(finished[0])
    assert committed(run)["counts"]["rows"] == committed(finished[0])["counts"]["rows"]


def test_two_runs_do_not_write_the_same_folder(finished, corpus, secret, tmp_path):
    with one_writer(str(tmp_path), "another run"):
        done = sottovoce("sanitize", "--input", corpus, "--output", tmp_path, "--secret-file", secret, check=False)
    assert done.returncode == 1 and "is being written (another run)" in done.stderr


def test_a_dry_run_prints_the_plan_and_touches_nothing(corpus, tmp_path):
    done = sottovoce("sanitize", "--input", corpus, "--output", tmp_path / "out", "--dry-run")
    for part in ("stt_am", "25.0%", "align", "shuffle", "48 records"):
        assert part in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_text_only_corpus_has_no_speech_sink(tmp_path):
    records = [
        {key: value for key, value in r.items() if key not in ("audio_filepath", "duration")} for r in demo_records(30)
    ]
    sottovoce("sanitize", "--input", write_manifest(tmp_path / "in", records), "--output", tmp_path / "out")
    counts = committed(only_run(tmp_path / "out"))["counts"]
    assert "stt_am" not in counts["rows"] and counts["failed"] == 0 and counts["read"] == 30


def test_a_run_that_goes_wrong_is_stopped(tmp_path):
    records = [record | {"audio_filepath": "missing.wav"} for record in demo_records(40)]
    manifest = write_manifest(tmp_path / "in", records)
    arguments = ("sanitize", "--input", manifest, "--output", tmp_path / "out", "--set", "sinks={stt_am: 1}")
    done = sottovoce(*arguments, "--max-failures", 5, check=False)
    assert done.returncode == 1 and "max_failures" in done.stderr
    assert not list((tmp_path / "out").glob("*/_COMMITTED.json"))


@pytest.mark.parametrize(
    "arguments,expected",
    [
        (("--input", "no/such/place"), "no/such/place"),
        (("--input", str(DEMO), "--secret-file", "no-such-file"), "head -c 32"),
        (("--input", str(DEMO), "--set", "mask=duct_tape"), "allowed: silence, tone, noise"),
        (("--input", str(DEMO), "--runner", "abacus"), "invalid choice"),
        (("--input", str(DEMO), "--workers", "0"), "at least 1"),
    ],
)
def test_wrong_flags_are_answered_with_what_is_allowed(arguments, expected, tmp_path):
    done = sottovoce("sanitize", "--output", tmp_path / "out", *arguments, check=False)
    assert done.returncode in (1, 2) and expected in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
