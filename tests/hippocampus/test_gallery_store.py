"""What a store does to hand-written files when it learns, forgets and takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.disk import Disk
from engramdown.hippocampus.store import Hippocampus
from tests.hippocampus.gallery import Page
from tests.hippocampus.test_gallery import common_start, every_page


class Kept:
    """A page on the disk, and the store that has it."""

    def __init__(self, page: Page, folder: Path) -> None:
        """Write ``page`` below ``folder`` and let the store see it."""
        self.page = page
        self.path = folder / "memory" / page.file
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(page.text.encode("utf-8", "surrogateescape"))
        self.store = Hippocampus(folder, "global", disk=Disk(durable=False))
        self.store.notice()

    def read(self) -> str:
        return self.path.read_bytes().decode("utf-8", "surrogateescape")

    def learn(self) -> None:
        """Write a memory into the file of the page."""
        if self.page.file == "rules.md":
            self.store.encode_rule("Something new", "never")
        elif self.page.file == "profile.md":
            self.store.rewrite_identity(["Brand: new"])
        else:
            topic = self.path.stem if self.page.file.startswith("topics/") else ""
            self.store.encode_lesson("Something new", topic)


@pytest.fixture
def kept(page: Page, tmp_path: Path) -> Kept:
    """Return the page on the disk."""
    return Kept(page, tmp_path / ".engramdown")


@every_page
def test_looking_at_a_page_changes_no_byte(page: Page, kept: Kept) -> None:
    kept.store.entries()
    assert kept.read() == page.text


@every_page
def test_learning_inserts_one_piece_and_undo_takes_it_out(page: Page, kept: Kept) -> None:
    kept.learn()
    learned = kept.read()
    start = common_start(page.text, learned)
    assert learned.endswith(page.text[start:])
    kept.store.undo()
    assert kept.read() == page.text


@every_page
def test_forgetting_and_undo_give_back_every_byte(page: Page, kept: Kept) -> None:
    for entry in kept.store.entries():
        kept.store.forget(entry.id)
        kept.store.undo()
        assert kept.read() == page.text


@every_page
def test_a_hand_edit_after_learning_is_kept_byte_for_byte(kept: Kept) -> None:
    kept.learn()
    edited = kept.read() + "\n- Written by hand\n"
    kept.path.write_bytes(edited.encode("utf-8", "surrogateescape"))
    kept.store.notice()
    assert kept.read() == edited
