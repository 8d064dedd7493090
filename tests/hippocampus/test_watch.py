"""A watch says that something may have changed: real files, and the system's own events."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from engramdown.hippocampus import watch as watching
from engramdown.hippocampus.watch import Watch
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


@pytest.fixture(params=[False, True], ids=["native", "polling"])
def watch(
    memory: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Watch]:
    """Watch the memory folder and its topics, which are not there yet, both ways."""
    monkeypatch.setattr(watching, "_POLL", 0.05)
    monkeypatch.setattr(watching, "_SELDOM", 1e9)
    with Watch([memory, memory / "topics"], poll=request.param) as made:
        settle(made)
        yield made


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
    with Watch([link]) as made:
        settle(made)
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


def test_what_no_system_tells_is_found_by_looking_now_and_then(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_SELDOM", 0.01)
    notes = tmp_path / "notes.md"
    notes.write_text("- One\n", encoding="utf-8")
    (memory / "lessons.md").symlink_to(notes)
    (memory / "profile.md").symlink_to(tmp_path / "nowhere")
    with Watch([memory, tmp_path / "nowhere"]) as made:
        settle(made)
        notes.write_text("- One\n- Two\n", encoding="utf-8")
        assert seen(made)


_SCHEDULE = BaseObserver.schedule


@pytest.mark.parametrize(
    "code, hint",
    [
        (errno.ENOSPC, "max_user_watches"),
        (errno.EMFILE, "max_user_instances"),
        (errno.ENFILE, "Too many open files"),
    ],
)
@pytest.mark.parametrize("moment", ["start", "schedule"])
def test_where_the_system_has_no_room_it_looks_again_and_again_and_says_so(
    memory: Path, monkeypatch: pytest.MonkeyPatch, code: int, hint: str, moment: str
) -> None:
    monkeypatch.setattr(watching, "_POLL", 0.05)

    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    if moment == "start":
        monkeypatch.setattr("watchdog.observers.Observer", fail)
    else:
        monkeypatch.setattr(Observer, "schedule", fail)
    # What polls inherits the method that fails here, if it is not one of its own.
    monkeypatch.setattr(PollingObserver, "schedule", _SCHEDULE)
    with Watch([memory]) as made:
        settle(made)
        [remark] = made.remarks
        assert hint in remark
        assert remark.endswith("looking for changes every 0.05 seconds instead")
        (memory / "rules.md").write_text("- Two\n", encoding="utf-8")
        assert seen(made)


def test_on_a_network_file_system_it_looks_again_and_again_and_says_so(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 2 0:1 / {tmp_path.resolve()} rw - nfs4 host:/x rw\n", encoding="utf-8")
    monkeypatch.setattr(watching, "_MOUNTS", mounts)
    monkeypatch.setattr(watching, "_POLL", 0.05)
    with Watch([memory, memory / "topics"]) as made:
        settle(made)
        [remark] = made.remarks
        assert "network file system (nfs4)" in remark
        (memory / "rules.md").write_text("- Two\n", encoding="utf-8")
        assert seen(made)


def test_a_system_that_lists_no_mounts_is_asked_to_tell(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_MOUNTS", tmp_path / "nowhere")
    with Watch([memory]) as made:
        settle(made)
        assert made.remarks == []


def test_a_folder_that_may_not_be_watched_is_tried_again(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = [PermissionError(errno.EACCES, "no")] * 2

    def schedule(self: BaseObserver, *args: object, **kwargs: object) -> object:
        if refused:
            raise refused.pop()
        return _SCHEDULE(self, *args, **kwargs)  # type: ignore[arg-type] # it is handed on

    monkeypatch.setattr(Observer, "schedule", schedule)
    with Watch([memory]) as made:
        for _ in range(4):
            made.wait(0.01)
        assert made.remarks == []
        settle(made)
        (memory / "rules.md").write_text("- Two\n", encoding="utf-8")
        assert seen(made)
