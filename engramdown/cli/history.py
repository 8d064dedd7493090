"""``engramdown history``, ``undo`` and ``diff``: show the changes of memory, and reverse them.

``history`` and ``diff`` change nothing. Later lines of a person are never undone, and a refused
undo says how to go on.
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click
from click.exceptions import Exit

from engramdown import Hippocampus, serializers
from engramdown.cli import commands, process, views
from engramdown.cli.access import meant, open_cortex, settings_at
from engramdown.cli.layout import Line, clock, line
from engramdown.cli.output import REFUSED, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.views import beside
from engramdown.errors import EntryNotFoundError, UndoRefusedError
from engramdown.git import VERBS, Commit, Sides, compare, words
from engramdown.git import Change as GitChange
from engramdown.git import Place as GitPlace
from engramdown.hippocampus import ERRANDS, Change, Step, by_prefix
from engramdown.lazy import texts

if TYPE_CHECKING:
    from engramdown import Proposal
    from engramdown.hippocampus import Archived
    from engramdown.storage import Used

_MOST_CHANGES: Final = 12
# The words of this module, by what they are about and a code.
_WORDS: Final = texts(__file__)
_CLONED: Final = ("found", "git had it already")
# The verbs of changes that are shown in other words.
_VERB_NAMES: Final = {"noted": "marked", "withdrawn": "no longer proposed"}
_NOTES: Final = {"origin": "learned in", "ts": "dated", "comments": "private comments"}
_TICKS: Final = {"": "waits", "x": "accepted", "-": "declined"}
# What begins and ends a word that went or came, and its style.
_MARKS: Final = {"": ("", "", ""), "-": ("[-", "-]", "bad"), "+": ("{+", "+}", "good")}
_STYLES: Final = {
    **dict.fromkeys(("learned", "approved", "restored"), "good"),
    **dict.fromkeys(("forgot", "declined", "erased"), "bad"),
}


class _Kept(NamedTuple):
    """A step and the store whose journal holds it."""

    step: Step
    store: Hippocampus


class _Choice(NamedTuple):
    """The steps to undo, the newer ones that are passed over, and the one before them."""

    kept: Sequence[_Kept]
    passed: Sequence[_Kept] = ()
    before: _Kept | None = None


# ---- the journal ----


@click.command()
@commands.number_option("At most so many steps.", 20)
@click.option("--file", metavar="FILE", help="Only steps that changed this file: rules.md.")
@commands.scoped("Only the global scope.", "Only this project.")
def history(
    place: Place, /, *, number: int, file: str | None, scope: str | None, **_: object
) -> None:
    """Show the changes of memory, the newest step first."""
    cortex = open_cortex(place)
    # Only the part of a path below memory/ counts.
    wanted = (file or "").replace("\\", "/").rpartition("memory/")[2]
    items = [
        _Kept(step, store)
        for store in cortex.scopes.stores
        if scope in (None, store.scope)
        for step in cortex.scopes.if_readable(store.history)
        if not file or any(name.removeprefix("memory/") == wanted for name in step.files)
    ]
    items.sort(key=lambda item: item.step.at)
    shown = items[: -number - 1 : -1]
    data = [serializers.step_data(item.step, item.store.scope) for item in shown]
    commands.show(_history_lines(shown), data)
    if not shown and not cortex.scopes.unread():
        process.complain(f"no step changed {file}" if file else "nothing was changed so far")
        raise Exit(REFUSED)


def _history_lines(items: Sequence[_Kept]) -> Iterator[Line]:
    patches = {} if process.is_terminal(sys.stdout) else _patches(items)
    for number, item in enumerate(items):
        if number:
            yield line()
        yield from step_lines(item.step, item.store.scope, patches.get(item.step.id))


def _patches(items: Sequence[_Kept]) -> dict[str, list[Line]]:
    """Return what each step did to its files as patches, by its id.

    A step that the journal cannot show, or that changed nothing, has no patch. ``patch -R`` takes
    the steps back in the order in which they are shown.
    """
    patches: dict[str, dict[str, list[Line]]] = {}
    for store in {item.store.root: item.store for item in items}.values():
        steps = {item.step.id for item in items if item.store.root == store.root}
        files = {name for item in items if item.step.id in steps for name in item.step.files}
        for name in files:
            path, left = store.files.place(name), {*steps}
            for step, before, after in store.versions(name):
                if step.id in left:
                    patches.setdefault(step.id, {})[name] = file_diff(path, before, after)
                left.discard(step.id)
                if not left:
                    break
    whole = {
        item.step.id: [row for name in item.step.files for row in patches[item.step.id][name]]
        for item in items
        if patches.get(item.step.id, {}).keys() == {*item.step.files}
    }
    return {step: rows for step, rows in whole.items() if rows}


def step_lines(step: Step, scope: str, patch: Iterable[Line] | None = None) -> Iterator[Line]:
    """Return a step: when, who, what and why, and below it the lines that it changed.

    Args:
        step: The step.
        scope: Whose step it is.
        patch: What it did to its files, shown instead of those lines.
    """
    at, title, aside = (clock(step.at), "dim"), (_title(step), "strong"), (f"  ({scope})", "dim")
    yield line((step.id, "id"), "  ", at, "  ", title, aside, hang=4)
    # Some titles say already why it was done.
    by_hand = step.by == "person" and step.why.startswith("by hand")
    if step.why and not step.of and not by_hand and (step.op, step.why) != _CLONED:
        yield line(step.why, indent=4)
    if patch is not None:
        yield from patch
        return
    yield from _change_lines(step.changes[:_MOST_CHANGES])
    if len(step.changes) > _MOST_CHANGES:
        more = len(step.changes) - _MOST_CHANGES
        yield line((f"... and {more} more; --json shows all", "dim"), indent=4)


def _change_lines(changes: Iterable[Change]) -> Iterator[Line]:
    """Return the lines that went (``-``) and came (``+``), under the name of their file."""
    file = ""
    for change in changes:
        if change.erased:
            what = change.id or "a line without an id"
            yield line((f"{what}: erased for good", "dim"), indent=4)
            continue
        if change.file != file:
            file = change.file
            yield line((file, "where"), indent=4)
        for mark, style, text in (("-", "bad", change.before), ("+", "good", change.after)):
            if text is not None and change.before != change.after:
                yield line((f"{mark} {text.rstrip()}", style), indent=4, hang=6)


def uses(how: str, used: Used) -> str:
    """Say how often a memory was shown, or recalled, and when last."""
    if not used.times:
        return f"never {how}"
    return f"{how} {views.counted(used.times, 'time')} (last on {clock(used.last)})"


def _title(step: Step) -> str:
    """Say who did what."""
    if (step.op, step.why) == _CLONED:
        return "The file came with git"
    if step.op == "checkout":
        # Nobody here wrote it, whoever was first to see it.
        return "Another version of the file came with git"
    what = f" step {step.of}" if step.of else ""
    who = serializers.BY_NAMES.get(step.by, step.by)
    # An apposition ends with a comma, too.
    who = f"{who[:1].upper()}{who[1:]}{',' if ',' in who else ''}"
    return f"{who} {_WORDS.get(f'step {step.op}', step.op)}{what}"


def _deed(step: Step) -> str:
    title = _title(step)
    return f"{title[:1].lower()}{title[1:]}"


# ---- undoing ----


@click.command()
@click.argument("step_id", metavar="[STEP]", default="")
@commands.scoped("In the global scope.", "In this project.", dry_run=True)
def undo(place: Place, /, *, step_id: str, scope: str | None, dry_run: bool, **_: object) -> None:
    """Reverse a step: the last one that can be undone, or STEP of `engramdown history`.

    A hand edit is never undone, and never overwritten. The memories of one `migrate` go
    together, and so do those of one step of `sleep`.
    """
    cortex = open_cortex(place)
    stores = [store for store in cortex.scopes.stores if scope in (None, store.scope)]
    choice = _named(stores, step_id) if step_id else _last(stores)
    commands.dry_run_if_asked(cortex)
    try:
        if len(choice.kept) > 1:
            # All of them, or none: tried first.
            trial = open_cortex(place)
            trial.scopes.dry_run()
            trials = {store.root: store for store in trial.scopes.stores}
            for step, store in choice.kept:
                trials[store.root].undo(step.id)
        for step, store in choice.kept:
            store.undo(step.id)
    except UndoRefusedError as error:
        more = []
        if choice.before is not None:
            step, store = choice.before
            deed = f"({_deed(step)}, {store.scope})"
            more = [f"`engramdown undo {step.id}` undoes the one before {deed}"]
        raise RefusalError(str(error), more) from error
    lines = []
    for step, _store in choice.passed:
        gone = "nothing that it wrote is left"
        lines.append(line(f"Passed over: step {step.id} ({_deed(step)}); {gone}", hang=2))
    for step, _store in choice.kept:
        lines.append(line((f"Undone: step {step.id} ({_deed(step)})", "good"), hang=2))
        if not dry_run:
            back = [Change(each.id, each.file, each.after, each.before) for each in step.changes]
            lines += _change_lines(back)
    undone, passed = (
        [(step, store.scope) for step, store in kept] for kept in (choice.kept, choice.passed)
    )
    commands.show_change(cortex, lines, serializers.undone_data(undone, passed))


def _named(stores: Iterable[Hippocampus], step_id: str) -> _Choice:
    """Return the step whose id begins with ``step_id``, in whichever store.

    Raises:
        AmbiguousIdError: There are several.
        ClickException: There is none.
    """
    items = [_Kept(step, store) for store in stores for step in store.history()]
    try:
        return _Choice([by_prefix(step_id, items, lambda item: item.step.id, "the journal")])
    except EntryNotFoundError as error:
        shows = "`engramdown history` shows the steps"
        raise click.ClickException(f"no step {step_id!r}; {shows}") from error


def _last(stores: Iterable[Hippocampus]) -> _Choice:
    """Return the newest step of which anything is left, and those of the same errand.

    Raises:
        ClickException: There is none.
    """
    each = ([(found, store) for found in store.undoable()] for store in stores)
    # Merged, not sorted: a clock that was set back must not change the order within a store.
    merged = heapq.merge(*each, key=lambda item: item[0].step.at, reverse=True)
    passed: list[_Kept] = []
    left: list[_Kept] = []
    for found, store in merged:
        if not found.gone:
            left.append(_Kept(found.step, store))
        elif not left:
            passed.append(_Kept(found.step, store))
    if not left:
        raise click.ClickException(
            "nothing is left to undo; `engramdown history` shows what was done"
        )
    together: list[_Kept] = left[:1]
    others: list[_Kept] = []
    first = left[0].step
    for item in left[1:]:
        same = first.op in ERRANDS and (first.op, first.why) == (item.step.op, item.step.why)
        (together if same else others).append(item)
    return _Choice(together, passed, others[0] if others else None)


# ---- where a memory comes from ----


def whence(source: str, basis: str, origin: str) -> str:
    """Say who a memory is from and how it is known."""
    who = serializers.BY_NAMES[source].capitalize()
    learned = f", in {origin}" if origin else ""
    return f"{who} {_WORDS[f'basis {basis}']}{learned}."


def waits_in(proposal: Proposal) -> str:
    """Say that a proposal waits, and why."""
    why = proposal.hold or proposal.reason
    place = f"{Path(proposal.file).name}:{proposal.line}"
    return f"It waits in {place}{f', because: {why}' if why else ''}."


def retired(item: Archived) -> str:
    """Say that a memory is retired."""
    by = f" by {serializers.BY_NAMES.get(item.by, item.by)}" if item.by else ""
    date = f" on {item.date}" if item.date else ""
    now = f", replaced by {item.replaced}" if item.replaced else ""
    return f"It was retired{by}{date}: {item.reason or 'no reason given'}{now}."


# ---- the difference between commits ----


@click.command()
@click.argument("rev", metavar="[REV]", default="HEAD")
@commands.in_scope
def diff(place: Place, /, *, rev: str, scope: str | None, **_: object) -> None:
    """Show the changes of memory since the commit REV (default: HEAD), as sentences.

    REV1..REV2 compares two commits, REV1...REV2 shows the changes of REV2 since the two parted.
    Code 1 means that nothing changed.
    """
    there = place_in_git(place, scope)
    sides = there.sides(rev)
    changes = compare(sides.before, sides.after)
    totals = Counter(change.verb for change in changes)
    counts: dict[str, int] = {verb: totals[verb] for verb in VERBS if totals[verb]}
    data = serializers.differences_data(there, sides, changes)
    commands.show(_diff_lines(there, sides, changes, counts) if changes else (), data)
    if not changes:
        old = commit(sides.old)
        between = f"between {old} and {commit(sides.new)}" if sides.new else f"since {old}"
        process.complain(f"nothing changed in memory {between}")
        raise Exit(REFUSED)


def place_in_git(place: Place, scope: str | None) -> GitPlace:
    """Return the place in git of the memory that is meant.

    Raises:
        click.ClickException: There is no such scope.
        GitError: It is in no repository.
    """
    own, root = meant(place, scope)
    settings = settings_at(place, root if own == "project" else None)
    return GitPlace.of(root, own, settings.max_file_bytes)


def _diff_lines(
    there: GitPlace, sides: Sides, changes: Sequence[GitChange], counts: Mapping[str, int]
) -> Iterator[Line]:
    now = commit(sides.new) if sides.new else "now"
    yield line((f"From {commit(sides.old)} to {now}", "dim"))
    for _, group in groupby(changes, key=lambda change: change.file):
        first, *others = group
        file = sides.spelled(first)
        yield line()
        yield line((file, "strong"), (f"  {serializers.SCOPE_NAMES[there.scope]}", "dim"))
        yield from (_sentence(change, file) for change in (first, *others))
    verbs = [
        verb if verb in ("prose", "layout") else f"{number} {_VERB_NAMES.get(verb, verb)}"
        for verb, number in counts.items()
    ]
    yield line()
    files = views.counted(len({change.file for change in changes}), "file")
    yield line((f"{files} changed: {', '.join(verbs)}", "strong"))


def _sentence(change: GitChange, file: str) -> Line:
    if change.entry is None:
        is_prose = change.verb == "prose"
        what = f"Prose changed in {file}" if is_prose else f"Only the layout of {file} changed"
        return line((what, "warn"), indent=2, hang=4)
    before, after = change.before, change.after
    if before is None or after is None or before.text == after.text:
        text = [(change.entry.text, "")]
    else:
        # With the words marked that changed.
        text = []
        for word in words(before.text, after.text):
            begin, end, style = _MARKS[word.mark]
            text.append((f"{begin}{word.text}{end}", style))
    verb, notes = _VERB_NAMES.get(change.verb, change.verb), _notes(change)
    return line(
        (verb.capitalize(), _STYLES.get(change.verb, "warn")),
        " ",
        (change.entry.id, "id"),
        ": ",
        *text,
        *beside(change.entry.comments),
        (f"  ({', '.join(notes)})" if notes else "", "dim"),
        indent=2,
        hang=4,
    )


def _notes(change: GitChange) -> list[str]:
    """Return the other facts about a change, in few words."""
    before, after, record = change.before, change.after, change.record
    found = []
    if change.verb == "approved" and before is not None:
        found.append(f"was proposed as {before.id}")
    elif before is not None and after is not None and before.file != after.file:
        found.append(f"from {before.file}")
    elif before is not None and after is not None and before.heading != after.heading:
        found.append(f"from {before.heading or 'the top'} to {after.heading or 'the top'}")
    for name, old, new in change.notes if change.verb != "approved" else ():
        if name == "tick":
            found.append(_TICKS.get(new, new))
        else:
            before_it, after_it = (" ".join(text.split("\n")) or "none" for text in (old, new))
            found.append(f"{_NOTES.get(name, name)} {before_it} → {after_it}")
    if change.verb in ("forgot", "erased") and record is not None:
        by = f"by {serializers.BY_NAMES.get(record.by, record.by)}" if record.by else ""
        now = f"{record.replaced} replaces it" if record.replaced else ""
        found += filter(None, (record.reason, by, record.date, now))
    return found


def commit(item: Commit) -> str:
    """Name a commit by its id, its day and who wrote it."""
    return f"{item.short} of {item.date[:10]} by {item.author}"
