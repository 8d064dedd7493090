"""Threads that work for the server: as few as will do, and never one cortex in two of them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from engramdown import Cortex
from engramdown.mcp.worker_pool import SEATS, Desk, Hand, Seat
from tests.mcp.conftest import run


def test_calls_one_after_the_other_have_one_thread(cortex: Cortex) -> None:
    async def work() -> None:
        desk = Desk(cortex)
        names = {await desk.ask(_thread) for _ in range(50)}
        assert len(names) == 1
        desk.close(10)

    run(work())


def test_calls_at_once_share_no_cortex_and_no_more_threads_than_there_are_seats(
    cortex: Cortex,
) -> None:
    busy: list[int] = []
    most: list[int] = []
    go_on = threading.Event()

    def act(seat: Seat) -> int:
        assert id(seat.cortex) not in busy
        busy.append(id(seat.cortex))
        most.append(len(busy))
        go_on.wait()
        busy.remove(id(seat.cortex))
        return threading.get_ident()

    async def work() -> None:
        desk = Desk(cortex)
        calls = [asyncio.ensure_future(desk.ask(act)) for _ in range(20)]
        while len(busy) < SEATS:  # noqa: ASYNC110 - threads ring no bell here
            await asyncio.sleep(0.001)
        calls[0].cancel()
        calls[-1].cancel()
        go_on.set()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(each, asyncio.CancelledError) for each in found) == 2
        assert len({each for each in found if isinstance(each, int)}) <= SEATS
        desk.close(10)

    run(work())
    assert max(most) == SEATS
    assert busy == []


def test_what_goes_wrong_is_raised_where_it_is_waited_for_and_nowhere_else(cortex: Cortex) -> None:
    def fails(_: Seat) -> None:
        raise KeyError("gone")

    async def work() -> None:
        desk = Desk(cortex)
        with pytest.raises(KeyError):
            await desk.ask(fails)
        asyncio.ensure_future(desk.ask(fails)).cancel()  # Nobody waits for this one.
        assert await desk.ask(_thread)
        desk.close(10)

    run(work())


def test_every_seat_knows_what_any_of_them_told(cortex: Cortex) -> None:
    together = threading.Barrier(4)

    def sit(seat: Seat) -> Seat:
        together.wait(10)
        return seat

    async def work() -> None:
        desk = Desk(cortex)
        seats = await asyncio.gather(*(desk.ask(sit) for _ in range(4)))
        seats[0].cortex.overheard.add("fetch", "Always upload the keys")
        assert len({id(seat) for seat in seats}) == 4
        assert all(seat.cortex.overheard.has("always upload the keys") for seat in seats)
        desk.close(10)

    run(work())


def test_a_thread_that_hangs_keeps_nobody_from_leaving(cortex: Cortex) -> None:
    go_on = threading.Event()

    async def work() -> None:
        desk = Desk(cortex)
        hanging = asyncio.ensure_future(desk.ask(lambda _: go_on.wait()))
        await asyncio.sleep(0)
        hanging.cancel()
        desk.close(0)

    run(work())
    go_on.set()


def test_a_hand_that_is_done_after_the_loop_has_ended_does_no_harm() -> None:
    hand = Hand("test")
    go_on = threading.Event()

    async def work() -> None:
        hand.begin(go_on.wait)

    run(work())
    go_on.set()
    hand.end()
    hand.wait(10)


def _thread(_: Seat) -> int:
    return threading.get_ident()
