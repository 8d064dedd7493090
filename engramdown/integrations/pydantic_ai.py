"""pydantic-ai with Engramdown as its memory: a capability, or only the tools.

Promises: a run is told what memory holds, and leaves its messages in a transcript, part by part, as
they can be read back; nothing that pydantic-ai keeps or validates is changed. A run is a turn: it
ends however the run ends, and nobody is asked to confirm anything before. Several agents, runs and
conversations may use one memory at once. No trouble with memory ends a run, and no call of a tool.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from pydantic_ai import AbstractToolset, ToolDefinition
from pydantic_ai import RunContext as RunContextTools
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage as ModelMessageWritten
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.toolsets import ToolsetTool

from engramdown.cortex.cortex import Cortex
from engramdown.cortex.proposals import Proposal
from engramdown.cortex.receipts import Receipt
from engramdown.integrations.external_session import Talk, beside, check_budget, title_of, told_of
from engramdown.integrations.history import (
    JSON,
    Entry,
    Kept,
    Line,
    Summary,
    as_json,
    cut_off,
    readable,
)
from engramdown.transcripts.episode import Episode, session_of, words

__all__ = [
    "EngramdownMemory",
    "MemoryToolset",
    "message_lines",
    "messages_of",
    "places",
    "plain_part",
    "visible",
]

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


# The messages of pydantic-ai as lines of a transcript, a line for each part.
#
# Promises: pure; knows messages as the JSON that pydantic-ai makes of them, and gives back what it
# reads. A part of a kind that is not known has a line, too. What a person takes back takes along
# the other half of a call.

_EMPTY: Final = "(empty)"
_PART: Final = ("part",)
_KIND: Final[Mapping[str, str]] = {"user": "request", "assistant": "response"}
_RESULTS: Final = frozenset({"tool-return", "builtin-tool-return"})
_CALLS: Final = frozenset({"tool-call", "builtin-tool-call"})
_RETRIES: Final = frozenset({"retry-feedback", "retry-prompt"})
_SPOKEN: Final[Mapping[str, str]] = {
    "user-prompt": "user",
    "system-prompt": "system",
    "text": "assistant",
    "thinking": "scratchpad",
}


def message_lines(message: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a message.

    >>> prompt = {"part_kind": "user-prompt", "content": "Hello"}
    >>> [line.text for line in message_lines({"kind": "request", "parts": [prompt]})]
    ['Hello']
    """
    rest = _lean({key: value for key, value in message.items() if key != "parts"})
    if isinstance(rest.get("usage"), dict):
        rest["usage"] = {key: value for key, value in rest["usage"].items() if value}
    parts = [_lean(part) for part in message.get("parts") or []]
    if not parts:
        return [Line("scratchpad", f"[{rest.get('kind')}]", {"message": rest}, name="message")]
    kind = rest.get("kind")
    heads: list[dict[str, Any]] = [{"message": rest}]
    heads += [{"of": kind, "at": at} for at in range(1, len(parts))]
    return [_line({**heads[at], "part": part}, part) for at, part in enumerate(parts)]


def plain_part(episode: Episode) -> JSON:
    """Return the part for a line that something else recorded, if it was said; else ``None``."""
    kind = _KIND.get(episode.role)
    if kind is None or not episode.text:
        return None
    part = {"part_kind": "user-prompt" if kind == "request" else "text", "content": episode.text}
    if kind == "request":
        part["timestamp"] = episode.ts
    return {"message": {"kind": kind, "timestamp": episode.ts}, "part": part}


