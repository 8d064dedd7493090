"""What doctor sees of the files themselves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown.doctor.folder import UNREADABLE, Inspection
from engramdown.engram import Engram
from engramdown.hippocampus.history import Step, write_line
from engramdown.hippocampus.store import Hippocampus

STEP = Step("k3v9q2ht", "2026-02-27T10:00:00.000000Z", "llm", "encode", "", (), ())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of a scope with one memory."""
    store = Hippocampus(tmp_path / ".engramdown")
    store.encode([Engram("CI is slow", "lesson", "project", topic="ci")])
    return store.root


def found(inspection: Inspection) -> list[tuple[str, int, str]]:
    return [(item.file, item.line, item.code) for item in inspection.findings]


def looked_at(root: Path) -> list[tuple[str, int, str]]:
    return found(Inspection(root))


def test_a_scope_that_is_well_is_read_and_left_alone(root: Path) -> None:
    (root / "memory" / "soul.md").write_bytes(b"Be kind\r\n\xff")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    inspection = Inspection(root)
    assert found(inspection) == []
    assert not {finding.code for finding in inspection.findings} & UNREADABLE
    assert sorted(inspection.files) == ["lessons.md", "soul.md", "topics/ci.md"]
    assert inspection.files["soul.md"] == "Be kind\r\n\udcff"
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_scope_that_does_not_exist_has_nothing_wrong(tmp_path: Path) -> None:
    assert looked_at(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
    (tmp_path / "empty").mkdir()
    assert looked_at(tmp_path / "empty") == []


def test_files_that_are_none_of_ours_are_named(root: Path) -> None:
    memory = root / "memory"
    (memory / "notes.md").touch()
    (memory / "rules (conflicted copy).md").touch()
    (memory / "drafts").mkdir()
    (memory / "topics" / "ci.txt").touch()
    (memory / "topics" / "old.md").mkdir()
    (memory / "topics" / "deep").mkdir()
    (memory / ".DS_Store").touch()
    assert looked_at(root) == [
        ("drafts", 0, "unknown-file"),
        ("notes.md", 0, "unknown-file"),
        ("rules (conflicted copy).md", 0, "unknown-file"),
        ("topics/ci.txt", 0, "unknown-file"),
        ("topics/deep", 0, "unknown-file"),
        ("topics/old.md", 0, "not-a-file"),
    ]


def test_a_topic_under_another_name_is_told_how_it_is_filed(root: Path) -> None:
    (root / "memory" / "topics" / "My Topic.md").touch()
    (root / "memory" / "topics" / "nul.md").touch()
    first, second = Inspection(root).findings
    assert (first.code, first.message) == ("topic-name", "is not read; this topic is my-topic.md")
    assert second.code == "topic-name"
    assert "device" in second.message


def test_only_temporary_files_that_nobody_writes_any_more_are_leftovers(root: Path) -> None:
    for name, age in ((".rules.md.1.tmp", 3600), (".rules.md.2.tmp", 0), (".a.tmp.old", 3600)):
        path = root / "memory" / name
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    assert looked_at(root) == [(".a.tmp.old", 0, "leftover"), (".rules.md.1.tmp", 0, "leftover")]


def test_a_folder_where_a_file_should_be_is_found(root: Path) -> None:
    (root / "memory" / "rules.md").mkdir()
    assert looked_at(root) == [("rules.md", 0, "not-a-file")]
    assert {finding.code for finding in Inspection(root).findings} & UNREADABLE


@pytest.mark.parametrize(
    "make, what",
    [
        pytest.param(Path.mkdir, "a folder", id="folder"),
        pytest.param(os.mkfifo, "a pipe or a device", id="pipe"),
        pytest.param(lambda path: path.symlink_to("lessons.md"), "a link", id="link"),
        pytest.param(lambda path: path.symlink_to("nowhere"), "a link", id="link-to-nothing"),
    ],
)
def test_a_lock_that_is_no_file_is_found(
    root: Path, make: Callable[[Path], object], what: str
) -> None:
    (root / "memory" / ".lock").unlink()
    make(root / "memory" / ".lock")
    (finding,) = Inspection(root).findings
    assert (finding.file, finding.code) == (".lock", "not-a-file")
    assert finding.message == f"is {what} where the lock should be"
    assert {finding.code for finding in Inspection(root).findings} & UNREADABLE


def test_a_pipe_where_a_file_should_be_is_not_waited_for(root: Path) -> None:
    if sys.platform != "win32":
        os.mkfifo(root / "memory" / "rules.md")
        assert looked_at(root) == [("rules.md", 0, "not-a-file")]


@pytest.mark.parametrize("place", ["", "memory", "memory/topics"])
def test_a_file_where_a_folder_should_be_is_found(tmp_path: Path, place: str) -> None:
    path = tmp_path / ".engramdown" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    (finding,) = Inspection(tmp_path / ".engramdown").findings
    assert finding.file == {"": "..", "memory": "."}.get(place, "topics")
    assert finding.message == "is a file where a folder should be"


def test_a_link_out_of_the_scope_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("- secret\n", encoding="utf-8")
    (root / "memory" / "rules.md").symlink_to(tmp_path / "outside.md")
    (root / "memory" / "pending.md").symlink_to(root / "nowhere.md")
    (root / "memory" / "lessons.md").unlink(missing_ok=True)
    (root / "memory" / "lessons.md").symlink_to("lessons.md")
    inspection = Inspection(root)
    assert found(inspection) == [
        (name, 0, "link") for name in ("lessons.md", "pending.md", "rules.md")
    ]
    assert "rules.md" not in inspection.files


def test_a_link_inside_of_the_scope_is_followed(root: Path) -> None:
    (root / "house-rules.md").write_text("- a\n", encoding="utf-8")
    (root / "memory" / "rules.md").symlink_to(root / "house-rules.md")
    inspection = Inspection(root)
    assert found(inspection) == []
    assert inspection.files["rules.md"] == "- a\n"


def test_a_link_in_the_place_of_the_memory_folder_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / ".engramdown"
    root.mkdir()
    (root / "memory").symlink_to(tmp_path)
    assert looked_at(root) == [(".", 0, "link")]


def test_a_file_over_the_limit_is_not_read(root: Path) -> None:
    (root / "memory" / "rules.md").write_bytes(b"x" * 3_000_000)
    (item,) = Inspection(root, limit=2 * 1024 * 1024).findings
    assert item.message == "has 2.9 MB, more than the limit of 2 MB"
    assert item.level == "error"


def test_a_file_that_nobody_may_write_and_one_that_all_may_are_found(root: Path) -> None:
    (root / "memory" / "lessons.md").chmod(0o444)
    (root / "memory" / "topics" / "ci.md").chmod(0o666)
    assert looked_at(root) == [
        ("lessons.md", 0, "cannot-write"),
        ("topics/ci.md", 0, "open-to-all"),
    ]


def test_what_the_system_refuses_to_read_is_a_finding(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engramdown.doctor.folder.Disk.read", refuse)
    (root / "memory" / "topics" / "ci.md").unlink()
    (item,) = Inspection(root).findings
    assert (item.file, item.message) == ("lessons.md", "cannot be read: Permission denied")


def test_a_file_that_goes_away_meanwhile_is_no_finding(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramdown.doctor.folder.Disk.read", lambda *_: None)
    assert (looked_at(root), Inspection(root).files) == ([], {})


def test_a_folder_that_may_not_be_listed_is_found(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.access

    def access(path: Path, mode: int) -> bool:
        return not (Path(path).name == "topics" and mode & os.R_OK) and real(path, mode)

    monkeypatch.setattr("engramdown.doctor.folder.os.access", access)
    assert looked_at(root) == [("topics", 0, "cannot-read")]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"{bad\n", id="no-json"),
        pytest.param(b"[1]\n", id="no-object"),
        pytest.param(b'{"step": "k3v9q2ht"}\n', id="keys-missing"),
        pytest.param(b"\n", id="blank"),
        pytest.param(b"[" * 100_000 + b"\n", id="deep"),
        pytest.param(write_line(STEP).replace(b'"llm"', b"5"), id="types"),
        pytest.param(b'{"step": "k3', id="torn"),
    ],
)
def test_a_line_of_the_journal_that_cannot_be_read_is_found(root: Path, line: bytes) -> None:
    journal = root / "history.jsonl"
    count = journal.read_bytes().count(b"\n")
    with journal.open("ab") as file:
        file.write(line)
    assert looked_at(root) == [("../history.jsonl", count + 1, "history-line")]


@pytest.mark.parametrize(
    "make, code, advice",
    [
        pytest.param(Path.mkdir, "not-a-file", "move it away", id="folder"),
        pytest.param(os.mkfifo, "not-a-file", "move it away", id="pipe"),
        pytest.param(
            lambda path: path.symlink_to("memory/lessons.md"), "link", "put the file", id="inside"
        ),
        pytest.param(
            lambda path: path.symlink_to(os.devnull), "link", "put the file", id="outside"
        ),
    ],
)
def test_a_journal_that_is_no_file_is_found_with_what_to_do(
    root: Path, make: Callable[[Path], object], code: str, advice: str
) -> None:
    (root / "history.jsonl").unlink()
    make(root / "history.jsonl")
    (finding,) = Inspection(root).findings
    assert (finding.file, finding.line, finding.code) == ("../history.jsonl", 0, code)
    assert finding.advice.startswith(advice)


def test_a_journal_that_becomes_a_pipe_meanwhile_is_not_waited_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = root / "history.jsonl"
    journal.unlink()
    os.mkfifo(journal)
    monkeypatch.setattr("engramdown.doctor.folder.what_instead", lambda _: "")
    assert looked_at(root) == [("../history.jsonl", 0, "cannot-read")]
