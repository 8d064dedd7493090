"""What a person sees of undo, the archive and the journal across the whole library."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from engramdown.errors import EntryNotFoundError
from engramdown.hippocampus.files import WriteSession


@pytest.fixture
def cortex(tmp_path: Path) -> Cortex:
    return Cortex.open(project=tmp_path / "project", home=tmp_path / "home", mode="copilot")


def test_a_proposal_that_is_back_waits_again(cortex: Cortex) -> None:
    store = cortex.scopes.stores[1]
    cortex.propose(Engram("Prefer fixtures", "always", "project"))
    pending = store.memory / "pending.md"
    waiting = pending.read_text(encoding="utf-8")
    pending.write_text(waiting.replace("[ ]", "[x]"), encoding="utf-8")
    assert [receipt.action for receipt in cortex.review.apply_ticks()] == ["encoded"]
    store.undo()
    assert pending.read_text(encoding="utf-8") == waiting
    assert cortex.review.apply_ticks() == []
    assert [proposal.engram.text for proposal in cortex.pending()] == ["Prefer fixtures"]


def test_setting_up_is_not_taken_back_in_passing(cortex: Cortex) -> None:
    store = cortex.scopes.stores[1]
    store.start()
    with pytest.raises(EntryNotFoundError, match="nothing is left to undo"):
        store.undo()


def test_a_secret_that_a_person_deletes_does_not_go_into_the_archive(cortex: Cortex) -> None:
    store = cortex.scopes.stores[1]
    store.encode_rule("Use uv", kind="always")
    rules = store.memory / "rules.md"
    before = rules.read_text(encoding="utf-8")
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    rules.write_text(f"{before}\n- Push with {key}\n", encoding="utf-8")
    store.notice()
    rules.write_text(before, encoding="utf-8")
    store.notice()
    archive = (store.memory / "archive.md").read_text(encoding="utf-8")
    assert key not in archive
    assert "[redacted: GitHub token]" in archive


def test_another_kind_of_memory_leaves_what_was_forgotten_in_the_archive(cortex: Cortex) -> None:
    store = cortex.scopes.stores[1]
    rule = store.encode_rule("Commit generated files", kind="never", source="user")
    store.forget(rule.id)
    store.encode_lesson("Commit generated files")
    assert store.restore(rule.id).kind == "never"


def test_a_lesson_is_filed_under_each_topic_it_is_told_with(cortex: Cortex) -> None:
    store = cortex.scopes.stores[1]
    for topic in ("one", "two"):
        store.encode_lesson("CI is slow", topic)
    assert [str(entry) for entry in store.recall_topic("two")] == ["CI is slow"]
    assert len(store.entries()) == 1


def test_a_journal_that_grows_behind_our_back_does_not_stop_a_step(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = cortex.scopes.stores[1]
    store.encode_rule("one", kind="always")
    bring = store.files._bring_in_order

    def meddle(hold: WriteSession) -> None:
        bring(hold)
        with (store.root / "history.jsonl").open("a", encoding="utf-8") as journal:
            journal.write("\n")
        with (store.memory / "rules.md").open("a", encoding="utf-8") as rules:
            rules.write("- by hand\n")

    monkeypatch.setattr(store.files, "_bring_in_order", meddle)
    store.encode_rule("two", kind="always")
    assert sorted(map(str, store.recall_rules())) == ["by hand", "one", "two"]
