"""A prompt in its parts, rendered as text or as the messages of OpenAI and Anthropic.

It is pure. A context knows what it is made of, what it costs, and what was left out and why. The
same parts give the same bytes however they are rendered, and what changes from turn to turn comes
after the newest message: what is added behind a conversation changes nothing before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from engramdown.consolidation.summaries import Item, answers, format_summary
from engramdown.context.sections import Section
from engramdown.conversation.view import Said, placeholder
from engramdown.language.untrusted import bullet, inert, one_line
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.summary_log import Gist, Source

# The role of a summary.
SUMMARY: Final = "summary"


class Shown(NamedTuple):
    """An item of a conversation as a model is shown it.

    Attributes:
        source: The message, by its number in the transcript, or the summary, by its id.
        role: As in its line; :data:`SUMMARY` for a summary.
        text: What is shown: what was said, a summary as XML, or a placeholder.
        tokens: What it costs.
        name: The tool, or who speaks where several people do.
        call: What a tool call and its result have in common, or ``""``.
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


def shown_message(session: str, message: Said, tokens: int, *, is_whole: bool) -> Shown:
    """Return a message as it is shown.

    Args:
        session: The id of its session.
        message: The message.
        tokens: What it costs as it is shown.
        is_whole: Whether all of it is shown, or a placeholder.
    """
    episode, said, cost, _ = message
    text = said if is_whole else placeholder(session, episode, cost)
    return Shown(
        episode.seq, episode.role, text, tokens, episode.name, episode.call, episode.error, is_whole
    )


def shown_gist(session: str, gist: Gist, tokens: int) -> Shown:
    """Return a summary as it is shown."""
    return Shown(gist.id, SUMMARY, format_summary(gist, session), tokens)


def gist_placeholder(session: str, gist: Gist, span: tuple[int, int], tokens: int) -> str:
    """Return what stands in the place of a summary that is too long.

    Args:
        session: The id of its session.
        gist: The summary.
        span: The first and the last message that it stands for.
        tokens: What it costs.

    >>> told = Gist("g1", "", "leaf", 0, (4, 5), "…", 900)
    >>> gist_placeholder("s1", told, (4, 5), 900)
    '[summary g1 of s1#4 to s1#5 has about 900 tokens; read it with expand]'
    """
    which = one_line(gist.id)
    first, last = (Pointer(session, seq) for seq in span)
    said = f"[summary {which} of {first} to {last} has about {tokens:,} tokens"
    return f"{said}; read it with expand]"


def ends(gists: Mapping[str, Gist], source: Source) -> tuple[int, int]:
    """Return the first and the last message that an item stands for.

    >>> inner = Gist("g1", "", "leaf", 0, (4, 5), "", 0)
    >>> ends({"g1": inner, "g2": inner._replace(id="g2", sources=("g1", 6))}, "g2")
    (4, 6)
    """
    first = last = source
    while isinstance(first, str):
        first = gists[first].sources[0]
    while isinstance(last, str):
        last = gists[last].sources[-1]
    return first, last


