"""What surrounds a program goes wrong: a clear error, memory as before, nothing reported as done.

Where a disk is full or read-only, to begin is no failure: what is there is read, with a warning.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from engramdown import EpisodicMemory, Hippocampus, clock
from engramdown.cli.output import REFUSED, STORE_FAILED
from engramdown.errors import StoreError
from engramdown.settings import EpisodeSettings
from tests.cli.conftest import Runner
from tests.crash.campaign import MissingError
from tests.crash.places import filled, read_only, small_disk
from tests.crash.scopes import opened

MEGABYTE: Final = 1024 * 1024
COMMAND: Final = "import sys; from engramdown.cli.main import main; sys.exit(main())"
READING: Final = (("list",), ("recall", "dust"), ("context",), ("stats",), ("history",))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(capsys, monkeypatch)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of one megabyte."""
    try:
        with small_disk(tmp_path / "disk", MEGABYTE) as mounted:
            yield mounted
    except MissingError as error:
        pytest.skip(f"{error}")


@pytest.fixture
def edited(disk: Path, run: Runner, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a project on that disk; return a file that a person has edited since."""
    project = disk / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    run.ok("init", "--no-global")
    run.ok("remember", "Always lint")
    path = project / ".engramdown" / "memory" / "rules.md"
    data = path.read_bytes().replace(b"Always lint", b"Always dust")
    with path.open("r+b") as file:  # which needs no room
        file.write(data)
    return path


def goes_on_reading(run: Runner, edited: Path) -> None:
    """Check that everything that only reads works, and that a write is refused."""
    before = edited.read_bytes()
    for command in READING:
        done = run.ok(*command)
        assert "Traceback" not in done.err
    shown = run.ok("list")
    assert "Always dust" in shown.out
    # What is taken in writes nothing but a line of the journal, which may just fit.
    assert "could not look for hand edits" in shown.err or "(verified" in shown.out
    for command in (("remember", "Never push"), ("undo",)):
        done = run(*command)
        # An undo is refused where the edit was taken in: it is the person's.
        refused = command == ("undo",) and "changed by hand" in done.err
        assert done.code == (REFUSED if refused else STORE_FAILED)
        assert refused or str(edited.parent.parent) in done.err
        assert done.out == ""
    assert edited.read_bytes() == before


def test_a_full_disk_is_read_with_a_warning_and_written_when_there_is_room(
    disk: Path, run: Runner, edited: Path
) -> None:
    with filled(disk, 0):
        goes_on_reading(run, edited)
    run.ok("remember", "Never push")
    assert [step["op"] for step in run.ok("history", "--json").json].count("edit") == 1
    assert sorted(path.name for path in edited.parent.iterdir() if path.is_file()) == [
        ".lock",
        "lessons.md",
        "rules.md",
    ]


def test_a_read_only_disk_is_read_with_a_warning(disk: Path, run: Runner, edited: Path) -> None:
    with read_only(disk):
        goes_on_reading(run, edited)
    run.ok("remember", "Never push")


def test_a_crash_on_a_disk_that_filled_up_is_put_right_when_there_is_room(
    disk: Path, run: Runner, edited: Path
) -> None:
    left = edited.with_name(".rules.md.0123456789abcdef.01234567.tmp.part")
    left.write_bytes(b"half")
    with filled(disk, 0):
        # What is swept up may make the room that the rest needs, or not.
        assert "Always dust" in run.ok("list").out
    run.ok("remember", "Never push")
    assert not left.exists()
    assert run.ok("list").out.count("Always dust") == 1


def test_recording_on_a_full_disk_waits_and_tells(disk: Path) -> None:
    memory = EpisodicMemory(disk, EpisodeSettings(durability="full"))
    memory.log("s", "user", "heron")
    with filled(disk, 0):
        assert memory.log("s", "user", "egret " * 4000) is None
        trouble = memory.trouble
        assert trouble is not None
        assert "No space left" in trouble.reason
        other = EpisodicMemory(disk)
        other.tidy()
        assert [each.text for each in other.session("s").episodes[1:]] == ["heron"]
        assert other.recall("heron")
    assert memory.recorder.flush()
    assert memory.trouble is None
    assert memory.recall("egret")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
@pytest.mark.parametrize("place", ["memory", "memory/rules.md"])
def test_what_a_person_made_read_only_is_not_written_not_even_by_root(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run.ok("init", "--no-global")
    run.ok("remember", "Always dust")
    path = tmp_path / ".engramdown" / place
    rules = tmp_path / ".engramdown" / "memory" / "rules.md"
    before, mode = rules.read_bytes(), path.stat().st_mode
    path.chmod(mode & ~0o222)
    try:
        done = run("remember", "Never push")
        assert (done.code, done.out) == (STORE_FAILED, "")
        assert f"{path}: is read-only; nothing was written" in done.err
        assert run.ok("recall", "dust").err == ""
    finally:
        path.chmod(mode)
    assert rules.read_bytes() == before
    run.ok("remember", "Never push")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit on Windows")
def test_too_few_open_files_are_told_and_nothing_is_half_done(tmp_path: Path) -> None:
    import resource

    store, done = opened(tmp_path), 0
    store.encode_lesson("Before")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    for more in range(6):
        text, known = f"With {more} more", {entry.text for entry in store.entries()}
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, before[1]))
        try:
            store.encode_lesson(text)
            known.add(text)
            done += 1
        except StoreError as error:
            told = str(error)
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            assert str(tmp_path) in told
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        store = opened(tmp_path)
        assert {entry.text for entry in store.entries()} == known
    assert 0 < done < 6


def test_a_clock_that_is_set_back_loses_and_mixes_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, memory = Hippocampus(tmp_path), EpisodicMemory(tmp_path)
    for days in range(5):
        at = datetime(2026, 2, 27, 10, 15, tzinfo=UTC) - timedelta(days=days)
        shown = type("Shown", (datetime,), {"now": classmethod(lambda *_, at=at: at)})
        monkeypatch.setattr(clock, "datetime", shown)
        monkeypatch.setattr(time, "time_ns", lambda at=at: int(at.timestamp() * 1e9))
        store.encode_lesson(f"Lesson {days}")
        assert memory.log("s", "user", f"heron {days}") is not None
    monkeypatch.undo()
    assert [entry.text for entry in store.entries()] == [f"Lesson {days}" for days in range(5)]
    assert len({entry.ts for entry in store.entries()}) == 5
    # The last is what was done last, not what has the latest date.
    store.undo()
    assert [entry.text for entry in store.entries()] == [f"Lesson {days}" for days in range(4)]
    episodes = memory.session("s").episodes
    assert [each.text for each in episodes[1:]] == [f"heron {days}" for days in range(5)]
    assert len({each.id for each in episodes}) == 6
    assert len(memory.recall("heron")) == 5


@pytest.mark.parametrize("home", ["", "/nowhere/at/all"])
def test_without_a_home_a_project_is_remembered(
    tmp_path: Path, child_env: dict[str, str], home: str
) -> None:
    env = {
        name: text for name, text in child_env.items() if name not in ("HOME", "ENGRAMDOWN_HOME")
    }
    if home:
        env["HOME"] = home
    env |= {"LANG": "C", "LC_ALL": "C"}
    (tmp_path / ".engramdown").mkdir()
    said = "Always greet with Grüß Gott 🦆"
    for command in (["remember", said], ["recall", "Grüß"]):
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *command],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "Gott" in done.stdout
    rules = (tmp_path / ".engramdown/memory/rules.md").read_text(encoding="utf-8")
    assert said in rules


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xef\xbb\xbf## Always\n\n- Dust\n", id="byte-order-mark"),
        pytest.param(b"## Always\r\n\r\n- Dust\r\n\r\n## Other\r\n", id="crlf"),
        pytest.param(
            b"## Always\n\n- Dust\n\n" + (b"## " + b"h" * 1000 + b"\n") * 10_000, id="10-megabytes"
        ),
    ],
)
def test_a_file_of_another_kind_is_written_to_and_keeps_its_bytes(
    tmp_path: Path, before: bytes
) -> None:
    path = tmp_path / "memory" / "rules.md"
    path.parent.mkdir()
    path.write_bytes(before)
    store = opened(tmp_path)
    store.encode_rule("Sweep", "always", source="user")
    after = path.read_bytes()
    assert [entry.text for entry in store.entries()] == ["Dust", "Sweep"][not before :]
    assert after.startswith(before[: before.find(b"- Dust")] if before else b"")
    lines = after.split(b"\n")
    assert [line for line in before.split(b"\n") if line not in lines] == []
    store.undo()
    assert path.read_bytes() == before
