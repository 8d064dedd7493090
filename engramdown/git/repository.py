"""The git repository that a folder is in, asked through :mod:`engramdown.storage.git_program`.

Its questions only read; no name that a person types is ever an option of git. What
cannot be answered is one line with the next step.

The repository is the nearest one above the folder, as for git. What the environment says
(``GIT_DIR``, ``GIT_INDEX_FILE`` …) counts only if it names that repository, or if there is none.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import GitError
from engramdown.storage.disk import megabytes
from engramdown.storage.git_program import ask, complaint, environment

_PLACES: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")
_LIMIT: Final = 16 * 1024 * 1024
_SHORT: Final = 10
_FILE: Final = "100"
_LINK: Final = "120000"
_FORM: Final = "--format=%H%x00%aI%x00%an%x00%s"


class Commit(NamedTuple):
    """A commit, as far as a person wants to know of it.

    Attributes:
        id: Its whole name.
        date: When it was written, ISO 8601 with its zone.
        author: Who wrote it.
        subject: The first line of its message.
    """

    id: str
    date: str
    author: str
    subject: str

    @property
    def short(self) -> str:
        """The beginning of its name."""
        return self.id[:_SHORT]


class Staged(NamedTuple):
    """A file that differs between the index and the last commit.

    Attributes:
        path: Where, relative to the top of the work tree.
        blob: The name of its content, or ``""`` if it is a merge that is not resolved.
        is_link: Whether it is a symbolic link.
    """

    path: str
    blob: str
    is_link: bool = False


class Repository(NamedTuple):
    """A git repository with a work tree.

    Attributes:
        top: The folder of the work tree.
        folder: Where git keeps what it knows of it.
        env: The environment in which git is asked.
    """

    top: Path
    folder: Path
    env: Mapping[str, str]

    def relative(self, path: Path) -> str:
        """Return a folder of the work tree relative to its top, with slashes; the top is ``""``.

        Raises:
            GitError: If it is outside.
        """
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.top):
            raise GitError(f"{path}: is not in the work tree {self.top}")
        name = real.relative_to(self.top).as_posix()
        return "" if name == "." else name

    def commit(self, rev: str) -> Commit:
        """Return the commit that ``rev`` names.

        Raises:
            GitError: If there is none.
        """
        return _commit(self.run("log", "-1", _FORM, self._named(rev), "--"))

    def last_before(self, moment: str) -> Commit | None:
        """Return the last commit of this branch that was made up to ``moment``, if there is one."""
        line = self._try("log", "-1", _FORM, f"--before={moment}", "HEAD", "--")
        return _commit(line) if line else None

    def merge_base(self, one: str, other: str) -> str:
        """Return the commit in which the histories of two part.

        Raises:
            GitError: If there is none, or no such commit.
        """
        base = self._try("merge-base", self._named(one), self._named(other))
        if not base:
            raise GitError(f"{one!a} and {other!a} have no commit in common; compare with `..`")
        return base.decode().strip()

    def is_shallow(self) -> bool:
        """Whether the beginning of the history was not fetched."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def has_commits(self) -> bool:
        """Whether anything was ever committed on this branch."""
        return bool(self._try("rev-parse", "--verify", "--quiet", "HEAD^{commit}"))

    def files(
        self, commit: str, folder: str, wanted: Callable[[str], bool], limit: int = _LIMIT
    ) -> dict[str, bytes]:
        """Return the files below ``folder`` as a commit has them, by their names in it.

        Links and submodules are left out.

        Args:
            commit: Its whole name.
            folder: Relative to the top.
            wanted: Whether a name is asked for.
            limit: The largest file that is read, in bytes.

        Raises:
            GitError: If one of them is larger, or missing.
        """
        args = ("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *_below(folder))
        blobs: dict[str, str] = {}
        for name, (mode, _, blob, size) in self._listed(folder, *args):
            if not (mode.startswith(_FILE) and wanted(name)):
                continue
            if size.isdigit() and int(size) > limit:
                has, most = megabytes(int(size), limit)
                raise GitError(
                    f"{commit[:_SHORT]}:{''.join(_below(folder))}{name}: has {has} MB, more than "
                    f"the limit of {most} MB; raise max_file_mb in config.toml"
                )
            blobs[name] = blob
        return dict(zip(blobs, self.contents(blobs.values()), strict=True))

    def _listed(self, folder: str, *args: str) -> Iterator[tuple[str, list[str]]]:
        """Yield the names of files below ``folder``, and what git says of each."""
        for record in filter(None, self.run(*args).split(b"\0")):
            head, _, path = record.partition(b"\t")
            yield os.fsdecode(path).removeprefix("".join(_below(folder))), head.decode().split()

    def contents(self, blobs: Iterable[str]) -> list[bytes]:
        """Return the contents of blobs, in their order."""
        names = list(blobs)
        if not names:
            return []
        data = self.run("cat-file", "--batch", given="".join(f"{name}\n" for name in names))
        found, at = [], 0
        for name in names:
            end = data.index(b"\n", at)
            head = data[at:end].split()
            if len(head) < 3:  # noqa: PLR2004 - name, type, size; or name and "missing"
                raise GitError(
                    f"{self.folder}: {name} is missing; `git fsck` says what else, "
                    "`git fetch --refetch` may bring it back"
                )
            size = int(head[2])
            found.append(data[end + 1 : end + 1 + size])
            at = end + 2 + size
        return found

    def staged(self) -> list[Staged]:
        """Return the files of which the index holds another version than the last commit."""
        against = "HEAD"
        if not self.has_commits():
            against = self.run("hash-object", "-t", "tree", "--stdin", given="").decode().strip()
        args = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index")
        files = []
        parts = iter(self.run(*args, "--ignore-submodules=all", against, "--").split(b"\0"))
        for head in parts:
            if not head:
                break
            path = os.fsdecode(next(parts))
            _, mode, _, blob, status = head.decode().removeprefix(":").split(" ")
            if status != "D" and mode.startswith((_FILE, _LINK)):
                known = blob if blob.strip("0") else ""
                files.append(Staged(path, known, mode == _LINK))
            elif status == "U":
                files.append(Staged(path, ""))
        return files

    def indexed(self, folder: str) -> dict[str, str]:
        """Return the blobs of the files below ``folder`` in the index, by their names in it."""
        args = ("ls-files", "--cached", "--stage", "-z", "--", *_below(folder))
        rows = self._listed(folder, *args)
        return {name: blob for name, (mode, blob, _) in rows if mode.startswith(_FILE)}

    def sizes(self, blobs: Iterable[str]) -> list[int]:
        """Return the sizes of blobs in bytes, in their order."""
        names = "".join(f"{name}\n" for name in blobs)
        if not names:
            return []
        sizes = self.run("cat-file", "--batch-check=%(objectsize)", given=names).split(b"\n")[:-1]
        return [int(size) if size.isdigit() else 0 for size in sizes]

    def first_with(self, text: str, folder: str) -> Commit | None:
        """Return the oldest commit that brought ``text`` into a file below ``folder``, if any.

        Args:
            text: What to look for, as it is written in a line.
            folder: Relative to the top.
        """
        if not self.has_commits():
            return None
        # Commits that changed how often it is in a file; the last line is the oldest.
        how = ("--topo-order", "--no-renames", "--no-textconv", "--no-ext-diff")
        output = self.run("log", *how, _FORM, f"-S{text}", "HEAD", "--", *_below(folder))
        lines = output.split(b"\n")
        return _commit(lines[-2]) if len(lines) > 1 else None

    def run(self, *args: str, given: str | None = None) -> bytes:
        """Ask git and return what it printed.

        Raises:
            GitError: If it failed, in its own words; if it is missing or takes too long.
        """
        code, out, err = ask(self.top, self.env, args, given)
        if code:
            raise GitError(complaint(self.top, err) or f"{self.top}: git {args[0]} failed ({code})")
        return out

    def _named(self, rev: str) -> str:
        """Return the whole name of the commit that a person calls ``rev``."""
        if not rev or rev.startswith("-") or "\0" in rev or "\n" in rev:
            raise GitError(f"{rev!a} names no commit; `git log --oneline` shows them")
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
        if name := self._try(*args):
            return name.decode().strip()
        if not self.has_commits():
            raise GitError(f"{self.top}: nothing was committed yet; commit something first")
        shallow = " that was fetched; `git fetch --unshallow` brings the rest"
        more = shallow if self.is_shallow() else "; `git log --oneline` shows them"
        raise GitError(f"{rev!a} names no commit in {self.top}{more}")

    def _try(self, *args: str) -> bytes:
        """Ask git and return what it printed, or nothing if it failed."""
        code, out, _ = ask(self.top, self.env, args, None)
        return out if code == 0 else b""


def find_repository(start: Path) -> Repository:
    """Return the repository whose work tree holds the folder ``start``.

    Raises:
        GitError: If there is none, if it has no work tree, or if git refuses to look into it.
    """
    named = _named_repository(start)
    try:
        own = _found(start, environment())
    except GitError:
        # Only the environment says where it is, as for dotfiles.
        if named is None:
            raise
        return named
    return named if named is not None and named[:2] == own[:2] else own


def _named_repository(start: Path) -> Repository | None:
    """Return the repository that the environment names, if ``start`` is in its work tree."""
    values = [(name, os.environ[name]) for name in _PLACES if os.environ.get(name)]
    places = {name: os.path.abspath(value) for name, value in values}  # noqa: PTH100 - as git
    with contextlib.suppress(GitError):
        named = _found(Path.cwd(), environment() | places) if places else None
        if named is not None and Path(os.path.realpath(start)).is_relative_to(named.top):
            # From here on it is asked from the top, wherever a hook runs.
            pinned = {"GIT_DIR": str(named.folder), "GIT_WORK_TREE": str(named.top)}
            return named._replace(env={**named.env, **pinned})
    return None


def _found(start: Path, env: Mapping[str, str]) -> Repository:
    args = ("rev-parse", "--is-inside-work-tree", "--absolute-git-dir")
    code, out, err = ask(start, env, args, None)
    if code:
        raise GitError(complaint(start, err) or f"{start}: git rev-parse failed ({code})")
    inside, _, folder = out.removesuffix(b"\n").partition(b"\n")
    if inside != b"true":
        raise GitError(
            f"{os.fsdecode(folder)}: is a repository without a work tree; "
            "go to a clone of it, or to a `git worktree`"
        )
    _, out, _ = ask(start, env, ("rev-parse", "--show-toplevel"), None)
    top = Path(os.path.realpath(os.fsdecode(out.removesuffix(b"\n"))))
    return Repository(top, Path(os.path.realpath(os.fsdecode(folder))), env)


def _below(folder: str) -> tuple[str, ...]:
    return (f"{folder}/",) if folder else ()


def _commit(line: bytes) -> Commit:
    return Commit(*line.removesuffix(b"\n").decode("utf-8", "replace").split("\0", 3))
