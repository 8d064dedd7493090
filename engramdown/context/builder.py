"""Builds what a model is shown of two scopes: memory, identity, skills, earlier sessions.

An unchanged memory gives unchanged bytes. Nothing here writes memory or asks a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from engramdown.forks import cached_property
from engramdown.gate.scopes import Scopes

if TYPE_CHECKING:
    from engramdown.context.notebooks import Notebooks
    from engramdown.context.sections import MemoryContext, Section
    from engramdown.context.skill_reader import Skillbook
    from engramdown.context.sources import Identity, Recollection
    from engramdown.episodes.earlier_sessions import EarlierSession
    from engramdown.journal.journal import Recent
    from engramdown.transcripts.episode import Pointer

_SETTLED: Final = 256


class RunningSession(Protocol):
    """What a prompt needs to know about its conversation."""

    @property
    def id(self) -> str:
        """The id of its transcript, or ``""`` where no scope has files."""

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""

    @property
    def turn_began(self) -> Pointer | None:
        """Where the user's message of the running turn is in the transcript, if it is there."""

    @property
    def asked(self) -> str:
        """What the user said in the running turn, or in the last one."""

    @property
    def earlier(self) -> tuple[EarlierSession, ...]:
        """The earlier sessions that the model is reminded of."""

    @property
    def identity(self) -> Identity:
        """Who the assistant and the user are, as the session was shown."""


class Settled(NamedTuple):
    """What a session is shown once, so that it stays the same in this process.

    Attributes:
        identity: Who the assistant and the user are.
        earlier: Earlier sessions.
        days: The last days of the journal.
    """

    identity: Identity
    earlier: tuple[EarlierSession, ...]
    days: Sequence[Recent]


class ContextBuilder:
    """Reads the context of a message and of a conversation."""

    def __init__(self, scopes: Scopes) -> None:
        """Read from ``scopes``."""
        self.scopes = scopes
        self._settled: dict[str, Settled] = {}

    # Imported when they are first asked for: a command that searches memory needs none of them.

    @cached_property
    def notebooks(self) -> Notebooks:
        """The journal and the working notes."""
        from engramdown.context.notebooks import Notebooks

        return Notebooks(self.scopes)

    @cached_property
    def skills(self) -> Skillbook:
        """The skills of both scopes."""
        from engramdown.context.skill_reader import Skillbook

        return Skillbook(self.scopes)

    @cached_property
    def recollection(self) -> Recollection:
        """What the stores hold, as a model is shown it."""
        from engramdown.context.sections import Procedures
        from engramdown.context.sources import Recollection

        # Of skills nobody knows how they were.
        skills = Procedures if self.scopes.past else self.skills.readable_lines
        return Recollection(self.scopes, skills)

    def build(
        self,
        message: str = "",
        session: RunningSession | None = None,
        *,
        scratchpad: bool = False,
        is_counted: bool = True,
    ) -> MemoryContext:
        """Return what a model is to see; see :meth:`engramdown.Cortex.build_memory_context`.

        What only a person looks at is not counted as shown.
        """
        if session is None:
            earlier, who, running = self.earlier_sessions(), None, ""
        else:
            earlier, who, running = session.earlier, session.identity, session.id
        last = partial(self._relevant, message, running)
        made = self.recollection.context(message, earlier, who, scratchpad=scratchpad, last=last)
        if is_counted:
            self.scopes.count("shown", (it for section in made.sections for it in section.shown))
        return made

    def _relevant(
        self,
        message: str,
        running: str,
        shown: Sequence[Section],
        budget: int,
        words: Mapping[str, str],
    ) -> Section | None:
        """Return the section of what matches the message and is not among what is ``shown``."""
        if not message.strip():
            return None
        from engramdown.context.relevant import FRAME, in_view, look_up, relevant_section

        known, room = in_view(shown), budget - FRAME
        found = look_up(self.scopes, message, session=running, shown=known, budget=room)
        return relevant_section(found, budget, words)

    def identity(self) -> Identity:
        """Return who the assistant and the user are, and from which files that is.

        Raises:
            StoreError: If one cannot be read.
        """
        return self.recollection.identity()

    def settled(self, session: str, days: Callable[[], Sequence[Recent]]) -> Settled:
        """Return what a session was shown when this process was first asked for it.

        Args:
            session: Its id.
            days: Reads the last days of the journal.
        """
        found = self._settled.pop(session, None)
        if found is None:
            found = Settled(self.identity(), self.earlier_sessions(session), days())
        self._settled[session] = found
        while len(self._settled) > _SETTLED:
            self._settled.pop(next(iter(self._settled)))
        return found

    def earlier_sessions(self, running: str = "") -> tuple[EarlierSession, ...]:
        """Return the sessions that a model is to be reminded of, newest first; none unless set.

        Args:
            running: The id of the session that runs: what ended after it began is left out.
        """
        episodes = self.scopes.episodes
        if not self.scopes.settings.episodes.history or episodes is None:
            return ()
        from engramdown.episodes.earlier_sessions import earlier

        return tuple(earlier(episodes, running))

    def past_experience(
        self,
        message: str = "",
        subjects: str | Iterable[str] = (),
        limit: int = 3,
        max_bytes: int = 4_000,
        *,
        session: RunningSession | str = "",
    ) -> str:
        """Return what was said earlier about the subjects of a turn; ``""`` if there is nothing.

        It is quoted as data, with pointers. What cannot be searched has nothing.

        Args:
            message: What the user wrote: searched for if it is one line of at most 100 characters
                and there are no subjects.
            subjects: What the turn is about, as ``entity:light.office``. Whom it is with is left
                out: ``contact:``, an e-mail address, a phone number, a UUID.
            limit: How many excerpts at most.
            max_bytes: How long all may be, as UTF-8; 500 at least.
            session: The conversation that it is for, or its id: what was said in it is left out.

        Raises:
            ValueError: If ``max_bytes`` is less than 500.
        """
        from engramdown.context.search import past_experience, sought

        query = sought(message, subjects)
        running = session if isinstance(session, str) else session.id
        return past_experience(self.scopes.episodes, query, limit, max_bytes, running=running)
