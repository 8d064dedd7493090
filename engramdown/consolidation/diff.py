"""What a person sees of a plan before saying yes: what goes, what comes, and why, file by file.

Promises: pure; every memory that an operation takes is shown, with its id; a text of several lines
is several rows; nothing is shown that would not happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from engramdown.consolidation.outcome import joined
from engramdown.consolidation.plan import Drop, Expire, Memory, Merge, Move, Operation, Supersede
from engramdown.engram import slug
from engramdown.errors import InvalidEngramError

__all__ = ["Row", "diff", "headline"]

Mark = Literal["", "-", "+", "=", "?"]


class Row(NamedTuple):
    """One row of the diff.

    Attributes:
        mark: ``""`` for the name of a file, ``-`` for what goes, ``+`` for what comes, ``=`` for
            what stays as it reads, ``?`` for what is told about them.
        text: The row.
        id: The memory that it is about, or ``""``.
    """

    mark: Mark
    text: str
    id: str = ""

    def __str__(self) -> str:
        """Return the row as one line."""
        said = f"{self.mark} {self.text}" if self.mark else self.text
        return f"{said}  ({self.id})" if self.id else said


def diff(operations: Iterable[Operation], memories: Sequence[Memory]) -> list[Row]:
    """Return the rows of the files that ``operations`` change, in the order of ``memories``.

    Args:
        operations: What would be applied; none may name an unknown id.
        memories: What stands now.
    """
    known = {memory.id: memory for memory in reversed(memories)}
    places = {memory.id: place for place, memory in reversed([*enumerate(memories)])}
    some = (operation for operation in operations if operation.ids)
    ordered = sorted(some, key=lambda each: min(places[item] for item in each.ids))
    rows: list[Row] = []
    file = None
    for operation in ordered:
        first = known[min(operation.ids, key=places.__getitem__)]
        if first.file != file:
            file = first.file
            rows.append(Row("", file))
        rows += _rows(operation, known)
    return rows


def headline(operation: Operation) -> str:
    """Return what an operation is, in words."""
    if isinstance(operation, Drop):
        return f"a duplicate of {operation.of}"
    if isinstance(operation, Merge):
        return f"{len(operation.ids)} become one"
    if isinstance(operation, Supersede):
        return f"replaced by {operation.by}"
    if isinstance(operation, Expire):
        return "expired"
    return f"moves to the topic {_topic(operation.topic)}"


def _topic(topic: str) -> str:
    """Return the slug of a topic; one that is refused is shown as it is."""
    try:
        return slug(topic)
    except InvalidEngramError:
        return repr(topic)


def _rows(operation: Operation, known: dict[str, Memory]) -> list[Row]:
    taken = [known[each] for each in operation.ids]
    mark: Mark = "=" if isinstance(operation, Move) else "-"
    rows = [row for memory in taken for row in _text(mark, memory.text, memory.id)]
    if isinstance(operation, Merge):
        rows += _text("+", operation.text, "")
        new = joined(taken, operation.text)
        facts = f"the new one: {new.confidence} confidence, {new.basis}"
        rows.append(Row("?", f"{facts}, learned in {new.origin}" if new.origin else facts))
    elif operation.stays:
        rows += _text("=", known[operation.stays].text, operation.stays)
    why = " ".join(operation.reason.split())
    said = headline(operation)
    return [*rows, Row("?", f"why: {said}: {why}" if why and why != said else f"why: {said}")]


def _text(mark: Mark, text: str, memory_id: str) -> list[Row]:
    first, *more = text.split("\n")
    return [Row(mark, first, memory_id), *(Row(mark, f"  {line}") for line in more)]
