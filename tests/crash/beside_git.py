"""An assistant that learns all the time while real git merges and switches branches around it.

Promises: what was acknowledged stands in the work tree or on a branch, once in each; nothing that
was committed on one branch only is carried to another, and nothing is retired because git moved.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import parse
from engramdown.storage.disk import Disk
from tests.crash.campaign import Trial
from tests.git.desk import Desk

_ROOT: Final = Path(__file__).parents[2]
_FILE: Final = ".engramdown/memory/rules.md"
_MOVES: Final = 8
# It learns until what it reads from ends, and says each line after it was acknowledged.
_AGENT: Final = """\
import sys, threading
from engramdown.storage.disk import Disk
from engramdown.hippocampus.store import Hippocampus
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set())).start()
store = Hippocampus(sys.argv[1], disk=Disk(durable=False), lock_timeout=60)
number = 0
while not over.wait(float(sys.argv[2])):
    number += 1
    store.encode_rule(f"learned {number}", kind=("always", "never")[number % 2])
    print(f"learned {number}", flush=True)
"""
# git writes files in the order of their names: one takes its time before memory, one behind it.
_SLOW: Final = (".before", "zz-behind")


def trials(folder: Path, dice: random.Random) -> Generator[Trial, None, None]:
    """Yield repositories for ever; a case is a move of git."""
    number = 0
    while True:
        number += 1
        place = folder / f"{number}"
        pause, slow = dice.choice((0.0, 0.01, 0.05)), dice.choice((0.0, 0.02, 0.1))
        story = _Story(place, dice, slow)
        try:
            with story.learning(pause):
                moved = [story.move() for _ in range(_MOVES)]
            what = f"repository {number}, a line each {pause} s, git rests {slow} s: {moved}"
            yield Trial(what, "; ".join(story.wrong()), count=_MOVES)
        finally:
            shutil.rmtree(place, ignore_errors=True)


class _Story:
    """A repository with two branches that a person works on, and one that others push to."""

    def __init__(self, place: Path, dice: random.Random, slow: float) -> None:
        self._dice = dice
        self._desk = Desk(place / "work")
        self._root = place / "work" / ".engramdown"
        self._said = place / "said"
        self._pushes = 0
        Hippocampus(self._root).encode_rule("from the beginning", kind="always")
        slowly = "".join(f"{name} filter=slow\n" for name in _SLOW)
        self._desk.write(".gitattributes", f"*.md merge=union\n{slowly}")
        self._desk.git("config", "filter.slow.smudge", f"sleep {slow}; cat")
        self._desk.git("config", "gc.auto", "0")
        self._desk.commit()
        self._desk.git("branch", "side")
        self._desk.git("worktree", "add", "--quiet", "-b", "others", str(place / "others"))
        self._others = Desk(place / "others", author="Bea", init=False)

    @contextmanager
    def learning(self, pause: float) -> Iterator[None]:
        """Let an assistant learn."""
        with self._said.open("wb") as said:
            agent = self._agent(pause, said)
            try:
                while not self._said.stat().st_size and agent.poll() is None:
                    time.sleep(0.01)
                yield
            finally:
                agent.communicate()
        assert agent.returncode == 0

    def move(self) -> str:
        """Let git bring other files, as soon as it does not refuse to; return how."""
        here = self._desk.git("branch", "--show-current").strip()
        how = ["switch", "--quiet", "side" if here == "main" else "main"]
        if self._dice.random() < 0.6:
            self._push()
            how = ["merge", "--quiet", "--no-edit", "others"]
        while True:
            if self._desk.git("status", "--porcelain", "--untracked-files=no"):
                # What stood there for a moment may be gone again.
                self._desk.git("commit", "--quiet", "--all", "--allow-empty", "--message", "Memory")
            if self._moves(how):
                return f"{how[0]} {how[-1]}"

    def wrong(self) -> list[str]:
        """Return what is violated."""
        store = Hippocampus(self._root, disk=Disk(durable=False))
        store.notice()
        here = self._desk.git("branch", "--show-current").strip()
        branches = {name: self._on(name) for name in ("main", "side")}
        stands = Counter(entry.text for entry in store.entries())
        elsewhere = branches["side" if here == "main" else "main"]
        said = self._said.read_text(encoding="utf-8").split("\n")[:-1]
        lost = [text for text in said if not stands[text] and not elsewhere[text]]
        spread = elsewhere.keys() & stands.keys() - branches[here].keys()
        wrong = [f"lost: {lost}"] if lost else []
        wrong += [f"carried to {here}: {sorted(spread)}"] if spread else []
        doubled = stands - branches[here]
        wrong += [f"{count} times: {text}" for text, count in stands.items() if doubled[text] > 1]
        wrong += [f"retired: {item.entry.text}" for item in store.archived()]
        return wrong + ([] if said else ["nothing was learned"])

    def _on(self, branch: str) -> Counter[str]:
        text = self._desk.git("show", f"{branch}:{_FILE}")
        return Counter(placed.block.text for placed in parse(text).placed())

    def _push(self) -> None:
        """Let somebody else learn something on their branch."""
        self._pushes += 1
        store = Hippocampus(self._others.top / ".engramdown", disk=Disk(durable=False))
        store.encode_rule(f"pushed {self._pushes}", kind="always")
        for name in _SLOW:
            self._others.write(name, f"{self._pushes}")
        self._others.commit()

    def _moves(self, how: list[str]) -> bool:
        """Run git, which may refuse: what was learned meanwhile is not committed."""
        done = subprocess.run(
            ["git", *how],
            cwd=self._desk.top,
            env=self._desk.env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        refused = "overwritten by" in done.stderr
        assert refused or done.returncode == 0, (done.stdout, done.stderr)
        return not refused

    def _agent(self, pause: float, said: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _AGENT, str(self._root), str(pause)],
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.PIPE,
            stdout=said,
        )
