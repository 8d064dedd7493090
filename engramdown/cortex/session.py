"""A conversation as turns, and the rule that nobody is interrupted in the middle of one.

During a turn there is nothing to confirm and nothing can be resolved; between turns, ticked lines
of ``pending.md`` are carried out. Everything that is said is recorded, and a tool's result with its
call. A failing disk neither ends nor delays a turn; the model that reads memory is told.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, Unpack

from engramdown.context.sections import MemoryContext, Section, degraded, left_out
from engramdown.conversation.conversations import quoted
from engramdown.engram import Engram
from engramdown.episodes.recorder import Said
from engramdown.errors import EngramdownError, MidTurnError, StoreError
from engramdown.storage.locks import one_call
from engramdown.transcripts.episode import Episode, Pointer, as_text

if TYPE_CHECKING:
    from engramdown.context.builder import ContextBuilder
    from engramdown.context.sources import Identity
    from engramdown.conversation.conversation import Compacted
    from engramdown.conversation.conversations import CompactionBeside, Conversations
    from engramdown.conversation.rendering import WorkingContext
    from engramdown.gate import Arrival, Proposal, Receipt, Scopes
    from engramdown.gate.review import Review

_ASKED_BEFORE: Final = 50
_WRITTEN: Final = frozenset({"encoded", "queued", "forgotten"})
# The sessions of this process in which a turn runs, each with the folders of its memory.
_TURNS: Final[weakref.WeakKeyDictionary[Session, set[Path]]] = weakref.WeakKeyDictionary()


class Parts(Protocol):
    """The part of a Cortex that a session and the tools need."""

    scopes: Scopes
    context: ContextBuilder

    @property
    def conversations(self) -> Conversations:
        """The running conversations."""

    @property
    def review(self) -> Review:
        """The review queue."""


class Session:
    """A running conversation; use it as a context manager.

    Attributes:
        turns: How many turns were begun.
        earlier: The earlier sessions that the model is reminded of; none by default.
    """

    def __init__(
        self,
        cortex: Parts,
        session: str | None = None,
        parent: str | None = None,
        parent_call: str | None = None,
        title: str = "",
        *,
        conversation: str = "",
    ) -> None:
        """Begin a session and carry out ticks; see :meth:`Cortex.session`."""
        self._cortex = cortex
        self._running = False
        self._episodes = episodes = cortex.scopes.episodes
        self._id = ""
        self._doing = Doing()
        self._open_calls: list[tuple[str, str, float]] = []
        self._seen: tuple[Section, ...] = ()
        self._missed = ""
        self._offered: tuple[str, ...] = ()
        self._begins_step = True
        self.turns = 0
        if episodes is not None:
            episodes.tidy()
            self._id = episodes.start_session(
                session, parent, parent_call, title=title, conversation=conversation
            )
        # Looked up once, so that the beginning of the prompt stays the same.
        self.earlier = cortex.context.earlier_sessions(self._id)
        self._began: Pointer | None = None
        self._asked = ""
        self._asked_before: deque[str] = deque(maxlen=_ASKED_BEFORE)
        self._looked_up: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._facts = FactsBeside()
        self._summaries: CompactionBeside | None = None
        self._budget: int | None = None
        # In a session that an assistant begins, the assistant speaks as the user.
        self._is_with_user = parent is None
        self.attend()
        cortex.review.apply_ticks()
        cortex.review.keep_own()
        tidy_if_due(cortex.scopes)
        self._identity: Identity | None = None
        with contextlib.suppress(StoreError):  # The property raises it again.
            self._identity = cortex.context.identity()

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the session, and a turn that is still running."""
        try:
            if self._running:
                self.end_turn()
        finally:
            self.end("finished" if kind is None else "interrupted")

    @property
    def id(self) -> str:
        """The id of the transcript, or ``""`` where no scope has files."""
        return self._id

    @property
    def degraded(self) -> str:
        """Why the transcript is not being written, or ``""``."""
        found = self._episodes.trouble if self._episodes is not None else None
        return "" if found is None else str(found)

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._running

    @property
    def turn_began(self) -> Pointer | None:
        """The pointer to the user's message of the running turn, if it is recorded."""
        return self._began

    @property
    def compacted(self) -> Compacted | None:
        """The result of the last automatic compaction, once it has ended.

        After one with ``reload_required``, a runner without state of its own starts again from
        :meth:`build_context`.
        """
        return None if self._summaries is None else self._summaries.last

    @property
    def asked(self) -> str:
        """The message of the user in the running turn, or in the last one."""
        return self._asked

    @property
    def asked_lately(self) -> list[str]:
        """The messages of the user in the running turn and the last ones, the newest last."""
        return [said for said in (*self._asked_before, self._asked) if said]

    @property
    def identity(self) -> Identity:
        """Who the assistant and the user are, as memory said when the session began.

        Later additions and changes count from the next session on; removals at once.

        Raises:
            StoreError: If memory cannot be read.
        """
        if self._identity is None:
            self._identity = self._cortex.context.identity()
        return self._cortex.context.recollection.standing(self._identity)

    @one_call()
    def begin_turn(
        self, message: str = "", meta: Mapping[str, Any] | None = None, *, scratchpad: bool = False
    ) -> MemoryContext:
        """Begin a turn with the user's message and return what the model should see.

        Args:
            message: The message of the user.
            meta: Data of the program to keep with it in the transcript.
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
        _TURNS[self] = {store.root for store in self._cortex.scopes.stores}
        new = [part for part in context.sections if part not in self._seen]
        self._seen = context.sections
        shown = [entry.id for part in new for entry in part.shown if entry.id]
        for part in context.sections:
            if part.name == "relevant":
                self._looked_up = (tuple(entry.id for entry in part.shown), part.recalled)
        recalled = tuple(pointer for part in new for pointer in part.recalled)
        if shown or recalled:
            meta = {"shown": shown, "left_out": sum(len(part.left_out) for part in new)}
            self.record("memory_read", "", meta=meta, recalled=recalled)
        reason = self.degraded or self._missed
        self._missed = ""
        shown_context = context.degrade(degraded(reason)) if reason else context
        lost = self._cortex.scopes.unreadable()
        return shown_context.degrade(left_out(lost[0])) if lost else shown_context

    @one_call()
    def build_context(
        self,
        budget: int,
        fresh_tail: int | None = None,
        *,
        message: str = "",
        subjects: str | Iterable[str] = (),
    ) -> WorkingContext:
        """Return what the model should see next of this conversation, in its parts.

        Call it in a turn before each call of the model. The memories in it are recorded, so that
        nothing is learned from them again. The arguments and errors are those of
        ``cortex.conversations.build_context``.
        """
        made = self._cortex.conversations.build_context(
            self, budget, fresh_tail, message=message, subjects=subjects
        )
        self._budget = budget
        found = (made.remembered, made.recalled)
        if self._running and found != self._looked_up:
            self._looked_up = found
            shown = {"shown": list(made.remembered)}
            if any(found):
                self.record("memory_read", "", meta=shown, recalled=tuple(made.recalled))
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
        self.record("assistant", reply)
        self._running = False
        _TURNS.pop(self, None)
        self._began = None
        scopes = self._cortex.scopes
        self._cortex.review.apply_ticks()
        # Propose what the turn teaches, as far as it is found without a model.
        settings, is_off = scopes.settings.consolidation, scopes.mode == "off"
        lessons = self._doing.lessons()
        if lessons and settings.learn_from_errors and not is_off:
            scopes.propose(lessons)
        self._keep_facts()
        if is_off or not self._is_with_user or not settings.identity_every:
            self._facts.pass_over()
        else:
            self._facts.look(settings.identity_every)
        # A program that builds its own prompts has no use for summaries, which may cost money.
        if self._budget is not None and scopes.settings.conversation.automatic and not is_off:
            if self._summaries is None:
                # Imported here: most sessions are shorter.
                from engramdown.conversation.conversations import CompactionBeside

                self._summaries = CompactionBeside(self._cortex.conversations, self.id)
            self._summaries.look(self._budget)

    def tool_call(self, name: str, given: object = None, call: str = "") -> str:
        """Record that a tool is called, and return the id of the call.

        Args:
            name: The name of the tool.
            given: Its input; anything but a ``str`` is recorded as JSON.
            call: Its id, or ``""`` for a new one.
        """
        if self._episodes is not None:
            call = call or self._episodes.new_call()
        self.record("tool_call", {} if given is None else given, name=name, call=call)
        self._open_calls.append((name, call, time.monotonic()))
        return call

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
        """Record the result of a tool.

        Args:
            name: The name of the tool.
            output: Its output; anything but a ``str`` is recorded as JSON.
            call: What :meth:`tool_call` returned, or ``""`` for the oldest call of that tool which
                has no result yet.
            error: ``True`` or a reason, if it failed.
            ms: How long it took, in milliseconds; measured from the call unless given.
            recalled: Pointers to what it brought back from memory, which does not count as new.
        """
        mine = (it for it in self._open_calls if it[0] == name and call in ("", it[1]))
        if (found := next(mine, None)) is not None:
            self._open_calls.remove(found)
            call = found[1]
            ms = round((time.monotonic() - found[2]) * 1000, 3) if ms is None else ms
        fields: Said = {"name": name, "call": call, "ms": ms, "error": error}
        fields["recalled"] = tuple(recalled)
        self.record("tool_result", output, **fields)

    def scratchpad(self, text: object, name: str = "") -> None:
        """Record what an assistant wrote or ran in a scratchpad."""
        self.record("scratchpad", text, name=name)

    def record(self, role: str, text: object, **said: Unpack[Said]) -> Pointer | None:
        """Record a line for a program that runs the model itself; never raises.

        It belongs to the running turn unless ``turn`` says otherwise.

        Args:
            role: See :meth:`EpisodicMemory.log`, as for the rest.
            text: The text.
            said: The other fields of the line.

        Returns:
            The pointer to it, or ``None`` if it is not written (yet).
        """
        said = {"turn": self.turns, **said}
        if self._episodes is None:
            return None
        begins_step = role == "assistant" or (role == "tool_call" and self._begins_step)
        if role in ("user", "assistant", "tool_call"):
            self._begins_step = role == "user"
        if begins_step and self._offered:
            said["meta"] = {"tools_offered": list(self._offered), **said.get("meta", {})}
        pointer = self._episodes.log(self._id, role, text, **said)
        if pointer is not None:
            self._doing.add(pointer, role, text, said)
        found = self._episodes.trouble
        if found is not None and (found.lost or not found.waiting):
            # A loss is remembered until a model was told of it.
            self._missed = str(found)
        return pointer

    def offer_tools(self, names: Iterable[str]) -> None:
        """Record from now on with each step which tools the model may call.

        They are in ``meta`` of the line that begins a step, as ``tools_offered``; see
        :attr:`engramdown.transcripts.tool_calls.Iteration.tools_offered`.

        Args:
            names: The names of all tools that it may call, ours as well; none to stop.
        """
        self._offered = tuple(names)

    def attend(self) -> None:
        """Record here from now on what becomes memory through this cortex.

        Of several sessions of one cortex, the one that began a turn last does so.
        """
        self._cortex.scopes.listen(weakref.WeakMethod(self._heard))

    def heard_from_tool(self, text: str) -> bool:
        """Whether the words of ``text`` came from a tool, and not from the user."""
        from engramdown.conversation.conversations import is_borrowed

        doing = self._doing
        before = doing.given_back_before(), list(self._asked_before)
        return is_borrowed(text, doing.given_back(), self._asked, before)

    @one_call()
    def end(self, reason: str = "finished") -> None:
        """End the transcript; a session that is used as a context manager does so itself."""
        self._keep_facts(wait=True)
        if self._episodes is not None:
            self._episodes.end(self._id, reason)

    def news(self) -> list[Arrival]:
        """Return what git brought from somebody else since the last call, each thing once.

        Show it to the user as the session begins. With ``pulled = "review"`` it also waits in
        :meth:`engramdown.Cortex.pending`, and reaches no model before it is accepted.
        """
        try:
            found = self._cortex.review.arrivals()
            self._cortex.review.mark_told(found)
        except StoreError:
            return []  # It is announced once this can be noted.
        return found

    def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        A held proposal waits in ``pending.md`` without a prompt.
        """
        if self._running:
            return []
        return [proposal for proposal in self._cortex.review.pending() if not proposal.hold]

    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out a decision of the user; see :meth:`engramdown.Cortex.resolve`.

        Raises:
            MidTurnError: If a turn is running.
        """
        self._refuse_mid_turn("resolve a proposal")
        return self._cortex.review.resolve(proposal_id, decision, text)

    def _heard(self, receipts: Iterable[Receipt]) -> None:
        """Record what became memory, was queued or was forgotten."""
        for receipt in receipts:
            if receipt.action in _WRITTEN:
                meta = {"action": receipt.action, "id": receipt.id, "scope": receipt.engram.scope}
                self.record("memory_write", receipt.engram.text, meta=meta)

    def _keep_facts(self, *, wait: bool = False) -> None:
        """Propose the facts about the user that the background thread found."""
        facts = self._facts.found(wait=wait)
        if facts:
            self._cortex.scopes.propose(facts)

    def _refuse_mid_turn(self, what: str) -> None:
        if self._running:
            msg = f"cannot {what} in the middle of turn {self.turns}; call end_turn first"
            raise MidTurnError(msg)


def refuse_mid_turn(scopes: Scopes) -> None:
    """Refuse to let a person decide while a turn runs in this process, over the same memory.

    Raises:
        MidTurnError: If one does.
    """
    own = {store.root for store in scopes.stores}
    sessions = filter(None, (known() for known in _TURNS.keyrefs()))
    if any(own & _TURNS.get(session, set()) for session in sessions):
        msg = "a turn is running, and nobody decides in the middle of one; try again after it"
        raise MidTurnError(msg)


def tidy_if_due(scopes: Scopes) -> None:
    """Tidy crowded files without a model, as a session does when it begins."""
    if scopes.mode == "off" or scopes.is_dry:
        return
    try:
        if scopes.needs_compaction():
            from engramdown.gate.compaction import tidied

            for notice in tidied(scopes):
                scopes.tell(notice)
    except StoreError as error:
        scopes.tell(f"could not tidy memory: {error}")


# ---- the actions of the running turn ----
#
# They are kept, up to a limit, until the turn ends and lessons are drawn from them.

# The roles of lines that record actions.
DONE: Final = frozenset({"tool_call", "tool_result", "scratchpad"})

_LONGEST: Final = 20_000
_MOST: Final = 500
_BEFORE: Final = 50
# Fewer lines teach nothing.
_FEWEST: Final = 3
_KEPT: Final = frozenset({"name", "call", "error", "meta"})


class Doing:
    """The actions of one turn after the other."""

    def __init__(self) -> None:
        """Begin without actions."""
        self._session = ""
        self._lines: deque[Episode] = deque(maxlen=_MOST)
        self._before: deque[str] = deque(maxlen=_BEFORE)

    def add(self, pointer: Pointer, role: str, text: object, said: Said) -> None:
        """Keep a recorded line if it is an action."""
        if role not in DONE:
            return
        self._session = pointer.session
        cut = as_text(text[:_LONGEST] if isinstance(text, str) else text)[:_LONGEST]
        more: dict[str, Any] = {key: it for key, it in said.items() if key in _KEPT}
        self._lines.append(Episode(pointer.seq, "", "", role, cut, **more))

    def given_back(self) -> list[str]:
        """Return the results of tools in the running turn, each cut.

        Results of our own tools count, too: a skill or a transcript may hold anybody's words.
        """
        results = (line for line in self._lines if line.role == "tool_result")
        return [said for line in results if (said := quoted(line.name, line.text))]

    def given_back_before(self) -> list[str]:
        """Return the latest results of tools in earlier turns."""
        return list(self._before)

    def lessons(self) -> list[Engram]:
        """Return the lessons of the turn that ends now, and begin the next one."""
        lines = list(self._lines)
        self._before.extend(self.given_back())
        self._lines.clear()
        if len(lines) < _FEWEST:
            return []
        from engramdown.consolidation.actions import cells_of
        from engramdown.consolidation.error_lessons import lessons_of_turn

        return lessons_of_turn(cells_of(self._session, lines))


# ---- facts in what the user says ----
#
# A thread of its own reads the messages, so that a turn does not wait.


class FactsBeside:
    """The facts in what a user said, found a few messages at a time."""

    def __init__(self) -> None:
        """Begin without messages."""
        self._said: list[tuple[str, str]] = []
        self._found: list[Engram] = []
        self._thread: threading.Thread | None = None

    def add(self, text: str, pointer: str) -> None:
        """Keep a message until it is looked at."""
        self._said.append((text, pointer))

    def look(self, every: int) -> None:
        """Start reading once there are ``every`` messages; one reading at a time."""
        if len(self._said) < every or self._thread is not None:
            return
        said, self._said = self._said, []

        def read() -> None:
            # Loaded here, as it takes longer than a turn should.
            from engramdown.consolidation.facts import Message, facts_without_model

            learned = facts_without_model(Message(text, pointer) for text, pointer in said)
            self._found = list(learned.engrams)

        self._thread = threading.Thread(target=read, name="engramdown-facts")
        self._thread.start()

    def pass_over(self) -> None:
        """Drop the messages since the last reading."""
        self._said.clear()

    def found(self, *, wait: bool = False) -> list[Engram]:
        """Return the facts of a finished reading, each once.

        Args:
            wait: Wait for a running one; it takes a moment.
        """
        if self._thread is None or (self._thread.is_alive() and not wait):
            return []
        self._thread.join()
        self._thread = None
        found, self._found = self._found, []
        return found
