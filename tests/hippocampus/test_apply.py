"""A plan on the disk: one step, undone byte for byte, beside other processes and a person."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.engram import Engram
from engramdown.errors import UndoRefusedError
from engramdown.hippocampus.changeset import Revision
from engramdown.hippocampus.entry import Entry
from engramdown.storage.disk import Disk

_APPENDING: Final = """
import sys
from engramdown import Hippocampus
from engramdown.storage.disk import Disk
store = Hippocampus(sys.argv[1], disk=Disk(durable=False))
for number in range(40):
    store.encode_lesson(f"worker {sys.argv[2]} learned {number}", topic="ci")
"""


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return a store with a few lessons and prose of a person."""
    store = Hippocampus(tmp_path, disk=Disk(durable=False))
    store.start()
    store.encode(
        [
            Engram("CI is slow", "lesson", "project", topic="CI", origin="s1#1"),
            Engram("CI is slow on Mondays", "lesson", "project", topic="CI", origin="s2#2"),
            Engram("The cache is warm after noon", "lesson", "project"),
            Engram("Never push on a Friday", "never", "project"),
            Engram("Do not push on Fridays", "never", "project"),
        ]
    )
    path = store.memory / "lessons.md"
    path.write_text(f"{path.read_text('utf-8')}\nMine, by hand.\n", encoding="utf-8")
    store.notice()
    return store


def find(store: Hippocampus, words: str) -> Entry:
    """Return the memory that says ``words``."""
    return next(entry for entry in store.entries() if entry.text == words)


def files(store: Hippocampus) -> dict[str, bytes]:
    """Return the bytes of every memory file."""
    paths = sorted(store.memory.rglob("*.md"))
    return {path.relative_to(store.memory).as_posix(): path.read_bytes() for path in paths}


def plan(store: Hippocampus) -> list[Revision]:
    """Return a plan over several files."""
    slow, mondays = find(store, "CI is slow"), find(store, "CI is slow on Mondays")
    stays, goes = find(store, "Never push on a Friday"), find(store, "Do not push on Fridays")
    merged = slow._replace(text="CI is slow, on Mondays", origin="s1#1,s2#2")
    return [
        Revision((slow, mondays), "merged", comes=merged),
        Revision((goes,), "duplicate", stays),
        Revision((find(store, "The cache is warm after noon"),), "expired"),
    ]


def test_a_plan_is_one_step_over_several_files(store: Hippocampus) -> None:
    done = store.apply(plan(store), why="compaction")
    assert [each.problem for each in done] == ["", "", ""]
    step = store.history()[-1]
    assert (step.op, step.by, step.why) == ("compact", "consolidation", "compaction")
    # What goes is in the archive before it leaves its place.
    assert step.files == ("archive.md", "lessons.md", "topics/ci.md", "rules.md")
    assert [(each.reason, each.by, each.was, each.replaced) for each in store.archived()] == [
        ("merged", "consolidation", "lessons.md", done[0].id),
        ("merged", "consolidation", "lessons.md", done[0].id),
        ("duplicate", "consolidation", "rules.md", done[1].id),
        ("expired", "consolidation", "lessons.md", ""),
    ]
    assert [entry.text for entry in store.recall_topic("ci")] == ["CI is slow, on Mondays"]
    assert find(store, "CI is slow, on Mondays").id == done[0].id


def test_undo_brings_back_every_byte(store: Hippocampus) -> None:
    before = files(store)
    store.apply(plan(store))
    assert files(store) != before
    store.undo()
    after = files(store)
    assert after.pop("archive.md") == b""
    assert after == before


def test_undo_goes_entry_by_entry_where_a_file_changed_since(store: Hippocampus) -> None:
    store.apply(plan(store))
    step = store.history()[-1]
    store.encode_lesson("Learned since", topic="ci")
    path = store.memory / "lessons.md"
    path.write_text(f"{path.read_text('utf-8')}\nMore of mine.\n", encoding="utf-8")
    store.undo(step.id)
    texts = [entry.text for entry in store.recall_lessons()]
    assert sorted(texts) == sorted(
        [
            *("CI is slow", "CI is slow on Mondays", "The cache is warm after noon"),
            *("Learned since", "Mine, by hand.", "More of mine."),
        ]
    )
    assert [entry.text for entry in store.recall_topic("ci")] == [
        "Learned since",
        "CI is slow",
        "CI is slow on Mondays",
    ]
    assert store.archived() == []


