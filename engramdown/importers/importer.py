"""Imports what other programs recorded, and takes it back.

A file is judged by what is in it, not by its name. The same file twice changes nothing; of a file
that grew only the new lines come; an import that was killed is finished by the next one, without
anything twice. Times are those of the source: an episode without one has that of the one before it
in its session, the first that of the conversation, or, where that has none, of the file. Every line
that is not taken is counted with a reason, and none is a reason to stop. What was read is written
before the ledger says so, and after each part of a file the ledger says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from engramdown.clock import moment
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
from engramdown.importers.records import Conversation, Item, Record, Said, Skipped, Source
from engramdown.importers.writer import PATIENCE, Encoder, Names, NewLine, Shelf, Writer
from engramdown.settings import EpisodeSettings
from engramdown.storage import Disk, FolderLock
from engramdown.transcripts import stamp

_PLACES: Final = 5
"""Of each reason, so many places are remembered."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What one session got.

    Attributes:
        session: Its id.
        key: What tells it from the others of its file.
        title: What the source calls it.
        started: The time of the first episode that was read, as it stands in a line.
        fresh: Whether the session was not there before.
        new: How many episodes came.
        known: How many that were read were there already.
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
    """Why something was not taken.

    Attributes:
        count: How often.
        damaged: Whether it should have been readable.
        lines: Where, the first few.
    """

    count: int = 0
    damaged: bool = False
    lines: list[int] = field(default_factory=list)


State = Literal["read", "unchanged", "unknown", "failed"]


@dataclass(slots=True)
class FileReport:
    """What one file brought.

    Attributes:
        path: Where it is.
        source: Whose it is, or ``""``.
        state: ``read``; ``unchanged`` since it was read; ``unknown``, of no source; ``failed``.
        error: Why it failed.
        sessions: What its sessions got.
        skipped: What was not taken, by reason.
        unfinished: Whether its last line is still being written.
    """

    path: str
    source: str = ""
    state: State = "read"
    error: str = ""
    sessions: list[Brought] = field(default_factory=list)
    skipped: dict[str, Reason] = field(default_factory=dict)
    unfinished: bool = False

    def skip(self, found: Skipped) -> None:
        """Count something that was not taken."""
        reason = self.skipped.setdefault(found.reason, Reason(damaged=found.damaged))
        reason.count += 1
        if len(reason.lines) < _PLACES:
            reason.lines.append(found.line)


@dataclass(slots=True)
class Report:
    """What an import did.

    Attributes:
        files: What each file brought.
    """

    files: list[FileReport] = field(default_factory=list)

    @property
    def sessions(self) -> list[Brought]:
        """What the sessions got, in the order in which they were read."""
        return [brought for file in self.files for brought in file.sessions]

    @property
    def new(self) -> int:
        """How many episodes came."""
        return sum(brought.new for brought in self.sessions)

    @property
    def known(self) -> int:
        """How many episodes that were read were there already."""
        return sum(brought.known for brought in self.sessions)

    def skipped(self, *, damaged: bool) -> Counter[str]:
        """Return how much was not taken, by reason."""
        counted: Counter[str] = Counter()
        for file in self.files:
            for name, reason in file.skipped.items():
                if reason.damaged == damaged:
                    counted[name] += reason.count
        return counted

    def states(self) -> Counter[str]:
        """Return how many files there are of each state."""
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
    from engramdown.importers.own import OWN

    # The more a format demands of a record, the sooner it is asked.
    in_order = (OWN, CLAUDE_CODE, CHATGPT, CLAUDE, ANTON, OPENCLAW, OPENAI)
    return {source.name: source for source in in_order}


def recognised(values: Iterable[Any]) -> Source | None:
    """Return the source of the first value that one of them knows."""
    for value in values:
        for source in sources().values():
            if source.knows(value):
                return source
    return None


# ---- one file ----

Progress = Callable[[int], object]
"""Told how many bytes more were read."""

# What waits is written, and the ledger told, when there is so much of it.
_MOST_BYTES: Final = 4 * 1024 * 1024
_SPOKEN: Final = ("user", "assistant", "system")
_EMPTY: Final = "empty message"
_PURGED: Final = "of a session that was purged"
_COPIED: Final = "copied from a session that is here"


