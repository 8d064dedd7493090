"""What was said around a hit, up to a silence.

Promises: order is by time and then by place, so that what was said in the same microsecond is
there too; a walk ends at the first silence that is *longer* than the limit, at the number and at
the time a side, whichever comes first; sessions are no border; where there was a hit there is
never nothing, however small the room. No I/O, no clock.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.recall.lines import BROKEN, Line, microseconds, moment_text, read_lines
from engramdown.recall.source import Chunk
from engramdown.settings import EpisodeSettings, episode_settings
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.changes import CACHE, FOLDER, SUFFIX

if TYPE_CHECKING:
    from datetime import date

    from engramdown.models.embedders import Embedder
    from engramdown.recall.candidates import Place
    from engramdown.recall.filters import Wanted
    from engramdown.recall.query import Query
    from engramdown.recall.source import Source
    from engramdown.recall.vectors import Lane
    from engramdown.transcripts.episode import Pointer

__all__ = [
    "Around",
    "Context",
    "Finder",
    "Hit",
    "Hits",
    "Limits",
    "Message",
    "Mode",
    "Moment",
    "Recall",
    "answering",
    "around",
    "inner_words",
    "lines_with",
    "probe",
    "shortened",
]

_MINUTE: Final = 60_000_000
_HOUR: Final = 60 * _MINUTE
LONGEST: Final = 2_000
"""Bytes of a message that are shown."""


class Moment(NamedTuple):
    """When and where something was said; moments sort in the order of a conversation.

    Attributes:
        ts: In microseconds since 1970.
        session: The id of the session.
        seq: Its number there.
    """

    ts: int
    session: str
    seq: int


class Limits(NamedTuple):
    """How far the surroundings of a hit reach.

    Attributes:
        gap_minutes: A silence that is longer ends them.
        around: Messages on each side at most.
        around_hours: Time on each side at most.
        shown: Messages on each side that are shown.
    """

    gap_minutes: float = 10
    around: int = 50
    around_hours: float = 1
    shown: int = 5


class Around(NamedTuple):
    """The surroundings of a hit.

    Attributes:
        before: What came before, in its order.
        after: What came after.
        more_before: How many more belong to it before these.
        more_after: And after.
    """

    before: Sequence[Moment]
    after: Sequence[Moment]
    more_before: int
    more_after: int


def around(moments: Sequence[Moment], hit: Moment, limits: Limits) -> Around:
    """Return the surroundings of ``hit``.

    Args:
        moments: What was said near it, sorted; the hit need not be among them.
        hit: What was found.
        limits: How far to go.
    """
    at = bisect_left(moments, hit)
    behind = at + (at < len(moments) and moments[at] == hit)
    before = _walk(list(reversed(moments[max(at - limits.around, 0) : at])), hit, limits)
    after = _walk(moments[behind : behind + limits.around], hit, limits)
    shown = max(limits.shown, 0)
    return Around(
        list(reversed(before[:shown])),
        after[:shown],
        len(before) - len(before[:shown]),
        len(after) - len(after[:shown]),
    )


def shortened(text: str, size: int = LONGEST) -> tuple[str, bool]:
    """Return as much of ``text`` as ``size`` bytes hold, and whether it was cut.

    At least the first character stays.

    >>> shortened("naïve", 3), shortened("naïve", 0), shortened("naïve", 9)
    (('na', True), ('n', True), ('naïve', False))
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return text, False
    kept = data[:size]
    while kept and data[len(kept)] & 0xC0 == 0x80:  # noqa: PLR2004 - the rest of a character
        kept = kept[:-1]
    shown = kept.decode("utf-8", "surrogatepass") or text[:1]
    return shown, shown != text


