"""What the C library does and Python has no function for.

Promises: the library is loaded with the first call, or by :func:`load`; an error is its number,
never an exception.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

__all__ = ["call", "has", "load"]


@cache
def _library() -> ctypes.CDLL:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def load() -> None:
    """Load the library, where there is one: it could not be while too many files are open."""
    if sys.platform != "win32":
        _library()


def has(name: str) -> bool:
    """Whether the library has a function of this name."""
    return hasattr(_library(), name)


def call(name: str, *arguments: int | bytes) -> int:
    """Call a function that returns -1 for an error; return the number of the error, or 0."""
    import ctypes

    failed = getattr(_library(), name)(*arguments) == -1
    return ctypes.get_errno() if failed else 0
