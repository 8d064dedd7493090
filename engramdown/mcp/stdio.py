"""Serves one client over standard input and output.

Promises: nothing but the protocol reaches standard output, whatever else in this process prints,
and no child reads what is meant for us; a line that is no message is answered, and so is one that
is too long; Ctrl-C and the end of the input end it at once, after what was begun is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from engramdown.mcp.worker_pool import Hand

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

__all__ = [
    "END",
    "LONGEST",
    "NO_ID",
    "NO_MESSAGE",
    "Lines",
    "Refusal",
    "Wire",
    "id_of",
    "is_id",
    "is_odd",
    "read_message",
    "serve",
    "well_formed",
]

LONGEST: Final = 4 * 1024 * 1024
"""How long a message may be, in bytes."""
_BLOCK: Final = 65_536
_PATIENCE: Final = 1.5
"""For how many seconds calls that run are waited for when the input has ended."""
_TOO_LONG: Final = f"a message may have at most {LONGEST} bytes; this one was passed over"
_NO_JSON: Final = "this line is no JSON in UTF-8, or is nested too deeply"


async def serve(server: Server[Any]) -> None:
    """Serve the client at the other end of standard input and output, until it leaves.

    Raises:
        KeyboardInterrupt: If Ctrl-C ended it.
    """
    with _taken() as (source, sink), anyio.CancelScope() as scope, _ended_by(scope) as numbers:
        try:
            async with Wire(source, sink).open() as (read, write):
                await server.run(read, write, server.create_initialization_options())
        except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # A message was handed on as it ended.
    if signal.SIGINT in numbers:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _ended_by(scope: anyio.CancelScope) -> Iterator[list[signal.Signals]]:
    """Let signals end what is done in ``scope``; yield those that came."""
    came: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        came.append(number)
        scope.cancel()

    # Elsewhere the loop takes no handlers, and Ctrl-C is an exception as ever.
    numbers = () if sys.platform == "win32" else (signal.SIGINT, signal.SIGTERM)
    loop = asyncio.get_running_loop()
    for number in numbers:
        loop.add_signal_handler(number, end, number)
    try:
        yield came
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


class Wire:
    """Messages read from lines of one descriptor, and written as lines to another."""

    def __init__(self, source: int, sink: int) -> None:
        """Read from the descriptor ``source``, and write to ``sink``."""
        self._lines = Lines(source)
        self._sink = sink
        self._open: set[types.RequestId] = set()
        # Refusals that are not written yet; not each of them has an id.
        self._refused: list[types.JSONRPCError] = []
        self._answered: anyio.Event | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the stream of what comes, and the one for what is to go."""
        heard, read = anyio.create_memory_object_stream[SessionMessage | Exception]()
        write, said = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as group:
            group.start_soon(self._speak, said, group.cancel_scope)
            group.start_soon(self._hear, heard, write.clone())
            yield read, write
            group.cancel_scope.cancel()

    async def _hear(
        self,
        heard: MemoryObjectSendStream[SessionMessage | Exception],
        write: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        hand = Hand("engramdown-mcp-in")
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with heard, write:
                while (line := await hand.begin(self._lines.next)) is not None:
                    message = read_message(line)
                    if isinstance(message, Refusal):
                        self._refused.append(message.answer)
                        await write.send(SessionMessage(message.answer))
                        continue
                    if isinstance(message, types.JSONRPCRequest):
                        self._open.add(message.id)
                    await heard.send(SessionMessage(message))
                if self._open or self._refused:
                    self._answered = anyio.Event()
                    with anyio.move_on_after(_PATIENCE):
                        await self._answered.wait()

    async def _speak(
        self, said: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope
    ) -> None:
        hand = Hand("engramdown-mcp-out")
        async with said:
            async for each in said:
                message = each.message
                data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                try:
                    await hand.begin(partial(_write, self._sink, data))
                except OSError:
                    scope.cancel()  # Nobody reads any more.
                    return
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    self._open -= {message.id}
                self._refused = [other for other in self._refused if other is not message]
                if self._answered is not None and not (self._open or self._refused):
                    self._answered.set()


class Refusal(NamedTuple):
    """The answer to a line that is no message; an error that a client sends is a message."""

    answer: types.JSONRPCError


class Lines:
    """Lines of a descriptor, of which none is longer than allowed."""

    def __init__(self, descriptor: int) -> None:
        """Read from ``descriptor``."""
        self._descriptor = descriptor
        self._rest = bytearray()
        self._end = b""
        self._looked = 0

    def next(self) -> bytes | None:
        """Return the next line that holds something; ``None`` at the end.

        Of a line that is too long come its first bytes, as many as tell that it is, and its last.
        """
        while True:
            at = self._rest.find(b"\n", self._looked)
            if at >= 0:
                line = self._cut(at)
                del self._rest[: at + 1]
                self._looked = 0
                if line.strip():
                    return line
                continue
            if len(self._rest) > LONGEST:
                self._end = (self._end + self._rest[LONGEST + 1 :])[-END:]
                del self._rest[LONGEST + 1 :]
            self._looked = len(self._rest)
            block = self._read()
            if not block:
                line = self._cut(len(self._rest))
                self._rest.clear()
                self._looked = 0
                return line if line.strip() else None
            self._rest += block

    def _cut(self, at: int) -> bytes:
        """Return the line that ends at ``at``, as far as it is kept."""
        line = bytes(self._rest[: min(at, LONGEST + 1)])
        if at > LONGEST:
            line += (self._end + self._rest[LONGEST + 1 : at])[-END:]
        self._end = b""
        return line

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _BLOCK)
        except OSError:
            return b""


