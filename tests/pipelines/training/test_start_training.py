"""Training starts from a committed run whose gate passed, and once: also when the start is killed anywhere."""

import hashlib
import json
import math
import os
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from committed_run import commit, detector, digest_of, make_run, replacement
from whole_runs import private_of

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.launch.local import Local
from sottovoce.pipelines.training import marker as training_marker
from sottovoce.pipelines.training import start_training as starting
from sottovoce.pipelines.training.order import read_launch, read_order
from sottovoce.pipelines.training.start_training import GateClosed

pytestmark = pytest.mark.slow

SETTINGS = "mode: plain\nepochs: 1\n"
LAUNCH = "launch: {use: local, poll_s: 0.05}\n"
NO_AUDIT = "gate: {audit: off}\n"  # tests/pipelines/audit asks what an audit opens


@pytest.fixture
def run(tmp_path) -> Path:
    return make_run(tmp_path / "out" / "run-1", entries=(detector(atis=0.9), replacement({"unit": 0.0})))


@pytest.fixture
def files(tmp_path, monkeypatch) -> tuple[str, str]:
    """train.yaml and a launch file; in place of the training, a script that notes that it ran, and ends as told."""
    (tmp_path / "train.yaml").write_text(SETTINGS)
    (tmp_path / "launch.yaml").write_text(LAUNCH + NO_AUDIT)
    script = tmp_path / "script.py"
    script.write_text(f"import sys; open({str(tmp_path / 'ran')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n")
    monkeypatch.setattr(starting, "TRAIN", (str(script),))
    return str(tmp_path / "train.yaml"), str(tmp_path / "launch.yaml")


def start_training(run: str, train_yaml: str, launch: str, retry: bool = False) -> starting.Started:
    return starting.start_training(run, read_order(train_yaml, launch), retry)


def ran(tmp_path: Path) -> list[str]:
    return (tmp_path / "ran").read_text().splitlines() if (tmp_path / "ran").exists() else []


def wait_for_end(started: starting.Started) -> str:
    return list(started.marker.launcher().watch(started.marker.handle))[-1].state


def test_a_committed_run_becomes_one_job_with_its_data_and_settings(tmp_path, run, files):
    started = start_training(str(run), *files)
    assert wait_for_end(started) == "succeeded"
    training = private_of(run) / "training"
    settings, digest = (
        training / "job-1" / "train.yaml",
        hashlib.sha256((run / "_COMMITTED.json").read_bytes()).hexdigest(),
    )
    places = f"--out {tmp_path / 'out' / 'trained' / 'run-1'} --private-out {training / 'model'}"
    assert ran(tmp_path) == [f"--data {run / 'slu'} --commit {digest} --config {settings} {places}"]
    assert settings.read_text() == SETTINGS
    made = [training, *training.rglob("*")]
    assert all(path.stat().st_mode & 0o077 == 0 for path in made) and training / "job-1" / "log.txt" in made
    again = start_training(str(run), *files)
    assert again.already and again.marker == started.marker
    assert len(ran(tmp_path)) == 1


def test_a_run_that_is_not_committed_starts_nothing(tmp_path, run, files):
    (run / "_COMMITTED.json").unlink()
    with pytest.raises(RunError, match="not a committed run"):
        start_training(str(run), *files)
    assert not (private_of(run) / "training" / "marker.json").exists()


def test_a_closed_gate_names_every_reason_and_starts_nothing(tmp_path, run, files):
    gate = "gate: {audit: off, max_failed_share: 0.01, min_detector_recall: 0.95, max_epsilon: {utterance: 8}}\n"
    Path(files[1]).write_text(LAUNCH + gate)
    with pytest.raises(GateClosed) as error:
        start_training(str(run), *files)
    for word in (
        "failures: 2 of 100",
        "recall: detector recall at least 0.9",
        "epsilon per utterance: the ledger states no",
    ):
        assert word in str(error.value)
    assert not (private_of(run) / "training" / "marker.json").exists() and not list(run.glob("training"))


def test_a_run_without_rows_to_train_on_starts_nothing(tmp_path, files):
    run = make_run(tmp_path / "out" / "run-2", rows=0)
    with pytest.raises(GateClosed, match="no slu rows"):
        start_training(str(run), *files)


@pytest.mark.parametrize(
    "name", ["slu/part-00000-of-00001.parquet", "ledger.json", "report.html", "stt_am/part-0.parquet"]
)
def test_a_file_that_changed_since_the_commit_starts_nothing_and_is_named(run, files, name):
    (run / "report.html").write_text("<p>as it was</p>")
    (run / "stt_am").mkdir()
    shutil.copy(run / "slu" / "part-00000-of-00001.parquet", run / "stt_am" / "part-0.parquet")
    commit(run, {"read": 100, "failed": 2})
    content = bytearray((run / name).read_bytes())
    content[-1] ^= 1
    (run / name).write_bytes(content)
    with pytest.raises(RunError, match=f"{name} is not the file that was committed"):
        start_training(str(run), *files)
    assert not (private_of(run) / "training" / "marker.json").exists()


