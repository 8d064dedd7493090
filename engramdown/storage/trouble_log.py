"""The log of what went wrong in hooks of agents, for ``doctor`` and for the next session.

It is in the folder of a scope, one problem a line, and may be deleted at any moment. A log that
others can read, such as one of a clone, is not ours.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from engramdown.clock import moment
from engramdown.errors import StoreError
from engramdown.storage.disk import Disk

# The folder of what hooks note, in that of a scope.
HOOKS: Final = "cache/hooks"
TROUBLE: Final = f"{HOOKS}/trouble.log"

_TOLD: Final = "trouble-told.log"
_LARGEST: Final = 64 * 1024
_LONGEST: Final = 400


def complain(root: Path, event: str, reason: str) -> None:
    """Log a problem of a hook; never raises.

    Args:
        root: The folder of the scope.
        event: What the hook was called for.
        reason: What went wrong.
    """
    # Imported here: hooks hardly ever have problems.
    from engramdown.secrets import redact

    disk = Disk()
    path = root / TROUBLE
    line = f"{moment()} {event}: {' '.join(redact(reason).split())[:_LONGEST]}\n"
    with contextlib.suppress(OSError, StoreError):
        if path.parent.parent.is_symlink() or not root.is_dir():
            return
        disk.make_plain_folder(path.parent, durable=False)
        status = disk.find(path)
        if status is not None and status.st_size > _LARGEST:
            disk.save(path, line.encode(), durable=False, replace=True)
            return
        disk.add_lines(path, line.encode())


def troubles(root: Path) -> list[str]:
    """Return all logged problems of hooks, oldest first."""
    path = root / TROUBLE
    return [*_lines(path.with_name(_TOLD)), *_lines(path)]


def new_troubles(root: Path) -> list[str]:
    """Return the problems that were not reported yet; they count as reported now."""
    path = root / TROUBLE
    lines = _lines(path)
    if lines:
        # If the file cannot be renamed, they are reported again.
        with contextlib.suppress(OSError):
            path.replace(path.with_name(_TOLD))
    return lines


def _lines(path: Path) -> list[str]:
    try:
        data = Disk().load_own(path)
    except (OSError, StoreError):
        return []
    return [line for line in data.decode("utf-8", "replace").split("\n") if line]
