"""Pipes, folders and links where a file of ours should be: refused at once, by name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from engramdown import Hippocampus
from engramdown.errors import LockTimeoutError, StoreError
from engramdown.storage.disk import Disk
from engramdown.storage.locks import Holder, ScopeLock
from engramdown.storage.safe_open import open_regular


def _link(path: Path) -> None:
    path.with_name("elsewhere").touch()
    path.symlink_to("elsewhere")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


KINDS: Final = [
    pytest.param(os.mkfifo, "a pipe or a device", id="pipe"),
    pytest.param(_socket, "a pipe or a device", id="socket"),
    pytest.param(Path.mkdir, "a folder", id="folder"),
    pytest.param(_link, "a link", id="link"),
    pytest.param(lambda path: path.symlink_to(path.name), "a link", id="link-to-itself"),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hippocampus:
    """Return a store that holds one rule."""
    monkeypatch.chdir(tmp_path)  # the path of a socket has a limit
    store = Hippocampus(Path("scope"), lock_timeout=0.2)
    store.encode_rule("Use uv", kind="always")
    return store


def replace(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


@pytest.mark.parametrize("make, what", KINDS)
def test_a_journal_that_is_no_file_is_named_with_the_next_step(
    store: Hippocampus, make: Callable[[Path], object], what: str
) -> None:
    replace(store.root / "history.jsonl", make)
    before = (store.memory / "rules.md").read_bytes()
    for again in (store, Hippocampus(store.root)):
        write = partial(again.encode_rule, "Another", kind="always")
        for use in (again.files.steps, again.notice, write):
            with pytest.raises(StoreError, match=rf"history\.jsonl: is {what} where") as caught:
                use()
            next_step = "put the file itself there" if what == "a link" else "move it away"
            assert str(caught.value).endswith(f" should be; {next_step}.")
    assert (store.memory / "rules.md").read_bytes() == before
    assert [str(entry) for entry in store.recall_rules()] == ["Use uv"]


@pytest.mark.parametrize("make, what", KINDS)
def test_a_lock_that_is_no_file_is_named_with_the_next_step(
    store: Hippocampus, make: Callable[[Path], object], what: str
) -> None:
    replace(store.memory / ".lock", make)
    said = rf"\.lock: is {what} where the lock should be; remove it\.\Z"
    with pytest.raises(StoreError, match=said):
        store.encode_rule("Another", kind="always")


def test_a_lock_that_becomes_a_pipe_while_it_is_waited_for_is_not_opened(tmp_path: Path) -> None:
    lock = ScopeLock(tmp_path / ".lock", 0.0)
    os.mkfifo(lock.path)
    assert lock.named() == Holder(0, "")


def test_a_pipe_in_the_place_of_an_unfinished_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "scope").mkdir()
    os.mkfifo(tmp_path / "scope" / ".gitignore.part")
    with pytest.raises(StoreError, match=r"\.gitignore\.part: is a pipe or a device where"):
        Hippocampus(tmp_path / "scope").encode_rule("Use uv", kind="always")


def test_a_device_is_refused() -> None:
    with pytest.raises(StoreError, match="/dev/zero: is a pipe or a device where a file"):
        open_regular(Path("/dev/zero"), os.O_RDONLY)


def test_other_errors_are_those_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        open_regular(tmp_path / "file", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none", os.O_RDONLY)


def test_a_holder_that_we_do_not_know_is_not_given_the_name_of_the_last_one(
    store: Hippocampus,
) -> None:
    import fcntl

    with (store.memory / ".lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockTimeoutError, match="held by another process for more") as caught:
            store.encode_rule("Another", kind="always")
    assert caught.value.holder == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limit of open files here")
def test_what_cannot_be_made_is_told_as_the_system_says_it(tmp_path: Path) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            open_regular(tmp_path / "new", os.O_WRONLY | os.O_CREAT)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_file_that_an_editor_is_about_to_put_back_is_not_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, aside, ask = tmp_path / "rules.md", tmp_path / "rules.md~", os.access
    page.write_bytes(b"- Use uv\n")

    def between_the_renames(path: Path, mode: int) -> bool:
        monkeypatch.undo()
        page.rename(aside)
        is_allowed = ask(path, mode)
        page.write_bytes(b"- Use uv\n- Never pip\n")
        return is_allowed

    for check in (Disk().check_writable, Disk().check_readable):
        monkeypatch.setattr(os, "access", between_the_renames)
        check(page)
        assert aside.exists()
        aside.unlink()
