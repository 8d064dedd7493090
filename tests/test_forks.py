"""A child of ``fork`` waits for nobody whom only its parent has."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from engramdown import forks
from engramdown.forks import Event, Lock, RLock, cached_property, unforked

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

FORKS: Final = 50

# A child that does not end in time is killed by an alarm, which is told as a status that is not 0.
BESIDE: Final = """
import os, signal, sys, threading, time
from pathlib import Path
from engramdown import Cortex, Engram, EpisodicMemory

root, forks = Path(sys.argv[1]), int(sys.argv[2])

def fact(name):
    return Engram(f"The {name} is kept in the {name} cupboard", "lesson", "project", "high")

cortex = Cortex.open(project=root)
memory = EpisodicMemory(root / ".engramdown")

def propose(name):
    (receipt,) = cortex.propose([fact(name)])
    assert receipt.action == "encoded", receipt

def recall(name):
    propose(name)
    cortex.build_memory_context(name)
    assert cortex.recall(name)

def record(name):
    assert memory.log("s", "user", name)
    memory.recall(name)

work = globals()[sys.argv[3]]
ended = threading.Event()

def go_on():
    number = 0
    while not ended.is_set():
        number += 1
        work(f"parent{number}")

def child(number):
    signal.alarm(30)
    try:
        work(f"child{number}")
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)

thread = threading.Thread(target=go_on)
thread.start()
statuses = []
for number in range(forks):
    time.sleep(0.001 * (number % 7))
    process = os.fork()
    if not process:
        child(number)
    statuses.append(os.waitpid(process, 0)[1])
    if any(statuses):
        break
ended.set()
thread.join()
print(statuses.count(0), "of", forks)
"""


def run(program: str, env: dict[str, str], *arguments: str) -> str:
    """Run a program; return what it said, without the warning of Python 3.12 of threads."""
    quiet = ["-W", "ignore:This process:DeprecationWarning"]
    command = [sys.executable, *quiet, "-c", program, *arguments]
    done = subprocess.run(
        command, check=False, env=env, capture_output=True, encoding="utf-8", timeout=240
    )
    assert not done.returncode, done.stderr
    return f"{done.stdout}{done.stderr}".strip()


@pytest.mark.slow
@pytest.mark.parametrize("work", ["propose", "recall", "record"])
def test_every_child_works_that_is_forked_while_a_thread_works(
    work: str, tmp_path: Path, child_env: dict[str, str]
) -> None:
    (tmp_path / ".engramdown").mkdir()
    said = run(BESIDE, child_env, str(tmp_path), str(FORKS), work)
    assert said == f"{FORKS} of {FORKS}"
    if work != "record":
        lessons = (tmp_path / ".engramdown" / "memory" / "lessons.md").read_text(encoding="utf-8")
        assert all(lessons.count(f"The child{number} is") == 1 for number in range(FORKS))


LOADING: Final = """
import os, signal, sys, threading, time
from pathlib import Path
from engramdown import Cortex, Engram

late, loading, root = sys.argv[1], threading.Event(), Path(sys.argv[2])

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == late and threading.current_thread() is not threading.main_thread():
            loading.set()
            time.sleep(0.5)

def work(name):
    cortex = Cortex.open(project=root)
    (receipt,) = cortex.propose([Engram(f"Tea for {name}", "lesson", "project", "high")])
    assert receipt.action == "encoded", receipt
    with cortex.session() as session:
        session.begin_turn(f"Where is {name}?")
        session.tool_result("look", "x" * 3_000)
        session.end_turn("Here.")

assert late not in sys.modules
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=work, args=("parent",))
thread.start()
assert loading.wait(20)
child = os.fork()
if not child:
    signal.alarm(30)
    work("child")
    os._exit(0)
thread.join()
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "late",
    [
        *(
            "gate.intake",
            "context.sources",
            "hippocampus.hand_edits",
            "hippocampus.transaction",
        ),
        *("secrets.redaction", "episodes.memory", "episodes.forget", "transcripts.sessions"),
    ],
)
def test_a_child_works_that_is_forked_while_a_thread_loads(
    late: str, tmp_path: Path, child_env: dict[str, str]
) -> None:
    (tmp_path / ".engramdown").mkdir()
    run(LOADING, child_env, f"engramdown.{late}", str(tmp_path))


