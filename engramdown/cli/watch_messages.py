"""What ``watch`` says.

Promises: pure; one thing that happened is one sentence on one line; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.cli import messages

if TYPE_CHECKING:
    from engramdown.cortex.news import News


HINT: Final = "Ctrl-C stops."
_VERBS: Final = {
    "learned": "Learned",
    "changed": "Changed",
    "moved": "Moved",
    "forgot": "Forgot",
    "restored": "Restored",
    "approved": "Approved",
    "declined": "Declined",
    "asked": "Asked",
    "edited": "Edited",
}
_MOST: Final = 240
"""How many characters of a text are shown."""


def watching(scope: str, root: Path) -> str:
    """Say which folder is watched."""
    return f"watching {root} ({messages.SCOPE_NAMES[scope]})"


def verb(item: News) -> str:
    """Say in a word what happened."""
    return _VERBS[item.what]


def aside(item: News) -> str:
    """Say what keeps memory from being looked at, and that it does not any more."""
    return f"no longer: {item.text}" if item.what == "mended" else item.text


def ended(trouble: str) -> str:
    """Say that watching came to an end by itself."""
    return f"watching ended: {trouble}; start it again, and `engramdown doctor` if it ends again"


def about(item: News) -> str:
    """Return what it is about, on one line; a long text is cut."""
    text = " ".join(item.text.split()) or item.file
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def place(item: News) -> str:
    """Say what kind of memory it is, if no lesson, where it stands, its id, and who did it."""
    file = f"{item.file}:{item.line}" if item.line else item.file
    scope = "global" if item.scope == "global" else ""
    where = f"{scope} {file}".strip() if item.text else scope
    kind = item.kind if item.kind != "lesson" else ""
    who = messages.BY_NAMES.get(item.by, item.by)
    parts: Iterable[str] = (kind, where, f"id {item.id}" if item.id else "", who)
    return f"({', '.join(part for part in parts if part)})"


def more(count: int) -> str:
    """Say how many changes of a burst are not shown."""
    return f"... and {count} more; `engramdown history` shows all"
