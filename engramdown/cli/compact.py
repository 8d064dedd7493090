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
from engramdown.cli.commands import given, scoped, show
from engramdown.cli.layout import Line, line, pick
from engramdown.cli.process import Place
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown.consolidation import Operation, Row, Ruling
    from engramdown.gate import CompactionReceipt, Prepared


_STYLES: Final = {"-": "bad", "+": "good", "?": "dim", "=": "", "": "where"}
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


@click.command()
@click.option("--yes", is_flag=True, help="Apply without asking.")
@click.option("--no-model", is_flag=True, help="Ask no model: only duplicates and what expired.")
@scoped("Only memory for all projects.", "Only this project.", dry_run=True)
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
    if use_model and cortex.needs_compaction():
        _note_model(cortex)
    prepared = compaction.prepare_all(cortex.scopes, scope, use_model=use_model)
    lines = [] if as_json else [*_plan_lines(prepared, dry_run=dry_run)]
    if dry_run:
        cortex.scopes.rehearse()
    else:
        output.show(lines)
        if any(each.apply for each in prepared):
            user_input.ask(ASK)
        elif any(each.propose for each in prepared):
            user_input.ask(ASK_LATER)
    receipts = compaction.carry_out(prepared, cortex.mode, approved=True)
    changes = cortex.scopes.rehearsed() if dry_run else []
    if not dry_run:
        lines = [*_result_lines(receipts)]
    elif not process.is_terminal(sys.stdout):
        # The diff of the files is for programs: a person has seen that of the memories.
        lines += output.rehearsed_lines(changes)
    data = {
        "dry_run": dry_run,
        "scopes": [_scope_data(each) for each in prepared],
        "receipts": [
            {
                **pick(each, "scope action reason id"),
                "operation": _operation_data(each.operation) if each.operation else None,
            }
            for each in receipts
        ],
        "changes": output.rehearsed_data(changes),
    }
    show(lines, data)
    operations = [each for each in receipts if each.operation is not None]
    scopes = [each.action for each in receipts if each.operation is None]
    if any(each.action == "failed" for each in operations):
        raise Exit(output.STORE_FAILED)
    raise Exit(output.REFUSED if "failed" in scopes or "refused" in scopes else 0)


def _note_model(cortex: Cortex) -> None:
    """Say that it will take a while, as a model is about to be asked, or that one could be."""
    settings = cortex.scopes.settings.consolidation
    model = cortex.scopes.model or settings.model
    if model:
        name = model if isinstance(model, str) else type(model).__name__
        output.note(f"asking {name}; this can take a while")
    else:
        output.note(
            f"a file holds more than {settings.threshold} memories; a model could say the same in "
            "fewer: name one as `model` under [consolidation] in the global config.toml"
        )


def _plan_lines(prepared: Iterable[Prepared], *, dry_run: bool) -> Iterator[Line]:
    """Yield what a person sees before saying yes."""
    if dry_run:
        yield line((messages.DRY_RUN, "warn"))
    for each in prepared:
        name = messages.SCOPE_NAMES[each.store.scope]
        if each.problem:
            yield line(f"{name}: {each.problem}", hang=2)
            continue
        yield line((name, "strong"))
        if each.apply:
            yield line(("Apply", "strong"), indent=2)
            yield from _rows(each.diff())
        asked = "Waits for you in pending.md", "yours to decide", each.propose
        for title, because, rulings in (asked, ("Left as it is", "not done", each.refused)):
            yield from _ruling_lines(each, title, because, rulings)
        yield line()


def _ruling_lines(
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


def _result_lines(receipts: Sequence[CompactionReceipt]) -> Iterator[Line]:
    done = [(each, each.operation) for each in receipts if each.operation is not None]
    for each, operation in done:
        if each.action in ("failed", "passed over"):
            text = f"{', '.join(operation.ids)}: {each.action}: {each.reason}"
            yield line((text, "warn"), hang=2)
    counts = Counter[str](each.action for each, _ in done)
    said = ", ".join(f"{counts[key]} {words}" for key, words in _DONE.items() if counts[key])
    scopes = {each.scope for each, _ in done if each.action == "applied"}
    said = f"{said}{_UNDO[len(scopes)]}." if said else "Nothing to compact."
    yield line((said, "good"), hang=2)


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
