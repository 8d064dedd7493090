"""A conversation that another library runs, as a session of a memory.

One call at a time reaches a cortex, whichever library it comes from, and no event loop waits for a
disk. A call that was begun is waited for, also by whoever is cancelled meanwhile, so that nobody
finds half of it. No trouble with memory is raised, but where a person decides. What our own tools
bring back is marked on the line of their result, which comes later, when the library keeps it.
Older lines are summarised in the background; where summaries cannot be read, there are none.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack

from engramdown import Cortex, EngramdownError, Hippocampus
from engramdown.clock import today
from engramdown.context import degraded, left_out
from engramdown.cortex import TOOLS, Answer
from engramdown.engram import Engram, Scope
from engramdown.episodes import Said
from engramdown.errors import StoreError
from engramdown.forks import Lock, RLock
from engramdown.gate import Operation, Pending, harmless
from engramdown.hippocampus import new_id
from engramdown.integrations.history import History, Line, Summary
from engramdown.secrets import redact
from engramdown.transcripts import Pointer, is_session_id

if TYPE_CHECKING:
    from engramdown import Proposal, Session
    from engramdown.conversation import CompactionBeside

T = TypeVar("T")

_MOST_ANSWERS: Final = 100
_LONGEST_TITLE: Final = 100
_Failure = (EngramdownError, OSError)
_LOCKS: Final[weakref.WeakKeyDictionary[Cortex, RLock]] = weakref.WeakKeyDictionary()
_GUARD: Final = Lock()


def lock_of(cortex: Cortex) -> RLock:
    """Return the lock that is held by whoever calls ``cortex``."""
    with _GUARD:
        return _LOCKS.setdefault(cortex, RLock())


async def in_thread(cortex: Cortex, act: Callable[[], T]) -> T:
    """Return what ``act`` returns, which is called in a thread, alone with ``cortex``.

    A cancellation counts once that has returned.
    """
    # Imported here: whoever calls this has loaded it already.
    import asyncio

    def alone() -> T:
        with lock_of(cortex):
            return act()

    running = asyncio.ensure_future(asyncio.to_thread(alone))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        # What it raised is seen by nobody else.
        running.exception()
        raise cancelled
    return running.result()


def memory_context(cortex: Cortex, asked: str, session: Session | None = None) -> str:
    """Return what a model is told of memory, and which part of it cannot be read."""
    try:
        context = str(cortex.build_memory_context(asked, session, scratchpad=True))
        lost = [left_out(reason) for reason in cortex.scopes.unreadable()[:1]]
        return "\n\n".join(filter(None, [context, *lost]))
    except _Failure as error:
        return degraded(str(error))


def answer_call(
    cortex: Cortex, session: ExternalSession | None, name: str, arguments: object, call: str = ""
) -> Answer:
    """Answer a call of one of our tools, in a session if that is one of the same memory."""
    if session is None or session.cortex is not cortex:
        return cortex.use_tool(name, arguments)
    return session.use_tool(name, arguments, call)


def store_with_files(cortex: Cortex, scope: Scope, purpose: str) -> Hippocampus:
    """Return the store of a scope, whose files another program is to read and write.

    Raises:
        StoreError: If it has none.
    """
    store = cortex.scopes.global_hc if scope == "global" else cortex.scopes.project_hc
    if not isinstance(store, Hippocampus):
        raise StoreError(f"{type(store).__name__}: has no files {purpose}")
    return store


def ask_user(cortex: Cortex, engram: Engram, op: Operation, of: str, code: str) -> Pending:
    """Return the proposal that asks the user whether a program may do what it wants to.

    Args:
        cortex: In its mode autopilot nobody is prompted about it.
        engram: What is to be remembered.
        op: What is to be done with it.
        of: The memory that it is about, or ``""``.
        code: The code of why it is not simply done.
    """
    hold, day = code if cortex.mode == "autopilot" else "", today().isoformat()
    return Pending(new_id(), harmless(engram), hold=hold, reason=code, op=op, of=of, ts=day)


def title_of(name: str) -> str:
    """Return what to call the transcript of a session whose file could not be called so."""
    return "" if is_session_id(name) else redact(name)[:_LONGEST_TITLE]


def check_budget(budget: int | None) -> int | None:
    """Return what a history may cost, in tokens, if that is limited.

    Raises:
        ValueError: If it is not above 0.
    """
    if budget is not None and budget <= 0:
        msg = f"budget is {budget}; give the tokens that the history may cost, or None"
        raise ValueError(msg)
    return budget


class ExternalSession:
    """A conversation.

    Attributes:
        id: The id of its transcript.
        cortex: The memory.
        history: What the library keeps of it.
        runs: How many runs of it run, if the library tells.
    """

    def __init__(
        self,
        cortex: Cortex,
        history: History,
        *,
        parent: str | None = None,
        title: str = "",
        budget: int | None = None,
    ) -> None:
        """Prepare to begin a conversation, or to go on with it.

        Args:
            cortex: The memory.
            history: What the library keeps of it.
            parent: The session that it is begun from.
            title: What to call it.
            budget: What its history may cost, in tokens, if that is limited: older lines are
                summarised once it costs much of that.

        Raises:
            ValueError: If ``budget`` is not above 0.
        """
        self.id = history.session
        self.cortex = cortex
        self.history = history
        self.runs = 0
        self._budget = check_budget(budget)
        self._begin = partial(cortex.session, self.id, parent=parent, title=title)
        self._session: Session | None = None
        self._compaction: CompactionBeside | None = None
        self._context = ""
        self._answers: dict[str, Answer] = {}

    @property
    def session(self) -> Session:
        """The session, which begins when it is asked for."""
        if self._session is None:
            self._session = self._begin()
        return self._session

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._session is not None and self._session.in_turn

    def add(self, line: Line, **said: Unpack[Said]) -> None:
        """Keep something that was said or done; ``said`` is what else its line says."""
        answer = self._answers.pop(line.call, None) if line.role == "tool_result" else None
        told: Said = {"name": line.name, "call": line.call, "error": line.error}
        if answer is not None:
            told |= {"error": line.error or answer.is_error, "recalled": answer.recalled}
        told.update(said)
        write = partial(self.session.record, line.role, line.text, **told)
        self.history.add(line, lambda meta: write(meta=meta))

    def begin_turn(self, line: Line) -> None:
        """Begin a turn with the user's words, and keep them."""
        self.end_turn()
        self.history.add(line, partial(self._begin_turn, line.text))

    def _begin_turn(self, text: str, meta: dict[str, Any]) -> Pointer | None:
        try:
            self._context = str(self.session.begin_turn(text, meta, scratchpad=True))
        except _Failure as error:
            self._context = degraded(str(error))
        return self.session.turn_began

    def end_turn(self) -> None:
        """End the turn, if one is running."""
        if not self.in_turn:
            return
        try:
            self.session.end_turn()
        except _Failure:
            return  # What was ticked or learned waits for the next turn.
        self.summarize()

    def context(self, asked: str) -> str:
        """Return what a model is told of memory, the same throughout a turn.

        Args:
            asked: What it is asked, if that began no turn: a run may go on without new words.
        """
        return self._context if self.in_turn else memory_context(self.cortex, asked, self.session)

    def use_tool(self, name: str, arguments: object, call: str) -> Answer:
        """Answer a call of one of our tools."""
        self.session.attend()
        answer = TOOLS[name](self.cortex, arguments, self.session)
        self._answers[call] = answer
        while len(self._answers) > _MOST_ANSWERS:  # Those of runs that ended before they were kept.
            self._answers.pop(next(iter(self._answers)))
        return answer

    def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        Raises:
            StoreError: If what waits cannot be read.
        """
        return self.session.confirmations()

    def end(self, reason: str) -> None:
        """End the transcript; it goes on if it is used again."""
        self.end_turn()
        session, self._session = self._session, None
        if session is not None:
            session.end(reason)

    # ---- summaries ----

    def summaries(self) -> list[Summary]:
        """Return the summaries that stand for its older part; none unless there is a budget."""
        if self._budget is None:
            return []
        from engramdown.consolidation import format_summary
        from engramdown.conversation import ends

        try:
            track = self.cortex.conversations.get(self.id).track
            with track.guard:
                track.refresh()
                gists = track.known_gists()
                shown = [each.source for each in track.items() if isinstance(each.source, str)]
                return [
                    Summary(*ends(gists, each), format_summary(gists[each], self.id))
                    for each in shown
                ]
        except _Failure:
            return []

    def summarize(self) -> None:
        """Begin to summarise, if it is time for that; never raises, and nobody waits for it."""
        wanted = self.cortex.mode != "off" and self.cortex.scopes.settings.conversation.automatic
        if self._budget is None or not wanted:
            return
        if self._compaction is None:
            from engramdown.conversation import CompactionBeside

            self._compaction = CompactionBeside(self.cortex.conversations, self.id)
        self._compaction.look(self._budget)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until a summary that was begun is done; whether it is."""
        return self._compaction is None or self._compaction.wait(timeout)
