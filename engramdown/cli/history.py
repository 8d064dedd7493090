"""``engramdown history``, ``undo`` and ``diff``: what changed in memory, and how to reverse it.

``history`` and ``diff`` change nothing. What a person wrote since is never undone, and a refused
undo says how to go on.
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from click.exceptions import Exit

from engramdown import Cortex, Hippocampus
from engramdown.cli import messages, output, process, views
from engramdown.cli.access import meant, open_cortex, settings_at
from engramdown.cli.commands import (
    dry_run_option,
    given,
    json_option,
    number_option,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, Part, line
from engramdown.cli.output import REFUSED, Outcome, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.views import beside, entry_data, step_data
from engramdown.clock import local
from engramdown.errors import EntryNotFoundError, UndoRefusedError
from engramdown.git import VERBS, Commit, State, compare, words
from engramdown.git import Change as GitChange
from engramdown.git import Place as GitPlace
from engramdown.hippocampus import ERRANDS, Change, Step, by_prefix

if TYPE_CHECKING:
    from engramdown import Proposal
    from engramdown.hippocampus import Archived


class _Kept(NamedTuple):
    """A step and the store whose journal holds it."""

    step: Step
    store: Hippocampus


class _Choice(NamedTuple):
    """What to undo: a step, or all of one errand; what is passed over, and what is before."""

    kept: Sequence[_Kept]
    passed: Sequence[_Kept] = ()
    before: _Kept | None = None


@click.command()
@number_option("At most so many steps.", 20)
@click.option("--file", metavar="FILE", help="Only steps that changed this file: rules.md.")
@scope_options("Only the global scope.", "Only this project.")
@json_option
@pass_place
def history(place: Place, /, *, as_json: bool, **_: object) -> None:
    """Show what was changed in memory, the newest step first."""
    wanted = given()
    file = wanted["file"]
    cortex = open_cortex(place)
    kept = [item for item in _steps(cortex, wanted["scope"]) if not file or _touches(item, file)]
    shown = kept[: -wanted["number"] - 1 : -1]
    if as_json:
        output.print_json([step_data(item.step, item.store.scope) for item in shown])
    else:
        output.screen().show(_history_lines(shown))
    if not shown and not cortex.scopes.unread():
        process.complain(no_history(file))
        raise Exit(REFUSED)


@click.command()
@click.argument("step_id", metavar="[STEP]", default="")
@scope_options("In the global scope.", "In this project.")
@json_option
@dry_run_option
@pass_place
def undo(place: Place, /, *, step_id: str, scope: str | None, as_json: bool, dry_run: bool) -> None:
    """Reverse a step: the last one that can be undone, or STEP of `engramdown history`.

    A hand edit is never undone, and never overwritten. What `migrate` brought
    in goes as a whole, and so does what a step of `sleep` learned.
    """
    cortex = open_cortex(place)
    stores = [store for store in cortex.scopes.stores if scope in (None, store.scope)]
    choice = _named(stores, step_id) if step_id else _last(stores)
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    try:
        _reverse(choice.kept, place)
    except UndoRefusedError as error:
        before = choice.before
        more = [] if before is None else [undo_instead(before.step, before.store.scope)]
        raise RefusalError(str(error), more) from error
    lines = [line(passed_over(item.step), hang=2) for item in choice.passed]
    for step, _ in choice.kept:
        lines.append(line((undone(step), "good"), hang=2))
        if not dry_run:
            lines += change_lines(reversed_changes(step.changes))
    last, *others = (step_data(step, store.scope) for step, store in choice.kept)
    over = [step_data(item.step, item.store.scope) for item in choice.passed]
    outcome.show(lines, {"undone": last, "together_with": others, "passed_over": over})


def _reverse(kept: Sequence[_Kept], place: Place) -> None:
    """Undo steps, or none of them.

    Raises:
        UndoRefusedError: If one of them cannot be undone.
    """
    if len(kept) > 1:
        trial = open_cortex(place)
        trial.scopes.rehearse()
        for step, store in kept:
            next(each for each in trial.scopes.stores if each.root == store.root).undo(step.id)
    for step, store in kept:
        store.undo(step.id)


def _steps(cortex: Cortex, scope: str | None) -> list[_Kept]:
    """Return the steps of the stores, the oldest first."""
    kept = [
        _Kept(step, store)
        for store in cortex.scopes.stores
        if scope in (None, store.scope)
        for step in cortex.scopes.if_readable(store.history)
    ]
    return sorted(kept, key=lambda item: item.step.at)


def _touches(item: _Kept, file: str) -> bool:
    """Return whether a step changed ``file``, given by its name or by its path."""
    wanted = file.replace("\\", "/").rpartition("memory/")[2]
    return any(name.removeprefix("memory/") == wanted for name in item.step.files)


def _history_lines(items: Sequence[_Kept]) -> Iterator[Line]:
    patches = {} if process.is_terminal(sys.stdout) else _patches(items)
    for number, item in enumerate(items):
        if number:
            yield line()
        yield from step_lines(item.step, item.store.scope, patches.get(item.step.id))


def _patches(items: Sequence[_Kept]) -> dict[str, list[Line]]:
    """Return what each step did to its files, as patches.

    Not of one that the journal cannot tell, or that left the files as they were.

    ``patch -R`` takes the steps back in the order in which they are shown.
    """
    told: dict[str, dict[str, list[Line]]] = {}
    for store in {item.store.root: item.store for item in items}.values():
        steps = {item.step.id for item in items if item.store.root == store.root}
        files = {name for item in items if item.step.id in steps for name in item.step.files}
        for name in files:
            path, left = store.files.place(name), {*steps}
            for step, before, after in store.versions(name):
                if step.id in left:
                    told.setdefault(step.id, {})[name] = file_diff(path, before, after)
                left.discard(step.id)
                if not left:
                    break
    whole = {
        item.step.id: [row for name in item.step.files for row in told[item.step.id][name]]
        for item in items
        if told.get(item.step.id, {}).keys() == {*item.step.files}
    }
    return {step: rows for step, rows in whole.items() if rows}


def _named(stores: Iterable[Hippocampus], step_id: str) -> _Choice:
    """Return the step whose id begins with ``step_id``, in whichever store.

    Raises:
        AmbiguousIdError: There are several.
        ClickException: There is none.
    """
    kept = [_Kept(step, store) for store in stores for step in store.history()]
    try:
        return _Choice([by_prefix(step_id, kept, lambda item: item.step.id, "the journal")])
    except EntryNotFoundError as error:
        raise click.ClickException(no_step(step_id)) from error


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
        raise click.ClickException(views.NOTHING_TO_UNDO)
    first = left[0].step
    is_with = [item is left[0] or _is_one_errand(first, item.step) for item in left]
    before = next((item for item, one in zip(left, is_with, strict=True) if not one), None)
    return _Choice([item for item, one in zip(left, is_with, strict=True) if one], passed, before)


def _is_one_errand(step: Step, other: Step) -> bool:
    return step.op in ERRANDS and (step.op, step.why) == (other.op, other.why)


_MOST_CHANGES: Final = 12


def step_lines(step: Step, scope: str, patch: Iterable[Line] | None = None) -> Iterator[Line]:
    """Return a step: when, who, what and why, and below it the lines that it changed.

    Args:
        step: The step.
        scope: Whose step it is.
        patch: What it did to its files, to be shown instead of those lines.
    """
    yield line(
        (step.id, "id"),
        "  ",
        (when(step.at), "dim"),
        "  ",
        (step_title(step), "strong"),
        (f"  ({scope})", "dim"),
        hang=4,
    )
    if step.why and not step.of and not is_said_by_title(step):
        yield line(step.why, indent=4)
    if patch is not None:
        yield from patch
        return
    changes = step.changes
    yield from change_lines(changes[:_MOST_CHANGES])
    if len(changes) > _MOST_CHANGES:
        yield line((more_changes(len(changes) - _MOST_CHANGES), "dim"), indent=4)


def reversed_changes(changes: Iterable[Change]) -> list[Change]:
    """Return what undoing ``changes`` does."""
    return [Change(change.id, change.file, change.after, change.before) for change in changes]


def change_lines(changes: Iterable[Change]) -> Iterator[Line]:
    """Return the lines that went (``-``) and came (``+``), under the name of their file."""
    file = ""
    for change in changes:
        if change.erased:
            yield line((is_erased(change.id), "dim"), indent=4)
            continue
        if change.file != file:
            file = change.file
            yield line((file, "where"), indent=4)
        for mark, style, text in (("-", "bad", change.before), ("+", "good", change.after)):
            if text is not None and change.before != change.after:
                yield line((f"{mark} {text.rstrip()}", style), indent=4, hang=6)


def when(at: str) -> str:
    """Return a moment of the journal as the person's clock shows it, to the minute."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    return local(moment).strftime("%Y-%m-%d %H:%M")


