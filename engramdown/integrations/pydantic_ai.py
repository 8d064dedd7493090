"""pydantic-ai with Engramdown as its memory: a capability, or only the tools.

Promises: a run is told what memory holds, and leaves its messages in a transcript, part by part, as
they can be read back; nothing that pydantic-ai keeps or validates is changed. A run is a turn: it
ends however the run ends, and nobody is asked to confirm anything before. Several agents, runs and
conversations may use one memory at once. No trouble with memory ends a run, and no call of a tool.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        UserPromptPart,
        repair_messages,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
except ImportError as error:
    raise ImportError(
        "the capability needs pydantic-ai in a version that has them: "
        "pip install -U 'engramdown[pydantic-ai]'"
    ) from error

from engramdown.cortex.cortex import Cortex
from engramdown.cortex.proposals import Proposal
from engramdown.cortex.receipts import Receipt
from engramdown.episodes.ids import session_of
from engramdown.integrations.external_session import Talk, beside, check_budget, title_of, told_of
from engramdown.integrations.history import Kept, Summary
from engramdown.integrations.pydantic_messages import (
    message_lines,
    messages_of,
    places,
    plain_part,
    visible,
)
from engramdown.integrations.pydantic_tools import RUNNING, MemoryToolset
from engramdown.integrations.pydantic_written import messages_from, written

__all__ = ["EngramdownMemory", "MemoryToolset"]

T = TypeVar("T")

_KEY: Final = "pydantic_ai"
_MOST_TALKS: Final = 100


class EngramdownMemory(AbstractCapability[Any]):
    """Memory for the agents that are given it among their ``capabilities``.

    Each conversation of pydantic-ai is a transcript, under its ``conversation_id``, or under a name
    that no other one gets where that is no safe file name. What an agent does for another one, in
    one of its tools, is a transcript of its own that knows its parent.

    Attributes:
        cortex: The memory.
    """

    def __init__(
        self,
        cortex: Cortex | None = None,
        *,
        session: str | None = None,
        tools: Iterable[str] | None = None,
        budget: int | None = None,
    ) -> None:
        """Give agents a memory; nothing is read or written yet.

        Args:
            cortex: The memory; by default the scopes found from the working directory.
            session: The conversation that all runs are of, whatever their id of one is.
            tools: Which tools a model gets; see :meth:`engramdown.Cortex.tool_definitions`.
            budget: What a model may be shown of a conversation, in tokens: once it is long, older
                messages are summarised beside it, and summaries sent in their place. The messages
                that pydantic-ai keeps stay as they are.

        Raises:
            InvalidSessionError: If ``session`` is empty.
            ValueError: If there is no such tool, or ``budget`` is not above 0.
        """
        self.cortex = cortex or Cortex.open()
        if session is not None:
            session_of(session)  # What is none is told now, not in the middle of a run.
        self._fixed = session
        self._budget = check_budget(budget)
        self._toolset = MemoryToolset(self.cortex, tools)
        self._talks: dict[str, Talk] = {}
        self._run: _Run | None = None

    # ---- what pydantic-ai asks for ----

    async def for_run(self, ctx: RunContext[Any]) -> EngramdownMemory:
        """Return this memory for one run."""
        mine = copy.copy(self)
        parent = RUNNING.get()
        session = self._fixed or ctx.conversation_id or ctx.run_id or ""
        talk = await self._do(lambda: self._talk(session, parent))
        mine._run = _Run(talk, ctx.run_id)  # noqa: SLF001 - a copy of this one
        return mine

    def get_toolset(self) -> MemoryToolset | None:
        """Return the tools."""
        return self._toolset

    def get_instructions(self) -> Callable[[RunContext[Any]], Awaitable[str]]:
        """Return what tells a model what memory holds."""

        async def told(ctx: RunContext[Any]) -> str:
            return await self._do(lambda: self._told(ctx))

        return told

    async def wrap_run(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - as pydantic-ai calls it
        *,
        handler: Callable[[], Awaitable[AgentRunResult[Any]]],
    ) -> AgentRunResult[Any]:
        """Run, as a turn."""
        run = self._run
        if run is None:
            return await handler()
        token = RUNNING.set(run.talk)
        try:
            await self._do(lambda: self._began(run))
            return await handler()
        finally:
            RUNNING.reset(token)
            await self._do(lambda: self._ended(run))

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Keep what is new, and put summaries in the place of what they stand for."""
        run = self._run
        if run is not None:
            await self._do(lambda: self._keep(run, ctx.messages))
        if run is not None and self._budget is not None:
            talk, messages = run.talk, request_context.messages
            request_context.messages = await self._do(lambda: _shortened(talk, messages))
        return request_context

    # ---- for the program ----

    async def messages(self, session: str, *, repair: bool = True) -> list[ModelMessage]:
        """Return the messages of a conversation, to go on with as ``message_history``.

        They are as pydantic-ai had them, but for the instructions, which each run has of its own,
        and for secrets that are hidden in what tools got and gave.

        Args:
            session: Its id, or that of its transcript.
            repair: Whether calls that a run left open which ended early are told to be
                interrupted, so that the user can go on; not where a person is to approve them.

        Raises:
            InvalidSessionError: If the id is empty.
        """
        kept = await self._do(lambda: self._kept(session_of(session)).entries())
        found = messages_from(messages_of(kept))
        return repair_messages(found) if repair else found

    async def confirmations(self, session: str) -> list[Proposal]:
        """Return the proposals to ask the user about now; none while a run of the session runs.

        Raises:
            InvalidSessionError: If the id is empty.
            StoreError: If what waits cannot be read.
        """
        return await self._with(session, Talk.confirmations)

    async def resolve(
        self, session: str, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what the user decided; see :meth:`engramdown.Session.resolve`.

        Raises:
            MidTurnError: If a run of the session runs.
        """
        return await self._with(
            session, lambda talk: talk.session.resolve(proposal_id, decision, text)
        )

    async def close(self) -> None:
        """End the transcripts; those that are used again go on."""
        await self._do(self._close)

    # ---- alone with the cortex ----

    async def _do(self, act: Callable[[], T]) -> T:
        return await beside(self.cortex, act)

    async def _with(self, session: str, act: Callable[[Talk], T]) -> T:
        return await self._do(lambda: act(self._talk(session)))

    def _kept(self, session: str) -> Kept:
        talk = self._talks.get(session)
        if talk is not None:
            return talk.kept
        return Kept(self.cortex.episodes, session, _KEY, plain_part)

    def _talk(self, name: str, parent: Talk | None = None) -> Talk:
        session = session_of(name)
        found = self._talks.pop(session, None)
        if found is None:
            above = parent.id if parent is not None and parent.cortex is self.cortex else None
            found = Talk(
                self.cortex,
                self._kept(session),
                parent=None if above == session else above,
                title=title_of(name),
                budget=self._budget,
            )
        self._talks[session] = found
        for each_id in [each for each, talk in self._talks.items() if not talk.runs]:
            if len(self._talks) <= _MOST_TALKS or each_id == session:
                break
            self._talks.pop(each_id).end("idle_timeout")
        return found

    def _close(self) -> None:
        while self._talks:
            self._talks.popitem()[1].end("finished")

    def _told(self, ctx: RunContext[Any]) -> str:
        asked = ctx.prompt if isinstance(ctx.prompt, str) else ""
        if self._run is None:
            return told_of(self.cortex, asked)
        self._keep(self._run, ctx.messages)
        return self._run.talk.context(asked)

    def _keep(self, run: _Run, messages: list[ModelMessage]) -> None:
        run.messages = messages
        for message in written(run.new()):
            lines, model = message_lines(message), str(message.get("model_name") or "")
            begins = next((at for at, line in enumerate(lines) if line.role == "user"), None)
            for at, line in enumerate(lines):
                if at == begins:
                    run.talk.begin_turn(line)
                else:
                    run.talk.add(line, model=model)

    def _began(self, run: _Run) -> None:
        run.talk.runs += 1

    def _ended(self, run: _Run) -> None:
        self._keep(run, run.messages)
        run.talk.runs -= 1
        if not run.talk.runs:
            run.talk.end_turn()


class _Run:
    """One run.

    Attributes:
        talk: The conversation that it is of.
        messages: The messages of the conversation, as pydantic-ai has them now.
    """

    def __init__(self, talk: Talk, run_id: str | None) -> None:
        """Begin a run, of which nothing is kept yet."""
        self.talk = talk
        self.messages: list[ModelMessage] = []
        self._id = run_id
        self._done: dict[int, ModelMessage] = {}

    def new(self) -> list[ModelMessage]:
        """Return the messages of this run that were not returned before."""
        found = [
            each for each in self.messages if each.run_id == self._id and id(each) not in self._done
        ]
        self._done |= {id(each): each for each in found}
        return found


def _shortened(talk: Talk, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return messages with summaries in the place of the parts that they stand for."""
    summaries = talk.summaries
    if not summaries:
        return list(messages)
    known = places(talk.kept.entries())
    made: list[ModelMessage] = []
    told: set[Summary] = set()
    for message, said in zip(messages, written(messages), strict=True):
        seqs = known.get(_key(said), ())
        if len(seqs) != len(message.parts):
            made.append(message)
            continue
        shows, covered = visible(seqs, summaries)
        new = [each for each in covered if each not in told]
        told.update(new)
        made += [ModelRequest(parts=[UserPromptPart(each.text)]) for each in new]
        parts = [part for part, shown in zip(message.parts, shows, strict=True) if shown]
        if parts or not message.parts:
            made.append(message if all(shows) else _with_parts(message, parts))
    return made


def _with_parts(message: ModelMessage, parts: list[Any]) -> ModelMessage:
    if isinstance(message, ModelResponse):
        return replace(message, parts=parts)
    return replace(message, parts=parts)


def _key(message: dict[str, Any]) -> tuple[str, str, str]:
    kind, run, at = (str(message.get(name) or "") for name in ("kind", "run_id", "timestamp"))
    return kind, run, at
