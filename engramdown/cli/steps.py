"""How a step of the journal looks to a person.

Promises: no I/O; what a step took out and what it put in is shown line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from engramdown.cli import journal_messages
from engramdown.cli.layout import Line, line
from engramdown.clock import local
from engramdown.hippocampus.history import Change, Step

_MOST_CHANGES: Final = 12


def step_lines(step: Step, scope: str, patch: Iterable[Line] | None = None) -> Iterator[Line]:
    """Return a step: when, who, what and why, and below it the lines that it changed.

    Args:
        step: The step.
        scope: Whose step it is.
        patch: What it did to its files, to be shown instead of those lines.
    """
    yield line(
        (step.id, "id"),
        "  ",
        (when(step.at), "dim"),
        "  ",
        (journal_messages.step_title(step), "strong"),
        (f"  ({scope})", "dim"),
        hang=4,
    )
    if step.why and not step.of and not journal_messages.is_said_by_title(step):
        yield line(step.why, indent=4)
    if patch is not None:
        yield from patch
        return
    changes = step.changes
    yield from change_lines(changes[:_MOST_CHANGES])
    if len(changes) > _MOST_CHANGES:
        yield line((journal_messages.more_changes(len(changes) - _MOST_CHANGES), "dim"), indent=4)


def reversed_changes(changes: Iterable[Change]) -> list[Change]:
    """Return what undoing ``changes`` does."""
    return [Change(change.id, change.file, change.after, change.before) for change in changes]


def change_lines(changes: Iterable[Change]) -> Iterator[Line]:
    """Return the lines that went (``-``) and came (``+``), under the name of their file."""
    file = ""
    for change in changes:
        if change.erased:
            yield line((journal_messages.is_erased(change.id), "dim"), indent=4)
            continue
        if change.file != file:
            file = change.file
            yield line((file, "where"), indent=4)
        for mark, style, text in (("-", "bad", change.before), ("+", "good", change.after)):
            if text is not None and change.before != change.after:
                yield line((f"{mark} {text.rstrip()}", style), indent=4, hang=6)


def when(at: str) -> str:
    """Return a moment of the journal as the person's clock shows it, to the minute."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    return local(moment).strftime("%Y-%m-%d %H:%M")
