"""What a person took out of one file and what stands in the others: moved, or deleted here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from engramdown.hippocampus.disk import Disk
from engramdown.hippocampus.store import Hippocampus
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


def test_the_rule_that_stays_is_shown_and_heard_again_and_the_lesson_is_not(
    tmp_path: Path,
) -> None:
    cortex = Cortex.open(project=tmp_path / "project", home=tmp_path / "home", mode="autopilot")
    rule = Engram("Retry twice", "always", "project", source="user")
    lesson = Engram("Retry twice", "lesson", "project")
    cortex.encode([rule, lesson])
    (store,) = (store for store in cortex.stores if store.scope == "project")
    take_out(store, "lessons.md", "Retry")
    again = replace(rule, source="llm")
    assert [receipt.action for receipt in cortex.propose([again, lesson])] == [
        "merged",
        "discarded",
    ]
    assert str(cortex.build_memory_context()).count("Retry twice") == 1
