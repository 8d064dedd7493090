"""Memories whose lines are gone are found, and nothing is done to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.doctor.recordings import inspect_origins, learned, learned_from
from engramdown.engram import Scope
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import SessionNotFoundError
from engramdown.transcripts.sessions import Sessions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    episodes = EpisodicMemory(tmp_path)
    episodes.log("s", "user", "It was on a Friday")
    episodes.log("s", "user", "Never mind")
    episodes.close()
    folder = tmp_path / "memory"
    (folder / "topics").mkdir(parents=True)
    lines = {
        "rules.md": ["## Always", "", "- Test first <!-- id:k3v9q2h1 from:s#2 -->"],
        "lessons.md": [
            "- On a Friday <!-- id:k3v9q2h2 from:s#1 -->",
            "- By hand",
            "- Heard <!-- id:k3v9q2h3 from:a-meeting -->",
            "- Gone <!-- id:k3v9q2h4 from:purged#4 -->",
            "- Gone too <!-- id:k3v9q2h5 from:purged#5 -->",
            "- Beyond <!-- id:k3v9q2h6 from:s#99 -->",
        ],
        "topics/ci.md": ["- Friday <!-- id:k3v9q2h7 topic:ci from:s#1 -->"],
        "pending.md": ["- [ ] Maybe <!-- id:k3v9q2h8 kind:lesson scope:project from:s#1 -->"],
        "archive.md": ["- Was <!-- id:k3v9q2h9 from:s#1 was:lessons.md -->"],
    }
    for name, text in lines.items():
        (folder / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    return tmp_path


def found(root: Path, scope: Scope = "project") -> list[tuple[str, int, str]]:
    return sorted((each.file, each.line, each.code) for each in inspect_origins(root, scope))


def test_what_was_learned_from_a_line_is_found_in_every_file(root: Path) -> None:
    found = [(each.file, each.line, each.id) for each in learned_from(root, "project", "s", [1])]
    assert sorted(found) == [
        ("archive.md", 1, "k3v9q2h9"),
        ("lessons.md", 1, "k3v9q2h2"),
        ("pending.md", 1, "k3v9q2h8"),
        ("topics/ci.md", 1, "k3v9q2h7"),
    ]
    assert len(learned_from(root, "project", "s")) == 6
    assert learned_from(root, "project", "t") == []
    assert {each.scope for each in learned(root, "global")} == {"global"}


def test_what_is_there_is_no_finding(root: Path) -> None:
    assert found(root) == [("lessons.md", 6, "source-gone")]


def test_what_was_redacted_is_found_wherever_it_was_learned(root: Path) -> None:
    before = {path: path.read_bytes() for path in (root / "memory").rglob("*.md")}
    EpisodicMemory(root).forgetting().redact("s", [1])
    redacted = [place for place in found(root) if place[2] == "source-redacted"]
    assert [file for file, _, _ in redacted] == [
        "archive.md",
        "lessons.md",
        "pending.md",
        "topics/ci.md",
    ]
    assert {path: path.read_bytes() for path in (root / "memory").rglob("*.md")} == before


def test_a_memory_for_all_projects_may_come_from_another_one(root: Path) -> None:
    assert found(root, "global") == [("lessons.md", 6, "source-gone")]


def test_where_there_are_no_transcripts_somebody_else_has_them(root: Path) -> None:
    EpisodicMemory(root).forgetting().purge("s")
    assert found(root) == []


def test_a_session_that_is_removed_this_moment_is_no_finding(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise SessionNotFoundError("s", "episodes")

    monkeypatch.setattr(Sessions, "episode", gone)
    assert found(root) == []


def test_a_file_that_cannot_be_read_is_told_by_others(root: Path) -> None:
    (root / "memory" / "rules.md").unlink()
    (root / "memory" / "rules.md").mkdir()
    assert found(root) == []


def test_what_was_merged_was_learned_from_all_of_its_lines(root: Path) -> None:
    path = root / "memory" / "lessons.md"
    path.write_text("- Both <!-- id:k3v9q2ha from:s#1,s#2 -->\n", encoding="utf-8")
    found = {each.id for each in learned_from(root, "project", "s", [2])}
    assert found == {"k3v9q2h1", "k3v9q2ha"}
