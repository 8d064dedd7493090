"""Law: recording never fails in silence; what could not be written is tried again, in order."""

from __future__ import annotations

import errno
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engramdown.episodes import recorder
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.recorder import Trouble, find_trouble, marker
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.changes import touch, touched
from tests.episodes.disks import Fault, FaultyDisk


@pytest.fixture
def disk() -> FaultyDisk:
    """Return a disk without faults yet."""
    return FaultyDisk()


@pytest.fixture
def memory(tmp_path: Path, disk: FaultyDisk) -> EpisodicMemory:
    """Return transcripts on that disk, with one episode."""
    memory = EpisodicMemory(tmp_path, disk=disk)
    assert memory.log("s", "user", "first") is not None
    return memory


def said(memory: EpisodicMemory, session: str = "s") -> list[str]:
    """Return what was said; each line must have the number of its place."""
    transcript = memory.session(session)
    assert transcript.malformed == ()
    assert [each.seq for each in transcript.episodes] == list(range(len(transcript.episodes)))
    return [each.text for each in transcript.episodes if each.role != "event"]


def run(program: str, root: Path, env: dict[str, str]) -> None:
    """Run a program in a process of its own."""
    head = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from engramdown.episodes.memory import EpisodicMemory\n"
        "from tests.episodes.disks import Fault, FaultyDisk\n"
    )
    subprocess.run([sys.executable, "-c", head + program, str(root)], check=True, env=env)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault("write", name="s.jsonl"), id="write"),
        pytest.param(Fault("write", name="s.jsonl", after=20), id="half-write"),
        pytest.param(Fault("publish", name=".txt"), id="payload"),
        pytest.param(Fault("lock"), id="lock"),
    ],
)
def test_what_fails_waits_and_is_written_later(
    memory: EpisodicMemory, disk: FaultyDisk, fault: Fault, code: int
) -> None:
    failing = Fault(fault.call, code, fault.name, after=fault.after)
    disk.faults = [failing]
    for text in ("a", "b"):
        assert memory.log("s", "tool_result", text * 3_000) is None
    assert disk.landed >= 2
    assert memory.recorder.failures >= 2
    trouble = memory.trouble
    assert trouble is not None
    assert (trouble.waiting, trouble.lost) == (2, 0)
    assert "2 episodes in the queue" in str(trouble)
    assert said(memory) == ["first"]
    disk.faults = []
    assert memory.log("s", "user", "c") == ("s", 4)
    assert said(memory) == ["first", "a" * 2_000, "b" * 2_000, "c"]
    assert memory.whole(memory.session("s").episodes[3]) == "b" * 3_000
    assert memory.trouble is None
    assert find_trouble(memory.folder, disk) == []


def test_what_waits_keeps_its_time_and_id(memory: EpisodicMemory, disk: FaultyDisk) -> None:
    disk.faults = [Fault("write", name="s.jsonl", times=1)]
    memory.log("s", "user", "a")
    memory.log("s", "user", "b")
    _, _, first, second = memory.session("s").episodes
    assert (first.text, second.text) == ("a", "b")
    assert first.ts < second.ts
    assert first.id[:10] <= second.id[:10]


def test_a_session_that_cannot_begin_begins_later(tmp_path: Path) -> None:
    disk = FaultyDisk(Fault("make_folder", errno.EROFS, times=2))
    memory = EpisodicMemory(tmp_path, disk=disk)
    session = memory.start_session(title="CI", parent="above", parent_call="c1")
    assert "Read-only" in str(memory.trouble)
    assert memory.log(session, "user", "a") is None
    assert disk.landed == 2
    assert memory.log(session, "user", "b") == (session, 2)
    assert said(memory, session) == ["a", "b"]
    (info,) = memory.sessions()
    assert (info.title, info.parent, info.parent_call) == ("CI", "above", "c1")


def test_transcripts_are_kept_from_git_also_after_trouble(tmp_path: Path) -> None:
    disk = FaultyDisk(Fault("publish", errno.EMFILE, ".gitignore", times=1))
    memory = EpisodicMemory(tmp_path, disk=disk)
    assert memory.log("s", "user", "a") is None
    assert memory.log("s", "user", "b") == ("s", 2)
    note = tmp_path / "episodes" / ".gitignore"
    assert note.read_text(encoding="utf-8") == "*\n"
    note.unlink()
    EpisodicMemory(tmp_path).log("s", "user", "c")
    assert not note.exists()


def test_a_session_in_trouble_ends_when_it_can(memory: EpisodicMemory, disk: FaultyDisk) -> None:
    disk.faults = [Fault("write", name="s.jsonl")]
    memory.log("s", "user", "a")
    memory.end("s")
    assert memory.trouble is not None
    disk.faults = []
    memory.close()
    assert said(memory) == ["first", "a"]
    assert memory.sessions()[0].reason == "finished"


