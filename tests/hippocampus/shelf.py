"""Memory files in a dictionary, and a journal in a list: steps without a disk.

Promises: a step is journalled as the file store does it, and every file is read anew from its
text in the next step, as it would be in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, TypeVar

from engramdown.engram import Engram
from engramdown.hippocampus.changeset import (
    Act,
    Draft,
    Filed,
    Slot,
    entry_changes,
    file_engram,
    retire,
    unretire,
)
from engramdown.hippocampus.entry import raw_entries
from engramdown.hippocampus.hand_edits import Save, find_base, respond
from engramdown.hippocampus.history import Past, Step, make_part
from engramdown.hippocampus.undo import Candidate, candidates, last, pick, reverse
from engramdown.kinds import ARCHIVE
from engramdown.markdown.document import Document, Placed, parse

TODAY: Final = "2026-02-27"

_Result = TypeVar("_Result")


def base_among(states: Sequence[str], saved: str) -> str:
    """Return which of some states, the newest last, somebody had open who saved ``saved``."""
    newest_first = list(pairwise(states))[::-1]
    past = [Past(make_part("rules.md", before, after)) for before, after in newest_first]
    return find_base(states[-1], past, saved).text


class Shelf:
    """The memory files of one scope.

    Attributes:
        texts: The text of each file by its name.
        steps: What happened, the oldest first.
    """

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        """Begin with ``texts``, which nobody has journalled."""
        self.texts = dict(texts or {})
        self.steps: list[Step] = []
        self._ids = 0

    def new_id(self) -> str:
        """Return the next id."""
        self._ids += 1
        return f"{self._ids:08}"

    def document(self, name: str) -> Document:
        """Return one file, read anew."""
        return parse(self.texts.get(name, ""))

    def said(self, name: str) -> list[str]:
        """Return what the memories of a file say."""
        return [placed.block.text for placed in raw_entries(name, self.document(name))]

    def slot(self, name: str) -> Slot:
        """Return one file as a step finds it."""
        text = self.texts.get(name)
        data = None if text is None else text.encode("utf-8", "surrogateescape")
        return Slot(text, data, parse(text or ""))

    def change(self, act: Act, edit: Callable[[Draft], _Result]) -> _Result:
        """Carry out one step and journal it, if it changes anything."""
        draft = Draft(self.slot, self.new_id, TODAY)
        result = edit(draft)
        changed = [
            (name, slot)
            for name, slot in draft.changed()
            if slot.after.render() != (slot.before or "")
        ]
        if not changed:
            return result
        parts = tuple(make_part(name, slot.before, slot.after.render()) for name, slot in changed)
        changes = tuple(
            change
            for name, slot in changed
            for change in entry_changes(name, slot.document, slot.after)
        )
        name = f"step{len(self.steps):04}"
        self.steps.append(Step(name, TODAY, act.by, act.op, act.why, parts, changes, act.of))
        self.texts |= {name: slot.after.render() for name, slot in changed}
        return result

    def encode(self, engram: Engram) -> Filed:
        """Write one memory."""
        by = Act("encode", engram.source)
        return self.change(by, lambda draft: file_engram(draft, engram))

    def encode_all(self, *engrams: Engram) -> list[Filed]:
        """Write several memories as one step."""
        by = Act("encode", engrams[0].source)

        def edit(draft: Draft) -> list[Filed]:
            return [file_engram(draft, engram) for engram in engrams]

        return self.change(by, edit)

    def retire(self, file: str, reason: str = "forgotten") -> None:
        """Retire the first memory of a file."""

        def edit(draft: Draft) -> None:
            placed = raw_entries(file, draft.get(file))[0]
            retire(draft, placed, file, reason, "user")
            draft.put(file, draft.get(file).remove(placed.block))

        self.change(Act("forget", "user"), edit)

    def restore(self, number: int = 0) -> Filed:
        """Bring back one of the memories of the archive."""

        def edit(draft: Draft) -> Filed:
            placed = raw_entries(ARCHIVE, draft.get(ARCHIVE))[number]
            return unretire(draft, placed)

        return self.change(Act("restore", "user"), edit)

    def save(
        self,
        file: str,
        saved: str,
        states: tuple[str, ...] = (),
        elsewhere: Callable[[Placed], bool] = lambda _: False,
        marks: tuple[str, ...] = (),
    ) -> tuple[str, ...]:
        """Save a file by hand, carry out what follows and return what is yet to be marked.

        Args:
            file: Its name.
            saved: What the person saved.
            states: What their editor may have started from, the newest last; what stands there
                unless given.
            elsewhere: See :func:`engramdown.hippocampus.hand_edits.respond`.
            marks: The same.
        """
        head = self.texts.get(file, "")
        edit = Save(file, base_among(states or (head,), saved), head, head)
        self.change(Act("edit", "person"), lambda draft: draft.put(file, parse(saved)))
        return self.change(
            Act("notice", "engramdown"),
            lambda draft: respond(draft, edit, elsewhere, marks),
        )

    def undoable(self) -> list[Candidate]:
        """Return what an undo without a name comes to."""
        return candidates(self.steps, {name: self.document(name) for name in self.texts})

    def undo(self, step_id: str = "") -> Step:
        """Reverse one step."""
        step = pick(self.steps, step_id) if step_id else last(self.undoable())
        act = Act("undo", "user", of=step.id)
        self.change(act, lambda draft: reverse(draft, step, self.steps))
        return step
