"""Tells clients that listen which resources changed.

A resource is told of once somebody, with whatever program, has changed a file of memory. As long as
nobody listens nothing is looked at, and a look costs a stat of a few files. A client of the
handshake era hears of what it subscribed to, as often as it can read; when it has left, nothing of
it stays.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
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

from engramdown.kinds import FILES, LESSONS, PENDING, PROFILE, RULES, SOUL
from engramdown.mcp import resources

_PAUSE: Final = 1.0
_CONTEXT: Final = "memory://context"
_FILES: Final = {
    RULES: "memory://rules",
    LESSONS: "memory://lessons",
    **dict.fromkeys((PROFILE, *FILES[PROFILE].aliases), "memory://profile"),
    PENDING: "memory://pending",
    SOUL: _CONTEXT,
}
_MOST: Final = 256
_TOO_MANY: Final = f"a client may subscribe to {_MOST} pages at once; unsubscribe from some"
_NO_PAGE: Final = "only pages of memory can be subscribed to; resources/list has them"
_NO_END: Final = "this version of the MCP SDK does not tell when a client has left"
_Context = ServerRequestContext[Any, Any]
_States = Mapping[str, frozenset[tuple[str, int, int, int]]]


class ChangeBus(InMemorySubscriptionBus):
    """Publishes changes of memory files to who subscribed, and looks for them only then."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Look at memory folders."""
        super().__init__()
        self._folders = tuple(folders)
        self._listening = 0
        self._wanted = asyncio.Event()
        self._states: _States = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Tell ``listener`` what changes from now on, until what is returned is called."""
        leave = super().subscribe(listener)
        if not self._listening:
            # Now, not a moment later: what changes from here on is told.
            self._states = self._look()
        self._listening += 1
        self._wanted.set()
        has_left = False

        def unsubscribe() -> None:
            nonlocal has_left
            leave()
            self._listening -= not has_left
            has_left = True

        return unsubscribe

    async def watch(self) -> None:
        """Look again and again while anybody listens; never returns."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            while self._listening:
                await asyncio.sleep(_PAUSE)
                before, self._states = self._states, await asyncio.to_thread(self._look)
                for event in _events(before, self._states):
                    await self.publish(event)

    def _look(self) -> _States:
        """Return what tells one state of each resource from another."""
        states: dict[str, set[tuple[str, int, int, int]]] = {}
        for folder in self._folders:
            for uri, each in _files(folder):
                try:
                    found = each.stat(follow_symlinks=False)
                except OSError:
                    continue
                state = (each.path, found.st_mtime_ns, found.st_size, found.st_ino)
                states.setdefault(uri, set()).add(state)
        return {uri: frozenset(each) for uri, each in states.items()}


def _files(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the files of a memory folder, each with the resource that shows it."""
    for place in (folder, folder / "topics"):
        try:
            with os.scandir(place) as found:
                files = [each for each in found if each.is_file(follow_symlinks=False)]
        except OSError:
            continue
        for each in files:
            name, _, ending = each.name.rpartition(".")
            if place == folder and each.name.casefold() in _FILES:
                yield _FILES[each.name.casefold()], each
            elif place != folder and ending == "md":
                yield resources.address(resources.TOPIC, name), each


def _events(before: _States, now: _States) -> list[ServerEvent]:
    changed = {uri for uri in (*before, *now) if before.get(uri) != now.get(uri)}
    if changed - {"memory://pending"}:
        changed.add(_CONTEXT)
    events: list[ServerEvent] = [ResourceUpdated(uri=uri) for uri in sorted(changed)]
    if any(uri.startswith(resources.TOPIC) for uri in before.keys() ^ now.keys()):
        events.append(ResourcesListChanged())
    return events


class Subscriptions:
    """Clients of the handshake era, and what they subscribed to."""

    def __init__(self, changes: SubscriptionBus) -> None:
        """Listen to ``changes`` for them."""
        self._changes = changes
        self._clients: dict[Connection, _Client] = {}

    async def subscribe(
        self, ctx: _Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Let a client hear of a resource from now on, until it leaves."""
        uri = str(params.uri)
        if not resources.is_one(uri):
            raise MCPError(types.INVALID_PARAMS, _NO_PAGE)
        connection = _connection(ctx)
        client = self._clients.get(connection)
        if client is None:
            client = self._clients[connection] = _Client(ctx.session)
            connection.exit_stack.callback(self._clients.pop, connection)
            connection.exit_stack.callback(client.close)
            connection.exit_stack.callback(self._changes.subscribe(client.hear))
        if len(client.uris | {uri}) > _MOST:
            raise MCPError(types.INVALID_PARAMS, _TOO_MANY)
        client.uris.add(uri)
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: _Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Let a client hear no more of a resource."""
        client = self._clients.get(_connection(ctx))
        if client is not None:
            client.uris.discard(str(params.uri))
        return types.EmptyResult()


class _Client:
    """A client, what it subscribed to, and what it is still to hear."""

    def __init__(self, session: ServerSession) -> None:
        self.uris: set[str] = set()
        self._session = session
        self._due: dict[str, None] = {}
        self._sending: asyncio.Task[None] | None = None

    def hear(self, event: ServerEvent) -> None:
        """Tell the client of what changed, once it has read what it was told before."""
        if isinstance(event, ResourceUpdated) and event.uri in self.uris:
            self._due[event.uri] = None
            if self._sending is None or self._sending.done():
                self._sending = asyncio.ensure_future(self._send())

    def close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()

    async def _send(self) -> None:
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
