"""From a decision to a receipt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest
from freezegun import freeze_time

from engramdown.engram import Engram
from engramdown.errors import StoreError
from engramdown.gate.gate import Decision
from engramdown.gate.intake import (
    Decided,
    Receipt,
    discard,
    encode_into,
    failed,
    queue_into,
    waiting_receipt,
    written_receipt,
)
from engramdown.gate.pending import Pending, PlainQueue
from engramdown.gate.pending_file import FileQueue
from engramdown.hippocampus.entry import Written
from engramdown.hippocampus.store import Hippocampus
from tests.cortex.entries import entry

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
YES: Final = Decision("encode", "high confidence")
ASK: Final = Decision("confirm", "holds a secret", code="secret")
HOLD: Final = Decision("confirm", "contradicts", held=True, code="contradiction")
NO: Final = Decision("discard", "memory is switched off", code="off")


def said(text: str) -> Engram:
    """Return a lesson of the project."""
    return Engram(text, "lesson", "project")


def batch(*pairs: tuple[str, Decision]) -> list[Decided]:
    """Return engrams with what was decided about them."""
    return [Decided(at, said(text), decision) for at, (text, decision) in enumerate(pairs)]


class FullStore(Hippocampus):
    """A store that cannot be written."""

    def encode(self, engrams: Iterable[Engram]) -> list[Written]:
        """Fail."""
        raise StoreError(f"no space left for {len(list(engrams))}")


class FullQueue(PlainQueue):
    """A queue that cannot be written."""

    def add(self, items: Sequence[Pending]) -> list[Pending]:
        """Fail."""
        raise StoreError(f"no space left for {len(items)}")


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return an empty store."""
    return Hippocampus(tmp_path / ".engramdown")


def test_what_is_written_says_where_it_stands(store: Hippocampus) -> None:
    receipts = encode_into(store, batch(("Use uv", YES), ("Use tabs", NO)))
    (found,) = store.entries()
    assert receipts == {
        0: Receipt(said("Use uv"), "encoded", "high confidence", found.id, "lessons.md", 3)
    }


def test_what_is_known_says_where_it_stands_already(store: Hippocampus) -> None:
    known = store.encode([said("Use uv")])[0].entry
    receipts = encode_into(store, batch(("use UV.", YES)))
    assert receipts[0].action == "merged"
    assert receipts[0].reason == "known already"
    assert (receipts[0].id, receipts[0].line) == (known.id, known.line)


def test_receipts_come_by_place(store: Hippocampus) -> None:
    decided = batch(("One", NO), ("Two", YES), ("Three", ASK), ("Four", YES))
    receipts = encode_into(store, decided) | discard(decided)
    assert {at: receipt.action for at, receipt in receipts.items()} == {
        0: "discarded",
        1: "encoded",
        3: "encoded",
    }
    assert [str(found) for found in store.entries()] == ["Two", "Four"]


def test_a_batch_is_one_step_of_the_journal(store: Hippocampus) -> None:
    encode_into(store, batch(*((f"Lesson {number}", YES) for number in range(300))))
    queue_into(FileQueue(store), batch(*((f"Idea {number}", ASK) for number in range(300))))
    assert [step.op for step in store.history()] == ["encode", "propose"]
    assert len(store.entries()) == 300
    assert len(FileQueue(store).pending()) == 300


def test_nothing_to_write_is_no_step(store: Hippocampus) -> None:
    assert encode_into(store, batch(("One", NO))) == {}
    assert queue_into(FileQueue(store), batch(("One", NO))) == {}
    assert store.history() == []
    assert not store.root.exists()


def test_a_store_that_fails_fails_for_exactly_what_it_was_given(tmp_path: Path) -> None:
    receipts = encode_into(FullStore(tmp_path), batch(("One", YES), ("Two", NO), ("Three", YES)))
    assert {at: (item.action, item.reason) for at, item in receipts.items()} == {
        0: ("failed", "no space left for 2"),
        2: ("failed", "no space left for 2"),
    }


def test_a_queue_that_fails_is_no_queue(store: Hippocampus) -> None:
    receipts = queue_into(FullQueue(store), batch(("One", ASK)))
    assert receipts[0].action == "failed"
    assert receipts[0].id == ""


def test_a_receipt_of_a_failure_holds_no_secret(tmp_path: Path) -> None:
    text = f"It is {KEY}"
    (told,) = failed([said(text)], StoreError("full"))
    for receipt in (told, *encode_into(FullStore(tmp_path), batch((text, YES))).values()):
        assert KEY not in repr(receipt)


def test_what_is_discarded_is_told_without_its_secret() -> None:
    receipt = discard(batch((f"It is {KEY}", NO)))[0]
    assert receipt.engram.text == "It is [redacted: GitHub token]"
    assert receipt.reason == "memory is switched off"


@freeze_time("2026-02-27 12:00:00")
def test_what_waits_is_there_without_its_secret(store: Hippocampus) -> None:
    queue = FileQueue(store)
    receipt = queue_into(queue, batch((f"It is {KEY}", ASK)))[0]
    (item,) = queue.pending()
    assert receipt == Receipt(
        said("It is [redacted: GitHub token]"), "queued", ASK.reason, item.id, "pending.md", 3
    )
    assert (item.hold, item.reason, item.op, item.ts) == ("", "secret", "encode", "2026-02-27")
    assert KEY not in (store.memory / "pending.md").read_text(encoding="utf-8")


def test_what_is_held_says_so(store: Hippocampus) -> None:
    queue = FileQueue(store)
    queue_into(queue, [Decided(0, said("Deploy"), HOLD, replaces="k3v9q2ht")])
    (item,) = queue.pending()
    assert (item.hold, item.op, item.of) == ("contradiction", "replace", "k3v9q2ht")


def test_a_fact_about_the_user_waits_for_the_global_scope(store: Hippocampus) -> None:
    queue = PlainQueue(store)
    queue_into(queue, [Decided(0, Engram("Name: Ada", "profile", "project"), ASK)])
    assert queue.pending()[0].engram.scope == "global"


def test_a_queue_without_a_file_names_none(store: Hippocampus) -> None:
    receipt = waiting_receipt(PlainQueue(store), Pending("p81dz5ka", said("Use uv")), "skipped")
    assert (receipt.file, receipt.line) == ("", 0)


def test_the_receipt_of_a_memory_keeps_the_engram_as_it_was_given() -> None:
    engram = said("Use uv")
    receipt = written_receipt(engram, Written("encoded", entry("Use uv")), "accepted")
    assert receipt.engram is engram
    assert receipt.reason == "accepted"
