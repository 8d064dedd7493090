"""The skills of one scope, in folders after the Agent Skills standard; only here is one written.

What a method acknowledged is on the disk; reading takes no lock; one broken skill never hides
another. A skill appears whole or not at all; a change is applied to what is on the disk at that
moment, under a lock; a file is exchanged, never overwritten, so that what a person saved in between
is not lost and gets its place again; an error leaves the skill as it was; what a crash left is
swept up by the next writer. No other file of a skill is ever touched; a skill that is replaced is
kept. :mod:`engramdown.storage.exchange` explains how a file is written.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

from engramdown.errors import SkillExistsError, SkillNotFoundError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.settings import LOCK_TIMEOUT
from engramdown.skills.files import FILE, KEPT, is_temporary
from engramdown.skills.validation import Finding, check, check_label
from engramdown.storage.disk import ClosedDisk, Disk, named_errors
from engramdown.storage.exchange import Swap, in_order
from engramdown.storage.locks import ScopeLock
from engramdown.storage.safe_open import FILE_MODE

# The folder in that of a scope in which skills are made that are brought in; not for git.
STAGED: Final = "skills-staged"
# The one in which those are kept whose place they took.
REPLACED: Final = "skills-replaced"
PROGRAM_MODE: Final = 0o700
_ASIDE: Final = re.compile(r"-[0-9a-f]{8}")

# Where a skill holds; `builtin` ones come with the package.
SkillScope = Literal["project", "global", "builtin"]

# The folder of those; nothing is ever written there.
BUILT_IN: Final = Path(__file__).parent / "builtin"
_UNCHANGED: Final = (
    f"{BUILT_IN}: holds what comes with Engramdown, and is not changed; "
    f"`engramdown skills edit LABEL` makes a copy of a skill that is yours."
)


class Skill(NamedTuple):
    """A skill as it is on the disk.

    Attributes:
        label: The name of its folder.
        scope: Where it holds.
        path: Its SKILL.md.
        page: What that says; empty if it cannot be read.
        findings: What is wrong with it.
    """

    label: str
    scope: SkillScope
    path: Path
    page: FrontMatter
    findings: tuple[Finding, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether there is a SKILL.md, even one that cannot be read."""
        return all(finding.code != "missing" for finding in self.findings)

    @property
    def description(self) -> str:
        """What it does and when, as the front matter says."""
        return self.page.text("description")

    @property
    def is_fit(self) -> bool:
        """Whether other programs would accept it: there are only warnings."""
        return all(finding.level != "error" for finding in self.findings)