def messages_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the messages of what a session keeps, without what a person took back."""
    made: list[dict[str, Any]] = []
    last = 0
    for entry in _whole(entries):
        value = entry.value
        at = value.get("at", 0)
        if "message" in value:
            made.append({**value["message"], "parts": []})
        elif not made or made[-1].get("kind") != value.get("of") or at <= last:
            made.append({"kind": value.get("of"), "parts": []})
        if "part" in value:
            made[-1]["parts"].append(value["part"])
        last = at
    return made


def places(entries: Iterable[Entry]) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """Return the lines of the parts of each message, by its kind, run and time."""
    found: dict[tuple[str, str, str], list[int]] = {}
    key = ("", "", "")
    for entry in entries:
        if entry.value is None:
            continue
        message = entry.value.get("message")
        if message is not None:
            key = (
                str(message.get("kind")),
                str(message.get("run_id") or ""),
                str(message.get("timestamp") or ""),
            )
        if "part" in entry.value:
            found.setdefault(key, []).append(entry.seq)
    return {name: tuple(seqs) for name, seqs in found.items()}


def visible(seqs: Sequence[int], summaries: Iterable[Summary]) -> tuple[list[bool], list[Summary]]:
    """Return which parts of a message no summary covers, and the summaries that cover others."""
    covers = [
        next((each for each in summaries if each.first <= seq <= each.last), None) for seq in seqs
    ]
    used = dict.fromkeys(each for each in covers if each is not None)
    return [each is None for each in covers], list(used)


def _lean(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a message or a part says; what it leaves open is read as that."""
    keep = ("args", "content")
    return {key: each for key, each in value.items() if each is not None or key in keep}


def _whole(entries: Sequence[Entry]) -> Iterator[Entry]:
    gone = {entry.call for entry in entries if entry.is_gone and entry.call}
    for entry in entries:
        if not entry.is_gone and entry.call not in gone and isinstance(entry.value, dict):
            yield entry


def _line(value: dict[str, Any], part: Mapping[str, Any]) -> Line:
    kind = str(part.get("part_kind") or "")
    if kind in _CALLS:
        return _named(_with_text("tool_call", value, "args"), part, part.get("tool_name"))
    if kind in _RESULTS:
        line = _with_text("tool_result", value, "content")
        failed = part.get("outcome") not in (None, "success")
        return _named(line, part, part.get("tool_name"))._replace(error=failed)
    if kind in _RETRIES:
        role = "tool_result" if part.get("tool_name") else "scratchpad"
        line = _with_text(role, value, "content")
        return _named(line, part, part.get("tool_name") or "retry")._replace(error=True)
    if kind in _SPOKEN:
        return _spoken(_SPOKEN[kind], value, part)
    return Line("scratchpad", f"[{kind or 'part'}]", value, name=kind or "part")


def _named(line: Line, part: Mapping[str, Any], name: object) -> Line:
    return line._replace(name=str(name or ""), call=str(part.get("tool_call_id") or ""))


def _spoken(role: str, value: dict[str, Any], part: Mapping[str, Any]) -> Line:
    name = "reasoning" if role == "scratchpad" else ""
    content = part.get("content")
    if isinstance(content, str):
        if content:
            return _lifted(role, value, "content")._replace(name=name)
        return Line(role, "" if name else _EMPTY, value, name=name)
    told = content if isinstance(content, list) else []
    return Line(role, "\n\n".join(map(_told, told)) or _EMPTY, value, name=name)


def _told(content: JSON) -> str:
    """Return a part of what a user said as a person reads it."""
    if isinstance(content, str):
        return content
    kind = content.get("kind") if isinstance(content, dict) else None
    if kind == "text-content":
        return str(content.get("content"))
    return f"[{kind or 'content'}]"


def _with_text(role: str, value: dict[str, Any], key: str) -> Line:
    """Return a line whose text is what stands at ``key`` of the part: a text, or its JSON."""
    found = value["part"].get(key)
    line = _lifted(role, value, key) if found is not None else Line(role, "", value)
    return (
        line if isinstance(found, str | None) else line._replace(text=readable(found), is_json=True)
    )


def _lifted(role: str, value: dict[str, Any], key: str) -> Line:
    part = value["part"]
    return Line(role, part[key], {**value, "part": {**part, key: None}}, (*_PART, key))


# The messages of pydantic-ai as JSON, and back, whatever a program put into them.
#
# Promises: never raises for what a message holds. What no JSON can say is said as a text; what is
# too deep is cut off; a message that somebody made unreadable hides no other.

# What a program may put anything into.
_FREE: Final = ("args", "content", "metadata", "provider_details")


def written(messages: Iterable[ModelMessageWritten]) -> list[dict[str, Any]]:
    """Return messages as JSON, without the instructions that every run has of its own."""
    found = [cut_off(_dumped(each)) for each in messages]
    for each in found:
        each.pop("instructions", None)
    return found


