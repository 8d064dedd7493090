"""Skills are written whole, next to whatever else is there, and one never hides another."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engramdown.errors import InvalidSkillError, SkillExistsError, SkillNotFoundError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.skills.store import SkillStore
from engramdown.storage.disk import Disk

PAGE = parse_front_matter("---\nname: charts\ndescription: Make charts\n---\nWith care.\n")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of a scope, which is not there yet."""
    return tmp_path / ".engramdown"


@pytest.fixture
def store(root: Path) -> SkillStore:
    """Return a store that does not wait for the disk."""
    return SkillStore(root, disk=Disk(durable=False), lock_timeout=5.0)


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_a_skill_comes_back(store: SkillStore, root: Path) -> None:
    made = store.create("charts", PAGE)
    assert made == store.read("charts")._replace(page=made.page)
    assert (made.description, made.findings) == ("Make charts", ())
    assert made.path.read_text(encoding="utf-8") == PAGE.render()
    assert files(root) == ["skills.lock", "skills/charts/SKILL.md"]


@POSIX
def test_only_the_user_can_read_it(store: SkillStore, root: Path) -> None:
    store.create("charts", PAGE)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}
    assert modes == {
        ".engramdown": 0o700,
        "skills": 0o700,
        "charts": 0o700,
        "SKILL.md": 0o600,
        "skills.lock": 0o600,
    }


