"""What happens while somebody else holds a lock, and does not let go of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram, Hippocampus
from engramdown.errors import LockTimeoutError
from engramdown.storage import locks
from engramdown.storage.locks import ScopeLock

# A reader that waits for the lock ends with an error of subprocess, long before the lock would.
LIMIT: Final = 600
PATIENCE: Final = 90

HOLD: Final = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from engramdown.storage.locks import ScopeLock

with ExitStack() as stack:
    for path in sys.argv[1:]:
        stack.enter_context(ScopeLock(Path(path), 5).hold())
    print("held", flush=True)
    time.sleep(3_600)
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project, which is the working directory."""
    (tmp_path / ".engramdown").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(project: Path, child_env: dict[str, str]) -> Command:
    """Return what runs the program in a project, and ends it if it takes too long."""

    def run(*arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
        program = Path(child_env["PATH"].split(os.pathsep)[0]) / "engramdown"
        return subprocess.run(
            [sys.executable, str(program), *arguments],
            cwd=project,
            env=child_env,
            input=said,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    return run


@pytest.fixture
def roots(project: Path, isolated_home: Path) -> tuple[Path, Path]:
    """Return both scopes, each with a rule, and a time-out that nobody lives to see."""
    found = (isolated_home / ".engramdown", project / ".engramdown")
    for root, scope in zip(found, ("global", "project"), strict=True):
        root.mkdir(exist_ok=True)
        (root / "config.toml").write_text(f"lock_timeout = {LIMIT}\n", encoding="utf-8")
        Hippocampus(root, "global" if scope == "global" else "project").encode_rule(
            f"Keep the {scope} rule", kind="always"
        )
    return found


@pytest.fixture
def holder(
    roots: tuple[Path, Path], child_env: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Return a process that holds the lock of both scopes, and is stopped."""
    locks = [str(root / "memory" / ".lock") for root in roots]
    command = [sys.executable, "-c", HOLD, *locks]
    with subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGSTOP)
        yield process
        process.kill()


def typed_by_hand(roots: tuple[Path, Path]) -> None:
    """Save a line in an editor, which nobody takes in."""
    for root in roots:
        with (root / "memory" / "rules.md").open("a", encoding="utf-8") as file:
            file.write("- Typed by hand\n")


pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no SIGSTOP here")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("recall", "typed"),
        ("context",),
        ("stats",),
        ("history",),
        ("review", "--json"),
        ("doctor",),
        ("hook", "context"),
    ],
    ids=" ".join,
)
def test_who_reads_does_not_wait_for_a_writer(
    arguments: tuple[str, ...],
    roots: tuple[Path, Path],
    holder: subprocess.Popen[bytes],
    run: Command,
) -> None:
    typed_by_hand(roots)
    done = run(*arguments)
    assert done.returncode in (0, 1), done.stderr
    assert holder.poll() is None
    if arguments[0] in ("list", "recall", "context"):
        assert "Typed by hand" in done.stdout


@pytest.mark.slow
def test_a_hand_edit_is_taken_in_once_the_lock_is_free(
    roots: tuple[Path, Path], holder: subprocess.Popen[bytes], run: Command
) -> None:
    typed_by_hand(roots)
    assert run("history", "--json").returncode == 0
    assert "by hand" not in (roots[1] / "history.jsonl").read_text(encoding="utf-8")
    holder.kill()
    holder.wait()
    assert run("list").returncode == 0
    assert "by hand" in (roots[1] / "history.jsonl").read_text(encoding="utf-8")


def test_a_model_that_views_memory_does_not_wait_for_a_writer(
    roots: tuple[Path, Path], holder: subprocess.Popen[bytes], project: Path
) -> None:
    typed_by_hand(roots)
    cortex = Cortex.open(project=project)
    assert "Typed by hand" in str(cortex.build_memory_context())
    assert "Typed by hand" in cortex.use_tool("recall", {"query": "typed"}).text
    with cortex.session() as session:
        assert "Typed by hand" in str(session.begin_turn("What was typed?"))
    assert holder.poll() is None


@pytest.mark.slow
def test_doctor_names_who_holds_a_lock_and_takes_nothing_of_theirs_for_left_behind(
    roots: tuple[Path, Path], holder: subprocess.Popen[bytes], run: Command
) -> None:
    left = roots[1] / "memory" / ".rules.md.0123456789abcdef.01234567.tmp"
    left.write_text("- half done\n", encoding="utf-8")
    os.utime(left, (1, 1))
    said = run("doctor").stdout
    assert f"held by process {holder.pid}" in said
    assert "left behind" not in said
    holder.kill()
    holder.wait()
    said = run("doctor").stdout
    assert "held by" not in said
    assert "left behind" in said


def test_doctor_finds_no_lock_that_is_held_where_nobody_holds_one(
    roots: tuple[Path, Path], run: Command
) -> None:
    assert "held by" not in run("doctor").stdout
    assert not (roots[1] / "skills.lock").exists()


@pytest.fixture
def granted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return for how long each lock that was not free was waited for."""
    waits: list[float] = []
    wait_for = locks.wait_for

    def noted(attempt: Callable[[], bool], limit: float, *pause: float) -> bool:
        may = locks.left(limit)
        taken = wait_for(attempt, limit, *pause)
        if not taken:
            waits.append(may)
        return taken

    monkeypatch.setattr(locks, "wait_for", noted)
    return waits


def engram(scope: str = "project") -> Engram:
    """Return something to write."""
    if scope == "global":
        return Engram("Say please", "always", "global", "high", source="user")
    return Engram("Deploy on Mondays", "lesson", "project", "high", source="user")


ACTS: Final[dict[str, Callable[[Cortex], object]]] = {
    "propose": lambda cortex: cortex.propose([engram(), engram("global")]),
    "encode": lambda cortex: cortex.encode([engram("global"), engram()]),
    "apply_ticks": lambda cortex: cortex.review.apply_ticks(),
    "compact": lambda cortex: cortex.compact_all(),
    "sleep": lambda cortex: cortex.sleep(),
    "tool": lambda cortex: cortex.use_tool(
        "memorize", {"text": "Deploy on Mondays", "kind": "lesson"}
    ),
    "session": lambda cortex: cortex.session(),
}


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_a_call_waits_for_all_locks_together_no_longer_than_for_one(
    act: str,
    roots: tuple[Path, Path],
    holder: subprocess.Popen[bytes],
    granted: list[float],
    project: Path,
) -> None:
    assert holder.poll() is None
    for root in roots:
        (root / "config.toml").write_text("lock_timeout = 0.3\n", encoding="utf-8")
    pending = "- [x] Prefer tea <!-- id:p81dz5ka kind:always scope:project ts:2026-02-27 -->\n"
    (roots[1] / "memory" / "pending.md").write_text(f"# Pending\n\n{pending}", encoding="utf-8")
    typed_by_hand(roots)
    cortex = Cortex.open(project=project)
    assert sum(granted) == 0
    ACTS[act](cortex)
    assert sum(granted) <= 0.3


def test_a_lock_that_is_let_go_of_in_time_was_worth_waiting_for(tmp_path: Path) -> None:
    lock, entered, ends = ScopeLock(tmp_path / ".lock", 60), threading.Event(), threading.Event()

    def hold() -> None:
        with lock.hold():
            entered.set()
            ends.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    assert lock.holder() == f"process {os.getpid()} since {_since(lock)}"
    with pytest.raises(LockTimeoutError), lock.hold(wait=False):
        pass
    threading.Timer(0.05, ends.set).start()
    with locks.one_call():
        with locks.one_call(), lock.hold():
            pass
        assert 0 < locks.left(60) < 60
    assert locks.left(60) == 60
    assert lock.holder() is None
    thread.join()


def _since(lock: ScopeLock) -> str:
    return str(json.loads(lock.path.read_bytes())["since"])


def test_nobody_holds_a_lock_that_is_not_there(tmp_path: Path) -> None:
    assert ScopeLock(tmp_path / ".lock", 1).holder() is None
    assert not (tmp_path / ".lock").exists()


def test_other_work_counts_as_no_waiting() -> None:
    with locks.one_call():
        time.sleep(0.01)
        assert locks.left(1) == 1


@pytest.mark.slow
def test_to_erase_waits_for_transcripts_as_long_as_is_set(
    roots: tuple[Path, Path], child_env: dict[str, str], run: Command
) -> None:
    for root in roots:
        (root / "config.toml").write_text("lock_timeout = 0.25\n", encoding="utf-8")
        (root / "episodes").mkdir(exist_ok=True)
        line = (
            b'{"seq":0,"ts":"2026-01-01T10:00:00Z","role":"user","text":"Keep the project rule"}\n'
        )
        (root / "episodes" / "one.jsonl").write_bytes(line)
    (name,) = [each.id for each in Cortex.open().entries() if "project rule" in each.text]
    command = [sys.executable, "-c", HOLD, *(str(root / "episodes" / ".lock") for root in roots)]
    with subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        done = run("forget", "--forever", "--yes", name)
        process.kill()
    assert done.returncode == 3, done
    assert "0.25" in done.stderr
    assert "The next command that opens memory finishes" in done.stderr
    assert "the project rule" not in run("list").stdout
    assert run("list").returncode == 0
    assert b"project rule" not in (roots[1] / "episodes" / "one.jsonl").read_bytes()
