"""Memory in ``AGENTS.md``, ``CLAUDE.md`` and the like, and edits of files of other programs.

A page holds rules and lessons of one scope, the most important first, within a budget. It holds
nothing of the profile, because such files are shared; without global memory, however, facts about
the user are lessons of the project and included. The same memory gives the same bytes.

Planning an edit writes nothing. Exactly the planned change is written, or nothing if somebody
changed the file meanwhile. A file is replaced as a whole and keeps its mode, and a link to it
stays; a link that leaves the allowed folder is refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import today
from engramdown.engram import Scope
from engramdown.errors import UnfitFileError
from engramdown.storage import Disk, Swap, open_regular
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown import Cortex, MemoryContext
    from engramdown.context import Memory

# The largest file to edit, in bytes.
LARGEST: Final = 16 * 1024 * 1024


class Change(NamedTuple):
    """A planned change of a file.

    Attributes:
        path: Its name for a person.
        real: The file to write: the target of a link.
        before: Its content; ``None`` if it does not exist.
        after: Its new content.
        is_gone: Whether it is removed; then ``after`` is empty.
    """

    path: Path
    real: Path
    before: bytes | None
    after: bytes
    is_gone: bool = False

    @property
    def is_new(self) -> bool:
        """Whether there is anything to write."""
        return self.after != (self.before or b"")


def read(path: Path, inside: Path | None) -> Change:
    """Return a change that leaves a file unchanged.

    Args:
        path: The file; it need not exist.
        inside: The folder that a link must not leave; ``None`` for any place.

    Raises:
        UnfitFileError: If it is not a file, too large, or a link that leaves ``inside``.
        OSError: If it cannot be read.
    """
    real = Path(os.path.realpath(path))
    if inside is not None and not real.is_relative_to(os.path.realpath(inside)):
        raise UnfitFileError(str(path), f"leads to {real}, outside {inside}; name that file itself")
    if os.path.isdir(real):  # noqa: PTH112 - it may be in a folder that cannot be read
        raise UnfitFileError(str(path), "is a folder; name a file in it")
    try:
        descriptor = open_regular(real, os.O_RDONLY)
    except FileNotFoundError:
        return Change(path, real, None, b"")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnfitFileError(str(path), f"is larger than {LARGEST // 1024 // 1024} MB")
    return Change(path, real, data, data)


def write(change: Change) -> None:
    """Write a planned change.

    Raises:
        UnfitFileError: If the file was changed since then.
        OSError: If it cannot be written; then it is unchanged.
    """
    if not change.is_new:
        return

    def seen(now: bytes | None) -> bytes:
        if now != change.before:
            verb = "removed" if now is None else "changed"
            raise UnfitFileError(str(change.path), f"was {verb} meanwhile; do it again")
        return change.after

    swap = Swap(Disk(limit=LARGEST))
    if change.is_gone:
        swap.remove(change.real, seen)
        return
    folder = change.real.parent
    folder.mkdir(parents=True, exist_ok=True)
    swap.edit(change.real, seen)
    if change.before is None:
        # Programs of other users may read it, too, where they may look into its folder.
        change.real.chmod(folder.stat().st_mode & 0o644)


# ---- memory in a file that agents read by themselves ----

# The default budget in tokens.
BLOCK_BUDGET: Final = 2000

_TRIES: Final = 4
# The share for rules; lessons get the rest, and what rules leave.
_RULES: Final = 0.6


def page(cortex: Cortex, scope: Scope, budget: int = BLOCK_BUDGET) -> str:
    """Return the memory of one scope for an agent, or ``""`` if there is none.

    Args:
        cortex: The memory.
        scope: The scope.
        budget: The limit in tokens.

    Raises:
        StoreError: If memory cannot be read.
    """
    from engramdown.context import Memory

    store = cortex.scopes.global_hc if scope == "global" else cortex.scopes.project_hc
    usable = {(entry.file, entry.line, entry.text) for entry in cortex.scopes.usable(store)}
    rules, lessons = (
        [entry for entry in entries if (entry.file, entry.line, entry.text) in usable]
        for entries in (store.recall_rules(), store.recall_lessons())
    )
    memory = Memory(project_rules=rules, project_lessons=lessons)
    if scope == "global":
        memory = Memory(global_rules=rules, global_lessons=lessons)
    room = budget
    for _ in range(_TRIES):
        text = _within(memory, scope, room)
        over = estimate_tokens(text) - budget
        if over <= 0:
            return text
        # The words around the sections cost tokens, too.
        room -= over
    return ""


def _within(memory: Memory, scope: Scope, room: int) -> str:
    from engramdown.context import build

    def made(rules: int, lessons: int) -> MemoryContext:
        budgets = {f"{scope}_rules": rules, f"{scope}_lessons": lessons}
        return build(memory, "", today(), budgets)

    share = int(room * _RULES)
    context = made(share, room - share)
    spent = sum(part.tokens for part in context.sections if part.name.endswith("rules"))
    if spent < share:
        context = made(share, room - spent)
    return str(context).rstrip("\n")
