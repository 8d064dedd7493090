"""What a hand edit says: changed is verified, removed is not to be learned again.

Promises: pure over a :class:`engramdown.hippocampus.placement.Folder`; the person's words are never
changed; an edit from an editor that did not know our latest lines takes none of them away, and
what cannot be told from a deletion waits in ``pending.md`` as a question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engramdown.engram import fold
from engramdown.hippocampus.changeset import verify
from engramdown.hippocampus.placement import (
    ARCHIVE,
    LESSONS,
    PENDING,
    PROFILE,
    RULES,
    Folder,
    address,
    copies_of,
    entry_id,
    lift_tombstones,
    raw_entries,
    retire,
    split_task,
    title_of,
    tombstones_of,
)
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import Changes, compare, merge
from engramdown.markdown.metadata import KEPT, OPERATIONS, Metadata

__all__ = ["HandEdit", "Response", "carry_over", "respond"]


_MARKS: Final = 256
"""How many changes of a person may be yet to be marked in a file; of more the oldest are not."""


@dataclass(frozen=True, slots=True)
class HandEdit:
    """A save of a person that we did not make.

    Attributes:
        file: The file, relative to the memory folder.
        base: What their editor held when they opened it, or saved last.
        seen: The newest text that they can have seen.
        head: What the journal says the file holds.
    """

    file: str
    base: str
    seen: str
    head: str


@dataclass(frozen=True, slots=True)
class Response:
    """What follows from a hand edit, apart from what it says itself.

    Attributes:
        stale: Whether the editor did not know our latest lines.
        verified: Ids of the entries that the person changed.
        removed: Texts of the entries that the person took out.
        marks: What is yet to be marked as verified in the file: an editor may hold it open, so it
            is not written for that alone.
    """

    stale: bool
    verified: tuple[str, ...]
    removed: tuple[str, ...]
    marks: tuple[str, ...] = ()


def respond(
    folder: Folder,
    edit: HandEdit,
    stands_elsewhere: Callable[[Placed], bool],
    new_id: Callable[[], str],
    today: str,
    *,
    marks: tuple[str, ...] = (),
) -> Response:
    """Carry out what follows from a hand edit.

    Args:
        folder: The memory files; ``edit.file`` reads as the person saved it.
        edit: The save.
        stands_elsewhere: Whether an entry that is gone from this file now stands in another one
            where it did not stand before: then it was moved, not deleted.
        new_id: Gives the id of a new line.
        today: ``YYYY-MM-DD``.
        marks: What was yet to be marked as verified in the file before.
    """
    saved, stale = folder.get(edit.file), edit.base != edit.seen
    head = parse(edit.head)
    base = head if edit.base == edit.head else parse(edit.base)
    merged = merge(base, head, saved)
    changes = compare(base, saved)
    folder.put(edit.file, merged.document)
    # What stood there last: copies are as we left them, whatever the editor knew.
    now = {_id(placed): placed for placed in reversed(head.placed()) if _has_id(placed)}
    verified = _follow(folder, edit.file, changes, now)
    removed = []
    if edit.file != ARCHIVE:
        kinds = {id(placed) for placed in raw_entries(edit.file, base)}
        for placed in changes.removed:
            counts = id(placed) in kinds or edit.file == PENDING
            last = now.get(_id(placed), placed)
            known = last if last.block.text == placed.block.text else placed
            if counts and not stands_elsewhere(known):
                removed += _retire_removed(folder, edit.file, known, new_id(), today)
                _remove_copies(folder, edit.file, last)
        for lost in merged.lost:
            record = _record(edit.file, lost, "conflict", "engramdown")
            retire(folder, lost, record, new_id(), today)
    if edit.file not in (ARCHIVE, PENDING):
        for placed in changes.added:
            _let_back(folder, edit, placed)
        if stale:
            said = {placed.block.text for placed in saved.placed()}
            unknown = compare(base, parse(edit.seen)).added
            left = [placed for placed in unknown if placed.block.text not in said]
            _ask_about(folder, edit.file, left, new_id, today)
    ids = tuple(_id(placed) for placed in verified)
    if edit.file not in (PENDING, ARCHIVE):
        new = (_id(placed) + address(placed.block.text) for placed in verified)
        marks = (*(mark for mark in marks if not mark.startswith(ids)), *new)[-_MARKS:]
        if folder.get(edit.file).render() != saved.render():
            document, marks = verify(folder.get(edit.file), marks)
            folder.put(edit.file, document)
    return Response(stale, ids, tuple(removed), marks)


def carry_over(folder: Folder, edit: HandEdit, new_id: Callable[[], str], today: str) -> None:
    """Carry what came after ``edit.base`` over to a file that reads as git brought it.

    Nobody deleted anything, and nobody verified it.
    """
    merged = merge(parse(edit.base), parse(edit.head), folder.get(edit.file))
    folder.put(edit.file, merged.document)
    for lost in merged.lost:
        retire(folder, lost, _record(edit.file, lost, "conflict", "engramdown"), new_id(), today)


def _follow(folder: Folder, file: str, changes: Changes, now: Mapping[str, Placed]) -> list[Placed]:
    """Let copies follow what was changed; return what was reworded."""
    for old, new in changes.kept:
        _refile(folder, file, old, new)
    reworded = [(old, new) for old, new in changes.reworded if _has_id(new)]
    for old, new in reworded:
        _reword_copies(folder, file, now.get(_id(new), old), new)
    return [new for _, new in reworded]


def _reword_copies(folder: Folder, file: str, old: Placed, new: Placed) -> None:
    """Let the copies of a changed entry under a topic follow, marked as verified."""
    if file in (PENDING, ARCHIVE):
        return
    meta = new.block.meta or Metadata()
    block = _find(folder.get(file), meta.get("id"), new.block.text)
    # What an assistant noted of it meanwhile is in the merged line alone.
    meta = (block.block.meta if block else None) or meta
    verified = meta.update({"basis": "verified"})
    names = [*copies_of(file, old.block.meta or Metadata()), *copies_of(file, meta)]
    for name in dict.fromkeys(names):
        copies = folder.get(name)
        copy = _find(copies, meta.get("id"), old.block.text)
        if copy is not None:
            folder.put(name, copies.replace(copy.block, new.block.text, verified))


def _remove_copies(folder: Folder, file: str, placed: Placed) -> list[tuple[str, Placed]]:
    """Take out the copies of an entry that a person took out; return them, with their files."""
    if folder.get(file).same(placed.block.text):
        return []
    names = copies_of(file, placed.block.meta or Metadata())
    found = [(name, _find(folder.get(name), _id(placed), placed.block.text)) for name in names]
    copies = [(name, copy) for name, copy in found if copy is not None]
    for name, copy in copies:
        folder.put(name, folder.get(name).remove(copy.block))
    return copies


def _refile(folder: Folder, file: str, old: Placed, new: Placed) -> None:
    """Let the copy under a topic follow a lesson that got another one."""
    meta = new.block.meta or Metadata()
    was, now = copies_of(file, old.block.meta or Metadata()), copies_of(file, meta)
    if file != LESSONS or was == now:
        return
    for name in was:
        copy = _find(folder.get(name), _id(old), old.block.text)
        if copy is not None:
            folder.put(name, folder.get(name).remove(copy.block))
    for name in now:
        if not folder.get(name).same(new.block.text):
            # In the old words: a change of the words follows, as in every copy.
            added = folder.get(name).add(old.block.text, meta, "", title_of(name))
            folder.put(name, added)


def _retire_removed(
    folder: Folder, file: str, placed: Placed, entry_id: str, today: str
) -> list[str]:
    """Leave a tombstone for an entry that a person took out, and take out its copies."""
    text = placed.block.text
    if folder.get(file).same(text) or not _is_proposed(file, placed):
        return []
    plain = split_task(text)[1] if file == PENDING else text
    meta = placed.block.meta or Metadata()
    # A question about memories that stand was answered; its words are nothing to be kept out.
    asked = KEPT if meta.get("op") in OPERATIONS else "declined"
    reason = asked if file == PENDING else "deleted"
    for name, copy in _remove_copies(folder, file, placed):
        # From there it comes back to both places.
        placed, file = (copy, name) if name == LESSONS else (placed, file)
    if not tombstones_of(folder.get(ARCHIVE), plain):
        retire(folder, placed, _record(file, placed, reason, "person"), entry_id, today)
    return [plain]


def _let_back(folder: Folder, edit: HandEdit, placed: Placed) -> None:
    """What a person writes again is not kept out; with its topic's file a lesson is back whole."""
    meta, text = placed.block.meta or Metadata(), placed.block.text
    graves = [block.meta or Metadata() for block in tombstones_of(folder.get(ARCHIVE), text)]
    went = {grave.get("was") for grave in graves if grave.get("id") == meta.get("id")}
    lift_tombstones(folder, text, _kind(edit.file, placed))
    is_copy = not edit.head and edit.file in copies_of(LESSONS, meta)
    if is_copy and LESSONS in went and not folder.get(LESSONS).same(text):
        lessons = folder.get(LESSONS).add(text, meta, "", title_of(LESSONS))
        folder.put(LESSONS, lessons)


