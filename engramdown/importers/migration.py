"""Brings the notes of people and other assistants through the gate as memories.

The files are not changed, and no link is followed out of a named folder. A file that cannot be read
is reported with the reason, and the rest is read. The folders of a project are searched only for
files about them, without hidden folders, packages, build output and other repositories. A memory
that came once does not come again, whatever happened to it here: a ledger in the folder of the
scope has a line for each, with a digest and without the text, written after the step itself. If a
run is killed, the next one brings exactly the rest.

What a page states is read in :mod:`engramdown.consolidation.notes`; what several pages state comes
once. The layout of a file says whose word it is: text that a person writes for an assistant is told
by the user; text that an assistant wrote for itself is inferred.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from urllib.parse import unquote

from engramdown.clock import moment
from engramdown.consolidation import Note, Omission, read_notes
from engramdown.engram import (
    CONFIDENCES,
    SOURCES,
    Basis,
    Confidence,
    Engram,
    Kind,
    Scope,
    Source,
    fingerprint,
    slug,
)
from engramdown.errors import MALFORMED, InvalidEngramError, StoreError
from engramdown.gate import Receipt
from engramdown.hippocampus import Act, new_id, step_group
from engramdown.kinds import LESSONS, PROFILE, RULES, kind_in
from engramdown.language import is_encodable
from engramdown.storage import Disk, ScopeLock, named_errors

if TYPE_CHECKING:
    from engramdown.gate import Scopes
    from engramdown.markdown import FrontMatter

# ---- layouts ----

Layout = Literal[
    "notes", "cursor", "index", "topic", "daily", "anton-memory", "anton-context", "anton-learnings"
]

_ANTON: Final[Mapping[str, Layout]] = {
    "memory": "anton-memory",
    "context": "anton-context",
    "learnings": "anton-learnings",
}
# Files of plain lines.
_BY_LINE: Final = (".cursorrules", ".windsurfrules")
_NAMED: Final[Mapping[str, Layout]] = {**dict.fromkeys(_BY_LINE, "notes"), "MEMORY.md": "index"}
_RULING: Final = frozenset({"notes", "cursor", "index", "topic"})
_BY_PERSON: Final = frozenset({"notes", "cursor"})
_DAILY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[^/]*\.md")


def layout_of(path: str) -> Layout | None:
    """Return the layout of a file by its path, or ``None`` if it is unknown.

    >>> layout_of("CLAUDE.md"), layout_of(".anton/memory/rules.md"), layout_of("src/main.py")
    ('notes', 'anton-memory', None)
    """
    name, parts = basename(path), path.split("/")[:-1]
    if ".anton" in parts:
        folder = "".join(parts[len(parts) - parts[::-1].index(".anton") :][:1])
        is_one = name in (RULES, LESSONS, PROFILE) if folder == "memory" else name.endswith(".md")
        return _ANTON.get(folder) if is_one else None
    if name.endswith(".mdc"):
        return "cursor"
    if _DAILY.fullmatch(name):
        return "daily"
    return _NAMED.get(name, "notes" if name.lower().endswith((".md", ".markdown")) else None)


# ---- memories of a file ----

_DATE: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_LINK: Final = re.compile(r"\[[^\]\n]{0,200}\]\(<?([^)>\s]{1,500}?\.md)(?:#[^)\s]{0,200})?>?\)")
_LONGEST: Final = 2_000
_TOPIC_LENGTH: Final = 60
_SOURCES: Final[dict[str, Source]] = {each: each for each in SOURCES}
_CONFIDENCES: Final[dict[str, Confidence]] = {each: each for each in CONFIDENCES}

# Whose word a memory is: its source, its confidence, and its basis.
_Word = tuple[Source, Confidence, Basis]
_BY_USER: Final[_Word] = ("user", "high", "told")
_INFERRED: Final[_Word] = ("llm", "medium", "inferred")


class File(NamedTuple):
    """A file that may hold memories.

    Attributes:
        path: Its name for a person, with ``/``.
        text: Its content.
        layout: Its layout, or ``None`` if it cannot be read.
        topic: The topic of its memories, if another file says so.
        folder: The folder of the project that it is about, or ``""`` for the whole project.
        problem: Why it cannot be read, or ``""``.
    """

    path: str
    text: str = ""
    layout: Layout | None = None
    topic: str = ""
    folder: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return basename(self.path)

    def place(self, scope: Scope, front: FrontMatter) -> str:
        """Return the part of the project that it is about: "in api/", "on src/a.ts", or ""."""
        if self.layout == "cursor" and front.text("alwaysApply").lower() != "true":
            globs = ", ".join(front.items("globs")) or front.raw("globs").strip("[]\"' ")
            if globs and is_encodable(globs) and len(globs) <= _LONGEST:
                return f"on {globs}"
        is_part = self.folder and scope == "project" and is_encodable(self.folder)
        return f"in {self.folder}/" if is_part else ""


class Candidate(NamedTuple):
    """A memory from a file.

    Attributes:
        engram: The memory.
        line: Where it begins in the file, from 1.
        keys: The forms in which it may stand elsewhere: whole first, then parts of it.
        whole: The item or paragraph of which it may be a part; an older version took that for one
            memory.
    """

    engram: Engram
    line: int
    keys: tuple[str, ...]
    whole: str


class FileMemories(NamedTuple):
    """What a file holds: memories and skipped parts, both in file order."""

    memories: tuple[Candidate, ...]
    passed: tuple[Omission, ...]


def read(file: File, scope: Scope) -> FileMemories:
    """Return the memories of a file for a scope."""
    page = read_notes(file.text, by_line=file.name in _BY_LINE)
    place = file.place(scope, page.front)
    found = (
        Candidate(
            _engram(file, note, scope, place if note.kind != "profile" else ""),
            note.line,
            tuple(f"{place} {key}" for key in note.keys),
            f"When working {place}: {note.whole}" if place else note.whole,
        )
        for note in page.notes
    )
    return FileMemories(tuple(found), page.passed)


def links(text: str) -> list[str]:
    """Return the markdown files that a file links to, as written there, each once.

    >>> links("- [Builds](builds.md) and [CI](topics/ci.md#slow)")
    ['builds.md', 'topics/ci.md']
    """
    targets = (each[1] for each in _LINK.finditer(text))
    return list(dict.fromkeys(each for each in targets if "://" not in each))


def topics(text: str) -> Mapping[str, str]:
    """Return the topics in an ``index.json``, by the names of files.

    Any other content gives nothing.
    """
    named: dict[str, str] = {}

    def collect(entry: dict[str, object]) -> object:
        file, topic = (
            next((entry[key] for key in keys if entry.get(key)), None)
            for keys in (("file", "path", "filename"), ("topic", "title", "name"))
        )
        for name, about in [(file, topic), *entry.items()]:
            if isinstance(about, str) and str(name).endswith(".md"):
                named[basename(str(name))] = about
        return topic

    with contextlib.suppress(ValueError, RecursionError):
        json.loads(text, object_hook=collect)
    return named


def _engram(file: File, note: Note, scope: Scope, place: str) -> Engram:
    kind = _kind(file, note, place)
    source, confidence, basis = _word(file, note, kind)
    # The places of a date, the nearest first.
    titles = [title for _, title in reversed(note.titles)]
    days = [note.meta.get("ts"), *titles, file.name if file.layout == "daily" else ""]
    return Engram(
        f"When working {place}: {note.in_words}" if place else note.text,
        kind,
        scope,
        confidence,
        _topic(file, note) if kind == "lesson" else "",
        source,
        basis=basis,
        origin=f"{file.path}:{note.line}" if is_encodable(file.path) else "",
        # It was not said in a conversation here, and the file may be a stranger's.
        via="tool",
        ts=next(filter(None, map(date_in, days)), ""),
    )


def _kind(file: File, note: Note, place: str) -> Kind:
    if file.layout == "anton-memory" and file.name in (PROFILE, LESSONS):
        return kind_in(file.name)
    if file.layout in _RULING or note.is_ruled:
        return "when" if place else note.kind
    # A diary reports events: "When I tried it, it failed" is not a rule.
    return "always" if file.layout == "anton-memory" else "lesson"


def _word(file: File, note: Note, kind: Kind) -> _Word:
    if file.layout in _BY_PERSON:
        return _BY_USER
    if file.layout != "anton-memory":
        return _INFERRED
    if not note.meta.fields:
        # Only a person leaves it out; facts about the user never have it.
        return _INFERRED if kind == "profile" else _BY_USER
    source = _SOURCES.get(note.meta.get("source"), "llm")
    # Its tool always writes "user".
    return source, _CONFIDENCES.get(note.meta.get("confidence"), "medium"), "inferred"


def _topic(file: File, note: Note) -> str:
    words = [note.meta.get("topic").removeprefix("None"), file.topic]
    words += [title for level, title in reversed(note.titles) if level > 1 and not date_in(title)]
    if file.layout not in ("notes", "index", "daily", "anton-memory"):
        words.append(file.name.rpartition(".")[0].lstrip("."))
    return next(filter(None, map(_as_topic, words)), "")


@lru_cache(maxsize=256)
def _as_topic(words: str) -> str:
    """Return words as a topic, or ``""`` if they cannot be one."""
    plain = "".join(char if char.isalnum() else " " for char in words[:_TOPIC_LENGTH])
    try:
        return slug(" ".join(plain.split()))
    except InvalidEngramError:
        return ""


def date_in(text: str) -> str:
    """Return the first date in ``text`` as ``YYYY-MM-DD``, or ``""``.

    >>> date_in("Notes of 2026-02-27"), date_in("2026-02-31")
    ('2026-02-27', '')
    """
    match = _DATE.search(text)
    try:
        return date.fromisoformat(match[0]).isoformat() if match else ""
    except ValueError:
        return ""


# ---- files ----

# Where people and assistants keep notes in a project, in the order in which they are read.
_PLACES: Final = Path(__file__).with_name("places.txt").read_text(encoding="utf-8").split()
_OF_FOLDERS: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md")
# Build output, and the work of others.
_NOT_OWN: Final = frozenset(
    {"build", "dist", "target", "node_modules", "site-packages", "third_party", "vendor"}
)
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class _Place(NamedTuple):
    """A path that may be a file to read.

    Attributes:
        path: The path.
        folder: The folder that it must not leave, or ``None`` for a file that was named.
        layout: Its layout.
        topic: Its topic, if another file says so.
        part: The folder of the project that it is about, or ``""``.
    """

    path: Path
    folder: Path | None
    layout: Layout | None
    topic: str = ""
    part: str = ""


def files_at(
    paths: Iterable[Path], base: Path, disk: Disk, *, folders: bool = False
) -> Iterator[File]:
    """Yield the files at ``paths``, which are files or folders to search.

    Args:
        paths: The paths that a person named.
        base: The folder to which names are relative; a file elsewhere has only its own name.
        disk: The system calls.
        folders: Whether ``base`` is a project, whose folders may have files of their own.
    """
    visited: set[str] = set()
    project = base if folders else None
    named = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - as it was named, links and all
    waiting = [place for path in named for place in _places(path, project)]
    while waiting:
        place = waiting.pop(0)
        path, real = place.path, os.path.realpath(place.path)
        if real in visited:
            continue
        visited.add(real)
        name = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name
        try:
            file = _read(place, Path(real), name, disk)
        except StoreError as error:
            file = File(name, problem=str(error).removeprefix(f"{real}: "))
        except OSError as error:
            file = File(name, problem=f"cannot be read: {error.strerror}")
        yield file
        if file.layout == "index":
            waiting = [*_linked(file.text, place), *waiting]


def _places(path: Path, project: Path | None) -> list[_Place]:
    if not path.is_dir():
        return [_Place(path, None, layout_of(path.as_posix()), part=_part(path, project))]
    paths = [each for pattern in _PLACES for each in _glob(path, pattern)]
    if project is not None and path.is_relative_to(project):
        paths += _below(path)
    if not paths:
        paths = [each for pattern in ("*.md", "*.mdc") for each in sorted(path.glob(pattern))]
    topics_in = cache(_topics_in)
    places: list[_Place] = []
    for each in paths:
        layout = layout_of(each.as_posix())
        if layout is not None:
            topics = topics_in(each.parent) if layout == "anton-learnings" else {}
            topic, part = topics.get(each.name, ""), _part(each, project)
            places.append(_Place(each, path, layout, topic, part))
    return places


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match a pattern, even if ``folder`` is its first part."""
    first, _, rest = pattern.partition("/")
    return sorted(folder.glob(rest if rest and folder.name == first else pattern))


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files about the folders below ``folder`` that hold its own work."""
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
    """Return the folder of the project that a file is about, or ``""`` for the whole project."""
    if project is None or path.name not in _OF_FOLDERS or not path.is_relative_to(project):
        return ""
    parts = path.parent.relative_to(project).parts
    return "/".join(takewhile(lambda part: not part.startswith("."), parts))


def _topics_in(folder: Path) -> Mapping[str, str]:
    """Return the topics in the index of a folder, by the names of files."""
    with contextlib.suppress(OSError, StoreError):
        data = Disk(durable=False).read(folder / "index.json") or b""
        return topics(data.decode("utf-8", "replace"))
    return {}


def _linked(text: str, index: _Place) -> Iterator[_Place]:
    """Yield the files that an index links to, if they exist or are outside its folder."""
    folder = index.path.parent
    for link in links(text):
        path = folder / unquote(link)
        with contextlib.suppress(OSError, ValueError):
            if not _is_inside(path, folder) or path.exists():
                yield _Place(path, folder, "topic", path.stem)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _read(place: _Place, real: Path, name: str, disk: Disk) -> File:
    if place.layout is None:
        return File(name, problem="is not a markdown file")
    if place.folder is not None and not _is_inside(place.path, place.folder):
        return File(name, problem="is a link that leads out of the folder; name the file itself")
    data = disk.read(real)
    if data is None:
        return File(name, problem="does not exist")
    # Bytes that are not UTF-8 become surrogates, which a reader recognises.
    encoding, errors = ("utf-16", "strict") if data[:2] in _UTF16 else ("utf-8", "surrogateescape")
    try:
        text = data.decode(encoding, errors)
    except UnicodeDecodeError:
        return File(name, problem="is not text")
    if encoding == "utf-8" and "\0" in text:
        return File(name, problem="is not text")
    return File(name, text, place.layout, place.topic, place.part)


# ---- the ledger of earlier runs ----

# Its file, in the folder of the scope.
MIGRATED: Final = "migrated.jsonl"
# The operation of the steps of a migration in the journal.
OP: Final = "migrate"


class Migrated:
    """The ledger of one scope."""

    def __init__(self, root: Path, disk: Disk, lock_timeout: float) -> None:
        """Read the ledger of the scope in ``root``, without creating anything.

        Raises:
            StoreError: If it is not a file.
            OSError: If it cannot be read.
        """
        self.path = root / MIGRATED
        self._disk = disk
        self._lock = ScopeLock(root / "memory" / ".lock", lock_timeout)
        lines = (disk.read(self.path) or b"").split(b"\n")
        self._known = {found for found in map(_digest_of, lines) if found}

    def knows(self, engram: Engram, whole: str = "") -> bool:
        """Whether a memory came before, by itself or in the ``whole`` of which it is a part."""
        kinds: tuple[Kind, ...] = ("always", "never") if whole else ()
        told = (engram, *(Engram(whole, kind, "project") for kind in kinds))
        return any(fingerprint(each) in self._known for each in told)

    def add(self, came: Iterable[tuple[str, Engram]]) -> None:
        """Add memories, each with the name of its file.

        Raises:
            StoreError: If it cannot be written.
            OSError: The same.
        """
        now = moment()
        digests = {fingerprint(engram): path for path, engram in came if not self.knows(engram)}
        if not digests:
            return
        lines = [{"ts": now, "path": path, "digest": each} for each, path in digests.items()]
        self._disk.make_folder(self._lock.path.parent)
        with self._lock.hold():
            data = "".join(json.dumps(line) + "\n" for line in lines)
            self._disk.append(self.path, data.encode())
        self._known |= digests.keys()


def _digest_of(line: bytes) -> str:
    try:
        digest = json.loads(line)["digest"]
    except MALFORMED:
        return ""
    return digest if isinstance(digest, str) else ""


# ---- through the gate ----

# The most memories of one run, which takes some seconds. The next one brings the rest.
MOST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The survey of a file.

    Attributes:
        path: Its name for a person.
        layout: Its layout, or ``None`` if it could not be read.
        new: The new memories.
        known: The number of memories that came before.
        waiting: The number of memories left for the next run.
        passed: The skipped parts.
        problem: Why it could not be read, or ``""``.
    """

    path: str
    layout: Layout | None = None
    new: tuple[Candidate, ...] = ()
    known: int = 0
    waiting: int = 0
    passed: tuple[Omission, ...] = ()
    problem: str = ""


