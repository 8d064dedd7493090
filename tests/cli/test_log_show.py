"""engramdown log and log list: the sessions, as a table."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from freezegun import freeze_time

from engramdown.cli.layout import cells
from engramdown.episodes.memory import EpisodicMemory
from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal
from tests.cli.test_completion import complete

WORDS: Final = "Why is CI red on Mondays and on no other day, whatever we change in the pipeline?"


@pytest.fixture
def three(memory: Path) -> EpisodicMemory:
    """Record three sessions: two that ended, and one that is open."""
    episodes = EpisodicMemory(memory.parent)
    for session, day in (("20260225-101500-aaaa", 25), ("20260226-101500-bbbb", 26)):
        at = datetime(2026, 2, day, 10, 15, tzinfo=UTC)
        episodes.start_session(session, at=at)
        episodes.log(session, "user", WORDS, at=at)
        episodes.log(session, "assistant", "Let me look", at=at.replace(hour=11, second=7))
        episodes.end(session, at=at.replace(hour=11, second=7))
    at = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
    episodes.start_session("mine", at=at, title="日本語のタイトル")
    episodes.log("mine", "user", "Hello", at=at)
    episodes.close()
    return episodes


@pytest.mark.usefixtures("three")
def test_elsewhere_than_on_a_terminal_a_session_is_one_line(run: Runner) -> None:
    for arguments in (["log"], ["log", "list"]):
        rows = run.ok(*arguments).out.split("\n")
        head = "session began lasted turns episodes end title or first words"
        assert " ".join(rows[0].split()) == head
        assert [row.split()[0] for row in rows[1:-1]] == [
            "mine",
            "20260226-101500-bbbb",
            "20260225-101500-aaaa",
        ]
        assert rows[1].endswith("  open      日本語のタイトル")
        assert rows[2].endswith(f"  1h          1         2  finished  {WORDS}")


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("columns", [80, 40, 20])
def test_a_terminal_shows_two_rows_that_fit(columns: int, child_env: dict[str, str]) -> None:
    with Terminal(["engramdown", "log"], child_env, columns) as terminal:
        assert terminal.end() == 0
        rows = terminal.text.split("\n")
    assert all(cells(row) <= columns for row in rows)
    if columns == 80:
        assert rows[0].split()[:2] == ["session", "began"]
        assert rows[2] == "  日本語のタイトル"
        assert rows[4] == f"  {WORDS[:77]}…"
        assert "\x1b[" in terminal.raw


@pytest.mark.usefixtures("three")
def test_a_session_is_all_of_it_for_a_program(run: Runner, memory: Path) -> None:
    first, second, _ = run.ok("log", "--json").json
    path = memory.parent / "episodes" / "20260226-101500-bbbb.jsonl"
    assert second == {
        "id": "20260226-101500-bbbb",
        "title": "",
        "started": "2026-02-26T10:15:00.000000Z",
        "last": "2026-02-26T11:15:07.000000Z",
        "ended": "2026-02-26T11:15:07.000000Z",
        "reason": "finished",
        "open": False,
        "parent": "",
        "parent_call": "",
        "source": "",
        "conversation": "",
        "turns": 1,
        "episodes": 2,
        "first": WORDS,
        "excluded": {"whole": False, "lines": []},
        "bytes": path.stat().st_size,
        "path": str(path),
    }
    assert (first["open"], first["ended"], first["title"]) == (True, "", "日本語のタイトル")


@pytest.mark.usefixtures("three")
def test_a_number_keeps_the_older_ones_out(run: Runner) -> None:
    done = run.ok("log", "-n", "1", "--json")
    assert [each["id"] for each in done.json] == ["mine"]
    assert "2 older sessions not shown; -n 3 shows all" in done.err


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("date", ["yesterday", "2026-02-30", "9999-12-31 99:00", ""])
def test_what_is_no_date_is_wrong_usage(date: str, run: Runner) -> None:
    done = run("recall", "--since", date)
    assert done.code == 2
    assert 'write 2026-02-27 or "2026-02-27 10:15"' in done.err
    assert done.err.count("\n") == 1


def test_without_a_session_the_first_step_is_said(run: Runner, memory: Path) -> None:
    for arguments in (["log"], ["log", "show"], ["log", "show", "x"]):
        done = run(*arguments)
        assert (done.code, done.out) == (1, "")
        assert '`engramdown log user "..."` records the first line' in done.err
    assert run("log", "--json").out == "[]\n"
    assert not (memory.parent / "episodes").exists()


def test_without_memory_init_is_named(run: Runner) -> None:
    done = run("log")
    assert done.code == 1
    assert "run `engramdown init`" in done.err


def test_a_file_that_cannot_be_read_hides_no_other(run: Runner, three: EpisodicMemory) -> None:
    (three.folder / "a-folder.jsonl").mkdir()
    (three.folder / "Upper.jsonl").touch()
    (three.folder / "empty.jsonl").touch()
    done = run("log", "--json")
    assert (done.code, "a-folder.jsonl: is not a file" in done.err) == (3, True)
    assert len(done.json) == 3


def test_what_could_fool_a_terminal_is_shown(run: Runner, memory: Path) -> None:
    episodes = EpisodicMemory(memory.parent)
    nasty = "red \x1b[31m\u202e \ufeff"
    episodes.start_session("s", title=nasty)
    episodes.log("s", "user", nasty, name=nasty)
    episodes.log("s", "tool_call", nasty, name=nasty, call=nasty)
    episodes.log("s", "tool_result", nasty, name=nasty, error=nasty, model=nasty)
    episodes.close()
    for arguments in (["log"], ["log", "show"], ["log", "show", "s#1"], ["log", "show", "s#3"]):
        out = run.ok(*arguments).out
        assert not {"\x1b", "\u202e", "\ufeff"} & set(out), arguments
    assert run.ok("log", "--json").json[0]["title"] == nasty


@pytest.mark.slow
@pytest.mark.usefixtures("three")
def test_ids_are_completed(child_env: dict[str, str]) -> None:
    for command in ("log show", "log follow", "log end", "log user --session"):
        assert complete(child_env, f"engramdown {command} 2026022") == [
            "20260226-101500-bbbb",
            "20260225-101500-aaaa",
        ]
    assert complete(child_env, "engramdown log sh") == ["show"]


def test_where_nothing_is_recorded_nothing_is_completed(child_env: dict[str, str]) -> None:
    assert complete(child_env, "engramdown log show ") == []


def test_a_session_that_runs_is_as_long_as_what_was_said(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    with freeze_time("2026-02-27 10:15"):
        run.ok("log", "user", "x", "--session", "s")
    with freeze_time("2026-02-27 10:16:05"):
        run.ok("log", "user", "y", "--session", "s")
    with freeze_time("2026-03-27 10:16:05"):
        assert "  1m 5s  " in run.ok("log").out
