"""What the program says when it brings in memories from older layouts.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown import Receipt


AGAIN: Final = "`engramdown migrate --again` brings what is gone here since once more"

ASK: Final = "Bring this in?"
NEEDS_YES: Final = (
    "migrating needs a person's yes; --dry-run shows what would come, --yes brings it in"
)
NO_PATH: Final = "name the files or folders whose memories are for all projects"
_SHOWN: Final = 8
_DONE: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "queued": "waiting in pending.md",
    "discarded": "not written",
    "failed": "failed",
}


READ_BY_AGENTS: Final = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "MEMORY.md")
"""Files that an assistant reads by itself."""


def still_says(path: str) -> str:
    """Say that an assistant gets the same twice, and what to do about it."""
    return (
        f"{path} still says this, so an assistant that reads it and has memory gets it twice; "
        f"`engramdown context --write {path} --replace` puts a block of memory in the place of "
        "these lines."
    )


def nothing_found(paths: Iterable[Path]) -> str:
    """Say that no file of an older layout is there."""
    places = ", ".join(str(path) for path in paths)
    return f"nothing to migrate in {places}; name the files, such as docs/notes.md"


def become(receipt: Receipt) -> str:
    """Say what becomes of a memory that is not simply remembered, or ``""``."""
    if receipt.action == "encoded":
        return ""
    said = _DONE[receipt.action]
    return said if receipt.action == "merged" else f"{said}: {receipt.reason}"


def duplicates(known: int) -> str:
    """Say how many memories of a file came before."""
    return f"{known:,} came before"


def waiting(count: int) -> str:
    """Say how many memories of a file the next run brings."""
    return f"{count:,} more wait for the next run"


def passed(reason: str, lines: list[int]) -> str:
    """Say what is not taken, and where it stands.

    >>> passed("code", [3, 9])
    'left out: code (lines 3, 9)'
    """
    noun = "line" if len(lines) == 1 else "lines"
    more = ", …" if len(lines) > _SHOWN else ""
    return f"left out: {reason} ({noun} {', '.join(map(str, lines[:_SHOWN]))}{more})"


def summary(receipts: Iterable[Receipt], known: int, *, would: bool) -> str:
    """Say how many memories came to what end; ``would`` if it is a preview."""
    counts = Counter[str](receipt.action for receipt in receipts)
    said = ", ".join(f"{counts[key]:,} {words}" for key, words in _DONE.items() if counts[key])
    before = f"{known:,} came before" if known else ""
    if not said:
        return f"Nothing new; {before}." if before else "Nothing new."
    return f"{'Would be: ' if would else ''}{'; '.join(filter(None, (said, before)))}."
