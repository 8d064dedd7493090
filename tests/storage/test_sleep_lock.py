"""One sleeper at a time, and whoever comes second is told who was first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engramdown.errors import StoreError
from engramdown.storage.locks import NAME, Holder, SleepLock

HOLD = """
import sys, time
from pathlib import Path
from engramdown.storage.locks import SleepLock
with SleepLock(Path(sys.argv[1])).hold() as holder:
    print(holder, flush=True)
    time.sleep(60)
"""


def test_the_first_has_it_and_the_second_is_told_who(tmp_path: Path) -> None:
    with SleepLock(tmp_path).hold() as first:
        assert first is None
        with SleepLock(tmp_path).hold() as second:
            assert second is not None
            assert second.pid == os.getpid()
            assert second.since.endswith("Z")
            assert str(second) == f"process {os.getpid()} since {second.since}"
    with SleepLock(tmp_path).hold() as third:
        assert third is None


def test_a_lock_of_another_name_is_another(tmp_path: Path) -> None:
    with SleepLock(tmp_path).hold(), SleepLock(tmp_path, "other.lock").hold() as holder:
        assert holder is None
    assert {path.name for path in tmp_path.iterdir()} == {NAME, "other.lock"}


def test_a_holder_who_was_killed_holds_nothing(tmp_path: Path, child_env: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, env=child_env
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"None\n"
        with SleepLock(tmp_path).hold() as holder:
            assert holder is not None
            assert holder.pid == child.pid
        child.send_signal(signal.SIGKILL)
        child.wait()
    with SleepLock(tmp_path).hold() as holder:
        assert holder is None


FORK = """
import os, sys, time
from pathlib import Path
from engramdown.storage.locks import SleepLock
with SleepLock(Path(sys.argv[1])).hold():
    child = os.fork()
    os.write(1, b"%d\\n" % child)  # in one piece: both write here
    if sys.argv[2] == "stays" or not child:
        time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("parent", ["ends", "stays"])
def test_a_child_that_was_forked_meanwhile_holds_nothing(
    tmp_path: Path, child_env: dict[str, str], parent: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FORK, str(tmp_path), parent],
        stdout=subprocess.PIPE,
        env=child_env,
        start_new_session=True,
    ) as program:
        try:
            assert program.stdout is not None
            pids = {int(program.stdout.readline()), int(program.stdout.readline())}
            if parent == "stays":
                with SleepLock(tmp_path).hold() as holder:
                    assert holder is not None
                    assert holder.pid == program.pid
                program.kill()
            program.wait()
            os.kill(max(pids), 0)
            with SleepLock(tmp_path).hold() as holder:
                assert holder is None
        finally:
            os.killpg(program.pid, signal.SIGKILL)


LEAVE = """
import os, sys
from pathlib import Path
from engramdown.storage.locks import SleepLock
with SleepLock(Path(sys.argv[1])).hold():
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        with SleepLock(Path(sys.argv[1])).hold() as holder:
            assert holder.pid == os.getpid()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_that_leaves_the_block_of_its_parent_lets_go_of_nothing(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    subprocess.run([sys.executable, "-c", LEAVE, str(tmp_path)], env=child_env, check=True)


def test_a_lock_whose_file_was_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removed(_: int) -> bool:
        (tmp_path / NAME).unlink()
        return True

    monkeypatch.setattr("engramdown.storage.locks.take", removed)
    with SleepLock(tmp_path).hold() as holder:
        assert holder == Holder(0, "")
        assert str(holder) == "another process"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=NAME), SleepLock(tmp_path / "gone").hold():
        pass