class FileImport:
    """The import of one file."""

    def __init__(self, shelf: Shelf, ledger: Ledger, names: Names, found: Input) -> None:
        """Import ``found`` to ``shelf``."""
        self._shelf = shelf
        self._ledger = ledger
        self._names = names
        self._found = found
        self._report = FileReport(found.path)
        self._before: Entry | None = None
        self._conversations: dict[str, Conversation] = {}
        self._writers: dict[str, Writer] = {}
        self._written: dict[str, int] = {}
        self._ids: dict[str, str] = {}

    def bring(self, source: Source | None, progress: Progress) -> FileReport:
        """Read the file and write what is new.

        Args:
            source: Whose it is, or ``None`` to look into it.
            progress: Told how many bytes more were read.
        """
        try:
            self._bring(source, progress)
        except UnreadableError as error:
            self._report.state, self._report.error = "failed", str(error)
            self._finish(lambda _: True)
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
            self._read(source, reading, progress)

    def _sample(self, *, one_value: bool) -> list[object]:
        with self._found.open() as stream:
            return sample(Elements(stream) if one_value else Lines(stream))

    # ---- reading ----

    def _read(self, source: Source, reading: Reading, progress: Progress) -> None:
        records = self._records(source, reading, progress)
        resumed = source.resume and source.resume(records, self._earlier)
        for item in resumed or source.read(records):
            self._take(source, item, reading.lines)
        self._report.unfinished = reading.unfinished
        self._finish(lambda _: True)
        if self._before is not None and self._before.offset == reading.offset:
            self._report.state = "unchanged"
        else:
            self._note(source, reading)

    def _records(self, source: Source, reading: Reading, progress: Progress) -> Iterator[Record]:
        """Yield the records; whoever asks for the next one has dealt with the one before."""
        read = 0
        for found in reading:
            # What has been asked for until now is dealt with: this one is not, so not yet noted.
            progress(reading.offset - read)
            read = reading.offset
            if isinstance(found, Skipped):
                self._report.skip(found)
                continue
            yield found
            self._finish(lambda conversation: conversation.whole)
            if sum(writer.size for writer in self._writers.values()) > _MOST_BYTES:
                for writer in self._writers.values():
                    writer.flush()
                self._note(source, reading)

    def _earlier(self) -> Iterator[Record]:
        """Yield the records that were read another time."""
        known = self._before.offset if self._before else 0
        with self._found.open() as stream:
            reading = Lines(stream)
            for found in reading:
                if reading.offset > known:
                    return
                if isinstance(found, Record):
                    yield found

    def _take(self, source: Source, item: Item, line: int) -> None:
        if isinstance(item, Conversation):
            self._conversations[item.key] = item
        elif isinstance(item, Skipped):
            self._report.skip(item)
        elif isinstance(item, Said) and item.role in _SPOKEN and not item.text.strip():
            self._report.skip(Skipped(line, _EMPTY))
        elif isinstance(item, Said):
            writer = self._writers.get(item.key) or self._begin(source, item)
            at = item.at or writer.last or self._found.changed
            new = self._shelf.encoder.said(item, at)
            if new.id in writer.elsewhere:
                self._report.skip(Skipped(line, _COPIED))
            elif item.copied and writer.copies_purged:
                self._report.skip(Skipped(line, _PURGED))
            else:
                self._add(writer, new, line)
        else:
            session = self._names.own(item)
            writer = self._writers.get(item.key) or self._writer(source, item.key, session)
            self._add(writer, self._shelf.encoder.kept(item), line)

    def _add(self, writer: Writer, new: NewLine, line: int) -> None:
        if writer.purged:
            self._report.skip(Skipped(line, _PURGED))
        else:
            writer.add(new)

    # ---- sessions ----

    def _begin(self, source: Source, said: Said) -> Writer:
        conversation = self._conversations[said.key]
        at = conversation.at or said.at or self._found.changed
        origin = self._before.origin if self._before else self._found.path
        session = self._names.name(source.name, conversation, origin, at)
        writer = self._writer(source, said.key, session)
        writer.last = writer.last or conversation.at
        first = self._ledger.session_of(source.name, conversation.id)
        if conversation.id and first in ("", session):
            self._ids[conversation.id] = session
        other = self._ledger.session_of(source.name, conversation.copies)
        if other not in ("", session):
            writer.look_elsewhere(other)
        if not writer.began and not writer.purged:
            writer.add(self._start(source, conversation, session, at))
        return writer

    def _start(
        self, source: Source, conversation: Conversation, session: str, at: datetime
    ) -> NewLine:
        parent = conversation.parent
        told = {
            "session": session,
            "parent": self._ids.get(parent) or self._ledger.session_of(source.name, parent),
            "parent_call": conversation.parent_call,
            "source": source.name,
            "title": conversation.title,
        }
        return self._shelf.encoder.start(at, told, conversation.meta)

    def _writer(self, source: Source, key: str, session: str) -> Writer:
        writer = Writer(self._shelf, session)
        writer.look(self._before.sessions.get(session, -1) if self._before else -1)
        # What somebody removed after it was imported is not to come back.
        writer.purged = not writer.began and session in self._ledger.sessions(source.name)
        self._writers[key] = writer
        return writer

    def _finish(self, ready: Callable[[Conversation], bool]) -> None:
        """End the sessions of the conversations that are ``ready``, and write what waits."""
        for key, writer in list(self._writers.items()):
            conversation = self._conversations[key]
            if ready(conversation) and (writer.purged or writer.is_copy):
                del self._writers[key]
            elif ready(conversation):
                if self._shelf.ends and not conversation.as_it_was:
                    writer.end()
                writer.flush()
                # A session of ours that was here before was not imported.
                if not (conversation.as_it_was and writer.began):
                    self._written[writer.session] = writer.seq
                self._report.sessions.append(
                    Brought(
                        session=writer.session,
                        key=conversation.key,
                        title=conversation.title,
                        started=stamp(writer.first) if writer.first else "",
                        fresh=not writer.began,
                        new=writer.new,
                        known=writer.known,
                    )
                )
                del self._writers[key]

    def _note(self, source: Source, reading: Reading) -> None:
        """Tell the ledger what was read and written."""
        writers = self._writers.values()
        open_now = {writer.session: writer.seq for writer in writers if not writer.purged}
        if not self._shelf.dry:
            entry = Entry(
                source=source.name,
                path=self._found.path,
                origin=self._before.origin if self._before else self._found.path,
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

_LOCK: Final = ".lock"


class Importer:
    """Imports into one folder of transcripts."""

    def __init__(
        self,
        folder: Path,
        settings: EpisodeSettings,
        disk: Disk | None = None,
        *,
        dry: bool = False,
        ends: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        """Import into ``folder``.

        Args:
            folder: That of the transcripts.
            settings: What was configured.
            disk: What is read and written with.
            dry: Whether nothing is written.
            ends: Whether a session has ended that is imported; one that goes on has not.
            patience: For how many seconds to wait for others at most, each time.
        """
        self._disk = disk or Disk()
        self._patience = patience
        self._shelf = Shelf(
            folder, self._disk, Encoder(settings), dry=dry, ends=ends, patience=patience
        )

    def run(
        self,
        inputs: Iterable[Input],
        source: Source | None = None,
        progress: Progress = lambda _: None,
    ) -> Report:
        """Import files.

        Args:
            inputs: What to read; see :func:`engramdown.importers.inputs.find_inputs`.
            source: Whose files they are, or ``None`` to look into each.
            progress: Told how many bytes more were read.

        Raises:
            LockTimeoutError: If another import runs for too long.
            StoreError: If something else than a file stands where a transcript should be.
            OSError: If a transcript cannot be written; what was read until then is there.
        """
        shelf, report = self._shelf, Report()
        with ExitStack() as stack:
            stack.callback(shelf.close)
            if not shelf.dry:
                shelf.prepare()
                stack.enter_context(alone(shelf.folder, self._disk, self._patience))
            ledger = Ledger(shelf.folder, self._disk, durable=shelf.durable)
            names = Names(shelf.folder, self._disk)
            for found in inputs:
                file = FileImport(shelf, ledger, names, found)
                report.files.append(file.bring(source, progress))
        return report


@contextmanager
def alone(folder: Path, disk: Disk, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other imports out: two that read the same file would both write it.

    Raises:
        LockTimeoutError: If another one runs for too long.
    """
    place = folder / FOLDER
    disk.make_plain_folder(place, durable=False)
    lock = FolderLock(place / _LOCK, disk, patience)
    try:
        with lock.hold():
            disk.remove_unfinished(place)
            yield
    finally:
        lock.close()


# ---- taking it back ----
#
# What was recorded here stays, and so does what came from other sources, with every whole text that
# any of it shows cut. What was made of the sessions goes with them: cards, vectors, and their words
# in the index. Killed half-way, the next run does the rest.

_LOCK_TIMEOUT: Final = 10.0


@dataclass(frozen=True, slots=True)
class Purged:
    """What was taken back, or would be.

    Attributes:
        sessions: The sessions.
        texts: The digests of the whole texts that nobody else shows.
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
        """Return what belongs to the source alone."""
        named = Ledger(folder, disk, durable=True).sessions(source)
        gone = [info.id for info in sessions.list() if info.source == source or info.id in named]
        texts: set[str] = set().union(*map(traces.named, gone))
        if texts:
            texts = texts.difference(*map(traces.named, set(sessions.ids()) - set(gone)))
        return Purged(tuple(gone), frozenset(texts))

    if dry or disk.find(folder) is None:
        return look()
    lock = FolderLock(folder / ".lock", disk, _LOCK_TIMEOUT)
    with ExitStack() as stack:
        stack.callback(lock.close)
        stack.enter_context(alone(folder, disk))
        # From here on nobody writes: a whole text that no line needs is needed by none to come.
        stack.enter_context(lock.hold())
        found = look()
        traces.drop_index()
        # Whoever is interrupted here finds the rest again: the ledger goes last.
        for text in sorted(found.texts):
            _remove(disk, traces.payload(text))
        for name in found.sessions:
            _remove(disk, [*traces.pieces(name), *traces.derived(name), sessions.path(name)])
        # Also what an import kept that was killed before it could write the lines.
        _remove(disk, traces.unsaid(digests(traces.left())))
        traces.forget_unsaid()
        Ledger(folder, disk, durable=True).forget(source)
    return found


def _remove(disk: Disk, paths: Iterable[Path]) -> None:
    for path in paths:
        disk.unlink(path)
