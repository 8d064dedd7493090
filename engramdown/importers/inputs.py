r"""The input of an import: files, read as lines or as JSON elements, and how far they were read.

Nothing is unpacked to the disk, and no pipe or device is opened. Files come in a fixed order, those
first that others refer to. One line or element is held at a time, however long the file; only
``\n`` ends a line. What is not JSON is reported with its place and a reason, and an unfinished last
line is left for the next time. The ledger has a line for each part of a file that was imported: a
file that begins with such a part is read from its end on, wherever the file is now. Torn or foreign
lines of the ledger are skipped.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from engramdown.errors import StoreError
from engramdown.importers.records import Record, Skipped
from engramdown.storage import Disk

T = TypeVar("T")

# ---- taking JSON apart ----

_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
_NO_JSON: Final = "is not JSON"
_CUT_OFF: Final = "the rest of the file is not JSON"


def parse(line: bytes, number: int, offset: int) -> Record | Skipped | None:
    """Return the record in a line, or ``None`` if the line is blank.

    Bytes that are not UTF-8 become U+FFFD.
    """
    text = line.removeprefix(_MARK).decode("utf-8", "replace")
    if not text.strip():
        return None
    try:
        return Record(number, offset, json.loads(text))
    except (ValueError, RecursionError):
        return Skipped(number, _NO_JSON, damaged=True)


def elements(pieces: Iterable[bytes]) -> Iterator[Record | Skipped]:
    """Yield the elements of a JSON list whose bytes come in pieces, each once it is complete.

    Another value is the only element, or, if it holds a list ``conversations``, its elements are.
    """
    text = _Text(pieces)
    if text.peek() != "[":
        yield from _document(text.rest())
        return
    text.at += 1
    count, end = 0, text.peek()
    while end not in ("]", ""):
        count += 1
        exists, value = text.value()
        if not exists:
            yield Skipped(count, _CUT_OFF, damaged=True)
            return
        yield Record(count, count, value)
        end = text.peek()
        if end not in (",", "]"):
            break
        text.at += end == ","
        end = text.peek()
    if end != "]":
        yield Skipped(count + 1, _CUT_OFF, damaged=True)


def _document(text: str) -> Iterator[Record | Skipped]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield Skipped(1, _NO_JSON, damaged=True)
        return
    inner = value.get("conversations") if isinstance(value, dict) else None
    for place, element in enumerate(inner if isinstance(inner, list) else [value], 1):
        yield Record(place, place, element)


class _Text:
    """Text that comes in pieces, and a position in it."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text = ""
        self.at = 0

    def peek(self) -> str:
        """Return the next non-blank character, or ``""`` at the end."""
        self._skip_blank()
        while self.at == len(self._text) and self._more(1):
            self._skip_blank()
        return self._text[self.at : self.at + 1]

    def value(self) -> tuple[bool, Any]:
        """Return whether there is another value, and the value."""
        self._skip_blank()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self.at)
            except (ValueError, RecursionError):
                # Twice as much as before, so that trying again costs no more than reading once.
                if not self._more(len(self._text) - self.at):
                    return False, None
                continue
            self.at = end
            return True, value

    def rest(self) -> str:
        """Return the remaining text."""
        parts = [self._text[self.at :], *map(self._decoder.decode, self._pieces)]
        return "".join([*parts, self._decoder.decode(b"", final=True)])

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self._text, self.at)
        self.at = blank.end() if blank else self.at

    def _more(self, least: int) -> bool:
        """Read at least so many more characters; return whether there were any."""
        parts, count = [self._text[self.at :]], 0
        for piece in self._pieces:
            parts.append(self._decoder.decode(piece))
            count += len(parts[-1])
            if count >= max(least, 1):
                break
        self._text, self.at = "".join(parts), 0
        return count > 0


# ---- finding files ----

_ZIP: Final = b"PK\x03\x04"
# Names of OpenClaw for deleted sessions, and of Claude Code for copies that it compacts.
_UNWANTED: Final = (".deleted.", "agent-acompact-")
# Transcripts of sub-agents name the session that started them.
_LATER: Final = "agent-"


class UnreadableError(StoreError):
    """A file that was to be imported cannot be read."""


class Opened:
    """An open file; any fault of it is an :class:`UnreadableError`."""

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        """Read ``stream``; ``path`` is its name for a person."""
        self._path = path
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most ``size``."""
        return _named(self._path, self._stream.read, size)

    def readline(self) -> bytes:
        """Return the next line, with its end."""
        return _named(self._path, self._stream.readline)


def _named(path: str, read: Callable[..., T], *arguments: int) -> T:
    """Return what ``read`` returns; an error names the file."""
    # No context manager: each line of a large file comes through here.
    try:
        return read(*arguments)
    except _faults() as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableError(f"{path}: cannot be read: {reason}") from error


def _faults() -> tuple[type[Exception], ...]:
    """Return the errors of reading a file; called only after one."""
    from zipfile import BadZipFile

    # RuntimeError: the archive needs a password; its child NotImplementedError: an unknown method.
    return (OSError, EOFError, RuntimeError, BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read.

    Attributes:
        path: Its name for a person; for a file in an archive both names.
        size: In bytes.
        changed: When it was last written.
        opener: Opens it for reading, from the beginning.
    """

    path: str
    size: int
    changed: datetime
    opener: Callable[[], IO[bytes]]

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """Open it, from the beginning.

        Raises:
            UnreadableError: If it cannot be read.
        """
        stream = _named(self.path, self.opener)
        try:
            yield Opened(self.path, stream)
        finally:
            # It was only read: an error of closing it means nothing.
            with suppress(OSError):
                stream.close()


