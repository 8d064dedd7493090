"""The OpenAI Agents SDK with Engramdown as its memory: a session, instructions and tools.

A session returns what was added, item by item, except for hidden secrets in tool calls and results.
Every item, of any type, is a line of a transcript that a person can read and recall finds. A turn
begins with the user's words and ends with the assistant's last ones; nobody is asked to confirm
anything in between. A removed item takes along the items that a provider would refuse without it.
No error of memory ends a run, and a cancelled run loses no part of an item.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from itertools import zip_longest
from typing import Any, Final, Self, TypeVar, cast

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
    copies,
    in_thread,
    lifted,
    memory_context,
    title_of,
    with_summaries,
)
from engramdown.transcripts import Episode, session_of

try:
    from agents import Agent, FunctionTool, RunContextWrapper, SessionSettings, TResponseInputItem
    from agents.memory import SessionABC
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError(
        "the session needs a newer Agents SDK: pip install -U 'engramdown[openai-agents]'"
    ) from error


T = TypeVar("T")
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]

_RUNNING: ContextVar[EngramdownSession | None] = ContextVar("engramdown_session", default=None)


class EngramdownSession(SessionABC):
    """The conversation of one transcript, for the SDK's runner.

    It can be shared by several runners, and by several event loops.

    Attributes:
        session_id: The program's name for it.
        transcript: The id of its transcript, as ``engramdown log`` shows it: the same if that is a
            safe file name.
        session_settings: The SDK's settings, with a limit of items for a run.
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
        """Begin or continue a conversation; nothing is read or written yet.

        Args:
            session_id: Your name for it. If it is not a safe file name, the transcript gets
                another one that is unique to this id.
            cortex: The memory; by default the scopes found from the working directory.
            session_settings: See the SDK.
            budget: The limit for the history, in tokens: when it gets long, older items are
                summarised in the background, and the summaries take their place. Without it, the
                whole history is returned.
            title: The title of a new transcript; by default the id, if the name differs.

        Raises:
            InvalidSessionError: If the id is empty.
            SettingsError: If ``cortex`` is to be found and a setting is wrong.
            ValueError: If ``budget`` is not above 0.
        """
        self.session_id = session_id
        self.transcript = session_of(session_id)
        self.session_settings = session_settings or SessionSettings()
        self.cortex = cortex or Cortex.open()
        history = History(self.cortex.episodes, self.transcript, "openai_agents", plain_item)
        title = title or title_of(session_id)
        self._session = ExternalSession(self.cortex, history, title=title, budget=budget)
        self._names: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        """Return the session."""
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the transcript."""
        await self.close("finished" if kind is None else "interrupted")

    # ---- called by the SDK ----

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last ``limit`` items, in order; by default as the settings say."""
        _RUNNING.set(self)
        return cast("list[TResponseInputItem]", await self._do(lambda: self._get(limit)))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items, each as a line of the transcript.

        Raises:
            TypeError: If one cannot be expressed as JSON; then none is kept.
            ValueError: If one contains itself; then none is kept.
        """
        _RUNNING.set(self)
        values: list[Any] = [as_json(item) for item in items]
        if values:
            await self._do(lambda: self._add(values))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it, or ``None`` if there is none.

        It leaves the session, recall and summaries; its line stays in the file.
        """
        return cast("TResponseInputItem | None", await self._do(self._pop))

    async def clear_session(self) -> None:
        """Remove all items; their lines stay in the file, which is only ever appended to."""
        await self._do(self._session.history.clear)

    # ---- turns ----

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._session.in_turn

    async def end_turn(self) -> None:
        """End a turn that no words of the assistant ended.

        A run that raises, or ends with a tool's result, leaves its turn open. The next message of
        the user ends it as well.
        """
        await self._do(self._session.end_turn)

    async def confirmations(self) -> list[Proposal]:
        """Return the proposals to ask the user about now; none during a turn.

        Raises:
            StoreError: If they cannot be read.
        """
        return await self._do(self._session.confirmations)

    async def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out a decision of the user; see :meth:`engramdown.Session.resolve`.

        Raises:
            MidTurnError: If a turn is running.
        """
        return await self._do(lambda: self._session.session.resolve(proposal_id, decision, text))

    async def close(self, reason: str = "finished") -> None:
        """End the transcript; using the session again continues it."""
        await self._do(lambda: self._session.end(reason))

    # ---- alone with the cortex ----

    async def _do(self, act: Callable[[], T]) -> T:
        return await in_thread(self.cortex, act)

    def _get(self, limit: int | None) -> list[JSON]:
        chosen = self.session_settings.limit if limit is None and self.session_settings else limit
        items = whole_items(summarised(self._session.history.items(), self._session.summaries()))
        if chosen is not None and chosen >= 0:
            items = items[len(items) - min(chosen, len(items)) :]
        return copies(items)

    def _add(self, items: list[JSON]) -> None:
        session, lines = self._session, [self._line(item) for item in items]
        begins = max((at for at, line in enumerate(lines) if line.role == "user"), default=-1)
        if begins >= 0:
            session.end_turn()
        for at, line in enumerate(lines):
            if at == begins:
                session.begin_turn(line)
            else:
                session.add(line, turn=session.session.turns + (at < begins))
        if any(map(has_spoken, items)) and not any(map(asks_for_work, items)):
            session.end_turn()

    def _line(self, item: JSON) -> Line:
        line = item_line(item, self._names)
        if line.role == "tool_call" and asks_for_work(item):
            self._names[line.call] = line.name
        elif line.role == "tool_result" and not self._names.pop(line.call, ""):
            name = tool_of_call(self._session.history.items(), line.call)
            return line._replace(name=name or line.name)
        return line

    def _pop(self) -> JSON:
        item = self._session.history.pop(whole_items)
        return None if item is None else copies([item])[0]


def memory_instructions(
    cortex: Cortex, instructions: str = "", *, session: EngramdownSession | None = None
) -> Instructions:
    """Return the ``instructions`` for an agent: your own words, followed by memory.

    They stay the same throughout a turn: memory at its beginning, ranked by the user's message.

    Args:
        cortex: The memory.
        instructions: Your own words.
        session: The conversation; by default that of the run, if it is one of ours.
    """

    async def built(context: RunContextWrapper[Any], _agent: Agent[Any]) -> str:
        running = _session_of(cortex, session)
        # What the user said last.
        lines = (item_line(item, {}) for item in reversed(context.turn_input))
        query = next((line.text for line in lines if line.role == "user"), "")
        context_of = partial(memory_context, cortex) if running is None else running.context
        memory = await in_thread(cortex, lambda: context_of(query))
        return f"{instructions}\n\n{memory}".strip()

    return built


def memory_tools(
    cortex: Cortex, names: Iterable[str] | None = None, *, session: EngramdownSession | None = None
) -> list[FunctionTool]:
    """Return tools with which a model remembers, recalls and forgets.

    Whatever a model passes, it gets an answer that it can act on; no call ends the run.

    Args:
        cortex: The memory.
        names: The names of the tools; see :meth:`engramdown.Cortex.tool_definitions`.
        session: The conversation; by default that of the run, if it is one of ours.

    Raises:
        ValueError: If a tool does not exist.
    """

    def tool(name: str, description: str, parameters: dict[str, Any]) -> FunctionTool:
        async def invoke(context: ToolContext[Any], arguments: str) -> str:
            running, call = _session_of(cortex, session), context.tool_call_id
            answer = await in_thread(
                cortex, lambda: answer_call(cortex, running, name, arguments, call)
            )
            return answer.text

        return FunctionTool(name, description, parameters, invoke, strict_json_schema=False)

    return [tool(**each) for each in cortex.tool_definitions("plain", names)]


def _session_of(cortex: Cortex, session: EngramdownSession | None) -> ExternalSession | None:
    """Return the session of a run, if it has the same memory."""
    chosen = session or _RUNNING.get()
    if chosen is None or chosen.cortex is not cortex:
        return None
    return chosen._session  # noqa: SLF001 - a class of this module


# ---- items as lines ----

# How the SDK begins the result of a tool that raised.
FAILED: Final = "An error occurred while running the tool"
_EMPTY: Final = "(empty)"
_ROLES: Final[Mapping[str, str]] = {"developer": "system"}
_SPEAKERS: Final = frozenset({"user", "assistant", "system", "developer"})
_CALL: Final = "_call"
_OUTPUT: Final = "_call_output"
# Calls that another service runs need no answer from here.
_HOSTED: Final = frozenset(
    {"code_interpreter", "file_search", "image_generation", "mcp", "web_search"}
)
_TEXTS: Final = frozenset({"input_text", "output_text", "text", "refusal", "summary_text"})


def item_line(item: JSON, names: Mapping[str, str]) -> Line:
    """Return the line of an item.

    Args:
        item: The item, as JSON.
        names: The tools of known calls, by the id of the call.

    >>> item_line({"role": "user", "content": "Hello"}, {})[:4]
    ('user', 'Hello', {'role': 'user', 'content': None}, ('content',))
    """
    if not isinstance(item, dict):
        return Line("scratchpad", "[item]", item, name="item")
    kind = str(item.get("type") or "")
    role = _text(item.get("role"))
    if role in _SPEAKERS and kind in ("", "message") and "content" in item:
        return _message(_ROLES.get(role, role), item)
    if kind.endswith((_CALL, _OUTPUT)):
        return _tool_line(item, kind, names)
    if kind == "reasoning":
        parts = item.get("summary")
        text = "\n\n".join(map(_shown, parts)) if isinstance(parts, list) else ""
        return Line("scratchpad", text, item, name="reasoning")
    return Line("scratchpad", f"[{kind or 'item'}]", item, name=kind or "item")


def _message(role: str, item: dict[str, Any]) -> Line:
    content = item["content"]
    if isinstance(content, str) and content:
        return lifted(role, item, ("content",))
    parts = content if isinstance(content, list) else []
    if len(parts) == 1 and (key := _text_key(parts[0])) and parts[0][key]:
        return lifted(role, item, ("content", 0, key))
    return Line(role, "\n\n".join(map(_shown, parts)) or _EMPTY, item)


def _tool_line(item: dict[str, Any], kind: str, names: Mapping[str, str]) -> Line:
    call = _text(item.get("call_id"))
    if kind.endswith(_CALL):
        texts = [key for key in ("arguments", "input") if isinstance(item.get(key), str)]
        line = lifted("tool_call", item, tuple(texts[:1]))
        name = _text(item.get("name")) or kind.removesuffix(_CALL)
        return line._replace(name=name, call=call or _text(item.get("id")))
    line = Line("tool_result", "", item)
    if item.get("output") is not None:
        line = lifted("tool_result", item, ("output",))
    failed = line.text.startswith(FAILED) or item.get("status") in ("incomplete", "failed")
    name = names.get(call) or kind.removesuffix(_OUTPUT)
    return line._replace(name=name, call=call, error=failed)


def plain_item(episode: Episode) -> dict[str, Any] | None:
    """Return the item of a line that something else recorded, if it is a message."""
    if episode.role not in ("user", "assistant") or not episode.text:
        return None
    return {"role": episode.role, "content": episode.text}


def asks_for_work(item: JSON) -> bool:
    """Whether the model will go on after an item: a call of a tool here, or a result."""
    kind = str(item.get("type") or "") if isinstance(item, dict) else ""
    if kind.removesuffix(_CALL) in _HOSTED:
        return False
    return kind.endswith((_CALL, _OUTPUT)) or kind.startswith("mcp_approval")


def has_spoken(item: JSON) -> bool:
    """Whether an item is a message of the assistant."""
    return isinstance(item, dict) and item.get("role") == "assistant"


def whole_items(items: Sequence[Item]) -> list[Item]:
    """Return the items that a provider accepts, without those that a person removed.

    A removed call or result takes the other along, and a removed item the reasoning before it.
    """
    gone = {item.call for item in items if item.is_gone and item.call}
    left: list[Item] = []
    was_gone = False
    for item in reversed(items):
        was_gone = item.is_gone or item.call in gone or (was_gone and _is_reasoning(item))
        if not was_gone:
            left.append(item)
    return left[::-1]


def summarised(items: list[Item], summaries: list[Summary]) -> list[Item]:
    """Return the items with summaries in the place of the items that they cover.

    They also cover the reasoning before a covered item.
    """
    left = with_summaries(items, summaries, lambda text: {"role": "user", "content": text})
    follows = dict(zip(map(id, items), items[1:], strict=False))
    pairs = zip_longest(left, left[1:])
    return [a for a, b in pairs if not (_is_reasoning(a) and follows.get(id(a)) is not b)]


def tool_of_call(items: Sequence[Item], call: str) -> str:
    """Return the tool of the last call with an id, or ``""``."""
    values = (item.value for item in reversed(items) if call and item.call == call)
    return next((_text(each["name"]) for each in values if each and "name" in each), "")


def _text_key(part: object) -> str:
    """Return the key of the text of a part, or ``""`` if it has none."""
    if not isinstance(part, dict) or part.get("type") not in _TEXTS:
        return ""
    key = "refusal" if part["type"] == "refusal" else "text"
    return key if isinstance(part.get(key), str) else ""


def _shown(part: object) -> str:
    """Return a part as text for a person."""
    if not isinstance(part, dict):
        return "[part]"
    key = _text_key(part)
    return str(part[key]) if key else f"[{_text(part.get('type')) or 'part'}]"


def _is_reasoning(item: Item) -> bool:
    return isinstance(item.value, dict) and item.value.get("type") == "reasoning"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
