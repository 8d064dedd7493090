"""Every sentence of ``engramdown doctor``; those about findings stand with their codes.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engramdown.cortex.findings import Level

__all__ = [
    "ADVICE",
    "ASK",
    "CHANGED_MEANWHILE",
    "NEEDS_YES",
    "NOTHING_TO_MEND",
    "ends",
    "healthy",
    "mended",
    "removes",
    "summary",
]

ADVICE: Final = "What to do"
ASK: Final = "Write this?"
NEEDS_YES: Final = "nothing was written; `engramdown doctor --fix --yes` mends without asking"
CHANGED_MEANWHILE: Final = (
    "nothing was written: the files changed meanwhile; run `engramdown doctor --fix` again"
)
NOTHING_TO_MEND: Final = "There is nothing that can be mended without you."


def healthy(files: int, notes: int) -> str:
    """Say that nothing is wrong.

    >>> healthy(1, 2)
    'Nothing is wrong in 1 file; 2 notes.'
    """
    said = f"Nothing is wrong in {_count(files, 'file')}"
    return f"{said}; {_count(notes, 'note')}." if notes else f"{said}."


def summary(counts: Mapping[Level, int], fixable: int) -> str:
    """Say how much was found, by level, and what can be done about it.

    >>> summary({"error": 1, "warning": 0, "note": 2}, 0)
    '1 error, 2 notes.'
    """
    found = [_count(number, level) for level, number in counts.items() if number]
    if not fixable:
        return f"{', '.join(found)}."
    return f"{', '.join(found)}; `engramdown doctor --fix` can mend {fixable} of them."


def mended(files: int) -> str:
    """Say that ``files`` were changed.

    >>> mended(2)
    'Mended 2 files; `engramdown undo` takes a step back.'
    """
    return f"Mended {_count(files, 'file')}; `engramdown undo` takes a step back."


def ends(session: str) -> str:
    """Say that a session is ended that nobody ended."""
    return f"End the session {session}, with the time of its last line"


def removes(name: str, why: str) -> str:
    """Say that the note of a process that ended is removed, and what it told."""
    return f"Remove {name}, which told that {why}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
