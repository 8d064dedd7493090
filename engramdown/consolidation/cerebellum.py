"""Learns from what a call said it would do, and what happened instead.

Promises: writes nothing; a cell that ended well and that nobody objected to costs nothing; at most
one answer of a model for a turn, and none without a model; at most three lessons, each inferred and
filed under ``scratchpad``, where the description of a scratchpad tool finds them. Any tool counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engramdown.consolidation.cells import Cell
from engramdown.consolidation.learned import Learned, Lesson, learned
from engramdown.consolidation.model import learn_from
from engramdown.consolidation.prompts import OURS, render
from engramdown.consolidation.replay import MOST_CELLS, origin_of, shown

if TYPE_CHECKING:
    from engramdown.consolidation.model import LanguageModel

__all__ = ["MOST", "TOPIC", "lessons_of_turn", "surprises"]

MOST: Final = 3
"""So many lessons one turn may bring."""
TOPIC: Final = "scratchpad"
"""What they are filed under."""


def surprises(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that did not do what they were to do, as far as that can be told.

    >>> surprises([Cell("s#1", "tool"), Cell("s#2", "tool", status="error")])[0].pointer
    's#2'
    """
    return [cell for cell in cells if cell.status != "ok" or cell.corrected]


def lessons_of_turn(
    cells: Sequence[Cell],
    model: LanguageModel | None,
    templates: Mapping[str, str] = OURS,
) -> Learned:
    """Ask ``model`` what to do another way, if something in a turn went otherwise than it said.

    Args:
        cells: What was done in that turn.
        model: The language model, if there is one. No lock may be held while it thinks.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model gives no answer of the form.
        StoreError: If a scope's own prompt is broken.
    """
    found = surprises(cells)[-MOST_CELLS:]
    if model is None or not found:
        return Learned()
    from engramdown.consolidation.lessons_form import ScratchpadLessons

    prompt = render("cerebellum", templates, cells=shown(found), most=MOST)
    origins = [origin_of(cell) for cell in found]

    def read(answer: ScratchpadLessons) -> Learned:
        lessons = (Lesson(each.text, each.cells, topic=TOPIC) for each in answer.lessons)
        return learned(lessons, origins, MOST)

    return learn_from(model, ScratchpadLessons, prompt, read)
