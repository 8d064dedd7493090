"""What every command that changes memory does: rehearse on ``--dry-run``, then show the result.

Promises: with ``--dry-run`` nothing is written, and what is shown is what would have been.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from engramdown import Cortex
from engramdown.cli import messages, output
from engramdown.cli.layout import Line, diff, diff_rows, line
from engramdown.hippocampus.files import FileChange

__all__ = ["Outcome", "rehearsed_data", "rehearsed_lines"]


class Outcome:
    """The result of a command that changes memory, in the form that was asked for."""

    def __init__(self, cortex: Cortex, *, as_json: bool, dry_run: bool) -> None:
        """Rehearse from now on if it is a dry run."""
        self._cortex = cortex
        self._as_json = as_json
        self._dry_run = dry_run
        if dry_run:
            cortex.rehearse()

    def show(self, lines: Iterable[Line], data: dict[str, Any]) -> None:
        """Print ``lines`` to a person, or ``data`` to a program."""
        changes = self._cortex.rehearsed() if self._dry_run else []
        if self._as_json:
            extra = {"dry_run": True, "changes": rehearsed_data(changes)} if self._dry_run else {}
            output.print_json({**data, **extra})
            return
        screen = output.screen()
        if self._dry_run:
            screen.show([line((messages.DRY_RUN, "warn"))])
        screen.show(lines)
        screen.show(rehearsed_lines(changes))


def rehearsed_lines(changes: Iterable[FileChange]) -> list[Line]:
    """Return the diff of every file that would change."""
    return [
        item
        for change in changes
        for item in diff(change.before, change.after, os.path.relpath(change.path))
    ]


def rehearsed_data(changes: Iterable[FileChange]) -> list[dict[str, Any]]:
    """Return the files that would change, each with its unified diff."""
    return [
        {
            "path": str(change.path),
            "diff": "\n".join(diff_rows(change.before, change.after, change.path.name)),
        }
        for change in changes
        if change.before != change.after
    ]
