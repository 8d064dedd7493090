"""Going through a session again, for what it teaches.

Promises: writes nothing; whether it is worth it is decided without a model; a model sees one line
of each cell, as data and without its secrets; at most five memories come of it, each inferred,
each pointing at the lines that it came from; one that names a cell which was not shown is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.cells import Cell, Line, cells_of, last_line
from engramdown.consolidation.learned import Learned, Lesson, learned, shortened
from engramdown.consolidation.model import learn_from
from engramdown.consolidation.prompts import OURS, render
from engramdown.engram import Engram, fold, pointers

if TYPE_CHECKING:
    from engramdown.consolidation.model import LanguageModel

__all__ = [
    "ENOUGH",
    "FEWEST",
    "MOST",
    "MOST_CELLS",
    "Shown",
    "origin_of",
    "replay_and_extract",
    "replay_without_model",
    "should_replay",
    "shown",
]

MOST: Final = 5
"""So many memories one replay may bring."""
MOST_CELLS: Final = 100
"""So many cells a model is shown at once."""
FEWEST: Final = 2
"""Fewer cells than this teach nothing."""
ENOUGH: Final = 5
"""So many cells are worth it even if all went well."""

# How much of it a line shows, in characters: more of what failed than of what worked.
_SAID: Final = 160
_CODE: Final = {True: 400, False: 160}
_OUTCOME: Final = {True: 300, False: 160}
_CORRECTION: Final = 300


class Shown(NamedTuple):
    """A cell as a prompt shows it."""

    number: int
    tool: str
    status: str
    said: str
    code: str
    outcome: str
    correction: str


def should_replay(cells: Sequence[Cell]) -> bool:
    """Whether a model should be asked what cells teach; decided without one.

    >>> ok, bad = Cell("s#1", "tool"), Cell("s#2", "tool", status="killed")
    >>> should_replay([ok, ok]), should_replay([ok, bad]), should_replay([bad])
    (False, True, False)
    """
    if len(cells) < FEWEST:
        return False
    return len(cells) >= ENOUGH or any(cell.status != "ok" for cell in cells)


def replay_and_extract(
    cells: Sequence[Cell], model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Learned:
    """Ask ``model`` what cells teach. No lock may be held meanwhile.

    Args:
        cells: What was done; of more than a hundred, what went wrong and what came after it are
            shown first, and then the newest.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.lessons_form import Lessons

    chosen = _chosen(cells)
    prompt = render("replay", templates, cells=shown(chosen), most=MOST)
    origins = [origin_of(cell) for cell in chosen]

    def read(answer: Lessons) -> Learned:
        lessons = (
            Lesson(item.text, item.cells, item.kind, item.scope, item.confidence, item.topic)
            for item in answer.items
        )
        return learned(lessons, origins, MOST)

    return learn_from(model, Lessons, prompt, read)


def replay_without_model(session: str, lines: Iterable[Line]) -> Learned:
    """Return what the user stated outright, and what calls teach that failed and were mended.

    Args:
        session: The id of the session, for the pointers.
        lines: Its lines, in order.
    """
    from engramdown.consolidation.extraction import extract
    from engramdown.consolidation.mended import mended

    kept = list(lines)
    found: dict[str, Engram] = {}
    for line in kept:
        if line.role == "user":
            for engram in extract(line.text, origin=f"{session}#{line.seq}"):
                # What was said again, in other words of the same, is newer: the first one stays.
                found.setdefault(fold(engram.text), engram)
    for engram in mended(cells_of(session, kept)):
        found.setdefault(fold(engram.text), engram)
    return Learned(tuple(found.values()))


def shown(cells: Iterable[Cell]) -> list[Shown]:
    """Return cells as a prompt shows them, numbered from 1."""
    return [_shown(number, cell) for number, cell in enumerate(cells, 1)]


def origin_of(cell: Cell) -> str:
    """Return where a cell stands, and what was said against it."""
    return pointers(cell.pointer, cell.corrected_at)


def _shown(number: int, cell: Cell) -> Shown:
    failed = cell.status != "ok"
    told = last_line(cell.error) if failed else cell.output.strip().partition("\n")[0]
    return Shown(
        number,
        " ".join(filter(None, dict.fromkeys([cell.kind, shortened(cell.name, _SAID)]))),
        cell.status,
        shortened(cell.said, _SAID),
        shortened(cell.code, _CODE[failed]),
        shortened(told, _OUTCOME[failed]),
        shortened(cell.corrected, _CORRECTION),
    )


def _chosen(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that a model is shown, in order."""
    wrong = [cell.status != "ok" or bool(cell.corrected) for cell in cells]
    after = [False, *wrong[:-1]]
    ranked = sorted(range(len(cells)), key=lambda at: (not (wrong[at] or after[at]), -at))
    return [cells[at] for at in sorted(ranked[:MOST_CELLS])]
