"""Locks on open files, as the system gives them and as portalocker's own calls do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
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
