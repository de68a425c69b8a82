"""Asks a storage for something and does not wait for ever: clients of buckets go on trying for minutes, without a word."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from sottovoce.models.errors import CorpusError

MOST_S = 45.0
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
