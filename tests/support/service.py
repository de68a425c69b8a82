"""A service in this process, with a detector that needs no network: for tests of what surrounds the models."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from loopback import free_ports
from starlette.testclient import TestClient

from sottovoce.models.randomness import Secret
from sottovoce.models.settings import FAMILIES
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.service.app import make_app
from sottovoce.pipelines.service.service_settings import Limits, ServiceSettings

DEMO = Path(__file__).parents[2] / "examples" / "demo"
SECRET = Secret(b"of tests, so that a session draws the same in each")
PATIENT = Limits(wait_s=600.0)  # a busy machine is no defect
QUICK = ("detect={use: gazetteer, entries: {PER: [alice, bob, carol, dave, martin okafor]}}",)


def settings(*assignments: str, limits: Limits | None = None, **more: Any) -> ServiceSettings:
    job = read_job(None, [*QUICK, *assignments])
    return ServiceSettings(
        specs={family: job.specs[family] for family in FAMILIES},
        slicer=job.sections["slice"],
        audio=job.sections["audio"],
        secret=more.pop("secret", None) or SECRET,
        limits=limits or PATIENT,
        **{"text_only": True, **more},
    )


@contextlib.contextmanager
def serving(*assignments: str, **more: Any) -> Iterator[TestClient]:
    with TestClient(make_app(settings(*assignments, **more)), base_url="http://localhost:5000") as client:
        yield client


@contextlib.contextmanager
def listening(*assignments: str, **more: Any) -> Iterator[str]:
    """The same behind a real socket; gives its address."""
    (port,) = free_ports(1)
    config = uvicorn.Config(make_app(settings(*assignments, **more)), port=port, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not come up"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def spoken(name: str = "bank-01-2") -> tuple[bytes, dict[str, Any]]:
    """A recording of the demo and its record."""
    for line in (DEMO / "manifest.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["id"] == name:
            return (DEMO / record["audio_filepath"]).read_bytes(), record
    raise KeyError(name)