def test_an_added_file_starts_nothing_and_is_named(run, files):
    (run / "slu" / "zz.jsonl").write_text("{}\n")
    with pytest.raises(RunError, match=r"slu/zz\.jsonl is in the run but not committed"):
        start_training(str(run), *files)


@pytest.mark.parametrize("entries", [(), (replacement({"unit": 3.0, "speaker": math.inf}),)])
def test_plain_training_needs_a_replacement_with_a_finite_epsilon_or_a_word_of_the_operator(tmp_path, files, entries):
    run = make_run(tmp_path / "out" / "run-2", entries=entries)
    with pytest.raises(GateClosed, match="mode plain protects nothing"):
        start_training(str(run), *files)
    (tmp_path / "train.yaml").write_text("mode: sound\nz0: 1.0\n")
    assert read_order(*files).private
    assert wait_for_end(start_training(str(run), *files)) == "succeeded"
    if entries:
        (tmp_path / "train.yaml").write_text(SETTINGS)
        Path(files[1]).write_text(LAUNCH + "gate: {audit: off, max_epsilon: {unit: 8}}\n")
        allowed = make_run(tmp_path / "out" / "run-3", entries=entries)
        assert wait_for_end(start_training(str(allowed), *files)) == "succeeded"


def test_audit_results_in_the_private_folder_are_judged(run, files):
    Path(files[1]).write_text(LAUNCH + "gate: {audit: off, max_audit: {membership_auc: 0.6}}\n")
    with pytest.raises(GateClosed, match="audit membership_auc"):
        start_training(str(run), *files)
    private_of(run).joinpath("audit.json").write_text(
        json.dumps({"commit": digest_of(run), "others": {"membership_auc": {"value": 0.5, "low": 0.45, "high": 0.55}}})
    )
    assert wait_for_end(start_training(str(run), *files)) == "succeeded"


@pytest.mark.parametrize("content", ["{", "[1]", '"good"'])
def test_an_audit_that_cannot_be_read_starts_nothing(run, files, content):
    private_of(run).mkdir(parents=True)
    (private_of(run) / "audit.json").write_text(content)
    with pytest.raises(RunError, match="damaged; make it anew"):
        start_training(str(run), *files)
    assert not (private_of(run) / "training" / "marker.json").exists()


def test_a_marker_cut_off_by_a_crash_is_no_intent(tmp_path, run, files):
    (private_of(run) / "training").mkdir(parents=True)
    (private_of(run) / "training" / "marker.json").write_text('{"run_id": "run-1", "key"')
    assert wait_for_end(start_training(str(run), *files)) == "succeeded"
    assert len(ran(tmp_path)) == 1


def test_a_resumed_start_keeps_to_what_was_decided(tmp_path, run, files, monkeypatch):
    """The job may have been submitted already: with other settings or elsewhere it would be a second one."""
    monkeypatch.setattr(starting, "_submit", lambda folder, marker: marker)
    start_training(str(run), *files)
    monkeypatch.undo()
    (tmp_path / "script.py").write_text("")
    monkeypatch.setattr(starting, "TRAIN", (str(tmp_path / "script.py"),))
    (tmp_path / "train.yaml").write_text("mode: plain\nepochs: 99\n")
    Path(files[1]).write_text("launch: {use: slurm}\ngate: {max_failed_share: 0}\n")
    started = start_training(str(run), *files)
    assert started.marker.launch["use"] == "local"
    assert (private_of(run) / "training" / "job-1" / "train.yaml").read_text() == SETTINGS
    wait_for_end(started)


def test_retry_resumes_a_failed_job_and_refuses_to_repeat_a_good_one(tmp_path, run, files):
    (tmp_path / "script.py").write_text("raise SystemExit(1)")
    assert wait_for_end(start_training(str(run), *files)) == "failed"
    assert start_training(str(run), *files).already
    note = f"import sys; open({str(tmp_path / 'ran')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')"
    (tmp_path / "script.py").write_text(note)
    second = start_training(str(run), *files, retry=True)
    assert wait_for_end(second) == "succeeded"
    assert second.marker.attempt == 2 and ran(tmp_path)[0].endswith("--resume")
    with pytest.raises(RunError, match="twice"):
        start_training(str(run), *files, retry=True)
    assert len(ran(tmp_path)) == 1


def test_a_run_that_training_was_started_from_is_not_replaced(run, files):
    start_training(str(run), *files)
    before = sorted(run.rglob("*.parquet"))
    with pytest.raises(RunError, match="the same people twice"):
        starting.open_run(str(run)).begin()
    assert sorted(run.rglob("*.parquet")) == before and (run / "_COMMITTED.json").exists()