def test_trouble_with_one_session_is_no_trouble_for_others(
    memory: EpisodicMemory, disk: FaultyDisk
) -> None:
    disk.faults = [Fault("write", name="s.jsonl")]
    memory.log("s", "user", "a")
    assert memory.log("t", "user", "b") == ("t", 1)
    assert memory.trouble is not None
    disk.faults = []
    memory.log("t", "user", "c")
    assert find_trouble(memory.folder, disk) == []
    assert said(memory) == ["first", "a"]


def test_what_the_queue_cannot_hold_is_told_in_the_transcript(
    memory: EpisodicMemory, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "QUEUE_ITEMS", 3)
    disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl")]
    for number in range(10):
        assert memory.log("s", "user", str(number)) is None
    trouble = memory.trouble
    assert trouble is not None
    assert (trouble.waiting, trouble.lost) == (3, 7)
    assert str(trouble).endswith("3 episodes in the queue, 7 episodes lost")
    disk.faults = []
    assert memory.log("s", "user", "10") is None
    assert memory.log("s", "user", "11") == ("s", 6)
    assert said(memory) == ["first", "0", "1", "2", "11"]
    event = memory.session("s").episodes[5]
    assert (event.event, event.more["count"]) == ("lost", 8)
    assert "No space left" in event.more["reason"]


def test_the_queue_has_a_size(
    memory: EpisodicMemory, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "QUEUE_BYTES", 10_000)
    disk.faults = [Fault("publish", name=".txt")]
    for letter in "abcde":
        memory.log("s", "tool_result", letter * 3_000)
    trouble = memory.trouble
    assert trouble is not None
    assert (trouble.waiting, trouble.lost) == (1, 4)


def test_a_stuck_lock_is_not_waited_for_again_and_again(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "LOCK_TIMEOUT", 0.001)
    waits: list[float | None] = []
    take = FolderLock.take

    def watched(lock: FolderLock, timeout: float | None = None) -> None:
        waits.append(timeout)
        take(lock, 0.001)

    monkeypatch.setattr(FolderLock, "take", watched)
    with FolderLock(memory.folder / ".lock", Disk(), 5).hold():
        waits.clear()
        for session in ("s", "t", "u", "s"):
            assert memory.log(session, "user", "a") is None
        assert waits[0] == 0.001
        assert len(waits) == 4
    assert memory.log("s", "user", "b") is not None
    assert [said(memory, session) for session in "stu"] == [["first", "a", "a", "b"], ["a"], ["a"]]


def test_other_processes_see_it(memory: EpisodicMemory, disk: FaultyDisk) -> None:
    disk.faults = [Fault("write", errno.ENOSPC, "s.jsonl")]
    memory.log("s", "user", "a")
    ((name, trouble),) = find_trouble(memory.folder, Disk())
    assert name == f"degraded-{os.getpid()}.json"
    assert (trouble.process, trouble.waiting, trouble.ended) == (os.getpid(), 1, False)
    assert "No space left" in str(trouble)
    disk.faults = []
    memory.log("s", "user", "b")
    assert find_trouble(memory.folder, Disk()) == []


def test_others_see_how_many_wait(memory: EpisodicMemory, disk: FaultyDisk) -> None:
    disk.faults = [Fault("write", name="s.jsonl")]
    for number in range(1, 6):
        memory.log("s", "user", "a")
        ((_, trouble),) = find_trouble(memory.folder, Disk())
        assert trouble.waiting == number


