"""A batch of messages of another program: checked, and compared with what is there already.

If anything is wrong with a batch, nothing of it is recorded, and the error names the message and
says what is allowed. A message whose id is in the session is not written again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.transcripts.episode import (
    ROLES,
    Pointer,
    as_text,
    is_count,
    is_str,
    read_line,
    stamp,
)

if TYPE_CHECKING:
    from engramdown.episodes.recorder import Item, Recorder, Said


_OWN: Final = ("id", "role", "text", "session")
_LONGEST: Final = 500
_REF: Final = b'"ref":'
_SHOWN: Final = 60


def _is_length(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= sys.float_info.max


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(is_str, value))


# What else a message may say, and what is allowed there; None says nothing.
_MORE: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "name": (is_str, "a string"),
    "call": (is_str, "a string"),
    "ms": (_is_length, "a number of milliseconds, 0 or more"),
    "error": (
        lambda value: isinstance(value, bool | str),
        "true, false, or the reason as a string",
    ),
    "model": (is_str, "a string"),
    "turn": (is_count, "a whole number, 0 or more"),
    "recalled": (_is_list_of_texts, "a list of strings"),
    "meta": (lambda value: isinstance(value, Mapping), "an object"),
    "at": (lambda value: _moment(value) is not None, "a datetime, or 2026-02-27T10:15:00Z"),
}


class Message(NamedTuple):
    """A message of a batch.

    Attributes:
        ref: The id that the caller gives it.
        role: Who speaks.
        text: What was said.
        said: What else is recorded.
    """

    ref: str
    role: str
    text: str
    said: Said


def read_messages(
    batch: Iterable[Mapping[str, Any]], session: str | None
) -> tuple[str, list[Message]]:
    """Return the session of a batch, and its messages.

    Raises:
        ValueError: If one is wrong, or they are of no session, or of several.
    """
    values = list(batch)
    messages = [_read(place, value) for place, value in enumerate(values)]
    names = {value["session"] for value in values if value.get("session")}
    if session is not None:
        names.add(session)
    if len(names) != 1:
        found = ", ".join(sorted(map(repr, names)))
        known = f"a batch belongs to one session, not to {found}; " if found else ""
        raise ValueError(f"{known}name one session for the batch")
    return names.pop(), messages


def _read(place: int, value: object) -> Message:
    where = f"message {place}"
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        msg = f"{where} is of the type {kind}; give a mapping with id, role, text"
        raise ValueError(msg)  # noqa: TRY004 - what is promised, whatever is wrong with a batch
    others = [key for key in value if key not in (*_OWN, *_MORE)]
    if others:
        known = ", ".join((*_OWN, *_MORE))
        raise ValueError(f"{where} has {others[0]!r}, which is not a field; use {known}")
    ref, role = value.get("id"), value.get("role")
    if not isinstance(ref, str) or not 0 < len(ref) <= _LONGEST:
        raise ValueError(f"{where} has the id {ref!r}; give a text of 1 to {_LONGEST} characters")
    if role not in ROLES or role == "event":
        known = ", ".join(each for each in ROLES if each != "event")
        raise ValueError(f"{where} has the role {role!r}; use one of {known}")
    text, own = value.get("text", ""), value.get("session")
    if text is None:
        raise ValueError(_wrong(where, "text", text, "a string, or what a tool was given or gave"))
    if own is not None and not isinstance(own, str):
        raise ValueError(_wrong(where, "session", own, "a string"))
    said: Any = {key: value[key] for key in _MORE if value.get(key) is not None}
    for key, found in said.items():
        is_allowed, allowed = _MORE[key]
        if not is_allowed(found):
            raise ValueError(_wrong(where, key, found, allowed))
    if "at" in said:
        said["at"] = _moment(said["at"])
    return Message(ref, str(role), as_text(text), said)


def _wrong(where: str, key: str, value: object, allowed: str) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return f"{where} has {key}={shown}; give {allowed}"


def _moment(value: object) -> datetime | None:
    """Return the time that a caller gives, or ``None`` if it is not one."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(found, datetime):
            stamp(found)  # A time of the year 1 may have none in UTC.
            return found
    except (ValueError, OverflowError):
        pass
    return None


def add_new(
    recorder: Recorder, session: str, refs: Sequence[str], items: Sequence[Item | None]
) -> tuple[tuple[Pointer | None, ...], int]:
    """Write the messages of a batch that are not in the session yet, all of them or none.

    Args:
        recorder: What writes them.
        session: The id of the session.
        refs: The callers' ids of the messages.
        items: What is to be written of each, if anything.

    Returns:
        Where each message is, and how many were written.
    """
    there: dict[str, int] = {}
    new: dict[str, Item] = {}

    def choose(seen: bytes) -> list[Item]:
        new.clear()
        there.clear()
        there.update(_refs_in(seen))
        for ref, item in zip(refs, items, strict=True):
            if item is not None and ref not in there:
                new.setdefault(ref, item)
        return [*new.values()]

    first = recorder.add_all(session, choose)
    places = there | {ref: first + at for at, ref in enumerate(new)}
    found = zip(refs, items, strict=True)
    pointers = (None if item is None else Pointer(session, places[ref]) for ref, item in found)
    return tuple(pointers), len(new)


def _refs_in(seen: bytes) -> dict[str, int]:
    """Return the ids of callers that are in lines, each with the number of its line."""
    found: dict[str, int] = {}
    for line in seen.split(b"\n") if _REF in seen else ():
        episode = read_line(line) if _REF in line else None
        ref = episode.more.get("ref") if episode is not None else None
        if episode is not None and isinstance(ref, str):
            found.setdefault(ref, episode.seq)
    return found
