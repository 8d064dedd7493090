"""What a memory cites: lines of files of its project, and whether they are still there.

``src/a.py#L10-20@digest`` holds as long as these lines stand in the file, wherever they moved;
line ends and the blanks before them make no difference. Only the digest is kept, never the lines,
and looking never changes it. A citation may have come with a hostile clone: a file is read only
inside the project, through no link, if it is a regular file of at most :data:`LARGEST` bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from engramdown.errors import InvalidEngramError, StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.settings import FOLDER
from engramdown.storage.disk import Disk

# How many citations of a memory count, and how large a cited file may be, in bytes.
MOST: Final = 4
LARGEST: Final = 1024 * 1024
# What is read for one context or one report at most, in bytes; each line that is compared counts as
# some more. What goes beyond counts as unchanged.
_IN_ALL: Final = 16 * LARGEST
_LINE: Final = 32

# Stands behind what may no longer hold, where a model reads it. It names no file, as the name may
# have come with git.
CHANGED: Final = "(may be out of date: the code that it cites has changed)"

_FORM: Final = re.compile(
    r"(?P<path>[^#,:\\]{1,300}?)(?:#L(?P<first>[1-9]\d{0,6})(?:-L?(?P<last>[1-9]\d{0,6}))?)?"
    r"(?:@(?P<digest>[0-9a-f]{16}))?"
)
# Parts of a path that lead out of the project, or into memory and git: a digest of a line of memory
# would still tell it after it was erased.
_CLOSED: Final = frozenset({"", ".", "..", FOLDER, ".git"})
_ALLOWED: Final = "a file inside the project, with its lines: src/a.py#L10-20"
_PRIME: Final = 2**61 - 1
_BASE: Final = 1_000_003

State = Literal["holds", "changed", "missing"]


class Citation(NamedTuple):
    """Some lines of a file.

    Attributes:
        path: The file, relative to the project, with ``/``.
        first: The first line, from 1; 0 if the whole file is cited.
        last: The last line, included.
        digest: What the lines said, or ``""`` if nobody looked yet.
    """

    path: str
    first: int = 0
    last: int = 0
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> Citation | None:
        """Return what ``text`` cites, or ``None`` if it is no file inside a project.

        >>> Citation.parse("src/a.py#L10-20"), Citation.parse("../a.py")
        (Citation(path='src/a.py', first=10, last=20, digest=''), None)
        """
        match = _FORM.fullmatch(text)
        if match is None or not text.isprintable():
            return None
        parts = match["path"].split("/")
        first = int(match["first"] or 0)
        last = int(match["last"] or first)
        if last < first or not _CLOSED.isdisjoint(map(str.casefold, parts)):
            return None
        return cls(match["path"], first, last, match["digest"] or "")

    def __str__(self) -> str:
        """Return it as it is written."""
        end = f"-{self.last}" if self.last > self.first else ""
        return self.place + end + (f"@{self.digest}" if self.digest else "")

    @property
    def place(self) -> str:
        """The file and its first line: ``src/a.py#L10``."""
        return f"{self.path}#L{self.first}" if self.first else self.path


