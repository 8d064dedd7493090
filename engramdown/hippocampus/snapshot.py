"""The memory files of one scope as they are on the disk, read and parsed once.

Takes no lock and writes nothing. Only the names of memory files are ever opened, and no link leads
out of the scope. A file may be spelled in other ways (``USER.md``, ``SOUL.md``): it has one name
for the rest of the store, and of several that may be meant one is used, however they are listed. An
unreadable topic hides no other file. Whether a scope is as its journal says is found out
here, too, without loading what would put it in order: most processes only read.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.hippocampus.changeset import Slot
from engramdown.hippocampus.history import History, digest
from engramdown.kinds import FILES, SOUL, SOUL_FILE, is_name
from engramdown.language.characters import is_utf16
from engramdown.markdown.document import Document, parse
from engramdown.storage.disk import UNFINISHED, Disk, named_errors

_MARKER: Final = re.compile(rb"^(?:<{7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_NO_WAY: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EACCES})


class Read(NamedTuple):
    """A file as it was read.

    Attributes:
        data: Its bytes, or ``None``.
        text: The same as text.
        digest: The digest of the text.
        document: The text, parsed.
    """

    data: bytes | None
    text: str | None
    digest: str
    document: Document

    def slot(self) -> Slot:
        """Return a slot for a step that starts from here."""
        return Slot(self.text, self.data, self.document)


class Reader:
    """Reads the files below ``memory/`` of one scope.

    Attributes:
        root: The folder of the scope.
        folder: The memory folder.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        """Read through ``disk``."""
        self.root = root
        self.folder = root / "memory"
        self._disk = disk
        self._cache: dict[str, Read] = {}

    def names(self) -> list[str]:
        """Return the memory files that exist, in a fixed order, but for obstacles."""
        names = [name for name in FILES if self._disk.exists(self.place(name))]
        return [*names, *(name for name, why_not in self._topics() if not why_not)]

    def is_page(self, name: str) -> bool:
        """Whether ``name`` is that of a memory file, with no obstacle in its place.

        Such a one may come with somebody's commit, a link to itself say: it must hide no other
        page. What does not depend on topics, no obstacle takes away in silence.
        """
        if not name.startswith("topics/"):
            return is_name(name)
        return is_name(name) and not self._obstacle(name)

    def obstacles(self) -> list[str]:
        """Say of each topic that cannot be read why not: ``doctor`` says what to do.

        Raises:
            StoreError: If even that cannot be found out.
        """
        with named_errors(self.folder / "topics", "read"):
            return [*dict.fromkeys(why_not for _, why_not in self._topics() if why_not)]

    def conflicts(self) -> Iterator[tuple[Path, int]]:
        """Yield the files in which git left a merge to a person, each with its first marker's line.

        A file that cannot be read is passed over.
        """
        for place in (*(self.place(name) for name in self.names()), self.place(SOUL)):
            try:
                data = self._disk.read(self._disk.inside(place, self.root)) or b""
            except (OSError, StoreError):
                continue
            if marker := _MARKER.search(data) if b"<<<<<<<" in data or b">>>>>>>" in data else None:
                yield place, data.count(b"\n", 0, marker.start()) + 1

    def path(self, name: str) -> Path:
        """Return the path of a memory file.

        Raises:
            StoreError: If ``name`` is not one of a memory file, or a link leaves the scope.
        """
        if not is_name(name):
            raise StoreError(f"{name!r}: is not the name of a memory file; see docs/file-format.md")
        return self._disk.inside(self.place(name), self.root)

    def spelled(self, name: str) -> str:
        """Return how the file called ``name`` is spelled; ``name`` itself if it is missing."""
        return spelled(name, self._disk.names(self.folder)) if has_aliases(name) else name

    def place(self, name: str) -> Path:
        """Return where the file called ``name`` is, or will be: below the memory folder."""
        return self.folder / self.spelled(name)

    def spellings(self, name: str) -> list[Path]:
        """Return the files that may be meant by ``name``, the one that is used first."""
        found = spellings(name, self._disk.names(self.folder))
        return [self.folder / file for file in found]

    def read(self, name: str) -> Read:
        """Read a memory file.

        Raises:
            StoreError: If it is UTF-16: nothing in it is memory, and nothing is added to it.
        """
        path = self.path(name)
        data = self._disk.read(path)
        cached = self._cache.get(name)
        if cached is None or cached.data != data:
            text = _readable(path, decoded(data))
            document = parse(text or "")
            document = document.sharing(cached.document) if cached else document
            cached = Read(data, text, digest(text), document)
            self._cache[name] = cached
        return cached

    def remember(self, name: str, data: bytes, text: str, document: Document) -> None:
        """Take note of what was written: the same bytes need not be parsed again."""
        self._cache[name] = Read(data, text, digest(text), document)

    def known(self, name: str, state: str) -> str | None:
        """Return the text with the digest ``state``, if it is the one that was read last."""
        cached = self._cache.get(name)
        return cached.text if cached is not None and cached.digest == state else None

    def beside(self, name: str) -> Path | None:
        """Return the file beside the scope, in ``.agents``, that is meant by ``name``, if any."""
        folder = self.root.parent / AGENTS
        file = beside(name, self._disk.names(folder))
        return folder / file if file else None

    def other(self, name: str) -> str:
        """Read a file that is not a memory file, relative to the scope's folder, or return ``""``.

        A page of the memory folder, or of ``.agents`` beside the scope, may be spelled otherwise.

        Raises:
            StoreError: If it is a link that leaves the scope, or the folder that holds both.
        """
        folder, _, page = name.rpartition("/")
        if folder == AGENTS:
            place, top = self.beside(page) or self.root.parent / name, self.root.parent
        else:
            place = self.place(page) if folder == self.folder.name else self.root / name
            top = self.root
        path = self._disk.inside(place, top)
        return _readable(path, decoded(self._disk.read(path))) or ""

    def _topics(self) -> Iterator[tuple[str, str]]:
        """Yield each topic that there is, with why it cannot be read, or ``""``."""
        folder = self.folder / "topics"
        if not folder.is_dir():
            if folder.is_symlink() or folder.exists():
                yield "topics", f"{folder}: is not a folder; move it away"
            return
        plain = set() if folder.is_symlink() else self._disk.plain(folder)
        for page in (*self._disk.names(folder), *self._disk.folders(folder)):
            name = f"topics/{page}"
            if is_name(name):
                yield name, "" if page in plain else self._obstacle(name)

    def _obstacle(self, name: str) -> str:
        """Return why a topic cannot be read, be it there or not; ``""`` if it can."""
        try:
            self._disk.check_readable(self.path(name))
        except StoreError as error:
            return str(error)
        except OSError as error:
            if error.errno not in _NO_WAY:
                raise
            return f"{self.place(name)}: cannot be read: {error.strerror}."
        return ""


