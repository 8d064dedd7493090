"""A sleep that is killed at any moment loses nothing, does nothing twice, and is finished later."""

from __future__ import annotations

import random
import shutil
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


def sleep(folder: Path, env: dict[str, str], kill_after: float | None = None) -> str:
    """Sleep in a child and return what it said at the end; ``""`` if it was killed before."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.sleeper", str(folder)],
        stdout=subprocess.PIPE,
        env=env,
        encoding="utf-8",
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        if kill_after is not None:
            time.sleep(kill_after)
            child.kill()
        said = child.stdout.read().strip()
        child.wait()
    assert kill_after is not None or child.returncode == 0
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


def kill_and_finish(
    folder: Path, env: dict[str, str], whole: float, dice: random.Random
) -> tuple[int, float]:
    """Kill some sleeps, let one finish; return how many were cut short, and how long that took."""
    kills = 0
    for _ in range(dice.randint(1, 3)):
        kills += sleep(folder, env, dice.uniform(0, whole)) == ""
    began = time.monotonic()
    assert sleep(folder, env) == "done"
    took = time.monotonic() - began
    check(folder)
    assert lessons(folder) == dict.fromkeys(
        [name for it in SESSIONS for name in (f"Use {it} for everything", f"Answer about {it}")], 1
    )
    left = {path.name for path in (folder / "project" / ".engramdown").iterdir()}
    assert "sleep-work.json" not in left
    return kills, took


def run(scopes: Callable[[], Path], env: dict[str, str], wanted: int) -> None:
    """Kill sleeps until as many as ``wanted`` were cut short."""
    began = time.monotonic()
    folder = scopes()
    assert sleep(folder, env) == "done"
    check(folder)
    # Most of it is the start of the child, which comes before it says that it is ready.
    whole = (time.monotonic() - began) / 2
    seed = random.randrange(2**32)
    dice, kills, tries = random.Random(seed), 0, 0
    while kills < wanted:
        tries += 1
        assert tries < 4 * wanted + 20, f"too few kills hit; seed {seed}"
        found, _ = kill_and_finish(scopes(), env, whole, dice)
        kills += found
        # Who comes late only hits what is finished.
        whole = max(0.05, whole * (1.1 if found else 0.6))


def test_a_kill_at_any_moment_loses_nothing_and_does_nothing_twice(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    run(scopes, child_env, KILLS)


@pytest.mark.soak
def test_two_hundred_kills_lose_nothing(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    run(scopes, child_env, SOAKED)


def test_of_two_at_once_one_sleeps_and_the_other_goes_on(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    folder = scopes()
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.sleeper", str(folder)],
            stdout=subprocess.PIPE,
            env=child_env,
            encoding="utf-8",
        )
        for _ in range(3)
    ]
    said = [child.communicate()[0].split()[-1] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert "done" in said
    assert sleep(folder, child_env) == "done"
    check(folder)
    assert sum(lessons(folder).values()) == 2 * len(SESSIONS)
