"""What the program says of memory under git: commits, changes since one, what is staged.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engramdown.cli import messages

if TYPE_CHECKING:
    from engramdown.git.diff import Change
    from engramdown.git.repository import Commit
    from engramdown.hippocampus.entry import Archived


VERBS: Final[Mapping[str, str]] = {
    "learned": "Learned",
    "approved": "Approved",
    "restored": "Restored",
    "changed": "Changed",
    "noted": "Marked",
    "moved": "Moved",
    "forgot": "Forgot",
    "proposed": "Proposed",
    "declined": "Declined",
    "withdrawn": "No longer proposed",
    "erased": "Erased",
    "prose": "Prose changed",
    "layout": "Layout changed",
}
"""Each verb of a change as it begins a sentence."""
_NOTES: Final = {"origin": "learned in", "ts": "dated", "comments": "private comments"}
_TICKS: Final = {"": "waits", "x": "accepted", "-": "declined"}


def commit(item: Commit) -> str:
    """Name a commit by its id, its day and who wrote it."""
    return f"{item.short} of {item.date[:10]} by {item.author}"


def in_commit(item: Commit) -> str:
    """Say that what is shown stood in a commit."""
    return f"As it was in {commit(item)}: {item.subject}"


def between(before: Commit, after: Commit | None) -> str:
    """Say between which states changes are shown."""
    return f"From {commit(before)} to {commit(after) if after else 'now'}"


def nothing_between(before: Commit, after: Commit | None) -> str:
    """Say that memory is the same in both."""
    if after is None:
        return f"nothing changed in memory since {commit(before)}"
    return f"nothing changed in memory between {commit(before)} and {commit(after)}"


def prose(change: Change) -> str:
    """Say that what is no memory changed in a file."""
    if change.verb == "prose":
        return f"Prose changed in {change.file}"
    return f"Only the layout of {change.file} changed"


def about(change: Change) -> list[str]:
    """Return what else there is to say of a change, in few words."""
    before, after = change.before, change.after
    found = []
    if change.verb == "approved" and before is not None:
        found.append(f"was proposed as {before.id}")
    elif before is not None and after is not None and before.file != after.file:
        found.append(f"from {before.file}")
    elif before is not None and after is not None and before.heading != after.heading:
        found.append(f"from {before.heading or 'the top'} to {after.heading or 'the top'}")
    found += [_note(*note) for note in change.notes if change.verb != "approved"]
    if change.verb in ("forgot", "erased") and change.record is not None:
        found += _retired(change.record)
    return found


def summary(counts: Mapping[str, int], files: int) -> str:
    """Say how much changed.

    >>> summary({"learned": 2, "prose": 1}, 2)
    '2 files changed: 2 learned, prose'
    """
    said = [_counted(verb, number) for verb, number in counts.items()]
    return f"{files} {'file' if files == 1 else 'files'} changed: {', '.join(said)}"


def _counted(verb: str, number: int) -> str:
    if verb in ("prose", "layout"):
        return verb
    return f"{number} {VERBS[verb][:1].lower()}{VERBS[verb][1:]}"


def _note(name: str, before: str, after: str) -> str:
    if name == "tick":
        return _TICKS.get(after, after)
    before, after = (" ".join(text.split("\n")) or "none" for text in (before, after))
    return f"{_NOTES.get(name, name)} {before} → {after}"


def _retired(record: Archived) -> Sequence[str]:
    by = messages.BY_NAMES.get(record.by, record.by)
    who = f"by {by}" if by else ""
    now = f"{record.replaced} stands for it" if record.replaced else ""
    return [each for each in (record.reason, who, record.date, now) if each]
