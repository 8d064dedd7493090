"""What ``engramdown hook`` says to a person: agents get what memory says.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

NO_EVENT: Final = (
    "name an event, such as session-start; an agent writes it as JSON to the standard input"
)
SESSION: Final = "What the agent calls the conversation; also in ENGRAMDOWN_SESSION."
STOPPED: Final = "was stopped"
TOOK_TOO_LONG: Final = "took too long and was given up; the next one goes on"


def no_such_event(name: str, known: Sequence[str]) -> str:
    """Say that an event is none of ours."""
    return f"no event {name!r}; use one of {', '.join(known)}"


def in_trouble(event: str, reason: str) -> str:
    """Say that a hook could not do what it is for; its agent goes on."""
    return f"hook {event or 'without an event'}: {reason}"


def too_large(most: int) -> str:
    """Say that an agent wrote more than a hook reads."""
    return f"what the agent wrote is larger than {most // 1024 // 1024} MB and was not read"
