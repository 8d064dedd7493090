"""Law: what was acknowledged is there whole; what is torn is set aside; nothing is rewritten."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import LockTimeoutError, StoreError
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from engramdown.transcripts.episode import Episode, encode, read_line
from engramdown.transcripts.episode import number as numbered
from engramdown.transcripts.session_log import SessionLog
from tests.episodes.disks import Fault, FaultyDisk

NOW = "2026-02-27T10:15:00.123456Z"


def line(text: str, role: str = "user") -> bytes:
    return encode({"ts": NOW, "id": "01kjf9gc8v000001", "role": role, "text": text}, {})


def start() -> bytes:
    return encode({"ts": NOW, "id": "01kjf9gc8v000000", "role": "event", "text": ""}, {"v": 1})


def opened(
    path: Path, disk: Disk | None = None, *, durable: bool = False, timeout: float = 5
) -> SessionLog:
    disk = disk or Disk()
    lock = FolderLock(path.with_name(".lock"), disk, timeout)
    return SessionLog(path, disk, lock, durable=durable)


def say(log: SessionLog, *texts: str) -> int:
    return log.append([line(text) for text in texts], start)


def read(path: Path) -> list[Episode]:
    """Return the episodes of a file in which every line is one."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    episodes = [read_line(piece) for piece in data[:-1].split(b"\n")]
    found = [episode for episode in episodes if episode is not None]
    assert len(found) == len(episodes)
    return found