def _walk(moments: Sequence[Moment], hit: Moment, limits: Limits) -> list[Moment]:
    """Return what belongs to ``hit`` of what comes after (or before) it, the nearest first."""
    found: list[Moment] = []
    last = hit.ts
    for moment in moments:
        silence = abs(moment.ts - last) > limits.gap_minutes * _MINUTE
        if silence or abs(moment.ts - hit.ts) > limits.around_hours * _HOUR:
            break
        found.append(moment)
        last = moment.ts
    return found


# Finding a string as it is, capitals or not: every string, and every line that holds it.
#
# Promises: a line is found exactly if the case-folded text of the episode holds the case-folded
# string; the newest come first. Most lines are passed over by looking at their bytes; that is only
# done where it is certain that the bytes would show it.

# What JSON may write in another way: the quote, the backslash, the slash and controls.
_AS_IT_IS: Final = re.compile(r"[ !#-.0-\[\]-~]+")
_INNER: Final = re.compile(r"(?<=[\x00-/:-@\[-`{-\x7f])[a-z0-9]+(?=[\x00-/:-@\[-`{-\x7f])")


def probe(needle: str) -> bytes:
    """Return the longest part of ``needle`` that the bytes of an ASCII line must hold as well.

    >>> probe('Say "Hello there"'), probe("größe")
    (b'hello there', b'sse')
    """
    parts = _AS_IT_IS.findall(needle.casefold())
    return max(parts, key=len, default="").encode()


def inner_words(needle: str) -> list[str]:
    """Return the words that every text with ``needle`` has as whole words.

    The first and the last may be pieces of others.

    >>> inner_words("ould you mind that ")
    ['you', 'mind', 'that']
    """
    return _INNER.findall(needle.casefold())


def lines_with(needle: str, block: bytes) -> Iterator[Line]:
    """Yield the lines of ``block`` whose text holds ``needle``, in their order."""
    wanted, sign = needle.casefold(), probe(needle)
    for part in _suspects(block, sign, ascii_only=wanted.isascii()):
        for line in read_lines(part):
            if wanted in line.text.casefold():
                yield line


def _suspects(block: bytes, sign: bytes, *, ascii_only: bool) -> Iterator[bytes]:
    """Yield pieces of ``block``, whole lines each, that may hold what is looked for."""
    plain = block.isascii() and b"\\u" not in block
    if plain and not ascii_only:
        return
    if plain and sign:
        yield from _around(block, sign)
        return
    start, end = 0, block.find(b"\n") + 1
    while end:
        line = block[start:end]
        simple = line.isascii() and b"\\u" not in line
        if not simple or (ascii_only and sign in line.lower()):
            yield line
        start, end = end, block.find(b"\n", end) + 1


def _around(block: bytes, sign: bytes) -> Iterator[bytes]:
    """Yield the lines that hold ``sign``."""
    lower = block.lower()
    at = lower.find(sign)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at) + 1
        if not end:
            return
        yield block[start:end]
        at = lower.find(sign, end)


# Finding what was said.
#
# Promises: any string may be asked for, and none is an error; the same transcripts give the same
# hits in the same order, with an index or without; a line that was written a moment ago by another
# process is found. Reading changes no transcript.

Mode = Literal["best", "exact"]

_FEW: Final = 2_000
"""In how many lines a word may stand to be worth asking the index where."""
_TELL: Final = 3
"""How many lines may tell when an event was."""
_SURE: Final = 0.8
"""How well each must do so, compared with the best."""


class Hit(NamedTuple):
    """An episode that was found.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        time: When it was said, UTC, as it stands in the transcript.
        role: Who or what speaks.
        name: The tool or the speaker.
        text: What the line says.
        snippet: The piece of it around what was found.
        score: How well it answers; comparable within one recall only.
    """

    session: str
    seq: int
    time: str
    role: str
    name: str
    text: str
    snippet: str
    score: float

    @property
    def pointer(self) -> Pointer:
        """Where it stands, ``<session>#<seq>``."""
        from engramdown.transcripts.episode import Pointer

        return Pointer(self.session, self.seq)


