"""What doctor and stats say about transcripts."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engramdown.doctor.folder import Inspection
from engramdown.doctor.recordings import count_transcripts, inspect_transcripts
from engramdown.episodes.memory import EpisodicMemory
from tests.episodes.disks import Fault, FaultyDisk


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    """Return transcripts on a disk that is full."""
    disk = FaultyDisk()
    memory = EpisodicMemory(tmp_path, disk=disk)
    memory.log("s", "user", "a")
    memory.log("t", "user", "a")
    disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl")]
    return memory


def test_without_transcripts_nothing_is_wrong(tmp_path: Path) -> None:
    assert inspect_transcripts(tmp_path) == []
    assert count_transcripts(tmp_path)["degraded"] == []
    assert list(tmp_path.iterdir()) == []


def test_sessions_and_episodes_are_counted(tmp_path: Path, memory: EpisodicMemory) -> None:
    memory.log("t", "user", "b")
    found = count_transcripts(tmp_path, tmp_path)
    assert (found["sessions"], found["episodes"]) == (4, 6)
    assert found["episode_bytes"] == 2 * sum(
        path.stat().st_size for path in memory.folder.glob("*.jsonl")
    )


def test_a_program_that_cannot_write_is_found(tmp_path: Path, memory: EpisodicMemory) -> None:
    memory.log("s", "user", "b")
    (finding,) = Inspection(tmp_path).findings
    assert (finding.file, finding.code, finding.level) == (
        f"../episodes/degraded-{os.getpid()}.json",
        "degraded",
        "error",
    )
    assert "No space left on device" in finding.message
    assert "1 episode in the queue" in finding.message
    assert count_transcripts(tmp_path)["degraded"] == [str(memory.trouble)]


def test_lines_that_are_no_episodes_are_found(tmp_path: Path, memory: EpisodicMemory) -> None:
    with (memory.folder / "t.jsonl").open("ab") as file:
        file.write(b"broken\n\n{}\nunfinished")
    (finding,) = inspect_transcripts(tmp_path)
    assert (finding.file, finding.line, finding.code) == ("../episodes/t.jsonl", 3, "episode-line")
    assert "3" in finding.message


def test_every_line_has_its_number(tmp_path: Path, memory: EpisodicMemory) -> None:
    path = memory.folder / "t.jsonl"
    for text in ("a", "b" * 3_000, "c"):
        memory.log("t", "tool_result", text)
        with path.open("ab") as file:
            file.write(b"\xff broken\n")
    memory.log("t", "user", "d")
    for whole in (memory.folder / "payloads").rglob("*.txt"):
        whole.unlink()
    found = {finding.code: finding for finding in inspect_transcripts(tmp_path)}
    assert found.keys() == {"episode-line", "missing-text"}
    assert (found["episode-line"].line, found["missing-text"].line) == (4, 5)
    path.write_bytes(path.read_bytes().replace(b"\xff", b""))
    found = {finding.code: finding for finding in inspect_transcripts(tmp_path)}
    assert (found["episode-line"].line, found["missing-text"].line) == (4, 5)
    assert "3" in found["episode-line"].message


def test_what_was_set_aside_is_found(tmp_path: Path, memory: EpisodicMemory) -> None:
    with (memory.folder / "t.jsonl").open("ab") as file:
        file.write(b"torn")
    memory.close()
    memory.log("t", "user", "b")
    (finding,) = inspect_transcripts(tmp_path)
    assert (finding.file, finding.code) == ("../episodes/t.torn-1", "torn-line")
    assert finding.message.startswith("4 bytes")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_cannot_be_read_is_found(
    tmp_path: Path, memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    memory.close()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        found = inspect_transcripts(tmp_path)
        assert [finding.code for finding in found] == ["cannot-read"] * 2
        assert count_transcripts(tmp_path)["sessions"] == 0
        patch.setattr(os, "scandir", refuse)
        (finding,) = inspect_transcripts(tmp_path)
        assert count_transcripts(tmp_path)["degraded"] == ["cannot be read: Permission denied"]
    assert (finding.file, finding.message) == ("../episodes", "cannot be read: Permission denied")


def test_a_whole_text_that_is_gone_is_missed(tmp_path: Path, memory: EpisodicMemory) -> None:
    for word in ("kept ", "gone ", "gone "):
        memory.log("t", "tool_result", word * 1000)
    gone = max((memory.folder / "payloads").rglob("*.txt"), key=lambda path: path.read_bytes()[:1])
    assert inspect_transcripts(tmp_path) == []
    gone.unlink()
    (finding,) = inspect_transcripts(tmp_path)
    place = (finding.file, finding.line, finding.code)
    expected = [("../episodes/t.jsonl", line, "missing-text") for line in (3, 4)]
    assert place in expected
    path = memory.folder / "t.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"payload":"', b'"payload":"../\\u0000'))
    (finding,) = inspect_transcripts(tmp_path)
    assert finding.line == 3
    assert finding.message.startswith("whole texts that are gone from payloads/: 3;")


def test_a_line_without_an_end_is_told_when_nobody_writes_it(
    tmp_path: Path, memory: EpisodicMemory
) -> None:
    with (memory.folder / "t.jsonl").open("ab") as file:
        file.write(b'{"seq":2')
    assert inspect_transcripts(tmp_path) == []
    memory.close()
    (finding,) = inspect_transcripts(tmp_path)
    assert (finding.file, finding.line, finding.code) == (
        "../episodes/t.jsonl",
        3,
        "unfinished-line",
    )
    assert "8 bytes" in finding.message


def test_a_session_that_nobody_ended_is_told(tmp_path: Path) -> None:
    memory = EpisodicMemory(tmp_path)
    then = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
    for session in ("ended", "left", "running"):
        memory.log(session, "user", "x", at=then)
    memory.end("ended", at=then)
    memory.recorder.release("left")
    (finding,) = inspect_transcripts(tmp_path)
    assert (finding.file, finding.code, finding.fixable) == (
        "../episodes/left.jsonl",
        "left-open",
        True,
    )
    assert "2026-02-27" in finding.message
