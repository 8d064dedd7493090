"""Threads that work for the server while it goes on listening.

Promises: a cortex is used by one thread at a time; however many calls come in, and whoever gives up
waiting, there are at most :data:`SEATS` threads; what a thread has begun it ends, and a thread that
hangs keeps nobody from leaving.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.cortex.receipts import Receipt

__all__ = ["SEATS", "Desk", "Hand", "Seat"]

T = TypeVar("T")

SEATS: Final = 4
"""How many calls are worked on at once."""


class Hand:
    """A thread that does one thing after the other."""

    def __init__(self, name: str) -> None:
        """Begin a thread; it ends with the program."""
        self._todo: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def begin(self, act: Callable[[], T], after: Callable[[], object] = bool) -> asyncio.Future[T]:
        """Do ``act`` in the thread, behind what it was given before; return what will come of it.

        Whoever gives up waiting for that stops nothing.

        Args:
            act: What to do.
            after: Called in the loop when it is done, before whoever waits hears of it.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                found = act()
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                told: Callable[[], None] = _Told(future, after, error=error)
            else:
                told = _Told(future, after, found)
            with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(told)

        self._todo.put(work)
        return future

    def end(self) -> None:
        """Let the thread end, behind what it was given."""
        self._todo.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until the thread has ended, for so long at most."""
        self._thread.join(seconds)

    def _work(self) -> None:
        while (act := self._todo.get()) is not None:
            act()
            del act  # or the last call would keep what it was about


class _Told:
    """Tells a future what came of it, if anybody still waits."""

    def __init__(
        self,
        future: asyncio.Future[Any],
        after: Callable[[], object],
        found: object = None,
        error: BaseException | None = None,
    ) -> None:
        self._future = future
        self._after = after
        self._found = found
        self._error = error

    def __call__(self) -> None:
        self._after()
        if self._future.done():
            return
        if self._error is None:
            self._future.set_result(self._found)
        else:
            self._future.set_exception(self._error)


class Seat:
    """A cortex, and the thread that works with it.

    Attributes:
        cortex: To be used in that thread only.
        receipts: What became of what the running call proposed.
    """

    def __init__(self, cortex: Cortex) -> None:
        """Take a cortex that nobody else uses."""
        self.cortex = cortex
        self.receipts: list[Receipt] = []
        self.hand = Hand("engramdown-mcp")
        cortex.listen(lambda: self.receipts.extend)


class Desk:
    """Where calls are worked on: a few seats, each taken by one call at a time."""

    def __init__(self, cortex: Cortex, seats: int = SEATS) -> None:
        """Work with ``cortex``, and with others over the same scopes when several calls come in."""
        self._first: Cortex | None = cortex
        self._spare = cortex
        self._overheard = cortex.overheard
        self._free: list[Seat] = []
        self._all: list[Seat] = []
        self._places = asyncio.Semaphore(seats)

    async def ask(self, work: Callable[[Seat], T]) -> T:
        """Return what comes of ``work`` at a seat, once one is free.

        Whoever gives up waiting stops nothing that was begun.
        """
        await self._places.acquire()
        seat = self._free.pop() if self._free else self._new()

        def act() -> T:
            seat.receipts.clear()
            return work(seat)

        # Not when its caller is gone, but when the work is done, the seat is free.
        return await seat.hand.begin(act, lambda: self._leave(seat))

    def close(self, seconds: float) -> None:
        """Wait until what was begun has ended, for so long at most."""
        until = time.monotonic() + seconds
        for seat in self._all:
            seat.hand.end()
        for seat in self._all:
            seat.hand.wait(max(until - time.monotonic(), 0))

    def _new(self) -> Seat:
        cortex, self._first = self._first or self._spare.reopened(), None
        # What one seat told is known to all: nobody knows who sits where.
        cortex.overheard = self._overheard
        seat = Seat(cortex)
        self._all.append(seat)
        return seat

    def _leave(self, seat: Seat) -> None:
        self._free.append(seat)
        self._places.release()
