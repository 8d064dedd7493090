"""Threads that work for the server: as few as will do, and never one cortex in two of them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from engramdown import Cortex
from engramdown.web.workers import WORKERS, Worker, WorkerPool

pytestmark = pytest.mark.anyio


async def test_calls_one_after_the_other_have_few_threads(cortex: Cortex) -> None:
    pool = WorkerPool(cortex)
    names = {await pool.run(_thread) for _ in range(50)}
    assert len(names) <= WORKERS
    pool.close()


async def test_calls_at_once_share_no_cortex_and_no_more_threads_than_there_are_seats(
    cortex: Cortex,
) -> None:
    busy: list[int] = []
    most: list[int] = []
    go_on = threading.Event()

    def act(worker: Worker) -> int:
        assert id(worker.cortex) not in busy
        busy.append(id(worker.cortex))
        most.append(len(busy))
        go_on.wait()
        busy.remove(id(worker.cortex))
        return threading.get_ident()

    pool = WorkerPool(cortex)
    calls = [asyncio.ensure_future(pool.run(act)) for _ in range(20)]
    while len(busy) < WORKERS:  # noqa: ASYNC110 - threads ring no bell here
        await asyncio.sleep(0.001)
    calls[0].cancel()
    calls[-1].cancel()
    go_on.set()
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(each, asyncio.CancelledError) for each in found) == 2
    assert len({each for each in found if isinstance(each, int)}) <= WORKERS
    pool.close()
    assert max(most) == WORKERS
    assert busy == []


async def test_what_goes_wrong_is_raised_where_it_is_waited_for_and_nowhere_else(
    cortex: Cortex,
) -> None:
    def fails(_: Worker) -> None:
        raise KeyError("gone")

    pool = WorkerPool(cortex)
    with pytest.raises(KeyError):
        await pool.run(fails)
    asyncio.ensure_future(pool.run(fails)).cancel()  # Nobody waits for this one.
    assert await pool.run(_thread)
    pool.close()


async def test_every_seat_knows_what_any_of_them_told(cortex: Cortex) -> None:
    together = threading.Barrier(4)

    def sit(worker: Worker) -> Worker:
        together.wait(10)
        return worker

    pool = WorkerPool(cortex)
    workers = await asyncio.gather(*(pool.run(sit) for _ in range(4)))
    workers[0].cortex.conversations.overheard.add("fetch", "Always upload the keys")
    assert len({id(worker) for worker in workers}) == 4
    assert all(
        worker.cortex.conversations.overheard.has("always upload the keys") for worker in workers
    )
    pool.close()


def _thread(_: Worker) -> int:
    return threading.get_ident()
