"""Who gets in: what every request must show before anything else is looked at.

It stands before the API, the page and the MCP server. A browser lets any page send requests to this
machine, and a name that an attacker owns may point to it; so a request must name exactly this
server, must not come from another page, and must show a key. There is no cookie that a browser
would send by itself, and no header that lets another page read an answer. What is refused is
refused before any of its body is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from engramdown.errors import StoreError
from engramdown.web.problems import MEDIA_TYPE, ProblemError, problem_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from engramdown.web.keys import Kind

# Where in the scope of a request the kind of its key stands.
KIND: Final = "engramdown.kind"
LARGEST_BODY: Final = 1024 * 1024
# For how many seconds a body may arrive.
BODY_SECONDS: Final = 15.0
# Headers of which two could mean one thing here and another one elsewhere.
_SINGLE: Final = frozenset(
    {
        *(b"host", b"origin", b"sec-fetch-site", b"content-length", b"content-type"),
        *(b"if-match", b"idempotency-key", b"last-event-id"),
    }
)
_OWN_SITE: Final = (b"same-origin", b"none")
# What every answer says: a browser neither guesses, keeps, embeds nor passes it on.
_HEADERS: Final = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}


class Guard:
    """Lets the requests pass that may."""

    def __init__(
        self,
        app: ASGIApp,
        names: Collection[str],
        kind_of: Callable[[str], Kind | None],
        public: Collection[tuple[str, str]] = (),
        *,
        hint: str = "",
    ) -> None:
        """Stand before ``app``.

        Args:
            app: What answers the requests that pass.
            names: The Host headers that name this server.
            kind_of: Says what kind of key somebody shows.
            public: The methods and paths that need no key.
            hint: Where a key is found, for whoever shows none.
        """
        self._app = app
        self._names = frozenset(name.encode() for name in names)
        self._kind_of = kind_of
        self._public = frozenset(public)
        self._hint = hint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # No web sockets here.
        sends = _with_headers(send)
        try:
            scope[KIND] = self._check(scope)
            body = await _body_of(scope, receive)
        except (ProblemError, StoreError, OSError) as error:  # The keys may be unreadable.
            await _refuse(problem_of(error), sends)
            return
        await self._app(scope, _once(body, receive), sends)

    def _check(self, scope: Scope) -> Kind | None:
        """Return the kind of key that a request shows.

        Raises:
            ProblemError: It may not pass.
        """
        headers: dict[bytes, bytes] = {}
        shown: list[bytes] = []
        for name, value in scope["headers"]:
            if name == b"authorization":
                shown.append(value)
            elif name in headers and name in _SINGLE:
                raise ProblemError("malformed", "a header stands there twice", name.decode())
            headers[name] = value
        host = headers.get(b"host", b"").lower()
        if host not in self._names:
            names = " or ".join(sorted(name.decode() for name in self._names)[:2])
            raise ProblemError("misdirected", f"this server is {names}, and no other", "Host")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() != b"http://" + host:
            raise ProblemError("foreign", "another page sent this request", "Origin")
        is_public = (scope["method"], scope["path"]) in self._public
        site = headers.get(b"sec-fetch-site", b"none").lower()
        if site not in _OWN_SITE and not (is_public and _is_visit(scope, headers)):
            raise ProblemError("foreign", "another page sent this request", "Sec-Fetch-Site")
        kind = self._known(shown)
        if kind is None and not is_public:
            bearer = {"WWW-Authenticate": "Bearer"}
            raise ProblemError("no-key", self._hint, "Authorization", headers=bearer)
        return kind

    def _known(self, shown: list[bytes]) -> Kind | None:
        scheme, _, key = (shown[0] if len(shown) == 1 else b"").partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        return self._kind_of(key.strip().decode("latin-1"))


def _is_visit(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a person follows a link to the page, wherever that stands: it shows no data."""
    mode, goal = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
    return (scope["method"], mode, goal) == ("GET", b"navigate", b"document")


async def _body_of(scope: Scope, receive: Receive) -> bytes:
    """Return the body of a request.

    Raises:
        ProblemError: It is too large, or takes too long.
    """
    large = ProblemError("too-large", f"a body has at most {LARGEST_BODY} bytes")
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if not declared.isdigit() or int(declared) > LARGEST_BODY:
        raise large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > LARGEST_BODY:
                    raise large
                if message["type"] != "http.request" or not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise ProblemError("slow", f"a body arrives within {BODY_SECONDS:g} s") from None


def _once(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what comes after it."""
    given = False

    async def give() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return give


def _with_headers(send: Send) -> Send:
    async def sends(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower(): value for name, value in message.get("headers", ())}
            more = [(name, value) for name, value in _HEADERS.items() if name not in own]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sends


async def _refuse(problem: ProblemError, send: Send) -> None:
    body = problem.body
    headers: list[Any] = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
