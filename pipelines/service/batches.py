"""Requests on their way to a model: one queue and one thread for each kind of work, taken in batches across callers.

While a batch is at work, others gather, and are the next batch: a request waits for the batch before it and no longer, and
on an idle service not at all. A full queue turns away. Who has gone away is taken out of the queue; work that has begun
for them is told so (`Asked.gone`) and stops at its next step.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sottovoce.models.errors import SottovoceError
from sottovoce.pipelines.service import problems

One = TypeVar("One")
CLOSED_BY_CALLER = 499  # as nginx writes it down; nobody is there to read it


@dataclass(eq=False, repr=False)
class Asked:
    """One request's share of a batch."""

    item: Any
    answer: asyncio.Future
    gone: threading.Event = field(default_factory=threading.Event)


Work = Callable[[Sequence[Asked]], list[Any]]  # an answer for each, or the exception that it ends with


class Batches:
    """One queue with its thread: callers wait in `ask`, and `work` gets what waits, up to `most_at_once` of it."""

    def __init__(
        self, name: str, work: Work, most_waiting: int, most_at_once: int, counted: Callable[[str, int], None]
    ):
        self.name, self._work, self._counted = name, work, counted
        self._most_waiting, self._most_at_once = most_waiting, most_at_once
        self._waiting: deque[Asked] = deque()
        self._some = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"service-{name}")
        self._seconds_each = 0.0  # of processing, lately
        self._task: asyncio.Task | None = None

    def start(self) -> None:
        """Needs a running event loop; what was asked before waits until then."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Waits for the batch at work to end; whoever has no answer by then gets none."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._thread.shutdown(wait=True, cancel_futures=True)

    @property
    def waiting(self) -> int:
        """How many requests no batch has taken yet."""
        return len(self._waiting)

    async def ask(self, item: Any) -> Any:
        """The answer of `work` to one item, or the exception that it ended with; Problem 429, with the seconds to wait, where
        the queue is full."""
        if len(self._waiting) >= self._most_waiting:
            raise problems.full(self._seconds_each * len(self._waiting))
        asked = Asked(item, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        self._some.set()
        try:
            return await asked.answer
        finally:
            asked.gone.set()
            if asked.answer.cancelled():
                self._leave(asked)

    def _leave(self, asked: Asked) -> None:
        if asked in self._waiting:
            self._waiting.remove(asked)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._some.wait()
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most_at_once))]
            if not batch:
                self._some.clear()
                continue
            self._counted(self.name, len(batch))
            began = time.monotonic()
            try:
                answers = await loop.run_in_executor(self._thread, self._work, batch)
            except Exception as error:  # noqa: BLE001  (each of them is told; the queue goes on)
                answers = [problems.of_foreign(error)] * len(batch)
            self._seconds_each = 0.8 * self._seconds_each + 0.2 * (time.monotonic() - began) / len(batch)
            for asked, answer in zip(batch, answers, strict=True):
                if asked.answer.done():
                    continue
                if isinstance(answer, BaseException):
                    asked.answer.set_exception(answer)
                else:
                    asked.answer.set_result(answer)


def each(batch: Sequence[One], act: Callable[[One], Any]) -> list[Any]:
    """One by one: what breaks on one item is that caller's alone."""
    answers = []
    for one in batch:
        try:
            answers.append(act(one))
        except (SottovoceError, problems.Problem) as error:
            answers.append(error)
        except Exception as error:  # noqa: BLE001  (its words may quote the item)
            answers.append(problems.of_foreign(error))
    return answers


async def unless_gone(receive: Callable[[], Awaitable[Any]], asking: Awaitable[Any], most_s: float) -> Any:
    """The answer, unless the caller goes away or it takes too long: then nothing further is done for it."""
    work = asyncio.ensure_future(asking)
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        done, _ = await asyncio.wait({work, gone}, timeout=most_s, return_when=asyncio.FIRST_COMPLETED)
        if work in done:
            return work.result()
        if gone in done:
            raise problems.Problem(CLOSED_BY_CALLER, "gone", "a caller who waits for the answer")
        raise problems.invalid(
            "time_limit", f"what can be answered within {most_s:g} s (--max-wait); send less at a time"
        )
    finally:
        for task in (work, gone):
            task.cancel()


async def _disconnected(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
