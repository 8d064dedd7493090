"""A library that waits for nothing, above memory that does its work at once.

Promises: one call at a time reaches a cortex, whichever adapter it comes from; no event loop waits
for a disk; a call that was begun is waited for, also by whoever is cancelled meanwhile, so that
nobody finds half of it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from engramdown.forks import Lock, RLock

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex

__all__ = ["beside", "guard_of"]

T = TypeVar("T")

_GUARDS: Final[weakref.WeakKeyDictionary[Cortex, RLock]] = weakref.WeakKeyDictionary()
_GUARDING: Final = Lock()


def guard_of(cortex: Cortex) -> RLock:
    """Return the lock that is held by whoever calls ``cortex``."""
    with _GUARDING:
        return _GUARDS.setdefault(cortex, RLock())


async def beside(cortex: Cortex, act: Callable[[], T]) -> T:
    """Return what ``act`` returns, which is called in a thread, alone with ``cortex``.

    A cancellation counts once that has returned.
    """
    # Imported here: an adapter is only used where it is there already.
    import asyncio

    def alone() -> T:
        with guard_of(cortex):
            return act()

    running = asyncio.ensure_future(asyncio.to_thread(alone))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        # What it raised is seen by nobody else.
        running.exception()
        raise cancelled
    return running.result()
