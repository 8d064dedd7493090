"""Brings memories from the notes of other assistants through the gate.

Nothing of what is read is changed, and no link is followed out of the folder that was named. What
cannot be read is reported with the reason, and the rest is read. In a project only files that are
about its folders are looked for, and none in hidden folders, packages, what was built, and other
repositories. What came once does not come again, whatever became of it here: a ledger in the folder
of the scope has a line with a digest, and no text, for each, written after the step that it speaks
of. Killed at any point, the next run brings exactly the rest.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from engramdown.clock import moment
from engramdown.engram import Engram, Scope, fingerprint, identity
from engramdown.errors import StoreError
from engramdown.gate import Receipt, kind_of
from engramdown.hippocampus import Act, new_id, step_group
from engramdown.importers.markdown_notes import (
    Brought,
    File,
    Layout,
    Passed,
    layout_of,
    links,
    read,
    topics,
)
from engramdown.storage import Disk, ScopeLock

if TYPE_CHECKING:
    from engramdown.gate import Scopes

_PLACES: Final = (
    ".anton/memory/*.md",
    ".anton/context/*.md",
    ".anton/learnings/*.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "AGENTS.md",
    ".cursorrules",
    ".cursor/rules/**/*.mdc",
    "MEMORY.md",
    "memory/MEMORY.md",
    "memory/*.md",
)
_OF_FOLDERS: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
# What was built, and the work of others.
_NOT_OWN: Final = frozenset(
    {"build", "dist", "target", "node_modules", "site-packages", "third_party", "vendor"}
)
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Unread(NamedTuple):
    """A file that could not be read.

    Attributes:
        path: What a person calls it.
        reason: Why, in words.
    """

    path: str
    reason: str


class _Place(NamedTuple):
    """Where a file may be.

    Attributes:
        path: Its whole name.
        folder: The folder that it must not lead out of, or ``None`` for one that was named.
        layout: What it is.
        topic: What it is about, where something else than the file says so.
        part: The folder of the project that it is about, or ``""``.
    """

    path: Path
    folder: Path | None
    layout: Layout | None
    topic: str = ""
    part: str = ""


def files_at(
    paths: Iterable[Path], base: Path, disk: Disk, *, folders: bool = False
) -> Iterator[File | Unread]:
    """Yield what there is to read at ``paths``: files, and folders in which they are looked for.

    Args:
        paths: What a person named.
        base: The folder from which files are named; one elsewhere is called by its name.
        disk: The system calls.
        folders: Whether ``base`` is a project, whose folders may have files of their own.
    """
    seen: set[str] = set()
    project = base if folders else None
    named = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - as it was named, links and all
    waiting = [place for path in named for place in _places(path, project)]
    while waiting:
        place = waiting.pop(0)
        path, real = place.path, os.path.realpath(place.path)
        if real in seen:
            continue
        seen.add(real)
        name = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name
        try:
            found: File | Unread = _read(place, Path(real), name, disk)
        except StoreError as error:
            found = Unread(name, str(error).removeprefix(f"{real}: "))
        except OSError as error:
            found = Unread(name, f"cannot be read: {error.strerror}")
        yield found
        if isinstance(found, File) and found.layout == "index":
            waiting = [*_linked(found.text, place), *waiting]


def _places(path: Path, project: Path | None) -> list[_Place]:
    if not path.is_dir():
        return [_Place(path, None, layout_of(path.as_posix()), part=_part(path, project))]
    found = [each for pattern in _PLACES for each in _glob(path, pattern)]
    if project is not None and path.is_relative_to(project):
        found += _below(path)
    if not found:
        found = [each for pattern in ("*.md", "*.mdc") for each in sorted(path.glob(pattern))]
    topics = cache(_topics_in)
    places: list[_Place] = []
    for each in found:
        layout = layout_of(each.as_posix())
        if layout is not None:
            told = topics(each.parent) if layout == "anton-learnings" else {}
            topic, part = told.get(each.name, ""), _part(each, project)
            places.append(_Place(each, path, layout, topic, part))
    return places


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return what fits a pattern, also if ``folder`` is the first part of it."""
    first, _, rest = pattern.partition("/")
    found = sorted(folder.glob(rest if rest and folder.name == first else pattern))
    if first != "memory":
        return found
    # A folder of this name may hold anything: only what is called like these is theirs.
    return [each for each in found if layout_of(each.as_posix()) in ("daily", "index")]


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files that are about the folders below ``folder``, as far as these are its own."""
    for root, folders, files in os.walk(folder):
        at = Path(root)
        folders[:] = [name for name in sorted(folders) if _is_own(at / name)]
        if at != folder:
            yield from (at / name for name in _OF_FOLDERS if name in files)


def _is_own(folder: Path) -> bool:
    """Whether a folder of a project holds its own work."""
    if folder.name.startswith(".") or folder.name in _NOT_OWN or folder.is_symlink():
        return False
    return not any((folder / mark).exists() for mark in (".git", ".engramdown", "pyvenv.cfg"))


def _part(path: Path, project: Path | None) -> str:
    """Return the folder of the project that a file is about, or ``""`` if it is about all of it."""
    if project is None or path.name not in _OF_FOLDERS or not path.is_relative_to(project):
        return ""
    parts = path.parent.relative_to(project).parts
    return "/".join(takewhile(lambda part: not part.startswith("."), parts))


def _topics_in(folder: Path) -> Mapping[str, str]:
    """Return the topics of the files of a folder, as its index tells them."""
    with contextlib.suppress(OSError, StoreError):
        data = Disk(durable=False).read(folder / "index.json") or b""
        return topics(data.decode("utf-8", "replace"))
    return {}


def _linked(text: str, index: _Place) -> Iterator[_Place]:
    """Yield the files that an index links to, if they are there; elsewhere they are only told."""
    folder = index.path.parent
    for link in links(text):
        path = folder / unquote(link)
        with contextlib.suppress(OSError, ValueError):
            if not _is_inside(path, folder) or path.exists():
                yield _Place(path, folder, "topic", path.stem)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _read(place: _Place, real: Path, name: str, disk: Disk) -> File | Unread:
    if place.layout is None:
        return Unread(name, "is no markdown file")
    if place.folder is not None and not _is_inside(place.path, place.folder):
        return Unread(name, "is a link that leads out of the folder; name the file itself")
    data = disk.read(real)
    if data is None:
        return Unread(name, "is not there")
    # Bytes that are not UTF-8 are kept apart, and found again.
    encoding, errors = ("utf-16", "strict") if data[:2] in _UTF16 else ("utf-8", "surrogateescape")
    try:
        text = data.decode(encoding, errors)
    except UnicodeDecodeError:
        return Unread(name, "is no text")
    if encoding == "utf-8" and "\0" in text:
        return Unread(name, "is no text")
    return File(name, text, place.layout, place.topic, place.part)


# ---- the ledger: what came before ----

MIGRATED: Final = "migrated.jsonl"
"""The name of the file, in the folder of the scope."""
OP: Final = "migrate"
"""What the steps of a migration are called in the journal."""


class Migrated:
    """The ledger of one scope."""

    def __init__(self, root: Path, disk: Disk, lock_timeout: float) -> None:
        """Read the ledger of the scope in ``root``; reading creates nothing.

        Raises:
            StoreError: If something else than a file stands there.
            OSError: If it cannot be read.
        """
        self.path = root / MIGRATED
        self._disk = disk
        self._lock = ScopeLock(root / "memory" / ".lock", lock_timeout)
        lines = (disk.read(self.path) or b"").split(b"\n")
        self._known = {found for found in map(_digest_of, lines) if found}

    def knows(self, engram: Engram) -> bool:
        """Whether a memory came before."""
        return fingerprint(engram) in self._known

    def add(self, came: Iterable[tuple[str, Engram]]) -> None:
        """Write down what came, each behind the name of its file.

        Raises:
            StoreError: If it cannot be written.
            OSError: The same.
        """
        now = moment()
        found = {fingerprint(engram): path for path, engram in came if not self.knows(engram)}
        if not found:
            return
        lines = [{"ts": now, "path": path, "digest": each} for each, path in found.items()]
        self._disk.make_folder(self._lock.path.parent)
        with self._lock.hold():
            data = "".join(json.dumps(line) + "\n" for line in lines)
            self._disk.append(self.path, data.encode())
        self._known |= found.keys()


def _digest_of(line: bytes) -> str:
    try:
        found = json.loads(line)["digest"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


# ---- through the gate ----

MOST: Final = 5_000
"""So many memories one run brings; it takes some seconds. The next one brings the rest."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What a file holds.

    Attributes:
        path: What a person calls it.
        layout: What it is, or ``None`` if it could not be read.
        new: The memories that did not come yet.
        known: How many came before.
        waiting: How many are left for the next run, as more came than one brings.
        passed: What is not taken.
        problem: Why it could not be read, or ``""``.
    """

    path: str
    layout: Layout | None = None
    new: tuple[Brought, ...] = ()
    known: int = 0
    waiting: int = 0
    passed: tuple[Passed, ...] = ()
    problem: str = ""


class Came(NamedTuple):
    """What became of a memory.

    Attributes:
        path: The file that it came from.
        brought: The memory.
        receipt: What happened.
    """

    path: str
    brought: Brought
    receipt: Receipt


class Migration:
    """From older layouts into one scope."""

    def __init__(
        self, scopes: Scopes, scope: Scope, *, again: bool = False, disk: Disk | None = None
    ) -> None:
        """Bring memories into the ``scope`` of ``scopes``; facts about the user hold everywhere.

        Args:
            scopes: What they go through.
            scope: Where they are kept.
            again: Bring also what came before, if memory does not know it any more.
            disk: The system calls; as the settings say unless given.

        Raises:
            StoreError: If it has no files, or what came before cannot be read.
        """
        store = next((each for each in scopes.stores if each.scope == scope), None)
        if store is None:
            raise StoreError(f"{scope}: has no files; only into files can be migrated")
        self._scopes = scopes
        self._scope: Scope = scope
        self._again = again
        settings = scopes.settings.of(scope)
        is_durable = settings.durability == "full"
        self._disk = disk or Disk(durable=is_durable, limit=settings.max_file_bytes)
        try:
            self._ledger = Migrated(store.root, self._disk, settings.lock_timeout)
        except OSError as error:
            path = error.filename or store.root
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error

    def survey(self, paths: Iterable[Path], base: Path) -> list[Surveyed]:
        """Return what there is at ``paths``; nothing is written.

        Args:
            paths: Files, and folders in which they are looked for.
            base: The folder from which files are named.
        """
        seen: dict[str, str] = {}
        is_project = self._scope == "project"
        places = files_at(paths, base, self._disk, folders=is_project)
        surveyed = [self._surveyed(found, seen) for found in places]
        # So many new memories in all; a large file keeps no small one out.
        room = MOST
        for at in sorted(range(len(surveyed)), key=lambda at: len(surveyed[at].new)):
            new = surveyed[at].new
            surveyed[at] = replace(surveyed[at], new=new[:room], waiting=len(new[room:]))
            room -= len(new[:room])
        return surveyed

    def bring(self, surveyed: Sequence[Surveyed], *, dry_run: bool = False) -> list[Came]:
        """Let what is new through the gate, and return what became of each.

        Args:
            surveyed: What :meth:`survey` returned.
            dry_run: The scopes write nothing: do not write down that anything came.

        Raises:
            StoreError: If it could not be written down what came; the next run asks again for it.
        """
        new = [(each.path, brought) for each in surveyed for brought in each.new]
        with step_group(Act(OP, "user", f"migration {new_id()}")):
            # One batch, so that what stands together is not held against itself.
            receipts = self._scopes.propose(brought.engram for _, brought in new)
        came = [Came(*each, receipt) for each, receipt in zip(new, receipts, strict=True)]
        if dry_run:
            return came
        written = [each for each in came if each.receipt.action != "failed"]
        try:
            self._ledger.add((each.path, each.brought.engram) for each in written)
        except OSError as error:
            path = error.filename or self._ledger.path
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
        return came

    def _surveyed(self, found: File | Unread, seen: dict[str, str]) -> Surveyed:
        if isinstance(found, Unread):
            return Surveyed(found.path, problem=found.reason)
        told = read(found, self._scope, kind_of)
        new, passed, known = [], list(told.passed), 0
        for brought in told.memories:
            elsewhere = seen.setdefault(identity(brought.engram), found.path)
            if elsewhere != found.path:
                passed.append(Passed(brought.line, f"stands in {elsewhere}, too"))
            elif not self._again and self._ledger.knows(brought.engram):
                known += 1
            else:
                new.append(brought)
        return Surveyed(found.path, found.layout, tuple(new), known, passed=tuple(sorted(passed)))
