"""A person's desk: a repository in which they commit, with real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

_NEVER_SEEN: Final = {"GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


class Desk:
    """A repository and whoever works in it.

    Attributes:
        top: The folder of the work tree.
    """

    def __init__(self, top: Path, *, author: str = "Ada", init: bool = True) -> None:
        """Begin a repository in ``top``, or sit down in one that is there."""
        self.top = top
        self.author = author
        if init:
            top.mkdir(parents=True, exist_ok=True)
            self.git("init", "--quiet", "--initial-branch=main", ".")

    def git(self, *args: str, given: str = "", env: dict[str, str] | None = None) -> str:
        """Run git, which must succeed, and return what it printed."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.top,
            env={**self.env, **(env or {})},
            input=given,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    @property
    def env(self) -> dict[str, str]:
        """The environment: nobody's settings, and a name."""
        names = {f"GIT_{who}_NAME": self.author for who in ("AUTHOR", "COMMITTER")}
        mails = {f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")}
        plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        moved = {"GIT_CONFIG_GLOBAL": os.devnull}
        return {**plain, **_NEVER_SEEN, **moved, **names, **mails}

    def write(self, name: str, text: str) -> Path:
        """Write a file of the work tree."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def commit(self, message: str = "Work", *names: str) -> str:
        """Commit all, or the files that are named, and return the name of the commit."""
        self.git("add", "--", *(names or (".",)))
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()
