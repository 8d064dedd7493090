"""Clients of the handshake era that subscribed to pages, and hear when one changes.

Promises: a client hears of no page that it did not subscribe to, and of each as often as it can
read; when it has left nothing of it stays, and nobody looks at files for it.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourceUpdated, ServerEvent, SubscriptionBus
from mcp.shared.exceptions import MCPError

from engramdown.mcp.pages import is_one

__all__ = ["Followers"]

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