def _readable(path: Path, text: str | None) -> str | None:
    if text is not None and is_utf16(text):
        raise StoreError(
            f"{path}: looks like UTF-16, and nothing in it is read; save it as UTF-8 in your editor"
        )
    return text


def decoded(data: bytes | None) -> str | None:
    """Return bytes as text; what is not UTF-8 becomes lone surrogates, and bytes again later."""
    return None if data is None else data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return text as bytes, see :func:`decoded`."""
    return text.encode("utf-8", "surrogateescape")


# The folder beside a scope's own in which other tools keep ``SOUL.md`` and ``USER.md``.
AGENTS: Final = ".agents"

# The first one is the name; all of them are found without regard to case.
_ALIASES: Final = {
    each.name: (each.name, *each.aliases) for each in (*FILES.values(), SOUL_FILE) if each.beside
}
_MEANT: Final = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}


def has_aliases(name: str) -> bool:
    """Whether the file called ``name`` may be spelled otherwise."""
    return name in _ALIASES


def meant(file: str) -> str:
    """Return the name of what is spelled ``file``, relative to the memory folder.

    >>> meant("USER.md"), meant("Soul.md"), meant("rules.md"), meant("topics/user.md")
    ('profile.md', 'soul.md', 'rules.md', 'topics/user.md')
    """
    return _MEANT.get(file.lower(), file)


def spellings(name: str, names: Iterable[str]) -> list[str]:
    """Return which of the files ``names`` may be meant by ``name``, the one that is used first.

    >>> spellings("profile.md", ["USER.md", "profile.md", "rules.md"])
    ['profile.md', 'USER.md']
    """
    forms = _ALIASES.get(name, ())
    files = [file for file in names if file.lower() in forms]
    return sorted(files, key=lambda file: (file != name, forms.index(file.lower()), file))


def spelled(name: str, names: Iterable[str]) -> str:
    """Return which of the files ``names`` is the one called ``name``; ``name`` itself if none is.

    >>> spelled("profile.md", ["User.md", "USER.md"]), spelled("soul.md", ["SOUL.md", "soul.md"])
    ('USER.md', 'soul.md')
    """
    return next(iter(spellings(name, names)), name)


def named(names: Iterable[str]) -> dict[str, str]:
    """Return each file with the name of what it is; one that is not used keeps its spelling.

    >>> named(["USER.md", "SOUL.md", "soul.md"])
    {'USER.md': 'profile.md', 'SOUL.md': 'SOUL.md', 'soul.md': 'soul.md'}
    """
    files = list(names)
    used = {spelled(name, files) for name in _ALIASES}
    return {file: meant(file) if file in used else file for file in files}


def beside(name: str, names: Iterable[str]) -> str:
    """Return which of the files of ``.agents`` is meant by ``name``, or ``""``.

    >>> beside("profile.md", ["profile.md", "user.md", "USER.md"]), beside("soul.md", ["Soul.md"])
    ('USER.md', 'Soul.md')
    """
    wanted = (SOUL_FILE if name == SOUL else FILES[name]).beside
    files = [file for file in names if file.lower() == wanted.lower()]
    return min(files, key=lambda file: (file != wanted, file), default="")


# The names that engramdown.hippocampus.transaction gives.
_LEFTOVER: Final = re.compile(
    rf"\.(?P<file>.+)\.(?P<digest>[0-9a-f]{{16}})\.[0-9a-f]{{8}}(?:\.old)?\.tmp(?:{UNFINISHED})?"
)

# The name of ``.gitignore`` until it is whole.
IGNORING: Final = f".gitignore{UNFINISHED}"


def states(reader: Reader, history: History) -> list[tuple[str, str | None, str]]:
    """Return each file with the digest that the journal says and the one it has."""
    heads = history.heads()
    # Those that are gone, too: somebody may have removed a topic.
    there = dict.fromkeys([*FILES, *reader.names()])
    left = (name for name, head in heads.items() if head and name not in there)
    names = [*there, *sorted(name for name in left if reader.is_page(name))]
    return [(name, heads.get(name), reader.read(name).digest) for name in names]


def is_untidy(reader: Reader, history: History, disk: Disk) -> bool:
    """Whether a file is not as the journal says, or a temporary one is lying about.

    Files that the journal does not know do not count.
    """
    changed = any(head not in (None, now) for _, head, now in states(reader, history))
    left = (leftover_of(path) or path.name == IGNORING for path in paths(reader, disk))
    return changed or any(left)


def paths(reader: Reader, disk: Disk) -> Iterator[Path]:
    """Yield every file in the folders where temporary files may be left."""
    for folder in (reader.root, reader.folder, reader.folder / "topics"):
        yield from (folder / name for name in disk.names(folder))


def leftover_of(path: Path) -> tuple[str, str] | None:
    """Return the memory file and the digest that a temporary name holds; ``None`` for another."""
    match = _LEFTOVER.fullmatch(path.name)
    folder = "topics/" if path.parent.match("memory/topics") else ""
    return (meant(folder + match["file"]), match["digest"]) if match else None
