"""An index of git is read in all its versions, as real git writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.hippocampus.git_state import in_small, is_split, knows, noted
from tests.git.desk import Desk

NAMES: Final = (
    ".engramdown/memory/archive.md",
    ".engramdown/memory/lessons.md",
    ".engramdown/memory/lessons.mdx",
    ".engramdown/memory/topics/ä.md",
    "a",
    "long/" + "x" * 200 + "/" + "y" * 200,
)


def index_of(folder: Path, *settings: str, digests: str = "sha1") -> bytes:
    desk = Desk(folder, init=False)
    folder.mkdir()
    desk.git("init", "--quiet", f"--object-format={digests}", ".")
    for name in NAMES:
        desk.write(name, "x\n")
    desk.git("add", ".")
    desk.git("update-index", *settings)
    return (folder / ".git" / "index").read_bytes()


@pytest.mark.parametrize("digests", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_knows_its_names_and_no_other(
    tmp_path: Path, version: str, digests: str
) -> None:
    index = index_of(tmp_path / "work", f"--index-version={version}", digests=digests)
    assert not is_split(index)
    for name in NAMES:
        assert knows(index, name.encode())
    for name in (".engramdown/memory/lessons", "lessons.mdx", "b", "long"):
        assert not knows(index, name.encode()) or version != "4"
    assert not knows(index, b".engramdown/memory/rules.md")


def test_names_that_are_added_with_a_promise_are_known_too(tmp_path: Path) -> None:
    """`git add --intent-to-add` writes longer entries."""
    index_of(tmp_path / "work", "--index-version=4")
    desk = Desk(tmp_path / "work", init=False)
    desk.write("later.md", "x\n")
    desk.git("add", "--intent-to-add", "later.md")
    index = (desk.top / ".git" / "index").read_bytes()
    assert knows(index, b"later.md")
    assert knows(index, NAMES[1].encode())


def test_a_split_index_says_so(tmp_path: Path) -> None:
    assert is_split(index_of(tmp_path / "work", "--split-index"))


@given(index=st.binary(max_size=200), name=st.binary(min_size=1, max_size=8))
def test_any_bytes_can_be_asked(index: bytes, name: bytes) -> None:
    for head in (b"", b"DIRC\0\0\0\2", b"DIRC\0\0\0\4\0\0\0\3"):
        assert knows(head + index, name) in {True, False}


def test_what_is_broken_knows_nothing() -> None:
    head = b"DIRC\0\0\0\4\0\0\0\1" + b"\0" * 60
    assert knows(head + b"\0\1\0a\0", b"a")
    assert not knows(head + b"\0\2\0a\0", b"a")
    assert not knows(head + b"\0\1\1a\0", b"a")
    assert not knows(head + b"\0\1\0a", b"a")


@pytest.mark.parametrize("digests", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_names_are_found_in_small_letters(tmp_path: Path, version: str, digests: str) -> None:
    desk = Desk(tmp_path / "work")
    index = index_of(tmp_path / "other", f"--index-version={version}", digests=digests)
    small = in_small(index)
    assert small is not None
    assert all(name.encode().lower() + b"\0" in small for name in NAMES)
    assert b".engramdown/memory/rules.md" not in small
    desk.write("Memory/RULES.md", "x\n")
    desk.git("add", ".")
    small = in_small((desk.top / ".git" / "index").read_bytes())
    assert small is not None
    assert b"memory/rules.md\0" in small


def test_an_index_of_which_no_name_can_be_read_is_told_as_such() -> None:
    head = b"DIRC" + (4).to_bytes(4)
    assert in_small(head + (1).to_bytes(4) + b"\xff" * 80) is None
    assert in_small(head + (0).to_bytes(4)) == b""


@pytest.mark.parametrize("digests", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3"])
def test_it_tells_when_a_file_was_written_and_what_it_held(
    tmp_path: Path, version: str, digests: str
) -> None:
    index = index_of(tmp_path / "work", f"--index-version={version}", digests=digests)
    desk = Desk(tmp_path / "work", init=False)
    for name in NAMES:
        blob = desk.git("hash-object", name).strip()
        written = (desk.top / name).stat().st_mtime_ns
        assert noted(index, name.encode()) == (written, bytes.fromhex(blob))
    for other in (b"lessons.mdx", b"essons.md", b"b", b"long"):
        assert noted(index, other) is None


def test_of_a_promise_it_tells_too_and_of_a_link_nothing(tmp_path: Path) -> None:
    index_of(tmp_path / "work", "--index-version=2")
    desk = Desk(tmp_path / "work", init=False)
    desk.write("later.md", "x\n")
    desk.git("add", "--intent-to-add", "later.md")
    (desk.top / "link").symlink_to("a")
    desk.git("add", "link")
    index = (desk.top / ".git" / "index").read_bytes()
    assert noted(index, b"later.md") is not None
    assert noted(index, b"link") is None


def test_of_the_fourth_version_it_tells_nothing(tmp_path: Path) -> None:
    assert noted(index_of(tmp_path / "work", "--index-version=4"), b"a") is None


@given(index=st.binary(max_size=200), name=st.binary(min_size=1, max_size=8))
def test_any_bytes_can_be_asked_what_they_note(index: bytes, name: bytes) -> None:
    for head in (b"", b"DIRC\0\0\0\2"):
        found = noted(head + index + name + b"\0", name)
        assert found is None or found[0] >= 0
