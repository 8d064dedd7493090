"""Where somebody works with memory: a clone, a home, a clock, and what must be true there.

Promises: every program that is run here tells the time of the clock, and knows this checkout and
no other settings than its own.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.crash.author import Author
from tests.crash.clocks import Clock
from tests.crash.ledger import Ledger
from tests.crash.sleeper import replayed
from tests.git.desk import Desk
from tests.transcripts.test_session_log import read

_ROOT: Final = Path(__file__).parents[2]
_CONFIG: Final = (
    'durability = "fast"\nlock_timeout = 60\n[consolidation]\nthreshold = 30\nidentity_every = 3\n'
)
_AT_ONCE: Final = re.compile(r'"by": "(?:person|engramdown)"')
_LINE: Final = 4_000
"""So long are the lines of the journal that are not about a hand edit, on average."""
_KNOWN: Final = frozenset({".lock", "topics"})


class Post(Desk):
    """A desk with memory: a clone, a home, what must be true there, and who sits at it."""

    def __init__(self, place: Path, author: str, clock: Clock, dice: random.Random) -> None:
        """Sit down in a folder in which a clone is, or begins."""
        self.clock = clock
        self.home = place / "home"
        self.bin = place / "bin"
        self.place = place
        super().__init__(place / "work", author=author, init=not (place / "work").exists())
        self.root = self.top / ".engramdown"
        self.ledger = Ledger()
        self.own = Ledger()
        self.person = Author(self.root / "memory", dice)
        self.said: dict[str, list[str]] = {}
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.toml").write_text(_CONFIG, encoding="utf-8")
        self.bin.mkdir(exist_ok=True)
        program = self.bin / "engramdown"
        program.write_text(
            f"#!{sys.executable}\n"
            "import sys\n"
            "from engramdown.cli.main import main\n"
            "sys.exit(main())\n",
            encoding="utf-8",
        )
        program.chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        """The environment of a program at this desk: its home, this checkout, the clock."""
        path = os.pathsep.join([str(self.bin), os.environ.get("PATH", os.defpath)])
        return {
            **super().env,
            "ENGRAMDOWN_HOME": str(self.home),
            "HOME": str(self.place),
            "NO_COLOR": "1",
            "PATH": path,
            "PYTHONPATH": str(_ROOT),
            "TZ": "UTC",
            **self.clock.env,
        }

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """Run ``engramdown`` and return what it printed."""
        done = subprocess.run(
            [str(self.bin / "engramdown"), *arguments],
            cwd=self.top,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode in codes, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def look(self) -> dict[str, Any]:
        """Open memory and return what stands in it."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.crash.workday", "look", str(self.top), str(self.home)],
            cwd=self.top,
            env=self.env,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    def save(self, message: str) -> None:
        """Commit all that is there; the hook looks at memory first."""
        self.git("add", "--all")
        if self.git("status", "--porcelain"):
            self.git("commit", "--quiet", "--message", message)

    # What must hold.

    def check(self, *, unseen: bool = False) -> None:
        """Look at everything, and raise what is violated."""
        seen = self.look()
        parts = {}
        for scope in ("project", "global"):
            entries = [each for each in seen["entries"] if each[4] == scope]
            parts[scope] = {**seen, "entries": entries}
        wrong = self.ledger.settle(parts["project"], unseen=unseen)
        wrong += self.own.settle({**parts["global"], "pending": []}, unseen=unseen)
        if seen["again"]:
            wrong.append("a second look finds something")
        wrong += [f"not under its topic: {each}" for each in seen["topics"]]
        wrong += [f"tick failed: {each}" for each in seen["ticked"] if each[0] == "failed"]
        for root in (self.root, self.home):
            wrong += self._files(root)
        wrong += self._transcripts()
        assert not wrong, "; ".join(wrong)

    def _files(self, root: Path) -> Iterator[str]:
        memory = root / "memory"
        if not memory.exists():
            return
        paths = [*memory.glob("*.md"), *memory.glob("topics/*.md")]
        files = {
            path.relative_to(memory).as_posix(): path.read_bytes().decode("utf-8") for path in paths
        }
        told = replayed(root)
        for name in files.keys() | told.keys():
            if files.get(name, "") != told.get(name, ""):
                yield f"the journal tells of another {root.parent.name}/{name}"
        strays = {path.name for path in memory.rglob("*")} - {path.name for path in paths} - _KNOWN
        if strays:
            yield f"stray files: {sorted(strays)}"
        yield from self._growth(root)

    def _growth(self, root: Path) -> Iterator[str]:
        """A line of the journal holds what changed; what git brings may change much at once."""
        lines = (root / "history.jsonl").read_text(encoding="utf-8").split("\n")
        memory = sum(path.stat().st_size for path in (root / "memory").rglob("*.md"))
        large = [line for line in lines if len(line) > 4 * memory]
        small = [line for line in lines if not _AT_ONCE.search(line)]
        if large or sum(map(len, small)) > _LINE * (len(small) + 10):
            yield f"the journal of {root} has grown too much"

    def _transcripts(self) -> Iterator[str]:
        folder = self.root / "episodes"
        for session, told in self.said.items():
            texts = [episode.text for episode in read(folder / f"{session}.jsonl")]
            at = 0
            for said in told:
                found = [
                    number for number in range(at, len(texts)) if texts[number].startswith(said)
                ]
                if not found:
                    yield f"{session} lacks {said!r}"
                    break
                at = found[0] + 1
        torn = [path.name for path in folder.glob("*.torn-*")] if folder.exists() else []
        if torn:
            yield f"torn: {torn}"

    def examine(self) -> None:
        """Ask ``doctor``, and raise what is wrong."""
        found = json.loads(self.run("doctor", "--json", codes=(0, 1)))
        findings = [each for scope in found["scopes"] for each in scope["findings"]]
        wrong = [each for each in findings if each["level"] != "note" and each["code"] != "expired"]
        assert not wrong, f"doctor: {wrong}"
