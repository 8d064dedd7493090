"""A process that dies at any point of any operation loses nothing that was acknowledged."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from tests.crash.scopes import OPERATIONS


def run(env: dict[str, str], *arguments: str) -> list[str]:
    """Kill an operation everywhere, see :mod:`tests.crash.runner`, and return what it says."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.crash.runner", *arguments],
        capture_output=True,
        encoding="utf-8",
        env=env,
        check=True,
    )
    return result.stdout.strip().split("\n")


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_at_any_point_leaves_memory_whole(name: str, child_env: dict[str, str]) -> None:
    lines = run(child_env, name)
    assert [line for line in lines if not line.endswith(": ok")] == []
    assert len(lines) >= 15


def test_a_kill_while_bringing_things_in_order_does_no_harm(child_env: dict[str, str]) -> None:
    lines = run(child_env, "encode-lesson", "7")
    assert [line for line in lines if not line.endswith(": ok")] == []
    assert sum("+" in line for line in lines) >= 30


@pytest.mark.soak
def test_no_kill_while_bringing_things_in_order_does_harm(
    child_env: dict[str, str], soak_seconds: float
) -> None:
    end = time.monotonic() + soak_seconds
    dice = random.Random()
    while time.monotonic() < end:
        name = dice.choice(list(OPERATIONS))
        lines = run(child_env, name, f"{dice.randint(1, 4)}")
        assert [f"{name} {line}" for line in lines if not line.endswith(": ok")] == []