BY_HAND: Final = "A person wrote this line by hand: it is theirs, and no automatic job touches it."
SOMEBODY_ELSES: Final = "It came with git: nobody here said or confirmed it."
NO_STEPS: Final = "The journal has no step about it: it came with the file."
_BASES: Final = {
    "told": "said so",
    "observed": "saw it",
    "inferred": "inferred it",
    "verified": "said so, and a person confirmed it",
}
_CLONED: Final = ("found", "git had it already")
_OTHER_VERSION: Final = "Another version of the file came with git"
_WITH_GIT: Final = "The file came with git"
_WHO: Final = {
    "user": "You",
    "person": "You, by hand,",
    "llm": "The assistant",
    "consolidation": "Tidying up",
    "engramdown": "Engramdown",
    "git": "Somebody else, in a commit,",
}
_OPS: Final = {
    "accept": "accepted a proposal",
    "compact": "compacted memory",
    "decline": "declined a proposal",
    "edit": "edited the file",
    "encode": "remembered",
    "erase": "erased for good",
    "forget": "forgot",
    "found": "brought the file",
    "init": "set this up",
    "late": "edited the file some time before",
    "meanwhile": "edited the file while a memory was written",
    "migrate": "brought in older notes",
    "notice": "took in what follows from a hand edit",
    "propose": "proposed",
    "restore": "restored",
    "rewrite": "mended the file",
    "sleep": "learned from a session",
    "undo": "undid",
    "update": "changed",
}