def _is_proposed(file: str, placed: Placed) -> bool:
    """Whether taking the line out says no to its words: not for a note, nor for our question."""
    if file != PENDING:
        return True
    meta = placed.block.meta or Metadata()
    return bool(split_task(placed.block.text)[0]) and meta.get("op") != "forget"


def _ask_about(
    folder: Folder, file: str, left: Iterable[Placed], new_id: Callable[[], str], today: str
) -> None:
    """Ask, once about each, whether lines that a stale editor did not know were to be deleted."""
    stands, asked = folder.get(file), _asked(folder)
    for placed in left:
        if stands.same(placed.block.text) and entry_id(placed) not in asked:
            asked.add(entry_id(placed))
            _ask(folder, file, placed, new_id(), today)


def _ask(folder: Folder, file: str, placed: Placed, question_id: str, today: str) -> None:
    """Ask whether a line was meant to be deleted."""
    question = Metadata().update(
        {
            "id": question_id,
            "kind": _kind(file, placed),
            "source": "consolidation",
            "op": "forget",
            "of": entry_id(placed),
            "reason": "saved from an editor that was opened before this line was written",
            "ts": today,
        }
    )
    pending = folder.get(PENDING)
    text = f"[ ] Delete: {placed.block.text}"
    folder.put(PENDING, pending.add(text, question, "", title_of(PENDING)))


def _asked(folder: Folder) -> set[str]:
    """Return the ids of the lines that a question of :func:`_ask` waits about."""
    metas = [placed.block.meta or Metadata() for placed in folder.get(PENDING).placed()]
    return {meta.get("of") for meta in metas if meta.get("op") == "forget"}


def _record(file: str, placed: Placed, reason: str, by: str) -> dict[str, str]:
    return {"kind": _kind(file, placed), "was": file, "reason": reason, "by": by}


def _kind(file: str, placed: Placed) -> str:
    if file == RULES:
        return placed.kind or "always"
    if file == PENDING:
        return (placed.block.meta or Metadata()).get("kind") or "lesson"
    return "profile" if file == PROFILE else "lesson"


def _find(document: Document, entry_id: str, text: str) -> Placed | None:
    same = [placed for placed in document.placed() if _id(placed) == entry_id]
    exact = (placed for placed in same if fold(placed.block.text) == fold(text))
    return next(exact, None)


def _id(placed: Placed) -> str:
    return placed.block.meta.get("id") if placed.block.meta else ""


def _has_id(placed: Placed) -> bool:
    return bool(_id(placed))