def read_message(line: bytes) -> Any:  # noqa: ANN401 - a message of any kind
    """Return the message of a line, or a :class:`Refusal`."""
    if len(line) > LONGEST:
        return _refused(id_of(line), types.INVALID_REQUEST, _TOO_LONG)
    if is_odd(line):
        return _refused(None, types.INVALID_REQUEST, NO_ID)
    line = well_formed(line)
    with contextlib.suppress(ValidationError):
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return _refused(id_of(line), types.PARSE_ERROR, _NO_JSON)
    with contextlib.suppress(ValidationError):
        # What is nested too deeply for the reader above is for its tool to refuse.
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    is_answer = isinstance(found, dict) and not found.keys().isdisjoint(("result", "error"))
    asked = found.get("id") if isinstance(found, dict) and not is_answer else None
    return _refused(asked if is_id(asked) else None, types.INVALID_REQUEST, NO_MESSAGE)


def _refused(key: str | int | None, code: int, why: str) -> Refusal:
    error = types.ErrorData(code=code, message=why)
    return Refusal(types.JSONRPCError(jsonrpc="2.0", id=key, error=error))


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


@contextlib.contextmanager
def _taken() -> Iterator[tuple[int, int]]:
    """Take standard input and output for ourselves; others read nothing and print to stderr."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    _put(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        aside = os.dup(2)
    except OSError:  # There is no stderr.
        aside = os.open(os.devnull, os.O_WRONLY)
    _put(aside, 1)
    try:
        yield source, sink
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)


def _put(descriptor: int, place: int) -> None:
    os.dup2(descriptor, place)
    os.close(descriptor)


# The id of a request that cannot be read, so that whoever waits for an answer gets one.
#
# Promises: pure; linear time; what may be the answer to a question of ours is never taken for a
# request. An id that is none, such as ``null`` or a fraction, is found where every reader would
# take the request for a notification, which nobody answers.

NO_ID: Final = "the id of a request is a string or a whole number"
"""What a request is answered with whose id is none."""
NO_MESSAGE: Final = "this is JSON, but no message of JSON-RPC; a batch is none either"
"""Why what is no message is refused."""

END: Final = 512
"""How much of the end of a message is looked at, in bytes."""

_ID: Final = rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\\x00-\x1f]{0,200}")\s*'
_METHOD: Final = rb'"method"\s*:\s*"[^"\\]{1,200}"\s*'
_BEGINS: Final = rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"[^"\\]{0,9}"\s*,\s*)?'
# Programs write the id before what a request is about, or as the very last.
_FIRST: Final = re.compile(
    _BEGINS + rb"(?:" + _ID + rb",\s*" + _METHOD + rb"|" + _METHOD + rb",\s*" + _ID + rb")[,}]"
)
_ASKS: Final = re.compile(_BEGINS + _METHOD + rb",")
_LAST: Final = re.compile(rb',\s*(?:"jsonrpc"\s*:\s*"[^"\\]{0,9}"\s*,\s*)?' + _ID + rb"\}\s*\Z")
_ODD: Final = re.compile(rb'"id"\s*:\s*(?:[ntf\[{]|-?[0-9]+[.eE])')


def id_of(data: bytes) -> str | int | None:
    """Return the id of a request of which only the beginning and the end may be readable.

    >>> id_of(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "rec')
    7
    >>> id_of(b'{"method": "tools/call", "params": {"x": [[[[ }, "jsonrpc": "2.0", "id": "a"}')
    'a'
    >>> id_of(b'{"jsonrpc": "2.0", "id": 7, "result": {"action": "acc')
    """
    found = _FIRST.match(data)
    if found is None and _ASKS.match(data):
        found = _LAST.search(data[-END:])
    if found is None:
        return None
    shown = next(group for group in found.groups() if group is not None)
    if shown.startswith(b'"'):
        return shown[1:-1].decode("utf-8", "replace")
    return int(shown)


def is_id(key: object) -> bool:
    """Whether something may be the id of a request."""
    return isinstance(key, str | int) and not isinstance(key, bool)


def is_odd(data: bytes) -> bool:
    """Whether a message asks for something under an id that is none.

    >>> is_odd(b'{"jsonrpc": "2.0", "id": null, "method": "ping"}')
    True
    """
    if not _ODD.search(data):
        return False
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "method" in found and not is_id(found.get("id", 0))


# JSON as every reader takes it.
#
# Promises: what comes back says the same, except that half a pair of surrogates, which a model
# leaves when it cuts an emoji in two and which JSON can spell, is a question mark: strict readers
# refuse the whole message for it. A byte order mark, which some shells write, is left out. What is
# no JSON is left as it is. No I/O.

_MARK: Final = b"\xef\xbb\xbf"
# As an escape; written out it would be no UTF-8.
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def well_formed(data: bytes) -> bytes:
    r"""Return JSON without half pairs of surrogates.

    >>> well_formed(rb'{"half": "\ud83d", "whole": "\ud83d\ude00"}').decode()
    '{"half": "?", "whole": "😀"}'
    """
    data = data.removeprefix(_MARK)
    if not _SURROGATE.search(data):
        return data
    try:
        return json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return data