def test_undo_does_not_overwrite_what_a_person_made_of_a_merge(store: Hippocampus) -> None:
    store.apply(plan(store))
    step = store.history()[-1]
    path = store.memory / "lessons.md"
    path.write_text(path.read_text("utf-8").replace("slow, on", "slow, I say, on"), "utf-8")
    store.notice()
    before = files(store)
    with pytest.raises(UndoRefusedError):
        store.undo(step.id)
    assert files(store) == before


def test_each_memory_that_went_can_be_restored_to_its_place(store: Hippocampus) -> None:
    revisions = plan(store)
    store.apply(revisions)
    for revision in revisions:
        for entry in revision.taken:
            store.restore(entry.id)
            back = find(store, entry.text)
            assert back._replace(line=0) == entry._replace(line=0)
    assert store.archived() == []


def test_nothing_is_written_if_nothing_fits_any_more(store: Hippocampus) -> None:
    revisions = plan(store)
    for entry in [each for revision in revisions for each in revision.taken]:
        store.update(entry.id, f"{entry.text}, or is it?")
    before, steps = files(store), len(store.history())
    assert all("changed meanwhile" in each.problem for each in store.apply(revisions))
    assert files(store) == before
    assert len(store.history()) == steps


def test_a_plan_in_a_dry_run_writes_nothing(store: Hippocampus) -> None:
    before = files(store)
    store.dry_run()
    assert not any(each.problem for each in store.apply(plan(store)))
    assert {change.path.name for change in store.planned_changes()} == {
        *("archive.md", "lessons.md", "ci.md", "rules.md")
    }
    assert files(store) == before


def test_an_editor_that_was_open_before_takes_nothing_of_a_plan_back(store: Hippocampus) -> None:
    path = store.memory / "lessons.md"
    buffer = path.read_text("utf-8")
    (done, *_) = store.apply(plan(store))
    path.write_text(f"{buffer}\nTyped meanwhile.\n", encoding="utf-8")
    store.notice()
    texts = sorted(entry.text for entry in store.recall_lessons())
    assert texts == ["CI is slow, on Mondays", "Mine, by hand.", "Typed meanwhile."]
    assert store.find(done.id).text == "CI is slow, on Mondays"
    assert len(store.archived()) == 4


@pytest.mark.slow
def test_two_processes_append_and_a_person_edits_while_plans_are_applied(
    store: Hippocampus, child_env: dict[str, str]
) -> None:
    for number in range(20):
        store.encode_lesson(f"note {number}", topic="ci")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _APPENDING, str(store.root), str(worker)], env=child_env
        )
        for worker in range(2)
    ]
    path = store.memory / "lessons.md"
    taken, passed, mine = set[str](), 0, []
    seen = {entry.text: entry for entry in store.entries()}
    for number in range(20):
        line = f"Hand written {number}."
        mine.append(line)
        text = path.read_text("utf-8")
        # A person re-words every fourth of them in the moment before it would be taken.
        if number % 4 == 0:
            text = text.replace(f"- note {number} ", f"- note {number} is mine ")
        path.write_text(f"{text}\n{line}\n", encoding="utf-8")
        (done,) = store.apply([Revision((seen[f"note {number}"],), "expired")])
        passed += bool(done.problem)
        taken |= set() if done.problem else {f"note {number}"}
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    store.notice()
    texts = [entry.text for entry in store.entries()]
    archived = [each.entry.text for each in store.archived()]
    learned = {f"worker {worker} learned {number}" for worker in range(2) for number in range(40)}
    assert learned <= set(texts)
    assert set(mine) <= set(texts)
    assert taken <= set(archived)
    for number in range(20):
        words = f"note {number}"
        reworded = f"{words} is mine"
        stands = [text for text in (*texts, *archived) if text in (words, reworded)]
        assert stands, words
    assert passed >= 1
    assert not list(store.memory.glob("**/*.tmp"))
