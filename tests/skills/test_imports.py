"""Skills that are to be brought in are read whole, or refused with a reason."""

from __future__ import annotations

import contextlib
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import StoreError
from engramdown.skills import imports
from engramdown.skills import imports as archives
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


def zipped(path: Path, members: dict[str, str], **kinds: int) -> Path:
    """Write an archive; ``kinds`` are the modes of members that are no files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = kinds.get(name, stat.S_IFREG | 0o644) << 16
            archive.writestr(info, text)
    return path


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
    members = {f"charts/{name}": "" for name in (*names, "__pycache__/.x")}
    archive = zipped(tmp_path / "charts.zip", {"charts/SKILL.md": PAGE, **members, "z/.w": ""})
    for path, count in ((home, 2), (archive, 1)):
        (found,) = found_at(path)
        assert (found.hidden, len(found.files)) == (3, count)


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


@pytest.mark.parametrize("name", ["none", "pipe", "ring"])
def test_where_there_is_nothing_it_is_said(tmp_path: Path, name: str) -> None:
    if name == "pipe":
        os.mkfifo(tmp_path / name)
    if name == "ring":
        (tmp_path / name).symlink_to(tmp_path / name)
    with pytest.raises(StoreError, match="is neither a folder nor a file"):
        found_at(tmp_path / name)
    assert found_at(tmp_path) == []


def test_an_archive_holds_skills_wherever_they_stand(tmp_path: Path) -> None:
    members = {
        "pack-1.0/": "",
        "pack-1.0/charts/SKILL.md": PAGE,
        "pack-1.0/charts/references/SKILL.md": "An example.\n",
        "pack-1.0/charts/run.sh": "run",
        "pack-1.0/charts/.hidden": "",
        "pack-1.0/README.md": "No skill.",
        "__MACOSX/charts/SKILL.md": "",
    }
    kinds = {"pack-1.0/charts/run.sh": stat.S_IFREG | 0o755, "pack-1.0/": stat.S_IFDIR | 0o755}
    path = zipped(tmp_path / "pack.zip", members, **kinds)
    (found,) = found_at(path)
    assert (found.label, found.problem) == ("charts", "")
    assert found.source == f"{path}/pack-1.0/charts"
    assert {name: content.runs for name, content in found.files.items()} == {
        "SKILL.md": False,
        "references/SKILL.md": False,
        "run.sh": True,
    }
    (alone,) = found_at(zipped(tmp_path / "alone.zip", {"SKILL.md": PAGE, "a/b": "c"}))
    assert {*alone.files} == {"SKILL.md", "a/b"}


@pytest.mark.parametrize(
    "name, kind, said",
    [
        ("../SKILL.md", 0, "is a name that leads elsewhere"),
        ("charts/../../x", 0, "is a name that leads elsewhere"),
        ("/etc/passwd", 0, "is a name that leads elsewhere"),
        ("C:\\x", 0, "is a name that leads elsewhere"),
        ("charts//x", 0, "is a name that leads elsewhere"),
        ("charts/\x1b[2J", 0, "is a name that leads elsewhere"),
        ("charts/\u202e", 0, "is no name for a file"),
        ("x" * 501, 0, "is no name for a file"),
        ("charts/link", stat.S_IFLNK | 0o777, "is a link or a device"),
        ("charts/pipe", stat.S_IFIFO | 0o777, "is a link or a device"),
        ("CHARTS/skill.MD", 0, "stands there twice"),
        ("charts/cafe\u0301", 0, "stands there twice"),
        ("charts/a. ", 0, "is no name for a file on Windows"),
        ("charts/b./c", 0, "is no name for a file on Windows"),
        ("charts/Aux.txt", 0, "is no name for a file on Windows"),
        ("charts/nul/c", 0, "is no name for a file on Windows"),
        ("charts/CAF\xc9/c", 0, "is a file and a folder"),
        ("charts/SKILL.md/c", 0, "is a file and a folder"),
    ],
)
def test_an_archive_that_leads_elsewhere_is_refused_as_a_whole(
    tmp_path: Path, name: str, kind: int, said: str
) -> None:
    kinds = {name: kind} if kind else {}
    members = {"charts/SKILL.md": PAGE, "charts/caf\xe9": "", name: "x"}
    path = zipped(tmp_path / "bad.zip", members, **kinds)
    with pytest.raises(StoreError, match=f"{said}; nothing of it is brought in"):
        found_at(path)


def test_an_archive_that_unpacks_to_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("charts/SKILL.md", PAGE)
        archive.writestr("charts/zeros", bytes(imports.LARGEST + 1))
        archive.writestr("maps/SKILL.md", PAGE.replace("charts", "maps"))
    found = problems(found_at(path))
    assert "holds more than 500 files or 20 MB" in found["charts"]
    assert found["maps"] == ""
    # One that claims to be small.
    data = path.read_bytes()
    size = (imports.LARGEST + 1).to_bytes(4, "little")
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, (5).to_bytes(4, "little")))
    with pytest.raises(StoreError, match=r"is no \.zip that can be read"):
        found_at(path)
    for module in (archives, imports):
        monkeypatch.setattr(module, "MOST_SKILLS", 1)
    with pytest.raises(StoreError, match="holds more than 1 skills"):
        found_at(path)
    monkeypatch.setattr(archives, "_MOST", 2)
    with pytest.raises(StoreError, match="holds more than 2 files"):
        found_at(path)
    monkeypatch.setattr(archives, "_LARGEST_ARCHIVE", 2)
    with pytest.raises(StoreError, match="is larger than"):
        found_at(path)


def test_what_is_encrypted_or_no_archive_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", {"charts/SKILL.md": PAGE})
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02") + 8
    data[at] |= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="is encrypted"):
        found_at(path)
    with pytest.raises(StoreError, match=r"holds no SKILL\.md"):
        found_at(zipped(tmp_path / "empty.zip", {"a": "b"}))


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_is_packed_in_a_rare_way_is_refused(tmp_path: Path, way: int) -> None:
    path = tmp_path / "rare.zip"
    with zipfile.ZipFile(path, "w", way) as archive:
        archive.writestr("charts/SKILL.md", PAGE)
    with pytest.raises(StoreError, match=r"is not packed as a \.zip usually is"):
        found_at(path)


@given(st.binary(max_size=200), st.integers(0, 400))
def test_an_archive_of_any_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("zip")
    data = zipped(folder / "a.zip", {"charts/SKILL.md": PAGE, "charts/x": "y" * 40}).read_bytes()
    (folder / "a.zip").write_bytes(data[:at] + noise + data[at + len(noise) :])
    with contextlib.suppress(StoreError):
        assert [each.label for each in found_at(folder / "a.zip")]
