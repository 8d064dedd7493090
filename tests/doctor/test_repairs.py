"""What doctor --fix does to a store."""

from __future__ import annotations

from datetime import date
from itertools import tee
from pathlib import Path
from typing import Final

import pytest

from engramdown.doctor.checks import repair
from engramdown.errors import EntryNotFoundError
from engramdown.hippocampus import new_id
from engramdown.hippocampus.store import Hippocampus

TODAY: Final = date(2026, 3, 15)
OURS: Final = (
    "# Lessons\n\n"
    "- CI is slow <!-- id:k3v9q2ht topic:ci source:llm expires:2026-01-01 -->\n"
    "- Use uv <!-- id:7m0xw4ce source:llm confidence:High ts:2026-01-01 -->\n"
    "- use uv <!-- id:5m7p9r1t source:llm ts:2026-01-02 -->\n"
    "- Other <!-- id:7m0xw4ce source:llm expires:2026-01-01 -->\n"
    "- Mine <!-- expires:2026-01-01 -->\n"
    "- mine\n"
)


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return a store in which there is something to mend."""
    memory = tmp_path / "memory"
    (memory / "topics").mkdir(parents=True)
    (memory / "lessons.md").write_text(OURS, encoding="utf-8")
    (memory / "topics" / "ci.md").write_text(f"{OURS.split(chr(10))[2]}\n", encoding="utf-8")
    return Hippocampus(tmp_path)


def lessons(store: Hippocampus) -> str:
    return (store.memory / "lessons.md").read_text(encoding="utf-8")


def test_what_is_ours_is_mended_and_the_rest_stays(store: Hippocampus) -> None:
    repair(store, TODAY, new_id)
    assert lessons(store) == (
        "# Lessons\n\n"
        "- Use uv <!-- id:7m0xw4ce source:llm confidence:high ts:2026-01-01 -->\n"
        "- Mine <!-- expires:2026-01-01 -->\n"
        "- mine\n"
    )
    assert (store.memory / "topics" / "ci.md").read_text(encoding="utf-8") == ""
    assert sorted(each.entry.text for each in store.archived()) == ["CI is slow", "Other"]


def test_every_step_can_be_taken_back(store: Hippocampus) -> None:
    repair(store, TODAY, new_id)
    assert {step.why for step in store.history() if step.by == "user"} == {"doctor", "expired"}
    while any(step.by == "user" for step in store.history()) and lessons(store) != OURS:
        store.undo()
    assert lessons(store) == OURS


def test_a_dry_run_writes_nothing_and_shows_what_will_be_written(store: Hippocampus) -> None:
    tried, written = tee(iter(new_id, ""))
    trial = Hippocampus(store.root)
    trial.dry_run()
    repair(trial, TODAY, tried.__next__)
    assert lessons(store) == OURS
    shown = {change.path.name: change.after for change in trial.planned_changes()}
    repair(store, TODAY, written.__next__)
    assert shown["lessons.md"] == lessons(store)


def test_nothing_to_mend_is_no_step(tmp_path: Path) -> None:
    store = Hippocampus(tmp_path)
    store.encode_lesson("CI is slow")
    before = store.history()
    repair(store, TODAY, new_id)
    assert store.history() == before


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    (memory / "topics" / "ci.md").mkdir(parents=True)
    (memory / "lessons.md").write_text("- a <!-- id:k3v9q2ht ts:2026/1/1 -->\n", encoding="utf-8")
    store = Hippocampus(tmp_path)
    store.dry_run()
    repair(store, TODAY, new_id)
    assert [change.after for change in store.planned_changes()] == [
        "- a <!-- id:k3v9q2ht ts:2026-01-01 -->\n"
    ]


def test_a_memory_that_is_gone_meanwhile_is_no_error(
    store: Hippocampus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: Hippocampus, entry_id: str, why: str = "", reason: str = "") -> None:
        del reason
        raise EntryNotFoundError(entry_id, why)

    monkeypatch.setattr(Hippocampus, "forget", gone)
    repair(store, TODAY, new_id)
    assert "- CI is slow" in lessons(store)
    assert "- use uv" not in lessons(store)
