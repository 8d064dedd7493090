"""Reversing a step of the journal.

Pure over a draft; if nothing happened since, the bytes are those of before the step;
if something did, each memory of the step is reversed by itself, and nothing that a person
changed since is overwritten: then the undo is refused with the reason. A step of which nothing is
left, because somebody took out what it wrote, does not stand in the way of the one before; of one
that added several memories, those that are there still are taken out. What a person deleted since,
and a fact whose key another one has by now, stay in the archive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.engram import RULE_KINDS
from engramdown.errors import EntryNotFoundError, UndoRefusedError
from engramdown.hippocampus.changeset import Draft, older_fact, twin
from engramdown.hippocampus.entry import by_prefix, entry_id, split_task, tombstones_of
from engramdown.hippocampus.history import Change, Step, digest
from engramdown.kinds import ARCHIVE, ASIDE, PENDING, PROFILE, RULES, kind_in, title_of
from engramdown.markdown.blocks import entry_block
from engramdown.markdown.document import Document, parse

# The name of a step that erased memories for good.
ERASED: Final = "erase"
# Steps that belong together, in both scopes, if they give the same reason.
ERRANDS: Final = frozenset({"migrate", "sleep"})

# A hand edit is the person's own; what follows from one is undone with it, by hand.
_NOT_OURS = frozenset({"person", "engramdown"})
# Setting up is not taken back in passing, and an undo only when it is named.
_NOT_LAST = frozenset({"init", "undo"})


class Candidate(NamedTuple):
    """A step that an undo without a name comes to.

    Attributes:
        step: The step.
        gone: Whether nothing is left of it that could be reversed.
    """

    step: Step
    gone: bool


def candidates(steps: Sequence[Step], documents: Mapping[str, Document]) -> list[Candidate]:
    """Return what an undo without a name comes to, the newest step first.

    Args:
        steps: The journal.
        documents: All memory files by name.
    """
    undone = _undone(steps)
    digests = {name: digest(document.render()) for name, document in documents.items()}
    standing = {
        name: {entry_id(placed) for placed in document.placed()}
        for name, document in documents.items()
    }
    memory = {each for name in standing if name not in ASIDE for each in standing[name]}

    def is_left(change: Change) -> bool:
        there = change.id in standing.get(change.file, ())
        if change.after is None:
            return not there
        # A person may have moved the line to another file.
        return there or (change.file not in ASIDE and change.id in memory)

    def is_gone(step: Step) -> bool:
        if step.changes and all(change.erased for change in step.changes):
            return step.op != ERASED
        whole = any(part.target == digests.get(part.file, "") for part in step.parts)
        return not whole and bool(step.changes) and not any(map(is_left, step.changes))

    return [
        Candidate(step, is_gone(step))
        for step in reversed(steps)
        if step.by not in _NOT_OURS and step.op not in _NOT_LAST and step.id not in undone
    ]


def last(items: Sequence[Candidate]) -> Step:
    """Return the step that an undo without a name reverses.

    Raises:
        EntryNotFoundError: If there is none.
    """
    for at, candidate in enumerate(items):
        if candidate.gone:
            continue
        if candidate.step.op == ERASED:
            before = (each.step for each in items[at + 1 :] if not each.gone)
            raise UndoRefusedError(_never(candidate.step, next(before, None)))
        return candidate.step
    raise EntryNotFoundError("", "the journal: nothing is left to undo")


def pick(steps: Sequence[Step], step_id: str) -> Step:
    """Return the step to undo whose id begins with ``step_id``.

    Raises:
        EntryNotFoundError: If there is none.
        AmbiguousIdError: If there are several.
        UndoRefusedError: If it is a hand edit, or was undone already.
    """
    where = "the journal (`engramdown history` shows the steps)"
    step = by_prefix(step_id, steps, lambda step: step.id, where)
    if step.op == ERASED or (step.changes and all(change.erased for change in step.changes)):
        raise UndoRefusedError(_never(step))
    if step.by in _NOT_OURS:
        raise UndoRefusedError(
            f"step {step.id} is a hand edit; change the file back in your editor, or with git"
        )
    if step.id in _undone(steps):
        raise UndoRefusedError(f"step {step.id} was undone already")
    return step


def reverse(draft: Draft, step: Step, steps: Sequence[Step]) -> None:
    """Reverse ``step`` in the files of ``draft``.

    Args:
        draft: The memory files.
        step: What to reverse.
        steps: The journal, which says who changed what since.

    Raises:
        UndoRefusedError: If a memory of the step was changed since, or if all that would come
            back was deleted by a person, or gave way to other facts.
    """
    at = next((i for i, other in enumerate(steps) if other.id == step.id), len(steps))
    since = steps[at + 1 :]
    # A file that is as the step left it is brought back byte for byte.
    heads = {part.file: digest(draft.get(part.file).render()) for part in step.parts}
    whole = {part.file for part in step.parts if heads[part.file] == part.target}
    aside = ASIDE | whole
    out = [each for each in step.changes if each.after is None and each.file not in aside]
    deleted = _done_to([each for each in out if _is_deleted(draft, each, step)], step)
    away = deleted | _done_to(
        [each for each in out if _is_superseded(draft, each, step, since)], step
    )
    # What stays away stays in the archive, though nobody changed that since.
    whole -= {change.file for change in away}
    if away and away.issuperset(step.changes):
        why = "you deleted what it took out" if deleted else "another fact has its place now"
        raise UndoRefusedError(
            f"step {step.id} cannot be undone: {why}, and undo never brings that back; "
            "`engramdown restore` does, for one memory of archive.md"
        )
    gone = away | _taken_out_since(draft, step)
    for part in reversed(step.parts):
        if part.file in whole:
            draft.put(part.file, parse(part.backward(draft.get(part.file).render())))
    removals = [change for change in step.changes if change.after is None]
    others = [change for change in reversed(step.changes) if change.after is not None]
    # What was taken out comes back in the order in which it was.
    for change in (*others, *removals):
        if change.file not in whole and change not in gone and not change.erased:
            _reverse_entry(draft, change, step, since=since)
    # Proposals that are back wait again: a tick would carry them out at once.
    back = {change.id for change in step.changes if change.file == PENDING}
    for placed in draft.get(PENDING).placed() if back else ():
        if entry_id(placed) in back and split_task(placed.text)[0] in ("x", "-"):
            box = placed.block.raw.index("[")
            raw = f"{placed.block.raw[:box]}[ ]{placed.block.raw[box + 3 :]}"
            draft.put(PENDING, draft.get(PENDING).swap(placed.block, raw))


def _never(step: Step, before: Step | None = None) -> str:
    """Say why a step whose words were erased can never be undone, and which one can be."""
    what = "erased memories for good" if step.op == ERASED else "is about what you erased for good"
    sentence = f"step {step.id} {what}: nothing of the words is left, so nothing brings them back."
    if before is not None:
        sentence += f" `engramdown undo {before.id}` undoes the step before it."
    return sentence


def _taken_out_since(draft: Draft, step: Step) -> set[Change]:
    """Return what a step that only added did, and what somebody undid for some of it since."""
    if any(change.before is not None for change in step.changes):
        return set()
    files = {change.file for change in step.changes}
    ids = {file: set(map(entry_id, draft.get(file).placed())) for file in files}
    gone = {change for change in step.changes if change.id not in ids[change.file]}
    return gone if len(gone) < len(step.changes) else set()


def _text_before(change: Change) -> str:
    """Return what a memory said before a step."""
    return entry_block(change.before or "").text


def _done_to(removed: Sequence[Change], step: Step) -> set[Change]:
    """Return what a step did to memories that it took out: here, and in the archive."""
    ids = {change.id for change in removed}
    texts = set(map(_text_before, removed))
    return {
        change
        for change in step.changes
        # There a line that had no id has got one.
        if change.id in ids
        or (change.file == ARCHIVE and entry_block(change.after or "").text in texts)
    }


def _is_superseded(draft: Draft, change: Change, step: Step, since: Sequence[Step]) -> bool:
    """Whether another fact has got the key since of one that a step took out."""
    fact = older_fact(draft, _text_before(change)) if change.file == PROFILE else None
    own = {each.id for each in step.changes}
    return fact is not None and any(
        item.id == entry_id(fact) and item.file == PROFILE and item.id not in own
        for other in since
        for item in other.changes
    )


def _is_deleted(draft: Draft, change: Change, step: Step) -> bool:
    """Whether another line with these words was deleted by hand, and not written again."""
    # A restore that was undone put back what was noted of the deletion before it.
    own = {change.id} | {each.id for each in step.changes if each.file == ARCHIVE}
    graves = tombstones_of(draft.get(ARCHIVE), _text_before(change))
    return any(it.value("reason") == "deleted" and it.value("id") not in own for it in graves)


def _undone(steps: Sequence[Step]) -> set[str]:
    """Return the ids of the steps that were undone."""
    undone: set[str] = set()
    for step in reversed(steps):
        # An undo that was undone itself does not count any more.
        if step.op == "undo" and step.id not in undone:
            undone.add(step.of)
    return undone


def _reverse_entry(draft: Draft, change: Change, step: Step, since: Sequence[Step]) -> None:
    document = draft.get(change.file)
    same_id = [placed for placed in document.placed() if entry_id(placed) == change.id]
    now = same_id[0] if same_id else None
    if change.after is None:
        if now is None and change.before is not None and not _is_known_again(draft, change, since):
            # It goes back to its section: a person's own, if that is still there.
            section = change.section
            is_there = section in RULE_KINDS or (section and document.has_section(section))
            section = section if is_there else "always" if change.file == RULES else ""
            raw = change.before
            ended = raw if raw.endswith("\n") else raw + document.eol
            draft.put(change.file, document.add_item(ended, section, title_of(change.file)))
        return
    left = entry_block(change.after)
    # A copied line has the same id: the one that reads as the step left it is meant.
    now = next((placed for placed in same_id if placed.text == left.text), now)
    edits = (other.changes for other in since if other.by == "person")
    by_hand = any(item.id == change.id for changes in edits for item in changes)
    if now is None or now.text != left.text or (by_hand and now.block.meta != left.meta):
        how = f"{'removed' if now is None else 'changed'}{' by hand' if by_hand else ''}"
        also = "" if now is None else f", or use `engramdown forget {change.id}`"
        raise UndoRefusedError(
            f"step {step.id} cannot be undone: {change.file}: {change.id} was {how} after it, and "
            f"undo never overwrites that; edit the file{also}"
        )
    if change.before is None:
        draft.remove(change.file, now.block)
    else:
        draft.put(change.file, document.swap(now.block, change.before))


def _is_known_again(draft: Draft, change: Change, since: Sequence[Step]) -> bool:
    """Whether what was taken out has been learned anew since, as another line."""
    again = twin(draft, change.file, _text_before(change), kind_in(RULES, change.section))
    return again is not None and any(
        (item.id, item.file, item.before) == (entry_id(again), change.file, None)
        for other in since
        for item in other.changes
        if other.by not in _NOT_OURS
    )
