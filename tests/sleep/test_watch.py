"""A watch says that something may have changed: real files."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from engramdown.sleep import watcher as watching
from engramdown.sleep.watcher import Watch
from tests.hippocampus.editors import STYLES, save

PATIENCE = 60.0


def seen(watch: Watch) -> bool:
    """Wait until something may have changed."""
    end = time.monotonic() + PATIENCE
    while not watch.wait(0.1):
        assert time.monotonic() < end
    return True


def settle(watch: Watch) -> None:
    """Wait until nothing happens any more."""
    while watch.wait(0.2):
        pass


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Make a memory folder with a file."""
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "rules.md").write_text("- One\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often."""
    monkeypatch.setattr(watching, "_POLL", 0.05)


@pytest.fixture
def watch(memory: Path) -> Watch:
    """Watch the memory folder and its topics, which are not there yet."""
    return Watch([memory, memory / "topics"])


@pytest.mark.parametrize("style", STYLES)
def test_a_save_is_seen_whatever_the_editor_does(watch: Watch, memory: Path, style: str) -> None:
    save(style, memory / "rules.md", "- One\n- Two\n")
    assert seen(watch)


def test_what_an_editor_leaves_beside_a_file_is_no_change(watch: Watch, memory: Path) -> None:
    for name in (".rules.md.swp", "4913", ".#rules.md", "rules.md~", "x.tmp", "#rules.md#"):
        (memory / name).write_text("x", encoding="utf-8")
    (memory / ".rules.md.0123456789abcdef.01234567.tmp").write_text("x", encoding="utf-8")
    (memory / ".lock").write_text("x", encoding="utf-8")
    assert not watch.wait(0.3)


def test_reading_is_no_change(watch: Watch, memory: Path) -> None:
    (memory / "rules.md").read_bytes()
    assert not watch.wait(0.3)


def test_a_folder_that_comes_later_is_watched(watch: Watch, memory: Path) -> None:
    (memory / "topics").mkdir()
    assert seen(watch)
    settle(watch)
    (memory / "topics" / "ci.md").write_text("- One\n", encoding="utf-8")
    assert seen(watch)


def test_a_folder_that_goes_and_comes_back_is_watched_again(watch: Watch, memory: Path) -> None:
    shutil.rmtree(memory)
    assert seen(watch)
    settle(watch)
    memory.mkdir()
    assert seen(watch)
    settle(watch)
    (memory / "rules.md").write_text("- Two\n", encoding="utf-8")
    assert seen(watch)


@pytest.mark.slow
def test_a_folder_that_takes_the_place_of_another_is_watched(watch: Watch, memory: Path) -> None:
    for turn in range(2):
        # The second time it may well have the inode of the one before.
        memory.rename(memory.with_name(f"old{turn}"))
        memory.mkdir()
        assert seen(watch)
        settle(watch)
        (memory / "lessons.md").write_text("- One\n", encoding="utf-8")
        assert seen(watch)
        settle(watch)
        shutil.rmtree(memory.with_name(f"old{turn}"))


def test_a_folder_behind_a_link_is_watched(tmp_path: Path, memory: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(memory)
    made = Watch([link])
    (memory / "rules.md").write_text("- Two\n", encoding="utf-8")
    assert seen(made)


def test_a_burst_that_does_not_end_is_told_all_the_same(watch: Watch, memory: Path) -> None:
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            (memory / "rules.md").write_text(str(time.monotonic()), encoding="utf-8")
            time.sleep(0.005)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert [seen(watch) for _ in range(2)] == [True] * 2
    finally:
        over.set()
        writer.join()


def test_waiting_can_be_ended(watch: Watch) -> None:
    threading.Timer(0.05, watch.wake).start()
    assert watch.wait(PATIENCE)


def test_a_file_behind_a_link_is_watched(tmp_path: Path, memory: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("- One\n", encoding="utf-8")
    (memory / "lessons.md").symlink_to(notes)
    (memory / "profile.md").symlink_to(tmp_path / "nowhere")
    made = Watch([memory, tmp_path / "nowhere"])
    notes.write_text("- One\n- Two\n", encoding="utf-8")
    assert seen(made)
