"""Names of sessions and of episodes.

Promises: the id of a session is a safe file name on every system, and no two differ in case only;
what cannot be one is refused with what could, or gets a name that no other one gets, where a
program asks for that. Ids of episodes sort by time. No clock, no dice: both are arguments.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from engramdown.errors import InvalidSessionError

__all__ = [
    "LONGEST",
    "check_session_id",
    "episode_id",
    "is_like",
    "is_session_id",
    "session_id",
    "session_of",
]

LONGEST: Final = 100
"""Characters of a session's id at most."""

_ALLOWED: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")
# What Windows takes for a device, with whatever behind the first dot.
_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS: Final = [first + second for first in _DIGITS for second in _DIGITS]
_TIME_DIGITS: Final = 10
_RANDOM_DIGITS: Final = 6
_SOMETHING: Final = "session"
_DIGEST_DIGITS: Final = 16


def is_session_id(value: str) -> bool:
    """Whether ``value`` can be the id of a session.

    >>> is_session_id("20260227-101500-4f2a"), is_session_id("CON"), is_session_id("../x")
    (True, False, False)
    """
    return _fault(value) == ""


def is_like(value: object, patterns: Iterable[str]) -> bool:
    """Whether an id is like one of ``patterns``; ``*``, ``?`` and ``[…]`` stand for characters.

    >>> is_like("cron-7", ["cron-*"]), is_like("chat-7", ["cron-*"])
    (True, False)
    """
    # Imported here: hardly anybody leaves sessions out.
    from fnmatch import fnmatchcase

    return isinstance(value, str) and any(fnmatchcase(value, each.lower()) for each in patterns)


def check_session_id(value: str) -> str:
    """Return ``value`` if it can be the id of a session.

    Raises:
        InvalidSessionError: If not; the error says why and offers one that can.
    """
    fault = _fault(value)
    if fault:
        # Imported here: its patterns are many, and most ids have no fault.
        from engramdown.secrets.redaction import redact

        raise InvalidSessionError(value, fault, _suggestion(redact(value)))
    return value


def session_of(name: str) -> str:
    """Return the id of the session that a program calls ``name``, whatever that is.

    It is the name itself where that can be an id; else what it looks like, and a digest of all of
    it, so that no two names share a session. What is returned, given again, is returned again.

    Raises:
        InvalidSessionError: If the name is empty.

    >>> session_of("support-42"), session_of("user/42")
    ('support-42', 'user-42-ff9367307eb03373')
    """
    if not name or is_session_id(name):
        return check_session_id(name)
    # Imported here: they load much, and most names can be ids.
    from hashlib import sha256

    from engramdown.secrets.redaction import redact

    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
    likeness = _suggestion(redact(name))[: LONGEST - _DIGEST_DIGITS - 1].rstrip("._-")
    return f"{likeness}-{digest}"


def session_id(at: datetime, number: int) -> str:
    """Return the id of a session that begins at ``at``; of ``number``, 16 bits are used.

    >>> session_id(datetime(2026, 2, 27, 10, 15, tzinfo=UTC), 0x4F2A)
    '20260227-101500-4f2a'
    """
    return f"{at.astimezone(UTC):%Y%m%d-%H%M%S}-{number & 0xFFFF:04x}"


def episode_id(milliseconds: int, number: int) -> str:
    """Return the id of an episode: when it was born, since 1970, and 30 bits of ``number``.

    >>> episode_id(1_772_187_300_123, 1)
    '01kjf9gc8v000001'
    """
    return _time(milliseconds) + _digits(number, _RANDOM_DIGITS)


@lru_cache(maxsize=2)
def _time(milliseconds: int) -> str:
    return _digits(milliseconds, _TIME_DIGITS)


def _digits(value: int, count: int) -> str:
    """Return the last ``count`` digits of ``value``, two at a time; ``count`` is even."""
    return "".join([_PAIRS[value >> 5 * place & 1023] for place in range(count - 2, -1, -2)])


def _fault(value: str) -> str:
    """Return what is wrong with ``value`` as the id of a session, or ``""``."""
    if not value:
        return "is empty"
    if len(value) > LONGEST:
        return f"has {len(value)} characters, {LONGEST} are allowed"
    if not _ALLOWED.fullmatch(value):
        return "may hold small letters a-z, digits, '-', '_' and '.', a letter or digit first"
    if value.endswith("."):
        return "ends with a dot, which Windows drops"
    if value.partition(".")[0] in _DEVICES:
        return "is the name of a device on Windows"
    return ""


def _suggestion(value: str) -> str:
    """Return an id like ``value`` that has no fault."""
    plain = unicodedata.normalize("NFKD", value[: 4 * LONGEST]).encode("ascii", "ignore").decode()
    tame = re.sub(r"[^a-z0-9._-]+", "-", plain.lower())
    tame = re.sub(r"\.{2,}", ".", tame).lstrip("._-")[:LONGEST].rstrip("._-")
    if tame.partition(".")[0] in _DEVICES:
        return f"{_SOMETHING}-{tame}"[:LONGEST].rstrip("._-")
    return tame or _SOMETHING
