"""What every command that changes memory does: rehearse on ``--dry-run``, then show the result.

Promises: with ``--dry-run`` nothing is written, and what is shown is what would have been.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from engramdown import Cortex
from engramdown.cli import messages, output, process
from engramdown.cli.layout import Line, diff, diff_rows, line
from engramdown.hippocampus.files import FileChange

_IN_PATCH: Final = ("--- ./", "+++ ./")


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
        head = [line((messages.DRY_RUN, "warn"))] if self._dry_run else []
        output.screen().show([*head, *lines, *rehearsed_lines(changes)])


def rehearsed_lines(changes: Iterable[FileChange]) -> list[Line]:
    """Return the diff of every file that would change."""
    return [
        item for change in changes for item in file_diff(change.path, change.before, change.after)
    ]


def file_diff(path: Path, before: str | None, after: str | None, name: str = "") -> list[Line]:
    """Return the diff of a file; what no terminal reads is a patch.

    A patch is applied in the project, or here where there is none: ``patch -p1``, ``git apply``.
    A file elsewhere, as one of the global scope is, has its whole path, and a line above it says
    what applies it: ``patch -p1 -d /``.

    Args:
        path: The file.
        before: Its text before; ``None`` if there was no file.
        after: Its text after; ``None`` if there is none any more.
        name: What a person calls it; by default its path from here.
    """
    if before == "" and not path.exists():
        before = None
    shown = diff(before, after, name or os.path.relpath(path), _in_patch(path))
    is_patch = any(row.exact and row.exact.startswith(_IN_PATCH) for row in shown[:2])
    if is_patch and not _is_below(path) and not process.is_terminal(sys.stdout):
        # No program that applies patches follows a path that leaves the folder where it runs.
        return [line(messages.PATCH_ELSEWHERE), *shown]
    return shown


def _in_patch(path: Path) -> str:
    path = Path.cwd() / path
    return path.relative_to(_base() if _is_below(path) else path.anchor).as_posix()


def _is_below(path: Path) -> bool:
    """Whether a file is below the folder in which a patch is applied."""
    return (Path.cwd() / path).is_relative_to(_base())


def _base() -> Path:
    """Return where git would apply a patch: the folder that has a memory of its own."""
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if (each / ".engramdown").is_dir()), here)


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