def is_erased(entry_id: str) -> str:
    """Say that nothing is kept of what a step did to a memory."""
    return f"{entry_id or 'a line without an id'}: erased for good"


def whence(source: str, basis: str, origin: str) -> str:
    """Say who a memory is from and how it is known."""
    who = messages.SOURCE_NAMES[source].capitalize()
    learned = f", in {origin}" if origin else ""
    return f"{who} {_BASES[basis]}{learned}."


def stands_in(place: str, scope: str) -> str:
    """Say where a memory stands now."""
    return f"It stands in {place}, for {messages.SCOPE_NAMES[scope]}."


def waits_in(proposal: Proposal) -> str:
    """Say that a proposal waits, and why."""
    why = proposal.hold or proposal.reason
    place = f"{Path(proposal.file).name}:{proposal.line}"
    return f"It waits in {place}{f', because: {why}' if why else ''}."


def retired(item: Archived) -> str:
    """Say that a memory is retired."""
    by = f" by {messages.BY_NAMES.get(item.by, item.by)}" if item.by else ""
    date = f" on {item.date}" if item.date else ""
    now = f", replaced by {item.replaced}" if item.replaced else ""
    return f"It was retired{by}{date}: {item.reason or 'no reason given'}{now}."


def is_said_by_title(step: Step) -> bool:
    """Whether the title of a step says already why it was done."""
    by_hand = step.by == "person" and step.why.startswith("by hand")
    return by_hand or (step.op, step.why) == _CLONED


def step_title(step: Step) -> str:
    """Say who did what."""
    if (step.op, step.why) == _CLONED:
        return _WITH_GIT
    if step.op == "checkout":
        # Nobody here wrote it, whoever was first to see it.
        return _OTHER_VERSION
    what = f" step {step.of}" if step.of else ""
    return f"{_WHO.get(step.by, step.by)} {_OPS.get(step.op, step.op)}{what}"


def more_changes(count: int) -> str:
    """Say how many changes are not shown."""
    return f"... and {count} more; --json shows all"


def no_history(file: str | None) -> str:
    """Say that there are no steps."""
    return f"no step changed {file}" if file else "nothing was changed so far"


def no_step(step_id: str) -> str:
    """Say that there is no such step."""
    return f"no step {step_id!r}; `engramdown history` shows the steps"


