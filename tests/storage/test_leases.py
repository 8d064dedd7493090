"""Whether somebody writes into a file, as far as the system tells."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from engramdown.errors import StoreError
from engramdown.storage.disk import Disk

is_being_written = Disk().is_being_written

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file."""
    path = tmp_path / "rules.md"
    path.write_text("- Use uv\n", encoding="utf-8")
    return path


@on_linux
def test_who_has_it_open_to_write_is_seen_until_it_is_closed(file: Path) -> None:
    with file.open("ab"):
        assert is_being_written(file)
    assert not is_being_written(file)


def test_who_reads_does_not_count(file: Path) -> None:
    with file.open("rb"):
        assert not is_being_written(file)


def test_nobody_writes_into_what_is_not_there(tmp_path: Path) -> None:
    assert not is_being_written(tmp_path / "none")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is a pipe"):
        is_being_written(tmp_path / "pipe")


@on_linux
def test_looking_keeps_nobody_out(file: Path) -> None:
    """Whoever opens the file afterwards waits for nothing, and no signal ends the process."""
    before = signal.getsignal(signal.SIGURG)
    for _ in range(50):
        assert not is_being_written(file)
        with file.open("ab") as editor:
            editor.write(b"x")
    assert signal.getsignal(signal.SIGURG) == before


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_where_no_system_tells_nobody_writes(
    file: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with file.open("ab"):
        assert not is_being_written(file)
