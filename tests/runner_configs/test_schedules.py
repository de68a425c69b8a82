"""Each schedule names a command that our parser accepts, at a time its scheduler accepts, and never two nights at once."""

from __future__ import annotations

import argparse
import ast
import configparser
import importlib
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from whole_runs import ROOT

from sottovoce.pipelines.cli import COMMANDS, _split_beam, _split_command

SCHEDULES = ROOT / "runner_configs" / "schedules"
CRON_TIME = re.compile(r"^(\d+|\*) (\d+|\*) \S+ \S+ \S+$")


def cron_line() -> str:
    (line,) = [line for line in (SCHEDULES / "cron").read_text().splitlines() if re.match(r"[\d*]", line)]
    return line


def service() -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # systemd's keys are case sensitive
    unit.read(SCHEDULES / "sottovoce-nightly.service")
    return unit


def cron_job() -> dict:
    return yaml.safe_load((SCHEDULES / "kubernetes_cronjob.yaml").read_text())


def airflow_constants() -> dict[str, str]:
    """Of the DAG, without Airflow: `make test-airflow` parses it with the real one."""
    tree = ast.parse((SCHEDULES / "airflow_dag.py").read_text())
    names: dict = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            exec(compile(ast.Module([node], []), "airflow_dag", "exec"), names)
    return names


COMMAND_LINES = {
    "cron": lambda: shlex.split(cron_line().partition("nightly.lock ")[2]),
    "systemd": lambda: shlex.split(service()["Service"]["ExecStart"]),
    "kubernetes": lambda: cron_job()["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"],
    "airflow": lambda: shlex.split(airflow_constants()["COMMAND"]),
}


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_the_command_of_each_schedule_is_one_that_we_accept(name):
    program, *rest = COMMAND_LINES[name]()
    assert program.split("/")[-1] == "sottovoce"
    command, arguments = _split_command(rest)
    assert command == "nightly"
    parser = argparse.ArgumentParser(exit_on_error=False)
    importlib.import_module(COMMANDS[command][0]).add_arguments(parser)
    assert parser.parse_args(_split_beam(arguments)[0]).config.endswith("job.yaml")


def test_cron_has_a_time_and_keeps_two_nights_apart():
    time, command = re.match(r"((?:\S+ ){4}\S+)\s+(.*)$", cron_line()).groups()
    assert CRON_TIME.match(time)
    assert "flock --nonblock --conflict-exit-code 75" in command
    assert "%" not in command, "cron makes line ends of them"


def test_systemd_accepts_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine")
    program = tmp_path / ".venv" / "bin" / "sottovoce"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    units = []
    for suffix in ("service", "timer"):
        unit = tmp_path / f"sottovoce-nightly.{suffix}"
        unit.write_text((SCHEDULES / unit.name).read_text().replace("/srv/sottovoce", str(tmp_path)))
        units.append(str(unit))
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    about_ours = [line for line in done.stderr.splitlines() if "sottovoce" in line]
    assert (done.returncode, about_ours) == (0, [])


def test_systemd_tries_a_busy_night_again_and_only_that():
    settings = service()["Service"]
    assert (settings["Restart"], settings["RestartForceExitStatus"]) == ("no", "75")


def test_kubernetes_knows_every_field_of_the_cron_job():
    """Read into the client's own types and written again: a misspelt field would be lost, a missing one is refused."""
    client = pytest.importorskip("kubernetes.client", reason="the extra `kubernetes` is not installed")

    api = client.ApiClient()
    read = api._ApiClient__deserialize(cron_job(), "V1CronJob")  # the public one differs between versions
    assert api.sanitize_for_serialization(read) == cron_job()


def test_kubernetes_forbids_two_nights_and_does_not_repeat_wrong_settings():
    spec = cron_job()["spec"]
    assert CRON_TIME.match(spec["schedule"]) and spec["concurrencyPolicy"] == "Forbid"
    rules = spec["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    actions = {code: rule["action"] for rule in rules for code in rule.get("onExitCodes", {}).get("values", ())}
    assert actions == {2: "FailJob", 1: "Count", 75: "Count"}
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["restartPolicy"] == "Never" and rules[0]["onExitCodes"]["containerName"] == container["name"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_cloud_scheduler_gives_the_flex_template_what_it_asks_for():
    body = json.loads((SCHEDULES / "cloud_scheduler.json").read_text())["launchParameter"]
    metadata = json.loads((ROOT / "runner_configs" / "dataflow" / "metadata.json").read_text())
    known = {parameter["name"]: parameter for parameter in metadata["parameters"]}
    given = body["parameters"]
    assert {name for name, parameter in known.items() if not parameter.get("isOptional")} <= set(given) <= set(known)
    for name, value in given.items():
        assert all(re.match(pattern, value) for pattern in known[name].get("regexes", ())), name
    assert given["nightly"] == "true"
    assert body["jobName"] == "sottovoce-nightly", (
        "a fixed name: Dataflow refuses a second job of it while one is active"
    )


def test_the_page_names_every_schedule():
    page = (ROOT / "docs" / "nightly.md").read_text()
    assert not [path.name for path in Path(SCHEDULES).iterdir() if path.is_file() and path.name not in page]
