"""What came from older layouts: one line of JSON for each memory, beside the journal of its scope.

Promises: a line is written after the step that it speaks of, so that a crash in between asks again
for what memory then knows already; a line that is torn or not ours is passed over; no text stands
here, only its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from engramdown.clock import moment
from engramdown.engram import Engram
from engramdown.importers.markdown_notes import identity
from engramdown.storage.disk import Disk
from engramdown.storage.locks import ScopeLock

__all__ = ["NAME", "OP", "Migrated", "digest"]

NAME: Final = "migrated.jsonl"
"""The name of the file, in the folder of the scope."""
OP: Final = "migrate"
"""What the steps of a migration are called in the journal."""

_SIZE: Final = 16


class Migrated:
    """The ledger of one scope."""

    def __init__(self, root: Path, disk: Disk, lock_timeout: float) -> None:
        """Read the ledger of the scope in ``root``; reading creates nothing.

        Raises:
            StoreError: If something else than a file stands there.
            OSError: If it cannot be read.
        """
        self.path = root / NAME
        self._disk = disk
        self._lock = ScopeLock(root / "memory" / ".lock", lock_timeout)
        lines = (disk.read(self.path) or b"").split(b"\n")
        self._known = {found for found in map(_digest_of, lines) if found}

    def knows(self, engram: Engram) -> bool:
        """Whether a memory came before."""
        return digest(engram) in self._known

    def add(self, came: Iterable[tuple[str, Engram]]) -> None:
        """Write down what came, each behind the name of its file.

        Raises:
            StoreError: If it cannot be written.
            OSError: The same.
        """
        now = moment()
        found = {digest(engram): path for path, engram in came if not self.knows(engram)}
        lines = [
            json.dumps({"ts": now, "path": path, "digest": each}) + "\n"
            for each, path in found.items()
        ]
        if not lines:
            return
        self._disk.make_folder(self._lock.path.parent)
        with self._lock.hold():
            self._disk.append(self.path, "".join(lines).encode())
        self._known |= found.keys()


def digest(engram: Engram) -> str:
    """Return by what a memory is known here."""
    return hashlib.blake2b(identity(engram).encode(), digest_size=_SIZE).hexdigest()


def _digest_of(line: bytes) -> str:
    try:
        found = json.loads(line)["digest"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""