@POSIX
def test_an_edit_keeps_the_permissions(store: SkillStore) -> None:
    path = store.create("charts", PAGE).path
    path.chmod(0o644)
    store.edit("charts", lambda page: page.with_body("Otherwise.\n"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_nothing_is_overwritten(store: SkillStore) -> None:
    store.create("charts", PAGE)
    with pytest.raises(SkillExistsError, match="is there already; nothing was written"):
        store.create("charts", parse_front_matter("---\nname: charts\n---\n"))
    assert store.read("charts").page.render() == PAGE.render()


def test_a_skill_goes_into_a_folder_that_is_there(store: SkillStore, root: Path) -> None:
    scripts = root / "skills" / "charts" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "plot.py").write_bytes(b"plot\r\n\xff")
    store.create("charts", PAGE)
    store.edit("charts", lambda page: page.with_text("description", "Make maps"))
    assert (scripts / "plot.py").read_bytes() == b"plot\r\n\xff"
    assert store.others("charts") == ["scripts/"]


def test_a_failed_creation_leaves_the_folder_of_somebody(root: Path) -> None:
    (root / "skills" / "charts").mkdir(parents=True)
    (root / "skills" / "charts").chmod(0o500)
    with pytest.raises(StoreError, match=str(root)):
        SkillStore(root, disk=_Full(), lock_timeout=5.0).create("charts", PAGE)
    with pytest.raises(StoreError, match=str(root)):
        SkillStore(root, disk=_Full(), lock_timeout=5.0).create("maps", PAGE)
    assert [path.name for path in (root / "skills").iterdir()] == ["charts"]
    assert files(root) == ["skills.lock"]


class _Full(Disk):
    def publish(self, new: Path, path: Path) -> None:
        raise OSError(28, "No space left on device", f"{new} as {path}")


def test_an_edit_changes_its_bytes_and_no_others(store: SkillStore) -> None:
    before = "\ufeff---\r\n# note\r\ndescription: 'a' # b\r\nx-ours: &c [1]\r\n---\r\n\udcff\r\n"
    path = store.create("charts", parse_front_matter(before)).path
    store.edit("charts", lambda page: page.with_text("description", "Make: maps"))
    after = before.replace("'a'", '"Make: maps"')
    assert path.read_bytes() == after.encode("utf-8", "surrogateescape")


def test_what_changes_nothing_writes_nothing(store: SkillStore) -> None:
    path = store.create("charts", PAGE).path
    before = path.stat()
    store.edit("charts", lambda page: page)
    assert path.stat() == before


def test_a_change_that_raises_leaves_the_skill_alone(store: SkillStore) -> None:
    store.create("charts", PAGE)

    def refuse(page: FrontMatter) -> FrontMatter:
        raise InvalidSkillError("body", f"{len(page.body)} is enough")

    with pytest.raises(InvalidSkillError, match="11 is enough"):
        store.edit("charts", refuse)
    assert store.read("charts").page.render() == PAGE.render()


def test_one_broken_skill_hides_no_other(store: SkillStore, root: Path) -> None:
    store.create("charts", PAGE)
    skills = root / "skills"
    for label in ("a-folder", "a-pipe", "huge", "missing", "empty", "Odd Name", ".hidden"):
        (skills / label).mkdir()
    (skills / "a-folder" / "SKILL.md").mkdir()
    os.mkfifo(skills / "a-pipe" / "SKILL.md")
    os.truncate(os.open(skills / "huge" / "SKILL.md", os.O_CREAT | os.O_WRONLY), 1 << 40)
    (skills / "missing" / "notes.md").write_bytes(b"")
    (skills / "Odd Name" / "SKILL.md").write_text(PAGE.render(), encoding="utf-8")
    (skills / ".hidden" / "SKILL.md").write_text(PAGE.render(), encoding="utf-8")
    (skills / "README.md").write_bytes(b"not a skill")
    (skills / "out").symlink_to(root.parent)
    found = {skill.label: [each.code for each in skill.findings] for skill in store.skills()}
    assert found == {
        "Odd Name": ["other-name"],
        "a-folder": ["unreadable"],
        "a-pipe": ["unreadable"],
        "charts": [],
        "huge": ["unreadable"],
        "missing": ["missing"],
        "out": ["unreadable"],
    }
    assert store.read("Odd Name").description == "Make charts"


@pytest.mark.parametrize("target", ["ring", "nowhere"])
def test_a_link_that_leads_nowhere_hides_no_skill_and_is_told(
    store: SkillStore, root: Path, target: str
) -> None:
    store.create("charts", PAGE)
    for place in (root / "skills", root / "skills" / "charts"):
        (place / "ring").symlink_to(target)
    found, ring = store.skills()
    assert (found.label, found.is_fit) == ("charts", True)
    ((line, code, message, _),) = ring.findings
    assert (ring.label, line, code) == ("ring", 0, "unreadable")
    assert "ring: is a link that leads to no folder" in message


def test_a_skill_is_no_link_to_what_else_a_scope_holds(store: SkillStore, root: Path) -> None:
    store.create("charts", PAGE)
    (root / "sessions").mkdir()
    (root / "sessions" / "SKILL.md").write_text(PAGE.render(), encoding="utf-8")
    (root / "skills" / "leak").symlink_to("../sessions")
    (root / "skills" / "twin").symlink_to("charts")
    _, leak, twin = store.skills()
    assert leak.findings[0].code == "unreadable"
    assert [each.code for each in twin.findings] == ["other-name"]
    with pytest.raises(StoreError, match="is a link that leaves"):
        store.read("leak")


def test_a_page_in_other_letters_is_named(store: SkillStore, root: Path) -> None:
    store.create("charts", PAGE)
    home = root / "skills" / "charts"
    (home / "SKILL.md").rename(home / "skill.md")
    (found,) = store.skills()
    if not (home / "SKILL.md").exists():  # where letters are told apart
        assert found.findings[0].message == "there is no SKILL.md, but skill.md; rename that"


def test_files_whose_names_are_those_of_others_in_the_making_come_too(
    store: SkillStore, root: Path
) -> None:
    names = ("SKILL.md.part", "SKILL.md", "plot.py.part", "plot.py")
    store.place("charts", {name: (name.encode(), False) for name in names})
    home = root / "skills" / "charts"
    assert {path.name: path.read_bytes().decode() for path in home.iterdir()} == {
        name: name for name in names
    }


@pytest.mark.slow
def test_what_is_not_there_is_said(store: SkillStore, root: Path) -> None:
    assert store.skills() == []
    for label in ("charts", "../x", ""):
        with pytest.raises(SkillNotFoundError, match="no skill"):
            store.read(label)
        with pytest.raises(SkillNotFoundError, match="no skill"):
            store.edit(label, lambda page: page)
    (root / "skills" / "charts").mkdir(parents=True)
    with pytest.raises(SkillNotFoundError, match="no skill"):
        store.edit("charts", lambda page: page)
    assert not (root / "skills.lock").exists() or files(root) == ["skills.lock"]


@pytest.mark.parametrize("what", ["skills", "label", "file"])
def test_a_link_out_of_the_scope_is_refused(store: SkillStore, root: Path, what: str) -> None:
    outside = root.parent / "outside"
    (outside / "charts").mkdir(parents=True)
    target = outside / "charts" / "SKILL.md"
    target.write_text(PAGE.render(), encoding="utf-8")
    (root / "skills").mkdir(parents=True)
    if what == "skills":
        (root / "skills").rmdir()
        (root / "skills").symlink_to(outside)
    elif what == "label":
        (root / "skills" / "charts").symlink_to(outside / "charts")
    else:
        (root / "skills" / "charts").mkdir()
        (root / "skills" / "charts" / "SKILL.md").symlink_to(target)
    with pytest.raises(StoreError, match="link"):
        store.read("charts")
    with pytest.raises(StoreError, match="link"):
        store.edit("charts", lambda page: page.with_body("mine\n"))
    with pytest.raises((StoreError, SkillExistsError)):
        store.create("charts", PAGE)
    assert target.read_text(encoding="utf-8") == PAGE.render()
    assert files(outside) == ["charts/SKILL.md"]


def test_a_hard_link_to_a_file_outside_is_parted_from_it(store: SkillStore, root: Path) -> None:
    path = store.create("charts", PAGE).path
    os.link(path, root.parent / "outside.md")
    store.edit("charts", lambda page: page.with_body("mine\n"))
    assert (root.parent / "outside.md").read_text(encoding="utf-8") == PAGE.render()
    assert store.read("charts").page.body == "mine\n"


def test_a_file_that_is_too_large_is_not_written(root: Path) -> None:
    store = SkillStore(root, disk=Disk(durable=False, limit=1000))
    with pytest.raises(StoreError, match="more than the limit"):
        store.create("charts", PAGE.with_body("x" * 2000))
    store.create("charts", PAGE)
    with pytest.raises(StoreError, match="more than the limit"):
        store.edit("charts", lambda page: page.with_body("x" * 2000))
    assert files(root) == ["skills.lock", "skills/charts/SKILL.md"]


@POSIX
@pytest.mark.parametrize("name", ["SKILL.md", ".", ".."])
def test_what_is_read_only_is_refused(store: SkillStore, name: str) -> None:
    path = store.create("charts", PAGE).path
    closed = path.parent / name if name != "SKILL.md" else path
    mode = closed.stat().st_mode
    closed.chmod(mode & ~0o222)
    try:
        with pytest.raises(StoreError, match=r"is read-only; nothing was written"):
            store.edit("charts", lambda page: page.with_body("mine\n"))
    finally:
        closed.chmod(mode)
    assert store.read("charts").page.render() == PAGE.render()


def test_who_holds_the_lock_is_named(store: SkillStore, root: Path) -> None:
    store.create("charts", PAGE)
    program = (
        "import sys; from pathlib import Path; from engramdown.storage.locks import ScopeLock\n"
        "with ScopeLock(Path(sys.argv[1]), 5).hold(): print(flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(root / "skills.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        waiting = SkillStore(root, disk=Disk(durable=False), lock_timeout=0.05)
        with pytest.raises(StoreError, match=f"held by process {holder.pid}"):
            waiting.edit("charts", lambda page: page.with_body("mine\n"))
        assert waiting.read("charts").page.render() == PAGE.render()
        holder.kill()
    store.edit("charts", lambda page: page.with_body("mine\n"))
