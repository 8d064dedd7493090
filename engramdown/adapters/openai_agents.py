"""The OpenAI Agents SDK with Engramdown as its memory: a session, instructions and tools.

Promises: what a session gives back is what was added, item by item, but for secrets that are hidden
in what tools got and gave; every item is a line of a transcript that a person can read and recall
finds. A turn begins with the user's words and ends with the assistant's last ones; nobody is asked
to confirm anything in between. No trouble with memory ends a run, and nothing of an item is lost
because a run is cancelled while it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from agents import Agent, FunctionTool, RunContextWrapper, SessionSettings, TResponseInputItem
from agents.memory import SessionABC
from agents.tool_context import ToolContext

from engramdown.adapters.kept import Kept
from engramdown.adapters.lines import JSON, Line, copies
from engramdown.adapters.openai_items import (
    asks_for_work,
    called,
    has_spoken,
    item_line,
    plain_item,
    summarised,
    whole_items,
)
from engramdown.adapters.summaries import Summaries
from engramdown.adapters.threads import beside
from engramdown.cortex.cortex import Cortex
from engramdown.cortex.recording import degraded
from engramdown.cortex.tools import TOOLS, Answer
from engramdown.episodes.episode import Pointer
from engramdown.episodes.ids import check_session_id
from engramdown.episodes.memory import Said
from engramdown.errors import EngramdownError

if TYPE_CHECKING:
    from engramdown.cortex.proposals import Proposal
    from engramdown.cortex.receipts import Receipt
    from engramdown.cortex.turns import Session

__all__ = ["EngramdownSession", "memory_instructions", "memory_tools"]

T = TypeVar("T")
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]

_KEY: Final = "openai_agents"
_MOST_ANSWERS: Final = 100
_RUNNING: ContextVar[EngramdownSession | None] = ContextVar("engramdown_session", default=None)


class EngramdownSession(SessionABC):
    """The conversation of one transcript, as the SDK's runner wants it.

    It can be shared by several runners, and by several event loops.

    Attributes:
        session_id: The id of the transcript.
        session_settings: How many items a run is given at most, if that is limited.
        cortex: The memory.
    """

    def __init__(
        self,
        session_id: str,
        cortex: Cortex | None = None,
        *,
        session_settings: SessionSettings | None = None,
        budget: int | None = None,
        title: str = "",
    ) -> None:
        """Begin a conversation, or go on with it; nothing is read or written yet.

        Args:
            session_id: The id of its transcript, a safe file name.
            cortex: The memory; by default the scopes found from the working directory.
            session_settings: See the SDK.
            budget: What the history may cost, in tokens: once it is long, older items are
                summarised beside the conversation, and their summaries given in their place. All
                of it is given back unless this is set.
            title: What to call a new transcript.

        Raises:
            InvalidSessionError: If the id is no safe file name.
            SettingsError: If ``cortex`` is to be found, and a setting is wrong.
        """
        self.session_id = check_session_id(session_id)
        self.session_settings = session_settings or SessionSettings()
        self.cortex = cortex or Cortex.open()
        self._title = title
        self._kept = Kept(self.cortex.episodes, session_id, _KEY, plain_item)
        self._summaries = None if budget is None else Summaries(self.cortex, session_id, budget)
        self._session: Session | None = None
        self._context = ""
        self._answers: dict[str, Answer] = {}
        self._names: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        """Return the session."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the transcript."""
        await self.close("finished" if kind is None else "interrupted")

    # ---- what the SDK asks for ----

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, in order; the last ``limit`` of them, by default as it is set."""
        _RUNNING.set(self)
        return cast("list[TResponseInputItem]", await self._do(lambda: self._get(limit)))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items, each as a line of the transcript.

        Raises:
            TypeError: If one cannot be said as JSON; nothing was kept then.
        """
        _RUNNING.set(self)
        given: list[Any] = json.loads(json.dumps(items))
        if given:
            await self._do(lambda: self._add(given))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back and return it, or ``None`` if there is none.

        It is out of the session, of recall and of summaries; its line stays in the file.
        """
        return cast("TResponseInputItem | None", await self._do(self._pop))

    async def clear_session(self) -> None:
        """Take all items back; their lines stay in the file, which is only ever appended to."""
        await self._do(self._kept.clear)

    # ---- turns ----

    @property
    def context(self) -> str:
        """What a model is told of memory in the running turn, or was in the last one."""
        return self._context

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._session is not None and self._session.in_turn

    async def end_turn(self) -> None:
        """End a turn that the assistant's words did not end.

        A run that raised leaves one open, and so does one whose last word is a tool's. The next
        message of the user ends it as well.
        """
        await self._do(self._end_turn)

    async def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn."""
        return await self._do(lambda: self._running().confirmations())

    async def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what the user decided; see :meth:`engramdown.Session.resolve`.

        Raises:
            MidTurnError: If a turn is running.
        """
        return await self._do(lambda: self._running().resolve(proposal_id, decision, text))

    async def use_tool(self, name: str, arguments: str, call: str = "") -> Answer:
        """Return what one of our tools answers; the SDK keeps the call and the result as items."""
        return await self._do(lambda: self._use(name, arguments, call))

    async def close(self, reason: str = "finished") -> None:
        """End the transcript; it goes on if the session is used again."""
        await self._do(lambda: self._close(reason))

    # ---- alone with the cortex ----

    async def _do(self, act: Callable[[], T]) -> T:
        return await beside(self.cortex, act)

    def _running(self) -> Session:
        if self._session is None:
            self._session = self.cortex.session(self.session_id, title=self._title)
        return self._session

    def _get(self, limit: int | None) -> list[Any]:
        chosen = self.session_settings.limit if limit is None and self.session_settings else limit
        entries = self._kept.entries()
        if self._summaries is not None:
            entries = summarised(entries, self._summaries.in_view())
        entries = whole_items(entries)
        if chosen is not None and chosen >= 0:
            entries = entries[len(entries) - min(chosen, len(entries)) :]
        return copies(entries)

    def _add(self, items: list[Any]) -> None:
        session = self._running()
        lines = [self._line(item) for item in items]
        begins = max((at for at, line in enumerate(lines) if line.role == "user"), default=-1)
        if begins >= 0:
            self._end_turn()
        for at, line in enumerate(lines):
            if at == begins:
                self._kept.add(line, partial(self._begin_turn, line))
            else:
                self._record(line, session.turns + (at < begins))
        is_done = any(map(has_spoken, items)) and not any(map(asks_for_work, items))
        if is_done:
            self._end_turn()

    def _line(self, item: JSON) -> Line:
        line = item_line(item, self._names)
        if line.role == "tool_call" and line.call:
            self._names[line.call] = line.name
        if line.role == "tool_result" and line.call not in self._names:
            return line._replace(name=called(self._kept.entries(), line.call) or line.name)
        return line

    def _record(self, line: Line, turn: int) -> None:
        answer = None
        if line.role == "tool_result":
            self._names.pop(line.call, None)
            answer = self._answers.pop(line.call, None)
        session, failed = self._running(), line.error or (answer is not None and answer.is_error)
        said: Said = {"name": line.name, "call": line.call, "error": failed, "turn": turn}
        said["recalled"] = () if answer is None else answer.recalled
        write = partial(session.record, line.role, line.text, **said)
        self._kept.add(line, lambda meta: write(meta=meta))

    def _begin_turn(self, line: Line, meta: dict[str, Any]) -> Pointer | None:
        session = self._running()
        try:
            self._context = str(session.begin_turn(line.text, meta))
        except (EngramdownError, OSError) as error:
            self._context = degraded(str(error))
        return session.turn_began

    def _end_turn(self) -> None:
        if self._session is not None and self._session.in_turn:
            try:
                self._session.end_turn()
            except (EngramdownError, OSError):
                return  # What was ticked or learned waits for the next turn.
            if self._summaries is not None:
                self._summaries.look()

    def _pop(self) -> JSON:
        found = self._kept.pop(whole_items)
        return None if found is None else copies([found])[0]

    def _close(self, reason: str) -> None:
        session, self._session = self._session, None
        if session is not None:
            if session.in_turn:
                session.end_turn()
            session.end(reason)

    def _use(self, name: str, arguments: str, call: str) -> Answer:
        """Answer a call of one of our tools; its lines come with the items of the run."""
        session = self._running()
        session.attend()
        answer = TOOLS[name](self.cortex, arguments, session)
        self._answers[call] = answer
        while len(self._answers) > _MOST_ANSWERS:  # Those of runs that ended before they were kept.
            self._answers.pop(next(iter(self._answers)))
        return answer


def memory_instructions(
    cortex: Cortex, instructions: str = "", *, session: EngramdownSession | None = None
) -> Instructions:
    """Return what an agent takes as its ``instructions``: words of yours, and memory behind them.

    What a model is shown stays the same through a turn. It is what memory holds as the turn begins,
    ranked by what the user says.

    Args:
        cortex: The memory.
        instructions: What the agent is told anyway.
        session: The conversation; by default that of the run, if it is one of ours.
    """

    async def told(context: RunContextWrapper[Any], _agent: Agent[Any]) -> str:
        running = _session_of(cortex, session)
        said = _asked(context)
        memory = await beside(cortex, lambda: _memory(cortex, running, said))
        return f"{instructions}\n\n{memory}".strip()

    return told


def memory_tools(
    cortex: Cortex,
    names: Iterable[str] | None = None,
    *,
    session: EngramdownSession | None = None,
) -> list[FunctionTool]:
    """Return tools with which a model remembers, recalls and forgets.

    Whatever a model passes, it gets an answer that it can act on; no call ends a run.

    Args:
        cortex: The memory.
        names: Which tools; see :meth:`engramdown.Cortex.tool_definitions`.
        session: The conversation; by default that of the run, if it is one of ours.

    Raises:
        ValueError: If there is no such tool.
    """

    def tool(name: str, description: str, parameters: dict[str, Any]) -> FunctionTool:
        async def invoke(context: ToolContext[Any], arguments: str) -> str:
            running, call = _session_of(cortex, session), context.tool_call_id
            if running is None:
                answer = await beside(cortex, lambda: cortex.use_tool(name, arguments))
            else:
                answer = await running.use_tool(name, arguments, call)
            return answer.text

        return FunctionTool(name, description, parameters, invoke, strict_json_schema=False)

    return [tool(**each) for each in cortex.tool_definitions("plain", names)]


def _session_of(cortex: Cortex, session: EngramdownSession | None) -> EngramdownSession | None:
    """Return the session that a run is of, if that is a session of the same memory."""
    chosen = session or _RUNNING.get()
    return chosen if chosen is not None and chosen.cortex is cortex else None


def _memory(cortex: Cortex, running: EngramdownSession | None, asked: str) -> str:
    if running is not None and running.in_turn:
        return running.context
    try:
        return str(cortex.build_memory_context(asked))
    except (EngramdownError, OSError) as error:
        return degraded(str(error))


def _asked(context: RunContextWrapper[Any]) -> str:
    """Return what the user said last."""
    lines = (item_line(item, {}) for item in reversed(context.turn_input))
    return next((line.text for line in lines if line.role == "user"), "")
