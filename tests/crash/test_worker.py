"""A worker that is killed at any moment loses nothing, does nothing twice, and goes on later."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.worker import EMPTY, FINISHED, IDLE, ORPHANS, build, cards, facts

KILLS = 5
SOAKED = 200
# All of them take some twenty minutes, which is longer than one test may; a few are one test.
QUARTERS = 4 if float(os.environ.get("SOAK_SECONDS", "10")) > 300 else 1
KNOWN = {
    *("history.jsonl", "sleep.jsonl", "sleep.lock", "worker.lock", "ledger.jsonl"),
    *("config.toml", ".gitignore"),
}
"""What may lie in the folder of a scope after a round."""


@pytest.fixture
def scopes(tmp_path: Path) -> Callable[[], Path]:
    """Return what makes scopes that nobody worked on."""
    master = tmp_path / "master"
    master.mkdir()
    build(master)

    def fresh() -> Path:
        shutil.rmtree(tmp_path / "now", ignore_errors=True)
        return Path(shutil.copytree(master, tmp_path / "now"))

    return fresh


def begin(folder: Path, env: dict[str, str], point: int = 0, by: int = 9) -> subprocess.Popen[str]:
    """Begin a round in a child."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.worker", str(folder), str(point), str(by)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        encoding="utf-8",
    )


def work(folder: Path, env: dict[str, str], point: int = 0, after: float = 0, by: int = 9) -> str:
    """Do a round in a child and return what it said at the end; ``""`` if it was killed before.

    Args:
        folder: Where the scopes are.
        env: The environment.
        point: The call of the system at which it is signalled, or 0.
        after: When to signal it, in seconds, or 0.
        by: The signal.
    """
    with begin(folder, env, point, by) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == "ready\n"
        if after:
            time.sleep(after)
            child.send_signal(by)
        said = child.stdout.read().strip()
        trouble = child.stderr.read()
        child.wait()
    assert child.returncode in (0, -by), trouble
    return said


def asked(folder: Path) -> int:
    """Return how often the model was asked."""
    path = folder / "asked"
    return len(path.read_text(encoding="utf-8")) if path.exists() else 0


def ends(folder: Path, session: str) -> int:
    """Return how often a session was ended."""
    path = folder / "project" / ".engramdown" / "episodes" / f"{session}.jsonl"
    lines = path.read_text(encoding="utf-8").strip().split("\n")
    return sum(json.loads(line).get("event") == "end" for line in lines)


def finish(folder: Path, env: dict[str, str]) -> None:
    """Let a round finish what killed ones left, and check what comes of it."""
    assert work(folder, env).startswith("done")
    told = [*FINISHED, *ORPHANS]
    assert cards(folder) == {**{f"{name} card": 1 for name in told}, f"{IDLE} summary": 1}
    assert facts(folder) == dict.fromkeys(told, 1)
    assert {name: ends(folder, name) for name in (*told, *EMPTY, IDLE)} == {
        **dict.fromkeys((*told, *EMPTY), 1),
        IDLE: 0,
    }
    for root in (folder / "project" / ".engramdown", folder / "home"):
        assert {path.name for path in root.iterdir() if path.is_file()} <= KNOWN
        for path in root.glob("*.jsonl"):
            assert all(map(json.loads, path.read_text(encoding="utf-8").strip().split("\n")))
    calls = asked(folder)
    work(folder, env)
    assert asked(folder) == calls


def run(
    scopes: Callable[[], Path], env: dict[str, str], wanted: int, seconds: float = float("inf")
) -> None:
    """Kill rounds, at calls of the system and anywhere, until ``wanted`` were cut short.

    Or until ``seconds`` have passed, but one at least.
    """
    folder = scopes()
    began = time.monotonic()
    said = work(folder, env)
    whole = time.monotonic() - began
    points, calls = int(said.partition(" ")[2]), asked(folder)
    finish(folder, env)
    seed = random.randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")
    dice, kills, tries = random.Random(seed), 0, 0
    while kills < wanted and (not kills or time.monotonic() - began < seconds):
        tries += 1
        assert tries < 4 * wanted, "too few kills hit"
        folder, hits = scopes(), 0
        for _ in range(dice.randint(1, 3)):
            point, after = dice.randint(1, points), 0.0
            by = dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
            if dice.random() < 0.2:
                point, after = 0, dice.uniform(0.001, whole / 2)
            sys.stdout.write(f"{kills + hits}: {by.name} at {point or after}\n")
            hits += work(folder, env, point, after, by) == ""
        finish(folder, env)
        # A kill costs the answer that was on its way, and no other.
        assert asked(folder) <= calls + hits
        kills += hits


def test_a_kill_at_any_moment_loses_nothing_and_does_nothing_twice(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    run(scopes, child_env, KILLS)


@pytest.mark.soak
@pytest.mark.parametrize("quarter", range(QUARTERS))
def test_two_hundred_kills_lose_nothing(
    quarter: int, scopes: Callable[[], Path], child_env: dict[str, str], soak_seconds: float
) -> None:
    del quarter
    run(scopes, child_env, SOAKED // QUARTERS, soak_seconds / QUARTERS)


def test_of_three_at_once_each_session_is_done_by_one(
    scopes: Callable[[], Path], child_env: dict[str, str]
) -> None:
    folder = scopes()
    work(folder, child_env)
    calls = asked(folder)
    folder = scopes()
    children = [begin(folder, child_env) for _ in range(3)]
    said = [child.communicate()[0].split()[1] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert "done" in said
    assert asked(folder) == calls
    finish(folder, child_env)
