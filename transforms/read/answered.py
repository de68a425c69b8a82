"""Asks a storage for something and does not wait for ever: clients of buckets go on trying for minutes, and print stacks."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from apache_beam.io.filesystem import BeamIOError

from sottovoce.models.errors import DEBUG, CorpusError, silent_logs

MOST_S = 45.0
EXTRAS = {"gs": "gcp", "s3": "aws", "hdfs": "hadoop", "azfs": "azure"}
MISSING = (AssertionError, ImportError, NameError)  # what Beam's filesystems raise without their clients
NOBODYS = "Unable to get filesystem"  # Beam's ValueError for a scheme that none of them has
T = TypeVar("T")


def answered(ask: Callable[[], T], uri: str) -> T:
    """What `ask` gives or raises; a CorpusError with the next command where nothing answers in time."""
    found: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(ask())
        except BaseException as error:  # noqa: BLE001 - it is raised again, where it was asked for
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)  # one that hangs must not keep the process
    with contextlib.nullcontext() if os.environ.get(DEBUG) else silent_logs():
        thread.start()
        thread.join(MOST_S)
    if raised:
        raise raised[0]
    if not found:
        raise CorpusError(
            f"{uri}: no answer within {MOST_S:g} s. Does the bucket exist, may this machine reach it, and is it signed in "
            "(gcloud auth application-default login, aws configure)?"
        )
    return found[0]


def cause(error: BaseException, uri: str) -> str:
    """Why a storage could not be asked: what to install, or what the storage said before it quoted."""
    while isinstance(error, BeamIOError) and error.exception_details:
        error = next(iter(error.exception_details.values()))
    scheme = uri.partition("://")[0]
    if isinstance(error, MISSING) or str(error).startswith(NOBODYS):
        extra = EXTRAS.get(scheme)
        return (
            f"a package is missing: pip install 'apache-beam[{extra}]'" if extra else f"no filesystem for {scheme}://"
        )
    if isinstance(error, ValueError):
        return f"not in the form {scheme}://BUCKET/FOLDER"
    said = str(error.args[0]).partition(":")[0] if type(error).__name__ == "S3ClientError" else ""
    return said or type(error).__name__
