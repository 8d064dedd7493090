"""Whether a model should be asked for facts at all, and what of a conversation it is shown.

Promises: pure; decided without a model; what is shown are whole messages, the newest that fit, in
their order; one that is longer than all the room hides nothing behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from engramdown.consolidation.cells import Line

__all__ = [
    "MIN_MESSAGES",
    "MOST_BYTES",
    "SHORTEST_REPLY",
    "SHORTEST_TEXT",
    "recent",
    "should_extract",
    "worth_showing",
]

L = TypeVar("L", bound=Line)

MIN_MESSAGES: Final = 2
"""Fewer messages than this tell nothing that lasts."""
SHORTEST_REPLY: Final = 20
"""A reply of fewer bytes closes an errand: "Done."."""
SHORTEST_TEXT: Final = 5
"""So few bytes of a user are a nod: "ok"."""
MOST_BYTES: Final = 4_000
"""So much of a conversation a model is shown."""

# What is done and over, or asked for the moment.
_COMMAND: Final = re.compile(
    r"\s*(?:(?:turn|switch)\s+(?:on|off)|set\s+(?:the|my)|what\s+time|what['\u2019]s\s+the\s+time"
    r"|(?:lock|unlock|open|close)\s+the)\b",
    re.IGNORECASE,
)


class _Exchange(NamedTuple):
    """What a user said, and what was answered."""

    asked: list[Line]
    answered: list[Line]


def should_extract(
    user_text: str,
    reply: str,
    messages: int,
    *,
    auxiliary: bool = False,
    min_messages: int = MIN_MESSAGES,
) -> bool:
    """Whether an exchange is worth asking a model for facts.

    Args:
        user_text: What the user said.
        reply: What the assistant answered.
        messages: How many messages the conversation has.
        auxiliary: Whether no user asked, but a program: for a title, a summary, another assistant.
        min_messages: How many messages are enough.

    >>> reply = "Noted: you work in Berlin and like tea."
    >>> should_extract("I moved to Berlin.", reply, 2)
    True
    >>> should_extract("Turn on the lights", reply, 2), should_extract("I moved.", "Ok.", 2)
    (False, False)
    """
    return not (
        auxiliary
        or messages < min_messages
        or _size(reply.strip()) < SHORTEST_REPLY
        or _size(user_text.strip()) < SHORTEST_TEXT
        or _COMMAND.match(user_text)
    )


def worth_showing(lines: Iterable[L], *, auxiliary: bool = False) -> list[L]:
    """Return the messages of the exchanges that are worth it, the newest that fit.

    Args:
        lines: What may be shown of a session, in order.
        auxiliary: See :func:`should_extract`.
    """
    messages = [line for line in lines if line.role in ("user", "assistant") and line.text.strip()]
    worth: set[int] = set()
    for each in _exchanges(messages):
        asked = "\n".join(line.text for line in each.asked)
        answered = "\n".join(line.text for line in each.answered)
        if should_extract(asked, answered, len(messages), auxiliary=auxiliary):
            worth.update(line.seq for line in (*each.asked, *each.answered))
    found = recent([line for line in messages if line.seq in worth])
    # What only an assistant said is nothing that anybody told.
    return found if any(line.role == "user" for line in found) else []


def recent(messages: Sequence[L], most: int = MOST_BYTES) -> list[L]:
    """Return the newest messages that fit, whole, in their order.

    Args:
        messages: Messages, in order.
        most: How many bytes they may have together, as UTF-8.
    """
    found: list[L] = []
    room = most
    for line in reversed([each for each in messages if _size(each.text) <= most]):
        room -= _size(line.text)
        if room < 0:
            break
        found.append(line)
    return found[::-1]


def _exchanges(messages: Iterable[Line]) -> list[_Exchange]:
    """Return who said what until the user spoke again."""
    found: list[_Exchange] = []
    for line in messages:
        if not found or (line.role == "user" and found[-1].answered):
            found.append(_Exchange([], []))
        (found[-1].asked if line.role == "user" else found[-1].answered).append(line)
    return found


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