class Dropped(NamedTuple):
    """Something that a model is not shown, or not whole.

    Attributes:
        what: ``message``, ``tool result``, ``summary``, or the part: ``journal``, ``relevant``.
        where: The pointer of a message, the id of a summary, the name of a section, or ``""``.
        tokens: What it would have cost, about.
        reason: Why.
    """

    what: str
    where: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingContext:
    """What a model is shown for the next step of a conversation; printed, it is its text.

    Attributes:
        session: The id of the session.
        budget: What it was to cost at most, in tokens.
        tokens: What it costs, by the estimate of :mod:`engramdown.tokens`.
        soul: Who the assistant is.
        sections: What is remembered, as in :class:`engramdown.MemoryContext`.
        skills: The skills that there are, a line each.
        history: Earlier sessions.
        journal: The last days of the journal.
        messages: The conversation in order: messages, placeholders, and summaries where what they
            stand for was said.
        tail: Where among them the fresh tail begins, which is always shown.
        notes: The working notes on this conversation.
        relevant: Memories that the sections leave out, and what was said in other conversations,
            as far as it fits the newest message of the user.
        remembered: The ids of the memories in it.
        recalled: The pointers to what it quotes of other conversations.
        degraded: Why memory does not work, or ``""``.
        dropped: What is not shown, or not whole, and why.
        system: The parts up to the journal, as they come before the conversation.
        aside: The notes, what is relevant, and why memory does not work, as they stand behind it.
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


# Before words of the system, where only the user and the assistant can speak.
SYSTEM: Final = "(from the system, not from the user)"


class Answered(NamedTuple):
    """A tool call with its result.

    Attributes:
        id: What the two have in common.
        name: The tool, as every provider takes it.
        given: Its arguments.
        result: What it gave back.
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
        role: Who.
        texts: What is said.
        calls: The tools that are called then, and what they gave back.
    """

    role: Literal["user", "assistant", "system"]
    texts: tuple[str, ...] = ()
    calls: tuple[Answered, ...] = ()


def steps(lines: Sequence[Shown]) -> list[Step]:
    """Return a conversation in steps that every provider takes.

    Each call of a step has exactly one result, wherever that stood. A call without one is told in a
    line of its assistant; a result without a call, and a second result of a call, is in no step,
    and never becomes words of the user. Ids are unique, and safe for every provider; what comes
    later changes none of those before. Nothing else is lost, in order, and no text is blank.

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
    """Return what is said, with who says it where that is not plain."""
    text = inert(line.text).strip("\n") if line.text.strip() else _BLANK
    if line.role == "scratchpad":
        return f"[scratchpad {_brief(line.name)}]\n{text}" if line.name else f"[scratchpad]\n{text}"
    return f"{_brief(line.name)}: {text}" if line.name and line.role != SUMMARY else text


def arguments(line: Shown) -> dict[str, Any]:
    """Return what a tool is given; what is no JSON object is its ``input``."""
    if not line.is_whole:
        return {"omitted": inert(line.text)}
    if not line.text.strip():
        return {}
    try:
        given = json.loads(line.text, parse_constant=_refuse)
        # What cannot be sent as UTF-8 is not sent; what is no number of JSON is no JSON.
        said = json.dumps(given, ensure_ascii=False, allow_nan=False)
        given = json.loads(said.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {"input": inert(line.text)}
    return given if isinstance(given, dict) else {"input": given}


def result_text(line: Shown) -> str:
    """Return what a tool gave back; if it failed for a reason, with that."""
    text = inert(line.text) if line.text.strip() else "(no output)"
    return f"[failed: {_brief(line.error)}]\n{text}" if isinstance(line.error, str) else text


def _brief(text: str) -> str:
    return one_line(text)[:_LONGEST]


def _refuse(constant: str) -> None:
    raise ValueError(constant)


# ---- renderings ----

# In the place of a conversation without a message.
EMPTY: Final = "(nothing was said yet)"
# Before words of an assistant, where the user has to speak first.
GOES_ON: Final = "(the conversation goes on here)"
# Before what a tool gave back, where nothing else can tell that it failed.
FAILED: Final = "(the tool failed)"


def anthropic_request(system: str, lines: Sequence[Shown], aside: str = "") -> dict[str, Any]:
    """Return a prompt as the ``system`` and the ``messages`` of a request to Anthropic.

    The two sides take turns, the user begins, and results stand at the beginning of the message
    right behind their calls.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes behind it, or ``""``.

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
    """Return a prompt as one text, for a model that takes nothing else, and for people.

    No words of a message can pass for another message: only the first line of each stands at the
    beginning of a line.

    Args:
        system: What comes before the conversation, or ``""``.
        lines: The conversation.
        aside: What comes behind it, or ``""``.

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
