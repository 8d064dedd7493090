"""Writes imported sessions: their names, their lines, and what of them is there already.

The same conversation gives the same name and the same lines with the same ids, whenever and on
whatever machine it is read. What a session holds already is not written again, so that an import
that was killed is finished by the next one. Texts are redacted and cut as for what is recorded
here; whole texts are on the disk before the lines that show them cut, and lines are appended under
the lock of the transcripts.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.importers.records import Conversation, Kept, Said, digest
from engramdown.settings import EpisodeSettings
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
    redact_for_role,
    shorten_for_line,
    stamp,
)
from engramdown.transcripts import digest as text_digest

# ---- names of sessions ----

_NAME: Final = re.compile(r"(.+)-[0-9]{8}-([0-9a-f]{12})")
_SHORT: Final = 12
_LONGEST: Final = 100


class Names:
    """The names of the imported sessions of one folder."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        """Look at the sessions in ``folder``, which need not exist."""
        self._folder = folder
        self._disk = disk
        stems = (name.removesuffix(SUFFIX) for name in disk.files(folder) if name.endswith(SUFFIX))
        found = ((_NAME.fullmatch(stem), stem) for stem in stems)
        self._known = {(match[1], match[2]): stem for match, stem in found if match}

    def name(self, source: str, conversation: Conversation, origin: str, at: datetime) -> str:
        """Return the id of the session of a conversation.

        Args:
            source: The name of its source.
            conversation: The conversation.
            origin: Where its file was when it was read first.
            at: When it began.
        """
        place = "" if conversation.everywhere else origin
        short = digest(source, place, conversation.key)[:_SHORT]
        return self._known.setdefault((source, short), f"{source}-{at:%Y%m%d}-{short}")

    def own(self, kept: Kept) -> str:
        """Return the id of the session of ours that begins with an episode.

        It is its own, unless another session has that here.
        """
        path = self._folder / f"{kept.key}{SUFFIX}"
        if self._disk.find(path) is None:
            return kept.key
        first = next((read_line(line) for _, line in lines(self._disk, path)), None)
        if first is not None and first.id == kept.episode.id:
            return kept.key
        short = digest(kept.key, kept.episode.id)[:_SHORT]
        return f"{kept.key[: _LONGEST - _SHORT - 1]}-{short}"


# ---- lines ----

_BITS: Final = 30
_FIELDS: Final = tuple(name for name in Episode._fields if name not in ("seq", "more"))
_MS_PER_SECOND: Final = 1_000
_US_PER_MS: Final = 1_000


class NewLine(NamedTuple):
    """A line to be appended.

    Attributes:
        id: The id of the episode.
        at: Its time.
        line: What :func:`engramdown.transcripts.episode.encode` returned.
        mark: What two lines share only if one of them is superfluous.
        event: Which event it is, or ``""``.
        payload: The digest of its whole text and the text, if that is to be kept.
    """

    id: str
    at: datetime
    line: bytes
    mark: str
    event: str = ""
    payload: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Encoder:
    """Makes lines as the settings say."""

    settings: EpisodeSettings

    def start(self, at: datetime, told: Mapping[str, str], meta: Mapping[str, Any]) -> NewLine:
        """Return the event that begins a session; ``told`` are its fields."""
        more = {"v": VERSION} | {key: value for key, value in told.items() if value}
        return _event("start", at, more, meta)

    def end(self, at: datetime, after: str) -> NewLine:
        """Return the event that ends a session behind the episode with the id ``after``."""
        return _event("end", at, {"reason": "import"}, {}, after)

    def said(self, said: Said, at: datetime) -> NewLine:
        """Return the line of something that was said at ``at``."""
        identity = digest(said.origin, said.role, said.name, said.call, said.text)
        text, length, payload = shorten_for_line(said.role, said.text, self.settings)
        known: dict[str, Any] = {
            "ts": stamp(at),
            "id": _id(at, identity),
            "role": said.role,
            "text": text,
            "name": said.name,
            "call": said.call,
            "ms": said.ms,
            "error": said.error,
            "model": said.model,
            "turn": said.turn,
            "cut": length,
            "payload": payload and payload[0],
            "meta": said.meta,
        }
        return NewLine(known["id"], at, encode(known, {}), identity, payload=payload)

    def kept(self, kept: Kept) -> NewLine:
        """Return the line of an episode of ours as it was, but for secrets that are hidden here."""
        episode, whole = kept.episode, kept.whole
        if whole is not None and text_digest(whole) != episode.payload:
            # Kept under a name that is not its own, it would be taken for another text.
            whole = None
        payload = None if whole is None else (episode.payload, whole)
        text = episode.text if whole is None else whole
        if redact_for_role(episode.role, text, self.settings) != text:
            text, length, payload = shorten_for_line(episode.role, text, self.settings)
            name = payload[0] if payload else ""
            episode = episode._replace(text=text, cut=length or episode.cut, payload=name)
        told = {name: getattr(episode, name) for name in _FIELDS}
        line, mark = encode(told, episode.more), f"{episode.seq} {episode.id}"
        event = "event" if episode.role == "event" else ""
        return NewLine(episode.id, episode.at, line, mark, episode.event or event, payload)


def _event(
    event: str, at: datetime, more: Mapping[str, Any], meta: Mapping[str, Any], salt: str = ""
) -> NewLine:
    identity = digest(event, salt, str(more.get("session", "")))
    known = {
        "ts": stamp(at),
        "id": _id(at, identity),
        "role": "event",
        "text": "",
        "meta": meta,
        "event": event,
    }
    return NewLine(str(known["id"]), at, encode(known, more), identity, event)


def _id(at: datetime, identity: str) -> str:
    milliseconds = int(at.timestamp()) * _MS_PER_SECOND + at.microsecond // _US_PER_MS
    return episode_id(milliseconds, int(identity, 16) & ((1 << _BITS) - 1))


PATIENCE: Final = 10.0
"""Seconds that an import waits for other writers at most."""

# A line that stands twice in a source is taken once, if not more than so many stand in between.
_REMEMBERED: Final = 50_000
# What a person says about a session that has ended does not open it again.
_MARKS: Final = frozenset({"archive", "exclude", "include", "redact"})


class Shelf:
    """Where imported sessions are put.

    Attributes:
        folder: The folder of the transcripts.
        disk: What it is read and written with.
        encoder: What makes lines.
        dry: Whether nothing is written.
        ends: Whether what is imported has ended.
    """

    def __init__(
        self,
        folder: Path,
        disk: Disk,
        encoder: Encoder,
        *,
        dry: bool,
        ends: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        """Write to ``folder``; it need not exist."""
        self.folder = folder
        self.disk = disk
        self.encoder = encoder
        self.dry = dry
        self.ends = ends
        self.durable = encoder.settings.durability == "full"
        self._lock = FolderLock(folder / ".lock", disk, patience)
        self._payloads = Payloads(folder / PAYLOADS, disk, durable=self.durable)

    def append(self, session: str, new: list[NewLine], *, begins: bool) -> int:
        """Append lines to a session, which they begin or go on with; return the number of the last.

        Raises:
            StoreError: If the session has been removed since it was looked at.
        """
        self.prepare()
        self._keep(new)
        path = self.folder / f"{session}{SUFFIX}"
        log = SessionLog(path, self.disk, self._lock, durable=self.durable)
        first, rest = new[0].line, [line.line for line in new[1:]]
        # Again: who redacts a line may remove the same text until these lines refer to it.
        keep = partial(self._keep, new)
        try:
            if begins:
                last = log.append(rest, lambda: first, None, keep) + len(rest) - 1
            else:
                last = log.append([first, *rest], lambda: _gone(path), None, keep) + len(rest)
        finally:
            log.close()
        self._payloads.release(line.payload[0] for line in new if line.payload is not None)
        return last

    def _keep(self, new: Iterable[NewLine]) -> None:
        for line in new:
            if line.payload is not None:
                self._payloads.keep(*line.payload)

    def prepare(self) -> None:
        """Make the folder, for the user alone."""
        if self.disk.make_plain_folder(self.folder, durable=self.durable):
            self.disk.save(self.folder / ".gitignore", b"*\n", durable=self.durable)

    def close(self) -> None:
        """Let go of the lock file."""
        self._lock.close()


def _gone(path: Path) -> bytes:
    raise StoreError(f"{path}: was removed while it was imported; import again.")


@dataclass(slots=True)
class Writer:
    """What is known of one session while it is imported.

    Attributes:
        shelf: Where it is.
        session: Its id.
        began: Whether it was there before.
        purged: Whether it was imported and is gone: then nothing is written.
        new: How many episodes came.
        known: How many of them were there already.
        last: The time of the last episode, or when the session began.
        seq: The number of its last line, -1 if it has none.
        elsewhere: The ids of the lines of a session that it may begin with a copy of.
        copies_purged: Whether that session was imported and is gone.
        first: The time of the first episode that was read.
    """

    shelf: Shelf
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
    _last_id: str = ""
    _ended: bool = False
    _there: Counter[str] = field(default_factory=Counter)
    _recent: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _waiting: list[NewLine] = field(default_factory=list)
    _size: int = 0

    def look(self, after: int) -> None:
        """Read what the session holds; the lines with a number above ``after`` may come again."""
        path = self.shelf.folder / f"{self.session}{SUFFIX}"
        if self.shelf.disk.find(path) is None:
            return
        for _, line in lines(self.shelf.disk, path):
            episode = read_line(line)
            if episode is None:
                continue
            self.began, self.seq = True, episode.seq
            if episode.event not in _MARKS:
                self._ended = episode.event == "end"
            if episode.seq > after:
                self._there[episode.id] += 1
            # Where it is read again, what has no time is to get the same one as then.
            if self.last is None or (episode.seq <= after and episode.role != "event"):
                self.last, self._last_id = episode.at, episode.id

    def look_elsewhere(self, session: str) -> None:
        """Read what another session holds, or see that it was removed."""
        path = self.shelf.folder / f"{session}{SUFFIX}"
        self.copies_purged = self.shelf.disk.find(path) is None
        if not self.copies_purged:
            found = (read_line(line) for _, line in lines(self.shelf.disk, path))
            self.elsewhere = frozenset(each.id for each in found if each is not None)

    @property
    def is_copy(self) -> bool:
        """Whether nothing came that does not stand in the other session."""
        copies = bool(self.elsewhere) or self.copies_purged
        return copies and not self.began and not self.new

    def add(self, line: NewLine) -> None:
        """Take a line in, unless it is there already."""
        if line.mark in self._recent:
            return
        self._recent[line.mark] = None
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
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
        """End the session, if it has not ended."""
        if self.last is not None and not self._ended:
            self._put(self.shelf.encoder.end(self.last, self._last_id))

    @property
    def size(self) -> int:
        """How many bytes wait."""
        return self._size

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            if self.shelf.dry:
                self.seq += len(self._waiting)
            else:
                begins = self.seq < 0
                self.seq = self.shelf.append(self.session, self._waiting, begins=begins)
            self._waiting, self._size = [], 0

    def _put(self, line: NewLine) -> None:
        self._waiting.append(line)
        self._size += len(line.line) + (len(line.payload[1]) if line.payload else 0)
        self._ended = line.event == "end"
