"""A conversation as turns, and the rule that nobody is interrupted in the middle of one.

Promises: during a turn there is nothing to confirm and nothing can be resolved; between turns
what was ticked in ``pending.md`` is carried out. What is said is recorded in the transcripts, and
no trouble with them ends a turn.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, Unpack

from engramdown.context.sections import left_out
from engramdown.cortex.beside import FactsBeside
from engramdown.cortex.recording import Recording
from engramdown.episodes.recorder import Said
from engramdown.errors import EngramdownError, MidTurnError, StoreError
from engramdown.storage.locks import one_call
from engramdown.transcripts.episode import Pointer

if TYPE_CHECKING:
    from engramdown.context.builder import ContextBuilder
    from engramdown.context.sections import MemoryContext
    from engramdown.context.sources import Identity
    from engramdown.conversation.conversations import CompactionBeside, Conversations
    from engramdown.conversation.rendering import WorkingContext
    from engramdown.conversation.summarize import Compacted
    from engramdown.gate.arrivals import Arrival
    from engramdown.gate.proposals import Proposal
    from engramdown.gate.receipts import Receipt
    from engramdown.gate.review import Review
    from engramdown.gate.scopes import Scopes

__all__ = ["Session"]

_ASKED_BEFORE: Final = 50


class Parts(Protocol):
    """What a session and the tools need of a Cortex."""

    scopes: Scopes
    context: ContextBuilder

    @property
    def conversations(self) -> Conversations:
        """The running conversations."""

    @property
    def review(self) -> Review:
        """What waits for a person."""


class Session:
    """A running conversation; use it as a context manager.

    Attributes:
        turns: How many turns were begun.
        earlier: The earlier sessions that the model is reminded of; none unless that is set.
    """

    def __init__(
        self,
        cortex: Parts,
        session: str | None = None,
        parent: str | None = None,
        parent_call: str | None = None,
        title: str = "",
        *,
        in_view: Iterable[str] = (),
    ) -> None:
        """Begin a session and carry out what was ticked meanwhile; see :meth:`Cortex.session`."""
        self._cortex = cortex
        self._running = False
        self._recording = Recording(cortex.scopes.episodes, session, parent, parent_call, title)
        # Looked up once: what a model is reminded of stays, and so does the prompt's beginning.
        self.earlier = cortex.context.earlier_sessions(self._recording.id, in_view)
        self._began: Pointer | None = None
        self._asked = ""
        self._asked_before: deque[str] = deque(maxlen=_ASKED_BEFORE)
        self._looked_up: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._facts = FactsBeside()
        self._summaries: CompactionBeside | None = None
        self._budget: int | None = None
        # In a session that an assistant begins, it speaks as the user.
        self._is_with_user = parent is None
        self.turns = 0
        self.attend()
        cortex.review.apply_ticks()
        cortex.review.keep_own()
        tidy_if_due(cortex.scopes)
        self._identity: Identity | None = None
        with contextlib.suppress(StoreError):  # Whoever asks for it is told.
            self._identity = cortex.context.identity()

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session, and a turn that is still running."""
        try:
            if self._running:
                self.end_turn()
        finally:
            self.end("finished" if kind is None else "interrupted")

    @property
    def id(self) -> str:
        """The id of the transcript, or ``""`` where no scope has files."""
        return self._recording.id

    @property
    def degraded(self) -> str:
        """Why the transcript is not being written, or ``""``."""
        return self._recording.trouble

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._running

    @property
    def turn_began(self) -> Pointer | None:
        """Where the user's message of the running turn stands in the transcript, if it does."""
        return self._began

    @property
    def compacted(self) -> Compacted | None:
        """What came of the last compaction that was begun of its own accord, once it has ended.

        Behind one with ``reload_required``, a runner that keeps nothing itself begins again from
        :meth:`build_context`.
        """
        return None if self._summaries is None else self._summaries.last

    @property
    def asked(self) -> str:
        """What the user said in the running turn, or in the last one."""
        return self._asked

    @property
    def asked_lately(self) -> list[str]:
        """What the user said in the running turn and the last ones before, the newest last."""
        return [said for said in (*self._asked_before, self._asked) if said]

    @property
    def identity(self) -> Identity:
        """Who the assistant and the user are, as memory said when the session began.

        What was added or changed since is for the next session; what a person took out is gone.

        Raises:
            StoreError: If memory cannot be read.
        """
        if self._identity is None:
            self._identity = self._cortex.context.identity()
        return self._cortex.context.standing(self._identity)

    @one_call()
    def begin_turn(
        self,
        message: str = "",
        meta: Mapping[str, Any] | None = None,
        *,
        scratchpad: bool = False,
    ) -> MemoryContext:
        """Begin a turn with the user's message and return what the model is to see.

        Args:
            message: What the user says.
            meta: What the program wants to keep with it in the transcript.
            scratchpad: See :meth:`engramdown.Cortex.build_memory_context`.

        Raises:
            MidTurnError: If a turn is running already.
        """
        self._refuse_mid_turn("begin a turn")
        self.attend()
        self._asked_before.append(self._asked)
        self._asked, self._looked_up = message, ((), ())
        self._began = self.record("user", message, turn=self.turns + 1, meta=meta or {})
        self._facts.add(message, str(self._began or ""))
        self._cortex.review.apply_ticks()
        context = self._cortex.context.build(message, self, scratchpad=scratchpad)
        self.turns += 1
        self._running = True
        told = self._recording.read(context, self.turns)
        lost = self._cortex.scopes.unreadable()
        return told.degrade(left_out(lost[0])) if lost else told

    @one_call()
    def build_context(
        self,
        budget: int,
        fresh_tail: int | None = None,
        *,
        message: str = "",
        subjects: str | Iterable[str] = (),
    ) -> WorkingContext:
        """Return what the model is to see next of this conversation, in its parts.

        Call it in a turn, as often as the model is asked. What it looked up is recorded, so that
        nothing is learned from it again. The arguments and errors are those of
        :meth:`engramdown.Cortex.build_context`.
        """
        made = self._cortex.conversations.build_context(
            self, budget, fresh_tail, message=message, subjects=subjects
        )
        self._budget = budget
        found = (made.remembered, made.recalled)
        if self._running and found != self._looked_up:
            self._looked_up = found
            self._recording.quoted(*found, self.turns)
        return made

    @one_call()
    def end_turn(self, reply: str = "") -> None:
        """End the turn with the assistant's ``reply``.

        Raises:
            EngramdownError: If no turn is running.
        """
        if not self._running:
            msg = "no turn is running; call begin_turn first"
            raise EngramdownError(msg)
        self._recording.say("assistant", reply, self.turns)
        self._running = False
        self._began = None
        self._cortex.review.apply_ticks()
        self._learn()
        self._summarise()

    def tool_call(self, name: str, given: object = None, call: str = "") -> str:
        """Record that a tool is called, and return the id of the call.

        Args:
            name: Of the tool.
            given: Its input; what is no ``str`` is recorded as JSON.
            call: The id that it has, or ``""`` for a new one.
        """
        return self._recording.call(name, {} if given is None else given, call, self.turns)

    def tool_result(
        self,
        name: str,
        output: object,
        call: str = "",
        *,
        error: bool | str = False,
        ms: float | None = None,
        recalled: Iterable[str] = (),
    ) -> None:
        """Record what a tool gave back.

        Args:
            name: Of the tool.
            output: What it gave back; what is no ``str`` is recorded as JSON.
            call: What :meth:`tool_call` returned, or ``""`` for the oldest call of that tool which
                has no result yet.
            error: ``True`` or a reason, if it failed.
            ms: How long it took, in milliseconds; measured from the call unless given.
            recalled: Pointers to what it brought back from memory, so that it is not taken for
                something new.
        """
        said: Said = {"name": name, "call": call, "ms": ms, "error": error, "turn": self.turns}
        said["recalled"] = tuple(recalled)
        self._recording.result(output, said)

    def scratchpad(self, text: object, name: str = "") -> None:
        """Record what an assistant wrote or ran in a scratchpad."""
        self._recording.say("scratchpad", text, self.turns, name)

    def record(self, role: str, text: object, **said: Unpack[Said]) -> Pointer | None:
        """Record a line as a program tells of it that runs the model itself; never raises.

        It is of the running turn unless ``turn`` says otherwise.

        Args:
            role: See :meth:`EpisodicMemory.log`, as for the rest.
            text: What was said.
            said: What else the line says.

        Returns:
            Where it stands, or ``None`` if it is not written (yet).
        """
        return self._recording.record(role, text, {"turn": self.turns, **said})

    def offer_tools(self, names: Iterable[str]) -> None:
        """Say which tools the model is offered from now on: each step is recorded with them.

        They stand in ``meta`` of the line that begins a step, as ``tools_offered``; see
        :attr:`engramdown.transcripts.tool_calls.Iteration.tools_offered`.

        Args:
            names: The names of all tools that it may call, ours as well; none to stop telling.
        """
        self._recording.offer(names)

    def attend(self) -> None:
        """From now on note here what becomes memory through this cortex.

        A turn begins with that; of several sessions of one cortex, each asks for it when it acts.
        """
        self._cortex.scopes.listen(weakref.WeakMethod(self._heard))

    def heard_from_tool(self, text: str) -> bool:
        """Whether the words of ``text`` came from a tool, and not from the user."""
        from engramdown.conversation.tool_echo import is_borrowed

        doing = self._recording.doing
        before = doing.given_back_before(), list(self._asked_before)
        return is_borrowed(text, doing.given_back(), self._asked, before)

    @one_call()
    def end(self, reason: str = "finished") -> None:
        """End the transcript; a session that is used as a context manager does so itself."""
        self._keep_facts(wait=True)
        self._recording.end(reason)

    def news(self) -> list[Arrival]:
        """Return what git brought of somebody else's since a person was told last; each thing once.

        Show it to the user as the session begins. With ``pulled = "review"`` it also waits in
        :meth:`engramdown.Cortex.pending`, and reaches no model before it is accepted.
        """
        try:
            found = self._cortex.review.arrivals()
            self._cortex.review.mark_told(found)
        except StoreError:
            return []  # It is told as soon as it can be noted that it was.
        return found

    def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        What is held for review waits in ``pending.md`` without anybody being asked.
        """
        if self._running:
            return []
        return [proposal for proposal in self._cortex.review.pending() if not proposal.hold]

    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what the user decided; see :meth:`engramdown.Cortex.resolve`.

        Raises:
            MidTurnError: If a turn is running.
        """
        self._refuse_mid_turn("resolve a proposal")
        return self._cortex.review.resolve(proposal_id, decision, text)

    def _heard(self, receipts: Iterable[Receipt]) -> None:
        self._recording.wrote(receipts, self.turns)

    def _learn(self) -> None:
        """Let pass the gate what the turn teaches, as far as it is seen without a model."""
        settings, is_off = (
            self._cortex.scopes.settings.consolidation,
            self._cortex.scopes.mode == "off",
        )
        lessons = self._recording.doing.lessons()
        if lessons and settings.learn_from_errors and not is_off:
            self._cortex.scopes.propose(lessons)
        self._keep_facts()
        if is_off or not self._is_with_user or not settings.identity_every:
            self._facts.pass_over()
        else:
            self._facts.look(settings.identity_every)

    def _summarise(self) -> None:
        """Summarise beside the conversation if it is time for that, and its prompts are ours.

        Whoever puts prompts together without us has no use for it, and would pay for it.
        """
        is_wanted = (
            self._cortex.scopes.settings.conversation.automatic
            and self._cortex.scopes.mode != "off"
        )
        if self._budget is None or not is_wanted:
            return
        if self._summaries is None:
            # Imported here: most sessions are shorter.
            from engramdown.conversation.conversations import CompactionBeside

            self._summaries = CompactionBeside(self._cortex.conversations, self.id)
        self._summaries.look(self._budget)

    def _keep_facts(self, *, wait: bool = False) -> None:
        """Let the facts about the user pass the gate that were found beside the conversation."""
        facts = self._facts.found(wait=wait)
        if facts:
            self._cortex.scopes.propose(facts)

    def _refuse_mid_turn(self, what: str) -> None:
        if self._running:
            msg = f"cannot {what} in the middle of turn {self.turns}; call end_turn first"
            raise MidTurnError(msg)


def tidy_if_due(scopes: Scopes) -> None:
    """Tidy files that hold too much, without a model: what a session does as it begins."""
    if scopes.mode == "off" or scopes.rehearsing:
        return
    try:
        if scopes.needs_compaction():
            from engramdown.gate.compaction import tidied

            for notice in tidied(scopes):
                scopes.tell(notice)
    except StoreError as error:
        scopes.tell(f"could not tidy memory: {error}")
