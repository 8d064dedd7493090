"""Finding what was said.

Promises: any string may be asked for, and none is an error; the same transcripts give the same
hits in the same order, with an index or without; a line that was written a moment ago by another
process is found. Reading changes no transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Final, Literal, NamedTuple

from engramdown.episodes.disk import EpisodeDisk
from engramdown.episodes.episode import ROLES, Pointer, read_line
from engramdown.episodes.search.exact import inner_words, lines_with
from engramdown.episodes.search.surroundings import Limits, Moment, around, shortened
from engramdown.episodes.watch import SUFFIX
from engramdown.errors import StoreError
from engramdown.language.dates import counts_from_event
from engramdown.language.snippets import LONGEST, find, snippet, where
from engramdown.language.terms import tokens
from engramdown.recall.candidates import Place, best, lists_of, places_near
from engramdown.recall.filters import Wanted
from engramdown.recall.index_file import Shelf
from engramdown.recall.lines import BROKEN, Line, microseconds, moment_text, read_lines
from engramdown.recall.query import Query, read_query
from engramdown.recall.ranking import REREAD, reread
from engramdown.recall.source import CHUNK, Chunk, Source, Unusable

__all__ = ["Context", "Hit", "Hits", "Message", "Mode", "Recall"]

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
        found = sorted(nlargest(limit, _lines_of(source, wanted)))
        places = {at: Place(each.chunk, each.at) for at, each in enumerate(found)}
        lines = self._lines(source, places)
        hits = [_hit(each.session, lines[at], lines[at].text, 1.0) for at, each in enumerate(found)]
        # Of what was redacted only the place is left.
        return [hit for hit in hits if hit.text]

    # ---- the best ----

    def _best(self, source: Source, text: str, limit: int, wanted: Wanted) -> list[Hit]:
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
        from engramdown.recall.query import Told, near, read_anchor

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
        for word in inner_words(needle):
            lists = lists_of(source, (word,))
            if sum(map(len, lists)) <= _FEW:
                numbers = {source.chunk(key // CHUNK).session for keys in lists for key in keys}
                return frozenset(source.name(number) for number in numbers)
        return None

    def _found(self, source: Source, session: str, needle: str, wanted: Wanted) -> Iterator[_Found]:
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
        moment = Moment(microseconds(hit.time), hit.session, hit.seq)
        places = places_near(source, moment.ts, limits)
        found = around(sorted(places), moment, limits)
        before = [self._message(one, places[one]) for one in found.before]
        after = [self._message(one, places[one]) for one in found.after]
        return Context(before, after, found.more_before, found.more_after)

    def _message(self, moment: Moment, place: Place) -> Message:
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
    return frozenset(token for term in query.terms for word in term.words for token in tokens(word))


def _best_hit(session: str, line: Line, score: float, stems: frozenset[str]) -> Hit:
    text = line.text
    shown = text if len(text) <= LONGEST else snippet(text, *where(text, stems))
    return _hit(session, line, shown, score)


def _exact_hit(found: _Found, needle: str) -> Hit:
    text = found.line.text
    return _hit(found.session, found.line, snippet(text, *(find(text, needle) or (0, 0))), 1.0)


def _hit(session: str, line: Line, shown: str, score: float) -> Hit:
    said = (line.seq, moment_text(line.ts), ROLES[line.role], line.name, line.text)
    return Hit(session, *said, shown, score)
