"""Real system calls that fail, and real SIGKILLs in front of them: what the other tests simulate.

Needs strace, which .ci/run installs. Where it is missing, or may not trace, one test says so.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.crash.scopes import OPERATIONS, Case

# As a file without an end of its own, so that a kill leaves nothing half printed.
PROGRAM: Final = """
import os, sys
from pathlib import Path
from engramdown.errors import StoreError
from engramdown.hippocampus.disk import Disk
from tests.crash.scopes import OPERATIONS, opened
store = opened(Path(sys.argv[2]), Disk())
try:
    OPERATIONS[sys.argv[1]].act(store)
except StoreError as error:
    os._exit(4 if sys.argv[2] in str(error) else 5)
os._exit(3)
"""
DONE: Final = 3
REFUSED: Final = 4

# What the start of Python does not call, or calls seldom, so that few runs are spent on it.
KILLED: Final = ("write", "fsync", "rename", "renameat2", "unlink", "link", "flock", "mkdir")
FAILING: Final = (
    ("write", "ENOSPC"),
    ("write", "EIO"),
    ("fsync", "EIO"),
    ("fsync", "ENOSPC"),
    ("rename", "EIO"),
    ("rename", "EACCES"),
    ("renameat2", "EIO"),
    ("renameat2", "EINVAL"),
    ("renameat2", "ENOSYS"),
    ("unlink", "EIO"),
    ("link", "EPERM"),
    ("link", "ENOSPC"),
    ("flock", "ENOLCK"),
    ("ftruncate", "EIO"),
    ("fchmod", "EPERM"),
    ("fchown", "EPERM"),
)


def _traces() -> bool:
    """Whether strace is there and may do its work."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return False
    command = ["strace", "-f", "-o", os.devnull, "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(name: str, root: Path, fault: str, env: Mapping[str, str]) -> int:
    """Carry out an operation on ``root`` under strace, and return how the program ended."""
    tracer = ["strace", "-f", "--seccomp-bpf", "-o", os.devnull, "-e", f"inject={fault}"]
    program = [sys.executable, "-B", "-c", PROGRAM, name, str(root)]
    return subprocess.run([*tracer, *program], env=env, check=False).returncode


def kill_everywhere(name: str, folder: Path, env: Mapping[str, str], call: str) -> int:
    """Kill an operation in front of every ``call``; return how often that was."""
    case = Case(folder, name)
    for number in count(1):
        root = folder / f"{number}"
        case.copy(root)
        ended = run(name, root, f"{call}:signal=SIGKILL:when={number}", env)
        if ended == DONE:
            return number - 1
        assert ended == -signal.SIGKILL
        case.verify(root, done=False)
    raise AssertionError


if _traces():

    @pytest.mark.parametrize("call, times", [("write", 4), ("fsync", 3), ("renameat2", 1)])
    def test_a_real_kill_leaves_memory_whole(
        call: str, times: int, tmp_path: Path, child_env: dict[str, str]
    ) -> None:
        assert kill_everywhere("encode-rule", tmp_path, child_env, call) >= times

    def test_a_real_error_is_told_and_leaves_memory_whole(
        tmp_path: Path, child_env: dict[str, str]
    ) -> None:
        case = Case(tmp_path, "encode-rule")
        faults = {f"write:error=ENOSPC:when={number}" for number in (2, 4, 5)} | {
            "fsync:error=EIO:when=1",
            "fsync:error=EIO:when=2+",
            "flock:error=ENOLCK",
        }
        for number, fault in enumerate(sorted(faults)):
            root = tmp_path / f"{number}"
            case.copy(root)
            assert run("encode-rule", root, fault, child_env) == REFUSED, fault
            case.verify(root, done=False)

    @pytest.mark.soak
    def test_no_real_kill_or_error_does_harm(
        tmp_path: Path, child_env: dict[str, str], soak_seconds: float
    ) -> None:
        end = time.monotonic() + soak_seconds
        dice = random.Random()
        cases = [Case(tmp_path / name, name) for name in OPERATIONS]
        for number in count(1):
            case, root = dice.choice(cases), tmp_path / f"{number}"
            case.copy(root)
            when = f"when={dice.randint(1, 8)}{dice.choice(['', '+'])}"
            kill = f"{dice.choice(KILLED)}:signal=SIGKILL:{when.rstrip('+')}"
            call, code = dice.choice(FAILING)
            fault = dice.choice([kill, f"{call}:error={code}:{when}"])
            ended = run(case.name, root, fault, child_env)
            assert ended in (DONE, REFUSED, -signal.SIGKILL), f"{case.name} {fault}: {ended}"
            case.verify(root, done=ended == DONE)
            if time.monotonic() > end:
                break

else:

    def test_no_real_system_call_was_killed_because_strace_is_missing_here() -> None:
        assert not _traces()