def messages_from(values: Iterable[dict[str, Any]]) -> list[ModelMessageWritten]:
    """Return the messages that values say; what says none is left out."""
    texts = [readable(each) for each in values]
    try:
        return _loaded(f"[{','.join(texts)}]")
    except ValidationError:
        return [message for text in texts for message in _if_any(text)]


def _if_any(text: str) -> list[ModelMessageWritten]:
    try:
        return _loaded(f"[{text}]")
    except ValidationError:
        return []


def _loaded(text: str) -> list[ModelMessageWritten]:
    # Half a pair of surrogates, which a model leaves of an emoji, is refused with all the rest.
    return ModelMessagesTypeAdapter.validate_json(text.encode("utf-8", "replace"))


def _dumped(message: ModelMessageWritten) -> dict[str, Any]:
    try:
        return _as_it_is(message)
    except (ValueError, TypeError, RecursionError):
        changed: Any = message
        return _as_it_is(replace(changed, parts=[_sayable(part) for part in message.parts]))


def _as_it_is(message: ModelMessageWritten) -> dict[str, Any]:
    (found,) = ModelMessagesTypeAdapter.dump_python(
        [message], mode="json", fallback=words, warnings=False
    )
    whole: dict[str, Any] = found
    return whole


def _sayable(part: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a part in which everything can be said."""
    free = {name: getattr(part, name, None) for name in _FREE}
    return replace(
        part,
        **{
            name: _plain(value) for name, value in free.items() if not isinstance(value, str | None)
        },
    )


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    try:
        return as_json(value, words)
    except (ValueError, TypeError):
        return words(value)


# The tools of memory for agents of pydantic-ai.
#
# Promises: whatever a model passes, it gets an answer that it can act on; no call ends a run, or
# counts as a retry.

RUNNING: Final[ContextVar[Talk | None]] = ContextVar("engramdown_talk", default=None)
"""The conversation whose run runs here."""

_RAW: Final = "\0raw"


class MemoryToolset(AbstractToolset[Any]):
    """Tools with which a model remembers, recalls and forgets.

    Whatever a model passes, it gets an answer that it can act on; no call ends a run, or counts as
    a retry.
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
            names: Which tools; see :meth:`engramdown.Cortex.tool_definitions`.
            id: What the toolset is known by.

        Raises:
            ValueError: If there is no such tool.
        """
        self._cortex = cortex
        self._id = id
        self._definitions = [
            ToolDefinition(
                name=each["name"],
                description=each["description"],
                parameters_json_schema=each["parameters"],
            )
            for each in cortex.tool_definitions("plain", names)
        ]

    @property
    def id(self) -> str:
        """What it is known by."""
        return self._id

    async def get_tools(
        self,
        ctx: RunContextTools[Any],  # noqa: ARG002 - as pydantic-ai calls it
    ) -> dict[str, ToolsetTool[Any]]:
        """Return the tools."""
        return {
            each.name: ToolsetTool(
                toolset=self, tool_def=each, max_retries=1, args_validator=_Anything()
            )
            for each in self._definitions
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContextTools[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002 - as pydantic-ai calls it
    ) -> str:
        """Return what a tool answers.

        Raises:
            ToolFailed: With the answer, if it tells what went wrong.
        """
        given = tool_args.get(_RAW, tool_args)
        talk, call = RUNNING.get(), ctx.tool_call_id or ""
        if talk is None or talk.cortex is not self._cortex:
            answer = await beside(self._cortex, lambda: self._cortex.use_tool(name, given))
        else:
            answer = await beside(self._cortex, lambda: talk.use(name, given, call))
        if answer.is_error:
            raise ToolFailed(answer.text)
        return answer.text


class _Anything:
    """Lets arguments pass as they are: what is wrong with them, the tool says."""

    def validate_json(self, input: str | bytes | bytearray, **_: object) -> dict[str, Any]:  # noqa: A002 - as pydantic has it
        """Return arguments that come as JSON."""
        try:
            found = json.loads(input)
        except (ValueError, RecursionError):
            found = None
        return found if isinstance(found, dict) else {_RAW: str(input)}

    def validate_python(self, input: object, **_: object) -> dict[str, Any]:  # noqa: A002 - as pydantic has it
        """Return arguments that come as values."""
        return input if isinstance(input, dict) else {_RAW: input}
