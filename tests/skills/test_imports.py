"""Skills that are to be brought in are read whole, or refused with a reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown.errors import StoreError
from engramdown.skills import imports
from engramdown.skills.imports import Content, Incoming, found_at

TOKEN = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
PAGE = "---\nname: charts\ndescription: Make charts\nlicence-of: mine\n---\nWith care.\n"


def write(home: Path, text: str = PAGE) -> Path:
    """Write a skill with a reference and a program."""
    (home / "scripts").mkdir(parents=True)
    (home / "SKILL.md").write_text(text, encoding="utf-8")
    (home / "scripts" / "plot.sh").write_bytes(b"plot\n\xff")
    (home / "scripts" / "plot.sh").chmod(0o755)
    return home


def problems(found: list[Incoming]) -> dict[str, str]:
    return {each.label: each.problem for each in found}


def test_the_first_of_several_problems_is_told(tmp_path: Path) -> None:
    home = write(tmp_path / "charts")
    for name in ("assets", "zones"):
        (home / name).mkdir()
        (home / name / "key.txt").write_text(TOKEN, encoding="utf-8")
    assert problems(found_at(home)) == {
        "charts": "assets/key.txt holds a GitHub token; take it out of charts first"
    }
    for name in ("assets", "zones"):
        (home / name / "up").symlink_to(tmp_path)
    (problem,) = problems(found_at(home)).values()
    assert problem.startswith(f"{home / 'assets' / 'up'}: is a link")


def test_a_skill_is_read_whole_with_what_can_be_run(tmp_path: Path) -> None:
    home = write(tmp_path / "charts")
    (home / ".git").mkdir()
    (home / ".git" / "config").touch()
    (home / ".DS_Store").touch()
    for path in (home, home / "SKILL.md", tmp_path):
        (found,) = found_at(path)
        assert (found.label, found.problem, found.source) == ("charts", "", str(home))
        assert found.files == {
            "SKILL.md": Content(PAGE.encode()),
            "scripts/plot.sh": Content(b"plot\n\xff", runs=True),
        }


def test_how_much_is_hidden_and_left_behind_is_told(tmp_path: Path) -> None:
    home = write(tmp_path / "charts")
    names = (".env.example", "scripts/.tools/run.sh", ".git/config", ".DS_Store", "scripts/x/.y")
    for name in names:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    (found,) = found_at(home)
    assert (found.hidden, len(found.files)) == (3, 2)


def test_a_project_is_looked_into_where_assistants_keep_them(tmp_path: Path) -> None:
    write(tmp_path / ".claude" / "skills" / "charts")
    write(tmp_path / ".engramdown" / "skills" / "maps", PAGE.replace("charts", "maps"))
    assert problems(found_at(tmp_path)) == {"charts": "", "maps": ""}


def test_the_folder_of_a_skill_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "charts")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "charts").symlink_to(tmp_path / "elsewhere" / "charts")
    (found,) = found_at(tmp_path / "skills")
    assert (found.label, found.problem, len(found.files)) == ("charts", "", 2)


def _link(home: Path) -> None:
    (home / "passwords").symlink_to("/etc/passwd")


def _folder_link(home: Path) -> None:
    (home / "up").symlink_to(home.parent, target_is_directory=True)


def _pipe(home: Path) -> None:
    os.mkfifo(home / "pipe")


def _deep(home: Path) -> None:
    (home / "/".join("abcdefghij")).mkdir(parents=True)


def _secret(home: Path) -> None:
    (home / "scripts" / "run.py").write_text(f"key = '{TOKEN}'\n", encoding="utf-8")


@pytest.mark.parametrize(
    "spoil, said",
    [
        (_link, "passwords: is a link where a file should be"),
        (_folder_link, "up: is a link; put the folder itself"),
        (_pipe, "pipe: is a pipe or a device"),
        (_deep, "is nested too deep"),
        (_secret, "scripts/run.py holds a GitHub token; take it out of charts first"),
    ],
)
def test_what_cannot_be_brought_in_says_why_and_keeps_no_other_out(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(write(tmp_path / "charts"))
    write(tmp_path / "maps", PAGE.replace("charts", "maps"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("Do it.\n", encoding="utf-8")
    found = problems(found_at(tmp_path))
    assert said in found["charts"]
    assert TOKEN not in found["charts"]
    assert found["maps"] == ""
    assert found["broken"] == "SKILL.md:1: there is no front matter"


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "charts")
    monkeypatch.setattr(imports, "MOST_FILES", 1)
    assert "holds more than 1 files" in problems(found_at(tmp_path))["charts"]
    monkeypatch.setattr(imports, "MOST_FILES", 9)
    monkeypatch.setattr(imports, "LARGEST", len(PAGE) + 3)
    assert "holds more than 9 files or 0 MB" in problems(found_at(tmp_path))["charts"]
    monkeypatch.setattr(imports, "MOST_SKILLS", 0)
    with pytest.raises(StoreError, match="holds more than 0 skills"):
        found_at(tmp_path)


def test_two_of_one_label_are_told(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "two")
    first, second = found_at(tmp_path)
    assert (first.label, second.label) == ("charts", "charts")
    # Each says it is called charts, but stands in a folder of another name: the name counts.
    assert (first.problem, second.problem != "") == ("", True)


@pytest.mark.parametrize("name", ["none", "pipe", "ring", "pack.zip"])
def test_where_there_is_nothing_it_is_said(tmp_path: Path, name: str) -> None:
    if name == "pipe":
        os.mkfifo(tmp_path / name)
    if name == "ring":
        (tmp_path / name).symlink_to(tmp_path / name)
    if name == "pack.zip":
        (tmp_path / name).touch()
    with pytest.raises(StoreError, match=r"is not a folder; .* unpacked"):
        found_at(tmp_path / name)
    assert found_at(tmp_path) == []
