"""EpisodicMemory: what was said and done in one scope, recorded as it happens and read again.

Recording never raises because of a disk, a lock or its arguments, and never waits long; what could
not be written is queued, counted and reported (:attr:`EpisodicMemory.trouble`). What a person and
an assistant said is never cut; what tools got and gave is shown cut and kept whole. Reading creates
nothing. Switched off, nothing is recorded and reading works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from engramdown.clock import nanoseconds
from engramdown.episodes.recorder import IMPATIENT, Item, Recorder, Said
from engramdown.errors import EngramdownError, SessionNotFoundError
from engramdown.recall.finder import Finder
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts import episode as line_format
from engramdown.transcripts.episode import Episode, Pointer, check_session_id, stamp, stamp_of
from engramdown.transcripts.payloads import PAYLOADS, Payloads, redact_for_role, shorten_for_line
from engramdown.transcripts.session_log import ORPHAN_MINUTES

if TYPE_CHECKING:
    from engramdown.episodes.card import Card
    from engramdown.episodes.eraser import EpisodeEraser
    from engramdown.episodes.forget import Forgetting
    from engramdown.episodes.recorder import Trouble
    from engramdown.models.embedders import Embedder
    from engramdown.storage.erasure import Words
    from engramdown.transcripts.sessions import Ended, SessionInfo, Sessions, Transcript
    from engramdown.transcripts.tool_calls import Iteration, ToolCall, ToolSum


# How far back a new session looks for them; with years of transcripts it would take too long.
TIDY_DAYS: Final = 2
_DAY: Final = 86_400 * 1_000_000_000

_OPTIONAL: Final = Episode._fields[Episode._fields.index("name") : -len(("event", "more"))]
_SPOKEN: Final = frozenset({"user", "assistant", "system"})


class Ingested(NamedTuple):
    """What became of a batch.

    Attributes:
        session: The id of its session.
        pointers: Where each message is, in the order of the batch; ``None`` for one that says
            nothing, and where nothing is recorded.
        new: How many were written.
        known: How many were there already, or are in the batch twice.
    """

    session: str
    pointers: tuple[Pointer | None, ...]
    new: int = 0
    known: int = 0


class EpisodicMemory(Finder):
    """The transcripts of one scope.

    Attributes:
        folder: Where they are.
        settings: What was configured.
        recorder: What writes them.
    """

    def __init__(
        self,
        root: Path | str,
        settings: EpisodeSettings | None = None,
        disk: Disk | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """Record in the ``episodes`` of the scope's folder ``root``; nothing is created yet."""
        super().__init__(root, settings, disk, embedder)
        durable = self.settings.durability == "full"
        self.recorder = Recorder(
            self.folder, self._disk, durable=durable, start=self._start_line, lost=self._lost_line
        )
        self._checked: str | None = None
        self._payloads = Payloads(self.folder / PAYLOADS, self._disk, durable=durable)

    # ---- recording ----

    def start_session(
        self,
        session: str | None = None,
        parent: str | None = None,
        parent_call: str | None = None,
        at: datetime | None = None,
        title: str = "",
        *,
        source: str = "",
    ) -> str:
        """Begin a session and return its id; one that is there already goes on.

        Args:
            session: Its id, or ``None`` for a new one.
            parent: The session that it is begun from.
            parent_call: The tool call that begins it.
            at: When it began, if not now.
            title: What to call it.
            source: Where it is imported from.

        Raises:
            InvalidSessionError: If an id is not a safe file name.
        """
        for given in (session, parent):
            if given is not None:
                check_session_id(given)
        began = stamp_of(nanoseconds()) if at is None else stamp(at)
        named = redact_for_role("event", title, self.settings)
        more = {"parent": parent, "parent_call": parent_call, "source": source, "title": named}
        while True:
            chosen = session or line_format.session_id(datetime.fromisoformat(began), _random(16))
            line = self._start_line(chosen, began, more)
            if not self._records(chosen) or self.recorder.begin(chosen, line) or session:
                return chosen

    def running_or_new(self) -> str:
        """Return the id of the session that runs, or begin one; all who ask at once get the same.

        Which one runs says :func:`engramdown.transcripts.sessions.find_running`.
        """
        # Imported here: only a shell asks.
        from engramdown.transcripts.sessions import find_running

        running = find_running(self._sessions, self._disk)
        if running is None:
            self.tidy()

        def taken() -> bool:
            nonlocal running
            running = find_running(self._sessions, self._disk)
            return running is not None

        began = stamp_of(nanoseconds())
        while running is None:
            chosen = line_format.session_id(datetime.fromisoformat(began), _random(16))
            line = self._start_line(chosen, began)
            if not self.settings.enabled or self.recorder.begin(chosen, line, taken):
                return chosen
        return running.id

    def log(self, session: str, role: str, text: object, **fields: Unpack[Said]) -> Pointer | None:
        """Record an episode; never raises.

        Args:
            session: The id of the session; it begins if it has not begun.
            role: One of :data:`engramdown.transcripts.episode.ROLES`, but not ``event``.
            text: What was said; anything but a ``str`` is recorded as JSON.
            fields: See :class:`Said`.

        Returns:
            Where it is, or ``None`` if it is not written (yet): it was empty, recording is
            off, or there is trouble.
        """
        item = self._made(session, lambda: self._item(role, line_format.as_text(text), fields))
        return None if item is None else self.recorder.put(session, item)

    def ingest(self, batch: Iterable[Mapping[str, Any]], session: str | None = None) -> Ingested:
        """Record messages that another program has, all of them or none, each once.

        A message is known by the id that the caller gives it: what is in the session under that
        id is not written again, whatever it says now. So a batch may be sent again after a crash,
        or overlap with another one. One that is killed while it is written leaves nothing of it.

        Args:
            batch: Mappings with ``id`` (any text of the caller's), ``role``, ``text``, and what
                else :class:`Said` has; ``at`` may be ISO 8601. ``session`` may be there, too.
                ``None`` says nothing but for ``id``, ``role`` and ``text``.
            session: The id of the session, which begins if it has not begun.

        Returns:
            Where each message is.

        Raises:
            ValueError: If a message has no id, no role, an unknown field or a value that is
                not allowed there, or the batch is of several sessions or of none; the message
                names its place, the field and the value, and nothing is written.
            InvalidSessionError: If the id of the session is not a safe file name.
            LockTimeoutError: If others held the lock of the transcripts for too long.
            StoreError: If it could not be written.
            OSError: The same; nothing is written.

        >>> EpisodicMemory("nowhere").ingest([], "chat").new
        0
        """
        from engramdown.episodes.ingest import add_new, read_messages

        name, messages = read_messages(batch, session)
        check_session_id(name)
        items = [self._item(each.role, each.text, each.said, each.ref) for each in messages]
        if not any(items) or not self._records(name):
            return Ingested(name, (None,) * len(items))
        refs = [each.ref for each in messages]
        pointers, new = add_new(self.recorder, name, refs, items)
        return Ingested(name, pointers, new, sum(each is not None for each in items) - new)

    def mark(self, session: str, event: str, **fields: Any) -> Pointer | None:  # noqa: ANN401 - JSON
        """Record an event about a session, such as ``exclude`` with ``of=[3, 4]``; never raises."""

        def marking() -> Item:
            if event not in line_format.EVENTS:
                known = ", ".join(line_format.EVENTS)
                raise ValueError(f"{event!r} is not an event; use one of {known}")
            return Item(self._event(event, fields))

        item = self._made(session, marking)
        return None if item is None else self.recorder.put(session, item)

    def end(self, session: str, reason: str = "finished", at: datetime | None = None) -> None:
        """End a session; nothing is left of one in which nothing was said. Never raises."""

        def ending() -> Item:
            when = None if at is None else stamp(at)
            return Item(self._event("end", {"reason": reason}, when))

        item = self._made(session, ending)
        if item is not None:
            self.recorder.end(session, item.line)

    def new_call(self) -> str:
        """Return an id as lines have; a tool call and its result can share one."""
        return line_format.episode_id(nanoseconds() // 1_000_000, _random(30))

    @property
    def trouble(self) -> Trouble | None:
        """Why recording does not work in this process, or ``None``."""
        return self.recorder.trouble

    def close(self) -> None:
        """Write what waits, if it can be, and close all files."""
        self.recorder.close()
        super().close()

    # ---- ending sessions that nobody ended ----

    def tidy(self) -> None:
        """End recent sessions that nobody ended; never raises, and retries failures later."""
        from engramdown.episodes.forget import remove_leftovers

        try:
            self.forgetting().finish(IMPATIENT)
            if self.settings.enabled:
                remove_leftovers(self.folder, self._disk, self.recorder.lock, IMPATIENT)
            self._end_silent(ORPHAN_MINUTES, "crash_recovery", in_passing=True)
            self._end_silent(self.settings.idle_minutes, "idle_timeout", in_passing=True)
        except (OSError, EngramdownError) as error:
            self.recorder.refuse(str(error))

    def close_orphans(self, minutes: float = ORPHAN_MINUTES) -> Ended:
        """End the sessions whose program died: nobody has them open, and they are silent."""
        return self._end_silent(minutes, "crash_recovery")

    def close_idle(self, minutes: float | None = None) -> Ended:
        """End the sessions that were silent for so long, including our own; 0 for never.

        Args:
            minutes: How long, by default what is configured.
        """
        limit = self.settings.idle_minutes if minutes is None else minutes
        for session in self.recorder.open_sessions() if limit > 0 else ():
            info = self._sessions.info(session)
            if info is not None and info.is_silent(limit):
                self.recorder.release(session)
        return self._end_silent(limit, "idle_timeout")

    # ---- reading ----

    def sessions(self, parent: str | None = None) -> list[SessionInfo]:
        """Return all sessions, or those begun from ``parent``, in the order in which they began."""
        found = self._sessions.list()
        return found if parent is None else [info for info in found if info.parent == parent]

    def session(self, session: str) -> Transcript:
        """Return a whole session.

        Raises:
            SessionNotFoundError: If there is none of that id.
        """
        return self._sessions.read(check_session_id(session))

    def episode(self, pointer: Pointer) -> Episode | None:
        """Return the episode at a pointer, or ``None``."""
        return self._sessions.episode(check_session_id(pointer.session), pointer.seq)

    def whole(self, episode: Episode) -> str:
        """Return the whole text of an episode; what it shows, if the whole was not kept."""
        found = self._payloads.fetch(episode.payload) if episode.payload else None
        return episode.text if found is None else found

    def tool_calls(
        self,
        session: str | None = None,
        name: str = "",
        limit: int = 100,
        *,
        since: date | str | None = None,
        until: date | str | None = None,
    ) -> list[ToolCall]:
        """Return the last calls of a session or of all, the newest last; 1,000 at most.

        Args:
            session: Its id; ``None`` for all sessions.
            name: The only tool; by default all.
            limit: How many at most.
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone.
            until: The latest time or day, which belongs to it.

        Raises:
            SessionNotFoundError: If there is none of that id.
            ValueError: If a time is invalid.
        """
        from engramdown.transcripts import tool_calls

        return tool_calls.newest(self._calls(session, since, until), name, limit)

    def tool_sums(
        self,
        session: str | None = None,
        name: str = "",
        *,
        since: date | str | None = None,
        until: date | str | None = None,
    ) -> list[ToolSum]:
        """Return how often each tool was called, how it failed, and how long it took.

        Args:
            session: The id of the only session; ``None`` for all.
            name: The only tool; by default all, the one that was called most first.
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone.
            until: The latest time or day, which belongs to it.

        Raises:
            SessionNotFoundError: If there is none of that id.
            ValueError: If a time is invalid.

        >>> EpisodicMemory("nowhere").tool_sums(name="shell")
        []
        """
        from engramdown.transcripts import tool_calls

        found = self._calls(session, since, until)
        return tool_calls.sums(each for each in found if name in ("", each.name))

    def _calls(
        self, session: str | None, since: date | str | None, until: date | str | None
    ) -> list[ToolCall]:
        """Return the calls of a session, or of all, in the order of their times."""
        from engramdown.recall.lines import microseconds
        from engramdown.recall.query import wanted
        from engramdown.transcripts import tool_calls

        filters = wanted(role="tool_call", since=since, until=until)
        if session is not None:
            # One session stays in the order of its lines, whatever its clock said.
            found = tool_calls.find_tool_calls(session, self.session(session).episodes)
        else:
            found = []
            for each in self._recalling().sessions(filters):
                with suppress(SessionNotFoundError):  # It was purged meanwhile.
                    found += tool_calls.find_tool_calls(each, self.session(each).episodes)
            found.sort(key=lambda call: call.started)
        if filters.has_range():
            first, last = filters.since, filters.until
            found = [each for each in found if first <= microseconds(each.started) <= last]
        return found

    def iterations(self, session: str) -> list[Iteration]:
        """Return the steps of the assistant in a session; raises as :meth:`tool_calls` does."""
        from engramdown.transcripts import tool_calls

        return tool_calls.iterations(session, self.session(session).episodes)

    def card(self, session: str) -> Card:
        """Return what a session was about.

        Raises:
            SessionNotFoundError: If there is none of that id.
        """
        from engramdown.episodes.card import CardFiles

        return CardFiles(self.folder.parent, self._disk).card(self.session(session))

    def forgetting(self) -> Forgetting:
        """Return the object that takes back what was recorded."""
        from engramdown.episodes.forget import Forgetting

        return Forgetting(self.folder, self._disk, self.recorder.lock, self._event)

    def eraser(self, words: Words) -> EpisodeEraser:
        """Return the object that erases ``words`` for good from what was recorded."""
        from engramdown.episodes.eraser import EpisodeEraser

        return EpisodeEraser(self.folder, self._disk, self.recorder.lock, self._event, words)

    @property
    def _sessions(self) -> Sessions:
        # Imported here: neither to record nor to recall must a session be read.
        from engramdown.transcripts.sessions import Sessions

        return Sessions(self.folder, self._disk)

    # ---- lines ----

    def _records(self, session: object) -> bool:
        """Whether a session is recorded."""
        ignored = self.settings.ignore
        return self.settings.enabled and not (ignored and line_format.is_like(session, ignored))

    def _made(self, session: str, make: Callable[[], Item | None]) -> Item | None:
        """Return what to record, if anything; count what cannot be, and note it in the session."""
        if not self._records(session):
            return None
        known = False
        try:
            if session != self._checked:
                self._checked = check_session_id(session)
            known = True
            return make()
        except Exception as error:  # noqa: BLE001 - arguments run code of the caller's
            reason = line_format.safe_str(error) or type(error).__name__
            if known:
                self.recorder.put(session, Item(self._lost_line(1, reason)))
            self.recorder.refuse(reason)
            return None

    def _item(self, role: str, text: str, fields: Said, ref: str = "") -> Item | None:
        if role not in line_format.ROLES or role == "event":
            raise ValueError(f"{role!r} is not a role; use one of {', '.join(line_format.ROLES)}")
        if role in _SPOKEN and not text:
            return None
        said, length, payload = shorten_for_line(role, text, self.settings)
        at, now = fields.get("at"), nanoseconds()
        known: dict[str, Any] = {
            "ts": stamp_of(now) if at is None else stamp(at),
            "id": line_format.episode_id(now // 1_000_000, _random(30)),
            "role": role,
            "text": said,
        }
        if fields or length is not None:
            given: dict[str, Any] = {"cut": length, "payload": payload and payload[0], **fields}
            if isinstance(given.get("error"), str):
                # As much what a tool gave back as its output.
                given["error"] = redact_for_role(role, given["error"], self.settings)
            known |= {key: given[key] for key in _OPTIONAL if key in given}
        return Item(line_format.encode(known, {"ref": ref} if ref else {}), payload)

    def _start_line(
        self, session: str, at: str | None = None, more: Mapping[str, Any] | None = None
    ) -> bytes:
        said = {key: value for key, value in (more or {}).items() if value}
        return self._event("start", {"v": line_format.VERSION, "session": session, **said}, at)

    def _lost_line(self, count: int, reason: str) -> bytes:
        return self._event("lost", {"count": count, "reason": reason})

    def _event(self, event: str, more: Mapping[str, Any], at: str | None = None) -> bytes:
        now = at or stamp_of(nanoseconds())
        known = {"ts": now, "id": self.new_call(), "role": "event", "text": "", "event": event}
        return line_format.encode(known, more)

    def _end_silent(self, minutes: float, reason: str, *, in_passing: bool = False) -> Ended:
        """End silent sessions; in passing only those of the last days, and without waiting."""
        # Imported here: most processes end nothing.
        from engramdown.transcripts.sessions import Ended, end_silent

        never = reason == "idle_timeout" and minutes <= 0
        if never or not self.settings.enabled or self._disk.find(self.folder) is None:
            return Ended()
        return end_silent(
            self._sessions,
            self._disk,
            self.recorder.lock,
            minutes,
            lambda last: self._event("end", {"reason": reason}, last),
            written=nanoseconds() - TIDY_DAYS * _DAY if in_passing else 0,
            timeout=IMPATIENT if in_passing else None,
        )


def _random(bits: int) -> int:
    """Return a number of at most 32 random bits; secrets does the same, but takes long to load."""
    return int.from_bytes(os.urandom(4)) >> (32 - bits)
