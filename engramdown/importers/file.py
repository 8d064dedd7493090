"""Imports one file.

Promises: what was read is written before the ledger says so; after each part of the file that was
written the ledger says so, so that no more than a part is ever read again. An episode without a
time has that of the one before it in its session, the first that of the conversation, or, where
that has none, of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from engramdown.clock import moment
from engramdown.episodes.episode import stamp
from engramdown.importers.inputs import (
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
    Conversation,
    Item,
    Kept,
    Record,
    Said,
    Skipped,
    Source,
)
from engramdown.importers.report import Brought, FileReport
from engramdown.importers.sources import recognised
from engramdown.importers.writer import Names, NewLine, Shelf, Writer

__all__ = ["FileImport", "Progress"]

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
        one_value = self._is_one_value()
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

    def _is_one_value(self) -> bool:
        with self._found.open() as stream:
            looks_so = is_one_value(stream)
        return looks_so and bool(self._sample(one_value=True))

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
            writer = self._writers.get(item.key) or self._restore(source, item)
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

    def _restore(self, source: Source, kept: Kept) -> Writer:
        return self._writer(source, kept.key, self._names.own(kept))

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
                self._report.sessions.append(_brought(writer, conversation))
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


def _brought(writer: Writer, conversation: Conversation) -> Brought:
    return Brought(
        session=writer.session,
        key=conversation.key,
        title=conversation.title,
        started=stamp(writer.first) if writer.first else "",
        fresh=not writer.began,
        new=writer.new,
        known=writer.known,
    )
