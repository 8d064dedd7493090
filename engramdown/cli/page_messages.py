"""The words of ``engramdown context --write``.

Promises: pure; what became of a file is said with its name; each refusal has its next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

NEEDS_WRITE: Final = (
    "--check, --remove, --replace, --force, --dry-run, --global and --project belong to "
    "--write FILE"
)
NOTHING: Final = "There is nothing in memory to write; `engramdown remember` begins it."
ONE_OF_TWO: Final = "--check, --remove and --replace are three things; give one"
ALONE: Final = "--write takes no message, no session and no other view of memory"


def written(path: Path, *, remove: bool, dry: bool) -> str:
    """Say what became of a file."""
    if remove:
        return f"The block {'would be' if dry else 'is'} gone from {path}."
    return f"Memory {'would stand' if dry else 'stands'} in {path}."


def fresh(path: Path) -> str:
    """Say that nothing is left to do."""
    return f"{path} says what memory says."


def twice(path: Path, lines: Sequence[int]) -> str:
    """Say that lines of a file say what the block says, and what to do about it."""
    count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
    first = f"{path}:{lines[0]}"
    return (
        f"{count} from {first} on say what the block says, so whoever reads the file gets them "
        f"twice; `engramdown context --write {path} --replace` puts the block in their place"
    )


def stale(path: Path) -> str:
    """Say that a file does not say what memory says."""
    return f"{path}: is not what memory says; run `engramdown context --write {path}`"


def nothing_to_take_out(path: Path) -> str:
    """Say that there is no block."""
    return f"{path} has no block of Engramdown."
