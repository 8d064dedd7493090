"""Reversing a step of the journal.

Promises: pure over a draft; if nothing happened since, the bytes are those of before the step;
if something did, each memory of the step is reversed by itself, and nothing that a person
changed since is overwritten: then the undo is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engramdown.engram import RULE_KINDS
from engramdown.errors import AmbiguousIdError, EntryNotFoundError, UndoRefusedError
from engramdown.hippocampus.blocks import entry_block
from engramdown.hippocampus.document import Document, parse
from engramdown.hippocampus.filing import PENDING, RULES, Folder, entry_id, split_task, title_of
from engramdown.hippocampus.steps import Change, Part, Step, digest

__all__ = ["pick", "reverse"]

# A hand edit is the person's own; what follows from one is undone with it, by hand.
_NOT_OURS = frozenset({"person", "engramdown"})
# Setting up is not taken back in passing, and an undo only when it is named.
_NOT_LAST = frozenset({"init", "undo"})


def pick(steps: Sequence[Step], step_id: str) -> Step:
    """Return the step to undo: the one whose id begins with ``step_id``, or the last of ours.

    Raises:
        EntryNotFoundError: If there is none.
        AmbiguousIdError: If there are several.
        UndoRefusedError: If it is a hand edit, or was undone already.
    """
    undone: set[str] = set()
    for step in reversed(steps):
        # An undo that was undone itself does not count any more.
        if step.op == "undo" and step.id not in undone:
            undone.add(step.of)
    if not step_id:
        for step in reversed(steps):
            if step.by not in _NOT_OURS and step.op not in _NOT_LAST and step.id not in undone:
                return step
        raise EntryNotFoundError("", "the journal: nothing is left to undo")
    found = [step for step in steps if step.id.startswith(step_id)]
    if not found:
        raise EntryNotFoundError(step_id, "the journal (`engramdown history` shows the steps)")
    if len(found) > 1:
        raise AmbiguousIdError(step_id, (step.id for step in found))
    step = found[0]
    if step.by in _NOT_OURS:
        raise UndoRefusedError(
            f"step {step.id} is a hand edit; change the file back in your editor, or with git"
        )
    if step.id in undone:
        raise UndoRefusedError(f"step {step.id} was undone already")
    return step


def reverse(folder: Folder, step: Step, steps: Sequence[Step]) -> None:
    """Reverse ``step`` in the files of ``folder``.

    Args:
        folder: The memory files.
        step: What to reverse.
        steps: The journal, which tells who changed what since.

    Raises:
        UndoRefusedError: If a memory of the step reads otherwise than the step left it.
    """
    whole = {part.file for part in step.parts if _is_as_left(folder, part)}
    for part in reversed(step.parts):
        if part.file in whole:
            folder.put(part.file, parse(part.backward(folder.get(part.file).render())))
    for change in reversed(step.changes):
        if change.file not in whole:
            _reverse_entry(folder, change, by_hand=_hand_edits(change, step, steps))
    _untick(folder, {change.id for change in step.changes if change.file == PENDING})


def _untick(folder: Folder, ids: Collection[str]) -> None:
    """Let proposals that are back wait again: a tick would carry them out at once."""
    for placed in folder.get(PENDING).placed():
        if entry_id(placed) in ids and split_task(placed.block.text)[0] in ("x", "-"):
            at = placed.block.raw.index("[")
            raw = f"{placed.block.raw[:at]}[ ]{placed.block.raw[at + 3 :]}"
            folder.put(PENDING, folder.get(PENDING).swap(placed.block, raw))


def _is_as_left(folder: Folder, part: Part) -> bool:
    return digest(folder.get(part.file).render()) == part.target


def _hand_edits(change: Change, step: Step, steps: Sequence[Step]) -> bool:
    """Whether a person changed this memory after the step."""
    at = next((i for i, other in enumerate(steps) if other.id == step.id), len(steps))
    return any(
        other.by == "person" and any(item.id == change.id for item in other.changes)
        for other in steps[at + 1 :]
    )


def _reverse_entry(folder: Folder, change: Change, *, by_hand: bool) -> None:
    document = folder.get(change.file)
    same_id = [placed for placed in document.placed() if entry_id(placed) == change.id]
    now = same_id[0] if same_id else None
    if change.after is None:
        if now is None and change.before is not None:
            folder.put(change.file, _add_back(document, change))
        return
    left = entry_block(change.after)
    # A copied line has the same id: the one that reads as the step left it is meant.
    now = next((placed for placed in same_id if placed.block.text == left.text), now)
    touched = by_hand and now is not None and now.block.meta != left.meta
    if now is None or now.block.text != left.text or touched:
        who = "you changed it by hand" if by_hand else "it was changed"
        what = "is not there any more" if now is None else "reads otherwise now"
        raise UndoRefusedError(
            f"{change.file}: {change.id} {what}: {who} after this step, and undo never overwrites "
            f"that. Use `engramdown forget {change.id}` or edit the file."
        )
    if change.before is None:
        folder.put(change.file, document.remove(now.block))
    else:
        folder.put(change.file, document.swap(now.block, change.before))


def _add_back(document: Document, change: Change) -> Document:
    raw = change.before or ""
    ended = raw if raw.endswith("\n") else raw + document.eol
    return document.add_item(ended, _section(document, change), title_of(change.file))


def _section(document: Document, change: Change) -> str:
    """Return the section that a memory goes back to: a person's own, if it is still there."""
    section = change.section
    if section in RULE_KINDS or (section and document.has_section(section)):
        return section
    return "always" if change.file == RULES else ""
