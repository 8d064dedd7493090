"""Reading sessions, and ending those that nobody ended."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import SessionNotFoundError
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts import sessions as sessions_module
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.sessions import (
    Sessions,
    Tail,
    count_session,
    find_running,
    left_open,
    lines,
)
from engramdown.transcripts.visibility import Excluded
from tests.episodes.disks import Fault, FaultyDisk

FRIDAY = datetime(2026, 2, 27, 10, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    """Return the transcripts of a scope that has none yet."""
    return EpisodicMemory(tmp_path)


def spoke(memory: EpisodicMemory, session: str, at: datetime) -> None:
    """Say two things in a session, at ``at`` and a minute later, and leave it."""
    memory.start_session(session, at=at)
    memory.log(session, "user", "a", at=at)
    memory.log(session, "assistant", "b", at=at + timedelta(minutes=1))
    memory.recorder.release(session)


class CountingDisk(Disk):
    """A disk that counts the bytes that are read."""

    count = 0

    def read_at(self, descriptor: int, start: int, end: int) -> bytes:
        data = super().read_at(descriptor, start, end)
        self.count += len(data)
        return data


class BusyDisk(Disk):
    """A disk on which somebody writes faster than anybody reads."""

    def read_at(self, descriptor: int, start: int, end: int) -> bytes:
        data = super().read_at(descriptor, start, end)
        with Path(f"/proc/self/fd/{descriptor}").resolve().open("ab") as file:
            file.write(data * 2)
        return data


class TestReading:
    """Every line that is an episode is read, whatever stands around it."""

    @given(
        st.lists(st.binary().map(lambda line: line.replace(b"\n", b"")), max_size=6), st.binary()
    )
    def test_lines_are_the_bytes_of_the_file(
        self, tmp_path_factory: pytest.TempPathFactory, found: list[bytes], rest: bytes
    ) -> None:
        path = tmp_path_factory.mktemp("s") / "s.jsonl"
        data = b"".join(line + b"\n" for line in found) + rest.replace(b"\n", b"")
        path.write_bytes(data)
        for start in {0, *(offset for offset, _ in lines(Disk(), path))}:
            read = list(lines(Disk(), path, start))
            assert b"".join(line for _, line in read) == data[start:]
            assert all(data[offset:].startswith(line) for offset, line in read)
            assert all(line.endswith(b"\n") for _, line in read[:-1])

    def test_a_line_longer_than_a_piece_is_one_line(
        self, memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions_module, "_PIECE", 10)
        monkeypatch.setattr(sessions_module, "_END_PIECE", 10)
        for text in ("short", "x" * 500, "é" * 100):
            memory.log("s", "user", text)
        assert [len(each.text) for each in memory.session("s").episodes[1:]] == [5, 500, 100]
        (info,) = memory.sessions()
        assert info.lines == 3

    @pytest.mark.parametrize("near", [100, 300, 2_000, 64 * 1024])
    def test_a_part_is_what_a_whole_reading_has_of_it(
        self, memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch, near: int
    ) -> None:
        monkeypatch.setattr(sessions_module, "_NEAR", near)
        memory.start_session("s")
        for length in (1, 900, 1, 1, 5_000, 1, 20, 1, 3_000, *[1] * 20):
            memory.log("s", "user", "x" * length)
        with (memory.folder / "s.jsonl").open("ab") as file:
            file.write(b"broken\n" * 50)
        memory.log("s", "user", "last")
        whole, sessions = memory.session("s").episodes, Sessions(memory.folder, Disk())
        for first, limit in itertools.product(range(len(whole) + 2), (1, 3, 100)):
            wanted = [each for each in whole if each.seq >= first][:limit]
            assert sessions.part("s", first, limit) == wanted
        with pytest.raises(SessionNotFoundError):
            sessions.part("none", 3, 1)

    def test_a_part_at_the_end_reads_little(
        self, memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions_module, "_NEAR", 500)
        for _ in range(400):
            memory.log("s", "user", "hello")
        disk = CountingDisk()
        (found,) = Sessions(memory.folder, disk).part("s", 400, 5)
        assert found.text == "hello"
        assert disk.count < (memory.folder / "s.jsonl").stat().st_size / 2

    def test_what_is_malformed_is_counted_and_skipped(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a")
        path = memory.folder / "s.jsonl"
        place = path.stat().st_size
        with path.open("ab") as file:
            file.write(b"broken\n")
        memory.log("s", "user", "b")
        with path.open("ab") as file:
            file.write(b'{"seq":3')
        transcript = memory.session("s")
        assert [each.text for each in transcript.episodes[1:]] == ["a", "b"]
        assert transcript.malformed == (place,)

    def test_sessions_come_in_the_order_in_which_they_began(self, memory: EpisodicMemory) -> None:
        for name, hours in (("c", 1), ("a", 2), ("b", 0), ("d", 1)):
            spoke(memory, name, FRIDAY + timedelta(hours=hours))
        assert [info.id for info in memory.sessions()] == ["b", "c", "d", "a"]

    def test_other_files_are_no_sessions(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a")
        for name in ("s.torn-1", "notes.md", "CON.jsonl", "Twin.jsonl", ".jsonl", "empty.jsonl"):
            (memory.folder / name).write_bytes(b"")
        (memory.folder / "folder.jsonl").mkdir()
        (memory.folder / "broken.jsonl").write_bytes(b"broken\n")
        assert [info.id for info in memory.sessions()] == ["s"]

    def test_a_session_without_its_first_line_is_one(self, memory: EpisodicMemory) -> None:
        spoke(memory, "s", FRIDAY)
        path = memory.folder / "s.jsonl"
        path.write_bytes(b"broken\n" + path.read_bytes().split(b"\n", 1)[1])
        (info,) = memory.sessions()
        assert (info.started, info.lines) == ("2026-02-27T10:01:00.000000Z", 2)

    def test_a_long_first_line_is_read_whole(self, memory: EpisodicMemory) -> None:
        memory.start_session("s", title="x" * 100_000)
        memory.log("s", "user", "a")
        (info,) = memory.sessions()
        assert (len(info.title), info.lines) == (100_000, 1)

    def test_a_first_line_without_an_end_is_all_there_is(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a")
        path = memory.folder / "s.jsonl"
        path.write_bytes(path.read_bytes().split(b"\n")[0])
        (info,) = memory.sessions()
        assert info.lines == 0

    def test_of_a_long_session_only_the_ends_are_looked_at(self, tmp_path: Path) -> None:
        disk = CountingDisk()
        memory = EpisodicMemory(tmp_path, disk=disk)
        for _ in range(50):
            memory.log("s", "user", "x" * 1_000)
        disk.count = 0
        assert [info.lines for info in memory.sessions()] == [50]
        assert disk.count < 20_000

    @pytest.mark.parametrize("seq", [0, 1, 2, 3, 4])
    def test_a_line_is_found_by_its_number(self, memory: EpisodicMemory, seq: int) -> None:
        for text in "abc":
            memory.log("s", "user", text)
        path = memory.folder / "s.jsonl"
        start, one, *rest = path.read_bytes().splitlines(keepends=True)
        swapped = b'{"ts"' + one.split(b'"ts"')[1].replace(b"}", b',"seq":1}')
        path.write_bytes(b"".join([start, b'{"seq":2,\n', b"broken\n", swapped, *rest]))
        found = memory.episode(Pointer("s", seq))
        assert found == next(
            (each for each in memory.session("s").episodes if each.seq == seq), None
        )
        assert (found is None) == (seq == 4)

    def test_nothing_behind_a_line_is_read_to_find_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions_module, "_PIECE", 2_000)
        disk = CountingDisk()
        memory = EpisodicMemory(tmp_path, disk=disk)
        for _ in range(50):
            memory.log("s", "user", "x" * 1_000)
        disk.count = 0
        assert memory.episode(Pointer("s", 2)) is not None
        assert disk.count < 5_000

    @pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files have no names here")
    def test_reading_ends_although_others_write_faster(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a")
        transcript = Sessions(memory.folder, BusyDisk()).read("s")
        assert [each.text for each in transcript.episodes] == ["", "a"]

    def test_reading_ends_where_a_file_was_cut_short(
        self, memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.log("s", "user", "a")
        path = memory.folder / "s.jsonl"
        size = path.stat().st_size
        monkeypatch.setattr(sessions_module, "_PIECE", size)
        found = lines(Disk(), path)
        with path.open("ab") as file:
            file.write(b"b" * size)
        assert len([*itertools.islice(found, 2)]) == 2
        os.truncate(path, size)
        assert [*found] == []

    def test_a_line_of_no_session_is_refused(self, memory: EpisodicMemory) -> None:
        with pytest.raises(SessionNotFoundError):
            memory.episode(Pointer("s", 1))

    def test_a_session_that_is_not_there_has_no_information(self, memory: EpisodicMemory) -> None:
        assert Sessions(memory.folder, Disk()).info("s") is None


class TestOrphans:
    """A session whose program died is ended with the time of its last activity."""

    def test_it_ends_when_it_was_last_heard_of(self, memory: EpisodicMemory) -> None:
        spoke(memory, "friday", FRIDAY)
        with freeze_time(FRIDAY + timedelta(days=3)):
            assert memory.close_orphans().ids == ("friday",)
        (info,) = memory.sessions()
        assert (info.ended, info.reason) == ("2026-02-27T10:01:00.000000Z", "crash_recovery")
        assert [each.text for each in memory.session("friday").episodes] == ["", "a", "b", ""]

    @pytest.mark.parametrize("wrong", [timedelta(days=30_000), timedelta(days=-300)])
    def test_its_last_line_is_the_last_also_if_the_clock_was_wrong_before(
        self, memory: EpisodicMemory, wrong: timedelta
    ) -> None:
        memory.start_session("s", at=FRIDAY)
        memory.log("s", "user", "a", at=FRIDAY + wrong)
        memory.log("s", "user", "b", at=FRIDAY)
        memory.recorder.release("s")
        with freeze_time(FRIDAY + timedelta(hours=2)):
            assert memory.close_orphans().ids == ("s",)
        (info,) = memory.sessions()
        assert info.ended == info.last == "2026-02-27T10:00:00.000000Z"

    def test_a_second_run_changes_nothing(self, memory: EpisodicMemory) -> None:
        spoke(memory, "friday", FRIDAY)
        memory.close_orphans()
        before = (memory.folder / "friday.jsonl").read_bytes()
        assert memory.close_orphans().ids == ()
        assert (memory.folder / "friday.jsonl").read_bytes() == before

    def test_ended_and_younger_ones_are_not_touched(self, memory: EpisodicMemory) -> None:
        spoke(memory, "ended", FRIDAY)
        memory.end("ended", at=FRIDAY + timedelta(minutes=5))
        spoke(memory, "young", FRIDAY + timedelta(minutes=30))
        with freeze_time(FRIDAY + timedelta(minutes=70)):
            assert memory.close_orphans().ids == ()
        assert [info.reason for info in memory.sessions()] == ["finished", ""]

    def test_one_that_runs_here_is_not_touched(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a", at=FRIDAY)
        assert memory.close_orphans().ids == ()
        memory.close()
        assert memory.close_orphans().ids == ("s",)

    @pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell")
    def test_one_that_runs_in_another_process_is_not_touched(self, memory: EpisodicMemory) -> None:
        program = (
            "import sys\n"
            "from datetime import datetime, UTC\n"
            "from pathlib import Path\n"
            "from engramdown.episodes.memory import EpisodicMemory\n"
            "memory = EpisodicMemory(Path(sys.argv[1]))\n"
            "memory.log('s', 'user', 'a', at=datetime(2026, 2, 27, tzinfo=UTC))\n"
            "print(flush=True)\n"
            "sys.stdin.read()\n"
        )
        command = [sys.executable, "-c", program, str(memory.folder.parent)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert memory.close_orphans().ids == ()
            process.kill()
        assert memory.close_orphans().ids == ("s",)

    def test_one_in_which_nothing_was_said_is_gone(self, memory: EpisodicMemory) -> None:
        memory.start_session("s", at=FRIDAY)
        memory.close()
        assert memory.close_orphans().ids == ("s",)
        assert not (memory.folder / "s.jsonl").exists()

    def test_but_not_if_there_are_lines_that_nobody_can_read(self, memory: EpisodicMemory) -> None:
        memory.start_session("s", at=FRIDAY)
        memory.close()
        with (memory.folder / "s.jsonl").open("ab") as file:
            file.write(b"broken\n")
        assert memory.close_orphans().ids == ("s",)
        assert b"broken\n" in (memory.folder / "s.jsonl").read_bytes()

    def test_one_without_a_time_is_passed_over(self, memory: EpisodicMemory) -> None:
        memory.folder.mkdir()
        (memory.folder / "s.jsonl").write_bytes(b'{"seq":0,"ts":"yesterday"}\n')
        assert memory.close_orphans().ids == ()

    def test_one_that_cannot_be_ended_is_named_and_tried_again(
        self, tmp_path: Path, memory: EpisodicMemory
    ) -> None:
        for name in ("a", "b"):
            spoke(memory, name, FRIDAY)
        disk = FaultyDisk(Fault("write", errno.ENOSPC, "a.jsonl", times=1))
        other = EpisodicMemory(tmp_path, disk=disk)
        ended = other.close_orphans()
        assert ended.ids == ("b",)
        assert "No space left" in ended.failed["a"]
        assert other.close_orphans().ids == ("a",)

    def test_a_lock_that_is_stuck_is_waited_for_once(self, memory: EpisodicMemory) -> None:
        for name in ("a", "b", "c"):
            spoke(memory, name, FRIDAY)
        memory.recorder.lock.timeout = 0.001
        with FolderLock(memory.folder / ".lock", Disk(), 5).hold():
            ended = memory.close_orphans()
        assert (ended.ids, list(ended.failed)) == ((), ["a"])
        assert memory.close_orphans().ids == ("a", "b", "c")


class TestIdle:
    """A session that is silent for long enough is over."""

    def test_one_that_runs_here_ends_and_goes_on_when_somebody_speaks(self, tmp_path: Path) -> None:
        memory = EpisodicMemory(tmp_path, EpisodeSettings(idle_minutes=30))
        memory.log("s", "user", "a", at=FRIDAY)
        with freeze_time(FRIDAY + timedelta(minutes=29)):
            assert memory.close_idle().ids == ()
        with freeze_time(FRIDAY + timedelta(minutes=31)):
            assert memory.close_idle().ids == ("s",)
            assert memory.close_idle().ids == ()
        (info,) = memory.sessions()
        assert (info.ended, info.reason) == ("2026-02-27T10:00:00.000000Z", "idle_timeout")
        memory.log("s", "user", "b")
        assert not memory.sessions()[0].ended

    def test_without_a_limit_none_ends(self, memory: EpisodicMemory) -> None:
        spoke(memory, "s", FRIDAY)
        assert memory.close_idle().ids == ()
        assert memory.close_idle(5).ids == ("s",)


def test_what_the_system_does_not_let_us_read_is_told(tmp_path: Path) -> None:
    for name in ("a", "b"):
        EpisodicMemory(tmp_path).log(name, "user", "heron")
    disk = FaultyDisk(Fault("open", errno.EIO, "a.jsonl"))
    found, errors = Sessions(tmp_path / "episodes", disk).survey()
    assert [info.id for info in found] == ["b"]
    assert [Path(str(error.filename)).name for error in errors] == ["a.jsonl"]
    assert [info.id for info in Sessions(tmp_path / "episodes", disk).list()] == ["b"]


# ---- which session runs, and what a glance at one counts ----


LONG_AGO = timedelta(hours=2)


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "episodes", Disk())


def running(sessions: Sessions) -> str:
    found = find_running(sessions, Disk())
    return found.id if found else ""


def age(sessions: Sessions, session: str) -> None:
    """Let the file of a session look as if it had been written two hours ago."""
    then = time.time() - LONG_AGO.total_seconds()
    os.utime(sessions.path(session), (then, then))


def test_where_nothing_is_recorded_nothing_runs(sessions: Sessions) -> None:
    assert running(sessions) == ""
    assert not sessions.folder.exists()


def test_the_open_session_that_began_last_runs(memory: EpisodicMemory, sessions: Sessions) -> None:
    begin = datetime.now(UTC) - timedelta(minutes=5)
    memory.start_session("b", at=begin)
    memory.start_session("a", at=begin + timedelta(minutes=1))
    memory.log("b", "user", "the last word")
    assert running(sessions) == "a"
    memory.end("a")
    assert running(sessions) == "b"


def test_a_session_begun_from_another_is_not_the_conversation(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    memory.start_session("a")
    memory.start_session("child", parent="a")
    memory.log("child", "user", "x")
    assert running(sessions) == "a"


def test_what_was_left_open_long_ago_does_not_run(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    then = datetime.now(UTC) - LONG_AGO
    memory.start_session("a", at=then)
    memory.log("a", "user", "x", at=then)
    assert running(sessions) == "a", "we have it open"
    memory.close()
    assert running(sessions) == "", "it was written to a moment ago, but not about now"
    age(sessions, "a")
    assert running(sessions) == ""


def test_a_silent_session_that_a_program_has_open_runs(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    memory.log("a", "user", "x", at=datetime.now(UTC) - LONG_AGO)
    age(sessions, "a")
    assert running(sessions) == "a"


def test_a_session_that_cannot_be_read_hides_no_other(
    memory: EpisodicMemory, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.log("a", "user", "x")
    memory.log("theirs", "user", "x")
    really = Disk.open

    def refuse(disk: Disk, path: Path | str, **given: bool) -> int:
        if Path(path).name == "theirs.jsonl":
            raise PermissionError(13, "Permission denied")
        return really(disk, path, **given)

    monkeypatch.setattr(Disk, "open", refuse)
    assert running(sessions) == "a"


def test_what_nobody_ended_was_left_open(
    memory: EpisodicMemory, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = datetime.now(UTC) - LONG_AGO
    for session in ("ended", "left", "kept"):
        memory.log(session, "user", "x", at=then)
    memory.log("now", "user", "x")
    memory.end("ended", at=then)
    for session in ("left", "now"):
        memory.recorder.release(session)
    assert [info.id for info in left_open(sessions, Disk())] == ["left"]

    def gone(*_: object) -> bool:
        raise FileNotFoundError

    monkeypatch.setattr(Disk, "is_kept", gone)
    assert left_open(sessions, Disk()) == []


def test_a_glance_counts_what_is_there(memory: EpisodicMemory, sessions: Sessions) -> None:
    memory.start_session("a", title="T")
    memory.log("a", "system", "Be kind")
    memory.log("a", "user", 'He said ","role":"assistant","')
    memory.log("a", "tool_call", {"x": 1})
    memory.log("a", "user", "again")
    memory.end("a")
    with sessions.path("a").open("ab") as file:
        file.write(b"no line\n")
        # As another program may write it.
        file.write(
            b'{"role":"assistant","text":"x","id":"i","ts":"2026-02-27T10:15:00.000000Z","seq":9}\n'
        )
        file.write(b'{"seq":10,"ts":"torn","id":"i","role":"user","te')
    tally = count_session(sessions, Disk(), "a")
    assert tally.roles == {"system": 1, "user": 2, "tool_call": 1, "assistant": 1}
    assert (tally.turns, tally.episodes) == (2, 5)
    assert tally.first == 'He said ","role":"assistant","'


def test_a_glance_says_what_is_excluded(memory: EpisodicMemory, sessions: Sessions) -> None:
    for text in ("one", "two", "three"):
        memory.log("a", "user", text)
    memory.forgetting().exclude("a", [1, 2], dry_run=False)
    memory.forgetting().include("a", [2], dry_run=False)
    expected = Excluded(whole=False, seqs=frozenset({1}))
    assert count_session(sessions, Disk(), "a").excluded == expected
    memory.forgetting().exclude("a", [], dry_run=False)
    assert count_session(sessions, Disk(), "a").excluded.whole


def test_of_a_session_without_a_user_the_first_words_are_somebodys(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    memory.log("a", "assistant", "Good morning")
    memory.log("a", "system", "x")
    assert count_session(sessions, Disk(), "a").first == "Good morning"
    assert count_session(sessions, Disk(), "gone").episodes == 0


def test_what_was_said_while_the_clock_was_ahead_keeps_nothing_running(
    memory: EpisodicMemory, sessions: Sessions
) -> None:
    with freeze_time(datetime.now(UTC) + timedelta(days=400)):
        memory.log("a", "user", "of the future")
        assert running(sessions) == "a"
    assert running(sessions) == "a"  # a program has it open
    memory.close()
    assert running(sessions) == ""
    assert [info.id for info in left_open(sessions, Disk())] == ["a"]
    assert EpisodicMemory(memory.folder.parent).close_orphans().ids == ("a",)
    assert left_open(sessions, Disk()) == []


def test_a_tail_yields_what_was_added_as_soon_as_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    tail = Tail(Disk(), path)
    assert (list(tail.new()), tail.is_gone()) == ([], False)
    path.write_bytes(b"one\ntw")
    assert list(tail.new()) == [b"one\n"]
    path.write_bytes(b"one\ntwo\n")
    assert (tail.is_gone(), list(tail.new()), list(tail.new())) == (False, [b"two\n"], [])


def test_a_line_that_could_not_be_used_is_yielded_again(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"one\ntwo\n")
    tail = Tail(Disk(), tmp_path / "s")
    assert next(tail.new()) == b"one\n"
    assert list(tail.new()) == [b"one\n", b"two\n"]


def test_a_tail_sees_that_its_file_is_another_one(tmp_path: Path) -> None:
    path, other = tmp_path / "s", tmp_path / "t"
    for text in (b"one\n", b"two\nthree\n", b"other\nlines\n", None):
        path.write_bytes(b"two\nfour\n")
        tail = Tail(Disk(), path)
        assert list(tail.new()) == [b"two\n", b"four\n"]
        if text is None:
            path.unlink()
        elif text.startswith(b"other"):
            path.write_bytes(text)
        else:
            other.write_bytes(text)
            other.replace(path)
        assert tail.is_gone()


def test_what_replaces_a_file_while_it_is_read_is_no_part_of_it(tmp_path: Path) -> None:
    path, other = tmp_path / "s", tmp_path / "t"
    path.write_bytes(b"one\n")
    tail = Tail(Disk(), path)
    assert list(tail.new()) == [b"one\n"]
    other.write_bytes(b"two\nthree\n")
    other.replace(path)
    list(tail.new())
    assert tail.is_gone()
