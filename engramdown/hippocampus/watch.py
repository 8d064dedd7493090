"""That a file in some folders may have changed, told as it happens.

The names and times of the markdown files are looked at twice a second: on every file system, also
on those that tell nobody of changes, and without a thread of its own. A burst of saves is told
once, and one that does not end after :data:`LONGEST` seconds all the same. Folders may come, go
and come back. What is told is *that* something may have changed, never what.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from engramdown.forks import Event

LONGEST: Final = 0.4
"""For how many seconds a burst is folded together."""
_QUIET: Final = 0.1
"""How long nothing must happen for a burst to be over, in seconds."""
_POLL: Final = 0.5
"""Seconds between two looks, at least."""
_SHARE: Final = 100
"""Looks take a hundredth of the time at most, however many files there are."""


class Watch:
    """Watches the markdown files right in some folders, which need not exist."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Begin to watch; what is in folders of these folders is not looked at."""
        self._folders = folders
        self._woken = Event()
        self._pause = _POLL
        self._seen = frozenset(_files(folders))

    def wait(self, seconds: float) -> bool:
        """Wait until something may have changed, ``seconds`` at most; return whether it may."""
        end = time.monotonic() + seconds
        while not self._is_changed():
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self._woken.wait(min(self._pause, left)):
                break
        self._woken.clear()
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and not self._woken.wait(_QUIET) and self._is_changed():
            pass
        return True

    def wake(self) -> None:
        """End the waiting, as if something had changed."""
        self._woken.set()

    def _is_changed(self) -> bool:
        began, before = time.monotonic(), self._seen
        self._seen = frozenset(_files(self._folders))
        self._pause = max(_POLL, (time.monotonic() - began) * _SHARE)
        return self._seen != before


def _files(folders: Sequence[Path]) -> Iterator[tuple[str, int, int, int]]:
    """Yield what tells one state of the folders and their memory files from another."""
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as found:
            there = folder.stat()
            yield str(folder), there.st_dev, there.st_ino, 0
            for item in found:
                # No swap, backup or temporary file.
                if item.name.lower().endswith(".md") and not item.name.startswith("."):
                    with contextlib.suppress(OSError):
                        what = item.stat()
                        yield item.path, what.st_ino, what.st_size, what.st_mtime_ns
