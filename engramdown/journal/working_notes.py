"""The notes on one session: read, replaced, continued, taken back, for any number of writers.

Reading creates nothing; without notes there is an empty text. What was acknowledged is on the disk.
What a person saved meanwhile is never lost: a replaced text is kept first, and can be brought back;
replacing a text that has changed since it was read is refused. Another text changes the value of
``updated`` and the lines that differ, and leaves every other byte. No secret is written. Earlier
texts are lines of ``gists/<session>.jsonl``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import moment
from engramdown.errors import EngramdownError, InvalidNoteError, NotesChangedError
from engramdown.journal.page import LONGEST, Author, normalized, without_secrets
from engramdown.markdown.front_matter import parse_strict
from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.exchange import TEMPORARY, Swap
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.changes import FOLDER as EPISODES
from engramdown.transcripts.episode import check_session_id
from engramdown.transcripts.summary_log import GistLog, record_of

# The name of the folder in that of a scope.
FOLDER: Final = "working"

_SUFFIX: Final = ".md"


class Note(NamedTuple):
    """Notes as they are on the disk.

    Attributes:
        text: What they say; ``""`` if there are none.
        updated: When they were written last, UTC, or ``""``.
        digest: What a later :meth:`WorkingNotes.write` may expect to find; ``""`` for no file.
        hidden: The kinds of secrets that were hidden as they were written.
        own: Whether an agent wrote all of them, and nobody changed them since.
    """

    text: str = ""
    updated: str = ""
    digest: str = ""
    hidden: tuple[str, ...] = ()
    own: bool = False


class WorkingNotes:
    """The notes on one session.

    Attributes:
        root: The folder of the scope.
        session: The id of the session.
        path: The file.
    """

    def __init__(
        self, root: Path, session: str, *, disk: Disk | None = None, lock: FolderLock | None = None
    ) -> None:
        """Keep notes in the scope's folder ``root``; nothing is created before the first write.

        Args:
            root: The ``.engramdown`` folder of the scope.
            session: The id of the session.
            disk: The system calls; durable, 16 MB a file, unless given.
            lock: That of the writers of transcripts; one of the same file unless given.

        Raises:
            InvalidSessionError: If the id is invalid.
        """
        self.root = root
        self.session = check_session_id(session)
        self.path = path_of(root, session)
        self._disk = disk or Disk()
        self._swap = Swap(self._disk)
        self._episodes = Disk()
        self._lock = lock or FolderLock(root / EPISODES / ".lock", self._episodes, LOCK_TIMEOUT)
        self._log = GistLog(root, self._episodes, self._lock)

    # ---- reading ----

    def read(self) -> Note:
        """Return the notes.

        Raises:
            StoreError: If they cannot be read.
        """
        data = self._load()
        return Note() if data is None else _note(_decoded(data), data)

    def history(self) -> list[Version]:
        """Return the replaced texts, each once, the newest first, without the present one.

        Raises:
            StoreError: If they cannot be read.
        """
        known, found = {self.read().text}, []
        for version in self._versions():
            if version.text not in known:
                known.add(version.text)
                found.append(version)
        return found

    def earlier(self, number: int) -> str:
        """Return a text that was replaced: which one of :meth:`history`, 1 for the newest.

        Raises:
            EngramdownError: If there is no such text.
            StoreError: If they cannot be read.
        """
        versions = self.history()
        if not 1 <= number <= len(versions):
            known = f"there are {len(versions)}, 1 is the newest" if versions else "there is none"
            raise EngramdownError(f"{self.path}: no earlier text {number}; {known}")
        return versions[number - 1].text

    # ---- writing ----

    def write(
        self, text: str, *, by: Author = "agent", expected: str | None = None, own: bool = False
    ) -> Note:
        """Replace the notes; the text before is kept in :meth:`history`.

        Args:
            text: What to keep; secrets in new lines are hidden.
            by: Who writes.
            expected: The digest of the notes that were read, if no others may be replaced.
            own: Whether to mark the notes as written by an agent alone.

        Raises:
            InvalidNoteError: If it is too long.
            NotesChangedError: If other notes stand there than were expected.
            StoreError: If it could not be written; the notes are as before.
        """
        kept, hidden = without_secrets("text", text)
        kinds = hidden

        def safe(old: str) -> str:
            nonlocal kinds
            if not hidden:
                return kept
            # Imported here: it compiles many patterns, and reading needs none.
            from engramdown.secrets.redaction import find_secrets, redact

            # Of the lines that are new only.
            whole = normalized(text)
            start, end = new_lines(old, whole)
            new = whole[start:end]
            kinds = tuple(dict.fromkeys(secret.kind for secret in find_secrets(new)))
            return normalized(f"{whole[:start]}{redact(new)}{whole[end:]}")

        return self._changed(safe, by, expected, own=own)._replace(hidden=kinds)

    def append(self, text: str, *, by: Author = "agent") -> Note:
        """Add a text below the notes; the arguments and errors are those of :meth:`write`."""
        kept, hidden = without_secrets("text", text)
        if not kept:
            raise InvalidNoteError("text", "is empty; say what to keep")

        def longer(before: str) -> str:
            if len(before) + len(kept) >= LONGEST:
                reason = f"would make {len(before) + len(kept) + 1:,} characters of the notes"
                raise InvalidNoteError("text", f"{reason}, {LONGEST:,} are allowed; replace them")
            return f"{before}\n{kept}" if before else kept

        return self._changed(longer, by, None)._replace(hidden=hidden)

    def delete(self, *, by: Author = "agent") -> bool:
        """Remove the notes; ``False`` if there are none. They can be restored.

        Raises:
            StoreError: If they could not be removed.
        """
        if self._load() is None:
            return False
        with self._hold():
            self._swap.remove(self.path, lambda data: self._keep(text_of(_decoded(data)), by))
        return True

    def restore(self, number: int = 1, *, by: Author = "person") -> Note:
        """Bring back a text that was replaced; the present one is kept like any other.

        Args:
            number: Which one of :meth:`history`, 1 for the newest.
            by: Who asks for it.

        Raises:
            EngramdownError: If there is no such text.
            StoreError: If it could not be written.
        """
        return self.write(self.earlier(number), by=by)

    # ---- steps ----

    def move(self, other: WorkingNotes, *, by: Author = "agent") -> None:
        """Move the notes to another session, which has none; every byte of them stays.

        They are there before they are gone here, where they can be restored.

        Raises:
            NotesChangedError: If the other one has notes.
            StoreError: If it could not be written.
        """
        data = self._load()
        if data is not None:
            other._edit(lambda _: data, expected="")
            self.delete(by=by)

    def _changed(
        self, make: Callable[[str], str], by: Author, expected: str | None, *, own: bool = False
    ) -> Note:
        def changed(before: bytes | None) -> bytes:
            page = _decoded(before or b"")
            old, text = text_of(page), make(text_of(page))
            if before is not None and text == old:
                return before
            if not text.startswith(old):
                self._keep(old, by)
            return with_text(page, text, _now(), own=own).encode("utf-8", "surrogateescape")

        return self._edit(changed, expected)

    def _edit(self, change: Callable[[bytes | None], bytes], expected: str | None) -> Note:
        """Change the file, if it holds what is expected whenever somebody saves it meanwhile."""

        def checked(before: bytes | None) -> bytes:
            if expected is not None and expected != _digest(before):
                raise NotesChangedError(str(self.path))
            return change(before)

        with self._hold():
            data = self._swap.edit(self.path, checked)
        return _note(_decoded(data), data)

    def _keep(self, text: str, by: Author) -> None:
        """Keep a text that is about to be replaced, unless it is kept already; in the lock."""
        if not text:
            return
        line = write_version(Version(_now(), by, text))

        def unless_known() -> list[bytes]:
            newest = next(iter(self._versions()), None)
            return [] if newest is not None and newest.text == text else [line]

        self._log.add(self.session, None, unless_known)

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        """Hold the lock of the transcripts, with the folder in order."""
        with named_errors(self.path, "written"):
            self._disk.inside(self.path, self.root)
            self._disk.make_folder(self.path.parent)
            self._episodes.make_plain_folder(self.root / EPISODES, durable=True)
            self._disk.check_writable(self.path.parent)
            with self._lock.hold(LOCK_TIMEOUT):
                # For git: under one name, so that only who holds the lock writes it. What was said
                # stays on this machine, whatever git is told above.
                note = self.path.with_name(".gitignore")
                if not self._disk.exists(note):
                    self._disk.create(note, b"*\n")
                self._swap.tidy(self.path.parent)
                yield

    def _versions(self) -> list[Version]:
        path = self._log.path(self.session)
        with named_errors(path, "read"):
            return read_versions(self._episodes.load(path) or b"")

    def _load(self) -> bytes | None:
        with named_errors(self.path, "read"):
            self._disk.inside(self.path, self.root)
            return self._disk.read(self.path)


def path_of(root: Path, session: str) -> Path:
    """Return the file of the notes on a session."""
    return root / FOLDER / f"{session}{_SUFFIX}"


def pieces(root: Path, session: str, disk: Disk) -> list[Path]:
    """Return what may hold notes on a session: the file, and what a crash left beside it."""
    path = path_of(root, session)
    other = re.compile(re.escape(session) + r"\.other-[0-9a-f]{8}\.md")
    found = [path]
    for name in disk.files(path.parent):
        temporary = TEMPORARY.fullmatch(name)
        if (temporary and temporary[1] == path.name) or other.fullmatch(name):
            found.append(path.with_name(name))
    return found


def _now() -> str:
    return f"{moment()[:19]}Z"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _note(page: str, data: bytes | None) -> Note:
    return Note(text_of(page), updated_of(page), _digest(data), own=is_own(page))


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()[:16]


_KIND: Final = "note"
_AGENT: Final = "agent"
_LINE: Final = re.compile(r"[^\n]*+\n|[^\n]++\Z")
_BLANK: Final = "---\nupdated:\n---\n"


class Version(NamedTuple):
    """Notes as they were before somebody replaced them.

    Attributes:
        ts: When they were replaced.
        by: By whom: ``person`` or ``agent``.
        text: What they said.
    """

    ts: str
    by: str
    text: str


def text_of(page: str) -> str:
    r"""Return the text of a page.

    >>> text_of("---\nupdated: 2026-02-27T10:15:00Z\n---\n\nThe user is tired.\n")
    'The user is tired.'
    """
    return normalized(parse_strict(page).body)


def updated_of(page: str) -> str:
    """Return when a page says that it was written last, or ``""``."""
    return parse_strict(page).text("updated")


def with_text(page: str, text: str, updated: str, *, own: bool = False) -> str:
    r"""Return a page with another text.

    Args:
        page: The page so far; ``""`` for a new one.
        text: The new text.
        updated: When this is, UTC.
        own: Whether an agent wrote all of the text.

    >>> with_text("", "Be brief.", "2026-02-27T10:15:00Z")
    '---\nupdated: 2026-02-27T10:15:00Z\n---\n\nBe brief.\n'
    """
    front = parse_strict(page)
    end = front.line_end
    changed = _changed(front.body, text, end)
    if not front.opening:
        if changed and not parse_strict(changed).opening:
            return changed  # What a person wrote without a front matter goes on without one.
        # All of it is text, and is replaced; a byte order mark stays in front.
        mark = page[: page.startswith("\ufeff")]
        front, changed = parse_strict(f"{mark}{_BLANK}".replace("\n", end)), ""
    shown = normalized(text).replace("\n", end)
    closing = front.closing if front.closing.endswith("\n") else f"{front.closing}{end}"
    body = changed or (f"{end}{shown}{end}" if shown else "")
    front = front._replace(closing=closing, body=body).with_value("updated", updated)
    return (front.with_value(_AGENT, _digest_of_text(text)) if own else front).render()


def is_own(page: str) -> bool:
    """Whether an agent wrote all of the text of a page, and nobody changed it since."""
    front = parse_strict(page)
    return front.text(_AGENT) == _digest_of_text(front.body)


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(normalized(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _changed(old: str, text: str, end: str) -> str:
    """Return ``old`` with the lines of ``text``; those that stay keep their bytes.

    Args:
        old: The present text.
        text: The new text.
        end: How a line ends that is new.

    Returns:
        ``""`` if no line stays.
    """
    were, are = normalized(old).split("\n"), normalized(text).split("\n")
    before, behind = _common(were, are)
    if not normalized(old) or before + behind == 0:
        return ""
    lines = _LINE.findall(old)
    lead = next(at for at, line in enumerate(lines) if line.strip(" \t\r\n"))
    top, rest = lines[: lead + before], lines[lead + before :]
    gone, bottom = rest[: len(were) - before - behind], rest[len(were) - before - behind :]
    new = are[before : len(are) - behind]
    ends = [*map(_end, gone), *[end] * len(new)]
    if new and before == len(were):
        # It is not the last one any more: spaces behind it would be part of the text.
        top[-1] = f"{were[-1]}{_end(top[-1])}"
    rows = [*top, *(f"{line}{ends[at]}" for at, line in enumerate(new)), *bottom]
    rows[:-1] = [row if row.endswith("\n") else f"{row}{end}" for row in rows[:-1]]
    if not old.endswith("\n"):
        rows[-1] = rows[-1].removesuffix(_end(rows[-1]))
    return "".join(rows)


def new_lines(old: str, text: str) -> tuple[int, int]:
    r"""Return where in ``text`` the lines begin and end that are not those of ``old``.

    >>> new_lines("one\ntwo\nthree", "one\n2\nthree")
    (4, 5)
    """
    are = text.split("\n")
    before, behind = _common(old.split("\n"), are)
    start = len("\n".join([*are[:before], ""]))
    end = len(text) - len("\n".join(["", *are[len(are) - behind :]]))
    return min(start, len(text)), max(min(start, len(text)), end)


def _common(some: Sequence[str], others: Sequence[str]) -> tuple[int, int]:
    """Return how many lines are the same at the beginning, and how many of the rest at the end."""
    most = min(len(some), len(others))
    before = next((at for at in range(most) if some[at] != others[at]), most)
    left = most - before
    behind = next((at for at in range(left) if some[-at - 1] != others[-at - 1]), left)
    return before, behind


def _end(line: str) -> str:
    """Return how a line ends."""
    return line[len(line.rstrip("\r\n")) :]


def write_version(version: Version) -> bytes:
    """Return the line of a version."""
    return json.dumps({"kind": _KIND, **version._asdict()}).encode() + b"\n"


def read_versions(log: bytes) -> list[Version]:
    r"""Return the versions in a log, the newest first.

    >>> line = write_version(Version("2026-02-27T10:15:00Z", "agent", "Be brief."))
    >>> [version.text for version in read_versions(b'torn\n{"kind":"gist"}\n' + line)]
    ['Be brief.']
    """
    found = map(_read, reversed(log.split(b"\n")))
    return [version for version in found if version is not None]


def without_versions(log: bytes) -> bytes:
    """Return a log without its versions of notes."""
    return b"\n".join(line for line in log.split(b"\n") if _read(line) is None)


def _read(line: bytes) -> Version | None:
    value = record_of(line, _KIND) if _KIND.encode() in line else None
    if value is None:
        return None
    fields = [value.get(name, "") for name in Version._fields]
    return Version(*fields) if all(isinstance(field, str) for field in fields) else None
