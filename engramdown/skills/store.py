"""The skills of one scope, in folders after the Agent Skills standard.

What a method acknowledged is on the disk; reading takes no lock; one broken skill never
hides another; other files in the folder of a skill are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, Literal, NamedTuple

from engramdown.errors import SkillNotFoundError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.settings import LOCK_TIMEOUT
from engramdown.skills.files import FILE, KEPT, SkillFiles
from engramdown.skills.validation import Finding, check, check_label
from engramdown.storage.disk import Disk

# Where a skill holds; `builtin` ones come with the package.
SkillScope = Literal["project", "global", "builtin"]

# The folder of those; nothing is ever written there.
BUILT_IN: Final = Path(__file__).parent / "builtin"


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
        files: Its files.

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
        self.files = SkillFiles(root, disk or Disk(), lock_timeout)

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
        there = [label for label in self.files.labels() if labels is None or label in labels]
        found = [self._looked_at(label, briefly) for label in there]
        for label in self.files.loose():
            path = self.files.folder / label
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
        data = self.files.read(label) if label in self.files.labels() else None
        if data is None:
            raise SkillNotFoundError(label)
        return self._skill(label, data)

    def create(self, label: str, page: FrontMatter) -> Skill:
        """Write a new skill, and return it.

        Raises:
            InvalidSkillError: If no skill can be called so.
            SkillExistsError: If there is one.
            StoreError: If it could not be written.
        """
        check_label(label)
        self.files.create(label, _encoded(page))
        return self._skill(label, _encoded(page))

    def edit(self, label: str, change: Callable[[FrontMatter], FrontMatter]) -> Skill:
        """Change a skill, and return it.

        Args:
            label: Which one.
            change: Is given the present page, which may not be the one that was read
                before, and returns the new one or raises. It may be called several times.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it could not be written.
        """
        if label not in self.files.labels():
            raise SkillNotFoundError(label)
        data = self.files.edit(label, lambda before: _encoded(change(_page(before))))
        return self._skill(label, data)

    def restore(self, label: str) -> Skill:
        """Bring back the skill that was put aside last; see :meth:`SkillFiles.restore`."""
        self.files.restore(check_label(label))
        return self.read(label)

    def _broken(self, label: str, code: str, reason: str) -> Skill:
        path = self.files.folder / label / FILE
        findings = (Finding(0, code, reason),)
        return Skill(label, self.scope, path, parse_front_matter(""), findings)

    def _looked_at(self, label: str, briefly: bool) -> Skill | None:  # noqa: FBT001 - passed on
        """Return the skill in a folder, whatever state it is in; ``None`` in an empty folder."""
        try:
            others = self.files.others(label)
            data = self.files.read(label)
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
        beside = self.files.others(label) if others is None else others
        kept = [
            Finding(0, "kept", "holds what was saved at the same time as SKILL.md", name)
            for name in beside
            if KEPT.fullmatch(name)
        ]
        findings = (*check(page, label, briefly=briefly), *kept)
        return Skill(label, self.scope, self.files.path(label), page, findings)


def built_in() -> SkillStore:
    """Return the skills that come with the package; to write there is refused.

    >>> "keep-memory-tidy" in built_in().files.labels()
    True
    """
    return SkillStore(BUILT_IN, "builtin", disk=_ReadOnly())


class _ReadOnly(Disk):
    """A disk on which no step begins: each one starts with the folder that it writes to."""

    def make_folder(self, path: Path) -> None:
        raise StoreError(
            f"{path}: holds what comes with Engramdown, and is not changed; "
            f"`engramdown skills edit LABEL` makes a copy of a skill that is yours."
        )


def _page(data: bytes) -> FrontMatter:
    return parse_front_matter(data.decode("utf-8", "surrogateescape"))


def _encoded(page: FrontMatter) -> bytes:
    return page.render().encode("utf-8", "surrogateescape")
