"""A worker that is killed at any moment loses nothing, does nothing twice, and goes on later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crash.killing import QUARTERS, SOAKED, Killing
from tests.crash.worker import EMPTY, FINISHED, IDLE, ORPHANS, build, cards, facts


@pytest.fixture
def rounds(tmp_path: Path, child_env: dict[str, str]) -> Killing:
    """Return rounds in scopes that nobody worked on."""
    return Killing("tests.crash.worker", tmp_path, child_env, build, check)


def ends(folder: Path, session: str) -> int:
    """Return how often a session was ended."""
    path = folder / "project" / ".engramdown" / "episodes" / f"{session}.jsonl"
    lines = path.read_text(encoding="utf-8").strip().split("\n")
    return sum(json.loads(line).get("event") == "end" for line in lines)


def check(folder: Path) -> None:
    """Check that each session was ended, and has its card and its fact, once."""
    told = [*FINISHED, *ORPHANS]
    assert cards(folder) == {**{f"{name} card": 1 for name in told}, f"{IDLE} summary": 1}
    assert facts(folder) == dict.fromkeys(told, 1)
    assert {name: ends(folder, name) for name in (*told, *EMPTY, IDLE)} == {
        **dict.fromkeys((*told, *EMPTY), 1),
        IDLE: 0,
    }


def test_a_kill_at_any_moment_loses_nothing_and_does_nothing_twice(rounds: Killing) -> None:
    rounds.run(5)


@pytest.mark.soak
@pytest.mark.parametrize("quarter", range(QUARTERS))
def test_two_hundred_kills_lose_nothing(quarter: int, rounds: Killing, soak_seconds: float) -> None:
    del quarter
    rounds.run(SOAKED // QUARTERS, soak_seconds / QUARTERS)


def test_of_three_at_once_each_session_is_done_by_one(rounds: Killing) -> None:
    rounds.at_once()