def test_runs_of_one_name_in_two_folders_have_keys_of_their_own(tmp_path, files):
    first = make_run(tmp_path / "a" / "run-1")
    second = make_run(tmp_path / "b" / "run-1", failed=3)
    keys = {start_training(str(run), *files).marker.key for run in (first, second)}
    assert len(keys) == 2 and all(key.startswith("run-1-") for key in keys)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("launch: {use: slrum}\n", "did you mean 'slurm'"),
        ("launch: {use: local, procesess: 2}\n", "did you mean 'processes'"),
        ("launch: {use: local}\ngates: {}\n", "gates: unknown key"),
        ("launch: {use: local}\ngate: {max_failed: 1}\n", "gate.max_failed: unknown key"),
        ("gate: {}\n", "expected a name or a mapping"),
        ("- launch\n", "expected a mapping"),
        ("launch: {use: local, processes: 0}\n", "at least 1"),
    ],
)
def test_a_wrong_launch_file_is_told_before_anything_starts(run, files, text, problem):
    Path(files[1]).write_text(text)
    with pytest.raises(SettingsError, match=problem):
        start_training(str(run), *files)
    assert not (private_of(run) / "training" / "marker.json").exists()


def test_wrong_settings_of_the_training_are_told_before_anything_starts(tmp_path, run, files):
    (tmp_path / "train.yaml").write_text("mode: sound\nepohcs: 3\n")
    with pytest.raises(SettingsError, match="did you mean 'epochs'"):
        start_training(str(run), *files)
    assert not (private_of(run) / "training" / "marker.json").exists()


@pytest.mark.parametrize("name", ["local", "slurm", "kubernetes", "vertex"])
def test_the_launch_files_that_ship_are_accepted(name):
    assert read_launch(name).launch.name == name


# Killing for real: the start runs in a process of its own, which sends itself SIGKILL on reaching a chosen line.

WATCHED = {starting.__file__, training_marker.__file__, sys.modules[Local.__module__].__file__}
READING = {"open_run", "judge", "read_audit", "__post_init__"}  # change nothing


def in_process(action, on_line=None) -> int:
    """Run `action` in a forked process; `on_line(file, line)` is called before each line of the watched modules."""

    def trace(frame, event, _argument):
        if frame.f_code.co_filename not in WATCHED or frame.f_code.co_name in READING:
            return None
        if event == "line":
            on_line(frame.f_code.co_filename, frame.f_lineno)
        return trace

    pid = os.fork()
    if pid == 0:
        try:
            if on_line:
                sys.settrace(trace)
            action()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
    return os.waitpid(pid, 0)[1]


def lines_of_a_start(run: Path, files: tuple[str, str], note: Path) -> list[tuple[str, int]]:
    """Each line of the watched modules that a start reaches, in order of the first time."""

    def write_down(file: str, line: int) -> None:
        with note.open("a") as out:
            out.write(f"{file} {line}\n")

    assert in_process(lambda: start_training(str(run), *files), write_down) == 0
    reached = dict.fromkeys(note.read_text().splitlines())
    return [(file, int(line)) for file, line in (row.rsplit(" ", 1) for row in reached)]


@pytest.mark.slow
@pytest.mark.long
def test_a_start_killed_at_any_line_and_repeated_makes_exactly_one_job(tmp_path, run, files):
    steps = lines_of_a_start(run, files, tmp_path / "lines")
    assert len(steps) > 40
    victims = {step: make_run(tmp_path / "out" / f"run-{number}") for number, step in enumerate(steps, start=2)}
    for step, victim in victims.items():

        def die(file: str, line: int, step: tuple[str, int] = step) -> None:
            if (file, line) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def start(victim: Path = victim) -> None:
            start_training(str(victim), *files)

        assert in_process(start, die) == signal.SIGKILL, step
        assert in_process(start) == 0, step
    for step, victim in victims.items():
        assert wait_for_end(start_training(str(victim), *files)) == "succeeded", step
    time.sleep(0.5)  # a second job, were there one, would have written by now
    runs = Counter(line.split()[1] for line in ran(tmp_path))
    assert [step for step, victim in victims.items() if runs[str(victim / "slu")] != 1] == []


@pytest.mark.slow
def test_many_starts_at_once_make_one_job(tmp_path, run, files):
    pids = []
    for _ in range(6):
        pid = os.fork()
        if pid == 0:
            try:
                start_training(str(run), *files)
                os._exit(0)
            except BaseException:
                os._exit(1)
        pids.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 6
    assert wait_for_end(start_training(str(run), *files)) == "succeeded"
    time.sleep(0.5)  # a second job, were there one, would have written by now
    assert len(ran(tmp_path)) == 1