def find_inputs(paths: Iterable[Path]) -> list[Input]:
    """Return the files to read at ``paths``, originals before their copies.

    Raises:
        OSError: If a path does not exist or cannot be read.
        StoreError: If a path is not a file, a folder or an archive.
    """

    def order(file: Input) -> tuple[bool, datetime, str]:
        name = file.path.replace("\\", "/").rpartition("/")[2]
        return name.startswith(_LATER), file.changed, file.path

    inputs = [each for path in paths for each in _at(Path(os.path.realpath(path)))]
    return sorted({each.path: each for each in inputs}.values(), key=order)


def _at(path: Path) -> Iterator[Input]:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        yield from _in_folder(path)
        return
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path}: is neither a file nor a folder; name one that holds an export")
    with path.open("rb") as file:
        is_zip = file.read(len(_ZIP)) == _ZIP
    if is_zip:
        yield from _in_archive(path)
    else:
        yield _file(path)


def _in_folder(folder: Path) -> Iterator[Input]:
    def stop(error: OSError) -> None:
        # Unreadable folders below it are skipped, like unreadable files.
        if error.filename == str(folder):
            raise error

    for place, folders, names in os.walk(folder, onerror=stop):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if _is_wanted(name) and stat.S_ISREG(path.lstat().st_mode):
                yield _file(path)


def _is_wanted(name: str) -> bool:
    return name.endswith((".jsonl", ".json")) and not any(part in name for part in _UNWANTED)


def _file(path: Path) -> Input:
    status = path.stat()
    changed = datetime.fromtimestamp(status.st_mtime, UTC)
    return Input(str(path), status.st_size, changed, lambda: path.open("rb"))


def _in_archive(path: Path) -> Iterator[Input]:
    # Imported here: a hook reads only files, and this loads every kind of compression.
    from zipfile import ZipFile, ZipInfo

    def members() -> list[ZipInfo]:
        with ZipFile(path) as archive:
            return archive.infolist()

    def opened(name: str) -> IO[bytes]:
        # A member stays open when its archive is closed.
        with ZipFile(path) as archive:
            return archive.open(name)

    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    for member in _named(str(path), members):
        name, size = member.filename, member.file_size
        if _is_wanted(name):
            yield Input(f"{path}/{name}", size, changed, partial(opened, name))


# ---- the ledger ----

# The name of its folder, in that of the transcripts.
FOLDER: Final = "imports"
# So many bytes distinguish a file from most others.
HEAD: Final = 1024

