r"""The id of a request that cannot be read, so that whoever waits for an answer gets one.

Promises: pure; linear time; what may be the answer to a question of ours is never taken for a
request. An id that is none, such as ``null`` or a fraction, is found where every reader would take
the request for a notification, which nobody answers.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["END", "NO_ID", "NO_MESSAGE", "id_of", "is_id", "is_odd"]

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
