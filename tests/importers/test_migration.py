"""Files of older layouts are found and read, and what cannot be read is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramdown.importers.migration import File, files_at
from engramdown.storage.disk import Disk
from tests.cortex.notes import write


def found(*paths: Path, base: Path, limit: int = 1_000_000) -> list[File]:
    """Return what there is to read."""
    return list(files_at(paths, base, Disk(durable=False, limit=limit)))


def names(*paths: Path, base: Path) -> list[tuple[str, str]]:
    """Return the names and layouts of what there is to read."""
    return [(each.path, each.layout or each.problem) for each in found(*paths, base=base)]


def test_a_project_has_files_of_every_layout(project: Path) -> None:
    write(project)
    assert names(project, base=project) == [
        (".anton/memory/lessons.md", "anton-memory"),
        (".anton/memory/profile.md", "anton-memory"),
        (".anton/memory/rules.md", "anton-memory"),
        (".anton/context/stack.md", "anton-context"),
        (".anton/learnings/cache.md", "anton-learnings"),
        ("CLAUDE.md", "notes"),
        ("AGENTS.md", "notes"),
        (".cursorrules", "notes"),
        (".cursor/rules/web/ts.mdc", "cursor"),
        ("MEMORY.md", "index"),
        ("notes/builds.md", "topic"),
        ("memory/2026-02-03.md", "daily"),
    ]


OWN = ("api/AGENTS.md", "api/v2/CLAUDE.local.md", "web/CLAUDE.md")
OTHERS = (
    ".cache/AGENTS.md",
    "node_modules/left/AGENTS.md",
    "dist/AGENTS.md",
    "env/lib/AGENTS.md",
    "module/AGENTS.md",
    "web/MEMORY.md",
)


def test_folders_of_a_project_have_files_of_their_own(project: Path, tmp_path: Path) -> None:
    for name in ("AGENTS.md", ".claude/CLAUDE.md", *OWN, *OTHERS, "env/pyvenv.cfg", "module/.git"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("- x\n", encoding="utf-8")
    (project / "linked").symlink_to(project / "api")
    (project / "deep").symlink_to(tmp_path)
    disk = Disk(durable=False)
    told = [
        (each.path, each.folder)
        for each in files_at([project, project / "dist/AGENTS.md"], project, disk, folders=True)
    ]
    assert told == [
        (".claude/CLAUDE.md", ""),
        ("AGENTS.md", ""),
        ("api/AGENTS.md", "api"),
        ("api/v2/CLAUDE.local.md", "api/v2"),
        ("web/CLAUDE.md", "web"),
        ("dist/AGENTS.md", "dist"),
    ]
    assert [name for name, _ in names(project, base=project)] == [".claude/CLAUDE.md", "AGENTS.md"]


def test_a_folder_elsewhere_is_no_part_of_the_project(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "api").mkdir(parents=True)
    for name in ("AGENTS.md", "api/AGENTS.md"):
        (other / name).write_text("- x\n", encoding="utf-8")
    told = list(files_at([other, other / "api"], project, Disk(durable=False), folders=True))
    assert [(each.path, each.folder) for each in told] == [
        ("AGENTS.md", ""),
        ("AGENTS.md", ""),
    ]


def test_topics_come_from_the_index_or_the_name(project: Path) -> None:
    write(project)
    told = found(project, base=project)
    topics = {each.path: each.topic for each in told}
    assert topics[".anton/learnings/cache.md"] == "Caching"
    assert topics["notes/builds.md"] == "builds"


@pytest.mark.parametrize("folder", [".anton", ".cursor", "memory"])
def test_a_folder_of_a_layout_may_be_named_itself(project: Path, folder: str) -> None:
    write(project)
    whole = [each for each in names(project, base=project) if each[0].startswith(f"{folder}/")]
    assert names(project / folder, base=project) == whole
    assert whole


def test_a_folder_without_any_gives_its_notes(project: Path) -> None:
    write(project)
    assert names(project / "notes", base=project) == [("notes/builds.md", "notes")]
    assert names(project / ".anton" / "context", base=project) == [
        (".anton/context/stack.md", "anton-context")
    ]


def test_a_file_elsewhere_is_called_by_its_name(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("- x", encoding="utf-8")
    assert names(path, path, base=project) == [("AGENTS.md", "notes")]


@pytest.mark.parametrize(
    "data, text",
    [
        (b"", ""),
        (b"- a\r\n", "- a\r\n"),
        ("\ufeff- a".encode(), "\ufeff- a"),
        ("- ü".encode("utf-16"), "- ü"),
        (b"- a\xff", "- a\udcff"),
        (b"\xff\xfea", None),
        (b"- a\0", None),
    ],
)
def test_bytes_are_read_as_what_they_are(project: Path, data: bytes, text: str | None) -> None:
    (project / "CLAUDE.md").write_bytes(data)
    (each,) = found(project, base=project)
    if text is None:
        assert each == File("CLAUDE.md", problem="is not text")
    else:
        assert each.text == text


def test_what_cannot_be_read_is_told_and_the_rest_is_read(project: Path) -> None:
    (project / "CLAUDE.md").mkdir()
    os.mkfifo(project / "AGENTS.md")
    (project / ".cursorrules").write_text("x" * 100, encoding="utf-8")
    (project / "MEMORY.md").write_text("- a", encoding="utf-8")
    (project / ".anton").write_text("no folder", encoding="utf-8")
    told = found(project, base=project, limit=50)
    assert [each.path for each in told] == ["CLAUDE.md", "AGENTS.md", ".cursorrules", "MEMORY.md"]
    reasons = [each.problem for each in told if each.problem]
    assert [reason.split(" ")[0:2] for reason in reasons[:2]] == [["is", "a"]] * 2
    assert len(reasons) == 3
    assert told[3].text == "- a"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(project: Path) -> None:
    (project / "CLAUDE.md").write_text("- a", encoding="utf-8")
    (project / "CLAUDE.md").chmod(0)
    assert names(project, base=project) == [("CLAUDE.md", "cannot be read: Permission denied")]


def test_links_stay_inside(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("- a", encoding="utf-8")
    (project / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    (project / "AGENTS.md").write_text("- b", encoding="utf-8")
    (project / ".cursorrules").symlink_to("AGENTS.md")
    (project / "MEMORY.md").write_text("- [a](../secret.md) [b](gone.md)\n", encoding="utf-8")
    assert names(project, base=project) == [
        ("CLAUDE.md", "is a link that leads out of the folder; name the file itself"),
        ("AGENTS.md", "notes"),
        ("MEMORY.md", "index"),
    ]
    assert names(project / "CLAUDE.md", base=project) == [("CLAUDE.md", "notes")]


def test_what_is_no_markdown_or_not_there_is_told(project: Path) -> None:
    (project / "x.py").write_text("x", encoding="utf-8")
    (project / "AGENTS.md").symlink_to("gone.md")
    told = names(project / "x.py", project / "AGENTS.md", base=project)
    assert told == [("x.py", "is not a markdown file"), ("AGENTS.md", "does not exist")]
