"""What any store must do: the same tests over the store of files and over one without."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown import Hippocampus, HippocampusProtocol
from engramdown.engram import Kind
from engramdown.errors import AmbiguousIdError, EntryNotFoundError, InvalidEngramError
from engramdown.storage.disk import Disk
from tests.hippocampus.memory_store import MemoryStore


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> HippocampusProtocol:
    return Hippocampus(tmp_path) if request.param == "files" else MemoryStore()


def texts(store: HippocampusProtocol) -> list[str]:
    return [entry.text for entry in store.entries()]


def test_it_satisfies_the_protocol(store: HippocampusProtocol) -> None:
    assert isinstance(store, HippocampusProtocol)


def test_a_new_store_is_empty(store: HippocampusProtocol) -> None:
    assert store.entries() == store.recall_rules() == store.recall_lessons() == []
    assert store.recall_identity() == store.recall_scratchpad_wisdom() == []
    assert store.recall_topic("ci") == []


@pytest.mark.parametrize("kind", ["always", "never", "when"])
def test_a_rule_is_found_as_it_was_encoded(store: HippocampusProtocol, kind: Kind) -> None:
    written = store.encode_rule("Use uv", kind, "low", "consolidation")
    assert store.recall_rules() == [written]
    assert (written.kind, written.confidence, written.source) == (kind, "low", "consolidation")
    assert written.basis == "inferred"


def test_a_lesson_is_found_by_its_topic(store: HippocampusProtocol) -> None:
    lesson = store.encode_lesson("CI is slow", "Continuous Integration", "user")
    store.encode_lesson("Tea is hot")
    assert [str(entry) for entry in store.recall_topic("continuous integration")] == ["CI is slow"]
    assert (lesson.topic, lesson.basis) == ("continuous-integration", "told")
    assert [str(entry) for entry in store.recall_lessons()] == ["CI is slow", "Tea is hot"]


def test_a_fact_with_a_key_replaces_the_older_one(store: HippocampusProtocol) -> None:
    store.rewrite_identity(["Name: Ada", "Likes tea"])
    store.rewrite_identity(["name: Grace"])
    assert sorted(map(str, store.recall_identity())) == ["Likes tea", "name: Grace"]


def test_a_fact_that_comes_back_replaces_the_one_that_stands(store: HippocampusProtocol) -> None:
    (ada,) = store.rewrite_identity(["Name: Ada"])
    (grace,) = store.rewrite_identity(["Name: Grace"])
    assert store.restore(ada.id).text == "Name: Ada"
    assert list(map(str, store.recall_identity())) == ["Name: Ada"]
    assert store.restore(grace.id).id == grace.id
    assert list(map(str, store.recall_identity())) == ["Name: Grace"]


def test_a_fact_that_gets_the_key_of_another_one_replaces_it(store: HippocampusProtocol) -> None:
    city, name = store.rewrite_identity(["City: Rome", "Name: Ada"])
    changed = store.update(city.id, "Name: Grace")
    assert store.recall_identity() == [changed]
    assert changed.id == city.id
    assert store.update(city.id, "name: Grace Hopper").id == city.id
    assert store.restore(name.id).text == "Name: Ada"
    assert list(map(str, store.recall_identity())) == ["Name: Ada"]


def test_a_fact_that_gets_a_key_of_its_own_replaces_nothing(store: HippocampusProtocol) -> None:
    city, _ = store.rewrite_identity(["City: Rome", "Name: Ada"])
    store.update(city.id, "Town: Rome")
    assert list(map(str, store.recall_identity())) == ["Town: Rome", "Name: Ada"]


def test_the_newest_lessons_that_fit_are_recalled(store: HippocampusProtocol) -> None:
    for text in ("old" * 10, "huge" * 500, "new"):
        store.encode_lesson(text)
    assert [str(entry) for entry in store.recall_lessons(12)] == ["old" * 10, "new"]
    assert store.recall_lessons(0) == []


def test_what_is_about_scratchpads_is_wisdom(store: HippocampusProtocol) -> None:
    store.encode_rule("When a Scratchpad fails, restart it", "when")
    store.encode_rule("Never share a scratchpad", "never")
    store.encode_lesson("It needs numpy", "scratchpad")
    found = [str(entry) for entry in store.recall_scratchpad_wisdom()]
    assert found == ["When a Scratchpad fails, restart it", "It needs numpy"]


def test_what_is_the_same_is_kept_once(store: HippocampusProtocol) -> None:
    first = store.encode_rule("Use  UV!", "always")
    assert store.encode_rule("use uv", "always").id == first.id
    assert texts(store) == ["Use  UV!"]


def test_what_is_forgotten_can_be_restored(store: HippocampusProtocol) -> None:
    entry = store.encode_rule("Use uv", "always")
    assert store.forget(entry.id[:4]).id == entry.id
    assert texts(store) == []
    assert store.restore(entry.id).text == "Use uv"
    assert [each.id for each in store.entries()] == [entry.id]


def test_an_id_outlives_a_change_of_text(store: HippocampusProtocol) -> None:
    entry = store.encode_lesson("CI is slow", "ci")
    changed = store.update(entry.id, "CI is fast now")
    assert (changed.id, changed.text, changed.topic) == (entry.id, "CI is fast now", "ci")
    assert texts(store) == ["CI is fast now"]


def test_an_unknown_id_is_an_error(store: HippocampusProtocol) -> None:
    for act in (store.forget, store.restore):
        with pytest.raises(EntryNotFoundError, match="zzzzzzzz"):
            act("zzzzzzzz")


def test_a_prefix_of_several_is_an_error(store: HippocampusProtocol) -> None:
    for number in range(40):
        store.encode_lesson(f"Lesson {number}")
    first = store.entries()[0].id[0]
    with pytest.raises((AmbiguousIdError, EntryNotFoundError)):
        store.update(first if isinstance(store, MemoryStore) else "", "x")


@pytest.mark.parametrize("text", ["", "  \n", "\ud800"], ids=["empty", "blank", "half"])
def test_what_is_no_text_is_refused(store: HippocampusProtocol, text: str) -> None:
    with pytest.raises(InvalidEngramError, match="text"):
        store.encode_rule(text, "always")
    with pytest.raises(InvalidEngramError, match="text"):
        store.encode_lesson(text)
    assert store.entries() == []


@given(text=st.text(min_size=1).filter(lambda text: not text.isspace()))
def test_what_is_read_is_what_was_encoded(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    files = Hippocampus(tmp_path_factory.mktemp("scope"), disk=Disk(durable=False))
    for store in (files, MemoryStore()):
        store.encode_rule(text, "when")
        store.encode_lesson(text, "any topic")
        store.rewrite_identity([text])
        assert texts(store) == [text] * 3
