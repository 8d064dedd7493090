"""A window of tmux for tests: what is on the screen in the end, after all that was drawn over.

Promises: what is waited for comes, or the test fails with what is on the screen.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

__all__ = ["Window"]

_PATIENCE: Final = 60.0
_PAUSE: Final = 0.05


class Window:
    """A shell in a window; ``with`` ends both."""

    def __init__(
        self, folder: Path, env: Mapping[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        """Open a window of so many cells in ``folder``."""
        self._socket = str(folder / f"tmux-{os.getpid()}")
        names = ("COLUMNS", "NO_COLOR", "TMUX")
        self._env = {name: value for name, value in env.items() if name not in names}
        self._env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        size = ("-x", str(columns), "-y", str(rows))
        shell = "env 'PS1=$ ' bash --norc --noprofile -i"
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(folder), shell)
        self.expect("$")

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the window, and end what runs in it."""
        self._tmux("kill-server")

    @property
    def text(self) -> str:
        """What is to be seen, and what went out of the window at its top."""
        return self._tmux("capture-pane", "-p", "-S", "-500").rstrip()

    @property
    def coloured(self) -> str:
        """The same, with its colours, and no line that is wrapped."""
        return self._tmux("capture-pane", "-e", "-J", "-p", "-S", "-500").rstrip()

    def type(self, text: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", text)
        self.press("Enter")

    def run(self, *words: str) -> None:
        """Type a command."""
        self.type(shlex.join(words))

    def press(self, *keys: str) -> None:
        """Press keys, by the names that tmux has for them."""
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int = 24) -> None:
        """Make the window wider, or narrower."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def expect(self, text: str) -> None:
        """Wait until ``text`` is to be seen."""
        self.until(lambda shown: text in shown)

    def until(self, seen: Callable[[str], bool]) -> None:
        """Wait until what is to be seen is as it should be."""
        deadline = time.monotonic() + _PATIENCE
        while not seen(shown := self.text):
            assert time.monotonic() < deadline, shown
            time.sleep(_PAUSE)

    def _tmux(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", self._socket, *words],
            env=self._env,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout
