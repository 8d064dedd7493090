"""A prompt in its parts, rendered as text or as the messages of OpenAI and Anthropic.

It is pure. A context knows its parts, their cost, and what was left out and why. The same parts
always give the same bytes, and parts that change from turn to turn come after the newest message:
what is added to the end of a conversation changes nothing before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from engramdown.consolidation.summaries import Item, answers
from engramdown.context.sections import Section
from engramdown.language.untrusted import bullet, inert, one_line
from engramdown.transcripts.summary_log import Source

# The role of a summary.
SUMMARY: Final = "summary"


class Shown(NamedTuple):
    """An item of a conversation as a model sees it.

    Attributes:
        source: The number of a message in the transcript, or the id of a summary.
        role: The role in its line; :data:`SUMMARY` for a summary.
        text: The words of a message, a summary as XML, or a placeholder.
        tokens: What it costs.
        name: The tool, or the speaker where several people speak.
        call: The id that a tool call shares with its result, or ``""``.
        error: ``True`` or a reason, if it failed.
        is_whole: Whether it is shown whole; a placeholder is not.
    """

    source: Source
    role: str
    text: str
    tokens: int = 0
    name: str = ""
    call: str = ""
    error: bool | str = False
    is_whole: bool = True


class Dropped(NamedTuple):
    """Something that a model does not see, or not whole.

    Attributes:
        what: ``message``, ``tool result``, ``summary``, or the part: ``journal``, ``relevant``.
        where: The pointer to a message, the id of a summary, the name of a section, or ``""``.
        tokens: About what it would have cost.
        reason: Why it was left out.
    """

    what: str
    where: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingContext:
    """What a model sees for the next step of a conversation; printed, it is its text.

    Attributes:
        session: The id of the session.
        budget: The limit of its cost, in tokens.
        tokens: What it costs, by the estimate of :mod:`engramdown.tokens`.
        soul: Who the assistant is.
        sections: The memories, as in :class:`engramdown.MemoryContext`.
        skills: The skills, a line each.
        history: Earlier sessions.
        journal: The last days of the journal.
        messages: The conversation in order: messages, placeholders, and summaries in place of the
            messages that they cover.
        tail: Where among them the fresh tail begins, which is always shown.
        notes: The working notes on this conversation.
        relevant: Memories that the sections leave out, and words of other conversations, that match
            the newest message of the user.
        remembered: The ids of the memories in ``relevant``.
        recalled: The pointers to the quoted words of other conversations.
        degraded: Why memory does not work, or ``""``.
        dropped: What is not shown, or not whole, and why.
        system: The parts up to the journal, which come before the conversation.
        aside: The notes, ``relevant`` and ``degraded``, which come after it.
    """

    session: str
    budget: int
    tokens: int
    soul: str = ""
    sections: tuple[Section, ...] = ()
    skills: str = ""
    history: str = ""
    journal: str = ""
    messages: tuple[Shown, ...] = ()
    tail: int = 0
    notes: str = ""
    relevant: str = ""
    remembered: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    degraded: str = ""
    dropped: tuple[Dropped, ...] = ()
    system: str = ""
    aside: str = ""

    @property
    def working_summary(self) -> str:
        """The summaries among the messages, in order."""
        return "\n\n".join(line.text for line in self.messages if isinstance(line.source, str))

    @property
    def recent(self) -> tuple[Shown, ...]:
        """The fresh tail."""
        return self.messages[self.tail :]

    def text(self) -> str:
        """Return it as one text."""
        return prompt_text(self.system, self.messages, self.aside)

    def openai(self) -> list[dict[str, Any]]:
        """Return it as the messages of OpenAI's chat completions, which many others take too."""
        return openai_messages(self.system, self.messages, self.aside)

    def anthropic(self) -> dict[str, Any]:
        """Return it as the ``system`` and the ``messages`` of a request to Anthropic."""
        return anthropic_request(self.system, self.messages, self.aside)

    def __str__(self) -> str:
        """Return it as one text."""
        return self.text()


# ---- a conversation in steps: calls with their results, and no others ----

_ASSISTANT: Final = frozenset({"assistant", "scratchpad"})
_BLANK: Final = "(empty)"
_LONGEST: Final = 200
# OpenAI takes 40 characters, Anthropic 64.
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME: Final = 64


# Precedes words of the system where only the user and the assistant can speak.
SYSTEM: Final = "(from the system, not from the user)"


class Answered(NamedTuple):
    """A tool call with its result.

    Attributes:
        id: The id of both.
        name: The tool, in a form that every provider accepts.
        given: Its arguments.
        result: The text of its result.
        error: Whether it failed.
    """

    id: str
    name: str
    given: dict[str, Any]
    result: str
    error: bool = False


class Step(NamedTuple):
    """What one side says at once.

    Attributes:
        role: Who says it.
        texts: The texts.
        calls: The calls of tools that follow, with their results.
    """

    role: Literal["user", "assistant", "system"]
    texts: tuple[str, ...] = ()
    calls: tuple[Answered, ...] = ()


def steps(lines: Sequence[Shown]) -> list[Step]:
    """Return a conversation in steps that every provider accepts.

    Each call of a step has exactly one result, wherever that was. A call without one becomes a line
    of the assistant; a result without a call, and a second result of a call, is left out, and never
    becomes words of the user. Ids are unique, and safe for every provider; later lines do not
    change the ids of earlier ones. Nothing else is lost or reordered, and no text is blank.

    >>> call = Shown(1, "tool_call", '{"n": 1}', 9, "sh", "c1")
    >>> late = Shown(3, "tool_result", "a", 9, "sh", "c1")
    >>> for step in steps([call, Shown(2, "user", "?"), late]):
    ...     print(step.role, step.texts, [(call.id, call.result) for call in step.calls])
    assistant () [('c1', 'a')]
    user ('?',) []
    """
    answered = _answered(lines)
    made: list[Step] = []
    used: set[str] = set()
    goes_on = False
    for at, line in enumerate(lines):
        if line.role == "tool_result":
            goes_on = False
            continue
        if line.role != "tool_call":
            goes_on = line.role in _ASSISTANT
            other: Literal["system", "user"] = "system" if line.role == "system" else "user"
            made.append(Step("assistant" if goes_on else other, (spoken(line),)))
            continue
        step = made.pop() if goes_on else Step("assistant")
        goes_on = True
        name = _UNSAFE.sub("_", line.name)[:_NAME] or "tool"
        if at not in answered:
            note = f"[called {name}; no result is known]"
            made.append(step._replace(texts=(*step.texts, note)))
            continue
        own = line.call
        if not _ID.fullmatch(own) or own in used:
            own = f"call_{line.source}"
        while own in used:
            own += "_"
        used.add(own)
        result = lines[answered[at]]
        call = Answered(own, name, arguments(line), result_text(result), bool(result.error))
        made.append(step._replace(calls=(*step.calls, call)))
    return made


def strays(lines: Sequence[Shown]) -> list[int]:
    """Return the places of the results that are in no step."""
    placed = set(_answered(lines).values())
    return [at for at, line in enumerate(lines) if line.role == "tool_result" and at not in placed]


def _answered(lines: Sequence[Shown]) -> dict[int, int]:
    """Return where the first result of each call stands, by the place of the call."""
    items = [Item(line.source, 0, line.role, line.name, line.call) for line in lines]
    return {call: result for result, call in reversed(answers(items).items())}


def spoken(line: Shown) -> str:
    """Return the text of a line, with the speaker where that is not obvious."""
    text = inert(line.text).strip("\n") if line.text.strip() else _BLANK
    if line.role == "scratchpad":
        return f"[scratchpad {_brief(line.name)}]\n{text}" if line.name else f"[scratchpad]\n{text}"
    return f"{_brief(line.name)}: {text}" if line.name and line.role != SUMMARY else text


