"""The scope in the hands of one writer, and for how long it gives way to a person's saves.

Promises: a person who saves all the time neither keeps the writer out, nor those who wait for the
lock behind it.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engramdown.scope_lock import Held

if TYPE_CHECKING:
    from engramdown.hippocampus.transaction import Staged

__all__ = ["Hold"]

# How often, and for how many seconds, a step is begun anew because a person saved in the middle of
# it. Then it stays, and what they saved is merged behind it.
_YIELDS: Final = 50
_PATIENCE: Final = 2.0
# How many displaced saves one holder merges, and until how many seconds after it took the lock it
# begins with one more; what is left waits for the next holder.
_MERGES: Final = 10
_MERGING: Final = 3.0


class Hold:
    """The scope in our hands.

    Attributes:
        lock: The lock.
        displaced: Files whose exchange displaced a person's save that is not merged yet.
        yielded: How often we gave way to a save.
    """

    def __init__(self, lock: Held) -> None:
        """Begin to count."""
        self.lock = lock
        self.displaced: deque[Staged] = deque()
        self.yielded = 0
        self._folding = False
        self._since = time.monotonic()

    @property
    def insists(self) -> bool:
        """Whether a file of ours stays in its place, even if it displaces a save."""
        gave_way = self.yielded >= _YIELDS or self._seconds() >= _PATIENCE
        return self._folding or gave_way

    @contextlib.contextmanager
    def folding(self) -> Iterator[None]:
        """Insist in a ``with`` block: what was saved first is to be merged first."""
        self._folding = True
        try:
            yield
        finally:
            self._folding = False

    def is_long(self, merged: int) -> bool:
        """Whether others are to go on, now that ``merged`` displaced saves are merged."""
        return merged >= _MERGES or (merged > 0 and self._seconds() >= _MERGING)

    def _seconds(self) -> float:
        return time.monotonic() - self._since
