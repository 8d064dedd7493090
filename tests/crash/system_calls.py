"""Real system calls of an operation that fail, or are never reached because of a SIGKILL.

Promises: a fault is put in with strace into a child that waits until strace is attached, so the
calls are counted from the beginning of the operation and from nowhere else; whether it landed
there is read from what strace saw, never taken for granted; only calls that an operation makes each
time are counted, as one that waits for an editor may make more of them.

Needs strace, which ``.ci/run`` installs. :func:`can_trace` says whether it is there and may trace.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from tests.crash.performing import DONE, MARK

CALLS: Final = (
    *("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2"),
    *("link", "linkat", "unlink", "unlinkat", "flock", "close", "mkdir", "mkdirat", "ftruncate"),
    *("truncate", "fchmod", "chmod", "utimensat"),
)
"""The calls that are failed and killed at; those that a machine does not have are passed over."""

_ROOT: Final = Path(__file__).resolve().parent.parent.parent
_LINE: Final = re.compile(
    r"(?P<thread>\d+) +(?:(?:<\.\.\. )?(?P<call>\w+)(?:\(|(?P<resumed> resumed>))|\+\+\+ |---)"
)
_PATIENCE: Final = 60


@cache
def can_trace() -> bool:
    """Whether strace is there and may do its work."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return False
    command = ["strace", "-f", "-o", os.devnull, "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault at one call, or from one call on.

    Attributes:
        call: The name of the call.
        number: Which of them, counted from 1 in each thread from where the operation begins.
        error: The name of an error, or ``""`` for a SIGKILL right before it.
        lasts: Whether all calls after it fail as well.
    """

    call: str
    number: int
    error: str = ""
    lasts: bool = False

    def __str__(self) -> str:
        """Return it as strace is told."""
        fault = f"error={self.error}" if self.error else "signal=SIGKILL"
        return f"{self.call}:{fault}:when={self.number}{'+' if self.lasts else ''}"


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of an operation.

    Attributes:
        ended: The exit code of the child, or the negative number of the signal.
        said: What error it ended with.
        calls: What each thread or process called between the marks, in its order.
        landed: How often a fault was put in between the marks.
    """

    ended: int
    said: str
    calls: tuple[tuple[str, ...], ...]
    landed: int


class Tracer:
    """Carries out operations under strace: a context manager, for there is a process behind it."""

    def __init__(self, folder: Path) -> None:
        """Keep what has to be kept in ``folder``."""
        self._folder = folder
        self._rehearsed: set[str] = set()
        self._performer = self._start()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        del kind, error, trace
        self.close()

    def close(self) -> None:
        """End the process."""
        with self._performer as performer:
            performer.kill()

    def rehearse(self, name: str, root: Path) -> None:
        """Carry out an operation once in the process whose children carry it out later."""
        assert self._ask("rehearse", name, str(root)) == "rehearsed"
        self._rehearsed.add(name)

    def run(self, name: str, root: Path, injection: Injection | None = None) -> Ran:
        """Carry out an operation on ``root``, with a fault or without."""
        assert name in self._rehearsed, f"{name} was not rehearsed"
        child = self._ask("begin", name, str(root))
        log = self._folder / "strace"
        command = ["strace", "-f", "-p", child, "-o", str(log), "-e", f"trace={_traced()}"]
        if injection is not None:
            command += ["-e", f"inject={injection}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as tracer:
            try:
                said = _line_of(tracer.stderr)
                assert said.endswith(" attached\n"), f"strace cannot attach: {said}"
                ended, words = json.loads(self._ask("go"))
                tracer.wait(_PATIENCE)
            finally:
                tracer.kill()
        return _read(log.read_text(encoding="utf-8", errors="replace"), ended, words)

    def record(self, name: str, copy: Callable[[Path], object]) -> Counter[str]:
        """Carry out an operation twice, without a fault; return how often it makes each call.

        Args:
            name: The operation.
            copy: Makes a folder to work on.

        Raises:
            AssertionError: If it fails.
        """
        rans: list[Counter[str]] = []
        for at in range(3):
            root = self._folder / f"recorded-{at}"
            copy(root)
            if at:
                rans.append(_most(self.run(name, root)))
            else:
                self.rehearse(name, root)
            shutil.rmtree(root)
        return rans[0] & rans[1]

    def _start(self) -> subprocess.Popen[str]:
        home = self._folder / "home"
        home.mkdir()
        known = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.crash.performing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            cwd=home,
            # A set of names has the same order in every child.
            env={**known, "HOME": str(home), "PYTHONHASHSEED": "0", "PYTHONPATH": str(_ROOT)},
        )

    def _ask(self, *words: str) -> str:
        assert self._performer.stdin is not None
        self._performer.stdin.write(json.dumps(words) + "\n")
        self._performer.stdin.flush()
        answer = _line_of(self._performer.stdout)
        assert answer, f"the process that performs ended at {words}"
        return answer.strip()


def _most(ran: Ran) -> Counter[str]:
    """Return the calls of an operation: strace counts them in each thread from the beginning."""
    assert ran.ended == DONE, ran
    most: Counter[str] = Counter()
    for calls in ran.calls:
        most |= Counter(calls)
    return most


def _line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


@cache
def _traced() -> str:
    # A question mark passes over what the machine does not have.
    return ",".join([f"?{call}" for call in CALLS] + ["kill"])


def _read(log: str, ended: int, said: str) -> Ran:
    """Return what strace saw."""
    calls: dict[str, list[str]] = {}
    marks = landed = 0
    for line in log.split("\n"):
        found = _LINE.match(line)
        if found is None or marks > 1:
            continue
        if found["call"] == "kill":
            marks += f" {MARK.name})" in line
        elif marks:
            landed += "(INJECTED)" in line or "+++ killed by SIGKILL" in line
            if found["call"] and not found["resumed"]:
                calls.setdefault(found["thread"], []).append(found["call"])
    return Ran(ended, said, tuple(map(tuple, calls.values())), landed)
