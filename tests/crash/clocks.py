"""A clock for other processes that is moved: hours and days pass in a moment.

Promises: every program that is started with :attr:`Clock.env` tells the same time, git and editors
too, and sees files as old as they then are; where there is no compiler for ``clock.c`` the clock
stands, and :attr:`Clock.moves` says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_name("clock.c")
_MOMENT: Final = 2.5
"""So many seconds are waited where the clock stands: git and a person are told apart by that."""
_NANO: Final = 1_000_000_000


class Clock:
    """A clock that is ahead of the real one.

    Attributes:
        moves: Whether it can be moved here.
    """

    def __init__(self, folder: Path) -> None:
        """Tell the real time; whatever is in ``folder`` grows old with it."""
        self._folder = folder
        self._library = folder / "clock.so"
        self._ahead = 0
        self.moves = sys.platform == "linux" and self._compile()

    @property
    def now(self) -> datetime:
        """What it tells."""
        return datetime.now(UTC) + timedelta(seconds=self._ahead)

    @property
    def env(self) -> dict[str, str]:
        """What a process needs to be told this time, besides its own environment."""
        if not self._ahead:
            return {}
        return {"LD_PRELOAD": str(self._library), "CLOCK_AHEAD": f"{self._ahead}"}

    def pass_until(self, then: datetime) -> None:
        """Move on to a later time; no process may be running."""
        seconds = int((then - self.now).total_seconds())
        if seconds <= 0:
            return
        if not self.moves:
            time.sleep(_MOMENT)
            return
        self._ahead += seconds
        # A program is told of a file what it is told of now: so much ahead.
        for path in [self._folder, *self._folder.rglob("*")]:
            found = path.lstat()
            ages = (found.st_atime_ns - seconds * _NANO, found.st_mtime_ns - seconds * _NANO)
            os.utime(path, ns=ages, follow_symlinks=False)

    def _compile(self) -> bool:
        compiler = shutil.which("cc")
        if compiler is None:
            return False
        command = [compiler, "-shared", "-fPIC", "-o", str(self._library), str(_SOURCE), "-ldl"]
        return not subprocess.run(command, capture_output=True, check=False).returncode
