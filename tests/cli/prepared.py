"""Programs for tests that need no time to start: forks of one that has imported everything.

Promises: each is a process of its own, with the terminal, folder, environment and arguments that it
is given, and ends as any program does; only its imports are those of the one that it is a fork of,
which for a chat takes longer than all that a test says in it.

``python -m tests.cli.prepared`` makes them, as the socket says that is its input, to the end of it.
"""

from __future__ import annotations

import fcntl
import gc
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.conftest import ROOT

__all__ = ["Prepared", "Preparing"]

# What a chat imports, but for what looks at the terminal when it is imported.
_MODULES: Final = (
    *("engramdown.cli.main", "engramdown.cli.chat_room", "engramdown.cli.chat_screen"),
    *("engramdown.integrations.chat.turns", "openai.resources.chat.completions"),
)
_PIECE: Final = 1 << 16


class Prepared:
    """A program that was made, for whoever made it; like ``subprocess.Popen``.

    Attributes:
        pid: The number of its process.
    """

    def __init__(self, told: socket.socket) -> None:
        """Take what is told of it: its number at first, and at the end how it ended."""
        self._told = told.makefile("rb")
        told.close()
        first = self._told.readline()
        assert first, "what makes programs has ended"
        self.pid = int(first)
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code if it has ended."""
        return self._code if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends, and return its exit code."""
        assert self._has_ended(timeout), "it still runs"
        assert self._code is not None
        return self._code

    def send_signal(self, number: int) -> None:
        """Send it a signal if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        if self._code is None and select.select([self._told], [], [], timeout)[0]:
            self._code = int(self._told.readline())
            self._told.close()
        return self._code is not None


class Preparing:
    """What programs are forks of; ``close`` ends it."""

    def __init__(self) -> None:
        """Start it, with no more of an environment than it needs to import everything."""
        self._ours, theirs = socket.socketpair()
        number = theirs.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            stdin=number,
            stdout=number,  # no more than a terminal is it a file in which one can seek
            stderr=number,
        )
        theirs.close()

    def __call__(self, words: Sequence[str], env: Mapping[str, str], terminal: int) -> Prepared:
        """Start ``engramdown`` with the arguments ``words[1:]`` in a terminal and this folder."""
        ours, theirs = socket.socketpair()
        asked = {"words": list(words), "env": dict(env), "folder": str(Path.cwd())}
        line = f"{json.dumps(asked)}\n".encode()
        sent = socket.send_fds(self._ours, [line], [terminal, theirs.fileno()])
        self._ours.sendall(line[sent:])
        theirs.close()
        return Prepared(ours)

    def close(self) -> None:
        """Make no more programs."""
        self._ours.close()
        self._process.wait()


def main() -> int:
    """Make programs, and be one of them if this is a fork."""
    asking = socket.socket(fileno=os.dup(0))
    for name in _MODULES:
        import_module(name)
    gc.freeze()
    # Nobody here waits for who keeps a program.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, numbers, _, _ = socket.recv_fds(asking, _PIECE, 2)
        if not data:
            return 0
        while not data.endswith(b"\n"):
            data += asking.recv(_PIECE)
        if os.fork() == 0:
            asking.close()
            return _keep(json.loads(data), *numbers)
        for number in numbers:
            os.close(number)


def _keep(asked: dict[str, Any], terminal: int, told: int) -> int:
    """Start the program in a fork of this fork, and tell its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(told)
        return _be(asked, terminal)
    os.close(terminal)
    os.write(told, f"{child}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(told, f"{code}\n".encode())
    os._exit(0)


def _be(asked: dict[str, Any], terminal: int) -> int:
    """Be the program."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(terminal, number)
    os.close(terminal)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(line_buffering=True)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    sys.argv = asked["words"]
    from engramdown.cli.entry import main as program

    return program()


if __name__ == "__main__":
    sys.exit(main())
