"""Reads the transcripts of Claude Code: ``~/.claude/projects/<project>/<session>.jsonl``.

Imports messages, tool calls and their results, notes of the program, and summaries of compacted
parts. A side chain (the work of a sub-agent) becomes a session of its own. Messages that a person
wrote while the assistant worked are in the queue, in an attachment, or in both, and are imported
once. Thoughts, progress and bookkeeping are left out. Rewound branches stay, in their order.

A line is the user's word only if its own ``isSidechain`` says that it belongs to the conversation
with the user, or else that of its nearest parent that has one; and only the part of it that neither
the program nor a tool added.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from engramdown.importers.records import (
    FILE,
    THOUGHTS,
    Conversation,
    Earlier,
    Fields,
    Item,
    Message,
    Record,
    Skipped,
    Source,
    content_text,
    number,
    tool_block,
)

_KEYS: Final = ("sessionId", "parentUuid", "leafUuid", "isSnapshotUpdate")
_COMPACTED: Final = "This session is being continued from a previous conversation"
_TAGS: Final = (
    "system-reminder|local-command-[a-z]+|bash-stdout|bash-stderr|task-notification"
    "|teammate-message|agent-message|cross-session-message"
)
# How text begins that the program adds in the user's name.
_INJECTED: Final = re.compile(rf"\s*(?:<(?:{_TAGS})|Caveat: The messages below)")
# The same next to words of the user.
_ADDED: Final = re.compile(f"<({_TAGS})(?: [^<>]*)?>")
# A line with one of these came from the program or a tool.
_PROGRAM: Final = ("isMeta", "isVisibleInTranscriptOnly", "sourceToolUseID", "toolUseResult")
_FALSE: Final = (None, False, 0, "", "false", "False", "0", "no")
_TITLES: Final = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}


def _knows(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    spoken = value["type"] in ("user", "assistant") and isinstance(value.get("message"), dict)
    return spoken or any(key in value for key in _KEYS)


class _Side(NamedTuple):
    """The conversation that a line belongs to.

    Attributes:
        user: Whether it belongs to the conversation with the user; ``None`` if that is unknown.
        agent: The sub-agent of its side chain, if that is known.
    """

    user: bool | None
    agent: str = ""

    @property
    def key(self) -> str:
        """The key of the conversation."""
        return f"agent {self.agent}" if self.user is False else FILE


class _Chains:
    """Decides for each line whether its user is the user, or an assistant with a sub-agent."""

    def __init__(self, earlier: Earlier) -> None:
        """Begin; ``earlier`` is called only if a line does not say it itself."""
        self._known: dict[str, _Side] = {}
        self._earlier: Earlier | None = earlier
        self._has_user = False

    def side(self, value: Fields) -> _Side:
        """Return the side of a line, and remember it for lines that name it as their parent."""
        if value["type"] == "queue-operation" and "isSidechain" not in value:
            # A queued message has no parents; it belongs to a conversation with the user.
            if not self._has_user:
                self._look_back()
            return _Side(user=True if self._has_user else None)
        side = self._found(value)
        self._has_user |= side.user is True
        own = value.text("uuid")
        if own and self._known.setdefault(own, side).user != side.user:
            self._known[own] = _Side(user=None)
        return side

    def _found(self, value: Fields) -> _Side:
        aside, agent = value.get("isSidechain"), value.text("agentId")
        if aside is False:
            return _Side(user=True)
        if agent:
            return _Side(user=False, agent=agent)
        # After a compacted part the parent is only a logical one.
        parent = value.text("parentUuid", "logicalParentUuid")
        if parent and parent not in self._known:
            self._look_back()
        above = self._known.get(parent, _Side(user=None))
        return above if aside in _FALSE else _Side(user=False, agent=above.agent)

    def _look_back(self) -> None:
        """Read the part of the file that was imported earlier."""
        earlier, self._earlier = self._earlier, None
        for record in earlier() if earlier is not None else ():
            value = Fields(record.value)
            if isinstance(value.get("type"), str):
                self.side(value)


def _read(records: Iterable[Record], earlier: Earlier = tuple) -> Iterator[Item]:
    known: set[str] = set()
    queue, chains = _Queue(), _Chains(earlier)
    title = ""
    for record in records:
        value = Fields(record.value)
        if not isinstance(value.get("type"), str):
            yield Skipped(record.line, "is not a record of Claude Code", damaged=True)
            continue
        title = value.text(_TITLES.get(value["type"], "")) or title
        side = chains.side(value)
        for item in queue.once(record, value, _items(record, value, side.key)):
            if not isinstance(item, Message):
                yield item
                continue
            if side.key not in known:
                known.add(side.key)
                yield _conversation(value, side, title if side.key == FILE else "")
            said = replace(item, copied=True) if "forkedFrom" in value else item
            if said.role == "user" and not side.user:
                # Only words that are known to be the user's count as theirs.
                meta = {"kind": "task"} if side.user is False else {}
                said = replace(said, role="system", meta=meta)
            yield said


class _Queue:
    """Messages that were written while the assistant worked, each to be imported once.

    Since version 2.1 they are in attachments, before only in the queue, when one is removed.
    """

    def __init__(self) -> None:
        self._removed: Counter[str] = Counter()
        self._attached: Counter[str] = Counter()

    def once(self, record: Record, value: Fields, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the ``items`` of ``value`` without those that were imported before."""
        removed = value["type"] == "queue-operation"
        if not removed and value["type"] != "attachment" and value.get("promptSource") != "queued":
            yield from items
            return
        here, there = self._removed, self._attached
        if not removed:
            here, there = there, here
        for item in items:
            text = item.text if isinstance(item, Message) else ""
            if text and there[text]:
                there[text] -= 1
                yield Skipped(record.line, f"{value['type']}: said already")
                continue
            here[text] += bool(text)
            yield item


