"""Every sentence of ``engramdown journal`` and ``engramdown log notes``.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown.journal.journal import Written


SHORT_HELP: Final = {
    "write": "Add an entry to the page of today.",
    "show": "Show the page of a day.",
    "search": "Search the pages of all days.",
    "list": "List the days, newest first.",
}
COMMAND_GROUPS: Final = {
    "Look": ("list", "show", "search"),
    "Change": ("write",),
}
JOURNAL_HEAD: Final = "In the journal:"
NOTES_HEAD: Final = "In the notes on sessions:"
WHO: Final = {"person": "you", "agent": "assistant"}
"""Who wrote a section."""
NO_DAYS: Final = "the journal is empty; begin with `engramdown journal write TEXT`"
NO_TEXT: Final = "the text is empty; nothing was written"
EDIT_INSTEAD: Final = "give TEXT, or - to read it from stdin"
OFF: Final = "memory is switched off (mode off), and an assistant writes nothing then"
NO_NOTES: Final = "no notes are kept on this session"
ONE_DEED: Final = "give one of --write, --append, --edit, --restore, --delete and --history"


def written(where: Written) -> str:
    """Say where an entry stands."""
    return f"Wrote {where.path}:{where.section.line}"


def hidden(kinds: Iterable[str]) -> str:
    """Say that a secret was not written."""
    return f"A secret was hidden, and is kept nowhere: {', '.join(kinds)}."


def draft_kept(path: Path, reason: str) -> str:
    """Say where a text is that could not be written."""
    return f"{reason} Your text is kept in {path}"


def no_such_day(text: str) -> str:
    """Say that something is no day."""
    return f"{text!r} is no day; give 2026-02-27, today or yesterday"


def no_day(day: str) -> str:
    """Say that a day has no page."""
    return f"nothing was written on {day}; `engramdown journal list` shows the days"


def nothing_found(query: str) -> str:
    """Say that no entry fits."""
    return f"nothing in the journal fits {query!r}; try other words"


def words(count: int) -> str:
    """Say how many words a day has."""
    return f"{count:,} word{'s' if count != 1 else ''}"


def notes_written(path: Path) -> str:
    """Say that notes were written."""
    return f"Wrote {path}"


def notes_removed(path: Path, session: str) -> str:
    """Say that notes were removed, and how to have them back."""
    return f"Removed {path}; `engramdown log notes {session} --restore 1` brings it back"


def no_history(session: str) -> str:
    """Say that no notes were replaced."""
    return f"no notes on {session} were replaced so far"


def replaced(number: int, when: str, by: str) -> str:
    """Say when notes were replaced, and by whom."""
    who = WHO.get(by, by)
    return f"{number}  replaced {when[:16].replace('T', ' ')} by {who}"


def updated(when: str) -> str:
    """Say when notes were written last."""
    return f"updated {when[:16].replace('T', ' ')} UTC" if when else ""
