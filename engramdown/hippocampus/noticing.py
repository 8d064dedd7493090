"""Whether a scope is as the journal says: all that reading memory has to ask before it begins.

Promises: takes no lock and writes nothing; a scope in order is seen without loading any of the
modules that would put it in order, because most processes only read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engramdown.hippocampus.history import History
from engramdown.hippocampus.reading import FIXED, Reader
from engramdown.storage.disk import UNFINISHED, Disk

__all__ = ["IGNORING", "has_leftovers", "is_untidy", "leftover_of", "paths", "states"]

# The names that engramdown.hippocampus.staging gives.
_LEFTOVER: Final = re.compile(
    rf"\.(?P<file>.+)\.(?P<digest>[0-9a-f]{{16}})\.[0-9a-f]{{8}}(?:\.old)?\.tmp(?:{UNFINISHED})?"
)

IGNORING: Final = f".gitignore{UNFINISHED}"
"""What tells git what to leave out is called until it is whole."""


def states(reader: Reader, history: History) -> list[tuple[str, str | None, str]]:
    """Return each file with the digest that the journal says and the one it has."""
    heads = history.heads()
    # Those that are gone, too: somebody may have removed a topic.
    there = dict.fromkeys([*FIXED, *reader.names()])
    left = (name for name, head in heads.items() if head and name not in there)
    names = [*there, *sorted(name for name in left if reader.is_page(name))]
    return [(name, heads.get(name), reader.read(name).digest) for name in names]


def is_untidy(reader: Reader, history: History, disk: Disk) -> bool:
    """Whether a file is not as the journal says, or a temporary one is lying about.

    Files that the journal does not know do not count.
    """
    changed = any(head not in (None, now) for _, head, now in states(reader, history))
    return changed or has_leftovers(reader, disk)


def paths(reader: Reader, disk: Disk) -> Iterator[Path]:
    """Yield everything that stands where temporary files may lie about."""
    for folder in (reader.root, reader.folder, reader.folder / "topics"):
        yield from (folder / name for name in disk.names(folder))


def has_leftovers(reader: Reader, disk: Disk) -> bool:
    """Whether a temporary file is lying about."""
    return any(leftover_of(path) or path.name == IGNORING for path in paths(reader, disk))


def leftover_of(path: Path) -> tuple[str, str] | None:
    """Return the file name and the digest that a temporary name holds; ``None`` for another."""
    match = _LEFTOVER.fullmatch(path.name)
    return (match["file"], match["digest"]) if match else None
