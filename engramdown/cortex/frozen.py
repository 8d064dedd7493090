"""What is left of what a session was told of who is who, when memory has changed since.

Promises: pure; a session sees what there was when it began: nothing that is added or changed
later, and nothing that a person took out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from engramdown.engram import fact_key, fold
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.history import Change, Step
from engramdown.kinds import ARCHIVE, PROFILE
from engramdown.markdown.document import Placed, parse
from engramdown.markdown.metadata import Metadata
from engramdown.secrets.redaction import redact

__all__ = ["left", "taken_out"]

# What a person says no to; what gave way to something else was changed.
_TAKEN_OUT: Final = frozenset({"deleted", "forgotten"})
# To compare pages takes the square of their lines: of larger ones nothing is taken out.
_MOST_LINES: Final = 1_000
_MOST_PAIRS: Final = 10_000


def left(before: str, now: str) -> str:
    r"""Return what is left of a page: the lines that were not taken out of it since.

    A line that was changed is left as it was; one that was added is not among them.

    >>> left("Be kind.\n\nBe brief.\n", "Be very kind.\n\nSing.\n\n")
    'Be kind.\n\nBe brief.\n'
    >>> left("Be kind.\nBe brief.\nNever swear.\n", "Be kind.\nNever swear.\nSing.\n")
    'Be kind.\nNever swear.\n'
    """
    if before == now or not now.strip():
        return before if before == now else ""
    old, new = before.split("\n"), now.split("\n")
    if max(len(old), len(new)) > _MOST_LINES:
        return before
    gone: set[int] = set()
    for op, start, end, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # What was moved has not been taken out.
        gone |= {at for at in range(start, end) if op == "delete" and old[at] not in new}
    return "\n".join(line for at, line in enumerate(old) if at not in gone)


def taken_out(gone: Sequence[Entry], steps: Collection[Step]) -> set[str]:
    """Return the ids of the facts that a person took out of the profile.

    Others gave way to a newer one, or were put in other words.

    Args:
        gone: Facts that are not there any more.
        steps: What happened since they were; if nothing is known, all of them are taken out.
    """
    if not steps:
        return {entry.id for entry in gone}
    changes = [(step, change) for step in steps for change in step.changes]
    undone = {change.id for step, change in changes if _is_undone(step, change) or change.erased}
    is_erased = any(step.op == "erase" for step in steps)
    ids, words = _buried(change for _, change in changes if change.file == ARCHIVE)
    reworded = {name: heir for step in steps for name, heir in _reworded(step)}
    found: set[str] = set()
    for entry in gone:
        name, text = entry.id, entry.text
        while name in reworded:
            name, text = reworded.pop(name)
        # The archive holds no secrets.
        # A line without an id that was erased has no name in the journal.
        is_nameless = is_erased and name[:1] in "~_"
        if name in undone | ids or is_nameless or fold(redact(text)) in words:
            found.add(entry.id)
    return found


def _is_undone(step: Step, change: Change) -> bool:
    return step.op == "undo" and change.file == PROFILE and change.after is None


def _buried(changes: Iterable[Change]) -> tuple[set[str], set[str]]:
    """Return the ids and the texts of what a person said no to."""
    ids, words = set[str](), set[str]()
    for change in changes:
        for placed in _read(change.after):
            meta = placed.block.meta or Metadata()
            if meta.get("reason") in _TAKEN_OUT:
                ids.add(meta.get("id"))
                words.add(fold(placed.block.text))
    return ids, words


def _reworded(step: Step) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield lines without an id that a person changed: what each is called now, and says.

    Such a line is known by its words, so that for memory it went and another one came.
    """
    if step.by != "person":
        return
    mine = [change for change in step.changes if change.file == PROFILE]
    come = {_said(change.after): change.id for change in mine if change.before is None}
    gone = [change for change in mine if change.after is None]
    if len(gone) * len(come) > _MOST_PAIRS:
        return
    for change in gone:
        before = _said(change.before)
        key = fact_key(before)
        heirs = [text for text in come if key and fact_key(text) == key]
        for heir in (heirs or get_close_matches(before, come, n=1))[:1]:
            yield change.id, (come.pop(heir), heir)


def _said(raw: str | None) -> str:
    return "".join(placed.block.text for placed in _read(raw))


def _read(raw: str | None) -> list[Placed]:
    return parse(raw or "").placed()[:1]
