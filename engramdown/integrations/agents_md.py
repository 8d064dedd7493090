"""Memory in ``AGENTS.md``, ``CLAUDE.md`` and the like, and edits of files of other programs.

A page holds rules and lessons of one scope, the ones that count most first, within a budget, and
nothing of the profile, because such files are shared (where a memory for all projects was refused,
facts about the user are lessons of the project, and stand there). The same memory gives the same
bytes.

Planning an edit writes nothing. What was planned is what is written, or nothing, if somebody
changed the file meanwhile. A file is replaced whole, with its mode, and a link to it stays; a link
that leads out of the place that a file belongs to is refused.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import today
from engramdown.engram import Scope
from engramdown.errors import UnfitFileError
from engramdown.storage import open_regular
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown import Cortex, MemoryContext
    from engramdown.context import Memory

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a file that is edited at most."""


class Change(NamedTuple):
    """What is to become of a file.

    Attributes:
        path: What a person calls it.
        real: What is written: what a link leads to.
        before: What it holds; ``None`` if it is not there.
        after: What it is to hold.
        is_gone: Whether it is to be removed; ``after`` is empty then.
    """

    path: Path
    real: Path
    before: bytes | None
    after: bytes
    is_gone: bool = False

    @property
    def is_new(self) -> bool:
        """Whether anything is to be written."""
        return self.after != (self.before or b"")


def read(path: Path, inside: Path | None) -> Change:
    """Return a file as it is: a change that changes nothing yet.

    Args:
        path: The file; it need not be there.
        inside: The folder that a link may lead to, and nowhere else; ``None`` for anywhere.

    Raises:
        UnfitFileError: If it is no file, too large, or a link that leads out of ``inside``.
        OSError: If it cannot be read.
    """
    real = Path(os.path.realpath(path))
    if inside is not None and not real.is_relative_to(os.path.realpath(inside)):
        reason = f"leads to {real}, out of {inside}; name that file itself if it is meant"
        raise UnfitFileError(str(path), reason)
    if os.path.isdir(real):  # noqa: PTH112 - it may lie in a folder that may not be looked into
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
    """Write what was planned.

    Raises:
        UnfitFileError: If the file is not as it was when that was planned.
        OSError: If it cannot be written; it is as before then.
    """
    if not change.is_new:
        return
    real = change.real
    real.parent.mkdir(parents=True, exist_ok=True)
    # Beside it first, so that a full disk cuts nothing short.
    new = real.with_name(f".{real.name}.{secrets.token_hex(4)}.tmp")
    try:
        with new.open("xb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        if change.before is not None:
            shutil.copymode(real, new)
        if read(change.path, None).before != change.before:
            raise UnfitFileError(str(change.path), "was changed meanwhile; do it again")
        if change.is_gone:
            real.unlink()
        else:
            new.replace(real)
    except FileNotFoundError as error:
        raise UnfitFileError(str(change.path), "was removed meanwhile; do it again") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


# ---- memory in a file that agents read by themselves ----

BLOCK_BUDGET: Final = 2000
"""What it may cost in tokens, unless something else is asked for."""

_TRIES: Final = 4
_RULES: Final = 0.6
"""The part of it that is for rules; lessons get the rest, and what rules leave."""


def page(cortex: Cortex, scope: Scope, budget: int = BLOCK_BUDGET) -> str:
    """Return what an agent is to know of one scope; ``""`` if there is nothing.

    Args:
        cortex: Whose memory it is.
        scope: Whether it is that of the project, or that of all projects.
        budget: What it may cost, in tokens.

    Raises:
        StoreError: If memory cannot be read.
    """
    from engramdown.context import Memory

    store = cortex.scopes.global_hc if scope == "global" else cortex.scopes.project_hc
    usable = {(entry.file, entry.line, entry.text) for entry in cortex.scopes.usable(store)}
    rules, lessons = (
        [entry for entry in found if (entry.file, entry.line, entry.text) in usable]
        for found in (store.recall_rules(), store.recall_lessons())
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
        # The words around the sections cost something, too.
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
