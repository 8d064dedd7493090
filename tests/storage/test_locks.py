"""Locks on open files, as the system gives them and as portalocker's own calls do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from engramdown.storage import locks

TRY: Final = """
import os, sys
from engramdown.storage import locks
print(locks.take(os.open(sys.argv[1], os.O_RDWR)))
"""
# As if its folder could not be loaded under a second name.
LAID_OUT_OTHERWISE: Final = """
import sys
sys.modules["engramdown._portalocker.portalocker"] = None
"""


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return the module of portalocker that locks, told to do so by itself, as on Windows."""
    found = locks._low_level()
    locks._system.cache_clear()
    monkeypatch.setattr(found, "LOCKER", found.FlockLocker)
    yield found
    locks._system.cache_clear()


@pytest.fixture(params=["the system's call", "portalocker's own"])
def either_way(request: pytest.FixtureRequest) -> None:
    """Lock in both ways; on Windows, there is only the second."""
    if request.param != "the system's call":
        request.getfixturevalue("low")


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
        locks.wait(first)
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
        for call in (locks.take, locks.wait, locks.share, locks.unlock):
            with pytest.raises(OSError, match="descriptor"):
                call(closed)


def test_a_system_that_gives_up_waiting_is_asked_again(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    low: Any,  # noqa: ANN401 - a module
) -> None:
    """Windows looks ten times, a second apart, and calls that locked."""
    answers = [low.exceptions.AlreadyLocked("held"), low.exceptions.AlreadyLocked("held"), None]

    def lock(_descriptor: int, _flags: int) -> None:
        answer = answers.pop(0)
        if answer:
            raise answer

    monkeypatch.setattr(low, "lock", lock)
    descriptor = opened(file)
    locks.wait(descriptor)
    os.close(descriptor)
    assert answers == []


def test_a_file_system_without_locks_is_no_lock_that_somebody_holds(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    low: Any,  # noqa: ANN401 - a module
) -> None:
    def fail(*_: object) -> NoReturn:
        raise low.exceptions.LockException("no locks available")

    monkeypatch.setattr(low, "lock", fail)
    monkeypatch.setattr(low, "unlock", fail)
    descriptor = opened(file)
    for call in (locks.take, locks.wait, locks.share, locks.unlock):
        with pytest.raises(OSError, match="no locks available") as caught:
            call(descriptor)
        assert caught.value.errno == errno.ENOLCK
    os.close(descriptor)


@pytest.mark.parametrize("before", ["", LAID_OUT_OTHERWISE], ids=["as it is", "laid out otherwise"])
def test_a_lock_loads_little(file: Path, child_env: dict[str, str], before: str) -> None:
    program = f"{before}\n{TRY}\nprint('portalocker' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=child_env,
    )
    assert done.stdout.split() == ["True", str(bool(before))]
