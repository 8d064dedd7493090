"""Children that sleep or work are killed at any moment, and another one finishes what they left.

Promises: each child says ``ready`` before it touches anything; a kill is at a call of the system
that may change something, or anywhere; what a test knows of the work is checked after each story.
"""

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
from typing import Final, NamedTuple

SOAKED: Final = 200
# All of them take some twenty minutes, which is longer than one test may; a few are one test.
QUARTERS: Final = 4 if float(os.environ.get("SOAK_SECONDS", "10")) > 300 else 1
# What may be in the folder of a scope afterwards.
KNOWN: Final = frozenset(
    {
        *("history.jsonl", "sleep.jsonl", "sleep.lock", "worker.lock", "ledger.jsonl"),
        *("config.toml", ".gitignore"),
    }
)


class Killing(NamedTuple):
    """One kind of work, which children do in a copy of the same scopes.

    Attributes:
        module: The module that a child runs.
        folder: An empty folder of the test.
        env: The environment of the children.
        build: Makes the scopes.
        check: Checks what is there once a child has finished all work.
    """

    module: str
    folder: Path
    env: dict[str, str]
    build: Callable[[Path], None]
    check: Callable[[Path], None]

    def scopes(self) -> Path:
        """Return a folder with scopes that nobody worked on."""
        master, now = self.folder / "master", self.folder / "now"
        if not master.exists():
            master.mkdir()
            self.build(master)
        shutil.rmtree(now, ignore_errors=True)
        return Path(shutil.copytree(master, now))

    def begin(self, folder: Path, point: int = 0, by: int = 9) -> subprocess.Popen[str]:
        """Begin the work in a child, which is signalled at call ``point`` of the system, if any."""
        return subprocess.Popen(
            [sys.executable, "-m", self.module, str(folder), str(point), str(by)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            encoding="utf-8",
        )

    def work(self, folder: Path, point: int = 0, after: float = 0, by: int = 9) -> str:
        """Work in a child and return what it said at the end; ``""`` if it was killed before.

        Args:
            folder: Where the scopes are.
            point: The call of the system at which it is signalled, or 0.
            after: When to signal it, in seconds, or 0.
            by: The signal.
        """
        with self.begin(folder, point, by) as child:
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

    def finish(self, folder: Path) -> None:
        """Let a child finish what killed ones left, and check what comes of it."""
        assert self.work(folder).startswith("done")
        self.check(folder)
        for root in roots(folder):
            assert {path.name for path in root.iterdir() if path.is_file()} <= KNOWN
            for path in root.glob("*.jsonl"):
                lines = path.read_text(encoding="utf-8").split("\n")
                assert [json.loads(line) for line in lines[:-1]]
                assert lines[-1] == ""
        calls = asked(folder)
        self.work(folder)
        assert asked(folder) == calls

    def run(self, wanted: int, seconds: float = float("inf")) -> None:
        """Kill children, at calls of the system and anywhere, until ``wanted`` were cut short.

        Or until ``seconds`` have passed, but one at least.
        """
        folder = self.scopes()
        began = time.monotonic()
        said = self.work(folder)
        whole = time.monotonic() - began
        points, calls = int(said.partition(" ")[2]), asked(folder)
        self.finish(folder)
        seed = random.randrange(2**32)
        sys.stdout.write(f"seed {seed}\n")
        dice, kills, tries = random.Random(seed), 0, 0
        while kills < wanted and (not kills or time.monotonic() - began < seconds):
            tries += 1
            assert tries < 4 * wanted, "too few kills hit"
            folder, hits = self.scopes(), 0
            for _ in range(dice.randint(1, 3)):
                point, after = dice.randint(1, points), 0.0
                by = dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
                if dice.random() < 0.2:
                    point, after = 0, dice.uniform(0.001, whole / 2)
                sys.stdout.write(f"{kills + hits}: {by.name} at {point or after}\n")
                hits += self.work(folder, point, after, by) == ""
            self.finish(folder)
            # A kill costs the answer that was on its way, and no other.
            assert asked(folder) <= calls + hits
            kills += hits

    def at_once(self) -> None:
        """Let three children work at once: the model is asked as often as by one."""
        folder = self.scopes()
        self.work(folder)
        calls = asked(folder)
        folder = self.scopes()
        children = [self.begin(folder) for _ in range(3)]
        said = [child.communicate()[0].split()[1] for child in children]
        assert [child.returncode for child in children] == [0, 0, 0]
        assert "done" in said
        assert asked(folder) == calls
        self.finish(folder)


def roots(folder: Path) -> tuple[Path, Path]:
    """Return the folders of the scopes."""
    return folder / "project" / ".engramdown", folder / "home"


def asked(folder: Path) -> int:
    """Return how often the model was asked."""
    path = folder / "asked"
    return len(path.read_text(encoding="utf-8")) if path.exists() else 0
