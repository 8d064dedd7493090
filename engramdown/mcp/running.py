"""Runs the server: opens the desk, serves one way or the other, and closes it.

Promises: what a call began to write is written when the server ends, however it ends, and nothing
waits for long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from engramdown.mcp.server import Memory, Offer
from engramdown.mcp.subscriptions import Changes
from engramdown.mcp.worker_pool import Desk

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.mcp.http import Place

__all__ = ["Offer", "over_http", "over_stdio"]

_PATIENCE: Final = 2.0
"""For how many seconds calls that run are waited for at the end."""

_Serve = Callable[[Memory], Coroutine[Any, Any, None]]


def over_stdio(cortex: Cortex, offer: Offer) -> None:
    """Serve ``cortex`` over standard input and output, until the client leaves."""
    from engramdown.mcp.stdio import serve

    _start(cortex, offer, lambda memory: serve(memory.server))


def over_http(
    cortex: Cortex, offer: Offer, place: Place, token: str, ready: Callable[[], object] = bool
) -> None:
    """Serve ``cortex`` to clients that show ``token``, until a signal ends it.

    Args:
        cortex: What is served.
        offer: What of it.
        place: Where to listen.
        token: What a client has to show.
        ready: Called when clients can come.
    """
    from engramdown.mcp.http import serve

    _start(cortex, offer, lambda memory: serve(memory.server, place, token, ready))


def _start(cortex: Cortex, offer: Offer, serve: _Serve) -> None:
    # What the SDK warns of is the business of clients, who are told.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    asyncio.run(_run(cortex, offer, serve))


async def _run(cortex: Cortex, offer: Offer, serve: _Serve) -> None:
    desk = Desk(cortex)
    changes = Changes(store.memory for store in cortex.stores)
    watching = asyncio.ensure_future(changes.watch())
    try:
        await serve(Memory(desk, offer, changes))
    finally:
        watching.cancel()
        desk.close(_PATIENCE)
