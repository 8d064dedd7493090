"""An erasure that is killed anywhere is finished by whoever opens memory next, or was not begun."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex
from engramdown.errors import EntryNotFoundError
from engramdown.storage.disk import ERASING as NOTE
from tests.erasing.planted import EARLIER, OTHER, SECRET, everywhere, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes are forked")

_CALLS: Final = frozenset(
    {"open", "os.rename", "os.link", "os.remove", "os.truncate", "os.mkdir", "os.scandir"}
)


STRIDE: Final = 40
"""How many calls are passed over between two kills of one way through."""


def killed(project: Path, name: str, at: int) -> bool:
    """Erase in a child that is killed at its ``at``-th call; whether it was."""
    child = os.fork()
    if not child:
        left = at

        def count(event: str, _: object) -> None:
            nonlocal left
            if event in _CALLS or event.startswith("ctypes.call"):
                left -= 1
                if left <= 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        cortex = Cortex.open(project=project)
        sys.addaudithook(count)
        cortex.review.erase(name)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def check(project: Path, home: Path, name: str) -> bool:
    """Check that what was begun is finished by opening memory; whether it was begun."""
    begun = (project / ".engramdown" / NOTE).exists() or (home / ".engramdown" / NOTE).exists()
    cortex = Cortex.open(project=project)
    assert cortex.scopes.notices() == []
    assert OTHER in {entry.text for entry in cortex.entries()}
    left = left_in([project, home], SECRET, EARLIER)
    if begun:
        assert left == []
    elif left:
        assert cortex.find(name).text == SECRET, "half of it went, and nothing said so"
        cortex.review.erase(name)
        assert left_in([project, home], SECRET, EARLIER) == []
    with pytest.raises(EntryNotFoundError):
        cortex.review.erase(name)
    assert not any(store.notice() for store in cortex.scopes.stores)
    assert not list(project.rglob("*.tmp*"))
    assert not list(project.rglob(f"{NOTE}*"))
    assert not list(home.rglob(f"{NOTE}*"))
    return begun


def kill_at(points: Iterable[int], folder: Path, home: Path) -> int:
    """Kill at each of ``points``; return how many of these erasures had begun."""
    shutil.rmtree(home / ".engramdown", ignore_errors=True)
    (home / ".engramdown").mkdir()
    (home / ".engramdown" / "config.toml").write_text("", encoding="utf-8")
    master, kept = folder / "master", folder / "home"
    master.mkdir(parents=True)
    name = everywhere(master)
    shutil.copytree(home, kept)
    begun = 0
    for at in points:
        project = folder / "project"
        shutil.copytree(master, project)
        shutil.rmtree(home / ".engramdown", ignore_errors=True)
        shutil.copytree(kept / ".engramdown", home / ".engramdown")
        if not killed(project, name, at):
            assert at > 200
            shutil.rmtree(project)
            break
        begun += check(project, home, name)
        shutil.rmtree(project)
    return begun


@pytest.mark.slow
def test_what_was_begun_is_finished_by_the_next(tmp_path: Path, isolated_home: Path) -> None:
    dice = random.Random(14)
    points = sorted(dice.sample(range(1, 700), 12))
    assert kill_at(points, tmp_path, isolated_home) >= 4


@pytest.mark.soak
def test_wherever_it_is_killed(tmp_path: Path, isolated_home: Path, soak_seconds: float) -> None:
    end = time.monotonic() + soak_seconds
    # Once through the whole erasure in strides, and again until every call had its turn.
    for first in random.SystemRandom().sample(range(1, STRIDE + 1), STRIDE):
        points = range(first, 20_000, STRIDE)
        begun = kill_at(points, tmp_path / f"{first}", isolated_home)
        assert begun > 100 // STRIDE, f"at each {STRIDE}th call from {first} on"
        if time.monotonic() > end:
            break
