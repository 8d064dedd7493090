"""What a store does to hand-written files when it learns, forgets and takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.errors import StoreError
from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.hippocampus.gallery import Page
from tests.hippocampus.test_gallery import PAGES, common_start

FOREIGN = [page for page in PAGES if (1, "utf-16") in page.findings]
readable_page = pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in FOREIGN], ids=lambda page: page.name
)


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


@readable_page
def test_looking_at_a_page_changes_no_byte(page: Page, kept: Kept) -> None:
    kept.store.entries()
    assert kept.read() == page.text


@readable_page
def test_learning_inserts_one_piece_and_undo_takes_it_out(page: Page, kept: Kept) -> None:
    kept.learn()
    learned = kept.read()
    start = common_start(page.text, learned)
    assert learned.endswith(page.text[start:])
    kept.store.undo()
    assert kept.read() == page.text


@readable_page
def test_forgetting_and_undo_give_back_every_byte(page: Page, kept: Kept) -> None:
    for entry in kept.store.entries():
        kept.store.forget(entry.id)
        kept.store.undo()
        assert kept.read() == page.text


@readable_page
def test_a_hand_edit_after_learning_is_kept_byte_for_byte(kept: Kept) -> None:
    kept.learn()
    edited = kept.read() + "\n- Written by hand\n"
    kept.path.write_bytes(edited.encode("utf-8", "surrogateescape"))
    kept.store.notice()
    assert kept.read() == edited


@pytest.mark.parametrize("page", FOREIGN, ids=lambda page: page.name)
def test_a_page_in_utf_16_is_neither_read_nor_written(page: Page, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="looks like UTF-16, and nothing in it is read"):
        Kept(page, tmp_path)
    store = Hippocampus(tmp_path, "global", disk=Disk(durable=False))
    for act in (store.entries, lambda: store.encode_rule("Something new", "never"), store.notice):
        with pytest.raises(StoreError, match="save it as UTF-8"):
            act()
    path = tmp_path / "memory" / page.file
    assert path.read_bytes() == page.text.encode("utf-8", "surrogateescape")
