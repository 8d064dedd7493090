"""Tells clients that listen which pages changed.

Promises: a page is told of once somebody, with whatever program, has changed a file of memory; as
long as nobody listens nothing is looked at, and a look costs a stat of a few files.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    SubscriptionBus,
)
from mcp.shared.exceptions import MCPError

from engramdown.mcp import resources
from engramdown.mcp.resources import is_one
from engramdown.mcp.worker_pool import Hand

__all__ = ["Changes", "Followers"]

_PAUSE: Final = 1.0
_CONTEXT: Final = "memory://context"
_FILES: Final = {
    "rules.md": "memory://rules",
    "lessons.md": "memory://lessons",
    "profile.md": "memory://profile",
    "user.md": "memory://profile",
    "pending.md": "memory://pending",
    "soul.md": _CONTEXT,
}
_Seen = Mapping[str, tuple[tuple[str, int, int, int], ...]]


class Changes(InMemorySubscriptionBus):
    """What clients listen to."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Look at memory folders."""
        super().__init__()
        self._memories = tuple(folders)
        self._listening = 0
        self._wanted = asyncio.Event()
        self._seen: _Seen = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Tell ``listener`` of what changes from now on, until what is returned is called."""
        leave = super().subscribe(listener)
        if not self._listening:
            # Now, not a moment later: what changes from here on is told.
            self._seen = self._look()
        self._listening += 1
        self._wanted.set()
        left = False

        def unsubscribe() -> None:
            nonlocal left
            leave()
            self._listening -= not left
            left = True

        return unsubscribe

    async def watch(self) -> None:
        """Look again and again while anybody listens; never returns."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            hand = Hand("engramdown-mcp-changes")
            try:
                await self._tell(hand)
            finally:
                hand.end()

    async def _tell(self, hand: Hand) -> None:
        while self._listening:
            await asyncio.sleep(_PAUSE)
            now = await hand.begin(self._look)
            events, self._seen = _events(self._seen, now), now
            for event in events:
                await self.publish(event)

    def _look(self) -> _Seen:
        """Return what tells one state of each page from another."""
        found: dict[str, list[tuple[str, int, int, int]]] = {}
        for folder in self._memories:
            for path in _files(folder):
                uri = _page(path, folder)
                if uri:
                    try:
                        state = path.stat()
                    except OSError:
                        continue
                    told = (str(path), state.st_mtime_ns, state.st_size, state.st_ino)
                    found.setdefault(uri, []).append(told)
        return {uri: tuple(sorted(each)) for uri, each in found.items()}


def _files(folder: Path) -> Iterable[Path]:
    for place in (folder, folder / "topics"):
        try:
            with os.scandir(place) as found:
                paths = [Path(each.path) for each in found if each.is_file(follow_symlinks=False)]
        except OSError:
            continue
        yield from paths


def _page(path: Path, folder: Path) -> str:
    """Return the address of the page that a file is shown on, or ``""``."""
    if path.parent != folder:
        return resources.address(resources.TOPIC, path.stem) if path.suffix == ".md" else ""
    return _FILES.get(path.name.casefold(), "")


def _events(before: _Seen, now: _Seen) -> list[ServerEvent]:
    changed = {uri for uri in (*before, *now) if before.get(uri) != now.get(uri)}
    if changed - {"memory://pending"}:
        changed.add(_CONTEXT)
    events: list[ServerEvent] = [ResourceUpdated(uri=uri) for uri in sorted(changed)]
    if {uri for uri in before if uri.startswith(resources.TOPIC)} != {
        uri for uri in now if uri.startswith(resources.TOPIC)
    }:
        events.append(ResourcesListChanged())
    return events


# Clients of the handshake era that subscribed to pages, and hear when one changes.
#
# Promises: a client hears of no page that it did not subscribe to, and of each as often as it can
# read; when it has left nothing of it stays, and nobody looks at files for it.

_MOST: Final = 256
_TOO_MANY: Final = f"a client may subscribe to {_MOST} pages at once; unsubscribe from some"
_NO_PAGE: Final = "only pages of memory can be subscribed to; resources/list has them"
_NO_END: Final = "this version of the MCP SDK does not tell when a client has left"
_Context = ServerRequestContext[Any, Any]


class Followers:
    """Who subscribed to what."""

    def __init__(self, changes: SubscriptionBus) -> None:
        """Listen to ``changes`` for them."""
        self._changes = changes
        self._known: dict[Connection, _Follower] = {}

    async def subscribe(
        self, ctx: _Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Let a client hear of a page from now on, until it leaves."""
        uri = str(params.uri)
        if not is_one(uri):
            raise MCPError(types.INVALID_PARAMS, _NO_PAGE)
        connection = _connection(ctx)
        follower = self._known.get(connection) or self._begin(connection, ctx.session)
        if len(follower.uris | {uri}) > _MOST:
            raise MCPError(types.INVALID_PARAMS, _TOO_MANY)
        follower.uris.add(uri)
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: _Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Let a client hear no more of a page."""
        follower = self._known.get(_connection(ctx))
        if follower is not None:
            follower.uris.discard(str(params.uri))
        return types.EmptyResult()

    def _begin(self, connection: Connection, session: ServerSession) -> _Follower:
        follower = self._known[connection] = _Follower(session)
        leave = self._changes.subscribe(follower.hear)
        connection.exit_stack.callback(self._known.pop, connection)
        connection.exit_stack.callback(follower.end)
        connection.exit_stack.callback(leave)
        return follower


class _Follower:
    """A client, and what it is to hear yet.

    Attributes:
        uris: What it subscribed to.
    """

    def __init__(self, session: ServerSession) -> None:
        self.uris: set[str] = set()
        self._session = session
        self._due: dict[str, None] = {}
        self._telling: asyncio.Task[None] | None = None

    def hear(self, event: ServerEvent) -> None:
        """Tell the client of what changed, once it has read what it was told before."""
        if not isinstance(event, ResourceUpdated) or event.uri not in self.uris:
            return
        self._due[event.uri] = None
        if self._telling is None or self._telling.done():
            self._telling = asyncio.ensure_future(self._tell())

    def end(self) -> None:
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self) -> None:
        while self._due:
            uri = next(iter(self._due))
            del self._due[uri]
            await self._session.send_resource_updated(uri)


def _connection(ctx: _Context) -> Connection:
    # Nothing else of the SDK tells when a client has left.
    found = getattr(ctx.session, "_connection", None)
    if found is None:
        raise MCPError(types.INTERNAL_ERROR, _NO_END)
    connection: Connection = found
    return connection