def arguments(line: Shown) -> dict[str, Any]:
    """Return the arguments of a call; anything but a JSON object becomes its ``input``."""
    if not line.is_whole:
        return {"omitted": inert(line.text)}
    if not line.text.strip():
        return {}
    try:
        given = json.loads(line.text, parse_constant=_refuse)
        # Characters that UTF-8 cannot encode are replaced, and NaN is not JSON.
        plain = json.dumps(given, ensure_ascii=False, allow_nan=False)
        given = json.loads(plain.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {"input": inert(line.text)}
    return given if isinstance(given, dict) else {"input": given}


def result_text(line: Shown) -> str:
    """Return the result of a tool, with the reason if it failed."""
    text = inert(line.text) if line.text.strip() else "(no output)"
    return f"[failed: {_brief(line.error)}]\n{text}" if isinstance(line.error, str) else text


def _brief(text: str) -> str:
    return one_line(text)[:_LONGEST]


def _refuse(constant: str) -> None:
    raise ValueError(constant)


# ---- renderings ----

# Takes the place of a conversation without a message.
EMPTY: Final = "(nothing was said yet)"
# Precedes words of an assistant where the user has to speak first.
GOES_ON: Final = "(the conversation goes on here)"
# Precedes the result of a tool where nothing else can show that it failed.
FAILED: Final = "(the tool failed)"


def anthropic_request(system: str, lines: Sequence[Shown], aside: str = "") -> dict[str, Any]:
    """Return a prompt as the ``system`` and the ``messages`` of a request to Anthropic.

    The two sides take turns, the user begins, and results come first in the message right after
    their calls.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes after it, or ``""``.

    >>> anthropic_request("", [Shown(1, "user", "Hello")])
    {'system': [], 'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hello'}]}]}
    """
    before = [_text(system)] if system else []
    messages: list[dict[str, Any]] = []

    def add(role: str, blocks: Iterable[dict[str, Any]]) -> None:
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": [_text(GOES_ON)]})
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].extend(blocks)

    for step in steps(lines):
        if step.role == "system" and not messages:
            before += map(_text, step.texts)
            continue
        if step.role == "system":
            add("user", [_text(f"{SYSTEM}\n{text}") for text in step.texts])
            continue
        # A request that ends with words of the assistant may not end with white space.
        said, results = [_text(text.rstrip()) for text in step.texts], []
        for call in step.calls:
            said.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.given})
            failed = {"is_error": True} if call.error else {}
            result = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
            results.append(result | failed)
        add(step.role, said)
        if results:
            add("user", results)
    if aside or not messages:
        add("user", [_text(aside or EMPTY)])
    return {"system": before, "messages": messages}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def openai_messages(system: str, lines: Sequence[Shown], aside: str = "") -> list[dict[str, Any]]:
    """Return a prompt as the messages of OpenAI's chat completions, which many others take too.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes behind it, or ``""``.

    >>> openai_messages("Be brief.", [Shown(1, "user", "Hello")])
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hello'}]
    """
    made: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for step in steps(lines):
        said = "\n\n".join(step.texts)
        if not step.calls:
            made.append({"role": step.role, "content": said})
            continue
        calls, results = [], []
        for call in step.calls:
            given = json.dumps(call.given, ensure_ascii=False)
            function = {"name": call.name, "arguments": given}
            calls.append({"id": call.id, "type": "function", "function": function})
            text = f"{FAILED}\n{call.result}" if call.error else call.result
            results.append({"role": "tool", "tool_call_id": call.id, "content": text})
        made.append({"role": "assistant", "content": said or None, "tool_calls": calls})
        made += results
    if aside:
        made.append({"role": "user", "content": aside})
    return made or [{"role": "user", "content": EMPTY}]


# What stands above the conversation.
HEADING: Final = "## This Conversation"


def prompt_text(system: str, lines: Sequence[Shown], aside: str = "") -> str:
    """Return a prompt as one text, for a model that accepts nothing else, and for people.

    No words of a message can be mistaken for another message: all lines of a message but the first
    are indented.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes after it, or ``""``.

    >>> print(prompt_text("", [Shown(1, "user", "Hello"), Shown(2, "assistant", "Hi")]))
    ## This Conversation
    <BLANKLINE>
    - user: Hello
    - assistant: Hi
    """
    left_out = set(strays(lines))
    said = [_said(line) for at, line in enumerate(lines) if at not in left_out]
    conversation = f"{HEADING}\n\n" + "\n".join(said) if said else ""
    return "\n\n".join(filter(None, [system, conversation, aside]))


def _said(line: Shown) -> str:
    if line.role == SUMMARY:  # It says itself what it is.
        return line.text.replace("\n", "\n  ")
    tool = one_line(line.name) or "a tool"
    if line.role == "tool_call":
        return bullet(f"assistant calls {tool}: {line.text}")
    if line.role == "tool_result":
        return bullet(f"{tool}{' failed and' if line.error else ''} gave: {result_text(line)}")
    who = "assistant " if line.role == "scratchpad" else f"{line.role}: "
    return bullet(who + spoken(line))
