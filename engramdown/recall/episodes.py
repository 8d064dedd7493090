"""Recall: which lines of the transcripts answer a question, and what was said around a line.

Any string may be asked for, and none is an error; the same transcripts give the same hits in the
same order, with an index or without; a line that was written a moment ago by another process is
found. Reading changes no transcript.

An exact string is found if the case-folded text of an episode holds the case-folded string. Most
lines are skipped by looking at their bytes alone, where it is certain that these would show it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.language.dates import Anchor, Span, read_anchor, read_dates, spans_from
from engramdown.language.snippets import LONGEST, find, shortened, snippet, where
from engramdown.language.terms import tokens
from engramdown.language.updates import newer_first
from engramdown.recall import lines
from engramdown.recall.index_file import IndexFile
from engramdown.recall.lines import Line, Unusable
from engramdown.recall.query import (
    Context,
    Hit,
    Hits,
    Message,
    Mode,
    Wanted,
    read_query,
    similarities,
)
from engramdown.recall.ranking import REREAD, Place, Ranked, best, lists_of, reread
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.changes import SUFFIX
from engramdown.transcripts.episode import ROLES, read_line

if TYPE_CHECKING:
    from engramdown.recall.index import Index

_MINUTE: Final = 60_000_000
_HOUR: Final = 60 * _MINUTE
# In how many lines a word may stand to be worth asking the index where.
_FEW: Final = 2_000
# How many lines may date an event, each nearly as good as the best.
_TELL: Final = 3
_SURE: Final = 0.8
# What JSON may write in another way: the quote, the backslash, the slash and controls.
_AS_IT_IS: Final = re.compile(r"[ !#-.0-\[\]-~]+")
_INNER: Final = re.compile(r"(?<=[\x00-/:-@\[-`{-\x7f])[a-z0-9]+(?=[\x00-/:-@\[-`{-\x7f])")


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


class Around(NamedTuple):
    """The surroundings of a hit: what came before and after it, and how many more belong to it."""

    before: Sequence[Moment]
    after: Sequence[Moment]
    more_before: int
    more_after: int


class Recall:
    """Finds episodes in the transcripts of one folder."""

    def __init__(self, folder: Path, cache: Path, disk: Disk) -> None:
        """Look in ``folder``, with an index in ``cache``; nothing is read yet."""
        self.folder = folder
        self._disk = disk
        self.index = IndexFile(folder, cache, disk)

    def __call__(self, query: str, limit: int, mode: Mode, wanted: Wanted) -> Hits:
        """Return at most ``limit`` hits for ``query``, the best or the newest first.

        Without words, but with a range of time, everything in it is a hit, the newest first.
        """
        if not query.strip() and wanted.has_range():
            return Hits(reversed(self.messages(limit, wanted)))
        if limit <= 0 or not query:
            return Hits()
        find = self._exact if mode == "exact" else self._best
        return Hits(self.index.ask(lambda index: find(index, query, limit, wanted)))

    def by_words(self, query: str, limit: int, wanted: Wanted) -> list[Hit]:
        """Return hits by words alone; their scores are :func:`similarities`."""
        hits = Recall.__call__(self, query, limit, "best", wanted)
        near = similarities(query, [(hit.text, hit.score) for hit in hits])
        return [hit._replace(score=score) for hit, score in zip(hits, near, strict=True)]

    def messages(self, limit: int, wanted: Wanted, before: Moment | None = None) -> list[Hit]:
        """Return the newest ``limit`` lines that are wanted, the oldest first.

        Args:
            limit: How many at most.
            wanted: Which.
            before: Only those before this one.
        """
        if limit <= 0:
            return []

        def newest(index: Index, count: int) -> list[Hit]:
            found = _newest(index, count, wanted, before)
            said = self._lines(index, {at: place for at, (_, place) in enumerate(found)})
            # Of what was redacted only the place is left.
            hits = [
                _hit(moment.session, said[at], said[at].text)
                for at, (moment, _) in enumerate(found)
                if said[at].text
            ]
            is_all = len(found) < count or len(hits) >= limit
            return hits[-limit:] if is_all else newest(index, 2 * count)

        return self.index.ask(lambda index: newest(index, limit))

    def sessions(self, wanted: Wanted) -> list[str]:
        """Return the sessions that have a line that is wanted, in the order of their ids."""
        return self.index.ask(
            lambda index: sorted({line.session for line, _ in _lines_of(index, wanted)})
        )

    # ---- the best ----

    def _best(self, index: Index, text: str, limit: int, wanted: Wanted) -> list[Hit]:
        query = read_query(text, tuple(index.speakers()), wanted.now)
        if not query.terms:
            # Signs and emoji are not words.
            return self._exact(index, text.strip(), limit, wanted) if text.strip() else []
        if anchor := read_anchor(text):
            spans = self._spans(index, anchor, wanted)
            query = query._replace(dates=query.dates._replace(near=spans))
        ranked, places = best(index, query, wanted)
        first = [one.key for one in ranked[: max(limit, REREAD)]]
        said = self._lines(index, {key: places[key] for key in first})
        texts = {key: said[key].text for key in first[:REREAD]}
        words = (word for term in query.terms for word in term.words)
        stems = frozenset(stem for word in words for stem in tokens(word))
        again = reread(query, ranked, texts)
        order, newer = _newer_first(again, texts, text)
        hits = []
        for place in order[:limit]:
            key = again[place].key
            shown = said[key].text
            if len(shown) > LONGEST:
                shown = snippet(shown, *where(shown, stems))
            session = index.name(places[key].chunk.session)
            hit = _hit(session, said[key], shown, again[place].score)
            if (other := newer.get(place)) is not None:
                name = index.name(places[again[other].key].chunk.session)
                hit = hit._replace(newer=f"{name}#{said[again[other].key].seq}")
            hits.append(hit)
        return hits

    def _spans(self, index: Index, anchor: Anchor, wanted: Wanted) -> tuple[Span, ...]:
        """Return the times that ``anchor`` may mean: a day, or when the best lines mention it."""
        if read_dates(anchor.event).days:
            now = wanted.now.timestamp() if wanted.now else 0.0
            return spans_from(anchor, [(now, anchor.event)])
        event = read_query(anchor.event, tuple(index.speakers()))
        ranked, places = best(index, event, Wanted())
        first = [one for one in ranked[:_TELL] if one.score >= _SURE * ranked[0].score]
        said = self._lines(index, {one.key: places[one.key] for one in first})
        return spans_from(anchor, [(one.mark.at, said[one.key].text) for one in first])

    def _lines(self, index: Index, places: Mapping[int, Place]) -> dict[int, Line]:
        """Read lines by their keys, each file once.

        Raises:
            Unusable: If one of them is not there any more.
        """
        by_session: dict[int, list[int]] = {}
        for key, place in places.items():
            by_session.setdefault(place.chunk.session, []).append(key)
        said = {}
        for session, keys in by_session.items():
            parts = [places[key].chunk.range(places[key].at) for key in keys]
            for key, data in zip(keys, self._read(index.name(session), parts), strict=True):
                found = list(lines.read_lines(data))
                if len(found) != 1 or found[0].role == lines.BROKEN:
                    raise Unusable
                said[key] = found[0]
        return said

    def _read(self, session: str, parts: Iterable[tuple[int, int]]) -> list[bytes]:
        """Return pieces of a transcript.

        Raises:
            Unusable: If it cannot be read any more.
        """
        try:
            with self._disk.opened(f"{self.folder}/{session}{SUFFIX}") as file:
                return [self._disk.read_at(file, start, end) for start, end in parts]
        except (OSError, StoreError):
            raise Unusable from None

    # ---- the exact string ----

    def _exact(self, index: Index, needle: str, limit: int, wanted: Wanted) -> list[Hit]:
        only = self._sessions_with(index, needle)
        found: list[tuple[int, str, Line]] = []
        for session, newest in index.sessions():
            if len(found) == limit and newest < found[-1][0]:
                break
            is_meant = newest >= wanted.since and wanted.session in {"", session}
            if is_meant and (only is None or session in only):
                found = nlargest(limit, [*found, *self._found(index, session, needle, wanted)])
        return [
            _hit(session, line, snippet(line.text, *(find(line.text, needle) or (0, 0))))
            for _, session, line in found
        ]

    def _sessions_with(self, index: Index, needle: str) -> frozenset[str] | None:
        """Return the only sessions that can hold ``needle``, or ``None`` if that is not known."""
        for word in inner_words(needle):
            lists = lists_of(index, (word,))
            if sum(map(len, lists)) <= _FEW:
                numbers = {key // lines.CHUNK for keys in lists for key in keys}
                chunks = index.fetch(numbers)
                return frozenset(index.name(chunks[number].session) for number in numbers)
        return None

    def _found(
        self, index: Index, session: str, needle: str, wanted: Wanted
    ) -> Iterator[tuple[int, str, Line]]:
        """Yield the lines of a session that hold ``needle``, as they sort by age."""
        try:
            block = self._disk.load(self.folder / f"{session}{SUFFIX}") or b""
        except (OSError, StoreError):
            return
        number = index.number(session)
        for line in lines_with(needle, block):
            hidden = number is None or index.is_excluded(number, line.seq)
            if wanted.takes(line.role, line.ts) and not hidden:
                yield line.ts, session, line

    # ---- around a hit ----

    def around(self, hits: Sequence[Hit], settings: EpisodeSettings) -> list[Context]:
        """Return what was said around each of ``hits``, as far as ``settings`` say."""
        reach = int(settings.around_hours * _HOUR)

        def surroundings(index: Index) -> Iterator[Context]:
            for hit in hits:
                moment = Moment(lines.microseconds(hit.time), hit.session, hit.seq)
                near = Wanted(since=moment.ts - reach, until=moment.ts + reach)
                places = dict(_lines_of(index, near))
                found = around(sorted(places), moment, settings)
                before = [self._message(one, places[one]) for one in found.before]
                after = [self._message(one, places[one]) for one in found.after]
                yield Context(before, after, found.more_before, found.more_after)

        return self.index.ask(lambda index: list(surroundings(index)))

    def _message(self, moment: Moment, place: Place) -> Message:
        [data] = self._read(moment.session, [place.chunk.range(place.at)])
        episode = read_line(data)
        if episode is None:
            raise Unusable
        text, truncated = shortened(episode.text)
        said = (episode.seq, episode.ts, episode.role, episode.name)
        return Message(moment.session, *said, text, truncated)


def _newer_first(
    ranked: Sequence[Ranked], texts: Mapping[int, str], question: str
) -> tuple[list[int], dict[int, int]]:
    """Return the places of hits, that before which says that they are outdated, and which are.

    Of several people each outdates only what they said themselves.
    """
    by_speaker: defaultdict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(ranked):
        if one.key in texts:
            by_speaker["" if one.mark.speaker in ROLES else one.mark.speaker].append(at)
    order, newer = list(range(len(ranked))), dict[int, int]()
    for places in by_speaker.values():
        said = [(f"{ranked[at].mark.at:020.6f}", texts[ranked[at].key]) for at in places]
        found, replaced = newer_first(said, question)
        for place, at in zip(places, found, strict=True):
            order[place] = places[at]
        newer |= {places[old]: places[new] for old, new in replaced.items()}
    return order, newer


def _newest(
    index: Index, count: int, wanted: Wanted, before: Moment | None
) -> list[tuple[Moment, Place]]:
    """Return the newest lines that are wanted, before one of them if given, the oldest first."""
    if before is not None:
        wanted = wanted._replace(until=min(wanted.until, before.ts))
    only = index.number(wanted.session) if wanted.session else None
    found: list[tuple[Moment, Place]] = []
    for session, newest in index.running(wanted.since, wanted.until):
        if len(found) == count and newest < found[-1][0].ts:
            break
        if wanted.session and session != only:
            continue
        lines = _lines_in(index, session, wanted)
        found = nlargest(
            count, [*found, *(one for one in lines if before is None or one[0] < before)]
        )
    return found[::-1]


def _lines_of(index: Index, wanted: Wanted) -> Iterator[tuple[Moment, Place]]:
    """Yield the lines that are wanted, whatever they say."""
    only = index.number(wanted.session) if wanted.session else None
    for session, _ in index.running(wanted.since, wanted.until):
        if not wanted.session or session == only:
            yield from _lines_in(index, session, wanted)


def _lines_in(index: Index, session: int, wanted: Wanted) -> Iterator[tuple[Moment, Place]]:
    """Yield the lines of a session that are wanted."""
    name = index.name(session)
    numbers = list(index.chunks(session))
    chunks = index.fetch(numbers)
    for chunk in map(chunks.__getitem__, numbers):
        for at in range(chunk.lines):
            _, seq, ts, _, role, _ = chunk.line(at)
            if wanted.takes(role, ts) and not index.is_excluded(session, seq):
                yield Moment(ts, name, seq), Place(chunk, at)


def _hit(session: str, line: Line, shown: str, score: float = 1.0) -> Hit:
    said = (line.seq, lines.moment_text(line.ts), ROLES[line.role], line.name, line.text)
    return Hit(session, *said, shown, score)


# ---- around a hit ----


def around(moments: Sequence[Moment], hit: Moment, settings: EpisodeSettings) -> Around:
    """Return the surroundings of ``hit``.

    Args:
        moments: What was said near it, sorted; the hit need not be among them.
        hit: What was found.
        settings: How far to go.
    """
    at = bisect_left(moments, hit)
    behind = at + (at < len(moments) and moments[at] == hit)
    before = _walk(moments[max(at - settings.around, 0) : at][::-1], hit, settings)
    after = _walk(moments[behind : behind + settings.around], hit, settings)
    shown = max(settings.shown, 0)
    more = (len(before[shown:]), len(after[shown:]))
    return Around(before[:shown][::-1], after[:shown], *more)


def _walk(moments: Sequence[Moment], hit: Moment, settings: EpisodeSettings) -> list[Moment]:
    """Return what belongs to ``hit`` of what comes after (or before) it, the nearest first."""
    found: list[Moment] = []
    last = hit.ts
    for moment in moments:
        silence = abs(moment.ts - last) > settings.gap_minutes * _MINUTE
        if silence or abs(moment.ts - hit.ts) > settings.around_hours * _HOUR:
            break
        found.append(moment)
        last = moment.ts
    return found


# ---- a string as it is ----


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
        for line in lines.read_lines(part):
            if wanted in line.text.casefold():
                yield line


def _suspects(block: bytes, sign: bytes, *, ascii_only: bool) -> Iterator[bytes]:
    """Yield pieces of ``block``, whole lines each, that may hold the string."""
    plain = block.isascii() and b"\\u" not in block
    if plain and not ascii_only:
        return
    if not (plain and sign):
        for line in block.split(b"\n")[:-1]:
            simple = line.isascii() and b"\\u" not in line
            if not simple or (ascii_only and sign in line.lower()):
                yield line + b"\n"
        return
    lower = block.lower()
    at = lower.find(sign)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at) + 1
        if not end:
            return
        yield block[start:end]
        at = lower.find(sign, end)
