"""``engramdown diff``: what changed in memory since a commit, or between two, as sentences.

Promises: changes nothing; a memory is told by its id, not by its line; what a file says that is no
memory is told by its name alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

import click
from click.exceptions import Exit

from engramdown.cli import git_messages as said
from engramdown.cli import messages, output, process
from engramdown.cli.access import meant, settings_at
from engramdown.cli.commands import json_option, pass_place, scope_options
from engramdown.cli.layout import Line, Part, line
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.cli.views import beside, entry_data
from engramdown.git import diff as past
from engramdown.git.diff import VERBS, Change, State, compare, words
from engramdown.git.repository import Commit

_GOOD: Final = frozenset({"learned", "approved", "restored"})
_BAD: Final = frozenset({"forgot", "declined", "erased"})
_MARKS: Final = {"": ("", "", ""), "-": ("[-", "-]", "bad"), "+": ("{+", "+}", "good")}


class _Sides(NamedTuple):
    """The two states that are compared, with their commits; ``None`` is now."""

    before: State
    after: State
    old: Commit
    new: Commit | None


@click.command()
@click.argument("rev", metavar="[REV]", default="HEAD")
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def diff(place: Place, /, *, rev: str, scope: str | None, as_json: bool) -> None:
    """Show what changed in memory since the commit REV (default: HEAD), as sentences.

    REV1..REV2 compares two commits, REV1...REV2 what REV2 changed since the two parted. Code 1
    means that nothing changed.
    """
    there = place_in_git(place, scope)
    sides = _sides(there, rev)
    changes = compare(sides.before, sides.after)
    if as_json:
        output.print_json(_data(there, sides, changes))
    else:
        output.screen().show(_lines(there, sides, changes))
    if not changes:
        process.complain(said.nothing_between(sides.old, sides.new))
        raise Exit(REFUSED)


def place_in_git(place: Place, scope: str | None) -> past.Place:
    """Return where the memory that is meant stands in git.

    Raises:
        click.ClickException: There is no such scope.
        GitError: It is in no repository.
    """
    own, root = meant(place, scope)
    settings = settings_at(place, root if own == "project" else None)
    return past.Place.of(root, own, settings.max_file_bytes)


def commit_data(commit: Commit) -> dict[str, str]:
    """Return a commit as JSON shows it."""
    return commit._asdict()


def _sides(there: past.Place, rev: str) -> _Sides:
    """Return the states that ``rev`` names, as git reads it."""
    repository = there.repository
    for joint in ("...", ".."):
        first, mark, second = rev.partition(joint)
        if mark:
            start = first or "HEAD"
            new = repository.commit(second or "HEAD")
            start = repository.merge_base(start, new.id) if joint == "..." else start
            old = repository.commit(start)
            return _Sides(there.at(old), there.at(new), old, new)
    old = repository.commit(rev)
    return _Sides(there.at(old), there.now(), old, None)


# ---- telling ----


def _lines(there: past.Place, sides: _Sides, changes: list[Change]) -> Iterator[Line]:
    if not changes:
        return
    yield line((said.between(sides.old, sides.new), "dim"))
    for file, group in groupby(changes, key=lambda change: change.file):
        yield line()
        spelled = _spelled(sides, file)
        yield line((spelled, "strong"), (f"  {messages.SCOPE_NAMES[there.scope]}", "dim"))
        yield from (_sentence(change._replace(file=spelled)) for change in group)
    yield line()
    files = len({change.file for change in changes})
    yield line((said.summary(_counts(changes), files), "strong"))


def _spelled(sides: _Sides, file: str) -> str:
    """Return how a file is spelled now, or was before it went."""
    return sides.after.spelled.get(file) or sides.before.spelled.get(file, file)


def _sentence(change: Change) -> Line:
    if change.entry is None:
        return line((said.prose(change), "warn"), indent=2, hang=4)
    style = "good" if change.verb in _GOOD else "bad" if change.verb in _BAD else "warn"
    notes = said.about(change)
    return line(
        (said.VERBS[change.verb], style),
        " ",
        (change.entry.id, "id"),
        ": ",
        *_text(change),
        *beside(change.entry.comments),
        (f"  ({', '.join(notes)})" if notes else "", "dim"),
        indent=2,
        hang=4,
    )


def _text(change: Change) -> Iterator[Part]:
    """Yield what a memory says, with the words marked that changed."""
    before, after = change.before, change.after
    if before is None or after is None or before.text == after.text:
        yield Part(change.entry.text if change.entry else "")
        return
    for word in words(before.text, after.text):
        begin, end, style = _MARKS[word.mark]
        yield Part(f"{begin}{word.text}{end}", style)


def _counts(changes: Iterable[Change]) -> dict[str, int]:
    found = Counter(change.verb for change in changes)
    return {verb: found[verb] for verb in VERBS if found[verb]}


def _data(there: past.Place, sides: _Sides, changes: list[Change]) -> dict[str, Any]:
    return {
        "scope": there.scope,
        "from": commit_data(sides.old),
        "to": commit_data(sides.new) if sides.new else None,
        "counts": _counts(changes),
        "changes": [
            _change_data(change, there, _spelled(sides, change.file)) for change in changes
        ],
    }


def _change_data(change: Change, there: past.Place, file: str) -> dict[str, Any]:
    folders: Mapping[str, Any] = {}
    record = change.record
    return {
        "verb": change.verb,
        "id": change.id,
        "file": file,
        "path": str(there.root / "memory" / file),
        "before": entry_data(change.before, folders) if change.before else None,
        "after": entry_data(change.after, folders) if change.after else None,
        "notes": [{"name": name, "before": old, "after": new} for name, old, new in change.notes],
        "reason": record.reason if record else "",
        "by": record.by if record else "",
        "replaced": record.replaced if record else "",
    }
