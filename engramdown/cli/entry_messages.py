"""What the program says of one memory, and of what was looked for.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown import Entry

__all__ = [
    "EDIT_INSTEAD",
    "EXPLAIN_HEAD",
    "NOTHING_TO_UNDO",
    "REVIEW_EDIT_INSTEAD",
    "UNCHANGED",
    "ambiguous",
    "broken_editor",
    "changed",
    "empty_edit",
    "explain_total",
    "forgotten",
    "is_retired",
    "left_out",
    "no_editor",
    "nothing_found",
    "nothing_listed",
    "restored",
    "why_pointer",
]

# ---- finding ----


NO_WORDS: Final = "nothing to look for; give WORDS, or --since, --until or --days for all of a time"


def nothing_found(query: str) -> str:
    """Say that no memory fits."""
    if not query.strip():
        return "nothing was learned or said in that time"
    return f"nothing found for {query!r}; `engramdown list` shows everything"


def nothing_listed(*, filtered: bool, archived: bool) -> str:
    """Say that there is nothing to list."""
    if filtered:
        return "no memory passes these filters; `engramdown list` shows everything"
    if archived:
        return "nothing was retired so far; `engramdown forget ID` retires a memory"
    return 'nothing is remembered yet; begin with `engramdown remember "..."`'


def ambiguous(prefix: str) -> str:
    """Say that a prefix begins several ids, which are listed below."""
    return f"{prefix!r} could be any of these; give more characters"


def is_retired(entry_id: str) -> str:
    """Say that a memory is retired, and how to bring it back."""
    return f"{entry_id} is retired; `engramdown restore {entry_id}` brings it back"


def why_pointer(entry_id: str) -> str:
    """Point at the command that says where a memory comes from."""
    return f"`engramdown why {entry_id}` says where it comes from."


EXPLAIN_HEAD: Final = ("tokens", "budget", "shown", "left out", "section")


def explain_total(tokens: int) -> str:
    """Say what the context costs."""
    return f"{tokens} tokens in all, with the words around the sections"


def left_out(section: str) -> str:
    """Name the section whose budget was too small for the memories below."""
    return f"Left out of {section}"


# ---- changing ----

UNCHANGED: Final = "Nothing changed."
EDIT_INSTEAD: Final = "give the new text behind the id"
REVIEW_EDIT_INSTEAD: Final = "use `engramdown review --edit ID TEXT`"
NOTHING_TO_UNDO: Final = "nothing is left to undo; `engramdown history` shows what was done"


def no_editor(instead: str) -> str:
    """Say that no editor can be opened."""
    return f"no $EDITOR is set and there is no terminal; {instead}"


def broken_editor(editor: str, reason: str) -> str:
    """Say that what is set as an editor is no command."""
    return f"$VISUAL or $EDITOR is {editor!r}, which is no command: {reason}; set it anew"


def empty_edit(entry_id: str) -> str:
    """Say that a memory cannot be empty."""
    return f"the text is empty; to retire the memory, run `engramdown forget {entry_id}`"


def changed(entry: Entry) -> str:
    """Say that a memory has another text."""
    return f"Changed {entry.disk_file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"


def forgotten(entry: Entry) -> str:
    """Say that a memory was retired, and how to get it back."""
    return (
        f"Forgot {entry.id}, which was in {entry.disk_file}; "
        f"`engramdown undo` or `engramdown restore {entry.id}` brings it back"
    )


def restored(entry: Entry) -> str:
    """Say that a memory is back."""
    return f"Restored in {entry.disk_file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"
