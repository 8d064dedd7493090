"""A scope that can be read but has no place to write to.

Promises: every write is refused with one reason, before anything is created.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from engramdown.errors import StoreError
from engramdown.storage.disk import Disk

REFUSAL: Final = "no-global"
"""The name of the file by which somebody refuses a memory for all projects, in the project's."""

REFUSED: Final = (
    "a memory for all projects was refused here; `engramdown init --global` sets one up"
)
"""Why nothing is written to the global scope then."""


def is_refused(home: Path, project: Path) -> bool:
    """Whether somebody who works in a project refused a memory for all projects.

    Where there is one by now, it is used. A refusal that git knows may be a stranger's.
    """
    if os.path.lexists(home):
        return False
    mark = project / REFUSAL
    if not mark.is_file():
        return False
    # Imported here: most people have a memory for all projects.
    from engramdown.hippocampus.git_state import known_to_git

    return not known_to_git([mark], Disk(durable=False))


class ClosedDisk(Disk):
    """The system calls of a store that may not write."""

    def __init__(self, reason: str, *, limit: int) -> None:
        """Refuse with ``reason``; ``limit`` is the largest file that is read, in bytes."""
        super().__init__(limit=limit)
        self._reason = reason

    def make_folder(self, path: Path) -> None:
        """Refuse: a step begins with the folder that it writes to.

        Raises:
            StoreError: Always.
        """
        del path  # It would only be named to be refused.
        raise StoreError(self._reason)
