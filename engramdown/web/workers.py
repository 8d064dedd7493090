"""Threads that answer calls, each with a Cortex of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.gate import Receipt

T = TypeVar("T")

# How many calls run at once.
WORKERS: Final = 4
# For how many seconds running calls are waited for at the end.
_PATIENCE: Final = 2.0


@dataclass
class Worker:
    """A thread's own Cortex.

    Attributes:
        cortex: For that thread only.
        receipts: The receipts of the running call.
    """

    cortex: Cortex
    receipts: list[Receipt] = field(default_factory=list)


class WorkerPool:
    """A few threads for calls, each with a Cortex of its own over the same scopes."""

    def __init__(self, cortex: Cortex) -> None:
        """Use the scopes of ``cortex``."""
        self._cortex = cortex
        self._own = threading.local()
        self._executor = ThreadPoolExecutor(WORKERS, "engramdown-call")
        self._running: set[concurrent.futures.Future[Any]] = set()

    async def run(self, work: Callable[[Worker], T]) -> T:
        """Return what ``work`` returns; work that was begun is finished even if cancelled."""
        future = self._executor.submit(self._run, work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Drop calls that have not begun, and wait a moment for those that have."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        concurrent.futures.wait(tuple(self._running), _PATIENCE)

    def _run(self, work: Callable[[Worker], T]) -> T:
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            cortex = self._cortex.reopened()
            # Clients do not know which thread answers, so all share what they told them.
            cortex.conversations.overheard = self._cortex.conversations.overheard
            worker = self._own.worker = Worker(cortex)
            cortex.scopes.listen(lambda: worker.receipts.extend)
        worker.receipts.clear()
        return work(worker)
