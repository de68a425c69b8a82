"""The queue: batches across callers, a full one turns away, who is gone costs nothing, one caller's fault stays theirs."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sottovoce.pipelines.service.batches import Batches, each, unless_gone
from sottovoce.pipelines.service.problems import Problem


class Slow:
    """Doubles numbers, once it is let go; remembers its batches."""

    def __init__(self):
        self.go, self.begun, self.batches = threading.Event(), threading.Event(), []

    def __call__(self, batch):
        self.batches.append([asked.item for asked in batch])
        self.begun.set()
        self.go.wait(20)
        return each(batch, lambda asked: 2 * asked.item if asked.item != 13 else 1 // 0)


def played(scene, most_waiting=8, most_at_once=4):
    work = Slow()

    async def whole():
        batches = Batches("test", work, most_waiting, most_at_once, lambda name, size: None)
        batches.start()
        try:
            return await scene(batches, work)
        finally:
            work.go.set()
            await batches.stop()

    return asyncio.run(whole())


async def begun(batches, work, *items):
    """The first item at work, the others in the queue."""
    asked = [asyncio.ensure_future(batches.ask(item)) for item in items]
    await asyncio.to_thread(work.begun.wait, 20)
    return asked


def test_what_gathers_while_one_is_at_work_is_the_next_batch():
    async def scene(batches, work):
        asked = [*await begun(batches, work, 0), *(asyncio.ensure_future(batches.ask(n)) for n in range(1, 7))]
        await asyncio.sleep(0)
        work.go.set()
        assert await asyncio.gather(*asked) == [0, 2, 4, 6, 8, 10, 12]
        return work.batches

    assert played(scene) == [[0], [1, 2, 3, 4], [5, 6]]


def test_a_full_queue_turns_away_and_says_when_to_come_again():
    async def scene(batches, work):
        await begun(batches, work, 0)
        waiting = [asyncio.ensure_future(batches.ask(n)) for n in range(8)]
        await asyncio.sleep(0)
        with pytest.raises(Problem) as turned_away:
            await batches.ask(9)
        work.go.set()
        await asyncio.gather(*waiting)
        return turned_away.value

    problem = played(scene)
    assert problem.status == 429 and int(problem.headers["Retry-After"]) >= 1


def test_who_goes_away_while_waiting_is_never_worked_on():
    async def scene(batches, work):
        first, *_ = await begun(batches, work, 0)

        async def gone():
            return {"type": "http.disconnect"}

        with pytest.raises(Problem):
            await unless_gone(gone, batches.ask(1), 20)
        await asyncio.sleep(0.01)
        assert batches.waiting == 0
        work.go.set()
        await first
        return work.batches

    assert played(scene) == [[0]]


def test_work_that_has_begun_is_told_that_its_caller_is_gone():
    async def scene(batches, work):
        begun, told = threading.Event(), threading.Event()

        def waits(batch):
            begun.set()
            told.set() if batch[0].gone.wait(20) else None
            return [None]

        batches._work = waits
        task = asyncio.ensure_future(batches.ask(1))
        assert await asyncio.to_thread(begun.wait, 20)
        task.cancel()
        return await asyncio.to_thread(told.wait, 20)

    assert played(scene)


def test_an_answer_that_takes_too_long_is_given_up_with_the_limit_named():
    async def scene(batches, work):
        async def stays():
            await asyncio.sleep(60)

        with pytest.raises(Problem) as given_up:
            await unless_gone(stays, batches.ask(1), 0.05)
        return given_up.value

    problem = played(scene)
    assert problem.status == 422 and "0.05 s" in problem.allowed


def test_what_breaks_on_one_item_is_told_to_its_caller_alone_and_quotes_nothing():
    async def scene(batches, work):
        work.go.set()
        return await asyncio.gather(*(batches.ask(n) for n in (12, 13, 14)), return_exceptions=True)

    first, broken, last = played(scene)
    assert (first, last) == (24, 28)
    assert broken.status == 500 and "ZeroDivisionError in test_batches.py" in broken.allowed
