"""Three collections of chunks: what was said and is remembered, what was summed up, the journal.

They hold nothing of their own. Each question reads what a chunk is made from: transcripts through
their index, memories, logs of summaries, pages of the journal. So what is redacted, excluded or
erased is in none of them. Chunks are found by meaning if an embedder is set and answers, else by
words, and each answer says which; similarities are from 0 to 1 on either scale.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from engramdown.clock import moment
from engramdown.conversation.view import Track, ends
from engramdown.engram import fact_key, fold
from engramdown.errors import ModelError, SessionNotFoundError, StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.journal.page_search import may_match, query_stems, ranked
from engramdown.language.untrusted import bullet
from engramdown.recall.episodes import Moment
from engramdown.recall.lines import microseconds
from engramdown.recall.query import similarities, wanted
from engramdown.storage.disk import Disk
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.changes import SUFFIX, FileState, file_state
from engramdown.transcripts.episode import Pointer, is_session_id
from engramdown.transcripts.summary_log import FOLDER as GISTS

if TYPE_CHECKING:
    from pathlib import Path

    from engramdown.conversation.conversation import Compacted, Conversation, Mode
    from engramdown.conversation.conversations import Conversations
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.journal.journal import Day
    from engramdown.transcripts.episode import Episode

Collection = Literal["cass_memory", "cass_summaries", "cass_journals"]
# Messages and memories; summaries; pages of the journal.
COLLECTIONS: Final[tuple[Collection, ...]] = get_args(Collection)
MEMORY, SUMMARIES, JOURNALS = COLLECTIONS
# What a chunk of each is called by its type.
TYPES: Final[Mapping[Collection, str]] = {
    MEMORY: "message",
    SUMMARIES: "summary",
    JOURNALS: "journal",
}

# How many days halve what a full weight of recency leaves of a similarity.
HALF_LIFE: Final = 30.0
# How many messages a question by words, or by meaning, looks at.
_POOL: Final = 200
_RELEVANT: Final = 10
_SPOKEN: Final = ("user", "assistant")
# Views of conversations that are kept to read on in them.
_FOLLOWED: Final = 8
_ABOUT: Final = 20
_DAY: Final = 86_400_000_000
# Before the year 1.
_NEVER: Final = -(10**17)
# A place in a list, as an answer gives it.
_CURSOR: Final = r"(-?[0-9]{1,18})\.([0-3])\.([0-9]{1,12})\.([A-Za-z0-9_.:/~-]{1,120})"


class Chunk(NamedTuple):
    """A piece of one collection.

    Attributes:
        id: The pointer to a message, or the id of a memory or a summary, or the day of a page.
        content: The whole text.
        collection: One of :data:`COLLECTIONS`.
        conversation: The conversation that it is from: the UUID that its session began with, or
            else the id of that; ``""`` if it is from none, or from several.
        user: The name of who speaks as the user, or ``""`` if that is not known.
        timestamp: When it was said, written, or last said of what it sums up; ``""`` if that is not
            known.
        role: ``user`` or ``assistant`` for a message and for who wrote a page; ``memory``;
            ``summary``.
        day: The day of a page of the journal, ``YYYY-MM-DD``, or ``""``.
        words: How many words a page has.
        themes: What a page is about.
        similarity: How near it is to what was asked, from 0 to 1.
    """

    id: str
    content: str
    collection: Collection
    conversation: str = ""
    user: str = ""
    timestamp: str = ""
    role: str = ""
    day: str = ""
    words: int = 0
    themes: tuple[str, ...] = ()
    similarity: float = 0.0

    @property
    def type(self) -> str:
        """What it is: ``message``, ``summary`` or ``journal``."""
        return TYPES[self.collection]


class Near(NamedTuple):
    """The chunks that are near to a question.

    Attributes:
        chunks: The nearest first.
        by: How they were found.
        notes: Why it was not by meaning, and what could not be read.
    """

    chunks: tuple[Chunk, ...] = ()
    by: Literal["words", "vectors"] = "words"
    notes: tuple[str, ...] = ()


class Listed(NamedTuple):
    """Some chunks of a list.

    Attributes:
        chunks: The newest first.
        after: Where to go on, or ``""`` if these are the last ones.
    """

    chunks: tuple[Chunk, ...]
    after: str = ""


class WorkingSummary(NamedTuple):
    """What stands for the summarised part of a conversation.

    Attributes:
        id: The id of the summary; of several, of the newest.
        conversation: The conversation, as a chunk names it.
        content: The text of the summaries in the view, in order.
        created: When the newest of them was made.
        messages: How many messages they stand for.
        tokens: About what the text costs.
    """

    id: str
    conversation: str
    content: str
    created: str
    messages: int
    tokens: int


class ConversationContext(NamedTuple):
    """What a model may be shown for the next step of a conversation, in five parts.

    Attributes:
        conversation: The conversation, as a chunk names it.
        user: The name of who speaks as the user.
        working_summary: What stands for its older messages; ``None`` without a summary.
        memories: The chunks of all collections that are near to the question and told in no other
            part, the nearest first.
        recent: Its newest messages that no summary covers, the newest first.
        user_context: What is known of the user, a line each.
        self_context: Who the assistant is.
        by: How the memories were found: ``words`` or ``vectors``.
        notes: Why it was not by meaning, and what could not be read.
    """

    conversation: str
    user: str
    working_summary: WorkingSummary | None
    memories: tuple[Chunk, ...]
    recent: tuple[Chunk, ...]
    user_context: str
    self_context: str
    by: Literal["words", "vectors"]
    notes: tuple[str, ...]


class _Key(NamedTuple):
    """The place of a chunk in a list; the greatest is the newest, and comes first.

    Attributes:
        at: When, in microseconds since 1970.
        sort: 0 for a message, 1 for a memory, 2 for a summary, 3 for a page.
        name: The session, or the id.
        seq: The number of the message, or the line of the memory.
    """

    at: int
    sort: int
    name: str
    seq: int = 0


class _Placed(NamedTuple):
    key: _Key
    chunk: Chunk
    # The folder of its scope.
    root: Path | None = None


class _SummedUp(NamedTuple):
    """The summaries of a session.

    Attributes:
        seen: The files that they were read from.
        chunks: The summaries that apply, without names.
        covers: The first and the last message of each, by its id.
    """

    seen: tuple[FileState | None, ...]
    chunks: list[_Placed]
    covers: dict[str, tuple[int, int]]


class Collections:
    """The three collections over two scopes.

    They are searched together, or one of them: ``collections.search("deploys", collection=
    "cass_journals")``.
    """

    def __init__(self, conversations: Conversations) -> None:
        """Search what ``conversations`` know, and the memory around them; nothing is read yet."""
        self._conversations = conversations
        self._context = conversations.context
        self._scopes = conversations.scopes
        self._disk = Disk()
        self._tracks: dict[str, Track] = {}
        self._summed: dict[str, _SummedUp] = {}

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        collection: Collection | None = None,
        conversation: str | None = None,
        min_similarity: float = 0.0,
        recency: float = 0.0,
        is_counted: bool = True,
    ) -> Near:
        """Return the chunks that are near to ``query``, the nearest first.

        Args:
            query: Any text; a blank one finds nothing.
            limit: How many at most.
            collection: The only collection.
            conversation: The only conversation: the id of a session, or the UUID that one began
                with.
            min_similarity: What is less near is left out, however new it is.
            recency: How much age counts, from 0 to 1: with 1, what is 30 days old counts half.
            is_counted: Whether memories that are found count as recalled.

        Raises:
            ValueError: If an argument is out of its range.
            SessionNotFoundError: If there is no such conversation.
            StoreError: If the index cannot be used at all.
        """
        for name, value in (("min_similarity", min_similarity), ("recency", recency)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is {value!r}; give a number from 0 to 1")
        look = _Look(self, collection, conversation, limit)
        found = self._near(look, query)
        now = microseconds(moment())
        kept = [each for each in found.chunks if each.similarity >= min_similarity]
        # What is equally near stays in the order in which it was found.
        kept.sort(key=lambda each: -each.similarity * _worth(each, recency, now))
        if is_counted:
            self._scopes.count("recalled", look.memories_in(kept[:limit]))
        return found._replace(chunks=tuple(kept[:limit]))

    def chunks(
        self,
        limit: int = 50,
        *,
        collection: Collection | None = None,
        conversation: str | None = None,
        after: str = "",
    ) -> Listed:
        """Return chunks, the newest first.

        What comes meanwhile does not move what follows a cursor.

        Args:
            limit: How many at most.
            collection: The only collection.
            conversation: The only conversation, as in :meth:`search`.
            after: Where to go on, from the last answer.

        Raises:
            ValueError: If ``after`` is not from an answer, or an argument is out of its range.
            SessionNotFoundError: If there is no such conversation.
            StoreError: If the index cannot be used at all.
        """
        look = _Look(self, collection, conversation, limit)
        last = read_cursor(after) if after else None
        kept = [each for each in look.few() if last is None or each.key < last]
        kept += look.said(limit + 1, last)
        kept.sort(key=lambda each: each.key, reverse=True)
        page = kept[:limit]
        cursor = _cursor(page[-1].key) if len(kept) > limit else ""
        return Listed(tuple(each.chunk for each in page), cursor)

    def summary(self, conversation: str) -> WorkingSummary | None:
        """Return what stands for the summarised part of a conversation; ``None`` for nothing.

        Args:
            conversation: The id of a session, or the UUID that one began with.

        Raises:
            SessionNotFoundError: If there is no such conversation.
        """
        look = _Look(self, SUMMARIES, conversation)
        return self._working(look, self._conversations.get(look.session).track)

    def summarize(self, conversation: str) -> WorkingSummary | None:
        """Summarise a conversation whether it is time for that or not, and return its summary.

        What is older than its newest messages is summarised, by rules if no model is set. One that
        is too short for that, and has no summary, becomes one text up to the user's last message.

        Args:
            conversation: The id of a session, or the UUID that one began with.

        Raises:
            SessionNotFoundError: If there is no such conversation.
            ModelError: If a model is set and gave no summary; then nothing was written.
            StoreError: If a summary could not be written.
        """
        look = _Look(self, SUMMARIES, conversation)
        talk = self._conversations.get(look.session)
        done = _compacted(talk, "incremental")
        if not done.gists and self._working(look, talk.track) is None:
            _compacted(talk, "handoff", 0)
        return self._working(look, talk.track)

    def session_of(self, conversation: str) -> str:
        """Return the id of the session of a conversation.

        Raises:
            SessionNotFoundError: If there is no such conversation.
        """
        return _Look(self, None, conversation).session

    def context(
        self, conversation: str, user: str = "", query: str | None = None, recent: int = 20
    ) -> ConversationContext:
        """Return the parts of a prompt; see :meth:`engramdown.Cortex.conversation_context`."""
        if recent < 0:
            raise ValueError(f"recent is {recent}; give 0 or more messages")
        look, around = _Look(self, None, conversation), _Look(self, None, None)
        track = self._conversations.get(look.session).track
        with track.guard:
            track.refresh()
            summary = self._working(look, track)
            sources = [item.source for item in track.items()]
            uncovered = [track.message(each).episode for each in sources if isinstance(each, int)]
        spoken = [each for each in uncovered if each.role in _SPOKEN]
        newest = spoken[::-1][:recent]
        asked = query if query is not None else _last_asked(spoken)
        near = Near()
        # Imported here, as below: what serves chunks to programs must start fast.
        from engramdown.context.relevant import is_about_something

        if asked.strip() and (query is not None or is_about_something(asked)):
            near = self._near(around, asked)
        who = self._context.identity()
        user_facts = _about(user, look.user, who.profile, look.readable)
        told = {str(Pointer(look.session, each.seq)) for each in newest}
        told |= {entry.id for entry in user_facts}
        unsaid = self._untold(look, near.chunks, told, {each.seq for each in uncovered})
        self._scopes.count("shown", [*user_facts, *look.memories_in(unsaid)])
        return ConversationContext(
            conversation=look.name(look.session),
            user=user,
            working_summary=summary,
            memories=tuple(unsaid),
            recent=tuple(
                look.message(look.session, each.seq, each.ts, each.role, each.name, each.text).chunk
                for each in newest
            ),
            user_context="\n".join(bullet(entry.text) for entry in user_facts),
            self_context=who.soul.strip(),
            by=near.by,
            notes=near.notes,
        )

    def is_ready(self) -> bool:
        """Whether a question is answered at once, because the index is there."""
        episodes = self._scopes.episodes
        return episodes is None or episodes.is_indexed

    def keep_up(self) -> None:
        """Make the index, or bring it up to date."""
        if self._scopes.episodes is not None:
            self._scopes.episodes.keep_up()

    # ---- what is near ----

    def _near(self, look: _Look, query: str) -> Near:
        from engramdown.models.embedders import EmbeddingError

        if not query.strip():
            return Near()
        why: tuple[str, ...] = ()
        is_set = self._scopes.settings.episodes.embedder or look.has_embedder
        # Vectors are of what there is now.
        if is_set and self._scopes.past is None:
            from engramdown.recall.vectors import reason_of

            try:
                return Near(_sorted(look.by_meaning(query)), "vectors", tuple(look.notes))
            except EmbeddingError as error:
                why = (reason_of(error),)
        chunks = _sorted(look.by_words(query))
        return Near(chunks, "words", tuple(dict.fromkeys((*why, *look.notes))))

    def _untold(
        self, look: _Look, chunks: Iterable[Chunk], told: set[str], uncovered: set[int]
    ) -> list[Chunk]:
        """Return the chunks that say something that no other part of a context says.

        The working summary stands for the summarised messages of its own conversation, however
        much was said since in another one; elsewhere a summary that is chosen stands for its own.
        """
        covers = {
            name: (session, first, last)
            for session, summed in self._summed.items()
            for name, (first, last) in summed.covers.items()
        }
        chosen: dict[str, Chunk] = {}
        ranges: list[tuple[str, int, int]] = []
        for each in chunks:
            said = Pointer.parse(each.id) if each.role in _SPOKEN else None
            # The lines that it is, or sums up, if any.
            session, first, last = covers.get(each.id) or (
                (said.session, said.seq, said.seq) if said is not None else ("", 0, 0)
            )
            is_told = each.id in told or any(
                session == one and first <= end and start <= last for one, start, end in ranges
            )
            if session == look.session:
                is_told = is_told or each.id in covers or first not in uncovered
            if each.id in covers and not is_told:
                ranges.append((session, first, last))
                for seq in range(first, last + 1):
                    chosen.pop(str(Pointer(session, seq)), None)
            if not is_told:
                chosen[each.id] = each
            if len(chosen) == _RELEVANT:
                break
        return [*chosen.values()]

    # ---- summaries ----

    def _working(self, look: _Look, track: Track) -> WorkingSummary | None:
        with track.guard:
            track.refresh()
            gists = [track.fold.gists[each] for each in track.fold if isinstance(each, str)]
        if not gists:
            return None
        newest = max(gists, key=lambda gist: gist.ts)
        text = "\n\n".join(gist.text for gist in gists)
        count = sum(gist.messages for gist in gists)
        name = look.name(track.session)
        return WorkingSummary(newest.id, name, text, newest.ts, count, estimate_tokens(text))

    def summed_up(
        self, episodes: EpisodicMemory, only: str = ""
    ) -> Iterator[tuple[str, _SummedUp]]:
        """Yield each session that has summaries, with those that apply.

        Args:
            episodes: The transcripts.
            only: The only session.
        """
        root = episodes.folder.parent
        names = [each.removesuffix(SUFFIX) for each in self._disk.files(root / GISTS)]
        here = [each for each in names if is_session_id(each) and only in ("", each)]
        for session in sorted(here):
            seen = (file_state(episodes.folder, session), file_state(root / GISTS, session))
            known = self._summed.get(session)
            if known is None or known.seen != seen:
                known = self._summed[session] = self._read_summaries(episodes, session, seen)
            yield session, known
        if not only:
            for session in self._summed.keys() - set(here):
                del self._summed[session]

    def _read_summaries(
        self, episodes: EpisodicMemory, session: str, seen: tuple[FileState | None, ...]
    ) -> _SummedUp:
        track = self._tracks.pop(session, None) or Track(episodes, session)
        try:
            track.refresh()
        except StoreError:  # It was purged meanwhile, or is not a file.
            return _SummedUp(seen, [], {})
        self._tracks[session] = track
        while len(self._tracks) > _FOLLOWED:
            self._tracks.pop(next(iter(self._tracks)))
        gists, root = track.fold.gists, episodes.folder.parent
        chunks = [
            _Placed(
                _Key(_at(gist.latest or gist.ts), 2, gist.id),
                Chunk(
                    gist.id,
                    gist.text,
                    SUMMARIES,
                    timestamp=gist.latest or gist.ts,
                    role="summary",
                ),
                root,
            )
            for gist in gists.values()
        ]
        return _SummedUp(seen, chunks, {each: ends(gists, each) for each in gists})


class _Look:
    """One look at the chunks, or at some of them.

    Attributes:
        session: The only session, or ``""``.
        notes: What could not be read.
        user: The name of the user in the profile, or ``""``.
        readable: The memories that a model may see.
    """

    def __init__(
        self,
        owner: Collections,
        collection: str | None,
        conversation: str | None,
        limit: int = 1,
    ) -> None:
        """Look at one collection or conversation, or at all.

        Raises:
            ValueError: If there is no such collection, or ``limit`` is less than 1.
            SessionNotFoundError: If there is no such conversation.
        """
        if collection is not None and collection not in COLLECTIONS:
            raise ValueError(
                f"{collection!r} is no collection; use one of {', '.join(COLLECTIONS)}"
            )
        if limit < 1:
            raise ValueError(f"limit is {limit}; give 1 or more")
        self._owner, self._only = owner, collection
        self._scopes, self._context = owner._scopes, owner._context  # noqa: SLF001 - one module
        self._episodes = self._scopes.episodes
        self._names = self._episodes.conversations() if self._episodes is not None else {}
        self.session = self.session_of(conversation) if conversation is not None else ""
        self.notes: list[str] = []
        both = (self._scopes.global_hc, self._scopes.project_hc)
        day = self._scopes.day().isoformat()
        self.readable = [
            entry
            for store in both
            for entry in self._scopes.readable(store)
            if not entry.expires or entry.expires >= day
        ]
        facts = (each.text for each in self.readable if each.kind == "profile")
        names = (text for text in facts if fact_key(text) == "name")
        self.user = next(names, "").partition(":")[2].strip()

    @property
    def has_embedder(self) -> bool:
        """Whether transcripts are found by meaning."""
        return self._episodes is not None and self._episodes.has_embedder

    def name(self, session: str) -> str:
        """Return the conversation of a session."""
        return self._names.get(session, session)

    def session_of(self, conversation: str) -> str:
        """Return the session of a conversation.

        Raises:
            SessionNotFoundError: If there is none.
        """
        episodes = self._episodes
        found = episodes.session_of(conversation) if episodes is not None else None
        if found is None:
            where = episodes.folder if episodes is not None else "memory without files"
            raise SessionNotFoundError(conversation, str(where))
        return found

    def memories_in(self, chunks: Iterable[Chunk]) -> list[Entry]:
        """Return the memories among chunks."""
        ids = {each.id for each in chunks if each.role == "memory"}
        return [entry for entry in self.readable if entry.id in ids]

    def _looks_at(self, collection: Collection) -> bool:
        return self._only in (None, collection)

    def _is_meant(self, chunk: Chunk) -> bool:
        return not self.session or chunk.conversation == self.name(self.session)

    # ---- what there is ----

    def few(self) -> Iterator[_Placed]:
        """Yield all chunks but messages, of which there are many."""
        if self._looks_at(MEMORY):
            yield from filter(
                lambda each: self._is_meant(each.chunk), map(self._memory, self.readable)
            )
        yield from self.pages()

    def pages(self) -> Iterator[_Placed]:
        """Yield the summaries and the pages of the journal."""
        if self._looks_at(SUMMARIES) and self._episodes is not None:
            for session, found in self._owner.summed_up(self._episodes, self.session):
                name = self.name(session)
                for each in found.chunks:
                    chunk = each.chunk._replace(conversation=name, user=self.user)
                    yield each._replace(chunk=chunk)
        if self._looks_at(JOURNALS) and self._scopes.past is None:
            yield from filter(lambda each: self._is_meant(each.chunk), self._journals())

    def said(self, limit: int, before: _Key | None) -> list[_Placed]:
        """Return the newest messages, before the place of a chunk if that is given."""
        if self._episodes is None or not self._looks_at(MEMORY):
            return []
        place = None
        if before is not None:
            # Of the same time, messages come last.
            is_message = before.sort == 0
            place = Moment(before.at, before.name, before.seq) if is_message else None
            place = place or Moment(before.at + 1, "", 0)
        wants = wanted(role=_SPOKEN, session=self.session or None)
        hits = self._episodes.newest(limit, wants, place)
        return [self.message(*each[:6]) for each in hits]

    def message(  # noqa: PLR0917 - in the order of a hit
        self, session: str, seq: int, time: str, role: str, name: str, text: str
    ) -> _Placed:
        """Return the chunk of a message."""
        user = name if role == "user" and name else self.user
        where = str(Pointer(session, seq))
        chunk = Chunk(where, text, MEMORY, self.name(session), user, time, role)
        return _Placed(_Key(_at(time), 0, session, seq), chunk)

    def _memory(self, entry: Entry) -> _Placed:
        learned = Pointer.parse(entry.origin.split(",")[0])
        conversation = self.name(learned.session) if learned else ""
        ts = _midnight(entry.ts)
        chunk = Chunk(entry.id, entry.text, MEMORY, conversation, self.user, ts, "memory")
        return _Placed(_Key(_at(ts), 1, entry.id, entry.line), chunk)

    def _journals(self) -> Iterator[_Placed]:
        notebooks = self._context.notebooks
        for journal in notebooks.journals():
            is_own = journal.root == notebooks.journal.root
            try:
                days = journal.days(None)
            except StoreError as error:
                self.notes.append(str(error))
                continue
            self.notes += [day.problem for day in days if day.problem]
            for day in days:
                if not day.is_blank:
                    yield self._page(day, journal.root, "" if is_own else "global:")

    def _page(self, day: Day, root: Path, scope: str) -> _Placed:
        sections = day.sections
        sessions = {each.session for each in sections}
        # A page of several conversations is of none of them.
        [session] = sessions if len(sessions) == 1 else [""]
        by_agent = all(each.by == "agent" for each in sections)
        name, ts = f"{scope}{day.date.isoformat()}", _midnight(day.date.isoformat())
        chunk = Chunk(
            id=name,
            content="\n\n".join("\n".join(filter(None, each[:2])) for each in sections),
            collection=JOURNALS,
            conversation=self.name(session) if session else "",
            user=self.user,
            timestamp=ts,
            role="assistant" if by_agent else "user",
            day=day.date.isoformat(),
            words=day.page.words,
            themes=day.page.themes,
        )
        return _Placed(_Key(_at(ts), 3, name), chunk, root)

    # ---- what is near to a question ----

    def by_words(self, query: str) -> list[Chunk]:
        """Return chunks with their similarity by words, those of each kind in their order."""
        found = self._memories(query, by_meaning=False)
        found += self._messages(query, by_meaning=False)
        pages, stems = [each.chunk for each in self.pages()], query_stems(query)
        for each in (SUMMARIES, JOURNALS):
            own = [
                chunk
                for chunk in pages
                if chunk.collection == each and may_match(chunk.content, stems)
            ]
            hits = ranked(stems, [chunk.content for chunk in own])
            near = similarities(query, [(own[at].content, score) for at, score in hits])
            found += [
                own[at]._replace(similarity=score)
                for (at, _), score in zip(hits, near, strict=True)
            ]
        return found

    def by_meaning(self, query: str) -> list[Chunk]:
        """Return chunks with their similarity by meaning.

        Raises:
            EmbeddingError: If embeddings cannot be used for this question.
        """
        found = self._memories(query, by_meaning=True)
        if self._looks_at(SUMMARIES) or self._looks_at(JOURNALS):
            found += self._near_pages(query)
        return found + self._messages(query, by_meaning=True)

    def _near_pages(self, query: str) -> Iterator[Chunk]:
        """Yield summaries and pages of the journal with their similarity by meaning."""
        from engramdown.recall.vectors import OF_PAGES

        # Vectors of what is not among the texts are dropped, so all are asked about.
        every = _Look(self._owner, None, None)
        pages = list(every.pages())
        self.notes += every.notes
        for store in self._scopes.stores:
            chunks = [each.chunk for each in pages if each.root == store.root]
            lane = self._scopes.lane(store, OF_PAGES)
            if not chunks or lane is None:
                continue
            parts = [(at, part) for at, each in enumerate(chunks) for part in pieces(each.content)]
            near = lane.near(query, [part for _, part in parts])
            best = [0.0] * len(chunks)
            for (at, _), score in zip(parts, near, strict=True):
                best[at] = max(best[at], score)
            for chunk, score in zip(chunks, best, strict=True):
                if self._looks_at(chunk.collection) and self._is_meant(chunk):
                    yield chunk._replace(similarity=score)

    def _messages(self, query: str, *, by_meaning: bool) -> list[Chunk]:
        if self._episodes is None or not self._looks_at(MEMORY):
            return []
        wants = wanted(role=_SPOKEN, session=self.session or None)
        hits = self._episodes.similar(query, _POOL, wants, by_meaning=by_meaning)
        return [self.message(*hit[:6]).chunk._replace(similarity=hit.score) for hit in hits]

    def _memories(self, query: str, *, by_meaning: bool) -> list[Chunk]:
        ids = {entry.id for entry in self.readable} if self._looks_at(MEMORY) else set()
        near = self._scopes.similar(query, by_meaning=by_meaning) if ids else []
        chunks = [
            self._memory(entry).chunk._replace(similarity=score)
            for entry, score in near
            if entry.id in ids
        ]
        return list(filter(self._is_meant, chunks))


def _sorted(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """Return what is near at all, the nearest first; what is equally near stays in its order."""
    near = [each for each in chunks if each.similarity > 0]
    return tuple(sorted(near, key=lambda each: -each.similarity))


# ---- pieces of a long text ----

_PIECE: Final = 1_000
_OVERLAP: Final = 200


def pieces(text: str) -> list[str]:
    """Return a text in pieces of at most 1,000 characters, which overlap by 200.

    They end with a paragraph or a sentence, if one ends in their last 200 characters.

    >>> [len(each) for each in pieces("word " * 500)]
    [1000, 1000, 900]
    """
    found, start = [], 0
    while len(text) - start > _PIECE:
        end, late = start + _PIECE, start + _PIECE - _OVERLAP
        for mark in ("\n\n", ". ", "? ", "! ", "\n"):
            at = text.rfind(mark, late, end)
            if at >= 0:
                end = at + len(mark)
                break
        found.append(text[start:end])
        start = max(end - _OVERLAP, start + 1)
    return [*found, text[start:]]


# ---- what a conversation is about, and whom it is with ----


def _compacted(talk: Conversation, mode: Mode, tail: int | None = None) -> Compacted:
    try:
        return talk.compact(mode, tail=tail)
    except ModelError as error:
        from engramdown.conversation.conversation import NO_MODEL

        if str(error) != NO_MODEL:
            raise
        return talk.compact(mode, tail=tail, without_model=True)


def _last_asked(spoken: Sequence[Episode]) -> str:
    """Return the user's last message, or ``""``."""
    return next((each.text for each in reversed(spoken) if each.role == "user"), "")


