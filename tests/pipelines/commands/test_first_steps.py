"""init, schema and completion: what they write is what the other commands take."""

from __future__ import annotations

import argparse
import stat
import subprocess

import jsonschema_rs
import pytest
import yaml
from whole_runs import ROOT, sottovoce, write_manifest

from sottovoce.models.errors import SettingsError
from sottovoce.models.settings import build
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.commands import init
from sottovoce.pipelines.commands.completion import script
from sottovoce.pipelines.commands.schema import job_schema, train_schema
from sottovoce.pipelines.sanitize.job_file import read_job


def test_init_says_what_is_there_and_what_is_missing_and_its_job_is_one(tmp_path):
    records = [{"text": "call anna bloggs", "intent": "call", "slots": [{"begin": 5, "end": 16, "name": "who"}]}, "no"]
    manifest, job, secret = write_manifest(tmp_path, [records[0]] * 2 + records), tmp_path / "job.yaml", tmp_path / "s"
    done = sottovoce("init", "--input", manifest, "--config", job, "--secret-file", secret)
    for words in (
        "records   3",
        "refused   not_json_object (1)",
        "slots: who (3)",
        "missing   speakers",
        "missing   dialogues",
    ):
        assert words in done.stdout, words
    assert "anna" not in done.stdout + job.read_text()
    assert set(read_job(str(job)).sinks) == {"stt_lm", "slu"}
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600 and len(secret.read_bytes()) == 32
    again = sottovoce("init", "--input", manifest, "--config", job, "--secret-file", secret, check=False)
    assert again.returncode == 2 and "is there already" in again.stderr
    jsonschema_rs.validate(job_schema(), yaml.safe_load(job.read_text()))


def test_init_names_the_columns_that_it_leaves_unread_and_none_of_their_values(tmp_path, capsys):
    manifest = write_manifest(tmp_path, [{"text": "call anna", "conv": "c-17", "label": "ringing", "\x1b[2J": 1}] * 2)
    files = {"config": tmp_path / "job.yaml", "secret_file": tmp_path / "s", "limit": 10}
    assert init.run(argparse.Namespace(input=str(manifest), set=[], **files)) == 0
    shown = capsys.readouterr().out
    assert "not read  conv, label (" in shown and not any(word in shown for word in ("c-17", "ringing", "anna", "\x1b"))
    many = init.unread([f"k{number}" for number in range(20)])
    assert "k11 and 8 more" in many[0] and not init.unread([])


def test_init_reads_columns_of_any_name_and_writes_them_into_the_job(tmp_path, capsys):
    (tmp_path / "calls.csv").write_text("Nr;Gespräch;Was gesagt wurde\n1;a;call anna\n2;a;yes\n", "utf-8")
    columns = {"id": "Nr", "dialogue_id": "Gespräch", "text": "Was gesagt wurde"}
    given = [f"input.columns={yaml.safe_dump(columns, default_flow_style=True, allow_unicode=True).strip()}"]
    files = {"config": tmp_path / "job.yaml", "secret_file": tmp_path / "s", "limit": 10}
    args = argparse.Namespace(input=str(tmp_path / "calls.csv"), set=given, **files)
    assert init.run(args) == 0
    assert "dialogues 1, 2.0 turns each" in capsys.readouterr().out
    assert read_job(str(tmp_path / "job.yaml")).resolved["input"]["columns"] == columns
    with pytest.raises(SettingsError, match="keys of input only"):
        init.run(
            argparse.Namespace(
                **vars(args) | {"set": ["replace=full"], "config": tmp_path / "j", "secret_file": tmp_path / "t"}
            )
        )


@pytest.mark.parametrize("path", ["pipelines/sanitize/default_job.yaml", "examples/demo/job.yaml"])
def test_the_schema_takes_the_jobs_that_ship(path):
    jsonschema_rs.validate(job_schema(), yaml.safe_load((ROOT / path).read_text()))


def test_the_schema_takes_members_by_name_and_with_options_and_nothing_else():
    jsonschema_rs.validate(job_schema(), {"replace": {"use": "full", "target_epsilon": 6.0}, "detect": "hf:name"})
    for wrong in ({"detekt": "rules"}, {"replace": "tiped"}, {"slice": {"min_second": 3}}, {"sinks": {"radio": 1}}):
        with pytest.raises(jsonschema_rs.ValidationError):
            jsonschema_rs.validate(job_schema(), wrong)


def test_the_example_of_a_training_is_valid():
    values = yaml.safe_load((ROOT / "examples" / "train.yaml").read_text())
    jsonschema_rs.validate(train_schema(), values)
    assert build(TrainSettings, values, "train").target_epsilon == 8


def test_the_shell_completes_commands_and_flags():
    ask = "COMP_WORDS=({words}); COMP_CWORD={at}; _sottovoce; echo ${{COMPREPLY[@]}}"
    lines = [ask.format(words="sottovoce san", at=1), ask.format(words="sottovoce budget rr --pi", at=3)]
    shown = subprocess.run(["bash", "-c", "\n".join([script(), *lines])], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["sanitize", "--pi-min"]
