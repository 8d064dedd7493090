"""The server: the table of routes as an ASGI application, the guard before it, and running it.

A request is checked by the models of its route, answered in a thread with a Cortex of its own, and
every error becomes a problem. The MCP server, if it is offered here, shares the port, the guard and
the threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import signal
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, get_origin

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Row
from uvicorn.protocols.http.h11_impl import H11Protocol

from engramdown.errors import EngramdownError
from engramdown.storage import one_call
from engramdown.web import (
    cass,
    history,
    memories,
    overview,
    pages,
    proposals,
    service,
    transcripts,
)
from engramdown.web.address import MCP_PATH, Address
from engramdown.web.events import Events
from engramdown.web.guard import KIND, Guard
from engramdown.web.keys import TOKEN_FILE, Keys
from engramdown.web.problems import MEDIA_TYPE, ProblemError, encoded, problem_of
from engramdown.web.routes import JSON, Call, Form, Reply, Route, Service
from engramdown.web.workers import Worker, WorkerPool

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from engramdown import Cortex

# Every route that there is.
ROUTES: Final[tuple[Route, ...]] = (
    *service.ROUTES,
    *memories.ROUTES,
    *proposals.ROUTES,
    *history.ROUTES,
    *transcripts.ROUTES,
    *overview.ROUTES,
    *cass.ROUTES,
    *pages.ROUTES,
)
_MOST_CONNECTIONS: Final = 256
_SHUTDOWN: Final = 1
# For how many seconds, or twice that, the head of a request may arrive.
_HEAD_SECONDS: Final = 10.0
_MOST_REPEATS: Final = 1_000
_NO_CONTENT: Final = 204
_FAILED: Final = 500
# The header that says which files could not be read, and are left out of an answer.
_LEFT_OUT: Final = "X-Left-Out"
_MOST_LEFT_OUT: Final = 8


def routes_for(*, is_read_only: bool) -> tuple[Route, ...]:
    """Return the routes of a server."""
    return tuple(route for route in ROUTES if not (is_read_only and route.changes))


def application(shared: Service, pool: WorkerPool, mcp: Starlette | None = None) -> ASGIApp:
    """Return the application with its guard.

    Args:
        shared: What all calls share.
        pool: Answers the calls.
        mcp: The application of the MCP server, if it is offered here.
    """
    repeats = _Repeats()
    by_path: dict[str, dict[str, Route]] = {}
    for route in shared.routes:
        by_path.setdefault(route.path, {})[route.method] = route
    app = Starlette(
        routes=[
            Row(path, _endpoint(by_method, shared, pool, repeats), methods=by_method)
            for path, by_method in by_path.items()
        ],
        exception_handlers={
            HTTPException: _no_route,
            ProblemError: _problem,
            Exception: _mistake,
        },
        lifespan=_lifespan(shared, pool, mcp),
    )
    app.router.redirect_slashes = False
    hint = (
        f"show a key as `Authorization: Bearer KEY`: programs the token in "
        f"{shared.keys.home / TOKEN_FILE}, a page what it got for a code of "
        "`engramdown serve --code`"
    )
    public = {(route.method, route.path) for route in shared.routes if route.need == "nothing"}
    return Guard(_beside(app, mcp), shared.address.names, shared.keys.kind_of, public, hint=hint)


def serve(
    cortex: Cortex,
    address: Address,
    keys: Keys,
    *,
    is_read_only: bool = False,
    mcp: Callable[[WorkerPool], Starlette] | None = None,
    ready: Callable[[], object] = bool,
) -> None:
    """Serve ``cortex`` until a signal ends it.

    Args:
        cortex: The memory.
        address: Where to listen.
        keys: The keys that count.
        is_read_only: Whether to leave out what changes anything.
        mcp: Returns the application of the MCP server, to be offered on the same port.
        ready: Called once clients can connect.
    """
    pool = WorkerPool(cortex)
    try:
        events, routes = Events(cortex), routes_for(is_read_only=is_read_only)
        shared = Service(address, keys, events, routes, is_read_only)
        app = application(shared, pool, mcp(pool) if mcp else None)
        asyncio.run(run(app, address, ready, events.close))
    finally:
        pool.close()


async def run(
    app: ASGIApp,
    address: Address,
    ready: Callable[[], object] = bool,
    leave: Callable[[], object] = bool,
) -> None:
    """Run an application behind a guard until a signal ends it.

    Args:
        app: The application.
        address: Where to listen.
        ready: Called once clients can connect.
        leave: Called when a signal says that the end has come, so that no stream goes on.
    """
    for name in ("uvicorn", "uvicorn.error", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        http=_Connection,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SHUTDOWN,
    )
    # uvicorn ends on a signal and raises it again, which then ends this process.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        ready()
        await _Server(config, leave).serve(sockets=[address.socket])
    finally:
        signal.signal(signal.SIGTERM, before)
        address.socket.close()


class _Server(uvicorn.Server):
    """A server whose streams end when a signal comes."""

    def __init__(self, config: uvicorn.Config, leave: Callable[[], object]) -> None:
        super().__init__(config)
        self._leave = leave

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._leave()
        super().handle_exit(sig, frame)


class _Connection(H11Protocol):
    """A connection that ends if the head of a request does not arrive in time."""

    _waited_after: object = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.loop.call_later(_HEAD_SECONDS, self._end_if_slow)

    def _end_if_slow(self) -> None:
        """Close the connection if it has waited for the same request at the last look already."""
        if self.transport.is_closing():
            return
        cycle: Any = self.cycle
        is_waiting = cycle is None or cycle.response_complete
        if is_waiting and self._waited_after is cycle:
            self.transport.close()
            return
        self._waited_after = cycle if is_waiting else ""
        self.loop.call_later(_HEAD_SECONDS, self._end_if_slow)


def _lifespan(
    shared: Service, pool: WorkerPool, mcp: Starlette | None
) -> Callable[[Starlette], Any]:
    @contextlib.asynccontextmanager
    async def live(_: Starlette) -> AsyncIterator[None]:
        beside = mcp.router.lifespan_context(mcp) if mcp else contextlib.nullcontext()
        async with shared.events.running(pool), beside:
            yield

    return live


def _beside(app: Starlette, mcp: Starlette | None) -> ASGIApp:
    """Return what sends the requests of MCP to its server."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = mcp is not None and scope.get("path") == MCP_PATH
        await (mcp if is_mcp and mcp else app)(scope, receive, send)

    return choose