def _conversation(value: Fields, side: _Side, title: str) -> Conversation:
    session, aside = value.text("sessionId"), side.user is False
    forked = value.fields("forkedFrom").text("sessionId")
    meta = {name: value.text(name) for name in ("cwd", "gitBranch", "version")}
    return Conversation(
        key=side.key,
        id=f"{session}/{side.agent}" if aside else session,
        at=value.time("timestamp"),
        title=title,
        parent=session if aside else forked,
        # A resumed or forked session begins with the lines of the other one.
        copies="" if aside else forked or session,
        meta={name: text for name, text in meta.items() if text},
    )


def _items(record: Record, value: Fields, key: str) -> Iterator[Item]:
    kind, at, text = value["type"], value.time("timestamp"), value.text("content")
    origin = value.fields("forkedFrom").text("messageUuid") or value.text("uuid")
    origin = origin or f"@{record.offset}"
    said = Message(origin=origin, at=at, role="system", text=text, key=key)
    attachment = value.fields("attachment")
    if kind in ("user", "assistant"):
        message = value.fields("message")
        if not message:
            yield Skipped(record.line, "has no message", damaged=True)
            return
        model = message.text("model")
        model = "" if model == "<synthetic>" else model
        for place, block in enumerate(_blocks(message)):
            here = replace(said, origin=f"{origin}/{place}", model=model)
            yield from _apart(_block(record, value, message, block, here))
    elif kind == "system" and text:
        is_boundary = value.get("subtype") == "compact_boundary"
        yield replace(said, meta={"kind": "compacted"} if is_boundary else {})
    elif kind == "attachment" and attachment.get("type") == "queued_command":
        # A person wrote it while the assistant worked.
        is_notice = attachment.get("commandMode") == "task-notification"
        text = content_text(attachment.get("prompt"))
        yield from _apart(replace(said, role="system" if is_notice else _role(text), text=text))
    elif kind == "queue-operation" and value.get("operation") == "remove":
        # It has no id, and in a copy of the session it is at another place.
        origin = f"queue {value.text('timestamp') or origin}"
        text = content_text(value.get("content"))
        yield from _apart(replace(said, origin=origin, role=_role(text), text=text))
    else:
        yield Skipped(record.line, f"{kind[:40]}: not part of the conversation")


def _apart(item: Item) -> Iterator[Item]:
    """Yield the words of a user apart from what the program added to them."""
    if not isinstance(item, Message) or item.role != "user":
        yield item
        return
    own, added = _split(item.text)
    if added:
        yield replace(item, origin=f"{item.origin}/added", role="system", text=added)
    if own or not added:
        yield replace(item, text=own) if added else item


def _split(text: str) -> tuple[str, str]:
    """Return the user's part of a text, and the part that the program added."""
    own, added, at = [], [], 0
    open_tags: set[str] = set()
    for tag in _ADDED.finditer(text):
        end = f"</{tag[1]}>"
        # A tag that is never closed is the user's.
        closing = -1 if end in open_tags else text.find(end, tag.end())
        if tag.start() < at or closing < 0:
            open_tags |= {end} if tag.start() >= at else set()
            continue
        own.append(text[at : tag.start()])
        at = closing + len(end)
        added.append(text[tag.start() : at])
    return "".join([*own, text[at:]]).strip() if added else text, "\n".join(added)


def _blocks(message: Fields) -> list[Any]:
    """Return the blocks of a message; texts of one speaker are not joined."""
    content = message.get("content")
    return content if isinstance(content, list) else [content]


def _block(record: Record, value: Fields, message: Fields, block: object, said: Message) -> Item:
    fields = Fields(block)
    if fields.text("type") in THOUGHTS:
        return Skipped(record.line, "thoughts")
    tool = tool_block(said, fields)
    if tool is not None and tool.role == "tool_result":
        result = value.fields("toolUseResult")
        times = (number(result.get(name)) for name in ("durationMs", "totalDurationMs"))
        return replace(tool, ms=next((each for each in times if each is not None), None))
    if tool is not None:
        return tool
    text = content_text(block)
    role, meta = _speaker(value, message, text)
    failed = value.get("isApiErrorMessage") is True
    return replace(said, role=role, text=text, error=failed, meta=meta)


def _speaker(value: Fields, message: Fields, text: str) -> tuple[str, dict[str, str]]:
    said_by = message.text("role") or "user"
    if value["type"] == "assistant" or said_by == "assistant":
        return "assistant", {}
    if value.get("isCompactSummary") not in _FALSE or text.lstrip().startswith(_COMPACTED):
        return "system", {"kind": "compacted"}
    # Newer versions say who wrote it: a person, a sub-agent that is done, a timer.
    writer = value.text("origin") or value.fields("origin").text("kind")
    is_programs = said_by != "user" or any(value.get(name) not in _FALSE for name in _PROGRAM)
    # A line with the result of a tool is never the user's, whatever else it holds.
    kinds = (Fields(block).text("type") for block in _blocks(message))
    if is_programs or writer not in ("", "human") or any(k.endswith("tool_result") for k in kinds):
        return "system", {}
    return _role(text), {}


def _role(text: str) -> str:
    """Return who speaks, judged by the words alone; a user's may follow a reminder."""
    own = _split(text)[0] if text.lstrip().startswith("<system-reminder>") else text
    is_users = (own or not text) and not _INJECTED.match(own)
    return "user" if is_users else "system"


CLAUDE_CODE: Final = Source("claude-code", "Claude Code", _knows, _read, _read)