def undone(step: Step) -> str:
    """Say what was undone."""
    return f"Undone: step {_step_name(step)}"


def passed_over(step: Step) -> str:
    """Say that nothing is left of a step that could be undone."""
    return f"Passed over: step {_step_name(step)}; nothing that it wrote is there any more"


def undo_instead(step: Step, scope: str) -> str:
    """Say how to undo the step before one that cannot be undone."""
    return f"`engramdown undo {step.id}` undoes the one before ({_deed(step)}, {scope})"


def _step_name(step: Step) -> str:
    return f"{step.id} ({_deed(step)})"


def _deed(step: Step) -> str:
    what = step_title(step)
    return f"{what[:1].lower()}{what[1:]}"


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
        process.complain(nothing_between(sides.old, sides.new))
        raise Exit(REFUSED)


def place_in_git(place: Place, scope: str | None) -> GitPlace:
    """Return where the memory that is meant stands in git.

    Raises:
        click.ClickException: There is no such scope.
        GitError: It is in no repository.
    """
    own, root = meant(place, scope)
    settings = settings_at(place, root if own == "project" else None)
    return GitPlace.of(root, own, settings.max_file_bytes)


def commit_data(commit: Commit) -> dict[str, str]:
    """Return a commit as JSON shows it."""
    return commit._asdict()


def _sides(there: GitPlace, rev: str) -> _Sides:
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


def _lines(there: GitPlace, sides: _Sides, changes: list[GitChange]) -> Iterator[Line]:
    if not changes:
        return
    yield line((between(sides.old, sides.new), "dim"))
    for file, group in groupby(changes, key=lambda change: change.file):
        yield line()
        spelled = _spelled(sides, file)
        yield line((spelled, "strong"), (f"  {messages.SCOPE_NAMES[there.scope]}", "dim"))
        yield from (_sentence(change._replace(file=spelled)) for change in group)
    yield line()
    files = len({change.file for change in changes})
    yield line((summary(_counts(changes), files), "strong"))


def _spelled(sides: _Sides, file: str) -> str:
    """Return how a file is spelled now, or was before it went."""
    return sides.after.spelled.get(file) or sides.before.spelled.get(file, file)


def _sentence(change: GitChange) -> Line:
    if change.entry is None:
        return line((prose(change), "warn"), indent=2, hang=4)
    style = "good" if change.verb in _GOOD else "bad" if change.verb in _BAD else "warn"
    notes = about(change)
    return line(
        (_VERB_NAMES[change.verb], style),
        " ",
        (change.entry.id, "id"),
        ": ",
        *_text(change),
        *beside(change.entry.comments),
        (f"  ({', '.join(notes)})" if notes else "", "dim"),
        indent=2,
        hang=4,
    )


def _text(change: GitChange) -> Iterator[Part]:
    """Yield what a memory says, with the words marked that changed."""
    before, after = change.before, change.after
    if before is None or after is None or before.text == after.text:
        yield Part(change.entry.text if change.entry else "")
        return
    for word in words(before.text, after.text):
        begin, end, style = _MARKS[word.mark]
        yield Part(f"{begin}{word.text}{end}", style)


def _counts(changes: Iterable[GitChange]) -> dict[str, int]:
    found = Counter(change.verb for change in changes)
    return {verb: found[verb] for verb in VERBS if found[verb]}


def _data(there: GitPlace, sides: _Sides, changes: list[GitChange]) -> dict[str, Any]:
    return {
        "scope": there.scope,
        "from": commit_data(sides.old),
        "to": commit_data(sides.new) if sides.new else None,
        "counts": _counts(changes),
        "changes": [
            _change_data(change, there, _spelled(sides, change.file)) for change in changes
        ],
    }


def _change_data(change: GitChange, there: GitPlace, file: str) -> dict[str, Any]:
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


_VERB_NAMES: Final[Mapping[str, str]] = {
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


def prose(change: GitChange) -> str:
    """Say that what is no memory changed in a file."""
    if change.verb == "prose":
        return f"Prose changed in {change.file}"
    return f"Only the layout of {change.file} changed"


def about(change: GitChange) -> list[str]:
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
    return f"{number} {_VERB_NAMES[verb][:1].lower()}{_VERB_NAMES[verb][1:]}"


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
