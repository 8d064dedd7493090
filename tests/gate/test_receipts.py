"""From a decision to a receipt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from freezegun import freeze_time

from engramdown.engram import Engram
from engramdown.errors import StoreError
from engramdown.gate.gate import Decision
from engramdown.gate.intake import Decided, Intake, Receipt, Waiting, waiting_receipt
from engramdown.gate.pending import Pending, PlainQueue
from engramdown.gate.pending_file import FileQueue
from engramdown.hippocampus.entry import Written
from engramdown.hippocampus.store import Hippocampus

KEY: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
YES: Final = Decision("encode", "high confidence")
ASK: Final = Decision("confirm", "holds a secret", code="secret")
HOLD: Final = Decision("confirm", "contradicts", held=True, code="contradiction")
NO: Final = Decision("discard", "memory is switched off", code="off")


def said(text: str) -> Engram:
    """Return a lesson of the project."""
    return Engram(text, "lesson", "project")


def carry_out(
    store: Hippocampus, *pairs: tuple[str, Decision], replaces: str = ""
) -> list[Receipt]:
    """Return the receipts for engrams with what was decided about them."""
    waiting = Waiting({"project": store})
    intake = Intake({"project": store}, lambda it: it.entries(), waiting, lambda _: False)
    return intake.carry_out(
        [Decided(at, said(text), made, replaces) for at, (text, made) in enumerate(pairs)]
    )


class FullStore(Hippocampus):
    """A store that cannot be written."""

    def encode(self, engrams: Iterable[Engram]) -> list[Written]:
        """Fail."""
        raise StoreError(f"no space left for {len(list(engrams))}")


@pytest.fixture
def store(tmp_path: Path) -> Hippocampus:
    """Return an empty store."""
    return Hippocampus(tmp_path / ".engramdown")


def test_receipts_come_in_order_and_say_where_each_stands(store: Hippocampus) -> None:
    receipts = carry_out(store, ("One", NO), ("Two", YES), ("Three", ASK), ("Four", YES))
    assert [each.action for each in receipts] == ["discarded", "encoded", "queued", "encoded"]
    two, four = store.entries()
    assert receipts[1] == Receipt(
        said("Two"), "encoded", "high confidence", two.id, "lessons.md", 3
    )
    assert (str(four), receipts[3].id) == ("Four", four.id)


def test_nothing_to_write_is_no_step(store: Hippocampus) -> None:
    assert carry_out(store, ("One", NO))[0].action == "discarded"
    assert store.history() == []
    assert not store.root.exists()


def test_a_store_that_fails_fails_for_exactly_what_it_was_given(tmp_path: Path) -> None:
    receipts = carry_out(FullStore(tmp_path), (f"It is {KEY}", YES), ("Two", NO), ("Three", YES))
    assert [(item.action, item.reason) for item in receipts] == [
        ("failed", "no space left for 2"),
        ("discarded", NO.reason),
        ("failed", "no space left for 2"),
    ]
    assert KEY not in repr(receipts)


def test_a_queue_that_fails_is_no_queue(store: Hippocampus) -> None:
    (store.memory / "pending.md").mkdir(parents=True)
    (receipt,) = carry_out(store, ("One", ASK))
    assert (receipt.action, receipt.id) == ("failed", "")


def test_what_is_discarded_is_told_without_its_secret(store: Hippocampus) -> None:
    (receipt,) = carry_out(store, (f"It is {KEY}", NO))
    assert receipt.engram.text == "It is [redacted: GitHub token]"
    assert receipt.reason == "memory is switched off"


@freeze_time("2026-02-27 12:00:00")
def test_what_waits_is_there_without_its_secret(store: Hippocampus) -> None:
    (receipt,) = carry_out(store, (f"It is {KEY}", ASK))
    (item,) = FileQueue(store).pending()
    assert receipt == Receipt(
        said("It is [redacted: GitHub token]"), "queued", ASK.reason, item.id, "pending.md", 3
    )
    assert (item.hold, item.reason, item.op, item.ts) == ("", "secret", "encode", "2026-02-27")
    assert KEY not in (store.memory / "pending.md").read_text(encoding="utf-8")


def test_what_is_held_says_so(store: Hippocampus) -> None:
    carry_out(store, ("Deploy", HOLD), replaces="k3v9q2ht")
    (item,) = FileQueue(store).pending()
    assert (item.hold, item.op, item.of) == ("contradiction", "replace", "k3v9q2ht")


def test_a_queue_without_a_file_names_none(store: Hippocampus) -> None:
    receipt = waiting_receipt(PlainQueue(store), Pending("p81dz5ka", said("Use uv")), "skipped")
    assert (receipt.file, receipt.line) == ("", 0)
