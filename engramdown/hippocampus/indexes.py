"""Which files an index of git knows, from its bytes.

Promises: pure; any bytes may be passed; what cannot be read knows nothing. All versions of the
format: the fourth leaves out of each name what it shares with the one before.
"""

from __future__ import annotations

from itertools import product
from typing import Final

__all__ = ["in_small", "is_split", "knows", "noted"]

_COMPRESSED: Final = 4
_HEAD: Final = 12
# Before the digest stand ten numbers of four bytes; a digest has the length of SHA-1 or SHA-256.
_NUMBERS: Final = 40
_DIGESTS: Final = (20, 32)
_WRITTEN: Final = 8
_MODE: Final = 24
_MODES: Final = (0o100644, 0o100755)
_NANO: Final = 1_000_000_000
_EXTENDED: Final = 0x4000
_EXTENDED_BY: Final = 4
_LENGTH: Final = 0x0FFF
_MORE: Final = 0x80


def knows(index: bytes, name: bytes) -> bool:
    """Whether a file, by its name relative to the top of the work tree, is in an index."""
    if _number(index, 4) < _COMPRESSED:
        return name + b"\0" in index
    return any(name in _names(index, size) for size in _DIGESTS)


def noted(index: bytes, name: bytes) -> tuple[int, bytes] | None:
    """Return what an index notes of a file: when it was written, in nanoseconds, and its digest.

    ``None`` if it is not there, or the index is of the fourth version.
    """
    if _number(index, 4) >= _COMPRESSED:
        return None
    found = index.find(name + b"\0")
    while found >= 0:
        for size, more in product(_DIGESTS, (2, 4)):
            start = found - more - size - _NUMBERS
            flags = _number(index[: found - more + 2], found - more)
            is_here = flags & _LENGTH == min(len(name), _LENGTH)
            is_here = is_here and bool(flags & _EXTENDED) == (more == _EXTENDED_BY)
            if is_here and start >= _HEAD and _number(index, start + _MODE) in _MODES:
                at = _number(index, start + _WRITTEN) * _NANO
                nanoseconds = _number(index, start + _WRITTEN + 4)
                return at + nanoseconds, index[start + _NUMBERS : found - more]
        found = index.find(name + b"\0", found + 1)
    return None


def in_small(index: bytes) -> bytes | None:
    """Return what holds the names in an index in small letters, each with a NUL behind it.

    Nothing else is promised of it. ``None`` if names cannot be read that must be there.
    """
    if _number(index, 4) < _COMPRESSED:
        return index.lower()
    names = set[bytes]().union(*(_names(index, size) for size in _DIGESTS))
    if not names and _number(index, 8):
        return None
    return b"".join(name.lower() + b"\0" for name in names)


def is_split(index: bytes) -> bool:
    """Whether an index may be only what changed since another one, ``sharedindex.…`` beside it."""
    return b"link" in index


def _names(index: bytes, digest: int) -> set[bytes]:
    """Return the names in an index of the fourth version; none if it is not one of such digests."""
    found: set[bytes] = set()
    name, at = b"", _HEAD
    for _ in range(_number(index, 8)):
        at += _NUMBERS + digest
        flags = int.from_bytes(index[at : at + 2])
        left, start = _left_out(index, at + (4 if flags & _EXTENDED else 2))
        at = index.find(b"\0", start) + 1
        if not at or left > len(name):
            return set()
        name = name[: len(name) - left] + index[start : at - 1]
        if min(len(name), _LENGTH) != flags & _LENGTH:
            return set()
        found.add(name)
    return found


def _left_out(index: bytes, at: int) -> tuple[int, int]:
    """Return how many bytes of the name before go, and where the new ones begin."""
    count, more = 0, True
    while more:
        byte = index[at] if at < len(index) else 0
        more = byte & _MORE > 0
        count = (count << 7) + (byte & ~_MORE) + (1 if more else 0)
        at += 1
    return count, at


def _number(index: bytes, at: int) -> int:
    return int.from_bytes(index[at : at + 4])
