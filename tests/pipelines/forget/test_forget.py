"""`sottovoce forget` on nights, with models, when it is killed, and when it cannot be done."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from forgetting import as_text, by_turns, forget, said_of, tables, tree, without
from whole_runs import ROOT, demo_records, private_of, rows, sottovoce, write_manifest, write_secret

from sottovoce.models.forget.receipt import seal_of
from sottovoce.models.forget.whose import speaker_token
from sottovoce.models.randomness import Secret
from sottovoce.pipelines.forget.erasures import go_through

pytestmark = pytest.mark.slow

NOBODY = 65534
WHO, OTHER, KEEP = "erika mustermann", "somebody else", 2
JOB = {
    "detect": "rules",
    "replace": {"use": "word", "target_epsilon": 2.0},
    "output": {"shards": 2},
    "nightly": {"keep_runs": KEEP},
}
FIRST, SECOND, THIRD = (0, 25), (0, 45), (0, 60)  # each night finds the corpus of the night before, and more


def records(begin: int, end: int) -> list[dict]:
    return by_turns([as_text(record) for record in demo_records(end)[begin:]], WHO, OTHER, "a third")


def night(folder: Path, corpus: list[dict], secret_file: Path, job: dict = JOB, **more: object) -> dict:
    folder.mkdir(exist_ok=True)
    (folder / "job.yaml").write_text(json.dumps(job))
    manifest = write_manifest(folder / "corpus", corpus)
    places = ("--input", manifest, "--output", folder / "out", "--secret-file", secret_file)
    done = sottovoce("nightly", "--config", folder / "job.yaml", *places, **more)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def secret_file(tmp_path_factory):
    return write_secret(tmp_path_factory.mktemp("secret") / "secret")


@pytest.fixture(scope="module")
def nights(tmp_path_factory, secret_file):
    """Three nights, the first of them retired. To be copied, not changed."""
    folder = tmp_path_factory.mktemp("nights")
    for span in (FIRST, SECOND, THIRD):
        night(folder, records(*span), secret_file)
    return folder


@pytest.fixture
def output(nights, tmp_path):
    shutil.copytree(nights / "out", tmp_path / "out")
    return tmp_path / "out"


def runs_of(output: Path) -> list[Path]:
    """In the order of their nights, which never share a dialogue; the retired ones too."""
    names = [path.name for path in (output / "private" / "runs").iterdir()]
    return sorted((output / name for name in names), key=lambda run: _read_by(run))


def _read_by(run: Path) -> int:
    return json.loads((private_of(run) / "record.json").read_text())["counts"]["read"]


def refused(output: Path, secret_file: Path, *whom: object) -> str:
    """What it says, having changed nothing."""
    before = tree(output)
    done = sottovoce("forget", "--output", output, "--secret-file", secret_file, *whom, check=False)
    assert tree(output) == before and done.returncode in (1, 2)
    return done.stderr


def cumulative_ledger(output: Path) -> dict:
    ledger = json.loads((output / "private" / "cumulative_ledger.json").read_text())
    return {key: value for key, value in ledger.items() if key not in ("first", "last")}


def receipt_in(said: str) -> dict:
    (place,) = (line.split()[-1] for line in said.splitlines() if line.strip().startswith("receipt"))
    return json.loads(Path(place).read_text())


def test_nights_then_forget_equal_nights_without_them_and_later_nights_leave_them_out(
    nights, output, secret_file, tmp_path
):
    said = forget(output, secret_file, "--speaker", WHO)
    assert "from 3 runs" in said and "mustermann" not in said
    for span in (FIRST, SECOND, THIRD):
        night(tmp_path / "without", without(records(*span), speaker_id=WHO), secret_file)
    never = tmp_path / "without" / "out"
    for forgotten, never_read in zip(runs_of(output), runs_of(never), strict=True):
        assert tables(forgotten) == tables(never_read)
        assert (forgotten / "_COMMITTED.json").exists() == (never_read / "_COMMITTED.json").exists()
        if (forgotten / "_COMMITTED.json").exists():
            assert said_of(forgotten) == said_of(never_read)
    assert cumulative_ledger(output) == cumulative_ledger(never)

    shutil.copytree(nights / "corpus", tmp_path / "corpus")
    later = night(tmp_path, [*records(*THIRD), *records(60, 90)], secret_file)
    assert later["turns_forgotten"] == sum(
        record["speaker_id"] == WHO for record in [*records(*THIRD), *records(60, 90)]
    )
    newest = max(output.glob("run-*"), key=_read_by)
    secret = Secret(secret_file.read_bytes())
    assert all(row["speaker"] != speaker_token(secret, WHO) for row in rows(newest, "index"))
    assert "forgotten" not in (newest / "_COMMITTED.json").read_text()


def test_nothing_that_is_left_holds_a_token_of_theirs_but_the_mark(output, secret_file):
    token = speaker_token(Secret(secret_file.read_bytes()), WHO)
    assert holding(output, token), "before, the private state knows them"
    forget(output, secret_file, "--speaker", WHO)
    (mark,) = holding(output, token)
    assert mark.parent.name == "forgotten"
    assert not [path for path, content in tree(output).items() if WHO.encode() in content]


def holding(output: Path, token: str) -> list[Path]:
    """Files that hold a token. Columns of Parquet are compressed, so they are read."""
    found = []
    for path in (output / name for name in tree(output)):
        content = str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else path.read_text()
        found += [path] if token in content else []
    return found


def test_the_receipt_counts_names_nobody_and_is_sealed_by_the_secret(output, secret_file):
    before = {run.name: tables(run) for run in runs_of(output)}
    before_rows = {run.name: released_rows(run) for run in runs_of(output)}
    receipt = receipt_in(forget(output, secret_file, "--speaker", WHO))
    secret = Secret(secret_file.read_bytes())
    assert receipt["seal"] == seal_of(secret, receipt)
    assert receipt["seal"] != seal_of(secret, receipt | {"records": 0})
    text = json.dumps(receipt)
    assert WHO not in text and speaker_token(secret, WHO) not in text
    for run in receipt["runs"]:
        changed = {change["path"]: change for change in run["files"] if change["path"].endswith(".parquet")}
        after = tables(output / run["run_id"])
        touched = {path for path in before[run["run_id"]] if before[run["run_id"]][path] != after.get(path)}
        assert set(changed) == touched
        assert all((change["after"] is None) == (path not in after) for path, change in changed.items())
    rows_gone = sum(before_rows[run.name] - released_rows(run) for run in runs_of(output))
    assert receipt["records"] == rows_gone > 0


def released_rows(run: Path) -> int:
    return sum(len(rows(run, sink)) for sink in ("stt_lm", "slu", "dm"))


def test_a_commit_says_that_there_was_an_erasure_and_two_commits_do_not_say_that_it_was_one(output, secret_file):
    forget(output, secret_file, "--speaker", WHO)
    entries = [json.loads(path.read_text())["erasures"] for path in output.glob("run-*/_COMMITTED.json")]
    assert [len(entry) for entry in entries] == [1] * KEEP
    assert len({entry[0]["receipt"] for entry in entries}) == KEEP
    for run in output.glob("run-*"):
        assert "somebody asked to be forgotten" in (run / "report.html").read_text()
        assert json.loads((run / "ledger.json").read_text())["erasures"]


def test_somebody_whom_no_run_has_seen_is_not_found_and_marked_all_the_same(output, secret_file):
    before = {path: content for path, content in tree(output).items() if path.startswith("run-")}
    said = forget(output, secret_file, "--speaker", "nobody")
    assert "nothing was found" in said and receipt_in(said)["records"] == 0
    assert {path: content for path, content in tree(output).items() if path.startswith("run-")} == before
    assert len(list((output / "private" / "forgotten").iterdir())) == 1


def test_without_a_runs_own_secret_with_a_wrong_one_or_with_nobody_named_nothing_is_touched(
    output, secret_file, tmp_path
):
    assert "no run" in refused(output, write_secret(tmp_path / "other", "another"), "--speaker", WHO)
    assert "nobody to forget" in refused(output, secret_file)
    assert "--speaker: is empty" in refused(output, secret_file, "--speaker", "")
    (tmp_path / "list").write_bytes(b"anna\n\xff\n")
    assert "list, line 2: not UTF-8" in refused(output, secret_file, "--speakers-file", tmp_path / "list")
    assert "one id on each line" in refused(output, secret_file, "--dialogues-file", tmp_path / "none")
    done = sottovoce("forget", "--output", tmp_path / "none", "--speaker", WHO, check=False)
    assert done.returncode == 1 and "not there" in done.stderr and not (tmp_path / "none").exists()


def test_while_a_run_is_being_written_nobody_is_forgotten(output, secret_file):
    with open(output / "private" / "lock", "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "is being written" in refused(output, secret_file, "--speaker", WHO)


def test_a_run_that_is_not_what_it_committed_is_left_alone_and_named(output, secret_file):
    shard = next(output.glob("run-*/slu/*.parquet"))
    content = shard.read_bytes()
    shard.write_bytes(content[:-1] + b"?")
    assert shard.name in refused(output, secret_file, "--speaker", WHO)
    shard.write_bytes(content)
    index = next((output / "private" / "runs").glob("run-*/index/*.parquet"))
    content = index.read_bytes()
    index.write_bytes(content + b"?")
    assert f"{index} is not the file that the run wrote" in refused(output, secret_file, "--speaker", WHO)
    index.unlink()
    assert "put it back from a backup" in refused(output, secret_file, "--speaker", WHO)


@contextmanager
def closed_to_writing(folder: Path):
    """Root may write anywhere, so its rights are put aside for a while."""
    mode = folder.stat().st_mode
    folder.chmod(0o500)
    if os.getuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(mode)


@pytest.mark.parametrize("closed", ["private", "private/runs/*/index", "run-*/slu", "run-*"])
def test_a_store_that_cannot_be_written_is_told_before_anything_is_done(closed, nights, secret_file):
    with tempfile.TemporaryDirectory() as folder:  # not that of pytest, which nobody else may enter
        output, secret = Path(folder) / "out", Path(folder) / "secret"
        shutil.copytree(nights / "out", output)
        shutil.copy(secret_file, secret)
        if os.getuid() == 0:
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        with closed_to_writing(next(output.glob(closed))):
            assert "nothing was changed" in refused(output, secret, "--speaker", WHO)
        assert "utterances are gone" in forget(output, secret, "--speaker", WHO)


def test_a_run_that_keeps_no_index_says_so_and_cannot_be_searched(tmp_path, secret_file):
    job = JOB | {"forget": False}
    night(tmp_path, records(*FIRST), secret_file, job)
    (run,) = (tmp_path / "out").glob("run-*")
    assert not (private_of(run) / "index").exists()
    assert {row["speaker"] for row in rows(run, "state") if "turns" in row} == {""}
    says = [
        row["says"] for row in json.loads((run / "ledger.json").read_text())["mechanisms"] if row["stage"] == "forget"
    ]
    assert len(says) == 1 and "keeps no index" in says[0]
    before = tables(run)
    done = sottovoce(
        "forget", "--output", tmp_path / "out", "--secret-file", secret_file, "--speaker", WHO, check=False
    )
    assert done.returncode == 3 and f"NOT SEARCHED     {run.name}: it keeps no index" in done.stdout
    assert tables(run) == before
    later = night(tmp_path, records(0, 60), secret_file, job)
    assert later["turns_forgotten"] == 20, "the mark is kept all the same"


def test_a_run_whose_folder_was_moved_away_is_named_and_erased_once_it_is_back(output, secret_file, tmp_path):
    run = next(output.glob("run-*"))
    shutil.move(run, tmp_path / "elsewhere")
    before = tables(run)
    arguments = ("forget", "--output", output, "--secret-file", secret_file, "--speaker", WHO)
    done = sottovoce(*arguments, check=False)
    assert done.returncode == 3 and f"NOT SEARCHED     {run.name}: its folder was moved away" in done.stdout
    assert tables(run) == before
    shutil.move(tmp_path / "elsewhere", run)
    assert "are gone from 1 runs" in sottovoce(*arguments).stdout
    token = speaker_token(Secret(secret_file.read_bytes()), WHO)
    assert {path.parent.name for path in holding(output, token)} == {"forgotten"}


def test_a_run_whose_private_state_is_lost_is_named(output, secret_file):
    run = next(output.glob("run-*"))
    shutil.rmtree(private_of(run))
    done = sottovoce("forget", "--output", output, "--secret-file", secret_file, "--speaker", WHO, check=False)
    assert done.returncode == 3 and f"NOT SEARCHED     {run.name}: its private state is lost" in done.stdout


def test_what_a_killed_run_left_goes_too(output, secret_file):
    left = output / "run-0123456789ab"
    (left / "slu").mkdir(parents=True)
    (left / "config.yaml").write_text("")
    (left / "slu" / "part-00000-of-00001.parquet").write_bytes(b"perhaps theirs")
    forget(output, secret_file, "--speaker", WHO)
    assert not left.exists()


@pytest.mark.long
def test_killed_before_any_write_it_is_completed_by_the_same_command_and_no_run_is_ever_read_half_erased(
    tmp_path, secret_file
):
    job = JOB | {"sinks": {"dm": 1}, "output": {"shards": 1}, "nightly": {"keep_runs": 1}}
    for span in (FIRST, SECOND):
        night(tmp_path, records(*span), secret_file, job)
    words = ("forget", "--output", "{}", "--secret-file", secret_file, "--speaker", WHO)
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "tests" / "support" / "kill_everywhere.py",
            tmp_path / "out",
            tmp_path / "kills",
            *words,
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *killed, last = json.loads(done.stdout)
    assert len(killed) > 50 and all(outcome["killed"] for outcome in killed) and not last["killed"]
    assert not [half for outcome in (*killed, last) for half in outcome["half_done"]]
    expected = but_for_receipts(last["completed"])
    assert [number for number, outcome in enumerate(killed) if but_for_receipts(outcome["completed"]) != expected] == []
    for outcome in killed:
        assert any(path.endswith("receipt-1.json") for path in outcome["completed"])


def but_for_receipts(files: dict[str, str]) -> dict[str, str]:
    """They say when it was."""
    return {path: content for path, content in files.items() if "/receipt-" not in path}


@pytest.mark.parametrize("next_command", ["nightly", "sanitize", "forget"])
def test_whatever_writes_next_completes_an_erasure_that_was_cut_off(
    next_command, output, secret_file, tmp_path, monkeypatch
):
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr("sottovoce.pipelines.forget.erasures.carry_out", die)
        forget(output, secret_file, "--speaker", WHO)
    run = next(output.glob("run-*/_COMMITTED.json"))
    run.unlink()  # as it is in the middle of it
    if next_command == "nightly":
        night(tmp_path, records(*THIRD), secret_file)
    elif next_command == "sanitize":
        manifest = write_manifest(tmp_path / "new", records(100, 110))
        sottovoce("sanitize", "--input", manifest, "--output", output, "--secret-file", secret_file)
    else:
        assert "utterances are gone from 3 runs" in forget(output, secret_file, "--speaker", WHO)
    assert json.loads(run.read_text())["erasures"]
    assert not list((output / "private" / "erasures").rglob("order.json"))
    token = speaker_token(Secret(secret_file.read_bytes()), WHO)
    assert [path.parent.name for path in holding(output, token)] == ["forgotten"]


def test_going_through_twice_changes_nothing(output, secret_file, monkeypatch):
    orders = []
    monkeypatch.setattr("sottovoce.pipelines.forget.forget.go_through", lambda *order: orders.append(order))
    forget(output, secret_file, "--speaker", WHO)
    erasure = output / "private" / "erasures" / orders[0][1]
    kept = {path: path.read_bytes() for path in erasure.rglob("*") if path.is_file()}
    go_through(*orders[0])
    once = tree(output)
    for path, content in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    go_through(*orders[0])
    assert tree(output) == once
