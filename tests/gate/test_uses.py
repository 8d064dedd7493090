"""What was shown and recalled is counted beside what git tracks, until the memory is erased."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from freezegun import freeze_time

from engramdown import Cortex, Engram
from engramdown.storage.usage import Used
from tests.git.desk import Desk

AT = "2026-03-01T10:00:00.000000Z"


@pytest.fixture
def cortex(tmp_path: Path) -> Cortex:
    (tmp_path / "project" / ".engramdown").mkdir(parents=True)
    cortex = Cortex.open(tmp_path / "project", tmp_path / "home")
    cortex.encode([
        Engram("The plum tree stands behind the red barn", "lesson", "project"),
        Engram("The build takes nine minutes", "lesson", "project"),
        Engram("Use uv", "always", "global"),
    ])  # fmt: skip
    return cortex


def uses(cortex: Cortex) -> dict[str, int]:
    texts = {entry.id: entry.text.split()[-1] for entry in cortex.entries()}
    counts = cortex.scopes.uses().items()
    return {f"{name[:-8]}{texts[name[-8:]]}": used.times for name, used in counts}


@freeze_time("2026-03-01 10:00")
def test_what_was_shown_and_recalled_is_counted(cortex: Cortex) -> None:
    plum = next(entry for entry in cortex.entries() if "plum" in entry.text)
    assert cortex.why(plum.id).shown == Used()
    cortex.build_memory_context("hello")
    with cortex.session() as session:
        session.begin_turn("Why?")
        session.end_turn("So.")
    cortex.recall("plum")
    cortex.use_tool("recall", {"query": "plum"})
    assert uses(cortex) == {
        **dict.fromkeys(("shown/barn", "shown/minutes", "shown/uv"), 2),
        "recalled/barn": 2,
    }
    assert (cortex.why(plum.id).shown, cortex.why(plum.id).recalled) == (Used(2, AT), Used(2, AT))


def test_looking_at_the_past_and_mode_off_count_nothing(cortex: Cortex, tmp_path: Path) -> None:
    past = Cortex.open(tmp_path / "project", tmp_path / "home", as_of="2026-01-01")
    past.build_memory_context()
    cortex.mode = "off"
    cortex.build_memory_context()
    cortex.recall("plum")
    assert cortex.scopes.uses() == {}


def test_git_does_not_see_the_counter(cortex: Cortex, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "project")
    cortex.build_memory_context()
    assert (desk.top / ".engramdown" / "memory-usage.jsonl").is_file()
    assert "usage" not in desk.git("status", "--short", "--untracked-files=all")


def test_an_erased_memory_has_no_count(cortex: Cortex, tmp_path: Path) -> None:
    lessons = tmp_path / "project" / ".engramdown" / "memory" / "lessons.md"
    with lessons.open("a", encoding="utf-8") as file:
        file.write("- The pear tree stands beside the old well\n")
    cortex.build_memory_context("tree")
    cortex.recall("tree")
    gone = [entry.id for entry in cortex.entries() if "tree" in entry.text]
    counter = tmp_path / "project" / ".engramdown" / "memory-usage.jsonl"
    assert all(name in counter.read_text(encoding="utf-8") for name in gone)
    for name in gone:
        cortex.review.erase(name)
    text = counter.read_text(encoding="utf-8")
    assert not any(name[1:] in text for name in gone)
    assert [name for line in text.splitlines() for name in json.loads(line)["names"]]


def test_what_cannot_be_counted_is_shown_all_the_same(cortex: Cortex, tmp_path: Path) -> None:
    (tmp_path / "project" / ".engramdown" / "memory-usage.jsonl").mkdir()
    assert "plum" in str(cortex.build_memory_context())
    assert cortex.recall("plum")
