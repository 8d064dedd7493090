"""What git says of a repository where its files do not tell: where it is, and how it came there.

Promises: asks only when it is called, and writes nothing; where the log and the references of a
repository stand, and in which form, is git's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import GitError
from engramdown.storage.git_program import ask, complaint, environment

__all__ = ["Asked", "Head", "Move"]

_LINES: Final = "200"
_LATE: Final = 200
_PLACES: Final = ("--branches", "--remotes", "--glob=refs/stash*")
_STAYS: Final = ("commit:", "commit (amend):", "commit (initial):", "branch:", "Branch:")


class Head(NamedTuple):
    """Where git is.

    Attributes:
        commit: The commit.
        at: When it was made, in seconds since 1970.
    """

    commit: str
    at: int


class Move(NamedTuple):
    """A line of the log of where git was.

    Attributes:
        commit: Where it went.
        at: When, in seconds since 1970.
        brings: Whether that brings files, as a commit does not.
        begins: Whether it is the first of all.
    """

    commit: str
    at: float
    brings: bool
    begins: bool = False


class Asked(NamedTuple):
    """A repository whose git is asked.

    Attributes:
        tree: The work tree.
        folder: Where git keeps what it knows of it, if git does not find that by itself.
    """

    tree: Path
    folder: Path | None

    def head(self) -> Head | None:
        """Return where git is; ``None`` before the first commit.

        Raises:
            GitError: If git cannot be asked.
        """
        code, said = self._run("log", "-1", "--format=%H %ct", "HEAD", "--")
        parts = said.split()
        return Head(parts[0], int(parts[1])) if not code and len(parts) > 1 else None

    def log(self) -> list[Move]:
        """Return how git came there, the newest first, as far as it kept that.

        Raises:
            GitError: If git cannot be asked.
        """
        form = "--format=%H%x09%gd%x09%gs"
        code, said = self._run("log", "-g", "-n", _LINES, "--date=unix", form, "HEAD", "--")
        moves = []
        for line in said.split("\n") if not code else ():
            commit, _, rest = line.partition("\t")
            when, _, done = rest.partition("\t")
            seconds = when.partition("@{")[2].rstrip("}")
            if seconds.isdigit():
                moves.append(Move(commit, int(seconds), not done.startswith(_STAYS)))
        return moves

    def blob_at_head(self, name: str) -> str:
        """Return the name of what a file holds where git is; ``""`` if it is not there.

        Raises:
            GitError: If git cannot be asked.
        """
        return next(iter(self._blobs([f"HEAD:{name}"])), "")

    def blobs_of_late(self, name: str, commits: Iterable[str] = ()) -> set[bytes]:
        """Return what a file holds in some commits, and in the last ones of all branches.

        Raises:
            GitError: If git cannot be asked.
        """
        _, said = self._run("rev-list", f"--max-count={_LATE}", *_PLACES, "HEAD", "--")
        names = ["ORIG_HEAD", *commits, *said.split()]
        return {bytes.fromhex(blob) for blob in self._blobs(f"{each}:{name}" for each in names)}

    def _blobs(self, names: Iterable[str]) -> list[str]:
        given = "".join(f"{name}\n" for name in names)
        _, said = self._run("cat-file", "--batch-check", given=given)
        answers = (line.split(" ") for line in said.split("\n"))
        return [words[0] for words in answers if words[1:2] == ["blob"]]

    def _run(self, *args: str, given: str = "") -> tuple[int, str]:
        places = {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.tree)}
        env = environment() | (places if self.folder is not None else {})
        code, said, wrong = ask(self.tree, env, args, given)
        why_not = complaint(self.tree, wrong) if code else ""
        if "in no git repository" in why_not or "belongs to somebody else" in why_not:
            raise GitError(why_not)
        return code, said.decode("utf-8", "replace")
