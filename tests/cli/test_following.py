"""engramdown log follow: a real process that watches a file which others write to."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engramdown.cli.output import STOPPED
from engramdown.episodes.memory import EpisodicMemory
from tests.cli.conftest import Runner
from tests.cli.program import Program
from tests.cli.terminal import Terminal
from tests.conftest import PATIENCE

Start = Callable[..., Program]


def shown(follower: Program) -> str:
    """Wait for the next line, and return its pointer and its text."""
    line = follower.next()
    return f"{line['pointer']} {line['text'] or line['event']}"


@pytest.fixture
def episodes(memory: Path) -> Iterator[EpisodicMemory]:
    """Record a session with three lines."""
    made = EpisodicMemory(memory.parent)
    for word in ("one", "two", "three"):
        made.log("s", "user", word)
    yield made
    made.close()


@pytest.fixture
def follower(episodes: EpisodicMemory, start: Start) -> Program:
    """Follow the session, and wait until its last line is shown."""
    assert episodes.folder.is_dir()
    follower = start("log", "follow", "--json", "-n", "1")
    assert shown(follower) == "s#3 three"
    return follower


def test_what_is_said_is_shown_until_the_session_ends(
    follower: Program, episodes: EpisodicMemory
) -> None:
    episodes.log("s", "assistant", "four")
    assert shown(follower) == "s#4 four"
    for word in ("five", "six"):
        episodes.log("s", "user", word)
    assert [shown(follower), shown(follower)] == ["s#5 five", "s#6 six"]
    episodes.end("s")
    assert shown(follower) == "s#7 end"
    assert follower.end() == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it(number: signal.Signals, follower: Program) -> None:
    code, err = follower.end(number)
    expected = (STOPPED, "\nStopped.\n") if number == signal.SIGINT else (-number, "")
    assert (code, err) == expected


def test_a_file_that_is_rewritten_shows_nothing_twice(
    follower: Program, episodes: EpisodicMemory
) -> None:
    path = episodes.folder / "s.jsonl"
    other = path.with_name("s.new")
    other.write_bytes(path.read_bytes().replace(b'"two"', b'"(redacted)"'))
    other.replace(path)
    episodes.log("s", "user", "four")
    assert shown(follower) == "s#4 four"


def test_a_line_is_shown_when_it_is_whole(follower: Program, episodes: EpisodicMemory) -> None:
    path = episodes.folder / "s.jsonl"
    episodes.log("s", "user", "four")
    assert shown(follower) == "s#4 four"
    line = path.read_bytes().split(b"\n")[4].replace(b'"seq":4', b'"seq":5')
    with path.open("ab", buffering=0) as file:
        file.write(b"no line\n" + line[:20])
        time.sleep(0.5)
        file.write(line[20:] + b"\n")
    assert shown(follower) == "s#5 four"


def test_a_torn_end_that_is_taken_away_does_not_matter(
    follower: Program, episodes: EpisodicMemory
) -> None:
    path = episodes.folder / "s.jsonl"
    with path.open("ab", buffering=0) as file:
        file.write(b'{"seq":4,"torn')
    time.sleep(0.5)
    episodes.log("s", "user", "four")
    assert shown(follower) == "s#4 four"


def test_a_session_that_is_removed_is_missed(follower: Program, episodes: EpisodicMemory) -> None:
    (episodes.folder / "s.jsonl").unlink()
    code, err = follower.end()
    assert (code, err) == (1, "engramdown: s is gone: it was removed while it was followed\n")


def test_what_is_marked_behind_the_end_does_not_go_on(
    episodes: EpisodicMemory, start: Start
) -> None:
    episodes.end("s")
    episodes.mark("s", "exclude", of=[1])
    follower = start("log", "follow", "--json", "s")
    lines = [shown(follower) for _ in range(6)]
    assert lines == ["s#0 start", "s#1 one", "s#2 two", "s#3 three", "s#4 end", "s#5 exclude"]
    assert follower.end() == (0, "")


def test_a_session_that_goes_on_is_followed_on(episodes: EpisodicMemory, start: Start) -> None:
    episodes.end("s")
    episodes.log("s", "user", "again")
    follower = start("log", "follow", "--json", "-n", "2")
    assert [shown(follower), shown(follower)] == ["s#4 end", "s#5 again"]
    episodes.end("s")
    assert shown(follower) == "s#6 end"
    assert follower.end() == (0, "")


def test_what_was_said_before_can_be_left_out(episodes: EpisodicMemory, start: Start) -> None:
    episodes.end("s")
    follower = start("log", "follow", "--json", "s", "-n", "0")
    assert shown(follower) == "s#4 end"
    assert follower.end() == (0, "")


def test_a_reader_that_goes_away_ends_it(follower: Program, episodes: EpisodicMemory) -> None:
    follower.close()
    episodes.log("s", "user", "four")
    assert follower.process.wait(PATIENCE) == 141


def test_a_person_reads_along(child_env: dict[str, str], episodes: EpisodicMemory) -> None:
    with Terminal(["engramdown", "log", "--follow", "-n", "2"], child_env) as terminal:
        terminal.expect("Following s; Ctrl-C stops.")
        terminal.expect("#2  user")
        terminal.expect("#3  user")
        episodes.log("s", "tool_call", "ls", name="shell", call="c")
        terminal.expect("#4  tool call shell")
        episodes.log("s", "tool_result", "red \x1b[31m", name="shell", call="c")
        terminal.expect("red ␛[31m")
        assert terminal.interrupt() == STOPPED
    assert "one" not in terminal.text


def test_long_results_are_cut_and_the_rest_is_one_command_away(
    run: Runner, episodes: EpisodicMemory
) -> None:
    session = episodes.start_session()
    long = "\n".join(f"row {at} of a result" for at in range(100))
    for role, text in (("user", long), ("tool_result", long), ("tool_result", "x" * 9_000)):
        episodes.log(session, role, text, name="" if role == "user" else "sh")
    episodes.end(session)
    asked, first, second = run.ok("log", "follow", session).out.split("result sh")
    assert "row 99 of a result" in asked
    assert "row 7 of a result" in first
    assert "row 8 of a result" not in first
    assert first.count("\n") < 16
    assert len(second) < 1_000
    for found in (first, second):
        pointer = re.search(r"more characters: `engramdown log show (\S+) --whole`", found)
        assert pointer
        whole = run.ok("log", "show", pointer[1], "--whole").out
        assert whole in (long, "x" * 9_000)
    lines = run.ok("log", "follow", session, "--json").out.split("\n")
    assert max(len(json.loads(line)["text"]) for line in lines if line) > 1_000
