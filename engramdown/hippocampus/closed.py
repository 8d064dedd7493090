"""A scope that can be read but has no place to write to.

Promises: every write is refused with one reason, before anything is created.
"""

from __future__ import annotations

from pathlib import Path

from engramdown.disk import Disk
from engramdown.errors import StoreError

__all__ = ["ClosedDisk"]


class ClosedDisk(Disk):
    """The system calls of a store that may not write."""

    def __init__(self, reason: str, *, limit: int) -> None:
        """Refuse with ``reason``; ``limit`` is the largest file that is read, in bytes."""
        super().__init__(limit=limit)
        self._reason = reason

    def make_folder(self, path: Path) -> None:
        """Refuse: a step begins with the folder that it writes to.

        Raises:
            StoreError: Always.
        """
        del path  # It would only be named to be refused.
        raise StoreError(self._reason)