class Hits(list[Hit]):
    """What was found.

    Attributes:
        notes: What could not be asked, and why.
    """

    notes: tuple[str, ...] = ()


class Message(NamedTuple):
    """An episode beside a hit.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        time: When it was said, UTC.
        role: Who or what speaks.
        name: The tool or the speaker.
        text: What the line says, or its beginning.
        truncated: Whether that is not all.
    """

    session: str
    seq: int
    time: str
    role: str
    name: str
    text: str
    truncated: bool


class Context(NamedTuple):
    """What was said around a hit.

    Attributes:
        before: The messages before it, in their order.
        after: The messages after it.
        more_before: How many more belong to it before these.
        more_after: And after.
    """

    before: list[Message]
    after: list[Message]
    more_before: int
    more_after: int


class _Found(NamedTuple):
    """A line that holds a string; sorts by age."""

    ts: int
    session: str
    line: Line


class _At(NamedTuple):
    """A line that is wanted; sorts by age."""

    ts: int
    session: str
    seq: int
    chunk: Chunk
    at: int


class Recall:
    """Finds episodes in the transcripts of one folder."""

    def __init__(self, folder: Path, cache: Path, disk: EpisodeDisk) -> None:
        """Look in ``folder``, with an index in ``cache``; nothing is read yet."""
        from engramdown.recall.index_file import Shelf

        self.folder = folder
        self._disk = disk
        self._shelf = Shelf(folder, cache, disk)

    def __call__(self, query: str, limit: int, mode: Mode, wanted: Wanted) -> Hits:
        """Return at most ``limit`` hits for ``query``, the best or the newest first.

        Without words, but with a range of time, everything in it is a hit, the newest first.
        """
        if not query.strip() and wanted.has_range():
            return Hits(reversed(self.messages(limit, wanted)))
        if limit <= 0 or not query:
            return Hits()
        find = self._exact if mode == "exact" else self._best
        return Hits(self._shelf.ask(lambda source: find(source, query, limit, wanted)))

    def messages(self, limit: int, wanted: Wanted) -> list[Hit]:
        """Return the newest ``limit`` lines that are wanted, the oldest first."""
        if limit <= 0:
            return []
        return self._shelf.ask(lambda source: self._messages(source, limit, wanted))

    def sessions(self, wanted: Wanted) -> list[str]:
        """Return the sessions that have a line that is wanted, in the order of their ids."""
        return self._shelf.ask(
            lambda source: sorted({it.session for it in _lines_of(source, wanted)})
        )

    def keep_up(self) -> None:
        """Take what was said into the index."""
        self._shelf.ask(lambda _: None)

    def close(self) -> None:
        """Let go of the index; the next recall opens it again."""
        self._shelf.close()

    # ---- without words ----

    def _messages(self, source: Source, limit: int, wanted: Wanted) -> list[Hit]:
        from heapq import nlargest

        from engramdown.recall.candidates import Place

        found = sorted(nlargest(limit, _lines_of(source, wanted)))
        places = {at: Place(each.chunk, each.at) for at, each in enumerate(found)}
        lines = self._lines(source, places)
        hits = [_hit(each.session, lines[at], lines[at].text, 1.0) for at, each in enumerate(found)]
        # Of what was redacted only the place is left.
        return [hit for hit in hits if hit.text]

    # ---- the best ----

    def _best(self, source: Source, text: str, limit: int, wanted: Wanted) -> list[Hit]:
        from engramdown.language.dates import counts_from_event
        from engramdown.recall.candidates import best
        from engramdown.recall.query import read_query
        from engramdown.recall.ranking import REREAD, reread

        query = read_query(text, tuple(source.speakers()), wanted.now)
        if not query.terms:
            # Signs and emoji are no words.
            return self._exact(source, text.strip(), limit, wanted) if text.strip() else []
        if counts_from_event(text):
            query = self._dated(source, query, wanted)
        ranked, places = best(source, query, wanted)
        first = [one.key for one in ranked[: max(limit, REREAD)]]
        lines = self._lines(source, {key: places[key] for key in first})
        texts = {key: lines[key].text for key in first[:REREAD]}
        again = reread(query, ranked, texts)[:limit]
        stems = _stems(query)
        return [
            _best_hit(source.name(places[one.key].chunk.session), lines[one.key], one.score, stems)
            for one in again
        ]

    def _dated(self, source: Source, query: Query, wanted: Wanted) -> Query:
        """Return ``query`` with the times that it counts from an event."""
        # Few questions do, and a command starts sooner without it.
        from engramdown.recall.candidates import best
        from engramdown.recall.filters import Wanted
        from engramdown.recall.query import Told, near, read_anchor, read_query

        anchor = read_anchor(query.text)
        if anchor is None:
            return query
        if anchor.is_dated:
            told = [Told(wanted.now.timestamp() if wanted.now else 0.0, anchor.event)]
        else:
            event = read_query(anchor.event, tuple(source.speakers()))
            ranked, places = best(source, event, Wanted())
            first = [one for one in ranked[:_TELL] if one.score >= _SURE * ranked[0].score]
            lines = self._lines(source, {one.key: places[one.key] for one in first})
            told = [Told(one.mark.at, lines[one.key].text) for one in first]
        return query._replace(dates=query.dates._replace(near=near(anchor, told)))

    def _lines(self, source: Source, places: Mapping[int, Place]) -> dict[int, Line]:
        """Read lines by their keys, each file once.

        Raises:
            Unusable: If there is none any more where one was.
        """
        from engramdown.recall.source import Unusable

        by_session: dict[int, list[int]] = {}
        for key, place in places.items():
            by_session.setdefault(place.chunk.session, []).append(key)
        lines = {}
        for session, keys in by_session.items():
            parts = [places[key].chunk.range(places[key].at) for key in keys]
            for key, data in zip(keys, self._read(source.name(session), parts), strict=True):
                found = list(read_lines(data))
                if len(found) != 1 or found[0].role == BROKEN:
                    raise Unusable
                lines[key] = found[0]
        return lines

    def _read(self, session: str, parts: Iterable[tuple[int, int]]) -> list[bytes]:
        """Return pieces of a transcript.

        Raises:
            Unusable: If it cannot be read any more.
        """
        from engramdown.errors import StoreError
        from engramdown.recall.source import Unusable

        try:
            file = self._disk.open(f"{self.folder}/{session}{SUFFIX}")
            try:
                return [self._disk.read(file, start, end) for start, end in parts]
            finally:
                self._disk.close(file)
        except (OSError, StoreError):
            raise Unusable from None

    # ---- the exact string ----

    def _exact(self, source: Source, needle: str, limit: int, wanted: Wanted) -> list[Hit]:
        from heapq import nlargest

        only = self._sessions_with(source, needle)
        found: list[_Found] = []
        for session, newest in source.sessions():
            if len(found) == limit and newest < found[-1].ts:
                break
            if newest < wanted.since or (wanted.session and session != wanted.session):
                continue
            if only is None or session in only:
                found = nlargest(limit, [*found, *self._found(source, session, needle, wanted)])
        return [_exact_hit(one, needle) for one in found]

    def _sessions_with(self, source: Source, needle: str) -> frozenset[str] | None:
        """Return the only sessions that can hold ``needle``, or ``None`` if that is not known."""
        from engramdown.recall.candidates import lists_of
        from engramdown.recall.source import CHUNK

        for word in inner_words(needle):
            lists = lists_of(source, (word,))
            if sum(map(len, lists)) <= _FEW:
                numbers = {source.chunk(key // CHUNK).session for keys in lists for key in keys}
                return frozenset(source.name(number) for number in numbers)
        return None

    def _found(self, source: Source, session: str, needle: str, wanted: Wanted) -> Iterator[_Found]:
        from engramdown.errors import StoreError

        try:
            block = self._disk.load(self.folder / f"{session}{SUFFIX}") or b""
        except (OSError, StoreError):
            return
        number = source.number(session)
        for line in lines_with(needle, block):
            hidden = number is None or source.is_excluded(number, line.seq)
            if wanted.takes(line.role, line.ts) and not hidden:
                yield _Found(line.ts, session, line)

    # ---- around a hit ----

    def around(self, hits: Sequence[Hit], limits: Limits) -> list[Context]:
        """Return what was said around each of ``hits``."""
        return self._shelf.ask(lambda source: [self._around(source, hit, limits) for hit in hits])

    def _around(self, source: Source, hit: Hit, limits: Limits) -> Context:
        from engramdown.recall.candidates import places_near

        moment = Moment(microseconds(hit.time), hit.session, hit.seq)
        places = places_near(source, moment.ts, limits)
        found = around(sorted(places), moment, limits)
        before = [self._message(one, places[one]) for one in found.before]
        after = [self._message(one, places[one]) for one in found.after]
        return Context(before, after, found.more_before, found.more_after)

    def _message(self, moment: Moment, place: Place) -> Message:
        from engramdown.recall.source import Unusable
        from engramdown.transcripts.episode import read_line

        [data] = self._read(moment.session, [place.chunk.range(place.at)])
        episode = read_line(data)
        if episode is None:
            raise Unusable
        text, truncated = shortened(episode.text)
        said = (episode.seq, episode.ts, episode.role, episode.name)
        return Message(moment.session, *said, text, truncated)


def _lines_of(source: Source, wanted: Wanted) -> Iterator[_At]:
    """Yield the lines that are wanted, whatever they say."""
    only = source.number(wanted.session) if wanted.session else None
    if wanted.session and only is None:
        return
    for session in source.running(wanted.since, wanted.until):
        if only not in (None, session):
            continue
        name = source.name(session)
        for number in source.chunks(session):
            chunk = source.chunk(number)
            for at in range(chunk.lines):
                _, seq, ts, _, role, _ = chunk.values(at)
                if wanted.takes(role, ts) and not source.is_excluded(session, seq):
                    yield _At(ts, name, seq, chunk, at)


def _stems(query: Query) -> frozenset[str]:
    from engramdown.language.terms import tokens

    return frozenset(token for term in query.terms for word in term.words for token in tokens(word))


def _best_hit(session: str, line: Line, score: float, stems: frozenset[str]) -> Hit:
    from engramdown.language.snippets import LONGEST as LONGEST_RECALL
    from engramdown.language.snippets import snippet, where

    text = line.text
    shown = text if len(text) <= LONGEST_RECALL else snippet(text, *where(text, stems))
    return _hit(session, line, shown, score)


def _exact_hit(found: _Found, needle: str) -> Hit:
    from engramdown.language.snippets import find, snippet

    text = found.line.text
    return _hit(found.session, found.line, snippet(text, *(find(text, needle) or (0, 0))), 1.0)


def _hit(session: str, line: Line, shown: str, score: float) -> Hit:
    from engramdown.transcripts.episode import ROLES

    said = (line.seq, moment_text(line.ts), ROLES[line.role], line.name, line.text)
    return Hit(session, *said, shown, score)


# What answers a recall: the words alone, or the words and an embedder if one is set.
#
# Promises: without an embedder nothing that only embeddings need is imported.


def answering(
    folder: Path, disk: EpisodeDisk, settings: EpisodeSettings, embedder: Embedder | None
) -> Recall | Lane:
    """Return what answers for the transcripts in ``folder``."""
    cache = folder.parent / CACHE
    words = Recall(folder, cache, disk)
    chosen = embedder or settings.embedder
    if not chosen:
        return words
    from engramdown.recall.vectors import Lane

    return Lane(words, cache, disk, chosen, settings.embedder_timeout)


# Finding in the transcripts of one scope, with nothing of what records them.
#
# Promises: nothing of recall is imported before something is asked for; a transcript is never
# changed, and none is created.


class Finder:
    """What finds in the transcripts of one scope.

    Attributes:
        folder: Where they are.
        settings: What was configured.
    """

    def __init__(
        self,
        root: Path | str,
        settings: EpisodeSettings | None = None,
        disk: EpisodeDisk | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """Look in the ``episodes`` of the scope's folder ``root``; nothing is read yet."""
        self.folder = Path(root) / FOLDER
        self.settings = episode_settings() if settings is None else settings
        self._disk = disk or EpisodeDisk()
        self._recall: Recall | Lane | None = None
        self._embedder = embedder

    def recall(  # noqa: PLR0917 - in the order that is promised
        self,
        query: str,
        limit: int = 20,
        days_back: float | None = None,
        session: str | None = None,
        role: str | Iterable[str] | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        mode: Mode = "best",
    ) -> Hits:
        """Return what was said about ``query``, in all sessions.

        Args:
            query: Any string: words, a question, or for ``exact`` the very string. With ``""``
                and a range of time everything in it is a hit, the newest first.
            limit: How many hits at most.
            days_back: How many days back at most.
            session: The id of the only session to look in.
            role: The only role, or several. By default all but events and what was recalled.
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone.
            until: The latest time or day, which belongs to it.
            mode: ``best`` ranks what answers the question; ``exact`` finds the string as it is,
                capitals or not, the newest first.

        Raises:
            ValueError: If a role, a time or the mode is none.
        """
        from datetime import UTC, datetime

        from engramdown.clock import nanoseconds
        from engramdown.recall.filters import wanted

        if mode not in ("best", "exact"):
            raise ValueError(f"{mode!r} is no mode; use best or exact")
        now = datetime.fromtimestamp(nanoseconds() / 1e9, UTC)
        filters = wanted(
            now, days_back=days_back, session=session, role=role, since=since, until=until
        )
        return self._recalling()(query, limit, mode, filters)

    def messages(
        self,
        since: date | str | None = None,
        until: date | str | None = None,
        *,
        role: str | Iterable[str] | None = None,
        session: str | None = None,
        limit: int = 1_000,
    ) -> list[Hit]:
        """Return what was said and done in a range of time, in all sessions, the oldest first.

        What was excluded or redacted is left out.

        Args:
            since: The earliest time or day, also as ISO 8601; UTC if it has no zone. By default
                there is none.
            until: The latest time or day, which belongs to it.
            role: The only role, or several. By default all but events and what was recalled.
            session: The id of the only session to look in.
            limit: How many at most; of more these are the newest.

        Raises:
            ValueError: If a role or a time is none.

        >>> from datetime import date
        >>> Finder("nowhere").messages(date(2026, 2, 27), date(2026, 2, 28), role="user")
        []
        """
        from datetime import UTC, datetime

        from engramdown.clock import nanoseconds
        from engramdown.recall.filters import wanted

        now = datetime.fromtimestamp(nanoseconds() / 1e9, UTC)
        filters = wanted(now, session=session, role=role, since=since, until=until)
        return self._recalling().messages(limit, filters)

    def around(self, hits: Sequence[Hit]) -> list[Context]:
        """Return what was said around each of ``hits``, up to a silence, as it is configured."""
        own = self.settings
        limits = Limits(own.gap_minutes, own.around, own.around_hours, own.shown)
        return self._recalling().around(hits, limits)

    def _recalling(self) -> Recall | Lane:
        if self._recall is None:
            # Imported here: what only records needs none of it.
            self._recall = answering(self.folder, self._disk, self.settings, self._embedder)
        return self._recall

    def keep_up(self) -> None:
        """Take what was said into the index, which is made if there is none."""
        self._recalling().keep_up()

    def close(self) -> None:
        """Let go of the index; the next recall opens it again."""
        if self._recall is not None:
            self._recall.close()
