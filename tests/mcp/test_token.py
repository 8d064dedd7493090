"""The token of the HTTP server stands where only the user can read it."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from engramdown.errors import StoreError
from engramdown.hippocampus.files import is_for_git
from engramdown.web import TOKEN_FILE, token_of


def test_it_is_made_once_and_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = os.umask(0)
    try:
        token = token_of(home)
    finally:
        os.umask(before)
    assert len(token) >= 43
    assert token_of(home) == token
    assert stat.S_IMODE((home / TOKEN_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert [path.name for path in home.iterdir()] == [TOKEN_FILE]
    assert not is_for_git(TOKEN_FILE)


def test_a_new_one_is_made_when_the_file_is_deleted(tmp_path: Path) -> None:
    token = token_of(tmp_path)
    (tmp_path / TOKEN_FILE).unlink()
    assert token_of(tmp_path) != token


def test_servers_that_begin_at_once_get_the_same(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(token_of(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert set(found) == {token_of(tmp_path)}
    assert [path.name for path in tmp_path.iterdir()] == [TOKEN_FILE]


def test_one_that_others_can_read_is_refused(tmp_path: Path) -> None:
    token_of(tmp_path)
    (tmp_path / TOKEN_FILE).chmod(0o644)
    with pytest.raises(StoreError, match="others can read it"):
        token_of(tmp_path)


@pytest.mark.parametrize("text", ["", "short", "x" * 600, "two words " * 8, "\xff" * 40])
def test_what_is_no_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / TOKEN_FILE).write_text(text, encoding="latin-1")
    (tmp_path / TOKEN_FILE).chmod(0o600)
    with pytest.raises(StoreError, match="holds no token; delete it"):
        token_of(tmp_path)


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("x" * 43, encoding="utf-8")
    (tmp_path / TOKEN_FILE).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="is a link where a file should be"):
        token_of(tmp_path)


def test_a_pipe_in_its_place_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / TOKEN_FILE)
    with pytest.raises(StoreError, match="is a pipe or a device where a file should be"):
        token_of(tmp_path)