class Citations:
    """The cited files of one project, each read once."""

    def __init__(self, project: Path | None = None) -> None:
        """Read below the folder ``project``; without one, nothing is cited."""
        self._project = project
        self._disk = Disk(limit=LARGEST)
        self._left = _IN_ALL
        self._files: dict[str, bytes | None] = {}
        self._numbers: dict[str, list[int]] = {}

    def states(self, cites: str) -> list[tuple[str, State]]:
        """Return each citation of a memory, as it is written, and its state.

        A citation that nobody can read, or that leaves the project, is ``missing``.
        """
        if not cites or self._project is None:
            return []
        return [(text, self._state(Citation.parse(text))) for text in cites.split(",")[:MOST]]

    def has_changed(self, entry: Entry) -> bool:
        """Whether something that a memory of the project cites is not as it was."""
        own = entry.cites if entry.scope == "project" else ""
        return any(state != "holds" for _, state in self.states(own))

    def told(self, entry: Entry) -> str:
        """Return the text of a memory as a model reads it, marked if it may no longer hold."""
        return f"{entry.text} {CHANGED}" if self.has_changed(entry) else entry.text

    def sealed(self, cites: str) -> str:
        """Return the citations with the digests of what they cite; one that has it keeps it.

        Raises:
            InvalidEngramError: If one of them cannot be cited.
        """
        if self._project is None:
            raise InvalidEngramError("cites", "is only for a memory of a project with files")
        texts = list(dict.fromkeys(filter(None, map(str.strip, cites.split(",")))))
        if len(texts) > MOST:
            raise InvalidEngramError("cites", f"names {len(texts)} places; {MOST} are allowed")
        return ",".join(map(self._seal, texts))

    def _seal(self, text: str) -> str:
        # Imported here: only this needs it.
        from engramdown.secrets.redaction import find_secrets

        cited = Citation.parse(text.removeprefix("./"))
        if cited is None:
            raise InvalidEngramError("cites", f"{text[:80]!r} is not allowed; name {_ALLOWED}")
        if cited.digest:
            return str(cited)
        data = self._read(cited.path)
        if data is None:
            most = f"a file of at most {LARGEST >> 20} MB inside the project"
            reason = f"{cited.path!r} is not {most}; links are not followed"
            raise InvalidEngramError("cites", reason)
        lines = _lines(data)
        own = lines[max(cited.first - 1, 0) : cited.last or None]
        if cited.last > len(lines) or not any(own):
            size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
            reason = f"{text!r} names no lines with words; the file has {size}"
            raise InvalidEngramError("cites", reason)
        # The digest of a short secret tells it to whoever tries them all.
        if find_secrets(b"\n".join(own).decode("utf-8", "replace")):
            raise InvalidEngramError("cites", f"{text!r} holds a secret; cite other lines")
        return str(cited._replace(digest=next(_digests([*map(_number, own)], len(own)))))

    def _state(self, cited: Citation | None) -> State:
        if cited is None:
            return "missing"
        if self._left < 0 and cited.path not in self._files:
            return "holds"
        data = self._read(cited.path)
        if data is None:
            return "missing"
        if not cited.digest or self._left < 0:
            return "holds"
        if cited.path not in self._numbers:
            self._numbers[cited.path] = [*map(_number, _lines(data))]
        # Most lines stand where they stood.
        numbers = self._numbers[cited.path]
        own = numbers[max(cited.first - 1, 0) : cited.last or None]
        self._left -= _LINE * len(own)
        if cited.digest in _digests(own, len(own)):
            return "holds"
        self._left -= _LINE * len(numbers)
        size = cited.last - cited.first + 1 if cited.first else len(numbers)
        return "holds" if cited.digest in _digests(numbers, size) else "changed"

    def _read(self, path: str) -> bytes | None:
        """Return the bytes of a file, ``None`` if there is no such file inside the project."""
        if path not in self._files:
            self._files[path] = self._load(path)
        return self._files[path]

    def _load(self, path: str) -> bytes | None:
        try:
            # With a link on the way it would lead elsewhere.
            place = Path(os.path.realpath(self._project or ""), path)
            data = self._disk.read(place) if os.path.realpath(place) == str(place) else None
        except (OSError, StoreError, ValueError):
            return None
        if data is not None:
            self._left -= len(data) + _LINE * data.count(b"\n")
        return data


def _lines(data: bytes) -> list[bytes]:
    return [line.rstrip() for line in data.removesuffix(b"\n").split(b"\n")]


def _digests(numbers: Sequence[int], size: int) -> Iterator[str]:
    """Yield the digest of each run of ``size`` lines: a rolling hash, as moved lines are common."""
    top, value = pow(_BASE, size, _PRIME), 0
    for at, number in enumerate(numbers):
        value = (value * _BASE + number) % _PRIME
        if at >= size:
            value = (value - numbers[at - size] * top) % _PRIME
        if at >= size - 1:
            yield f"{value:016x}"


def _number(line: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(line, digest_size=7).digest())
