"""What doctor and stats say about transcripts."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engramdown.cortex.inspection import inspect
from engramdown.cortex.transcripts import count_transcripts, inspect_transcripts
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
    assert count_transcripts(tmp_path).degraded == ()
    assert list(tmp_path.iterdir()) == []


def test_sessions_and_episodes_are_counted(tmp_path: Path, memory: EpisodicMemory) -> None:
    memory.log("t", "user", "b")
    found = count_transcripts(tmp_path) + count_transcripts(tmp_path)
    assert (found.sessions, found.episodes) == (4, 6)
    assert found.size == 2 * sum(path.stat().st_size for path in memory.folder.glob("*.jsonl"))


def test_a_program_that_cannot_write_is_found(tmp_path: Path, memory: EpisodicMemory) -> None:
    memory.log("s", "user", "b")
    (finding,) = inspect(tmp_path).findings
    assert (finding.file, finding.code, finding.level) == (
        f"../episodes/degraded-{os.getpid()}.json",
        "degraded",
        "error",
    )
    assert "No space left on device" in finding.message
    assert "1 episode in the queue" in finding.message
    assert count_transcripts(tmp_path).degraded == (str(memory.trouble),)


def test_lines_that_are_no_episodes_are_found(tmp_path: Path, memory: EpisodicMemory) -> None:
    with (memory.folder / "t.jsonl").open("ab") as file:
        file.write(b"broken\n\n{}\nunfinished")
    (finding,) = inspect_transcripts(tmp_path)
    assert (finding.file, finding.line, finding.code) == (
        "../episodes/t.jsonl",
        3,
        "episode-line",
    )
    assert "3" in finding.message


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
        assert count_transcripts(tmp_path).sessions == 0
        patch.setattr(os, "scandir", refuse)
        (finding,) = inspect_transcripts(tmp_path)
        assert count_transcripts(tmp_path).degraded == ("cannot be read: Permission denied",)
    assert (finding.file, finding.message) == (
        "../episodes",
        "cannot be read: Permission denied",
    )
