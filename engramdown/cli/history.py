"""``engramdown history`` and ``undo``: the journal of changes, read and reversed.

Promises: ``history`` changes nothing; what a person wrote since is never undone; a
refused undo says how to go on.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click
from click.exceptions import Exit

from engramdown import Cortex, Hippocampus
from engramdown.cli import journal_messages, output, process, views
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line
from engramdown.cli.output import REFUSED, Outcome, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.steps import change_lines, reversed_changes, step_lines
from engramdown.cli.views import step_data
from engramdown.errors import EntryNotFoundError, UndoRefusedError
from engramdown.hippocampus.history import Step
from engramdown.hippocampus.placement import by_prefix
from engramdown.hippocampus.undo import ERRANDS


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
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="At most so many steps.",
)
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
    if not shown and not cortex.unread():
        process.complain(journal_messages.no_history(file))
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
    stores = [store for store in cortex.stores if scope in (None, store.scope)]
    choice = _named(stores, step_id) if step_id else _last(stores)
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    try:
        _reverse(choice.kept, place)
    except UndoRefusedError as error:
        before = choice.before
        more = (
            []
            if before is None
            else [journal_messages.undo_instead(before.step, before.store.scope)]
        )
        raise RefusalError(str(error), more) from error
    lines = [line(journal_messages.passed_over(item.step), hang=2) for item in choice.passed]
    for step, _ in choice.kept:
        lines.append(line((journal_messages.undone(step), "good"), hang=2))
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
        trial.rehearse()
        for step, store in kept:
            next(each for each in trial.stores if each.root == store.root).undo(step.id)
    for step, store in kept:
        store.undo(step.id)


def _steps(cortex: Cortex, scope: str | None) -> list[_Kept]:
    """Return the steps of the stores, the oldest first."""
    kept = [
        _Kept(step, store)
        for store in cortex.stores
        if scope in (None, store.scope)
        for step in cortex.if_readable(store.history)
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
        raise click.ClickException(journal_messages.no_step(step_id)) from error


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
