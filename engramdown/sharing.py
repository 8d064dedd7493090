"""Patience with a file that another program has open, where the system does not let us touch it.

Promises: a call that Windows refuses because a file is in use is tried again for some two seconds,
and then fails with words that name the file and say why; any other error is raised at once.

An editor, a search index or a virus scanner opens a file for a moment after it was written, and
Windows renames, removes and opens nothing that somebody else has open so. No other system does
that: there nothing is ever tried twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

__all__ = ["is_in_use", "patiently"]

P = ParamSpec("P")
T = TypeVar("T")

_PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
# Access denied, sharing violation, lock violation. What opens a file says no more than that it was
# denied: there the number is None, and on other systems there is none.
_IN_USE: Final = (5, 32, 33, None)
_NOT_WINDOWS: Final = 0


def patiently(call: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
    """Call a function of the system, again and again while it says that a file is in use.

    Raises:
        PermissionError: If the file is in use all the time.
        OSError: If anything else is wrong.
    """
    for pause in _PAUSES:
        try:
            return call(*args, **how)
        except PermissionError as error:
            if not is_in_use(error):
                raise
        time.sleep(pause)
    try:
        return call(*args, **how)
    except PermissionError as error:
        if is_in_use(error):
            error.strerror = "another program has it open, or it may not be changed"
        raise


def is_in_use(error: OSError) -> bool:
    """Whether an error may be that another program has a file open."""
    number = getattr(error, "winerror", _NOT_WINDOWS)
    return isinstance(error, PermissionError) and number in _IN_USE
