"""A sleep that is killed at any moment loses nothing, does nothing twice, and is finished later."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.killing import QUARTERS, SOAKED, Killing, roots
from tests.crash.sleeper import SESSIONS, build, lessons, replayed


@pytest.fixture
def sleeps(tmp_path: Path, child_env: dict[str, str]) -> Killing:
    """Return sleeps on sessions that nobody slept on."""
    return Killing("tests.crash.sleeper", tmp_path, child_env, build, check)


def check(folder: Path) -> None:
    """Check memory against the journal, and that what was learned is there once."""
    for root in roots(folder):
        memory = root / "memory"
        files = {
            str(path.relative_to(memory)): path.read_text(encoding="utf-8")
            for path in memory.rglob("*.md")
        }
        assert {name: text for name, text in files.items() if text} == replayed(root)
    learned = [f"Use {it} for everything" for it in SESSIONS]
    learned += [f"Answer about {it}" for it in SESSIONS]
    assert lessons(folder) == dict.fromkeys(learned, 1)
    assert not [*folder.rglob("worker.lock")]


def test_a_kill_at_any_moment_loses_nothing_and_does_nothing_twice(sleeps: Killing) -> None:
    sleeps.run(4)


@pytest.mark.soak
@pytest.mark.parametrize("quarter", range(QUARTERS))
def test_two_hundred_kills_lose_nothing(quarter: int, sleeps: Killing, soak_seconds: float) -> None:
    del quarter
    sleeps.run(SOAKED // QUARTERS, soak_seconds / QUARTERS)


def test_of_three_at_once_one_sleeps_and_the_others_go_on(sleeps: Killing) -> None:
    sleeps.at_once()
