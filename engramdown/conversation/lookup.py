"""Finds the messages that a summary covers.

It writes nothing. Every message of the conversation is found, whatever summaries cover it, unless
it was excluded or redacted. A pattern is matched literally, ignoring case, the newest first. Where
an answer has to end, a cursor continues at the same depth, so that following cursors returns every
word of a summary's sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from engramdown.conversation.view import ROLES, Track
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import EpisodeNotFoundError, GistNotFoundError
from engramdown.language.snippets import find, snippet, whole
from engramdown.storage.disk import Disk
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.episode import NUMBERED, Episode, Pointer, read_line
from engramdown.transcripts.sessions import lines
from engramdown.transcripts.summary_log import Gist, Source
from engramdown.transcripts.visibility import REDACTED, excluded, repeats_memory

Scope = Literal["both", "messages", "summaries"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
# How many hits are returned by default.
GREP: Final = 20
# How many tokens are returned at once by default.
EXPAND: Final = 4_000

_SNIPPET: Final = 500
# Text that JSON does not escape.
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]+\Z")
# The depth, which source comes next, and how much of it was shown.
_CURSOR: Final = re.compile(r"([0-9]{1,6})/([0-9]{1,9})(?::([0-9]{1,12}))?\Z", re.ASCII)
_PREFIX: Final = 4


class Found(NamedTuple):
    """A message or summary that holds the pattern.

    Attributes:
        source: The number of the message, or the id of the summary.
        role: The role of the message, or the form of the summary.
        ts: The time of the message, or of the last message of the summary.
        snippet: About 500 characters around the match, or its beginning.
        gist: The id of the summary that covers it, or ``""`` if it is in the view.
        name: The tool.
        echo: Whether it only repeats memory: a lookup by a tool, or the call that asked for it.
    """

    source: Source
    role: str
    ts: str
    snippet: str
    gist: str
    name: str = ""
    echo: bool = False


class Described(NamedTuple):
    """A summary and its place in the conversation.

    Attributes:
        gist: The summary.
        derived: The id of the summary that was made from it, or ``""``.
        in_view: Whether a model sees it.
    """

    gist: Gist
    derived: str
    in_view: bool


class Expanded(NamedTuple):
    """One of the sources of a summary.

    Attributes:
        source: The number of the message, or the id of the summary.
        role: The role of the message, or the form of the summary.
        ts: The time of the message, or of the first message of the summary.
        name: The tool.
        text: The text, or as much of it as there is room for.
        tokens: What that costs.
        cut: Whether the beginning or the end of the text is missing.
    """

    source: Source
    role: str
    ts: str
    name: str
    text: str
    tokens: int
    cut: bool = False


class Expansion(NamedTuple):
    """What a summary was made from.

    Attributes:
        gist: The id of the summary, or the pointer to the message.
        items: Its sources, in order; one at least.
        tokens: What they cost.
        truncated: Whether there are more.
        cursor: Where to continue, or ``""``.
    """

    gist: str
    items: tuple[Expanded, ...]
    tokens: int
    truncated: bool
    cursor: str


class Lineage:
    """The messages and summaries of one conversation."""

    def __init__(self, track: Track, episodes: EpisodicMemory) -> None:
        """Search the conversation that ``track`` follows."""
        self._track = track
        self._episodes = episodes
        self._disk = Disk()

    def grep(self, pattern: str, scope: Scope = "both", limit: int = GREP) -> list[Found]:
        """Return where a text occurs, the newest first.

        Args:
            pattern: The text, matched literally, ignoring case; a blank one matches nothing.
            scope: Whether to search messages, summaries or both.
            limit: The greatest number of hits, of both together; 20 if it is not above 0.

        Raises:
            ValueError: If there is no such scope.
            SessionNotFoundError: If there is no such session.
        """
        if scope not in SCOPES:
            raise ValueError(f"{scope!r} is not a scope; use one of {', '.join(SCOPES)}")
        self._track.refresh()
        if not pattern.strip():
            return []
        fold = self._track.fold
        hits = self._in_messages(pattern) if scope != "summaries" else []
        for gist in fold.gists.values() if scope != "messages" else ():
            at = find(gist.text, pattern)
            if at is not None:
                above, piece = fold.derived.get(gist.id, ""), _piece(gist.text, *at)
                hits.append(Found(gist.id, gist.form, gist.latest, piece, above))

        def place(hit: Found) -> tuple[int, bool]:
            """Return the last message that it covers; two may have the same time."""
            source = hit.source
            while isinstance(source, str):
                source = fold.gists[source].sources[-1]
            return source, isinstance(hit.source, int)

        hits.sort(key=place)
        hits.reverse()
        return hits[: limit if limit > 0 else GREP]

    def _in_messages(self, pattern: str) -> list[Found]:
        gists = self._track.fold.gists.values()
        covers = {source: gist.id for gist in gists for source in gist.sources}
        wanted = pattern.lower().encode()
        is_plain = _PLAIN.match(pattern) is not None

        def may_hold(line: bytes) -> bool:
            """Whether a line may hold the pattern: this is far faster than reading the line."""
            is_other = b'"payload"' in line or b"\\u" in line or not line.isascii()
            return not is_plain or wanted in line.lower() or is_other

        hits = []
        # Walking back, a result comes before its call.
        looked_up: set[str] = set()
        for episode in reversed([*self._read(may_hold)]):
            is_echo = repeats_memory(episode)
            if episode.role == "tool_call" and episode.call in looked_up:
                looked_up.discard(episode.call)
                is_echo = True
            elif episode.role == "tool_result" and is_echo and episode.call:
                looked_up.add(episode.call)
            text = self._episodes.whole(episode)
            at = find(text, pattern)
            if at is not None:
                seq, role, above = episode.seq, episode.role, covers.get(episode.seq, "")
                piece = _piece(text, *at)
                hits.append(Found(seq, role, episode.ts, piece, above, episode.name, is_echo))
        return hits

    # ---- one summary ----

    def describe(self, gist: str) -> Described:
        """Return a summary and its place in the conversation.

        Args:
            gist: Its id, or at least the first four characters of it.

        Raises:
            GistNotFoundError: If no summary, or more than one, matches.
            SessionNotFoundError: If there is no such session.
        """
        self._track.refresh()
        summary = self._gist(gist)
        derived = self._track.fold.derived.get(summary.id, "")
        return Described(summary, derived, summary.id in self._track.fold)

    def expand(
        self, gist: str, token_cap: int = EXPAND, cursor: str = "", depth: int = 1
    ) -> Expansion:
        """Return what a summary was made from: messages, or the summaries below it.

        Args:
            gist: Its id, or the beginning of it; or the pointer to a message, which is returned.
            token_cap: What they may cost; 4,000 if it is not above 0. A source that costs more by
                itself is cut, and the cursor continues it.
            cursor: Where to continue, from the last answer; the depth is that of the last answer.
            depth: How many levels to go down; deep enough, all are messages.

        Raises:
            ValueError: If the cursor does not belong to this summary, or ``depth`` is less than 1.
            GistNotFoundError: If there is no such summary.
            EpisodeNotFoundError: If there is no such message, or it may not be shown.
            SessionNotFoundError: If there is no such session.
        """
        self._track.refresh()
        start = offset = 0
        if cursor:
            place = _CURSOR.match(cursor)
            if place is None:
                raise _no_cursor(cursor)
            depth, start, offset = int(place[1]), int(place[2]), int(place[3] or 0)
        name, sources = self._sources(gist, depth)
        if start >= len(sources):
            raise _no_cursor(cursor)
        room = token_cap if token_cap > 0 else EXPAND
        items: list[Expanded] = []
        used, next_cursor = 0, ""
        for at, item in self._expanded(sources, start):
            rest = item
            if offset:
                text = item.text[offset:]
                rest = item._replace(text=text, tokens=estimate_tokens(text), cut=True)
            if items and used + rest.tokens > room:
                next_cursor = f"{depth}/{at}"
                break
            part = self._beginning(rest, room) if rest.tokens > room else rest
            items.append(part)
            used += part.tokens
            if len(part.text) < len(rest.text):
                next_cursor = f"{depth}/{at}:{offset + len(part.text)}"
                break
            offset = 0
        if not items:
            missing = [source for source in sources if isinstance(source, int)]
            raise EpisodeNotFoundError(self._track.session, missing)
        return Expansion(name, tuple(items), used, bool(next_cursor), next_cursor)

    def _sources(self, wanted: str, depth: int) -> tuple[str, list[Source]]:
        """Return the full name of a summary or a message, and the sources to return for it."""
        pointed = Pointer.parse(wanted)
        if pointed is not None and pointed.session == self._track.session:
            return str(pointed), [pointed.seq]
        gist, gists = self._gist(wanted), self._track.fold.gists
        if depth < 1:
            raise ValueError(f"depth is {depth}; give 1 or more")
        sources = [*gist.sources]
        for _ in range(min(depth - 1, gist.depth)):
            below = ((each,) if isinstance(each, int) else gists[each].sources for each in sources)
            sources = [source for several in below for source in several]
        return gist.id, sources

    def _gist(self, wanted: str) -> Gist:
        gists = self._track.fold.gists
        if wanted in gists:
            return gists[wanted]
        known = [each for each in gists if len(wanted) >= _PREFIX and each.startswith(wanted)]
        if len(known) != 1:
            raise GistNotFoundError(self._track.session, wanted, known)
        return gists[known[0]]

    def _expanded(self, sources: Sequence[Source], start: int) -> Iterator[tuple[int, Expanded]]:
        """Yield the sources from ``start`` on, with their places."""
        wanted = {each for each in sources[start:] if isinstance(each, int)}

        def is_among(line: bytes) -> bool:
            number = NUMBERED.match(line)
            return number is None or int(number[1]) in wanted

        messages = {each.seq: each for each in self._read(is_among)} if wanted else {}
        for at, source in enumerate(sources[start:], start):
            if isinstance(source, str):
                gist = self._track.fold.gists[source]
                yield at, Expanded(source, gist.form, gist.earliest, "", gist.text, gist.tokens)
            elif source in messages:
                each = messages[source]
                text = self._episodes.whole(each)
                cost = estimate_tokens(text)
                yield at, Expanded(source, each.role, each.ts, each.name, text, cost)

    def _beginning(self, item: Expanded, room: int) -> Expanded:
        """Return as much of an item as there is room for, one character at least."""
        length = len(item.text)
        while length > 1 and estimate_tokens(item.text[:length]) > room:
            length = max(length * room // max(estimate_tokens(item.text[:length]), 1), 1)
        text = item.text[: whole(item.text, length) or length]
        return item._replace(text=text, tokens=estimate_tokens(text), cut=True)

    def _read(self, is_wanted: Callable[[bytes], bool]) -> Iterator[Episode]:
        """Yield the messages whose lines are wanted and may be shown."""
        episodes = []
        for _, line in lines(self._disk, self._track.path):
            if line.endswith(b"\n") and (is_wanted(line) or b'"event"' in line):
                episode = read_line(line)
                if episode is not None:
                    episodes.append(episode)
        whole, away = excluded(episodes)
        for each in episodes:
            gone = whole or each.seq in away or REDACTED in each.more
            if each.role in ROLES and not gone:
                yield each


def _piece(text: str, start: int, end: int) -> str:
    """Return the piece around a match, or the beginning of a match that is longer."""
    return snippet(text, start, min(end, start + _SNIPPET), _SNIPPET)


def _no_cursor(cursor: str) -> ValueError:
    return ValueError(f"{cursor!r} is not a cursor of this summary; give that of the last answer")
