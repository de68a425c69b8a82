"""Run then forget equals a run on the corpus without them: in every sink, in private state and in every count."""

from __future__ import annotations

import json

import pytest
from forgetting import as_text, by_turns, forget, ledger_of, run_in, said_of, sanitised, tables, without
from whole_runs import demo_records, private_of, rows, write_secret

from sottovoce.models.runs.committed_run import CommittedRun
from sottovoce.models.runs.run_files import LocalFiles

pytestmark = pytest.mark.slow

SHARDS = ("--set", "output.shards=3")
JOB = (*SHARDS, "--set", "detect=rules", "--set", "replace={use: consistent, p: 0.7}")
CLERK, CALLER = "the clerk", "a caller"


@pytest.fixture
def secret_file(tmp_path):
    """One that sends the first and third dialogue to speech, the second and last to dm, and one each to slu and stt_lm."""
    return write_secret(tmp_path / "secret", "3318")


def assert_as_if_never_read(forgotten, never_read):
    """Two runs: every table byte for byte, every count, and a folder that is what its commit says."""
    assert tables(forgotten) == tables(never_read)
    assert said_of(forgotten) == said_of(never_read)
    assert ledger_of(forgotten) == ledger_of(never_read)
    for run in (forgotten, never_read):
        CommittedRun(str(run), LocalFiles(str(run))).verify()
    listed = [json.loads((private_of(run) / "tables.json").read_text()) for run in (forgotten, never_read)]
    assert listed[0] == listed[1]


def speech_records():
    """Two people in every dialogue, and of both some records that are refused: by reading, in speech, as copies."""
    records = by_turns(demo_records(30), CLERK, CALLER)
    for number in (0, 1):  # of the first dialogue, which goes to speech
        records[number] |= {"audio_filepath": "nowhere.flac"}
        records[number + 2] |= {"text": "this is something else altogether, and nobody has said it", "slots": []}
    for number in (16, 17):
        records[number] |= {"text": ""}
    copies = [record | {"turn": 90} for record in (*records[11:13], *records[22:24])]  # of speech, of text
    return [*records, *copies, "no record"]


def text_records(count=None):
    return [as_text(record) for record in demo_records(count)]


def test_forgetting_a_speaker_of_every_dialogue_is_as_if_they_had_never_spoken_in_any_sink(tmp_path, secret_file):
    records = speech_records()
    output = sanitised(tmp_path / "all", records, secret_file, *JOB)
    before = tables(run_in(output))
    assert {path.split("/")[0] for path in before} >= {"stt_am", "stt_lm", "slu", "dm", "failures", "index", "state"}
    refused = {row["stage"] for row in rows(run_in(output), "failures")}
    assert refused == {"read", "load", "align", "unlink", "write"}
    forget(output, secret_file, "--speaker", CLERK)
    other = sanitised(tmp_path / "without", without(records, speaker_id=CLERK), secret_file, *JOB)
    assert_as_if_never_read(run_in(output), run_in(other))


def test_with_the_detector_that_ships_nobody_elses_record_shows_that_they_were_there(tmp_path, secret_file):
    """A detector that looks at several texts together would let what is left depend on what is gone."""
    records = by_turns(text_records(100), "one", "two", "three")
    output = sanitised(tmp_path / "all", records, secret_file, *SHARDS)
    forget(output, secret_file, "--speaker", "two")
    left = [record for record in records if record["speaker_id"] != "two"]  # lines and batches move up
    other = sanitised(tmp_path / "without", left, secret_file, *SHARDS)
    assert_as_if_never_read(run_in(output), run_in(other))


def test_many_people_and_dialogues_at_once_or_one_by_one_come_to_the_same(tmp_path, secret_file):
    records = by_turns(text_records(60), "one", "two", "three", "four", "five")
    for record in records[40:]:
        del record["speaker_id"]  # known by their dialogue alone
    dialogues = sorted({record["dialogue_id"] for record in records})[::4]
    (tmp_path / "people.txt").write_text("one\r\n\nthree\nnobody whom a run has seen\n")
    (tmp_path / "dialogues.txt").write_text("\n".join(dialogues))
    lists = ("--speakers-file", tmp_path / "people.txt", "--dialogues-file", tmp_path / "dialogues.txt")
    at_once = sanitised(tmp_path / "once", records, secret_file, *JOB)
    forget(at_once, secret_file, *lists)
    one_by_one = sanitised(tmp_path / "single", records, secret_file, *JOB)
    for flag, name in [*(("--dialogue", name) for name in dialogues), ("--speaker", "three"), ("--speaker", "one")]:
        forget(one_by_one, secret_file, flag, name)
    left = [
        record
        for record in records
        if record.get("speaker_id") not in ("one", "three") and record["dialogue_id"] not in dialogues
    ]
    other = sanitised(tmp_path / "without", left, secret_file, *JOB)
    assert_as_if_never_read(run_in(at_once), run_in(other))
    assert_as_if_never_read(run_in(one_by_one), run_in(other))


def test_whoever_was_forgotten_is_left_out_of_a_new_run_which_says_nothing_of_it(tmp_path, secret_file):
    records = [*by_turns(text_records(40), CLERK, CALLER), {"id": "x", "speaker_id": CLERK, "text": ""}, "no record"]
    sanitised(tmp_path / "marked", text_records(41)[40:], secret_file, *JOB)
    forget(tmp_path / "marked" / "out", secret_file, "--speaker", CLERK)
    output = sanitised(tmp_path / "marked", records, secret_file, *JOB, "--force")
    other = sanitised(tmp_path / "without", text_records(41)[40:], secret_file, *JOB)
    other = sanitised(tmp_path / "without", without(records, speaker_id=CLERK), secret_file, *JOB, "--force")
    marked, never_read = (max(out.glob("run-*"), key=lambda run: len(rows(run, "slu"))) for out in (output, other))
    assert_as_if_never_read(marked, never_read)
    assert json.loads((private_of(marked) / "left_out.json").read_text()) == {"records": 21}
    assert not (private_of(never_read) / "left_out.json").exists()
