"""The view of one conversation, kept up to date as it grows.

It writes nothing. Looking again costs as much as was added since. Messages that a summary covers
are not kept in memory, nor parsed. Excluded and redacted messages are not in the view, nor are
summaries of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.summaries import Item, format_summary
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import SessionNotFoundError
from engramdown.forks import RLock
from engramdown.language.untrusted import one_line
from engramdown.storage.disk import Disk
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.changes import SUFFIX
from engramdown.transcripts.episode import NUMBERED, Episode, Pointer, check_session_id, read_line
from engramdown.transcripts.sessions import Tail
from engramdown.transcripts.summary_log import Fold, Gist, GistLog, Source, read_gist
from engramdown.transcripts.visibility import REDACTED, excluded, read_mark

_MAY_BE_EMPTY: Final = b'"' + REDACTED.encode() + b'"'


class Track:
    """The view of one conversation.

    Attributes:
        session: The id of the session.
        path: Its transcript.
        log: The log of its summaries.
        fold: The view, and every summary that applied, including those that others cover.
        guard: The lock to hold while the view must not change between two questions.
    """

    def __init__(self, episodes: EpisodicMemory, session: str, disk: Disk | None = None) -> None:
        """Follow a session; nothing is read yet.

        Args:
            episodes: The transcripts.
            session: The id of the session.
            disk: The system calls.

        Raises:
            InvalidSessionError: If the id is not a safe file name.
        """
        self.session = check_session_id(session)
        self._disk = disk or Disk()
        self.log = GistLog(episodes.folder.parent, self._disk, episodes.recorder.lock)
        self._episodes = episodes
        self.path = episodes.folder / f"{session}{SUFFIX}"
        self.guard = RLock()
        self._clear()

    def _clear(self) -> None:
        self.fold = Fold()
        self._spoken = Tail(self._disk, self.path)
        self._gists = Tail(self._disk, self.log.path(self.session))
        self._marks: list[Episode] = []
        self._said: dict[int, Said] = {}
        self._shown: dict[str, Item] = {}
        self._newest_user = -1

    # ---- the view ----

    def items(self) -> list[Item]:
        """Return the items of the view, in order."""
        with self.guard:
            items = []
            for source in self.fold:
                if isinstance(source, int):
                    # The turn of a message is over when the user has spoken again since.
                    is_over = source < self._newest_user
                    items.append(said_item(self._said[source], is_over=is_over))
                    continue
                if source not in self._shown:
                    item = gist_item(self.session, self.fold.gists[source])
                    self._shown[source] = item
                items.append(self._shown[source])
            return items

    def message(self, seq: int) -> Said:
        """Return a message of the view."""
        return self._said[seq]

    def write(self, make: Callable[[], Sequence[bytes]]) -> None:
        """Append lines to the log of summaries; see :meth:`GistLog.append`."""
        self.log.append(self.session, self.path, make)

    # ---- reading ----

    def refresh(self) -> None:
        """Take in what was added since the last look.

        Raises:
            SessionNotFoundError: If there is no such session (any more).
            StoreError: If its transcript is not a file.
        """
        with self.guard:
            # Summaries are read first: the messages that they cover exist by then.
            goes_on = not self._gists.is_gone()
            gists = self._new_gists() if goes_on else []
            if goes_on and self._take_in():
                self._apply(gists)
            else:
                self._start_again()

    def _start_again(self) -> None:
        """Read everything, or forget it all: half of it is not a view."""
        try:
            self._read_all()
        except BaseException:
            self._clear()
            raise

    def _read_all(self) -> None:
        self._clear()
        gists = self._new_gists()
        # Messages that a summary covers are not parsed: in a long transcript that is nearly all.
        covers = [_messages(gist) for gist in gists]
        ends = {seq for messages in covers for seq in (*messages[:1], *messages[-1:])}
        unread = {seq for messages in covers for seq in messages} - ends
        self._begin(unread)
        self._apply(gists)
        if any(source in unread for source in self.fold):
            # A summary is stale, so the messages that it would cover are in the view after all.
            self._clear()
            gists = self._new_gists()
            self._begin(frozenset())
            self._apply(gists)

    def _apply(self, gists: Iterable[Gist]) -> None:
        for gist in gists:
            messages = _messages(gist)
            # If somebody removed the transcript, a new one has the same numbers.
            meant = not messages or [gist.first, gist.last] == [
                self._said[seq].episode.id if seq in self._said else ""
                for seq in (messages[0], messages[-1])
            ]
            if meant and self.fold.apply(gist):
                for seq in messages:
                    self._said.pop(seq, None)

    def _begin(self, unread: Collection[int]) -> None:
        if self._disk.find(self.path) is None:
            raise SessionNotFoundError(self.session, str(self.path.parent))
        new = list(self._new_lines(unread))
        self._marks = [each for _, each in new if each and read_mark(each)[0] is not None]
        self._add(new)

    def _take_in(self) -> bool:
        """Read new lines; ``False`` if what was read before is no longer valid."""
        if not self._spoken.end or self._spoken.is_gone():
            return False
        new = list(self._new_lines(()))
        if any(each and read_mark(each)[0] is not None for _, each in new):
            return False
        self._add(new)
        return True

    def _add(self, new: Iterable[tuple[int, Episode | None]]) -> None:
        whole, away = excluded(self._marks)
        for seq, episode in new:
            is_away = whole or seq in away
            if episode is None:
                if not is_away:
                    self.fold.add(seq)
                continue
            # Only a message may be shown; other lines are about the conversation.
            is_said = episode.role in ROLES and REDACTED not in episode.more
            if is_said and not is_away and self.fold.add(seq):
                self._take(episode)

    def _take(self, episode: Episode) -> None:
        """Keep a message of the view in memory."""
        seq = episode.seq
        self._said[seq] = said(self.session, episode, self._episodes.whole)
        if episode.role == "user":
            self._newest_user = max(seq, self._newest_user)

    def _new_lines(self, unread: Collection[int]) -> Iterator[tuple[int, Episode | None]]:
        """Yield the new lines with their numbers, and ``None`` instead of those ``unread``."""
        for line in self._spoken.new():
            number = NUMBERED.match(line) if unread else None
            if number and int(number[1]) in unread and _MAY_BE_EMPTY not in line:
                yield int(number[1]), None
                continue
            episode = read_line(line)
            if episode is not None:
                yield episode.seq, episode

    def _new_gists(self) -> list[Gist]:
        return [gist for line in self._gists.new() if (gist := read_gist(line)) is not None]


def _messages(gist: Gist) -> list[int]:
    """Return the messages that a summary was made from directly."""
    return [source for source in gist.sources if isinstance(source, int)]


# ---- a message as a model sees it, and what that costs ----
#
# A tool's result that is longer than LARGE is shown, after its turn, as a placeholder that says
# where the whole text is.

# How many tokens the result of a tool may have after its turn.
LARGE: Final = 2_000
# The roles of messages; other lines are about the conversation.
ROLES: Final = frozenset({"user", "assistant", "system", "tool_call", "tool_result", "scratchpad"})

# About how many tokens a provider adds to each message.
FRAME: Final = 4


class Said(NamedTuple):
    """A message.

    Attributes:
        episode: Its line.
        text: The whole text, or, for a large result, what its line shows.
        tokens: What the whole text costs.
        brief: What it costs after its turn, when a large one is shown as a placeholder.
    """

    episode: Episode
    text: str
    tokens: int
    brief: int


def said(session: str, episode: Episode, whole: Callable[[Episode], str]) -> Said:
    """Return the message of a line.

    Args:
        session: The id of the session.
        episode: The line.
        whole: Returns the whole text of a line that shows only a part.
    """
    text = whole(episode) if episode.payload else episode.text
    name = estimate_tokens(episode.name)
    cost = FRAME + estimate_tokens(text) + name
    if episode.role != "tool_result" or cost - FRAME <= LARGE:
        return Said(episode, text, cost, cost)
    brief = FRAME + estimate_tokens(placeholder(session, episode, cost)) + name
    return Said(episode, episode.text, cost, min(brief, cost))


def placeholder(session: str, episode: Episode, tokens: int) -> str:
    """Return the text in place of a message that is too long to be shown again.

    >>> done = Episode(4, "2026-03-01T10:15:00.000000Z", "", "tool_result", "…", "shell")
    >>> placeholder("s1", done, 5000)
    '[shell gave about 5,000 tokens at 2026-03-01 10:15; read them with expand, id s1#4]'
    """
    who = one_line(episode.name) or episode.role.replace("_", " ")
    failed = " and failed" if episode.error else ""
    gave = "gave" if episode.role == "tool_result" else "has"
    at = episode.ts[:16].replace("T", " ")
    return (
        f"[{who} {gave} about {tokens:,} tokens at {at}{failed}; read them with expand, "
        f"id {Pointer(session, episode.seq)}]"
    )


def said_item(message: Said, *, is_over: bool) -> Item:
    """Return a message as an item of the view."""
    episode, _, tokens, brief = message
    return Item(episode.seq, brief if is_over else tokens, episode.role, episode.name, episode.call)


def gist_item(session: str, gist: Gist) -> Item:
    """Return a gist as an item of the view."""
    cost = FRAME + estimate_tokens(format_summary(gist, session))
    return Item(gist.id, cost, gist.form, depth=gist.depth)


def ends(gists: Mapping[str, Gist], source: Source) -> tuple[int, int]:
    """Return the first and the last message that an item covers.

    >>> inner = Gist("g1", "", "leaf", 0, (4, 5), "", 0)
    >>> ends({"g1": inner, "g2": inner._replace(id="g2", sources=("g1", 6))}, "g2")
    (4, 6)
    """
    first = last = source
    while isinstance(first, str):
        first = gists[first].sources[0]
    while isinstance(last, str):
        last = gists[last].sources[-1]
    return first, last