def _about(
    user: str, known: str, profile: Sequence[Entry], memories: Sequence[Entry]
) -> list[Entry]:
    """Return what memory says about a user.

    The profile is about one person. Of somebody else it says what names them.

    Args:
        user: The name that was given, or ``""``.
        known: The name in the profile, or ``""``.
        profile: The facts about the user.
        memories: All memories.
    """
    names = {fold(known), *fold(known).split()[:1], ""}
    if not known or fold(user) in names:
        return [*profile]
    named = re.compile(rf"(?<!\w){re.escape(fold(user))}(?!\w)")
    return [entry for entry in memories if named.search(entry.fold)][:_ABOUT]


# ---- time, and places in a list ----


def _worth(chunk: Chunk, recency: float, now: int) -> float:
    """Return what its age leaves of the similarity of a chunk, if that counts."""
    if not recency:
        return 1.0
    days = max(now - _at(chunk.timestamp), 0) / _DAY
    return 1 - recency + recency * 2 ** -(days / HALF_LIFE)


def _midnight(day: str) -> str:
    """Return the beginning of a day, or ``""`` for what is none."""
    try:
        return f"{datetime.fromisoformat(day).replace(tzinfo=UTC):%Y-%m-%d}T00:00:00.000000Z"
    except ValueError:
        return ""


def _at(timestamp: str) -> int:
    try:
        return microseconds(timestamp)
    except (ValueError, TypeError):
        return _NEVER


def _cursor(key: _Key) -> str:
    return f"{key.at}.{key.sort}.{key.seq}.{key.name}"


def read_cursor(after: str) -> _Key:
    """Return the place in a list that a cursor names.

    Raises:
        ValueError: If it is none of ours.
    """
    found = re.fullmatch(_CURSOR, after)
    if found is None:
        raise ValueError(f"after is {after!r}; give that of the last answer")
    return _Key(int(found[1]), int(found[2]), found[4], int(found[3]))
