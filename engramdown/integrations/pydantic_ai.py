"""pydantic-ai with Engramdown as its memory: a capability, or only the tools.

A run gets memory in its instructions, and leaves its messages in a transcript, a line for each
part, from which they can be read back; nothing that pydantic-ai keeps or validates is changed. A
run is a turn: it ends however the run ends, and nobody is asked to confirm anything before. Several
agents, runs and conversations may use one memory at once. No error of memory ends a run or a tool
call. Anything that a program put into a message is kept: as text if JSON cannot express it, cut off
if it is too deep. A message that somebody made unreadable does not hide the others.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from engramdown import Cortex, Proposal, Receipt
from engramdown.integrations.external_session import (
    JSON,
    ExternalSession,
    History,
    Item,
    Line,
    Summary,
    answer_call,
    as_json,
    check_budget,
    cut_off,
    in_thread,
    lifted,
    memory_context,
    readable,
    title_of,
)
from engramdown.language import json_object
from engramdown.transcripts import Episode, safe_str, session_of

try:
    from pydantic_ai import AbstractToolset, RunContext, ToolDefinition
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        UserPromptPart,
        repair_messages,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.toolsets import ToolsetTool
except ImportError as error:
    raise ImportError(
        "the capability needs a newer pydantic-ai: pip install -U 'engramdown[pydantic-ai]'"
    ) from error

T = TypeVar("T")

_KEY: Final = "pydantic_ai"
_MOST_SESSIONS: Final = 100
_RUNNING: Final[ContextVar[ExternalSession | None]] = ContextVar("engramdown_run", default=None)


class EngramdownMemory(AbstractCapability[Any]):
    """Memory for the agents that have it among their ``capabilities``.

    Each conversation of pydantic-ai is a transcript, named after its ``conversation_id``, or with
    another unique name if that is not a safe file name. An agent that runs inside a tool of another
    agent has a transcript of its own, with a parent.

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
            session: The one conversation of all runs, whatever their own ids.
            tools: The tools for a model; see :meth:`engramdown.Cortex.tool_definitions`.
            budget: The limit for a conversation, in tokens: when it gets long, older messages are
                summarised in the background, and the summaries are sent instead. The messages that
                pydantic-ai keeps do not change.

        Raises:
            InvalidSessionError: If ``session`` is empty.
            ValueError: If a tool does not exist, or ``budget`` is not above 0.
        """
        self.cortex = cortex or Cortex.open()
        if session is not None:
            session_of(session)  # A wrong one raises now, not in the middle of a run.
        self._fixed = session
        self._budget = check_budget(budget)
        self._toolset = MemoryToolset(self.cortex, tools)
        self._sessions: dict[str, ExternalSession] = {}
        self._run: _Run | None = None

    # ---- called by pydantic-ai ----

    async def for_run(self, ctx: RunContext[Any]) -> EngramdownMemory:
        """Return this memory for one run."""
        mine = copy.copy(self)
        parent = _RUNNING.get()
        name = self._fixed or ctx.conversation_id or ctx.run_id or ""
        session = await self._do(lambda: self._session(name, parent))
        mine._run = _Run(session, ctx.run_id)  # noqa: SLF001 - a copy of this one
        return mine

    def get_toolset(self) -> MemoryToolset | None:
        """Return the tools."""
        return self._toolset

    def get_instructions(self) -> Callable[[RunContext[Any]], Awaitable[str]]:
        """Return a function that returns the memory context for a model."""

        def context(ctx: RunContext[Any]) -> str:
            query = ctx.prompt if isinstance(ctx.prompt, str) else ""
            if self._run is None:
                return memory_context(self.cortex, query)
            self._run.keep(ctx.messages)
            return self._run.session.context(query)

        async def instructions(ctx: RunContext[Any]) -> str:
            return await self._do(lambda: context(ctx))

        return instructions

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
        token = _RUNNING.set(run.session)
        try:
            await self._do(run.begin)
            return await handler()
        finally:
            _RUNNING.reset(token)
            await self._do(run.end)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Keep new messages, and replace older ones by summaries."""
        run, messages = self._run, request_context.messages
        if run is not None:
            await self._do(lambda: run.keep(ctx.messages))
            if self._budget is not None:
                request_context.messages = await self._do(lambda: _shortened(run.session, messages))
        return request_context

    # ---- for the program ----

    async def messages(self, session: str, *, repair: bool = True) -> list[ModelMessage]:
        """Return the messages of a conversation, to pass as ``message_history``.

        They are as pydantic-ai had them, except for the instructions, which belong to each run, and
        for hidden secrets in tool calls and results.

        Args:
            session: Its id, or that of its transcript.
            repair: Whether calls left open by a run that ended early are marked as interrupted, so
                that the user can go on; not for calls that a person has to approve.

        Raises:
            InvalidSessionError: If the id is empty.
        """
        items = await self._do(lambda: self._history(session_of(session)).items())
        messages = _loaded(messages_of(items))
        return repair_messages(messages) if repair else messages

    async def confirmations(self, session: str) -> list[Proposal]:
        """Return the proposals to ask the user about now; none while a run of the session runs.

        Raises:
            InvalidSessionError: If the id is empty.
            StoreError: If they cannot be read.
        """
        return await self._do(lambda: self._session(session).confirmations())

    async def resolve(
        self, session: str, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out a decision of the user; see :meth:`engramdown.Session.resolve`.

        Raises:
            MidTurnError: If a run of the session runs.
        """

        def resolved() -> Receipt:
            return self._session(session).session.resolve(proposal_id, decision, text)

        return await self._do(resolved)

    async def close(self) -> None:
        """End the transcripts; using one again continues it."""

        def end_all() -> None:
            while self._sessions:
                self._sessions.popitem()[1].end("finished")

        await self._do(end_all)

    # ---- alone with the cortex ----

    async def _do(self, act: Callable[[], T]) -> T:
        return await in_thread(self.cortex, act)

    def _history(self, session: str) -> History:
        known = self._sessions.get(session)
        return known.history if known else History(self.cortex.episodes, session, _KEY, plain_part)

    def _session(self, name: str, parent: ExternalSession | None = None) -> ExternalSession:
        session = session_of(name)
        conversation = self._sessions.pop(session, None)
        if conversation is None:
            above = parent.id if parent is not None and parent.cortex is self.cortex else None
            above = None if above == session else above
            history, title = self._history(session), title_of(name)
            conversation = ExternalSession(
                self.cortex, history, parent=above, title=title, budget=self._budget
            )
        self._sessions[session] = conversation
        for idle in [key for key, each in self._sessions.items() if not each.runs]:
            if len(self._sessions) <= _MOST_SESSIONS or idle == session:
                break
            self._sessions.pop(idle).end("idle_timeout")
        return conversation


class _Run:
    """One run of a conversation, whose messages are kept as they come.

    Attributes:
        session: Its conversation.
    """

    def __init__(self, session: ExternalSession, run_id: str | None) -> None:
        self.session = session
        self._id = run_id
        self._messages: list[ModelMessage] = []
        self._kept: dict[int, ModelMessage] = {}

    def begin(self) -> None:
        """Count the run."""
        self.session.runs += 1

    def end(self) -> None:
        """Keep the last messages, and end the turn with the last run."""
        self.keep(self._messages)
        self.session.runs -= 1
        if not self.session.runs:
            self.session.end_turn()

    def keep(self, messages: list[ModelMessage]) -> None:
        """Keep the new messages of this run; ``messages`` is the whole conversation."""
        self._messages = messages
        new = [each for each in messages if each.run_id == self._id and id(each) not in self._kept]
        self._kept |= {id(each): each for each in new}
        for message in map(dumped, new):
            lines, model = message_lines(message), str(message.get("model_name") or "")
            begins = next((at for at, line in enumerate(lines) if line.role == "user"), None)
            for at, line in enumerate(lines):
                if at == begins:
                    self.session.begin_turn(line)
                else:
                    self.session.add(line, model=model)


class MemoryToolset(AbstractToolset[Any]):
    """Tools with which a model remembers, recalls and forgets.

    Whatever a model passes, it gets an answer that it can act on; no call ends a run or counts as a
    retry.
    """

    def __init__(
        self,
        cortex: Cortex,
        names: Iterable[str] | None = None,
        *,
        id: str = "engramdown",  # noqa: A002 - as every toolset names it
    ) -> None:
        """Offer tools.

        Args:
            cortex: The memory.
            names: The names of the tools; see :meth:`engramdown.Cortex.tool_definitions`.
            id: The id of the toolset.

        Raises:
            ValueError: If a tool does not exist.
        """
        self._cortex = cortex
        self._id = id
        self._tools: dict[str, ToolsetTool[Any]] = {}
        for each in cortex.tool_definitions("plain", names):
            name, about, schema = each["name"], each["description"], each["parameters"]
            tool = ToolDefinition(name=name, description=about, parameters_json_schema=schema)
            self._tools[name] = ToolsetTool(
                toolset=self, tool_def=tool, max_retries=1, args_validator=_Anything()
            )

    @property
    def id(self) -> str:
        """The id of the toolset."""
        return self._id

    async def get_tools(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - as pydantic-ai calls it
    ) -> dict[str, ToolsetTool[Any]]:
        """Return the tools."""
        return self._tools

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002 - as pydantic-ai calls it
    ) -> str:
        """Return the answer of a tool.

        Raises:
            ToolFailed: With the answer, if that is an error.
        """
        arguments = tool_args.get(_RAW, tool_args)
        session, call = _RUNNING.get(), ctx.tool_call_id or ""
        answer = await in_thread(
            self._cortex, lambda: answer_call(self._cortex, session, name, arguments, call)
        )
        if answer.is_error:
            raise ToolFailed(answer.text)
        return answer.text


_RAW: Final = "\0raw"


class _Anything:
    """Accepts any arguments: the tool itself says what is wrong with them."""

    def validate_json(self, input: str | bytes | bytearray, **_: object) -> dict[str, Any]:  # noqa: A002 - as pydantic has it
        """Return arguments given as JSON."""
        arguments = json_object(input)
        return {_RAW: str(input)} if arguments is None else arguments

    def validate_python(self, input: object, **_: object) -> dict[str, Any]:  # noqa: A002 - as pydantic has it
        """Return arguments given as values."""
        return input if isinstance(input, dict) else {_RAW: input}


# ---- summaries in the place of messages ----


def _shortened(session: ExternalSession, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return messages with summaries in the place of the parts that they cover."""
    summaries = session.summaries()
    if not summaries:
        return list(messages)
    known = places(session.history.items())
    made: list[ModelMessage] = []
    inserted: set[Summary] = set()
    for message in messages:
        seqs = known.get(_key(dumped(message)), ())
        if len(seqs) != len(message.parts):
            made.append(message)
            continue
        shows, covered = visible(seqs, summaries)
        new = [each for each in covered if each not in inserted]
        inserted.update(new)
        made += [ModelRequest(parts=[UserPromptPart(each.text)]) for each in new]
        parts: list[Any] = [part for part, shown in zip(message.parts, shows, strict=True) if shown]
        if all(shows):
            made.append(message)
        elif parts:
            changed: Any = message
            made.append(replace(changed, parts=parts))
    return made


def places(items: Iterable[Item]) -> dict[tuple[str, ...], list[int]]:
    """Return the numbers of the lines of each message, by its kind, run and time."""
    lines: dict[tuple[str, ...], list[int]] = {}
    key: tuple[str, ...] = ()
    for item in items:
        value = item.value or {}
        if value.get("message") is not None:
            key = _key(value["message"])
        if "part" in value:
            lines.setdefault(key, []).append(item.seq)
    return lines


def visible(seqs: Sequence[int], summaries: Iterable[Summary]) -> tuple[list[bool], list[Summary]]:
    """Return for each part whether it stays visible, and the summaries that cover the others."""
    covers = [
        next((each for each in summaries if each.first <= seq <= each.last), None) for seq in seqs
    ]
    used = dict.fromkeys(each for each in covers if each is not None)
    return [each is None for each in covers], list(used)


def _key(message: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(message.get(name) or "") for name in ("kind", "run_id", "timestamp"))


# ---- messages as JSON, and back ----

# Fields into which a program may put anything.
_FREE: Final = ("args", "content", "metadata", "provider_details")


def dumped(message: ModelMessage) -> dict[str, Any]:
    """Return a message as JSON, without the instructions, which belong to each run."""
    try:
        data = _as_it_is(message)
    except (ValueError, TypeError, RecursionError):
        changed: Any = message
        data = _as_it_is(replace(changed, parts=[_sayable(part) for part in message.parts]))
    data.pop("instructions", None)
    return data


def _as_it_is(message: ModelMessage) -> dict[str, Any]:
    (data,) = ModelMessagesTypeAdapter.dump_python(
        [message], mode="json", fallback=safe_str, warnings=False
    )
    whole: dict[str, Any] = cut_off(data)
    return whole


def _sayable(part: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a part that JSON can express."""
    said: dict[str, Any] = {}
    for name in _FREE:
        value = getattr(part, name, None)
        if not isinstance(value, str | None):
            try:
                said[name] = as_json(value, safe_str)
            except (ValueError, TypeError):
                said[name] = safe_str(value)
    return replace(part, **said)


def _loaded(values: Sequence[dict[str, Any]]) -> list[ModelMessage]:
    """Return the messages of values; those that cannot be read are left out."""
    # Half a surrogate pair, which a model may leave of an emoji, would make all the rest invalid.
    texts = [readable(each).encode("utf-8", "replace") for each in values]
    try:
        return ModelMessagesTypeAdapter.validate_json(b"[%s]" % b",".join(texts))
    except ValidationError:
        if len(values) == 1:
            return []
        return [message for each in values for message in _loaded([each])]


# ---- messages as lines ----

_EMPTY: Final = "(empty)"
_KIND: Final[Mapping[str, str]] = {"user": "request", "assistant": "response"}
_RETRIES: Final = frozenset({"retry-feedback", "retry-prompt"})
_ROLES: Final[Mapping[str, str]] = {
    "user-prompt": "user",
    "system-prompt": "system",
    "text": "assistant",
    "thinking": "scratchpad",
    "tool-call": "tool_call",
    "builtin-tool-call": "tool_call",
    "tool-return": "tool_result",
    "builtin-tool-return": "tool_result",
}


def message_lines(message: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a message given as JSON: one for each part, of any kind.

    >>> prompt = {"part_kind": "user-prompt", "content": "Hello"}
    >>> [line.text for line in message_lines({"kind": "request", "parts": [prompt]})]
    ['Hello']
    """
    rest = _lean({key: value for key, value in message.items() if key != "parts"})
    if isinstance(rest.get("usage"), dict):
        rest["usage"] = {key: value for key, value in rest["usage"].items() if value}
    parts = [_lean(part) for part in message.get("parts") or []]
    kind = rest.get("kind")
    if not parts:
        return [Line("scratchpad", f"[{kind}]", {"message": rest}, name="message")]
    heads: list[dict[str, Any]] = [{"message": rest}]
    heads += [{"of": kind, "at": at} for at in range(1, len(parts))]
    return [_line({**head, "part": part}) for head, part in zip(heads, parts, strict=True)]


def messages_of(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the messages of a session, without what a person removed.

    A removed call or result takes the other along.
    """
    made: list[dict[str, Any]] = []
    gone = {item.call for item in items if item.is_gone and item.call}
    last = 0
    for item in items:
        value = item.value
        if item.is_gone or item.call in gone or not isinstance(value, dict):
            continue
        at = value.get("at", 0)
        if "message" in value:
            made.append({**value["message"], "parts": []})
        elif not made or made[-1].get("kind") != value.get("of") or at <= last:
            made.append({"kind": value.get("of"), "parts": []})
        if "part" in value:
            made[-1]["parts"].append(value["part"])
        last = at
    return made


def plain_part(episode: Episode) -> JSON:
    """Return the part for a line that something else recorded; ``None`` if it is not one."""
    kind = _KIND.get(episode.role)
    if kind is None or not episode.text:
        return None
    part = {"part_kind": "user-prompt" if kind == "request" else "text", "content": episode.text}
    if kind == "request":
        part["timestamp"] = episode.ts
    return {"message": {"kind": kind, "timestamp": episode.ts}, "part": part}


def _lean(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a message or a part without those that are ``None``."""
    keep = ("args", "content")
    return {key: each for key, each in value.items() if each is not None or key in keep}


def _line(value: dict[str, Any]) -> Line:
    part = value["part"]
    kind, tool = str(part.get("part_kind") or ""), str(part.get("tool_name") or "")
    content, is_retry = part.get("content"), kind in _RETRIES
    role = _ROLES.get(kind, "")
    if is_retry:
        role, tool = ("tool_result", tool) if tool else ("scratchpad", "retry")
    if not role:
        return Line("scratchpad", f"[{kind or 'part'}]", value, name=kind or "part")
    if role.startswith("tool_") or is_retry:
        key = "args" if role == "tool_call" else "content"
        line = Line(role, "", value)
        if part.get(key) is not None:
            line = lifted(role, value, ("part", key))
        failed = role == "tool_result" and part.get("outcome") not in (None, "success")
        call = str(part.get("tool_call_id") or "")
        return line._replace(name=tool, call=call, error=is_retry or failed)
    name = "reasoning" if role == "scratchpad" else ""
    if isinstance(content, str):
        line = lifted(role, value, ("part", "content")) if content else Line(role, "", value)
        return line._replace(name=name, text=content or ("" if name else _EMPTY))
    shown = map(_shown, content if isinstance(content, list) else [])
    return Line(role, "\n\n".join(shown) or _EMPTY, value, name=name)


def _shown(content: JSON) -> str:
    """Return a part of a user's message as text for a person."""
    if isinstance(content, str):
        return content
    kind = content.get("kind") if isinstance(content, dict) else None
    return str(content.get("content")) if kind == "text-content" else f"[{kind or 'content'}]"
