"""Clients of the handshake era subscribe to pages, and leave nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from engramdown import Cortex
from engramdown.mcp.resources import ChangeBus, Subscriptions
from engramdown.mcp.server import MemoryServer, Offer, WorkerPool
from tests.mcp.conftest import ERAS, beside, run


def _subscribing(client: Client, uri: str, what: str = "subscribe") -> Awaitable[types.EmptyResult]:
    """Ask as clients of the handshake era did."""
    request = types.Request[Any, str](method=f"resources/{what}", params={"uri": uri})
    return client.session.send_request(request, types.EmptyResult)


@pytest.mark.slow
def test_a_client_hears_of_what_it_subscribed_to(project: Path) -> None:
    kept = project / ".engramdown" / "memory"
    (kept / "topics").mkdir(parents=True)
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.put_nowait(str(message.params.uri))

    async def work() -> None:
        async with beside(Cortex.open(project), "legacy", hear=hear) as client:
            offered = client.session.server_capabilities
            assert offered is not None
            assert offered.resources is not None
            assert offered.resources.subscribe is True
            for uri in ("memory://rules", "memory://topics/later", "memory://rules"):
                await _subscribing(client, uri)
            (kept / "lessons.md").write_text("- By hand\n", encoding="utf-8")
            (kept / "rules.md").write_text("- By hand\n", encoding="utf-8")
            assert await heard.get() == "memory://rules"
            await _subscribing(client, "memory://rules", "unsubscribe")
            (kept / "rules.md").write_text("- By hand, too\n", encoding="utf-8")
            (kept / "topics" / "later.md").write_text("- More\n", encoding="utf-8")
            assert await heard.get() == "memory://topics/later"
            assert heard.empty()

    run(work())


def test_a_client_subscribes_to_pages_and_to_few(cortex: Cortex) -> None:
    async def work() -> None:
        async with beside(cortex, "legacy") as client:
            await _subscribing(client, "memory://rules", "unsubscribe")  # Nor is that an error.
            for uri in ("file:///etc/passwd", "", f"memory://topics/{'x' * 2_000}"):
                with pytest.raises(MCPError, match="only pages of memory"):
                    await _subscribing(client, uri)
            for number in range(256):
                await _subscribing(client, f"memory://topics/{number}")
            with pytest.raises(MCPError, match="256 pages at once"):
                await _subscribing(client, "memory://rules")

    run(work())


@pytest.mark.parametrize("era", ERAS)
def test_nobody_looks_at_files_for_a_client_that_left(cortex: Cortex, era: str) -> None:
    changes = ChangeBus(store.memory for store in cortex.scopes.stores)

    async def until(*, begun: bool) -> None:
        while bool(changes._listening) is not begun:  # noqa: ASYNC110 - it rings no bell
            await asyncio.sleep(0.01)

    async def work() -> None:
        pool = WorkerPool(cortex)
        watching = asyncio.ensure_future(changes.watch())
        server = MemoryServer(pool, Offer([]), changes).server
        async with Client(server, mode=era) as client:
            if era == "legacy":
                await _subscribing(client, "memory://rules")
                await until(begun=True)
            else:
                async with client.listen(resource_subscriptions=["memory://rules"]):
                    await until(begun=True)
        await until(begun=False)
        watching.cancel()
        pool.close()

    run(work())


def test_an_sdk_that_does_not_tell_who_left_keeps_nobody(cortex: Cortex) -> None:
    async def work() -> None:
        followers = Subscriptions(ChangeBus(store.memory for store in cortex.scopes.stores))
        asked: Any = SimpleNamespace(session=object())
        with pytest.raises(MCPError, match="does not tell when a client has left"):
            await followers.subscribe(asked, types.SubscribeRequestParams(uri="memory://rules"))

    run(work())
