"""What a graph puts and a person is asked about stands under its key once they accept it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import PutOp

from engramdown import Cortex
from engramdown.errors import EntryNotFoundError, PutRefusedError
from engramdown.gate.pending import Proposal
from engramdown.hippocampus.store import Hippocampus
from engramdown.integrations.langgraph import MemoryStore
from tests.cortex.person import Person

USER = ("users", "42")


@pytest.fixture
def store(copilot: Cortex) -> MemoryStore:
    """Return a store whose user wants to be asked."""
    return MemoryStore(copilot)


def asked(store: MemoryStore, *ops: PutOp) -> list[Proposal]:
    """Put what waits, and return what waits now."""
    with pytest.raises(PutRefusedError, match="waits for the user's yes"):
        store.batch(ops)
    return store.cortex.pending()


def value_of(store: MemoryStore, key: str, namespace: tuple[str, ...] = USER) -> object:
    item = store.get(namespace, key)
    return None if item is None else item.value


def test_what_is_accepted_stands_under_its_key(store: MemoryStore, cortex: Cortex) -> None:
    value = {"data": "Likes noodles", "since": [2026], "deep": {"a": None}}
    (waits,) = asked(store, PutOp(USER, "food", value))
    assert value_of(store, "food") is None
    assert waits.reason == (
        "you want to be asked about what is not certain; "
        """a program keeps it as users/42 'food', with {"since":[2026],"deep":{"a":null}}"""
    )
    receipt = cortex.resolve(waits.id, "accept")
    assert receipt.action == "encoded"
    again = MemoryStore(cortex.reopened())
    assert value_of(store, "food") == value_of(again, "food") == value
    assert [each.key for each in again.search(("users",), query="noodles")] == ["food"]
    assert cortex.pending() == []
    (entry,) = [each for each in cortex.entries() if each.id == receipt.id]
    assert (entry.basis, entry.source) == ("verified", "llm")


def test_so_does_what_is_ticked_in_the_file(store: MemoryStore, person: Person) -> None:
    asked(store, PutOp(USER, "food", {"data": "Likes noodles"}, index=False))
    person.ticks("Likes noodles")
    store.cortex.review.apply_ticks()
    assert value_of(store, "food") == {"data": "Likes noodles"}
    assert store.search(USER, query="noodles") == []


def test_what_a_person_made_of_it_is_what_stands(store: MemoryStore, cortex: Cortex) -> None:
    (waits,) = asked(store, PutOp(USER, "food", {"data": "Likes noodles", "n": 1}))
    cortex.resolve(waits.id, "accept", "Likes soup")
    assert value_of(store, "food") == {"data": "Likes soup", "n": 1}


def test_what_is_declined_stands_nowhere(store: MemoryStore, cortex: Cortex) -> None:
    (waits,) = asked(store, PutOp(USER, "food", {"data": "Likes noodles"}))
    cortex.resolve(waits.id, "decline")
    assert value_of(store, "food") is None
    assert store.search(()) == []


def test_what_it_replaces_goes_to_the_archive(store: MemoryStore, person: Person) -> None:
    store.cortex.mode = "autopilot"
    store.put(USER, "food", {"data": "Likes noodles", "n": 1})
    made = store.get(USER, "food")
    store.cortex.mode = "copilot"
    (waits,) = asked(store, PutOp(USER, "food", {"data": "Likes soup"}))
    store.cortex.resolve(waits.id, "accept")
    item = store.get(USER, "food")
    assert made is not None
    assert item is not None
    assert item.value == {"data": "Likes soup"}
    assert item.created_at == made.created_at < item.updated_at
    assert "Likes noodles" in person.reads("archive.md")
    assert [each.value for each in store.search(USER)] == [{"data": "Likes soup"}]


def test_a_key_that_was_put_meanwhile_has_one_line(store: MemoryStore) -> None:
    (waits,) = asked(store, PutOp(USER, "food", {"data": "Likes noodles", "n": 1}))
    MemoryStore(store.cortex, confidence="high").put(USER, "food", {"data": "Likes tea", "m": 2})
    store.cortex.resolve(waits.id, "accept")
    assert [each.value for each in store.search(USER)] == [{"data": "Likes noodles", "n": 1}]
    hippocampus = store.cortex.scopes.project_hc
    assert isinstance(hippocampus, Hippocampus)
    hippocampus.undo()
    assert value_of(store, "food") == {"data": "Likes tea", "m": 2}


def test_what_is_put_again_takes_the_place_of_what_waits(store: MemoryStore) -> None:
    for count in range(5):
        asked(store, PutOp(USER, "visits", {"count": count}), PutOp(USER, "food", {"data": "Tea"}))
    assert sorted(each.engram.text for each in store.cortex.pending()) == ["Tea", '{"count": 4}']
    first = store.cortex.pending()[0]
    asked(store, PutOp(USER, "food", {"data": "tea"}))
    with pytest.raises(EntryNotFoundError):
        store.cortex.resolve(first.id, "accept")


@pytest.mark.parametrize("mode", ["copilot", "autopilot"])
def test_what_is_deleted_before_anybody_was_asked_does_not_wait(
    store: MemoryStore, person: Person, mode: str
) -> None:
    asked(store, *(PutOp(USER, key, {"data": key}) for key in ("tea", "cola")))
    person.ticks("cola")
    store.cortex.mode = "autopilot" if mode == "autopilot" else "copilot"
    store.batch([PutOp(USER, key, None) for key in ("tea", "cola", "beer")])
    assert [each.engram.text for each in store.cortex.pending()] == ["cola"]


def test_but_not_of_what_a_person_looked_at(store: MemoryStore, person: Person) -> None:
    asked(store, PutOp(USER, "food", {"data": "tea"}), PutOp(USER, "drink", {"data": "cola"}))
    person.changes("pending.md", "[ ] tea", "[ ] TEA")
    person.ticks("cola")
    asked(store, PutOp(USER, "food", {"data": "milk"}), PutOp(USER, "drink", {"data": "beer"}))
    assert [each.engram.text for each in store.cortex.pending()] == ["TEA", "cola", "milk", "beer"]


def test_the_same_words_wait_under_each_key(store: MemoryStore, cortex: Cortex) -> None:
    waits = asked(store, *(PutOp(USER, key, {"data": "yes"}) for key in ("a", "b")))
    waits = asked(store, PutOp(("users", "7"), "a", {"data": "yes"}))
    for each in waits:
        cortex.resolve(each.id, "accept")
    found = {(each.namespace, each.key): each.value for each in store.search(())}
    everywhere = [(USER, "a"), (USER, "b"), (("users", "7"), "a")]
    assert found == {place: {"data": "yes"} for place in everywhere}


@pytest.mark.parametrize(
    "namespace, file",
    [
        (("project", "rules"), "rules.md"),
        (("project", "lessons"), "lessons.md"),
        (("project", "topics", "ci"), "topics/ci.md"),
    ],
)
def test_what_is_accepted_for_a_file_of_memories_stands_there(
    store: MemoryStore, person: Person, namespace: tuple[str, ...], file: str
) -> None:
    (waits,) = asked(store, PutOp(namespace, "k", {"text": "Use uv", "kind": "never"}))
    store.cortex.resolve(waits.id, "accept")
    assert value_of(store, "k", namespace) == {"text": "Use uv", "kind": "never"}
    assert "Use uv" in person.reads(file)


def test_a_fact_that_is_accepted_stands_in_the_global_profile(store: MemoryStore) -> None:
    namespace = ("global", "profile")
    (waits,) = asked(store, PutOp(namespace, "name", {"text": "Is called Ada"}))
    store.cortex.resolve(waits.id, "accept")
    assert value_of(store, "name", namespace) == {"text": "Is called Ada"}


@pytest.mark.parametrize(
    "old, new",
    [("kind:lesson", "kind:always"), ("ns:users.42", "ns:global.rules"), ("users-", "x-")],
)
def test_what_a_person_makes_another_memory_has_no_key(
    store: MemoryStore, person: Person, old: str, new: str
) -> None:
    asked(store, PutOp(USER, "food", {"data": "Likes noodles"}))
    person.changes("pending.md", old, new)
    person.ticks("Likes noodles")
    store.cortex.review.apply_ticks()
    assert value_of(store, "food") is None
    assert [each.text for each in store.cortex.entries()] == ["Likes noodles"]


def test_what_is_accepted_to_be_deleted_is_gone(store: MemoryStore) -> None:
    MemoryStore(store.cortex, confidence="high").put(USER, "food", {"data": "Likes noodles"})
    (waits,) = asked(store, PutOp(USER, "food", None))
    store.cortex.resolve(waits.id, "accept")
    assert value_of(store, "food") is None


_texts = st.text(st.characters(codec="utf-8")) | st.sampled_from(
    ["  a  ", "a\n", "\n\na", "[x] a", "- a", "a\n\nb", "# a", "```\na\n```", "a\r\nb", "\u2028a"]
)
_values = st.dictionaries(
    st.sampled_from(["text", "data", "content", "n"]),
    _texts | st.integers() | st.dictionaries(_texts, _texts, max_size=2),
    max_size=3,
)


@pytest.mark.slow
@settings(max_examples=40)
@given(key=_texts.filter(bool), value=_values)
def test_whatever_waits_comes_back_as_it_was_put(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    store = MemoryStore(
        Cortex.open(project=folder / "project", home=folder / "home", mode="copilot")
    )
    (waits,) = asked(store, PutOp(USER, key, value))
    store.cortex.resolve(waits.id, "accept")
    assert value_of(MemoryStore(store.cortex.reopened()), key) == value