INHERITED: Final = """
import os, signal, sys, threading
from pathlib import Path
from engramdown import Cortex, Engram
from engramdown.storage.locks import ScopeLock

root = Path(sys.argv[1])
lock, taken, done = ScopeLock(root / ".lock", 20), threading.Event(), threading.Event()

def hold():
    with lock.hold():
        taken.set()
        done.wait()

threading.Thread(target=hold, daemon=True).start()
taken.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    signal.pause()
print(child, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

TAKE: Final = """
import sys
from pathlib import Path
from engramdown.storage.locks import ScopeLock
with ScopeLock(Path(sys.argv[1]) / ".lock", 5).hold():
    print("taken")
"""


def test_a_child_does_not_keep_what_its_parent_held_when_that_died(
    tmp_path: Path, child_env: dict[str, str]
) -> None:
    command = [sys.executable, "-c", INHERITED, str(tmp_path)]
    with subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.wait()
        try:
            assert run(TAKE, child_env, str(tmp_path)) == "taken"
        finally:
            os.kill(child, 9)


def in_fork(act: str, env: dict[str, str]) -> str:
    """Return what a child says of ``lock``, ``event`` and ``free()`` that others had in hand."""
    program = f"""
import os, signal, threading
from engramdown.forks import Event, Lock, RLock

def free(lock):
    taken = lock.acquire(timeout=0.2)
    if taken:
        lock.release()
    return taken

taken, done = threading.Event(), threading.Event()

def in_thread(lock):
    def hold():
        with lock:
            taken.set()
            done.wait()
    threading.Thread(target=hold, daemon=True).start()
    taken.wait()

def child():
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        os._exit(0)
    signal.alarm(30)

{act}
"""
    return run(program, env)


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_lock_that_another_thread_holds_is_free_in_a_child(
    kind: str, child_env: dict[str, str]
) -> None:
    act = f"lock = {kind}(); in_thread(lock); child(); print(free(lock))"
    assert in_fork(act, child_env) == "True"


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_lock_that_the_forking_thread_holds_is_still_held_in_a_child(
    kind: str, child_env: dict[str, str]
) -> None:
    act = f"""
lock = {kind}()
with lock:
    child()
    said = []
    other = threading.Thread(target=lambda: said.append(free(lock)))
    other.start()
    other.join()
print(said, free(lock))
"""
    assert in_fork(act, child_env) == "[False] True"


def test_an_event_is_in_a_child_as_it_was(child_env: dict[str, str]) -> None:
    act = "a, b = Event(), Event(); a.set(); child(); print(a.is_set(), b.is_set(), b.wait(0.01))"
    assert in_fork(act, child_env) == "True False False"


def test_a_lock_is_let_go_of_by_the_thread_that_holds_it_alone() -> None:
    for lock in (Lock(), RLock()):
        with pytest.raises(RuntimeError, match="by the thread that holds it"):
            lock.release()
        with lock:
            assert not _elsewhere(lock)
        assert _elsewhere(lock)


def test_a_lock_that_may_be_taken_twice_is_held_until_the_last_is_let_go_of() -> None:
    lock = RLock()
    with lock:
        with lock:
            pass
        assert not _elsewhere(lock)
    assert _elsewhere(lock)


def _elsewhere(lock: Lock | RLock) -> bool:
    """Whether another thread can take a lock."""
    found: list[bool] = []

    def take() -> None:
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def test_a_fork_waits_until_another_thread_has_left_what_no_child_can_make_anew() -> None:
    entered, may_leave, left = threading.Event(), threading.Event(), threading.Event()

    def stay() -> None:
        with unforked(), unforked():
            entered.set()
            may_leave.wait()
            left.set()

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait()
    threading.Timer(0.2, may_leave.set).start()
    with unforked():  # which this thread may be in itself
        child = os.fork()
        if not child:
            os._exit(0 if left.is_set() else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()


def test_what_nobody_uses_any_more_is_not_called_in_a_child() -> None:
    before = len(forks._renewed)
    lock, event = Lock(), Event()
    assert len(forks._renewed) == before + 2
    del lock, event
    assert len(forks._renewed) == before


def test_a_value_is_made_once_and_kept() -> None:
    class Box:
        made = 0

        @cached_property
        def value(self) -> int:
            """How often it was made."""
            Box.made += 1
            return Box.made

    box = Box()
    assert [box.value, box.value, Box().value] == [1, 1, 2]
    assert isinstance(Box.value, cached_property)
    assert Box.value.__doc__ == "How often it was made."
