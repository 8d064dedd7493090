"""Whether a program has a file open to write into it: an editor in the middle of saving in place.

Promises: never keeps anybody from opening a file; where the system does not tell, the answer is no.

Linux tells by a read lease, which it grants only on a file that nobody has open for writing; it is
no lock, so portalocker has none. Windows need not tell: it renames
no file that a program has open, so what we displace there is written by nobody, and whoever has
the file open is waited for, see :mod:`engramdown.storage.safe_open`. macOS and others do not tell.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Final

from engramdown import system
from engramdown.storage.safe_open import open_regular

__all__ = ["is_being_written"]

# What Linux calls these in fcntl.h: F_SETSIG, F_SETLEASE, F_RDLCK, F_UNLCK.
_SIGNAL: Final = 10
_LEASE: Final = 1024
_READ: Final = 0
_NONE: Final = 2


def is_being_written(path: Path) -> bool:
    """Whether a program has a file open to write into it; ``False`` where no system tells."""
    if sys.platform != "linux":
        return False
    import signal

    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        # Whoever opens the file while we have the lease makes the system send us a signal: one
        # that does nothing, please.
        steps = ((_SIGNAL, signal.SIGURG), (_LEASE, _READ), (_LEASE, _NONE))
        codes = (_control(descriptor, command, argument) for command, argument in steps)
        return next(filter(None, codes), 0) == errno.EAGAIN
    finally:
        os.close(descriptor)


def _control(descriptor: int, command: int, argument: int) -> int:
    return system.call("fcntl", descriptor, command, argument)