class SkillStore:
    r"""The skills of one scope.

    Attributes:
        root: The folder of the scope, an ``.engramdown`` folder.
        scope: ``project``, ``global`` or ``builtin``.
        folder: The folder that holds the skills.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = SkillStore(Path(folder))
    ...     text = "---\nname: charts\ndescription: Make charts\n---\nWith care.\n"
    ...     page = parse_front_matter(text)
    ...     store.create("charts", page).description
    'Make charts'
    """

    def __init__(
        self,
        root: Path,
        scope: SkillScope = "project",
        *,
        disk: Disk | None = None,
        lock_timeout: float = LOCK_TIMEOUT,
    ) -> None:
        """Open the skills of a scope; nothing is created before the first write.

        Args:
            root: The ``.engramdown`` folder of the scope.
            scope: Where they hold.
            disk: The system calls; durable, 16 MB a file, unless given.
            lock_timeout: How long to wait for other writers, in seconds.
        """
        self.root = root
        self.scope: SkillScope = scope
        self.folder = root / "skills"
        self._disk = disk or Disk()
        self._swap = Swap(self._disk)
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

    def load(self, label: str) -> bytes | None:
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
            found = [name for name in files if not is_temporary(name)]
            return sorted([*found, *(f"{name}/" for name in self._disk.folders(home))])

    def skills(
        self, *, briefly: bool = False, labels: Collection[str] | None = None
    ) -> list[Skill]:
        """Return every skill, by label; one that is broken says so in its findings.

        Args:
            briefly: Look for no more than errors, which takes less time.
            labels: Read only those with these labels.

        Raises:
            StoreError: If the folder of skills cannot be read.
        """
        there = [label for label in self.labels() if labels is None or label in labels]
        found = [self._looked_at(label, briefly) for label in there]
        for label in self.loose():
            path = self.folder / label
            reason = f"{path}: is a link that leads to no folder"
            found.append(self._broken(label, "unreadable", reason))
        return sorted(filter(None, found), key=lambda skill: skill.label)

    def read(self, label: str) -> Skill:
        """Return one skill.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it cannot be read.
        """
        # A label that is in the folder is the name of one, and leads nowhere else.
        data = self.load(label) if label in self.labels() else None
        if data is None:
            raise SkillNotFoundError(label)
        return self._skill(label, data)

    def create(self, label: str, page: FrontMatter) -> Skill:
        """Write a new skill, and return it.

        Raises:
            InvalidSkillError: If no skill can be called so.
            SkillExistsError: If there is one.
            StoreError: If it could not be written; nothing is there then.
        """
        check_label(label)
        data = _encoded(page)
        with self._hold():
            path = self.path(label)
            is_new = not self._disk.exists(path.parent)
            try:
                self._swap.create(path, data)
            except BaseException as error:
                if is_new:
                    self._disk.remove_folder(path.parent)
                if isinstance(error, FileExistsError):
                    raise SkillExistsError(str(path), label) from error
                raise
        return self._skill(label, data)

    def edit(self, label: str, change: Callable[[FrontMatter], FrontMatter]) -> Skill:
        """Change a skill, and return it.

        Args:
            label: Which one.
            change: Is given the present page, which may not be the one that was read
                before, and returns the new one or raises. It may be called several times.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it could not be written; it is as it was then.
        """
        if label not in self.labels():
            raise SkillNotFoundError(label)

        def changed(before: bytes | None) -> bytes:
            if before is None:
                raise SkillNotFoundError(label)
            return _encoded(change(_page(before)))

        with self._hold():
            data = self._swap.edit(self.path(label), changed, is_there=True)
        return self._skill(label, data)

    def restore(self, label: str) -> Skill:
        """Bring back the skill of a label that was put aside last.

        Raises:
            SkillExistsError: If there is one of this label.
            SkillNotFoundError: If none is kept.
            StoreError: If it could not be moved.
        """
        home = self.folder / check_label(label)
        with self._hold():
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
        return self.read(label)

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

    def place(self, label: str, files: Mapping[str, tuple[bytes, bool]]) -> None:
        """Write all files of a skill at once.

        Args:
            label: What it is called.
            files: What each file holds by its name, and whether it can be run as a program.

        Raises:
            SkillExistsError: If there is one.
            StoreError: If it could not be written; then nothing of it is there.
        """
        with self._hold():
            home = self.path(label).parent
            if self._disk.names(home) or self._disk.folders(home):
                raise SkillExistsError(str(home / FILE), label)
            staged = self.root / STAGED / f"{label}-{os.urandom(4).hex()}"
            try:
                # In order: what a file is called until it is whole may be the name of a later one.
                for name, (data, runs) in sorted(files.items()):
                    path = staged / name
                    self._disk.make_folder(path.parent)
                    self._disk.create(path, data, mode=PROGRAM_MODE if runs else FILE_MODE)
                    self._disk.sync_folder(path.parent)
                self._disk.remove_folder(home)
                self._disk.move_folder(staged, home)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._clear(staged)
                raise
            self._disk.sync_folder(self.folder)
            self._disk.remove_folder(staged.parent)

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
            kept = self.root / REPLACED / f"{label}-{os.urandom(4).hex()}"
            self._disk.make_folder(kept.parent)
            self._disk.move_folder(home, kept)
            self._disk.sync_folder(kept.parent)
            self._disk.sync_folder(self.folder)
            return kept

    def _broken(self, label: str, code: str, reason: str) -> Skill:
        path = self.folder / label / FILE
        findings = (Finding(0, code, reason),)
        return Skill(label, self.scope, path, parse_front_matter(""), findings)

    def _looked_at(self, label: str, briefly: bool) -> Skill | None:  # noqa: FBT001 - passed on
        """Return the skill in a folder, whatever state it is in; ``None`` in an empty folder."""
        try:
            others = self.others(label)
            data = self.load(label)
        except StoreError as error:
            return self._broken(label, "unreadable", str(error))
        if data is None:
            # Systems that ignore case take it for the file; git brings it anywhere.
            near = next((name for name in others if name.lower() == FILE.lower()), "")
            also = f", but {near}; rename that" if near else ""
            return self._broken(label, "missing", f"there is no {FILE}{also}") if others else None
        return self._skill(label, data, others, briefly=briefly)

    def _skill(
        self, label: str, data: bytes, others: list[str] | None = None, *, briefly: bool = False
    ) -> Skill:
        page = _page(data)
        beside = self.others(label) if others is None else others
        kept = [
            Finding(0, "kept", "holds what was saved at the same time as SKILL.md", name)
            for name in beside
            if KEPT.fullmatch(name)
        ]
        findings = (*check(page, label, briefly=briefly), *kept)
        return Skill(label, self.scope, self.path(label), page, findings)

    # ---- with the lock ----

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
                yield from (each for each in found if is_temporary(each.name))

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


def built_in() -> SkillStore:
    """Return the skills that come with the package; to write there is refused.

    >>> "keep-memory-tidy" in built_in().labels()
    True
    """
    return SkillStore(BUILT_IN, "builtin", disk=ClosedDisk(_UNCHANGED))


def _page(data: bytes) -> FrontMatter:
    return parse_front_matter(data.decode("utf-8", "surrogateescape"))


def _encoded(page: FrontMatter) -> bytes:
    return page.render().encode("utf-8", "surrogateescape")
