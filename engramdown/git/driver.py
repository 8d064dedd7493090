"""The merge driver: what git calls for each memory file that two branches changed.

Promises: takes no lock and opens no store; whatever goes wrong in it, the file is left as git's own
merge leaves it and the answer is a conflict: a person looks at it, and no side is lost.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import GitError
from engramdown.git.merge import Merge, merge_files
from engramdown.git.textual import Markers, Style
from engramdown.storage.git_program import ask, environment

__all__ = ["Driven", "drive"]

_STYLES: Final[dict[str, Style]] = {"diff3": "diff3", "zdiff3": "zdiff3"}


class Driven(NamedTuple):
    """What the driver did.

    Attributes:
        conflict: Whether a person has to decide something.
        word: What a person should know of it, or ``""``.
    """

    conflict: bool
    word: str = ""


def drive(base: Path, ours: Path, theirs: Path, path: str, markers: Markers) -> Driven:
    """Merge three files that git wrote, and leave the result in ``ours``.

    Args:
        base: The common ancestor (``%O``).
        ours: Our side, and the place of the result (``%A``).
        theirs: The other side (``%B``).
        path: Where the file is in the repository (``%P``).
        markers: How conflicts are shown; their style is asked of git.
    """
    try:
        sides = base.read_bytes(), ours.read_bytes(), theirs.read_bytes()
        merged = _merged(path, *sides, markers)
        ours.write_bytes(merged.data)
    except Exception as error:  # noqa: BLE001 - what breaks here must lose nobody's lines
        _as_git_would(base, ours, theirs, markers)
        return Driven(conflict=True, word=f"{path}: merged as text, look at all of it: {error!r}")
    word = f"{path}: merged line by line: {merged.by_lines}" if merged.by_lines else ""
    return Driven(merged.conflict, word)


def _merged(path: str, base: bytes, ours: bytes, theirs: bytes, markers: Markers) -> Merge:
    merged = merge_files(path, base, ours, theirs, markers)
    style = _style() if merged.conflict else markers.style
    if style == markers.style:
        return merged
    return merge_files(path, base, ours, theirs, markers._replace(style=style))


def _style() -> Style:
    """Return how this clone shows conflicts, as ``merge.conflictStyle`` says."""
    # Imported here: most merges leave no conflict and ask git for nothing.
    from engramdown.git.repository import find_repository

    try:
        said = find_repository(Path.cwd()).run("config", "--get", "merge.conflictStyle")
    except GitError:
        return "merge"
    return _STYLES.get(said.decode("utf-8", "replace").strip(), "merge")


def _as_git_would(base: Path, ours: Path, theirs: Path, markers: Markers) -> None:
    """Merge the three files as text; if even that fails, ours stays and git calls it a conflict."""
    labels = [
        part for name in (markers.ours, markers.base, markers.theirs) for part in ("-L", name)
    ]
    size = f"--marker-size={markers.size}"
    files = map(str, (ours, base, theirs))
    # What it answers says whether it is a conflict, which it is anyway.
    with contextlib.suppress(GitError):
        ask(Path.cwd(), environment(), ("merge-file", size, *labels, "--", *files), None)