def texts(path: Path) -> list[str]:
    """Return what was said; the numbers of the lines must be those of their places."""
    episodes = read(path)
    assert [episode.seq for episode in episodes] == list(range(len(episodes)))
    return [episode.text for episode in episodes[1:]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a session that did not begin."""
    return tmp_path / "s.jsonl"


class TestAppending:
    """Lines come one after the other, numbered from the event that begins the session."""

    def test_the_first_line_begins_the_session(self, path: Path) -> None:
        assert say(opened(path), "a") == 1
        first, second = read(path)
        assert (first.seq, first.role, first.more) == (0, "event", {"v": 1})
        assert (second.seq, second.text) == (1, "a")

    def test_several_lines_are_one_write(self, path: Path) -> None:
        disk = FaultyDisk()
        log = opened(path, disk)
        assert say(log, "a", "b", "c") == 1
        assert say(log, "d", "e") == 4
        assert disk.writes == 2
        assert texts(path) == ["a", "b", "c", "d", "e"]

    def test_the_file_is_for_the_user_alone(self, path: Path) -> None:
        say(opened(path), "a")
        assert path.stat().st_mode & 0o777 == 0o600

    def test_a_line_has_no_limit(self, path: Path) -> None:
        log = opened(path)
        say(log, "x" * 3_000_000)
        say(opened(path), "after")
        say(log, "again")
        assert [len(text) for text in texts(path)] == [3_000_000, 5, 5]

    def test_writers_in_turn_go_on_where_the_other_stopped(self, path: Path) -> None:
        one, other = opened(path), opened(path)
        for number in range(6):
            assert say((one, other)[number % 2], str(number)) == number + 1
        assert texts(path) == list("012345")

    def test_threads_lose_nothing(self, path: Path) -> None:
        log = opened(path)

        def work(name: str) -> None:
            for number in range(50):
                say(log, f"{name}{number}")

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(texts(path)) == sorted(f"{n}{i}" for n in "abcd" for i in range(50))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_child_process_locks_for_itself(self, path: Path, child_env: dict[str, str]) -> None:
        program = (
            "import os, sys\n"
            "from pathlib import Path\n"
            "from tests.transcripts.test_session_log import opened, say\n"
            "log = opened(Path(sys.argv[1]), timeout=30)\n"
            "say(log, 'before')\n"
            "children = []\n"
            "for name in 'abc':\n"
            "    child = os.fork()\n"
            "    if not child:\n"
            "        for number in range(100): say(log, f'{name}{number}')\n"
            "        os._exit(0)\n"
            "    children.append(child)\n"
            "for number in range(100): say(log, f'p{number}')\n"
            "assert not any(os.waitpid(child, 0)[1] for child in children)\n"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=True, env=child_env)
        said = [f"{name}{number}" for name in "pabc" for number in range(100)]
        assert sorted(texts(path)) == sorted(["before", *said])


class TestWhatIsFound:
    """Whatever somebody left at the end of the file, the next line stands on its own."""

    @given(st.integers(1, 400))
    def test_a_torn_line_is_set_aside(self, keep: int) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = folder / "s.jsonl"
            say(opened(path), "a", "b")
            whole, torn = path.read_bytes(), line("torn")
            part = (b'{"seq":3,' + torn)[: min(keep, len(torn) + 7)]
            path.write_bytes(whole + part)
            log = opened(path)
            say(log, "c")
            assert texts(path) == ["a", "b", "c"]
            assert (folder / "s.torn-1").read_bytes() == part

    def test_each_torn_line_has_its_own_file(self, path: Path) -> None:
        for number in range(3):
            say(opened(path), str(number))
            with path.open("ab") as file:
                file.write(b'{"seq":%d' % number)
        say(opened(path), "3")
        assert texts(path) == list("0123")
        found = sorted(path.parent.glob("s.torn-*"))
        assert [each.read_bytes() for each in found] == [b'{"seq":%d' % n for n in range(3)]

    def test_another_process_that_dies_while_we_run_is_mended_after(self, path: Path) -> None:
        log = opened(path)
        say(log, "a")
        with path.open("ab") as file:
            file.write(b'{"seq":2,"ts":"20')
        say(log, "b")
        assert texts(path) == ["a", "b"]
        assert path.with_name("s.torn-1").exists()

    def test_a_first_line_that_is_torn_is_begun_anew(self, path: Path) -> None:
        path.write_bytes(b'{"seq":0,"ts"')
        say(opened(path), "a")
        assert texts(path) == ["a"]

    def test_a_whole_line_without_its_end_gets_one(self, path: Path) -> None:
        say(opened(path), "a")
        path.write_bytes(path.read_bytes()[:-1])
        assert say(opened(path), "b") == 2
        assert texts(path) == ["a", "b"]
        assert list(path.parent.glob("*.torn-*")) == []

    def test_a_malformed_line_in_the_middle_stays_where_it_is(self, path: Path) -> None:
        say(opened(path), "a")
        with path.open("ab") as file:
            file.write(b"not json\n" * 2_000)
        log = opened(path)
        assert say(log, "b") == 2
        assert path.read_bytes().count(b"not json\n") == 2_000
        with path.open("ab") as file:
            file.write(b"again\n")
        assert say(log, "c") == 3

    def test_a_file_without_any_episode_is_appended_to(self, path: Path) -> None:
        path.write_bytes(b"not json\n")
        say(opened(path), "a")
        assert path.read_bytes().startswith(b"not json\n{")

    def test_lines_that_an_editor_saved_are_read(self, path: Path) -> None:
        say(opened(path), "a", "b")
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
        assert say(opened(path), "c") == 3

    def test_keys_in_another_order_are_read(self, path: Path) -> None:
        path.write_bytes(
            b'{"id":"x", "text":"a", "role":"user", "ts":"%b", "seq": 7}\n' % NOW.encode()
        )
        assert say(opened(path), "b") == 8

    def test_a_file_that_was_replaced_is_found_again(self, path: Path) -> None:
        log = opened(path)
        say(log, "secret")
        new = path.with_name("new")
        new.write_bytes(path.read_bytes().replace(b"secret", b"gone"))
        new.replace(path)
        say(log, "b")
        assert texts(path) == ["gone", "b"]

    def test_a_file_that_was_cut_is_gone_on_with(self, path: Path) -> None:
        log = opened(path)
        say(log, "a", "b")
        first = path.read_bytes().split(b"\n")[0] + b"\n"
        path.write_bytes(first)
        say(log, "c")
        assert texts(path) == ["c"]
        path.write_bytes(b"")
        say(log, "d")
        assert texts(path) == ["d"]

    def test_a_file_that_was_removed_begins_anew(self, path: Path) -> None:
        log = opened(path)
        say(log, "a")
        path.unlink()
        say(log, "b")
        assert texts(path) == ["b"]

    def test_a_lock_that_was_removed_is_replaced(self, path: Path) -> None:
        log = opened(path)
        say(log, "a")
        lock = path.with_name(".lock")
        lock.unlink()
        say(opened(path), "b")
        holder = FolderLock(lock, Disk(), 5)
        say(log, "c")
        with holder.hold(), pytest.raises(LockTimeoutError, match=r"it has finished\.$"):
            log.append([line("d")], start, 0.01)
        assert texts(path) == ["a", "b", "c"]

    @pytest.mark.skipif(sys.platform == "win32", reason="no links without a privilege")
    def test_a_link_is_not_followed(self, path: Path) -> None:
        target = path.with_name("elsewhere")
        target.write_bytes(b"")
        path.symlink_to(target)
        with pytest.raises(StoreError, match="is a link where a file should be"):
            say(opened(path), "a")
        assert target.read_bytes() == b""

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
    def test_a_pipe_is_not_waited_for(self, path: Path) -> None:
        os.mkfifo(path)
        with pytest.raises((StoreError, OSError)):
            say(opened(path), "a")


class TestFailing:
    """An append that fails leaves the file as it was, and the next one goes on."""

    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
    @pytest.mark.parametrize("after", [0, 1, 40])
    def test_what_was_half_written_is_taken_back(self, path: Path, code: int, after: int) -> None:
        disk = FaultyDisk()
        log = opened(path, disk)
        say(log, "a")
        before = path.read_bytes()
        disk.faults = [Fault("write", code, "s.jsonl", times=1, after=after)]
        with pytest.raises(OSError, match=re.escape(os.strerror(code))) as caught:
            say(log, "b", "c")
        assert (caught.value.errno, caught.value.filename) == (code, str(path))
        assert disk.landed == (2 if after else 1)
        assert path.read_bytes() == before
        say(log, "d")
        assert texts(path) == ["a", "d"]

    def test_if_that_fails_too_the_half_is_set_aside(self, path: Path) -> None:
        disk = FaultyDisk()
        log = opened(path, disk)
        say(log, "a")
        disk.faults = [
            Fault("write", name="s.jsonl", times=1, after=30),
            Fault("truncate", times=1),
        ]
        with pytest.raises(OSError, match="Input/output error"):
            say(log, "b")
        assert disk.landed == 3
        say(log, "c")
        assert texts(path) == ["a", "c"]
        assert len(path.with_name("s.torn-1").read_bytes()) == 30

    def test_what_cannot_be_set_aside_stays(self, path: Path) -> None:
        say(opened(path), "a")
        path.write_bytes(path.read_bytes() + b"torn")
        disk = FaultyDisk(Fault("publish", errno.ENOSPC, times=1))
        log = opened(path, disk)
        with pytest.raises(OSError, match="No space left"):
            say(log, "b")
        assert disk.landed == 1
        assert path.read_bytes().endswith(b"torn")
        say(log, "c")
        assert texts(path) == ["a", "c"]

    def test_what_is_not_synced_is_not_acknowledged(self, path: Path) -> None:
        disk = FaultyDisk()
        log = opened(path, disk, durable=True)
        say(log, "a")
        disk.faults = [Fault("sync", name="s.jsonl", times=1)]
        with pytest.raises(OSError, match="Input/output error"):
            say(log, "b")
        assert disk.landed == 1
        assert texts(path) == ["a"]

    def test_a_lock_that_is_held_is_not_waited_for_for_long(self, path: Path) -> None:
        log = opened(path)
        holder = FolderLock(path.with_name(".lock"), Disk(), 5)
        with holder.hold(), pytest.raises(LockTimeoutError):
            log.append([line("a")], start, 0.01)
        say(log, "b")
        assert texts(path) == ["b"]

    def test_nor_is_another_thread(self, path: Path) -> None:
        lock = FolderLock(path.with_name(".lock"), Disk(), 5)
        caught: list[Exception] = []

        def wait() -> None:
            try:
                lock.take(0.01)
            except LockTimeoutError as error:
                caught.append(error)

        with lock.hold():
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join()
        assert len(caught) == 1

    def test_a_lock_that_cannot_be_opened_is_let_go(self, path: Path) -> None:
        disk = FaultyDisk(Fault("open", errno.EMFILE, ".lock", times=1))
        log = opened(path, disk)
        with pytest.raises(OSError, match="Too many open files"):
            say(log, "a")
        say(log, "b")
        assert texts(path) == ["b"]

    @pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
    def test_a_real_limit_of_the_system_is_no_different(
        self, path: Path, child_env: dict[str, str]
    ) -> None:
        program = (
            "import resource, signal, sys\n"
            "from pathlib import Path\n"
            "from tests.transcripts.test_session_log import opened, say\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))\n"
            "log = opened(Path(sys.argv[1]))\n"
            "done = 0\n"
            "try:\n"
            "    for number in range(100): say(log, f'{number}'); done += 1\n"
            "except OSError:\n"
            "    print(done)\n"
        )
        command = [sys.executable, "-c", program, str(path)]
        ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=child_env)
        done = int(ended.stdout)
        assert 0 < done < 100
        assert texts(path) == [str(number) for number in range(done)]


# ---- law: what is tried again because of an error stands in the transcript once ----


@pytest.mark.parametrize("others", [0, 2])
def test_what_could_not_be_taken_back_is_not_written_again(path: Path, others: int) -> None:
    disk = FaultyDisk()
    log, other = opened(path, disk, durable=True), opened(path)
    say(log, "a")
    again = line("b")
    disk.faults = [Fault("sync", name="s.jsonl", times=1), Fault("truncate", times=1)]
    with pytest.raises(OSError, match="Input/output error"):
        log.append([again], start)
    for _ in range(others):
        say(other, "c")
    assert log.append([again], start) == 2
    assert texts(path) == ["a", "b", *["c"] * others]
    assert log.append([again, line("d")], start) == 3 + others
    assert texts(path)[-2:] == ["b", "d"]


def test_nor_if_it_lacks_only_its_end(path: Path) -> None:
    disk = FaultyDisk()
    log = opened(path, disk)
    say(log, "a")
    again = line("b")
    all_but_one = len(numbered(2, again)) - 1
    disk.faults = [Fault("write", after=all_but_one, times=1), Fault("truncate", times=1)]
    with pytest.raises(OSError, match="Input/output error"):
        log.append([again], start)
    assert log.append([again, line("c")], start) == 2
    assert texts(path) == ["a", "b", "c"]


class UnlockingDisk(Disk):
    """A disk that cannot let go of a lock."""

    failed = 0

    def unlock(self, descriptor: int) -> None:
        self.failed += descriptor > 0
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def test_what_was_written_before_the_lock_failed_is_acknowledged(path: Path) -> None:
    disk = UnlockingDisk()
    log = opened(path, disk)
    say(log, "a")
    say(opened(path), "b")
    say(log, "c")
    assert disk.failed == 2
    assert texts(path) == ["a", "b", "c"]
