"""A sleep that is killed at any moment loses nothing, does nothing twice, and is finished later."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.sleeper import SESSIONS, build, lessons, replayed

KILLS = 15
SOAKED = 200


@pytest.fixture
def scopes(tmp_path: Path) -> Callable[[], Path]:
    """Return what makes scopes with sessions that nobody slept on."""
    master = tmp_path / "master"
    master.mkdir()
    build(master)

    def fresh() -> Path:
        shutil.rmtree(tmp_path / "now", ignore_errors=True)
        return Path(shutil.copytree(master, tmp_path / "now"))

    return fresh


def sleep(folder: Path, env: dict[str, str], point: int = 0, after: float = 0) -> str:
    """Sleep in a child and return what it said at the end; ``""`` if it was killed before.

    Args:
        folder: Where the scopes are.
        env: The environment.
        point: The call of the system at which it is killed, or 0.
        after: When to kill it, in seconds, or 0.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.sleeper", str(folder), str(point)],
        stdout=subprocess.PIPE,
        env=env,
        encoding="utf-8",
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        if after:
            time.sleep(after)
            child.kill()
        said = child.stdout.read().strip()
        child.wait()
    assert child.returncode in (0, -signal.SIGKILL)
    return said


def check(folder: Path) -> None:
    """Check memory against the journal, and that what was learned stands there once."""
    once = lessons(folder)
    assert once == dict.fromkeys(once, 1), once
    for root in (folder / "project" / ".engramdown", folder / "home"):
        memory = root / "memory"
        found = {
            str(path.relative_to(memory)): path.read_text(encoding="utf-8")
            for path in memory.rglob("*.md")
        }
        assert {name: text for name, text in found.items() if text} == replayed(root)


def finish(folder: Path, env: dict[str, str]) -> None:
    """Let a sleep finish what killed ones left, and check what comes of it."""
    assert sleep(folder, env).startswith("done")
    check(folder)
    learned = [f"Use {it} for everything" for it in SESSIONS]
    learned += [f"Answer about {it}" for it in SESSIONS]
    assert lessons(folder) == dict.fromkeys(learned, 1)
    left = {path.name for path in (folder / "project" / ".engramdown").iterdir()}
    assert "sleep-work.json" not in left


def run(
    scopes: Callable[[], Path], env: dict[str, str], wanted: int, seconds: float = float("inf")
) -> None:
    """Kill sleeps, at calls of the system and anywhere, until ``wanted`` were cut short.

    Or until ``seconds`` have passed.
    """
    folder = scopes()
    began = time.monotonic()
    said = sleep(folder, env)
    whole = time.monotonic() - began
    points = int(said.partition(" ")[2])
    finish(folder, env)
    seed = random.randrange(2**32)
    dice, kills, tries = random.Random(seed), 0, 0
    while kills < wanted and time.monotonic() - began < seconds:
        tries += 1
        assert tries < 4 * wanted, f"too few kills hit; seed {seed}"
        folder = scopes()
        for _ in range(dice.randint(1, 3)):
            point, after = dice.randint(1, points), 0.0
            if dice.random() < 0.2:
                point, after = 0, dice.uniform(0.001, whole / 2)
            kills += sleep(folder, env, point, after) == ""
        finish(folder, env)


def test_a_kill_at_any_moment_loses_nothing_and_does_nothing_twice(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    run(scopes, child_env, KILLS)


@pytest.mark.soak
def test_two_hundred_kills_lose_nothing(
    scopes: Callable[[], Path], child_env: dict[str, str], soak_seconds: float
) -> None:
    run(scopes, child_env, SOAKED, soak_seconds)  # all of them take some twenty minutes


def test_of_two_at_once_one_sleeps_and_the_other_goes_on(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    folder = scopes()
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.sleeper", str(folder), "0"],
            stdout=subprocess.PIPE,
            env=child_env,
            encoding="utf-8",
        )
        for _ in range(3)
    ]
    said = [child.communicate()[0].split()[1] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert "done" in said
    finish(folder, child_env)