def _endpoint(
    by_method: Mapping[str, Route], shared: Service, pool: WorkerPool, repeats: _Repeats
) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers requests for one path."""

    async def answer(request: Request) -> Response:
        route = by_method["GET" if request.method == "HEAD" else request.method]
        kind = request.scope[KIND]
        if route.need == "person" and kind != "person":
            why = "the token of programs may read and propose; this needs the key of a page"
            raise ProblemError("not-yours", f"{why}, which a person gets for a code")
        body = await request.body()
        query = _query(route.query, request)
        form = _form(route.body, request, body)

        def work(worker: Worker) -> Reply:
            headers = dict(request.headers)
            call = Call(worker.cortex, shared, request.path_params, query, form, headers, kind)
            worker.cortex.scopes.forget_notices()
            with one_call():
                reply = route.handler(call)
            lost = worker.cortex.scopes.unread()
            more = {_LEFT_OUT: json.dumps(lost[:_MOST_LEFT_OUT])} if lost else {}
            return replace(reply, headers={**reply.headers, **more})

        key = request.headers.get("idempotency-key") if route.is_repeatable else None
        if key is None:
            return _response(await pool.run(work))
        mark = hashlib.sha256(body).digest()
        return _response(await repeats.once((kind, request.url.path, key), mark, pool.run(work)))

    async def guarded(request: Request) -> Response:
        try:
            return await answer(request)
        except (EngramdownError, OSError, ValidationError) as error:
            raise problem_of(error) from error

    return guarded


class _Repeats:
    """The answers to additions that may be sent again, by their ``Idempotency-Key``."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, tuple[bytes, asyncio.Future[Reply]]] = OrderedDict()

    async def once(
        self, key: tuple[object, str, str], mark: bytes, work: Coroutine[Any, Any, Reply]
    ) -> Reply:
        """Return what ``work`` returns, or the first answer if the same was sent before.

        Raises:
            ProblemError: Something else was sent with this key.
        """
        if key not in self._known:
            self._known[key] = mark, asyncio.ensure_future(work)
            if len(self._known) > _MOST_REPEATS:
                self._known.popitem(last=False)
        else:
            work.close()
        before, reply = self._known[key]
        if before != mark:
            why = "this key came with another body before; take a new one"
            raise ProblemError("invalid", why, "Idempotency-Key")
        try:
            return await asyncio.shield(reply)
        finally:
            # What failed here, and not for what was sent, may be tried again.
            error = reply.exception() if reply.done() and not reply.cancelled() else None
            if error and (not isinstance(error, ProblemError) or error.status >= _FAILED):
                self._known.pop(key, None)


def _query(model: type[Form] | None, request: Request) -> Form | None:
    """Return the query of a request.

    Raises:
        ValidationError: It does not fit the model.
    """
    fields = (
        {each.alias or name: each for name, each in model.model_fields.items()} if model else {}
    )
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in fields and get_origin(fields[name].annotation) is list:
            given.setdefault(name, []).extend(value.split(","))
        elif name in given or name not in fields:
            known = ", ".join(fields) or "none"
            why = "stands there twice" if name in fields else f"is not known; there is {known}"
            raise ProblemError("invalid", f"{name}: {why}", name)
        else:
            given[name] = value
    return model.model_validate(given) if model else None


def _form(model: type[Form] | None, request: Request, body: bytes) -> Form | None:
    """Return the body of a request.

    Raises:
        ValidationError: It does not fit the model.
    """
    if model is None:
        if body:
            raise ProblemError("malformed", "this takes no body")
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != JSON:
        raise ProblemError("not-json", f"send the body as {JSON}", "Content-Type")
    return model.model_validate_json(body or b"{}")


def _response(reply: Reply) -> Response:
    if reply.stream is not None:
        return StreamingResponse(reply.stream, reply.status, dict(reply.headers), reply.media)
    data = reply.data
    if reply.media == JSON:
        data = b"" if reply.status == _NO_CONTENT else encoded(data)
    kind = None if reply.status == _NO_CONTENT else reply.media
    return Response(data, reply.status, dict(reply.headers), kind)


async def _problem(_: Request, error: Exception) -> Response:
    problem = problem_of(error)
    return Response(problem.body, problem.status, problem.headers, MEDIA_TYPE)


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer for a path or a method that there is not."""
    headers = getattr(error, "headers", None)
    if headers:
        allowed = headers.get("Allow", "")
        why = f"{request.method} is not one of {allowed}"
        return await _problem(request, ProblemError("no-such-method", why, headers=headers))
    why = f"there is no {request.url.path}; GET /openapi.json lists what there is"
    return await _problem(request, ProblemError("not-found", why))


async def _mistake(request: Request, error: Exception) -> Response:
    """Answer when the server is at fault; the error goes to its terminal."""
    return await _problem(request, error)
