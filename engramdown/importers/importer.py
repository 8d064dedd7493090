"""Imports transcripts of other programs, and removes them again.

A file is recognised by its content, not by its name. Importing it twice changes nothing; of a file
that grew only the new lines are imported; the next import finishes one that was killed, without
duplicates. Times are those of the source: an episode without a time gets that of the episode before
it in its session, the first one that of the conversation, or else of the file. Every skipped line
is counted with a reason, and none stops an import.

The same conversation gives the same name and the same lines with the same ids, at any time and on
any machine. Texts are redacted and shortened like those recorded here. Whole texts are on the disk
before the lines that show them shortened, lines are appended under the lock of the transcripts, and
each part of a file is written before the ledger mentions it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from engramdown.clock import moment
from engramdown.errors import StoreError
from engramdown.importers.inputs import (
    FOLDER,
    Elements,
    Entry,
    Input,
    Ledger,
    Lines,
    Reading,
    UnreadableError,
    is_one_value,
    sample,
)
from engramdown.importers.records import (
    FILE,
    Conversation,
    Item,
    Message,
    Record,
    Skipped,
    Source,
    digest,
)
from engramdown.settings import LOCK_TIMEOUT, EpisodeSettings
from engramdown.storage import Disk, FolderLock
from engramdown.transcripts import (
    PAYLOADS,
    SUFFIX,
    VERSION,
    Episode,
    Payloads,
    SessionLog,
    encode,
    episode_id,
    lines,
    read_line,
    shorten_for_line,
    stamp,
)

# So many places of each reason are remembered.
_PLACES: Final = 5


@dataclass(frozen=True, slots=True)
class SessionReport:
    """The imported part of one session.

    Attributes:
        session: Its id.
        key: The key that distinguishes it from others of its file.
        title: Its title in the source.
        started: The time of the first episode read, as in a line.
        fresh: Whether the session is new.
        new: The number of new episodes.
        known: The number of episodes read that were imported before.
    """

    session: str
    key: str
    title: str
    started: str
    fresh: bool
    new: int
    known: int


@dataclass(slots=True)
class Reason:
    """A reason for skipping lines.

    Attributes:
        count: The number of skipped lines.
        damaged: Whether they should have been readable.
        lines: The numbers of the first few.
    """

    count: int = 0
    damaged: bool = False
    lines: list[int] = field(default_factory=list)


@dataclass(slots=True)
class FileReport:
    """The result of importing one file.

    Attributes:
        path: Where it is.
        source: The name of its source, or ``""``.
        state: ``read``; ``unchanged`` since the last import; ``unknown``, of no source; ``failed``.
        error: Why it failed.
        sessions: The imported sessions.
        skipped: The skipped lines, by reason.
        unfinished: Whether its last line is still being written.
    """

    path: str
    source: str = ""
    state: Literal["read", "unchanged", "unknown", "failed"] = "read"
    error: str = ""
    sessions: list[SessionReport] = field(default_factory=list)
    skipped: dict[str, Reason] = field(default_factory=dict)
    unfinished: bool = False

    def skip(self, skipped: Skipped) -> None:
        """Count a skipped line."""
        reason = self.skipped.setdefault(skipped.reason, Reason(damaged=skipped.damaged))
        reason.count += 1
        if len(reason.lines) < _PLACES:
            reason.lines.append(skipped.line)


@dataclass(slots=True)
class Report:
    """The result of an import.

    Attributes:
        files: The result for each file.
    """

    files: list[FileReport] = field(default_factory=list)

    @property
    def sessions(self) -> list[SessionReport]:
        """The imported sessions, in the order in which they were read."""
        return [brought for file in self.files for brought in file.sessions]

    @property
    def new(self) -> int:
        """The number of new episodes."""
        return sum(brought.new for brought in self.sessions)

    @property
    def known(self) -> int:
        """The number of episodes read that were imported before."""
        return sum(brought.known for brought in self.sessions)

    def skipped(self, *, damaged: bool) -> Counter[str]:
        """Return the number of skipped lines, by reason."""
        counted: Counter[str] = Counter()
        for file in self.files:
            for name, reason in file.skipped.items():
                if reason.damaged == damaged:
                    counted[name] += reason.count
        return counted

    def states(self) -> Counter[str]:
        """Return the number of files in each state."""
        return Counter(file.state for file in self.files)


# ---- sources ----


@cache
def sources() -> Mapping[str, Source]:
    """Return the sources that can be imported, by name."""
    # Imported here: a hook reads the files of one program only.
    from engramdown.importers.anton import ANTON
    from engramdown.importers.chatgpt import CHATGPT
    from engramdown.importers.claude import CLAUDE
    from engramdown.importers.claude_code import CLAUDE_CODE
    from engramdown.importers.openai import OPENAI
    from engramdown.importers.openclaw import OPENCLAW

    # Stricter formats come first.
    in_order = (CLAUDE_CODE, CHATGPT, CLAUDE, ANTON, OPENCLAW, OPENAI)
    return {source.name: source for source in in_order}


def recognised(values: Iterable[Any]) -> Source | None:
    """Return the source of the first value that one recognises."""
    for value in values:
        for source in sources().values():
            if source.knows(value):
                return source
    return None


# ---- lines ----

_BITS: Final = 30
_SAID: Final = ("name", "call", "ms", "error", "model", "turn")


class NewLine(NamedTuple):
    """A line to append.

    Attributes:
        id: The id of the episode.
        at: Its time.
        line: The encoded line.
        mark: Lines with equal marks are duplicates.
        event: The name of the event, or ``""``.
        payload: The digest of its whole text and the text, if it is stored apart.
    """

    id: str
    at: datetime
    line: bytes
    mark: str
    event: str = ""
    payload: tuple[str, str] | None = None


def message_line(said: Message, at: datetime, settings: EpisodeSettings) -> NewLine:
    """Return the line of something said at ``at``."""
    identity = digest(said.origin, said.role, said.name, said.call, said.text)
    text, length, payload = shorten_for_line(said.role, said.text, settings)
    known: dict[str, Any] = {"ts": stamp(at), "id": _id(at, identity), "role": said.role}
    known["text"] = text
    known |= {name: getattr(said, name) for name in _SAID}
    known |= {"cut": length, "payload": payload and payload[0], "meta": said.meta}
    return NewLine(known["id"], at, encode(known, {}), identity, payload=payload)


def event_line(
    event: str, at: datetime, more: Mapping[str, Any], meta: Mapping[str, Any], salt: str = ""
) -> NewLine:
    """Return the line of an event with its own fields ``more``; ``salt`` makes its id unique."""
    identity = digest(event, salt, str(more.get("session", "")))
    known: dict[str, Any] = {"ts": stamp(at), "id": _id(at, identity), "role": "event", "text": ""}
    line = encode(known | {"meta": meta, "event": event}, more)
    return NewLine(known["id"], at, line, identity, event)


def _id(at: datetime, identity: str) -> str:
    milliseconds = int(at.timestamp()) * 1_000 + at.microsecond // 1_000
    return episode_id(milliseconds, int(identity, 16) & ((1 << _BITS) - 1))


# ---- one session ----


# These events, by a person, do not reopen a session that has ended.
_MARKS: Final = frozenset({"archive", "exclude", "include", "redact"})


@dataclass(slots=True)
class _Writer:
    """The state of one session during an import.

    Attributes:
        importer: Appends the lines.
        session: Its id.
        began: Whether it existed before.
        purged: Whether it was imported and removed since: then nothing is written.
        new: The number of new episodes.
        known: The number of episodes that were imported before.
        last: The time of the last episode, or when the session began.
        first: The time of the first episode read.
        seq: The number of its last line, -1 if it has none.
        elsewhere: The ids of the lines of another session, which it may begin with a copy of.
        copies_purged: Whether that session was imported and removed since.
        size: The size of the waiting lines in bytes.
    """

    importer: Importer
    session: str
    began: bool = False
    purged: bool = False
    new: int = 0
    known: int = 0
    last: datetime | None = None
    first: datetime | None = None
    seq: int = -1
    elsewhere: frozenset[str] = frozenset()
    copies_purged: bool = False
    size: int = 0
    _last_id: str = ""
    _ended: bool = False
    _there: Counter[str] = field(default_factory=Counter)
    _marks: set[str] = field(default_factory=set)
    _waiting: list[NewLine] = field(default_factory=list)

    def look(self, after: int) -> None:
        """Read the session; lines with a number above ``after`` may be read again."""
        for episode in self.importer.episodes(self.session) or ():
            self.began, self.seq = True, episode.seq
            if episode.event not in _MARKS:
                self._ended = episode.event == "end"
            if episode.seq > after:
                self._there[episode.id] += 1
            # A line without a time gets the same time when it is read again.
            if self.last is None or (episode.seq <= after and episode.role != "event"):
                self.last, self._last_id = episode.at, episode.id

    def look_elsewhere(self, session: str) -> None:
        """Read another session, or notice that it was removed."""
        episodes = self.importer.episodes(session)
        self.copies_purged = episodes is None
        self.elsewhere = frozenset(each.id for each in episodes or ())

    @property
    def is_copy(self) -> bool:
        """Whether the session has only lines of the other one."""
        copies = bool(self.elsewhere) or self.copies_purged
        return copies and not self.began and not self.new

    def add(self, line: NewLine) -> None:
        """Add a line, unless the session has it."""
        if line.mark in self._marks:
            return
        self._marks.add(line.mark)
        counted = not line.event
        if self._there.get(line.id):
            self._there[line.id] -= 1
            self.known += counted
        else:
            self._put(line)
            self.new += counted
        if counted:
            self.first = self.first or line.at
            self.last, self._last_id = line.at, line.id

    def end(self) -> None:
        """End the session, unless it has ended."""
        if self.last is not None and not self._ended:
            self._put(event_line("end", self.last, {"reason": "import"}, {}, self._last_id))

    def flush(self) -> None:
        """Write the waiting lines."""
        if self._waiting and self.importer.dry:
            self.seq += len(self._waiting)
        elif self._waiting:
            self.seq = self.importer.append(self.session, self._waiting, begins=self.seq < 0)
        self._waiting, self.size = [], 0

    def _put(self, line: NewLine) -> None:
        self._waiting.append(line)
        self.size += len(line.line) + (len(line.payload[1]) if line.payload else 0)
        self._ended = line.event == "end"


# ---- one file ----

# Called with the number of bytes read since the last call.
Progress = Callable[[int], object]

# So many waiting bytes are written, and noted in the ledger.
_MOST_BYTES: Final = 4 * 1024 * 1024
_SPOKEN: Final = ("user", "assistant", "system")
_EMPTY: Final = "empty message"
_PURGED: Final = "of a session that was purged"
_COPIED: Final = "copied from a session that is here"


class _FileImport:
    """The import of one file."""

    def __init__(self, importer: Importer, ledger: Ledger, found: Input) -> None:
        self._importer = importer
        self._ledger = ledger
        self._found = found
        self._report = FileReport(found.path)
        self._before: Entry | None = None
        self._conversations: dict[str, Conversation] = {}
        self._writers: dict[str, _Writer] = {}
        self._written: dict[str, int] = {}
        self._ids: dict[str, str] = {}

    def bring(self, source: Source | None, progress: Progress) -> FileReport:
        """Read the file and write what is new.

        Args:
            source: Its source, or ``None`` to recognise it.
            progress: Called with the number of bytes read since the last call.
        """
        try:
            self._bring(source, progress)
        except UnreadableError as error:
            self._report.state, self._report.error = "failed", str(error)
            self._finish()
        return self._report

    def _bring(self, source: Source | None, progress: Progress) -> None:
        with self._found.open() as stream:
            looks_so = is_one_value(stream)
        one_value = looks_so and bool(self._sample(one_value=True))
        source = source or recognised(self._sample(one_value=one_value))
        if source is None:
            self._report.state = "unknown"
            return
        self._report.source = source.name
        with self._found.open() as stream:
            before = self._ledger.find(source.name, stream, self._found.size)
        if before is not None and before.offset == self._found.size:
            self._report.state = "unchanged"
            progress(self._found.size)
            return
        with self._found.open() as stream:
            reading: Reading = Elements(stream)
            if not one_value:
                self._before = before
                reading = Lines(stream, before.offset, before.lines) if before else Lines(stream)
            records = self._records(source, reading, progress)
            resumed = source.resume and source.resume(records, self._earlier)
            for item in resumed or source.read(records):
                self._take(source, item, reading.lines)
        self._report.unfinished = reading.unfinished
        self._finish()
        if self._before is not None and self._before.offset == reading.offset:
            self._report.state = "unchanged"
        else:
            self._note(source, reading)

    def _sample(self, *, one_value: bool) -> list[object]:
        with self._found.open() as stream:
            return sample(Elements(stream) if one_value else Lines(stream))

    def _records(self, source: Source, reading: Reading, progress: Progress) -> Iterator[Record]:
        """Yield the records; asking for the next one means that the one before is processed."""
        read = 0
        for record in reading:
            progress(reading.offset - read)
            read = reading.offset
            if isinstance(record, Skipped):
                self._report.skip(record)
                continue
            yield record
            self._finish(only_whole=True)
            if sum(writer.size for writer in self._writers.values()) > _MOST_BYTES:
                for writer in self._writers.values():
                    writer.flush()
                self._note(source, reading)

    def _earlier(self) -> Iterator[Record]:
        """Yield the records of earlier imports of this file."""
        known = self._before.offset if self._before else 0
        with self._found.open() as stream:
            reading = Lines(stream)
            for record in takewhile(lambda _: reading.offset <= known, reading):
                if isinstance(record, Record):
                    yield record

    def _take(self, source: Source, item: Item, line: int) -> None:
        if isinstance(item, Conversation):
            self._conversations[item.key] = item
            return
        if isinstance(item, Message) and item.role in _SPOKEN and not item.text.strip():
            item = Skipped(line, _EMPTY)
        if isinstance(item, Skipped):
            self._report.skip(item)
            return
        writer = self._writers.get(item.key) or self._begin(source, item)
        at = item.at or writer.last or self._found.changed
        new = message_line(item, at, self._importer.settings)
        if new.id in writer.elsewhere:
            self._report.skip(Skipped(line, _COPIED))
        elif writer.purged or (item.copied and writer.copies_purged):
            self._report.skip(Skipped(line, _PURGED))
        else:
            writer.add(new)

    def _begin(self, source: Source, said: Message) -> _Writer:
        conversation, ledger = self._conversations[said.key], self._ledger
        at = conversation.at or said.at or self._found.changed
        session = self._importer.name(source.name, conversation, self._origin, at)
        writer = self._writer(source, said.key, session)
        writer.last = writer.last or conversation.at
        first = ledger.session_of(source.name, conversation.id)
        if conversation.id and first in ("", session):
            self._ids[conversation.id] = session
        other = ledger.session_of(source.name, conversation.copies)
        if other not in ("", session):
            writer.look_elsewhere(other)
        if not writer.began and not writer.purged:
            above = conversation.parent
            values = {
                "session": session,
                "parent": self._ids.get(above) or ledger.session_of(source.name, above),
                "source": source.name,
                "title": conversation.title,
            }
            more = {"v": VERSION} | {key: value for key, value in values.items() if value}
            writer.add(event_line("start", at, more, conversation.meta))
        return writer

    def _writer(self, source: Source, key: str, session: str) -> _Writer:
        writer = self._writers[key] = _Writer(self._importer, session)
        writer.look(self._before.sessions.get(session, -1) if self._before else -1)
        # An imported session that somebody removed must not come back.
        writer.purged = not writer.began and session in self._ledger.sessions(source.name)
        return writer

    @property
    def _origin(self) -> str:
        """Where the file was at its first import."""
        return self._before.origin if self._before else self._found.path

    def _finish(self, *, only_whole: bool = False) -> None:
        """End and write all sessions, or only those whose conversation is complete."""
        for key, writer in list(self._writers.items()):
            conversation = self._conversations[key]
            if only_whole and not conversation.whole:
                continue
            if writer.purged or writer.is_copy:
                del self._writers[key]
                continue
            if self._importer.ends:
                writer.end()
            writer.flush()
            self._written[writer.session] = writer.seq
            started = stamp(writer.first) if writer.first else ""
            title, fresh = conversation.title, not writer.began
            self._report.sessions.append(
                SessionReport(writer.session, key, title, started, fresh, writer.new, writer.known)
            )
            del self._writers[key]

    def _note(self, source: Source, reading: Reading) -> None:
        """Note in the ledger what was read and written."""
        writers = self._writers.values()
        open_now = {writer.session: writer.seq for writer in writers if not writer.purged}
        if not self._importer.dry:
            entry = Entry(
                source=source.name,
                path=self._found.path,
                origin=self._origin,
                head=reading.head,
                digest=reading.digest,
                offset=reading.offset,
                lines=reading.lines,
                at=moment(),
                sessions=self._written | open_now,
                ids=self._ids,
            )
            self._ledger.add(entry)
        self._written = {}


# ---- many files ----

_NAME: Final = re.compile(r"(.+)-[0-9]{8}-([0-9a-f]{12})")
_SHORT: Final = 12


@dataclass(eq=False)
class Importer:
    """Imports into one folder of transcripts.

    Attributes:
        folder: The folder; it need not exist.
        settings: The settings of transcripts.
        disk: The system calls.
        dry: Whether nothing is written.
        ends: Whether imported sessions have ended; a running one has not.
        patience: The longest wait for a lock, in seconds.
    """

    folder: Path
    settings: EpisodeSettings
    disk: Disk = field(default_factory=Disk)
    dry: bool = field(default=False, kw_only=True)
    ends: bool = field(default=True, kw_only=True)
    patience: float = field(default=LOCK_TIMEOUT, kw_only=True)

    def __post_init__(self) -> None:
        """Read nothing yet."""
        self._names: dict[tuple[str, str], str] = {}
        self._durable = self.settings.durability == "full"
        self._lock = FolderLock(self.folder / ".lock", self.disk, self.patience)
        self._payloads = Payloads(self.folder / PAYLOADS, self.disk, durable=self._durable)

    def run(
        self,
        inputs: Iterable[Input],
        source: Source | None = None,
        progress: Progress = lambda _: None,
    ) -> Report:
        """Import files.

        Args:
            inputs: The files; see :func:`engramdown.importers.inputs.find_inputs`.
            source: Their source, or ``None`` to recognise each.
            progress: Called with the number of bytes read since the last call.

        Raises:
            LockTimeoutError: If another import runs for too long.
            StoreError: If there is something other than a file in the place of a transcript.
            OSError: If a transcript cannot be written; what was read before is written.
        """
        report = Report()
        with ExitStack() as stack:
            stack.callback(self._lock.close)
            if not self.dry:
                self._prepare()
                stack.enter_context(alone(self.folder, self.disk, self.patience))
            ledger = Ledger(self.folder, self.disk, durable=self._durable)
            stems = (name.removesuffix(SUFFIX) for name in self.disk.files(self.folder))
            matches = ((_NAME.fullmatch(stem), stem) for stem in stems)
            self._names = {(match[1], match[2]): stem for match, stem in matches if match}
            for each in inputs:
                file = _FileImport(self, ledger, each)
                report.files.append(file.bring(source, progress))
        return report

    def name(self, source: str, conversation: Conversation, origin: str, at: datetime) -> str:
        """Return the id of the session of a conversation.

        Args:
            source: The name of its source.
            conversation: The conversation.
            origin: Where its file was at its first import.
            at: When it began.
        """
        place = "" if conversation.everywhere else origin
        short = digest(source, place, conversation.key)[:_SHORT]
        return self._names.setdefault((source, short), f"{source}-{at:%Y%m%d}-{short}")

    def episodes(self, session: str) -> Iterator[Episode] | None:
        """Return the episodes of a session, or ``None`` if it does not exist."""
        path = self.folder / f"{session}{SUFFIX}"
        if self.disk.find(path) is None:
            return None
        return filter(None, (read_line(line) for _, line in lines(self.disk, path)))

    def append(self, session: str, new: list[NewLine], *, begins: bool) -> int:
        """Append lines to a session, or begin it with them; return the number of the last line.

        Raises:
            StoreError: If the session was removed meanwhile.
        """
        path = self.folder / f"{session}{SUFFIX}"
        data = [line.line for line in new]
        rest = data[1:] if begins else data
        payloads = [line.payload for line in new if line.payload is not None]

        def keep() -> None:
            for payload in payloads:
                self._payloads.keep(*payload)

        def start() -> bytes:
            if begins:
                return data[0]
            raise StoreError(f"{path}: was removed while it was imported; import again.")

        self._prepare()
        keep()
        with closing(SessionLog(path, self.disk, self._lock, durable=self._durable)) as log:
            # Store them again: a redaction may remove a text until these lines refer to it.
            last = log.append(rest, start, None, keep) + len(rest) - 1
        self._payloads.release(name for name, _ in payloads)
        return last

    def _prepare(self) -> None:
        """Create the folder, readable for the user alone."""
        if self.disk.make_plain_folder(self.folder, durable=self._durable):
            self.disk.save(self.folder / ".gitignore", b"*\n", durable=self._durable)


def import_running(
    folder: Path, settings: EpisodeSettings, transcript: Input, patience: float
) -> str | None:
    """Import the new part of a session of Claude Code that is still running.

    Args:
        folder: The folder of the transcripts.
        settings: The settings of transcripts.
        transcript: The file that Claude Code keeps.
        patience: The longest wait for a lock, in seconds.

    Returns:
        The id of the session if it has new lines, or ``""``; ``None`` if it is of another program.

    Raises:
        StoreError: If it cannot be read.
    """
    from engramdown.importers.claude_code import CLAUDE_CODE

    with transcript.open() as stream:
        if not any(map(CLAUDE_CODE.knows, sample(Lines(stream)))):
            return None
    importer = Importer(folder, settings, ends=False, patience=patience)
    file = importer.run([transcript], CLAUDE_CODE).files[0]
    if file.error:
        raise StoreError(file.error)
    # A sub-agent has a session of its own, which is not the current one.
    return next((each.session for each in file.sessions if each.key == FILE), "")


@contextmanager
def alone(folder: Path, disk: Disk, patience: float = LOCK_TIMEOUT) -> Iterator[None]:
    """Hold off other imports: two that read the same file would both write it.

    Raises:
        LockTimeoutError: If another one runs for too long.
    """
    place = folder / FOLDER
    disk.make_plain_folder(place, durable=False)
    with closing(FolderLock(place / ".lock", disk, patience)) as lock, lock.hold():
        disk.remove_unfinished(place)
        yield


# ---- removing an import ----
#
# Sessions recorded here or imported from other sources stay, with all the whole texts that they
# need. Everything derived from the removed sessions goes with them: cards, vectors, and their words
# in the index. If a run is killed, the next one does the rest.


@dataclass(frozen=True, slots=True)
class Purged:
    """The removed part of an import.

    Attributes:
        sessions: The sessions.
        texts: The digests of the whole texts that no other session needs.
    """

    sessions: tuple[str, ...]
    texts: frozenset[str]


def purge_import(
    folder: Path, source: str, disk: Disk | None = None, *, dry: bool = False
) -> Purged:
    """Remove the sessions that were imported from ``source``.

    Raises:
        LockTimeoutError: If an import or a writer runs for too long.
        OSError: If something cannot be removed; the next run does the rest.
    """
    from engramdown.episodes import Traces, digests
    from engramdown.transcripts import Sessions

    disk = disk or Disk()
    sessions, traces = Sessions(folder, disk), Traces(folder.parent, disk)

    def look() -> Purged:
        """Return what only this source needs."""
        named = Ledger(folder, disk, durable=True).sessions(source)
        gone = [info.id for info in sessions.list() if info.source == source or info.id in named]
        texts: set[str] = set().union(*map(traces.named, gone))
        if texts:
            texts = texts.difference(*map(traces.named, set(sessions.ids()) - set(gone)))
        return Purged(tuple(gone), frozenset(texts))

    def remove(paths: Iterable[Path]) -> None:
        for path in paths:
            disk.unlink(path)

    if dry or disk.find(folder) is None:
        return look()
    lock = FolderLock(folder / ".lock", disk, LOCK_TIMEOUT)
    # In the lock nobody writes, so no new line can need a text that none needs now.
    with closing(lock), alone(folder, disk), lock.hold():
        removal = look()
        traces.drop_index()
        # The ledger goes last, so that an interrupted run can be repeated.
        for text in sorted(removal.texts):
            remove(traces.payload(text))
        for name in removal.sessions:
            remove([*traces.pieces(name), *traces.derived(name), sessions.path(name)])
        # Also texts of an import that was killed before it wrote their lines.
        remove(traces.unsaid(digests(traces.left())))
        traces.forget_unsaid()
        Ledger(folder, disk, durable=True).forget(source)
    return removal
