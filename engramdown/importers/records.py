"""The results of reading a file of another program: conversations and what was said in them.

Times are those of the source and never made up; no value of a source raises an exception, even if
its type is wrong. No clock, no file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from engramdown.transcripts import as_text, join_surrogates

# Blocks of Anthropic's messages that hold thoughts of the model.
THOUGHTS: Final = ("thinking", "redacted_thinking")
_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")

# The key of the only conversation of a file.
FILE: Final = ""

# Earlier times come from a clock that was never set, or stand for an unknown time.
_FIRST: Final = datetime(1971, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 30, tzinfo=UTC)
_ZERO: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"[0-9]{9,19}(?:\.[0-9]{1,9})?")
# The upper limit of numbers in seconds, milliseconds, microseconds and nanoseconds.
_UNITS: Final = ((1e11, 1), (1e14, 1_000), (1e17, 1_000_000), (1e20, 1_000_000_000))
_DEPTH: Final = 8
_BLOBS: Final = ("image", "audio", "video", "document", "file")


class Record(NamedTuple):
    """One line or one element of a file.

    Attributes:
        line: Its number, from 1.
        offset: Where it begins, in bytes; for an element its position in the list.
        value: The parsed JSON.
    """

    line: int
    offset: int
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation, which becomes a session.

    Attributes:
        key: Distinguishes it from others of its file; :data:`FILE` if it is the only one.
        everywhere: Whether ``key`` means the same conversation in every file of the source.
        id: Its id in the source, by which others name it as their parent.
        at: When it began.
        title: Its title in the source.
        parent: The id in the source of the conversation that started it.
        copies: The id in the source of the conversation whose lines it may begin with.
        meta: Other facts about it.
        whole: Whether all of it is in one record.
    """

    key: str = FILE
    everywhere: bool = False
    id: str = ""
    at: datetime | None = None
    title: str = ""
    parent: str = ""
    copies: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message, a call or a result, which becomes an episode.

    See :class:`engramdown.transcripts.episode.Episode`.

    Attributes:
        origin: Distinguishes it from everything else in its conversation, in every import.
        at: When, or ``None`` if the source does not say.
        role: Who or what speaks.
        text: The whole text.
        name: The tool, or the speaker.
        call: The id that a tool call and its result share.
        ms: The duration in milliseconds.
        error: ``True`` or a reason, if it failed.
        model: The model that spoke.
        turn: The number of the turn.
        meta: Other facts about it.
        key: The conversation.
        copied: Whether it is copied from another conversation.
    """

    origin: str
    at: datetime | None
    role: str
    text: str
    name: str = ""
    call: str = ""
    ms: float | None = None
    error: bool | str = False
    model: str = ""
    turn: int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    key: str = FILE
    copied: bool = False


class Skipped(NamedTuple):
    """A part of a file that is not imported.

    Attributes:
        line: The number of its line, from 1.
        reason: Why, in a few words that are the same for all similar parts.
        damaged: Whether it should have been readable.
    """

    line: int
    reason: str
    damaged: bool = False


Item = Conversation | Message | Skipped
Read = Callable[[Iterable[Record]], Iterator[Item]]
# Returns the records of a file that were read before it grew.
Earlier = Callable[[], Iterable[Record]]


class Source(NamedTuple):
    """A program that keeps transcripts.

    Attributes:
        name: Its name, for ``--from`` and in the ids of sessions.
        title: Its name for a person.
        knows: Whether a value is one of its records.
        read: Turns records into conversations and messages.
        resume: The same for a file that grew, if earlier records matter.
    """

    name: str
    title: str
    knows: Callable[[Any], bool]
    read: Read
    resume: Callable[[Iterable[Record], Earlier], Iterator[Item]] | None = None


class Fields(dict[str, Any]):
    """A JSON object whose members are read by type; one of another type counts as empty."""

    def __init__(self, value: object = None) -> None:
        """Copy the members of ``value``, if it is an object."""
        if isinstance(value, dict):
            self.update(value)

    def text(self, *names: str) -> str:
        """Return the first of some members that is a non-empty string, or ``""``."""
        for name in names:
            value = self.get(name)
            if isinstance(value, str) and value:
                return join_surrogates(value)
        return ""

    def fields(self, name: str) -> Fields:
        """Return a member that is an object."""
        # Most are missing.
        value = self.get(name)
        return Fields(value) if isinstance(value, dict) else _NO_FIELDS

    def list(self, name: str) -> list[Fields]:
        """Return a member that is a list of objects."""
        value = self.get(name)
        return [Fields(each) for each in value] if isinstance(value, list) else []

    def time(self, *names: str) -> datetime | None:
        """Return the first of some members that is a time."""
        return next(filter(None, (time_of(self.get(name)) for name in names)), None)


_NO_FIELDS: Final = Fields()


def time_of(value: object) -> datetime | None:
    """Return the time that ``value`` says, in UTC; ``None`` if it is not a possible one.

    It may be in ISO 8601 (UTC unless it has a zone) or a number since 1970, in seconds,
    milliseconds, microseconds or nanoseconds. The zero of a clock is not a time.

    >>> time_of("2026-02-27T11:15:00.5+01:00"), time_of(1772187300500) == time_of(1772187300.5)
    (datetime.datetime(2026, 2, 27, 10, 15, 0, 500000, tzinfo=datetime.timezone.utc), True)
    """
    try:
        moment = _moment(value)
        known = None if moment is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return known if known is not None and _FIRST <= known <= _LAST else None


def _moment(value: object) -> datetime | None:
    known = number(value)
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        known = float(text) if "." in text else int(text)
    if known is None:
        return None
    unit = next(unit for most, unit in _UNITS if known < most)
    if isinstance(known, int):
        # Exact: a division would lose the last digits of nanoseconds.
        seconds, rest = divmod(known, unit)
        return _ZERO + timedelta(seconds=seconds, microseconds=rest * 1_000_000 // unit)
    return _ZERO + timedelta(seconds=known / unit)


def content_text(content: object, depth: int = _DEPTH) -> str:
    """Return the words of a message's content: a string, a block, or a list of these.

    Anything other than text becomes a word in brackets: ``[image]``.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return join_surrogates(content)
    if isinstance(content, list) and depth:
        parts = (content_text(part, depth - 1) for part in content)
        return "\n".join(part for part in parts if part)
    if isinstance(content, dict) and depth:
        return _block_text(Fields(content), depth)
    return as_text(content)


