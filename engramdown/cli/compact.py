"""``engramdown compact``: say the same in fewer memories, after showing the diff.

Nothing is written before a yes. What is applied is what was shown, in one step. What belongs to a
person waits in pending.md, whatever the answer is.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex
from engramdown.cli import messages, output, process, user_input
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, pick
from engramdown.cli.process import Place
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown.consolidation import Operation, Row, Ruling
    from engramdown.gate import CompactionReceipt, Prepared


_STYLES: Final = {"-": "bad", "+": "good", "?": "dim", "=": "", "": "where"}


@click.command()
@click.option("--yes", is_flag=True, help="Apply without asking.")
@click.option("--no-model", is_flag=True, help="Ask no model: only duplicates and what expired.")
@scope_options("Only memory for all projects.", "Only this project.")
@json_option
@dry_run_option
@pass_place
def compact(
    place: Place, /, *, scope: Scope | None, as_json: bool, dry_run: bool, **_: object
) -> None:
    """Say the same in fewer memories: shows the diff, asks, and applies it as one step.

    Duplicates and memories that have expired go to the archive. With a model, files that hold
    more than `threshold` memories are compacted: it proposes what to merge, to replace and to
    move. What you wrote, confirmed or pinned is only asked about, in pending.md.
    """
    cortex = open_cortex(place)
    if cortex.mode == "off":
        raise output.RefusalError(messages.OFF)
    user_input.check(NEEDS_YES)
    from engramdown.gate import Compaction

    compaction = Compaction.of(cortex.scopes)
    use_model = not given()["no_model"]
    _tell_model(cortex, use_model=use_model)
    prepared = compaction.prepare_all(cortex.scopes, scope, use_model=use_model)
    shown = [] if as_json else [*_shown(prepared, dry_run=dry_run)]
    if dry_run:
        cortex.scopes.rehearse()
    else:
        output.screen().show(shown)
        _ask(prepared)
    receipts = compaction.carry_out(prepared, cortex.mode, approved=True)
    if as_json:
        output.print_json(_data(cortex, prepared, receipts))
    elif not dry_run:
        output.screen().show(_told(receipts))
    else:
        # The diff of the files is for programs: a person has seen that of the memories.
        is_seen = process.is_terminal(sys.stdout)
        output.screen().show(
            [*shown, *([] if is_seen else output.rehearsed_lines(cortex.scopes.rehearsed()))]
        )
    raise Exit(_exit_code(receipts))


def _tell_model(cortex: Cortex, *, use_model: bool) -> None:
    """Say that it will take a while, if a model is about to be asked, or that one could be."""
    model = cortex.scopes.model or cortex.scopes.settings.consolidation.model
    if not use_model or not cortex.needs_compaction():
        return
    if model:
        output.note(thinks(model if isinstance(model, str) else type(model).__name__))
    else:
        output.note(no_model(cortex.scopes.settings.consolidation.threshold))


def _ask(prepared: Sequence[Prepared]) -> None:
    if any(each.apply for each in prepared):
        user_input.ask(ASK)
    elif any(each.propose for each in prepared):
        user_input.ask(ASK_LATER)


def _exit_code(receipts: Iterable[CompactionReceipt]) -> int:
    alone = [each for each in receipts if each.operation is None]
    if any(each.action == "failed" and each.operation is not None for each in receipts):
        return output.STORE_FAILED
    return output.REFUSED if any(each.action in ("failed", "refused") for each in alone) else 0


# ---- showing ----


def _shown(prepared: Iterable[Prepared], *, dry_run: bool) -> Iterator[Line]:
    """Yield what a person sees before saying yes."""
    if dry_run:
        yield line((messages.DRY_RUN, "warn"))
    for each in prepared:
        name = messages.SCOPE_NAMES[each.store.scope]
        if each.problem:
            yield line(nothing_done(name, each.problem), hang=2)
            continue
        yield line((name, "strong"))
        if each.apply:
            yield line((APPLY, "strong"), indent=2)
            yield from _rows(each.diff())
        yield from _rulings(each, WAITS, ASKED, each.propose)
        yield from _rulings(each, LEFT_OUT, NOT_DONE, each.refused)
        yield line()


def _rulings(
    prepared: Prepared, title: str, because: str, rulings: Sequence[Ruling]
) -> Iterator[Line]:
    from engramdown.consolidation import diff

    if rulings:
        yield line((title, "strong"), indent=2)
    for ruling in rulings:
        yield from _rows(diff([ruling.operation], prepared.entries))
        yield line((f"  {because}: {ruling.why}", "warn"), indent=4, hang=6)


def _rows(rows: Iterable[Row]) -> Iterator[Line]:
    for row in rows:
        mark = " " if row.mark == "?" else row.mark
        parts = [(f"{mark} {row.text}" if mark else row.text, _STYLES[row.mark])]
        parts += [(f"  {row.id}", "id")] if row.id else []
        yield line(*parts, indent=4, hang=6)


def _told(receipts: Sequence[CompactionReceipt]) -> Iterator[Line]:
    for each in receipts:
        if each.operation is not None and each.action in ("failed", "passed over"):
            yield line((receipt(each), "warn"), hang=2)
    yield line((summary(each for each in receipts if each.operation), "good"), hang=2)


# ---- for programs ----


def _data(
    cortex: Cortex, prepared: Iterable[Prepared], receipts: Iterable[CompactionReceipt]
) -> dict[str, Any]:
    dry_run = given()["dry_run"]
    return {
        "dry_run": dry_run,
        "scopes": [_scope_data(each) for each in prepared],
        "receipts": [
            {
                **pick(each, "scope action reason id"),
                "operation": _operation_data(each.operation) if each.operation else None,
            }
            for each in receipts
        ],
        "changes": output.rehearsed_data(cortex.scopes.rehearsed()) if dry_run else [],
    }


def _scope_data(each: Prepared) -> dict[str, Any]:
    return {
        "scope": each.store.scope,
        "problem": each.problem,
        "diff": [str(row) for row in each.diff()],
        "apply": [_operation_data(operation) for operation in each.apply],
        "propose": [_operation_data(it.operation) | {"why": it.why} for it in each.propose],
        "refused": [_operation_data(it.operation) | {"why": it.why} for it in each.refused],
    }


def _operation_data(operation: Operation) -> dict[str, Any]:
    return {
        "operation": operation.name,
        "ids": list(operation.ids),
        "stays": operation.stays,
        "text": getattr(operation, "text", ""),
        "topic": getattr(operation, "topic", ""),
        "reason": operation.reason,
    }


APPLY: Final = "Apply"
WAITS: Final = "Waits for you in pending.md"
LEFT_OUT: Final = "Left as it is"
ASKED: Final = "yours to decide"
NOT_DONE: Final = "not done"
ASK: Final = "Apply this?"
ASK_LATER: Final = "Put these questions into pending.md?"
NEEDS_YES: Final = (
    "compacting needs a person's yes; --dry-run shows what would change, --yes applies"
)
_UNDO: Final = (
    "",
    "; `engramdown undo` takes it back",
    "; each scope is a step of its own: `engramdown undo`, twice, takes them back",
)
_DONE: Final = {
    "applied": "applied",
    "queued": "waiting in pending.md",
    "refused": "left as it is",
    "passed over": "passed over, as you or somebody else changed it meanwhile",
    "failed": "failed",
}


def thinks(name: str) -> str:
    """Say that a model is asked."""
    return f"asking {name}; this can take a while"


def no_model(threshold: int) -> str:
    """Say what a model could do that is not set."""
    return (
        f"a file holds more than {threshold} memories; a model could say the same in fewer: name "
        "one as `model` under [consolidation] in the global config.toml"
    )


def nothing_done(scope: str, problem: str) -> str:
    """Say why nothing is done in a scope."""
    return f"{scope}: {problem}"


def receipt(each: CompactionReceipt) -> str:
    """Say what became of an operation that was not simply applied."""
    names = ", ".join(each.operation.ids) if each.operation else each.scope
    said = "failed" if each.action == "failed" else "passed over"
    return f"{names}: {said}: {each.reason}"


def summary(receipts: Iterable[CompactionReceipt]) -> str:
    """Say how many operations came to what end."""
    told = list(receipts)
    counts = Counter[str](each.action for each in told)
    said = ", ".join(f"{counts[key]} {words}" for key, words in _DONE.items() if counts[key])
    if not said:
        return "Nothing to compact."
    scopes = {each.scope for each in told if each.action == "applied"}
    undo = _UNDO[len(scopes)]
    return f"{said}{undo}."
