"""The SKILL.md files of one scope on the disk: the only place that writes one.

A skill appears whole or not at all; a change is applied to what is on the disk at that moment,
under a lock; a file is exchanged, never overwritten, so that what a person saved in between is not
lost and gets its place again; an error leaves the skill as it was; what a crash left is swept up by
the next writer. No other file of a skill is ever touched; a skill that is replaced is kept.

:mod:`engramdown.storage.exchange` explains how a file is written.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import SkillExistsError, SkillNotFoundError, StoreError
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.exchange import TEMPORARY, Swap, in_order
from engramdown.storage.locks import ScopeLock
from engramdown.storage.safe_open import FILE_MODE

FILE: Final = "SKILL.md"
# The folder in that of a scope in which skills are made that are brought in; not for git.
STAGED: Final = "skills-staged"
# The one in which those are kept whose place they took.
REPLACED: Final = "skills-replaced"
PROGRAM_MODE: Final = 0o700
_ASIDE: Final = re.compile(r"-[0-9a-f]{8}")
# A save that lost its place while two others were made; a person decides.
KEPT: Final = re.compile(r"SKILL\.other-[0-9a-f]{8}\.md")


class SkillFiles:
    """The files ``skills/<label>/SKILL.md`` of one scope.

    Attributes:
        root: The folder of the scope.
        folder: The folder that holds the skills.
    """

    def __init__(self, root: Path, disk: Disk, lock_timeout: float) -> None:
        """Work in the scope at ``root`` through ``disk``; nothing is created yet."""
        self.root = root
        self.folder = root / "skills"
        self._disk = disk
        self._swap = Swap(disk)
        # Beside the folder, not in it: skills/ is for git, and what else is here is not.
        self._lock = ScopeLock(root / "skills.lock", lock_timeout)

    def labels(self) -> list[str]:
        """Return the names of the folders that may hold a skill, sorted."""
        with named_errors(self.folder, "read"):
            self._disk.inside(self.folder, self.root)
            return [name for name in self._disk.folders(self.folder) if name[:1] != "."]

    def loose(self) -> list[str]:
        """Return the names of links that lead to no folder where a skill should be, sorted."""
        with named_errors(self.folder, "read"):
            found = [name for name in self._disk.names(self.folder) if name[:1] != "."]
            return [name for name in found if (self.folder / name).is_symlink()]

    def path(self, label: str) -> Path:
        """Return the file of a skill.

        Raises:
            StoreError: If a link leads out of the scope, or that of a skill out of this folder.
        """
        home = self.folder / label
        if home.is_symlink():
            self._disk.inside(home, self.folder)
        return self._disk.inside(home, self.root) / FILE

    def read(self, label: str) -> bytes | None:
        """Return the bytes of a skill, or ``None`` if it has no file. Takes no lock.

        Raises:
            StoreError: If it cannot be read.
        """
        with named_errors(self.folder / label / FILE, "read"):
            return self._disk.read(self.path(label))

    def others(self, label: str) -> list[str]:
        """Return the names of the other files and folders of a skill, folders with a slash."""
        with named_errors(self.folder / label, "read"):
            home = self.path(label).parent
            files = [name for name in self._disk.names(home) if name != FILE]
            found = [name for name in files if not _is_temporary(name)]
            return sorted([*found, *(f"{name}/" for name in self._disk.folders(home))])

    def tidy(self) -> None:
        """Sweep up what a crash left; takes the lock only if there is something.

        Raises:
            StoreError: If it cannot be put in order.
        """
        with named_errors(self.folder, "read"):
            found = next(self._leftovers(), None)
            staged = self._disk.folders(self.root / STAGED)
        if found is not None or staged:
            with self._hold():
                pass  # Taking the lock tidies.

    def create(self, label: str, data: bytes) -> None:
        """Write a new skill.

        Raises:
            SkillExistsError: If there is one.
            StoreError: If it could not be written; nothing is there then.
        """
        with self._hold():
            path = self.path(label)
            self._disk.check_size(path, len(data))
            if self._disk.exists(path):
                raise SkillExistsError(str(path), label)
            is_new = not self._disk.exists(path.parent)
            try:
                self._swap.create(path, data)
            except BaseException as error:
                if is_new:
                    self._disk.remove_folder(path.parent)
                if isinstance(error, FileExistsError):
                    raise SkillExistsError(str(path), label) from error
                raise

    def edit(self, label: str, change: Callable[[bytes], bytes]) -> bytes:
        """Change a skill and return what it holds now.

        Args:
            label: Which one.
            change: Is given the present bytes. It is called again when somebody saves meanwhile,
                so it must change nothing else.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it could not be written; it is as it was then.
        """
        with self._hold():

            def changed(before: bytes | None) -> bytes:
                if before is None:
                    raise SkillNotFoundError(label)
                return change(before)

            return self._swap.edit(self.path(label), changed, is_there=True)

    def place(
        self, label: str, files: Mapping[str, tuple[bytes, bool]], *, instead: bool = False
    ) -> Path | None:
        """Write all files of a skill at once.

        Args:
            label: What it is called.
            files: What each file holds by its name, and whether it can be run as a program.
            instead: Whether it takes the place of one that is there.

        Returns:
            Where the skill is kept whose place it took, if there was one.

        Raises:
            SkillExistsError: If there is one, and it is not to take its place.
            StoreError: If it could not be written; what is there is as it was then.
        """
        with self._hold():
            home = self.path(label).parent
            is_there = bool(self._disk.names(home) or self._disk.folders(home))
            if is_there and not instead:
                raise SkillExistsError(str(home / FILE), label)
            staged = self.root / STAGED / f"{label}-{os.urandom(4).hex()}"
            try:
                # In order: what a file is called until it is whole may be the name of a later one.
                for name, (data, runs) in sorted(files.items()):
                    path = staged / name
                    self._disk.make_folder(path.parent)
                    self._disk.create(path, data, mode=PROGRAM_MODE if runs else FILE_MODE)
                    self._disk.sync_folder(path.parent)
                kept = self._put_folder(staged, home, is_there=is_there)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._clear(staged)
                raise
            self._disk.sync_folder(self.folder)
            self._disk.remove_folder(staged.parent)
            return kept

    def delete(self, label: str) -> Path:
        """Put a skill aside as a whole, and return where it is kept.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it is a link to another folder, or could not be moved.
        """
        with self._hold():
            home = self.folder / label
            if label not in self.labels():
                raise SkillNotFoundError(label)
            if home.is_symlink():
                raise StoreError(f"{home}: is a link to another folder; remove the link yourself")
            kept = self._kept(label)
            self._disk.move_folder(home, kept)
            self._disk.sync_folder(kept.parent)
            self._disk.sync_folder(self.folder)
            return kept

    def restore(self, label: str) -> Path:
        """Bring back the skill of a label that was put aside last, and return where it was kept.

        Raises:
            SkillExistsError: If there is one of this label.
            SkillNotFoundError: If none is kept.
            StoreError: If it could not be moved.
        """
        with self._hold():
            home = self.folder / label
            if self._disk.names(home) or self._disk.folders(home):
                raise SkillExistsError(str(home / FILE), label)
            aside = self._disk.inside(self.root / REPLACED, self.root)
            names = (
                name
                for name in self._disk.folders(aside)
                if name.startswith(f"{label}-") and _ASIDE.fullmatch(name, len(label))
            )
            found = [aside / name for name in names if not (aside / name).is_symlink()]
            if not found:
                raise SkillNotFoundError(label)
            # Moving a folder changes its entry, and nothing in it.
            kept = max(found, key=lambda each: (each.stat().st_ctime_ns, each.name))
            self._disk.remove_folder(home)
            self._disk.move_folder(kept, home)
            self._disk.sync_folder(self.folder)
            self._disk.sync_folder(aside)
            return kept

    def _kept(self, label: str) -> Path:
        """Return a place for a skill that is put aside."""
        kept = self.root / REPLACED / f"{label}-{os.urandom(4).hex()}"
        self._disk.make_folder(kept.parent)
        return kept

    def _put_folder(self, staged: Path, home: Path, *, is_there: bool) -> Path | None:
        """Move a staged skill to its place, and return where the one before is kept."""
        if not is_there:
            self._disk.remove_folder(home)
            self._disk.move_folder(staged, home)
            return None
        kept = self._kept(home.name)
        # From here on, whatever is at one of both names is never swept up.
        self._disk.move_folder(staged, kept)
        if not self._disk.exchange_folders(kept, home):
            self._disk.move_folder(kept, staged)
            self._disk.move_folder(home, kept)
            self._disk.move_folder(staged, home)
        self._disk.sync_folder(kept.parent)
        return kept

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        """Hold the lock with the skills in order."""
        with in_order(self._disk, self.folder, self.root, self._lock.hold()):
            for left in self._leftovers():
                path = self._swap.clear_up(left)
                if path is not None and not self._disk.exists(path):
                    self._disk.remove_folder(path.parent)
            if self._disk.exists(self.root / STAGED):
                self._clear(self._disk.inside(self.root / STAGED, self.root))
            yield

    def _leftovers(self) -> Iterator[Path]:
        """Yield the temporary files that lie about."""
        for label in self.labels():
            with contextlib.suppress(StoreError):  # a link that leaves the scope: not ours
                home = self.path(label).parent
                found = self._swap.leftovers(home)
                yield from (each for each in found if _is_temporary(each.name))

    def _clear(self, folder: Path) -> None:
        """Remove the folder of a staged skill that was not moved to its place."""
        for name in self._disk.folders(folder):
            if (folder / name).is_symlink():
                self._disk.unlink(folder / name)
            else:
                self._clear(folder / name)
        for name in self._disk.names(folder):
            self._disk.unlink(folder / name)
        self._disk.remove_folder(folder)


def _is_temporary(name: str) -> bool:
    """Whether a name is that of a SKILL.md in the making."""
    named = TEMPORARY.fullmatch(name)
    return named is not None and named[1] == FILE


# ---- references, scripts and other files beside SKILL.md ----
#
# Nothing is written. No name leads out of the folder: links are passed over, and only a name that
# is listed is opened. No more is read than allowed, and only so many files are looked at. As parts
# of a skill all files count, hidden ones and links too, but for what programs left and nobody
# shares.

# How many files of a skill are listed.
MOST: Final = 200
# How many folders deep they may stand.
DEEPEST: Final = 6

# How many files a skill may have that is to be known by all of them.
EVERY: Final = 5_000

_BOTTOM: Final = 30
_PASSED_OVER: Final = frozenset({"__pycache__", "node_modules"})


class Beside(NamedTuple):
    """A file of a skill.

    Attributes:
        name: Its path in the folder of the skill, with ``/`` between.
        size: How long it is, in bytes.
    """

    name: str
    size: int


class Part(NamedTuple):
    """A file that counts as a part of a skill.

    Attributes:
        name: Its path in the folder of the skill, with ``/`` between.
        is_aside: Whether it is hidden, or what a program left: a part only if it is shared.
    """

    name: str
    is_aside: bool = False


def files_beside(disk: Disk, home: Path) -> list[Beside]:
    """Return the files in the folder of a skill but for SKILL.md, by name, :data:`MOST` at most.

    Hidden files, links, pipes and devices are passed over.

    Args:
        disk: The system calls.
        home: The folder.

    Raises:
        StoreError: If the folder cannot be read.
    """
    with named_errors(home, "read"):
        return list(islice(_walk(disk, home, "", DEEPEST), MOST))


def parts_of(disk: Disk, home: Path, is_shared: Callable[[Path], bool]) -> list[Part]:
    """Return every file in the folder of a skill but SKILL.md, links among them.

    Args:
        disk: The system calls.
        home: The folder.
        is_shared: Whether others have anything of a folder that is hidden, or that a program left.

    Raises:
        StoreError: If the folder cannot be read, or holds more than :data:`EVERY`, or too deep.
    """
    found: list[Part] = []
    left = [("", False)]
    while left:
        before, is_aside = left.pop()
        folder = home / before
        if before.count("/") > _BOTTOM:
            raise StoreError(f"{folder}: is more than {_BOTTOM} folders deep; move it up.")
        with named_errors(home, "read"):
            names, folders = disk.names(folder), disk.folders(folder)
        found += [
            Part(before + name, is_aside or _is_aside(name, before))
            for name in names
            if before or name != FILE
        ]
        for name in folders:
            aside = is_aside or _is_aside(name, before)
            if os.path.islink(folder / name):  # noqa: PTH114 - no error where it is gone
                found.append(Part(before + name, aside))
            elif not aside or is_shared(folder / name):
                left.append((f"{before}{name}/", aside))
        if len(found) > EVERY:
            raise StoreError(f"{home}: holds more than {EVERY} files; keep fewer there.")
    return found


def read_beside(disk: Disk, home: Path, name: str, most: int) -> str:
    """Return the text of a file in the folder of a skill.

    Args:
        disk: The system calls.
        home: The folder.
        name: One that :func:`files_beside` returned.
        most: How long it may be, in bytes.

    Raises:
        StoreError: If there is no such file, it is too long, not text, or cannot be read.
    """
    path = home / name
    if name not in {each.name for each in files_beside(disk, home)}:
        raise StoreError(f"{name!a}: is not a file of this skill.")
    with named_errors(path, "read"):
        size, _ = disk.identity(path)
        if size > most:
            raise StoreError(
                f"{path}: has {size} bytes, and {most} are shown at once; "
                f"read it piece by piece with other tools."
            )
        data = disk.read_range(path, 0, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StoreError(f"{path}: is not text in UTF-8; use other tools for it.") from None


def _walk(disk: Disk, folder: Path, before: str, deep: int) -> Iterator[Beside]:
    for name in disk.names(folder):
        if name[:1] != "." and not (not before and _is_page(name)):
            try:
                size, _ = disk.identity(folder / name)
            except StoreError:
                continue  # a link, a pipe or a device
            yield Beside(before + name, size)
    for name in disk.folders(folder) if deep else ():
        is_link = os.path.islink(folder / name)  # noqa: PTH114 - no error where it is gone
        if name[:1] != "." and name not in _PASSED_OVER and not is_link:
            yield from _walk(disk, folder / name, f"{before}{name}/", deep - 1)


def _is_aside(name: str, before: str) -> bool:
    return name[:1] == "." or name in _PASSED_OVER or (not before and _is_page(name))


def _is_page(name: str) -> bool:
    return name == FILE or KEPT.fullmatch(name) is not None or TEMPORARY.fullmatch(name) is not None
