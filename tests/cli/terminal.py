"""A terminal for tests: a program in it believes that a person sits there.

Promises: what is waited for comes, or the test fails with everything that was shown.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from tests.cli.prepared import Prepared, Preparing

__all__ = ["Terminal"]

_PATIENCE: Final = 60.0
_PAUSE: Final = 5.0
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program in a terminal; ``with`` ends both."""

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        columns: int = 80,
        prepared: Preparing | None = None,
    ) -> None:
        """Start a program in a terminal of ``columns`` columns and 50 rows."""
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        names = ("COLUMNS", "NO_COLOR")
        plain = {name: value for name, value in env.items() if name not in names}
        plain["TERM"] = "xterm-256color"
        self._process: subprocess.Popen[bytes] | Prepared = (
            prepared(arguments, plain, side)
            if prepared
            else subprocess.Popen(
                arguments,
                env=plain,
                stdin=side,
                stdout=side,
                stderr=side,
                start_new_session=True,
            )
        )
        os.close(side)
        self._shown = ""
        # What is read may end in the middle of a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._seen = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the program if it still runs."""
        self._process.kill()
        self._process.wait()
        os.close(self._main)

    @property
    def process(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def raw(self) -> str:
        """Everything that was shown, with colours."""
        return self._shown.replace("\r\n", "\n")

    @property
    def text(self) -> str:
        """Everything that was shown, without colours."""
        return _ESCAPES.sub("", self.raw)

    def expect(self, text: str) -> None:
        """Wait until ``text`` is shown, behind what was expected before."""
        deadline = time.monotonic() + _PATIENCE
        while (at := self.text.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline, (text, self.text)
            assert self._read(), (text, self.text)
        self._seen = at + len(text)

    def press(self, key: str) -> None:
        """Press a key when the program waits for one; keys pressed too early are dropped."""
        deadline = time.monotonic() + _PATIENCE
        while termios.tcgetattr(self._main)[3] & termios.ICANON:
            assert time.monotonic() < deadline, self.text
            time.sleep(0.01)
        os.write(self._main, key.encode())

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._main, f"{text}\n".encode())

    def end(self) -> int:
        """Wait until the program ends and return its exit code."""
        deadline = time.monotonic() + _PATIENCE
        while self._read():
            assert time.monotonic() < deadline, self.text
        return self._process.wait(_PATIENCE)

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> int:
        """Press Ctrl-C, or send ``number``, until the program ends, and return its exit code.

        One that comes right before a program begins to read is seen by nobody but the next.
        """
        deadline = time.monotonic() + _PATIENCE
        while self._process.poll() is None:
            assert time.monotonic() < deadline, self.text
            self._process.send_signal(number)
            pause = time.monotonic() + _PAUSE
            while time.monotonic() < pause and self._read():
                pass
        return self.end()

    def _read(self) -> bool:
        """Take in what is shown now; return whether there may be more."""
        select.select([self._main], [], [], 1.0)
        try:
            data = os.read(self._main, 65536) if self._has_more() else b""
        except OSError:
            return False  # what Linux says when the other side is closed
        self._shown += self._decoder.decode(data)
        return bool(data) or self._process.poll() is None

    def _has_more(self) -> bool:
        return bool(select.select([self._main], [], [], 0)[0])
