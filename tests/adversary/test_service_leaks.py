"""Attacker: reads what a service leaves behind: its log at any level, error answers in a client's log, metrics, files on disk.

Callers send planted words, in bodies that are right and in such that break, large forms with sound, queries, headers.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from adversary import as_outsider, weakened
from loopback import free_ports
from service import QUICK, serving, spoken
from starlette.formparsers import MultiPartParser

from sottovoce.pipelines.service import problems

WORD = "petronella"
LARGE = b"RIFF" + WORD.encode() * 200_000  # more than a form parser keeps in memory unless told to


def attack(collected: str, told: list[str], files: list[str]) -> set[str]:
    """Where a planted word stands, and whether anything was written to a file at all."""
    found = {"log"} if WORD in collected else set()
    return found | ({"errors"} if any(WORD in text for text in told) else set()) | ({"disk"} if files else set())


@contextlib.contextmanager
def written_files() -> Iterator[list[str]]:
    """Every file that this process opens for writing, temporary ones included."""
    files: list[str] = []
    _WATCHING.append(files)
    try:
        yield files
    finally:
        _WATCHING.remove(files)


_WATCHING: list[list[str]] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _WATCHING and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        for files in _WATCHING:
            files.append(str(arguments[0]))


sys.addaudithook(_watch)


@contextlib.contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    collected, level = io.StringIO(), logging.root.level
    handler = logging.StreamHandler(collected)
    handler.addFilter(lambda record: not record.name.startswith("http"))  # the callers' own library
    logging.root.addHandler(handler)
    logging.root.setLevel(1)
    try:
        yield collected
    finally:
        logging.root.removeHandler(handler)
        logging.root.setLevel(level)


def asked(client: Any) -> list[str]:
    """What callers are told when something is wrong, and the metrics."""
    json_body = {"Content-Type": "application/json"}
    wrong = [
        client.post("/v1/detect", json={"text": 5, WORD: 1}),
        client.post("/v1/detect", json={"text": [WORD]}),
        client.post("/v1/replace", json={"text": f"call {WORD}", "p": WORD}),
        client.post("/v1/detect", content=f'{{"text": "{WORD}', headers=json_body),
        client.post("/v1/detect", content=WORD, headers=json_body),
        client.get(f"/{WORD}?{WORD}={WORD}"),
        client.post("/v1/mask", files={"audio": LARGE}, data={"text": WORD}),
        client.post("/v1/mask", files={WORD: LARGE}),
        client.post("/v1/mask", files={"audio": spoken()[0]}, data={"text": f"{WORD} was said"}),
        client.post("/v1/replace", json={"text": "a", "strategy": "full"}, headers={"X-Session": WORD * 50}),
    ]
    assert all(400 <= answer.status_code < 500 for answer in wrong)
    for text in (f"call {WORD}", f"call alice and {WORD}"):
        assert client.post(f"/v1/replace?q={WORD}", json={"text": text}).status_code == 200
    broken = client.post("/v1/detect", json={"text": f"break {WORD}"})  # where the test makes the detector break
    return [
        *(answer.text for answer in wrong),
        client.get("/metrics").text,
        *([broken.text] if broken.status_code == 500 else []),
    ]


def breaks_quoting(self: Any, texts: list[str]) -> Any:
    if any(text.startswith("break") for text in texts):
        raise ValueError(f"cannot handle {texts}")
    return [[] for _ in texts]


def left_behind() -> tuple[str, list[str], list[str]]:
    broken = {"sottovoce.models.text.detect.gazetteer:Gazetteer.detect": breaks_quoting}
    with (
        everything_logged() as log,
        weakened("a detector that never breaks", broken),
        serving(text_only=False) as client,
        written_files() as files,
    ):
        told = asked(client)
    return log.getvalue(), told, files


def quoting(error: Any) -> problems.Problem:
    return problems.Problem(500, "unexpected", str(error))


def quoting_all(errors: Any) -> problems.Problem:
    return problems.invalid("invalid_request", str(list(errors)))


@pytest.mark.slow
def test_words_are_found_in_errors_logs_and_on_disk_where_nothing_was_done_about_it():
    as_before = {
        "sottovoce.pipelines.service.problems:of_foreign": quoting,
        "sottovoce.pipelines.service.problems:of_validation": quoting_all,
        "sottovoce.pipelines.service.questions:_InMemory": _Spooling,
        "sottovoce.pipelines.service.gate:told_by_place": str,
        "sottovoce.pipelines.service.app:_add_errors": _only_some,
    }
    with weakened("errors told by place, forms kept in memory", as_before):
        theirs = left_behind()
    assert as_outsider(attack, *theirs) == {"log", "errors", "disk"}


class _Spooling(MultiPartParser):
    """A parser as it comes: above a megabyte it writes to a temporary file."""

    @property
    def spool_max_size(self) -> int:  # type: ignore[override]
        return 1 << 20

    @spool_max_size.setter
    def spool_max_size(self, size: int) -> None:
        pass


def _only_some(app: Any, settings: Any, error_body: Any) -> None:
    """Problems reach the gate, which writes them down."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse

    app.exception_handler(RequestValidationError)(lambda request, error: JSONResponse(str(error.errors()), 422))
    app.exception_handler(problems.Problem)(_written_down)


def _written_down(request: Any, problem: problems.Problem) -> Any:
    from fastapi.responses import JSONResponse

    logging.getLogger("sottovoce.service").warning("%s", problem.allowed)
    return JSONResponse(problem.allowed, problem.status)


@pytest.mark.slow
def test_nothing_of_a_request_is_found_anywhere():
    assert as_outsider(attack, *left_behind()) == set()


@pytest.mark.slow
def test_a_service_that_cannot_write_to_any_file_answers_all_the_same(tmp_path):
    """The system refuses every write to a file, from Python and from C: whatever needed one would fail here."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", "serve", "--port", str(port), "--set", QUICK[0]]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    url = f"http://127.0.0.1:{port}"
    try:
        _until_up(url, process)
        before = sorted(tmp_path.rglob("*"))
        warm(url)  # libraries compile and cache what they need on first use
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, 0))
        warm(url)
        assert sorted(tmp_path.rglob("*")) == before
        assert resource.prlimit(process.pid, resource.RLIMIT_CORE) == (0, 0)
    finally:
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=60)
    assert "POST /v1/anonymise 200" in log and "martin" not in log
    assert not list(tmp_path.rglob("sottovoce*")), "the secret of this start is gone with it"


def warm(url: str) -> None:
    content, record = spoken()
    form = {"files": {"audio": content}, "data": {"text": record["text"]}}
    assert httpx.post(f"{url}/v1/anonymise", **form, timeout=60).status_code == 200
    large = {"audio": content + b"\0" * (2 << 20)}
    assert httpx.post(f"{url}/v1/mask", files=large, data={"text": record["text"]}, timeout=60).status_code in (
        200,
        422,
    )
    assert httpx.post(f"{url}/v1/replace", json={"text": "call martin okafor"}, timeout=60).status_code == 200


def _until_up(url: str, process: subprocess.Popen) -> None:
    for _ in range(600):
        assert process.poll() is None, process.stderr.read()
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/health").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the service did not come up")
