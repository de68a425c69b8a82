"""Whether a runner elsewhere can be asked at all: told in plain words before anything is written, with the next command."""

from __future__ import annotations

import socket
from typing import Any

from apache_beam.options.pipeline_options import FlinkRunnerOptions, GoogleCloudOptions, PortableOptions

from sottovoce.models.errors import RunError, SettingsError

CONNECT_S = 5.0
NEEDED = {"project": "P", "region": "europe-west4", "temp_location": "gs://BUCKET/tmp"}  # with an example of each


def check_runner(runner: str, options: Any) -> None:
    """SettingsError where Dataflow lacks an option, RunError where the Flink cluster that it names does not answer."""
    own_job_server = options.view_as(PortableOptions).job_endpoint  # which knows its cluster
    if runner == "flink" and not own_job_server:
        _check_flink(options.view_as(FlinkRunnerOptions).flink_master)
    if runner == "dataflow":
        cloud = options.view_as(GoogleCloudOptions)
        missing = [f"--{name}={example}" for name, example in NEEDED.items() if not getattr(cloud, name)]
        if missing:
            raise SettingsError([f"--runner dataflow: needs more; write after --: {' '.join(missing)}"])


def _check_flink(master: str) -> None:
    """Names in brackets, such as [local], are clusters that Beam starts itself."""
    host, colon, port = master.removeprefix("https://").removeprefix("http://").rpartition(":")
    if master.startswith("[") or not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), CONNECT_S).close()
    except OSError as error:
        raise RunError(
            f"no Flink cluster answers at {master} ({error.strerror or type(error).__name__}). Start one with: make flink-up; or "
            "name yours after --, such as -- --flink_master=HOST:8081"
        ) from None