class Came(NamedTuple):
    """The result for a memory.

    Attributes:
        path: Its file.
        brought: The memory.
        receipt: What happened to it.
    """

    path: str
    brought: Candidate
    receipt: Receipt


class Migration:
    """A migration into one scope."""

    def __init__(
        self, scopes: Scopes, scope: Scope, *, again: bool = False, disk: Disk | None = None
    ) -> None:
        """Bring memories into one of ``scopes``.

        Args:
            scopes: The scopes with their gate.
            scope: The scope of the memories.
            again: Whether to bring memories again that came before and are gone.
            disk: The system calls; by default as the settings say.

        Raises:
            StoreError: If the scope has no files, or the ledger cannot be read.
        """
        store = next((each for each in scopes.stores if each.scope == scope), None)
        if store is None:
            raise StoreError(f"{scope}: has no files, which a migration needs")
        self._scopes = scopes
        self._scope: Scope = scope
        self._again = again
        settings = scopes.settings.of(scope)
        is_durable = settings.durability == "full"
        self._disk = disk or Disk(durable=is_durable, limit=settings.max_file_bytes)
        with named_errors(store.root, "read", ""):
            self._ledger = Migrated(store.root, self._disk, settings.lock_timeout)

    def survey(self, paths: Iterable[Path], base: Path) -> list[Surveyed]:
        """Return what is at ``paths``; nothing is written.

        Args:
            paths: Files, and folders to search.
            base: The folder to which names are relative.
        """
        places = files_at(paths, base, self._disk, folders=self._scope == "project")
        files = [(file, read(file, self._scope)) for file in places]
        held = _held(files)
        surveyed = [self._surveyed(*each, held) for each in files]
        # Small files come first when there are too many new memories.
        room = MOST
        for at in sorted(range(len(surveyed)), key=lambda at: len(surveyed[at].new)):
            new = surveyed[at].new
            surveyed[at] = replace(surveyed[at], new=new[:room], waiting=len(new[room:]))
            room -= len(new[:room])
        return surveyed

    def bring(self, surveyed: Sequence[Surveyed], *, dry_run: bool = False) -> list[Came]:
        """Propose the new memories, and return the result for each.

        Args:
            surveyed: The result of :meth:`survey`.
            dry_run: Whether the scopes write nothing; then the ledger is not written either.

        Raises:
            StoreError: If the ledger cannot be written; the next run proposes them again.
        """
        new = [(each.path, brought) for each in surveyed for brought in each.new]
        with step_group(Act(OP, "user", f"migration {new_id()}")):
            # One batch, so that memories of one file do not contradict each other.
            receipts = self._scopes.propose(brought.engram for _, brought in new)
        came = [Came(*each, receipt) for each, receipt in zip(new, receipts, strict=True)]
        if dry_run:
            return came
        written = [each for each in came if each.receipt.action != "failed"]
        with named_errors(self._ledger.path, "written", ""):
            self._ledger.add((each.path, each.brought.engram) for each in written)
        return came

    def _surveyed(
        self, file: File, found: FileMemories, held: Mapping[str, tuple[str, Candidate]]
    ) -> Surveyed:
        new, known, passed = [], 0, [*found.passed]
        for each in found.memories:
            path, owner = held[each.keys[0]]
            if owner is not each:
                twice = "is in the file twice" if path == file.path else f"is also in {path}"
                passed.append(Omission(each.line, twice))
            elif not self._again and self._ledger.knows(each.engram, each.whole):
                known += 1
            else:
                new.append(each)
        passed.sort()
        return Surveyed(file.path, file.layout, tuple(new), known, 0, tuple(passed), file.problem)


def _held(surveyed: Iterable[tuple[File, FileMemories]]) -> dict[str, tuple[str, Candidate]]:
    """Return which memory holds what each key says: the longest one, with its file."""
    held: dict[str, tuple[str, Candidate]] = {}
    for file, found in surveyed:
        for each in found.memories:
            for key in each.keys:
                other = held.get(key)
                if other is None or len(other[1].keys[0]) < len(each.keys[0]):
                    held[key] = file.path, each
    return held
