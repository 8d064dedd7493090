"""A child process can record, whatever its parent's threads were loading when it was forked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engramdown.episodes.forking import LATE

PROGRAM = """
import os, signal, sys, threading, time
from pathlib import Path
from engramdown.episodes.memory import EpisodicMemory

late, loading, root = sys.argv[1], threading.Event(), Path(sys.argv[2])

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == late and threading.current_thread() is not threading.main_thread():
            loading.set()
            time.sleep(0.5)

def record(name):
    memory = EpisodicMemory(root)
    session = memory.start_session(name)
    memory.tidy()
    assert memory.log(session, "user", "ann")
    assert memory.log(session, "tool_result", "x" * 3_000, name="look")
    memory.end(session)

assert late not in sys.modules
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=record, args=("parent",))
thread.start()
assert loading.wait(20)
child = os.fork()
if not child:
    signal.alarm(30)
    record("child")
    os._exit(0)
thread.join()
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("late", [name for name in LATE if name.startswith("engramdown.")])
def test_a_child_records_that_was_forked_while_a_thread_loaded(
    late: str, tmp_path: Path, child_env: dict[str, str]
) -> None:
    command = [sys.executable, "-c", PROGRAM, late, str(tmp_path)]
    subprocess.run(command, check=True, env=child_env)
    assert {path.name for path in (tmp_path / "episodes").glob("*.jsonl")} == {
        "child.jsonl",
        "parent.jsonl",
    }


def test_nothing_else_is_loaded_late(tmp_path: Path, child_env: dict[str, str]) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from engramdown.episodes import forking\n"
        "from engramdown.episodes.memory import EpisodicMemory\n"
        "forking._load()\n"
        "before = set(sys.modules)\n"
        "memory = EpisodicMemory(Path(sys.argv[1]))\n"
        "session = memory.start_session()\n"
        "memory.tidy()\n"
        "memory.log(session, 'tool_result', 'token: ' + 'x' * 3_000, name='look')\n"
        "memory.log(session, 'user', {'a': 1.5, 'b': [None]})\n"
        "memory.end(session)\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        check=True,
        env=child_env,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout.split() == []
