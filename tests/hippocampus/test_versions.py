"""A change to a memory that names the version it saw is refused once there is another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engramdown import Cortex, Engram, Entry, Hippocampus, HippocampusProtocol
from engramdown.errors import ChangedError, StoreError
from engramdown.hippocampus import version
from tests.cortex.person import Person
from tests.hippocampus.memory_store import MemoryStore

Write = Callable[[Cortex, str, str], Entry]

WRITES = [
    pytest.param(lambda at, key, seen: at.scopes.update(key, "new", version=seen), id="update"),
    pytest.param(lambda at, key, seen: at.scopes.forget(key, version=seen), id="forget"),
    pytest.param(lambda at, key, seen: at.scopes.verify(key, version=seen), id="verify"),
    pytest.param(lambda at, key, seen: at.scopes.pin(key, version=seen), id="pin"),
]


def remembered(cortex: Cortex, text: str = "CI is slow on Mondays") -> Entry:
    """Remember a lesson, which also stands under its topic."""
    engram = Engram(text, "lesson", "project", "medium", "ci", "llm")
    return cortex.find(cortex.encode(engram)[0].id)


def store_of(cortex: Cortex) -> Hippocampus:
    """Return the store of the project."""
    store = cortex.scopes.project_hc
    assert isinstance(store, Hippocampus)
    return store


@pytest.mark.parametrize("write", WRITES)
def test_the_version_that_was_seen_may_be_changed(cortex: Cortex, write: Write) -> None:
    entry = remembered(cortex)
    assert write(cortex, entry.id, version(entry)).id == entry.id


@pytest.mark.parametrize("write", WRITES)
def test_another_version_stays_as_it_is(cortex: Cortex, person: Person, write: Write) -> None:
    entry = remembered(cortex)
    person.changes("lessons.md", "Mondays", "Tuesdays")
    with pytest.raises(ChangedError, match=r"lessons\.md: was changed since it was read"):
        write(cortex, entry.id, version(entry))
    assert cortex.find(entry.id).text == "CI is slow on Tuesdays"


def test_a_line_keeps_its_version_where_others_come_and_go(cortex: Cortex, person: Person) -> None:
    entry = remembered(cortex)
    person.saves("lessons.md", f"# Mine\n\n- First\n\n{person.reads('lessons.md')}")
    remembered(cortex, "Another one")
    now = cortex.find(entry.id)
    assert now.line != entry.line
    assert version(now) == version(entry)


def test_what_a_person_changed_keeps_its_version_when_it_is_marked(
    cortex: Cortex, person: Person
) -> None:
    entry = remembered(cortex)
    person.changes("lessons.md", "Mondays", "Tuesdays")
    cortex.scopes.notice()
    seen = version(cortex.find(entry.id))
    assert "basis:verified" not in person.reads("lessons.md")
    cortex.scopes.update(entry.id, "CI is slow", version=seen)
    assert "CI is slow <!-- id:" in person.reads("lessons.md")


def test_another_section_is_another_version(cortex: Cortex, person: Person) -> None:
    entry = cortex.find(cortex.encode(Engram("Use pip", "always", "project"))[0].id)
    person.changes("rules.md", "## Always", "## Never")
    with pytest.raises(ChangedError):
        cortex.scopes.update(entry.id, "Use pip, quietly", version=version(entry))


class TestWhatWasSeen:
    """The journal knows what an earlier version said."""

    def test_of_a_memory(self, cortex: Cortex) -> None:
        entry = remembered(cortex)
        for text in ("CI is fast", "CI is slow again"):
            cortex.update(entry.id, text)
        was = store_of(cortex).seen_as(entry.id, version(entry))
        assert was is not None
        assert (was.entry.text, was.id) == ("CI is slow on Mondays", entry.id)

    def test_of_one_that_stands_in_another_section_now(
        self, cortex: Cortex, person: Person
    ) -> None:
        entry = cortex.find(cortex.encode(Engram("Use pip", "always", "project"))[0].id)
        person.changes("rules.md", "## Always", "## Never")
        was = store_of(cortex).seen_as(entry.id, version(entry))
        assert was is not None
        assert (was.entry.kind, was.id) == ("always", entry.id)

    def test_of_a_line_that_was_written_by_hand_and_has_another_address_now(
        self, cortex: Cortex, person: Person
    ) -> None:
        remembered(cortex, "Deploy by hand")
        person.adds("lessons.md", "- CI is slow on Mondays")
        cortex.scopes.notice()
        _, entry = cortex.entries()
        person.changes("lessons.md", "Mondays", "Mondays and Fridays")
        cortex.scopes.notice()
        person.changes("lessons.md", "Fridays", "on Fridays")
        cortex.scopes.notice()
        was = store_of(cortex).seen_as(entry.id, version(entry))
        assert was is not None
        assert was.entry.text == "CI is slow on Mondays"
        assert cortex.find(was.id).text == "CI is slow on Mondays and on Fridays"

    def test_of_one_that_is_gone(self, cortex: Cortex) -> None:
        entry = remembered(cortex)
        cortex.forget(entry.id)
        was = store_of(cortex).seen_as(entry.id, version(entry))
        assert was is not None
        assert (was.entry.text, was.id) == ("CI is slow on Mondays", "")

    def test_of_one_that_it_does_not_have(self, cortex: Cortex) -> None:
        entry = remembered(cortex)
        cortex.update(entry.id, "CI is fast")
        assert store_of(cortex).seen_as(entry.id, "0" * 32) is None


class TestVerifying:
    """A person confirms a memory."""

    def test_it_is_theirs_then(self, cortex: Cortex) -> None:
        entry = remembered(cortex)
        assert not entry.by_person
        assert cortex.scopes.verify(entry.id).basis == "verified"
        assert cortex.find(entry.id).by_person
        assert {step.why for step in store_of(cortex).why(entry.id)} == {"", "verified"}

    def test_its_copy_under_the_topic_says_so_too(self, cortex: Cortex, person: Person) -> None:
        cortex.scopes.verify(remembered(cortex).id)
        assert "basis:verified" in person.reads("topics/ci.md")

    def test_a_line_of_theirs_stays_as_it_is(self, cortex: Cortex, person: Person) -> None:
        person.adds("lessons.md", "- CI is slow")
        (entry,) = cortex.entries()
        assert cortex.scopes.verify(entry.id).text == "CI is slow"
        assert person.reads("lessons.md") == "- CI is slow\n"

    def test_undo_takes_it_back(self, cortex: Cortex) -> None:
        entry = remembered(cortex)
        cortex.scopes.verify(entry.id)
        store_of(cortex).undo()
        assert version(cortex.find(entry.id)) == version(entry)


class TestPinning:
    """A person pins a memory."""

    def test_it_can_be_taken_out(self, cortex: Cortex) -> None:
        entry = remembered(cortex)
        assert cortex.scopes.pin(entry.id).pin
        assert not cortex.scopes.pin(entry.id, pinned=False).pin

    def test_a_line_of_theirs_is_as_before_after_it(self, cortex: Cortex, person: Person) -> None:
        person.adds("lessons.md", "- CI is slow")
        (entry,) = cortex.entries()
        assert cortex.scopes.pin(entry.id).pin
        assert person.reads("lessons.md") == "- CI is slow <!-- pin:yes -->\n"
        cortex.scopes.pin(entry.id, pinned=False)
        assert person.reads("lessons.md") == "- CI is slow\n"

    def test_another_store_keeps_no_such_notes(self) -> None:
        store: HippocampusProtocol = MemoryStore()
        entry = store.encode_lesson("CI is slow")
        cortex = Cortex(store, MemoryStore())
        with pytest.raises(StoreError, match="keeps no such notes"):
            cortex.scopes.pin(entry.id)