def _block_text(block: Fields, depth: int) -> str:
    for key in ("text", "transcript"):
        if isinstance(block.get(key), str):
            return join_surrogates(block[key])
    if block.get("content") is not None:
        return content_text(block["content"], depth - 1)
    kind = block.text("type", "content_type")
    word = next((each for each in _BLOBS if each in kind), "")
    if not word:
        return as_text(block)
    name = block.text("filename", "file_name", "title") or block.fields("file").text("filename")
    return f"[{word} {name}]" if name else f"[{word}]"


def exported(record: Record, own: str, at: datetime | None, title: str) -> Conversation:
    """Return the conversation in one record of an export; ``own`` is its id there."""
    key = digest(own, str(at)) if own else f"@{record.offset}"
    return Conversation(key=key, everywhere=bool(own), whole=True, id=own, at=at, title=title)


def tool_call(said: Message, name: str, arguments: object, call: str) -> Message:
    """Return ``said`` as the call of a tool."""
    return replace(said, role="tool_call", text=as_text(arguments), name=name, call=call)


def tool_result(
    said: Message, name: str, content: object, call: str, *, error: bool | str = False
) -> Message:
    """Return ``said`` as the result of a tool."""
    text = content_text(content)
    return replace(said, role="tool_result", text=text, name=name, call=call, error=error, model="")


def tool_block(said: Message, block: Fields) -> Message | None:
    """Return ``said`` as the tool call or result in a block of Anthropic's, if it holds one."""
    kind, name = block.text("type"), block.text("name")
    if kind in _CALLS:
        return tool_call(said, name, block.get("input"), block.text("id"))
    if kind.endswith("tool_result"):
        failed = block.get("is_error") is True
        call = block.text("tool_use_id")
        return tool_result(said, name, block.get("content"), call, error=failed)
    return None


def digest(*parts: str) -> str:
    """Return a digest of some texts, in hexadecimal; no two lists of texts share one."""
    data = [part.encode("utf-8", "surrogatepass") for part in parts]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(each), each) for each in data)).hexdigest()


def number(value: object) -> float | None:
    """Return ``value`` if it is a number from 0, else ``None``."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if 0 <= value < _UNITS[-1][0] else None