_NAME: Final = "ledger.jsonl"
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The imported part of one file.

    Attributes:
        source: The name of the source.
        path: Where the file was.
        origin: Where it was at its first import: its sessions are named after that.
        head: SHA-256 of its first :data:`HEAD` bytes, or ``""`` if fewer were read.
        digest: SHA-256 of its bytes up to ``offset``.
        offset: The number of bytes read.
        lines: The number of lines read.
        at: When it was read.
        sessions: Its sessions, each with the number of the last line that it had then.
        ids: Its sessions by their ids in the source.
    """

    source: str
    path: str
    origin: str
    head: str
    digest: str
    offset: int
    lines: int = 0
    at: str = ""
    sessions: Mapping[str, int] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)


class Ledger:
    """The ledger of one folder of transcripts."""

    def __init__(self, episodes: Path, disk: Disk, *, durable: bool) -> None:
        """Read the ledger of the transcripts in ``episodes``, without creating anything."""
        self.path = episodes / FOLDER / _NAME
        self._disk = disk
        self._durable = durable
        self._known: dict[tuple[str, str], dict[int, dict[str, Entry]]] = {}
        self._ids: dict[tuple[str, str], str] = {}
        self.entries: list[Entry] = []
        for entry in map(_entry, (disk.load(self.path) or b"").split(b"\n")):
            if entry is not None:
                self._remember(entry)

    def add(self, entry: Entry) -> None:
        """Append a line."""
        self._disk.make_plain_folder(self.path.parent, durable=self._durable)
        self._disk.add_lines(self.path, _line(entry), durable=self._durable)
        self._remember(entry)

    def forget(self, source: str) -> None:
        """Drop the lines of a source."""
        others = [entry for entry in self.entries if entry.source != source]
        if len(others) < len(self.entries):
            self._disk.save(self.path, b"".join(map(_line, others)), durable=True, replace=True)

    def find(self, source: str, stream: Opened, size: int) -> Entry | None:
        """Return the entry of the longest known part that a file begins with."""
        head = stream.read(HEAD)
        sha, done = hashlib.sha256(), 0
        known = dict(self._known.get((source, ""), {}))
        if len(head) == HEAD:
            known |= self._known.get((source, hashlib.sha256(head).hexdigest()), {})
        best = None
        for offset in sorted(offset for offset in known if offset <= size):
            while done < offset and (piece := head or stream.read(_PIECE)):
                piece, head = piece[: offset - done], piece[offset - done :]
                sha.update(piece)
                done += len(piece)
            best = known[offset].get(sha.hexdigest(), best) if done == offset else best
        return best

    def sessions(self, source: str) -> set[str]:
        """Return the sessions of a source."""
        return {name for entry in self.entries if entry.source == source for name in entry.sessions}

    def session_of(self, source: str, own: str) -> str:
        """Return the session with the id ``own`` in a source, or ``""``."""
        return self._ids.get((source, own), "")

    def _remember(self, entry: Entry) -> None:
        self.entries.append(entry)
        if entry.offset:
            same = self._known.setdefault((entry.source, entry.head), {})
            same.setdefault(entry.offset, {})[entry.digest] = entry
        self._ids |= {(entry.source, own): session for own, session in entry.ids.items()}


def _line(entry: Entry) -> bytes:
    return json.dumps(asdict(entry)).encode() + b"\n"


def _entry(line: bytes) -> Entry | None:
    try:
        entry = Entry(**json.loads(line))
        sizes = [entry.offset, entry.lines, *entry.sessions.values()]
        texts = [entry.source, entry.path, entry.origin, entry.head, entry.digest]
        texts += entry.ids.values()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    are_sizes = all(type(size) is int and 0 <= size < sys.maxsize for size in sizes)
    return entry if are_sizes and all(isinstance(text, str) for text in texts) else None


# ---- reading ----

_HEAD: Final = 1 << 16
_SAMPLED: Final = 50


class _Reading:
    """A file that is being read.

    Attributes:
        offset: The number of bytes read.
        lines: The number of elements, or lines, read.
        unfinished: Whether the last line is still being written.
    """

    def __init__(self, stream: Opened) -> None:
        """Read ``stream`` from its beginning."""
        self.offset = 0
        self.lines = 0
        self.unfinished = False
        self._stream = stream
        self._beginning = b""
        self._digest = hashlib.sha256()

    @property
    def head(self) -> str:
        """The SHA-256 of the beginning, once there is enough of it."""
        enough = len(self._beginning) == HEAD
        return hashlib.sha256(self._beginning).hexdigest() if enough else ""

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes read."""
        return self._digest.hexdigest()

    def _piece(self, size: int) -> bytes:
        return self._take(self._stream.read(size))

    def _take(self, data: bytes) -> bytes:
        self._digest.update(data)
        self.offset += len(data)
        if len(self._beginning) < HEAD:
            self._beginning += data[: HEAD - len(self._beginning)]
        return data


class Elements(_Reading):
    """A file that is one JSON value."""

    def __iter__(self) -> Iterator[Record | Skipped]:
        """Yield the records, and what is skipped."""
        pieces = iter(partial(self._piece, _PIECE), b"")
        for found in elements(pieces):
            self.lines = found.line
            yield found
        for _ in pieces:
            pass  # the bytes after the end of the value belong to the digest, too


class Lines(_Reading):
    """A file with one record a line."""

    def __init__(self, stream: Opened, offset: int = 0, lines: int = 0) -> None:
        """Read ``stream`` after its first ``offset`` bytes, which are ``lines`` lines."""
        super().__init__(stream)
        while self.offset < offset and self._piece(min(offset - self.offset, _PIECE)):
            pass
        self.lines = lines

    def __iter__(self) -> Iterator[Record | Skipped]:
        """Yield the records, and what is skipped."""
        while line := self._stream.readline():
            found = parse(line, self.lines + 1, self.offset)
            if not line.endswith(b"\n") and isinstance(found, Skipped):
                self.unfinished = True
                return
            self._take(line)
            self.lines += 1
            if found is not None:
                yield found


Reading = Lines | Elements


def is_one_value(stream: Opened) -> bool:
    """Whether a file is one JSON value, not one a line; ``stream`` is at its beginning."""
    head = stream.read(_HEAD)
    first, line_end, _ = head.partition(b"\n")
    is_list = head.removeprefix(_MARK).lstrip()[:1] == b"["
    # The first line of an indented value is only its beginning.
    return is_list or (line_end != b"" and first.rstrip()[-1:] in (b"{", b"[", b","))


def sample(reading: Reading) -> list[Any]:
    """Return the first values of a file."""
    records = (found.value for found in reading if isinstance(found, Record))
    return list(islice(records, _SAMPLED))