def test_what_goes_with_a_process_is_seen_by_others(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    program = (
        "disk = FaultyDisk()\n"
        "memory = EpisodicMemory(Path(sys.argv[1]), disk=disk)\n"
        "memory.log('s', 'user', 'first')\n"
        "disk.faults = [Fault('write', name='s.jsonl')]\n"
        "for text in 'abc': memory.log('s', 'user', text)\n"
    )
    run(program, tmp_path, child_env)
    memory = EpisodicMemory(tmp_path)
    ((_, trouble),) = find_trouble(memory.folder, Disk())
    assert (trouble.waiting, trouble.ended) == (3, True)
    assert "ended with 3 episodes not written" in str(trouble)


def test_what_waits_is_tried_when_the_program_ends(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    program = (
        "disk = FaultyDisk(Fault('write', name='s.jsonl', times=1))\n"
        "memory = EpisodicMemory(Path(sys.argv[1]), disk=disk)\n"
        "assert memory.log('s', 'user', 'last words') is None\n"
        "del memory\n"
    )
    run(program, tmp_path, child_env)
    memory = EpisodicMemory(tmp_path)
    assert said(memory) == ["last words"]
    assert find_trouble(memory.folder, Disk()) == []


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_folder_is_seen_by_everybody(memory: EpisodicMemory) -> None:
    memory.close()
    memory.folder.chmod(0o500)
    try:
        ((name, trouble),) = find_trouble(memory.folder, Disk())
    finally:
        memory.folder.chmod(0o700)
    assert name == "."
    assert "is read-only" in str(trouble)


def test_files_that_look_like_it_are_none(memory: EpisodicMemory) -> None:
    for number, text in enumerate(["", "{", "[]", "{}", '{"process": "x"}', '{"process": 1}']):
        (memory.folder / f"degraded-{number}.json").write_text(text, encoding="utf-8")
    (memory.folder / "degraded-9.json").mkdir()
    assert find_trouble(memory.folder, Disk()) == []
    assert find_trouble(memory.folder / "nothing", Disk()) == []


def test_a_marker_that_cannot_be_removed_is_said(memory: EpisodicMemory, disk: FaultyDisk) -> None:
    disk.faults = [Fault("write", name="s.jsonl", times=1), Fault("remove", times=1)]
    memory.log("s", "user", "a")
    memory.log("s", "user", "b")
    assert "Input/output error" in str(memory.trouble)
    memory.log("s", "user", "c")
    assert memory.trouble is None


def test_a_marker_that_cannot_be_written_is_tried_again(
    memory: EpisodicMemory, disk: FaultyDisk
) -> None:
    disk.faults = [Fault("write", name="s.jsonl"), Fault("publish", name="degraded", times=1)]
    memory.log("s", "user", "a")
    assert find_trouble(memory.folder, disk) == []
    memory.log("s", "user", "b")
    assert len(find_trouble(memory.folder, disk)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_does_not_write_what_waits_in_its_parent(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    program = (
        "disk = FaultyDisk(Fault('write', name='s.jsonl', times=1))\n"
        "memory = EpisodicMemory(Path(sys.argv[1]), disk=disk)\n"
        "assert memory.log('s', 'user', 'parent') is None\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    assert memory.trouble is None\n"
        "    assert memory.log('s', 'user', 'child') is not None\n"
        "    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert memory.recorder.flush()\n"
    )
    run(program, tmp_path, child_env)
    assert said(EpisodicMemory(tmp_path)) == ["child", "parent"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_what_nobody_uses_any_more_keeps_no_file_open(tmp_path: Path) -> None:
    gc.collect()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        EpisodicMemory(tmp_path).log("s", "user", "a")
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_file_that_cannot_be_closed_is_closed_and_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, close = [], os.close

    def failing(descriptor: int) -> None:
        closed.append(descriptor)
        close(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    memory = EpisodicMemory(tmp_path)
    memory.log("s", "user", "heron")
    with monkeypatch.context() as patch:
        patch.setattr(os, "close", failing)
        memory.end("s")
        memory.close()
        # A number that is closed twice would close what somebody else opened meanwhile.
        memory.close()
    assert len(closed) == len(set(closed)) == 2
    assert memory.trouble is None
    assert memory.session("s").episodes[-1].event == "end"


@pytest.mark.parametrize("call, name", [("lock", ".lock"), ("keep", "s.jsonl")])
def test_a_folder_without_locks_is_told_by_name(tmp_path: Path, call: str, name: str) -> None:
    disk = FaultyDisk(Fault(call, errno.ENOLCK, name))
    memory = EpisodicMemory(tmp_path, disk=disk)
    assert memory.log("s", "user", "heron") is None
    assert memory.trouble is not None
    assert name in memory.trouble.reason
    disk.faults.clear()
    assert memory.recorder.flush()


# ---- what a process in trouble leaves for the others ----

OURS = {"process": os.getpid(), "since": "2026", "reason": "disk full", "waiting": 2, "lost": 1}


def troubles(folder: Path, data: bytes) -> list[Trouble]:
    (folder / marker(1)).write_bytes(data)
    return [trouble for _, trouble in find_trouble(folder, Disk())]


def test_a_marker_tells_what_waits_and_what_is_lost(tmp_path: Path) -> None:
    (trouble,) = troubles(tmp_path, json.dumps(OURS).encode())
    assert str(trouble) == (
        "transcripts are not written: disk full; 2 episodes in the queue, 1 episode lost"
    )


@pytest.mark.parametrize(
    "key, value",
    [
        ("process", 10**400),
        ("process", "1"),
        ("waiting", None),
        ("waiting", "2"),
        ("lost", []),
        ("lost", True),
        ("more", 1),
    ],
)
def test_a_marker_of_somebody_else_tells_nothing(tmp_path: Path, key: str, value: object) -> None:
    assert troubles(tmp_path, json.dumps(OURS | {key: value}).encode()) == []


def test_a_marker_of_many_levels_tells_nothing(tmp_path: Path) -> None:
    assert troubles(tmp_path, b"[" * 100_000) == []


# ---- the list of what was written ----


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b"a\0b", id="nul"),
        pytest.param(b"../../secret", id="a-way-out"),
        pytest.param(b"/etc/passwd", id="from-the-top"),
        pytest.param(b"\xff\xfe", id="no-text"),
        pytest.param(b"x" * 5000, id="long"),
    ],
)
def test_only_what_can_be_a_session_is_named(tmp_path: Path, name: bytes) -> None:
    (tmp_path / "written").write_bytes(name + b"\n")
    touch(tmp_path, "birch")
    assert touched(tmp_path, 0)[1] == ["birch"]
