"""Locks on open files, as the system gives them and as portalocker's own calls do."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NoReturn

import portalocker
import pytest

from engramdown.storage import locks

TRY: Final = """
import os, sys
from engramdown.storage import locks
print(locks.take(os.open(sys.argv[1], os.O_RDWR)))
"""

WRITE: Final = """
import sys, time
from pathlib import Path
from engramdown.storage import locks
path = Path(sys.argv[1])
lock = locks.ScopeLock(path.with_name(".lock"), 60)
for _ in range(100):
    with lock.hold(), path.open("a", encoding="utf-8") as turns:
        turns.write(sys.argv[2])
        time.sleep(0.003)
"""


@pytest.fixture
def ported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let portalocker lock, as where the system has no ``flock``."""
    locks._system.cache_clear()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    yield
    locks._system.cache_clear()


@pytest.fixture(params=["the system's call", "portalocker's own"])
def either_way(request: pytest.FixtureRequest) -> None:
    """Lock in both ways; on Windows, there is only the second."""
    if request.param != "the system's call":
        request.getfixturevalue("ported")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return an empty file."""
    path = tmp_path / "lock"
    path.touch()
    return path


def opened(path: Path) -> int:
    return os.open(path, os.O_RDWR)


@pytest.mark.usefixtures("either_way")
class TestBothWays:
    """What holds whoever locks."""

    def test_one_at_a_time(self, file: Path, child_env: dict[str, str]) -> None:
        first, second = opened(file), opened(file)
        assert locks.take(first)
        assert not locks.take(second)
        said = subprocess.run(
            [sys.executable, "-c", TRY, str(file)],
            check=True,
            capture_output=True,
            encoding="utf-8",
            env=child_env,
        ).stdout
        assert said == "False\n"
        locks.unlock(first)
        assert locks.take(second)
        os.close(second)
        os.close(first)

    def test_many_share_and_nobody_has_it_alone(self, file: Path) -> None:
        first, second, third = opened(file), opened(file), opened(file)
        locks.share(first)
        locks.share(second)
        assert not locks.take(third)
        os.close(first)
        os.close(second)
        assert locks.take(third)
        os.close(third)

    def test_what_is_no_open_file_is_an_error_of_the_system(self, file: Path) -> None:
        closed = opened(file)
        os.close(closed)
        for call in (locks.take, locks.share, locks.unlock):
            with pytest.raises(OSError, match="descriptor"):
                call(closed)


@pytest.mark.usefixtures("ported")
def test_a_file_system_without_locks_is_no_lock_that_somebody_holds(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise portalocker.LockException("no locks available")

    monkeypatch.setattr(portalocker, "lock", fail)
    monkeypatch.setattr(portalocker, "unlock", fail)
    descriptor = opened(file)
    for call in (locks.take, locks.share, locks.unlock):
        with pytest.raises(OSError, match="no locks available") as caught:
            call(descriptor)
        assert caught.value.errno == errno.ENOLCK
    os.close(descriptor)


def test_a_lock_loads_little(file: Path, child_env: dict[str, str]) -> None:
    program = f"{TRY}\nprint('portalocker' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=child_env,
    )
    assert done.stdout.split() == ["True", "False"]


def test_who_comes_back_at_once_stands_behind_those_who_wait(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    # Each holds the lock nearly all the time; without a line, one keeps it for many turns.
    path = tmp_path / "turns"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(path), name], env=child_env)
        for name in "abc"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    turns = path.read_text(encoding="utf-8")
    together = turns[max(map(turns.index, "abc")) : min(map(turns.rindex, "abc"))]
    assert sum(one == other for one, other in pairwise(together)) < len(together) / 5


def test_who_is_first_in_line_and_asleep_keeps_nobody_out(tmp_path: Path) -> None:
    asleep = os.open(tmp_path, os.O_RDONLY)
    assert locks.take(asleep)
    with locks.ScopeLock(tmp_path / ".lock", 0.2).hold() as held:
        assert held.finished is None
    os.close(asleep)


def test_a_child_does_not_stand_in_line_for_its_parent(tmp_path: Path) -> None:
    with locks._in_line(tmp_path, 1):
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
    other = os.open(tmp_path, os.O_RDONLY)
    assert locks.take(other)
    os.close(other)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
