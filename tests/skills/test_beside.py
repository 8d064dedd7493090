"""Files of a skill are told of and read, and nothing out of its folder is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramdown.errors import StoreError
from engramdown.skills.files import DEEPEST, MOST, files_beside, read_beside
from engramdown.storage.disk import Disk


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the folder of a skill with files of every kind."""
    home = tmp_path / "charts"
    for name in ("references", "scripts", ".git", "scripts/__pycache__"):
        (home / name).mkdir(parents=True)
        (home / name / "x.md").write_text(f"{name}\n", encoding="utf-8")
    for name in ("SKILL.md", "SKILL.other-01234567.md", ".hidden", "NOTICE"):
        (home / name).write_text(name, encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (home / "references" / "SKILL.md").write_text("an example\n", encoding="utf-8")
    return home


def test_files_are_told_of_with_their_sizes(home: Path) -> None:
    assert files_beside(Disk(), home) == [
        ("NOTICE", 6),
        ("references/SKILL.md", 11),
        ("references/x.md", 11),
        ("scripts/x.md", 8),
    ]
    assert files_beside(Disk(), home / "none") == []


def test_links_pipes_and_what_is_deep_are_passed_over(home: Path) -> None:
    (home / "link.md").symlink_to(home.parent / "secret")
    (home / "up").symlink_to(home.parent, target_is_directory=True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(home / "pipe")
    deep = home
    for _ in range(DEEPEST + 1):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep / "far.md").write_text("far", encoding="utf-8")
    (deep.parent / "near.md").write_text("near", encoding="utf-8")
    names = [each.name for each in files_beside(Disk(), home)]
    assert "d/" * DEEPEST + "near.md" in names
    assert not {"link.md", "pipe", "up/secret", "d/" * (DEEPEST + 1) + "far.md"} & {*names}
    for name in ("link.md", "up/secret", "../secret", str(home.parent / "secret"), "", "."):
        with pytest.raises(StoreError, match="is not a file of this skill"):
            read_beside(Disk(), home, name, 100)


def test_of_many_files_some_are_told(home: Path) -> None:
    for number in range(MOST + 10):
        (home / "references" / f"{number}.md").touch()
    assert len(files_beside(Disk(), home)) == MOST


def test_a_file_is_read_whole_or_refused(home: Path) -> None:
    assert read_beside(Disk(), home, "references/x.md", 100) == "references\n"
    with pytest.raises(StoreError, match=r"x\.md: has 11 bytes, and 5 are shown at once"):
        read_beside(Disk(), home, "references/x.md", 5)
    (home / "NOTICE").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StoreError, match="NOTICE: is not text in UTF-8"):
        read_beside(Disk(), home, "NOTICE", 100)
    (home / "NOTICE").write_bytes(b"\xef\xbb\xbfwith a mark")
    assert read_beside(Disk(), home, "NOTICE", 100) == "with a mark"
