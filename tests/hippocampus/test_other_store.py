"""Another place than files: what satisfies `Files` gets history, undo, why and the archive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from engramdown.errors import UndoRefusedError
from engramdown.hippocampus.changeset import (
    Act,
    Draft,
    FileChange,
    Revision,
    Slot,
    entry_changes,
    new_step,
)
from engramdown.hippocampus.history import Step, make_part
from engramdown.hippocampus.store import HippocampusProtocol, Store
from engramdown.markdown.document import Document, parse

T = TypeVar("T")


class Table:
    """Documents in a dictionary, steps in a list: the whole of what a store has to give."""

    folder = Path("table")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.texts: dict[str, str] = {}
        self.journal: list[Step] = []
        self.pages: dict[str, str] = {}
        self._planned: dict[str, str] | None = None

    @property
    def _now(self) -> dict[str, str]:
        return self.texts if self._planned is None else self.texts | self._planned

    def names(self) -> list[str]:
        return sorted(self._now)

    def place(self, name: str) -> Path:
        return self.folder / name

    def obstacles(self) -> list[str]:
        return []

    def document(self, name: str) -> Document:
        return parse(self._now.get(name, ""))

    def text(self, name: str) -> str:
        return self.pages.get(name, "")

    def marks(self, name: str) -> tuple[str, ...]:
        del name  # nobody edits a table by hand
        return ()

    def steps(self) -> list[Step]:
        return [*self.journal]

    def change(self, act: Act | Callable[[T], Act], edit: Callable[[Draft], T]) -> T:
        def load(name: str) -> Slot:
            return Slot(self._now.get(name), None, self.document(name))

        draft = Draft(load)
        result = edit(draft)
        slots = [(name, slot) for name, slot in draft.changed() if slot.after is not slot.document]
        after = {name: slot.after.render() for name, slot in slots}
        if self._planned is not None:
            self._planned |= after
        elif after:
            said = act if isinstance(act, Act) else act(result)
            parts = [make_part(name, slot.before, after[name]) for name, slot in slots]
            changes = [entry_changes(name, slot.document, slot.after) for name, slot in slots]
            told = tuple(change for each in changes for change in each)
            self.journal.append(new_step(said, tuple(parts), told))
            self.texts |= after
        return result

    def notice(self, *, wait: bool = True) -> bool:
        del wait
        return False

    def dry_run(self) -> None:
        self._planned = {}

    def planned_changes(self) -> list[FileChange]:
        return [
            FileChange(self.place(name), self.texts.get(name, ""), text)
            for name, text in (self._planned or {}).items()
        ]


@pytest.fixture
def store() -> Store:
    """Open a store over a table."""
    return Store(Table(), scope="global")


def test_it_is_a_store_for_cortex(store: Store) -> None:
    assert isinstance(store, HippocampusProtocol)


def test_it_remembers_forgets_and_restores(store: Store) -> None:
    store.encode_rule("Use uv", kind="always", source="user")
    lesson = store.encode_lesson("CI is slow", topic="ci")
    store.rewrite_identity(["Name: Ada"])
    assert [entry.text for entry in store.entries()] == ["CI is slow", "Name: Ada", "Use uv"]
    store.forget(lesson.id)
    assert [each.entry.text for each in store.archived()] == ["CI is slow"]
    assert store.restore(lesson.id).text == "CI is slow"
    assert [entry.text for entry in store.recall_topic("ci")] == ["CI is slow"]


def test_a_fact_moves_to_the_archive_for_the_new_one_of_its_key(store: Store) -> None:
    store.rewrite_identity(["Name: Ada"])
    store.rewrite_identity(["Name: Grace"])
    assert [entry.text for entry in store.recall_identity()] == ["Name: Grace"]
    assert [each.entry.text for each in store.archived()] == ["Name: Ada"]


def test_it_has_history_why_and_undo(store: Store) -> None:
    entry = store.encode_lesson("CI is slow")
    store.update(entry.id, "CI is fast")
    assert [step.op for step in store.history()] == ["encode", "update"]
    assert [step.op for step in store.why(entry.id)] == ["encode", "update"]
    store.undo()
    assert [each.text for each in store.recall_lessons()] == ["CI is slow"]
    assert [step.op for step in store.history()] == ["encode", "update", "undo"]
    texts = [(before, after) for _, before, after in store.versions("lessons.md")]
    assert texts[-1][0] is None
    assert texts[0][1] == texts[-1][1]


def test_an_undo_overwrites_nothing_that_came_later(store: Store) -> None:
    entry = store.encode_lesson("CI is slow")
    first = store.history()[0]
    store.update(entry.id, "CI is fast")
    with pytest.raises(UndoRefusedError):
        store.undo(first.id)


def test_it_carries_out_a_plan(store: Store) -> None:
    old, new = (store.encode_lesson(text) for text in ("CI is slow", "CI takes 9 minutes"))
    (done,) = store.apply([Revision((old,), "replaced", stays=new)])
    assert not done.problem
    assert [(each.entry.text, each.replaced) for each in store.archived()] == [(old.text, new.id)]


def test_a_dry_run_changes_nothing(store: Store) -> None:
    store.encode_lesson("CI is slow")
    store.dry_run()
    store.encode_lesson("CI is fast")
    assert [change.path.name for change in store.planned_changes()] == ["lessons.md"]
    assert len(store.history()) == 1
