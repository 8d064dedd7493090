"""What a person took out of one file and what stands in the others: moved, or deleted here."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.hippocampus.editors import save


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    return Hippocampus(tmp_path / ".engramdown", disk=Disk(durable=False))


def read(store: Hippocampus, name: str) -> str:
    return (store.memory / name).read_text(encoding="utf-8")


def line_of(store: Hippocampus, name: str, word: str) -> str:
    return next(line for line in read(store, name).split("\n") if word in line)


def append(store: Hippocampus, name: str, line: str) -> None:
    path = store.memory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def take_out(store: Hippocampus, name: str, word: str) -> None:
    lines = [line for line in read(store, name).split("\n") if word not in line]
    save("in-place", store.memory / name, "\n".join(lines))


def texts(store: Hippocampus) -> list[tuple[str, str]]:
    return [(entry.file, entry.text) for entry in store.entries()]


def retired(store: Hippocampus) -> list[tuple[str, str, str]]:
    return [(item.entry.text, item.entry.kind, item.reason) for item in store.archived()]


def test_a_lesson_that_stands_as_a_rule_too_is_deleted_as_a_lesson(store: Hippocampus) -> None:
    store.encode_rule("Retry twice", "always")
    store.encode_lesson("Retry twice", topic="ci")
    store.encode_lesson("Pin the image", topic="ci")
    take_out(store, "lessons.md", "Retry")
    store.notice()
    assert texts(store) == [("rules.md", "Retry twice"), ("lessons.md", "Pin the image")]
    assert [entry.text for entry in store.recall_topic("ci")] == ["Pin the image"]
    assert retired(store) == [("Retry twice", "lesson", "deleted")]


def test_a_rule_that_stands_as_a_lesson_too_is_deleted_as_a_rule(store: Hippocampus) -> None:
    store.encode_rule("Retry twice", "never")
    store.encode_lesson("Retry twice", topic="ci")
    take_out(store, "rules.md", "Retry")
    store.notice()
    assert texts(store) == [("lessons.md", "Retry twice")]
    assert retired(store) == [("Retry twice", "never", "deleted")]


def test_a_lesson_that_was_filed_under_another_topic_before_stays(store: Hippocampus) -> None:
    store.encode_lesson("Retry twice", topic="ci")
    append(store, "topics/net.md", line_of(store, "lessons.md", "Retry"))
    store.encode_rule("A step of ours", "always")
    take_out(store, "topics/ci.md", "Retry")
    store.notice()
    assert ("lessons.md", "Retry twice") in texts(store)
    assert retired(store) == []


def test_a_proposal_that_was_moved_by_hand_is_not_declined(store: Hippocampus) -> None:
    append(store, "pending.md", "- [ ] Retry twice <!-- id:k3v9q2ht kind:always -->")
    append(store, "pending.md", "- [ ] Pin the image <!-- id:k3v9q2hu kind:always -->")
    store.encode_lesson("A step of ours")
    take_out(store, "pending.md", "[ ]")
    append(store, "rules.md", "## Always\n\n- Retry twice")
    store.notice()
    assert [rule.text for rule in store.recall_rules()] == ["Retry twice"]
    assert retired(store) == [("Pin the image", "always", "declined")]


def test_the_rule_that_stays_is_shown_and_heard_again_and_the_lesson_is_not(tmp_path: Path) -> None:
    cortex = Cortex.open(project=tmp_path / "project", home=tmp_path / "home", mode="autopilot")
    rule = Engram("Retry twice", "always", "project", source="user")
    lesson = Engram("Retry twice", "lesson", "project")
    cortex.encode([rule, lesson])
    (store,) = (store for store in cortex.scopes.stores if store.scope == "project")
    take_out(store, "lessons.md", "Retry")
    again = replace(rule, source="llm")
    assert [receipt.action for receipt in cortex.propose([again, lesson])] == [
        "merged",
        "discarded",
    ]
    assert str(cortex.build_memory_context()).count("Retry twice") == 1


@pytest.fixture
def topics(store: Hippocampus) -> Path:
    """Return the folder of topics, with two lessons of one topic and one of another."""
    for text, topic in (("Retry twice", "ci"), ("Pin the image", "ci"), ("Two passes", "build")):
        store.encode_lesson(text, topic=topic)
    return store.memory / "topics"


def test_a_topic_file_that_was_removed_takes_its_lessons_along(
    store: Hippocampus, topics: Path
) -> None:
    append(store, "topics/ci.md", "- By hand")
    store.notice()
    (topics / "ci.md").unlink()
    other = Hippocampus(store.root, disk=Disk(durable=False))
    assert other.notice() is True
    assert texts(other) == [("lessons.md", "Two passes")]
    assert [text for text, _, _ in retired(other)] == ["Retry twice", "Pin the image", "By hand"]
    assert not (topics / "ci.md").exists()
    assert other.notice() is False
    assert Hippocampus(store.root).notice() is False


def test_a_folder_of_topics_may_be_removed(store: Hippocampus, topics: Path) -> None:
    shutil.rmtree(topics)
    assert store.notice() is True
    assert texts(store) == []
    assert {text for text, _, _ in retired(store)} == {"Retry twice", "Pin the image", "Two passes"}
    store.encode_lesson("Written by us", topic="ci")
    assert texts(store) == [("lessons.md", "Written by us")]


def test_a_folder_of_topics_that_is_gone_for_a_moment_is_waited_for(
    store: Hippocampus, topics: Path
) -> None:
    aside = topics.with_name("aside")
    topics.rename(aside)
    back = threading.Timer(0.1, aside.rename, [topics])
    back.start()
    assert store.notice() is False
    back.join()
    assert len(texts(store)) == 3
    assert retired(store) == []


def test_a_topic_file_that_got_another_name_was_moved(store: Hippocampus, topics: Path) -> None:
    (topics / "ci.md").rename(topics / "pipeline.md")
    assert store.notice() is True
    assert len(texts(store)) == 3
    assert retired(store) == []
    assert [entry.text for entry in store.recall_topic("pipeline")] == [
        "Retry twice",
        "Pin the image",
    ]


def test_a_topic_that_comes_back_is_no_longer_kept_out(store: Hippocampus, topics: Path) -> None:
    text = read(store, "topics/ci.md")
    (topics / "ci.md").unlink()
    store.notice()
    (topics / "ci.md").write_text(text, encoding="utf-8")
    assert store.notice() is True
    assert [entry.text for entry in store.recall_topic("ci")] == ["Retry twice", "Pin the image"]
    assert retired(store) == []


def test_lessons_that_went_with_their_topic_can_be_restored_to_both_places(
    store: Hippocampus, topics: Path
) -> None:
    before = sorted(texts(store))
    (topics / "ci.md").unlink()
    store.notice()
    for item in store.archived():
        store.restore(item.entry.id)
    assert sorted(texts(store)) == before
    assert [entry.text for entry in store.recall_topic("ci")] == ["Retry twice", "Pin the image"]


def test_lessons_are_among_the_others_again_when_their_topic_comes_back(
    store: Hippocampus, topics: Path
) -> None:
    append(store, "topics/ci.md", "- By hand")
    store.notice()
    before, aside = sorted(texts(store)), topics.with_name("aside")
    topics.rename(aside)
    store.notice()
    assert texts(store) == []
    aside.rename(topics)
    store.notice()
    assert sorted(texts(store)) == before
    assert retired(store) == []


def test_a_lesson_that_stood_only_under_its_topic_comes_back_only_there(
    store: Hippocampus, topics: Path
) -> None:
    append(store, "topics/ci.md", "- Only here <!-- id:aaaaaaaa topic:ci -->")
    store.notice()
    before, text = sorted(texts(store)), read(store, "topics/ci.md")
    (topics / "ci.md").unlink()
    store.notice()
    (topics / "ci.md").write_text(text, encoding="utf-8")
    store.notice()
    assert sorted(texts(store)) == before
