"""engramdown log show: a session, one line of it, and the whole of what is shown cut."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from engramdown.cli.layout import cells
from engramdown.cli.log_show import talk_lines
from engramdown.episodes.memory import EpisodicMemory
from engramdown.settings import EpisodeSettings
from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal

BEGIN: Final = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
LONG: Final = "läng\n" * 1_000


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the person's clock be UTC."""
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def talk(memory: Path) -> EpisodicMemory:
    """Record a session with two calls at once, a silence, and a long output."""
    episodes = EpisodicMemory(memory.parent)
    episodes.start_session("s-1", at=BEGIN, title="Red CI", parent="s-0", parent_call="c9")
    episodes.log("s-1", "user", "Why is\nCI red?", at=BEGIN)
    for call in ("a", "b"):
        episodes.log("s-1", "tool_call", {"n": call}, name="shell", call=call, at=BEGIN)
    later = BEGIN + timedelta(seconds=2)
    episodes.log("s-1", "tool_result", LONG, name="shell", call="b", ms=1250, at=later)
    episodes.log("s-1", "tool_result", "no", name="shell", call="a", error="exit 2", at=later)
    later = BEGIN + timedelta(days=1, hours=2)
    episodes.log("s-1", "assistant", "The clock.", model="m-1", at=later)
    episodes.log("s-1", "scratchpad", "", at=later)
    episodes.log("s-1", "tool_call", "x", name="never", at=later)
    episodes.end("s-1", at=later)
    episodes.close()
    return episodes


@pytest.mark.usefixtures("talk")
def test_a_session_reads_as_a_conversation(run: Runner) -> None:
    out = run.ok("log", "show", "s-1").out
    assert out.startswith(
        "Red CI\n"
        "session     s-1\n"
        "began       2026-02-27 10:15\n"
        "lasted      1d 2h\n"
        "end         finished, 2026-02-28 12:15\n"
        "said        1 turn, 8 episodes\n"
        "begun from  s-0 c9\n"
        "\n"
        "#1  user  10:15:00\n"
        "  Why is\n"
        "  CI red?\n"
        "\n"
        "#2  tool call shell  10:15:00\n"
        '  {"n": "a"}\n'
        "  #5  result shell  10:15:02  failed: exit 2\n"
        "    no\n"
        "\n"
        "#3  tool call shell  10:15:00\n"
        '  {"n": "b"}\n'
        "  #4  result shell  10:15:02  1.25 s\n"
        "    läng\n"
    )
    assert out.endswith(
        "    … 3,000 more characters: `engramdown log show s-1#4 --whole`\n"
        "\n"
        "1d 1h later, 2026-02-28 12:15\n"
        "\n"
        "#6  assistant  12:15:00  m-1\n"
        "  The clock.\n"
        "\n"
        "#7  scratchpad  12:15:00\n"
        "  (empty)\n"
        "\n"
        "#8  tool call never  12:15:00\n"
        "  x\n"
        "  (no result)\n"
    )


def test_another_day_is_told_without_a_silence(run: Runner, memory: Path) -> None:
    episodes = EpisodicMemory(memory.parent)
    for minute in (0, 2):
        at = datetime(2026, 2, 27, 23, 59, tzinfo=UTC) + timedelta(minutes=minute)
        episodes.log("s", "user", "x", at=at)
    assert "\n\n2026-02-28\n\n#2  user  00:01:00\n" in run.ok("log", "show").out


@pytest.mark.usefixtures("talk")
def test_one_line_has_all_that_is_known(run: Runner) -> None:
    out = run.ok("log", "show", "s-1#5").out
    assert out == (
        "line    s-1#5\n"
        "when    2026-02-27 10:15:02+00:00\n"
        "from    result shell\n"
        "call    a\n"
        "failed  exit 2\n"
        "\n"
        "no\n"
    )


@pytest.mark.usefixtures("talk")
def test_the_whole_text_goes_into_a_pipe_byte_for_byte(child_env: dict[str, str]) -> None:
    command = ["engramdown", "log", "show", "s-1#4", "--whole"]
    done = subprocess.run(command, env=child_env, check=True, capture_output=True)
    assert done.stdout == LONG.encode()


def test_bytes_that_are_no_text_come_back(child_env: dict[str, str], memory: Path) -> None:
    data = b"a\xe9\xff\x00\x1b[31m\r\nb"
    command = ["engramdown", "log", "tool_result", "-", "--session", "s"]
    subprocess.run(command, env=child_env, check=True, input=data, capture_output=True)
    EpisodicMemory(memory.parent).log("s", "user", "half \ud800")
    for number, expected in ((1, data), (2, b"half \xed\xa0\x80")):
        show = ["engramdown", "log", "show", f"s#{number}", "--whole"]
        done = subprocess.run(show, env=child_env, check=True, capture_output=True)
        assert done.stdout == expected


@pytest.mark.usefixtures("talk")
def test_a_session_can_be_shown_whole(run: Runner) -> None:
    out = run.ok("log", "show", "s-1", "--whole").out
    assert out.count("läng") == 1_000
    assert "more characters" not in out
    lines = run.ok("log", "show", "s-1", "--whole", "--json").json["lines"]
    assert lines[4]["text"] == LONG


@pytest.mark.usefixtures("talk")
def test_json_has_every_line_as_it_stands(run: Runner, memory: Path) -> None:
    found = run.ok("log", "show", "s-1", "--json").json
    assert (found["id"], found["turns"], found["malformed"]) == ("s-1", 1, 0)
    path = memory.parent / "episodes" / "s-1.jsonl"
    rows = [json.loads(row) for row in path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert found["lines"] == [{"pointer": f"s-1#{row['seq']}", **row} for row in rows]
    assert run.ok("log", "show", "s-1#4", "--json").json == found["lines"][4]
    assert run.ok("log", "show", "s-1#4", "--json", "--whole").json["text"] == LONG


@pytest.mark.usefixtures("talk")
def test_the_beginning_of_an_id_is_enough(run: Runner, memory: Path) -> None:
    assert run.ok("log", "show", "S#6").out == run.ok("log", "show", "s-1#6").out
    episodes = EpisodicMemory(memory.parent)
    for session in ("s-12", *(f"t-{number}" for number in range(10))):
        episodes.log(session, "user", "x")
    assert run.ok("log", "show", "s-1").out.startswith("Red CI\n")
    done = run("log", "show", "s-")
    assert (done.code, done.out) == (1, "")
    rows = done.err.split("\n")
    assert rows[0] == "engramdown: 's-' could be any of these; give more characters"
    assert [row.split()[0] for row in rows[1:-1]] == ["s-12", "s-1"]
    assert rows[2].endswith("finished  Red CI")
    assert run("log", "show", "t").err.endswith("\n  ... and 2 more\n")


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(
    "arguments, code, complaint",
    [
        pytest.param(["x"], 1, "no session 'x'; `engramdown log` lists them", id="unknown"),
        pytest.param(["s-2"], 1, "no session 's-2'; did you mean s-1?", id="near"),
        pytest.param(["s-1#99"], 1, "no line 99 in s-1; the last one is 9", id="number"),
        pytest.param(["s-1#"], 2, "'s-1#' has no number after the #", id="no-number"),
        pytest.param(["s-1#x"], 2, "'s-1#x' has no number after the #", id="word"),
        pytest.param(["s-1#²"], 2, "has no number after the #", id="superscript"),
    ],
)
def test_what_is_not_there_is_one_line_with_the_next_step(
    arguments: list[str], code: int, complaint: str, run: Runner
) -> None:
    done = run("log", "show", *arguments)
    assert (done.code, done.out) == (code, "")
    assert complaint in done.err
    assert done.err.count("\n") == 1


def test_what_was_not_kept_is_said(run: Runner, memory: Path) -> None:
    dropping = EpisodicMemory(memory.parent, EpisodeSettings(payloads="drop"))
    dropping.log("s", "tool_result", LONG)
    assert "… 3,000 more characters: it was not kept\n" in run.ok("log", "show", "s").out
    done = run("log", "show", "s#1", "--whole")
    assert (done.code, done.out) == (1, "")
    assert 'payloads = "keep" below [episodes]' in done.err


def test_a_text_that_was_removed_is_missed(run: Runner, talk: EpisodicMemory) -> None:
    (payload,) = (talk.folder / "payloads").rglob("*.txt")
    payload.unlink()
    done = run("log", "show", "s-1#4", "--whole")
    assert (done.code, done.out) == (1, "")
    assert "the whole text of s-1#4 was removed from episodes/payloads" in done.err
    assert "3,000 more characters" in run.ok("log", "show", "s-1", "--whole").out


def test_a_damaged_session_is_shown_with_what_is_left(run: Runner, talk: EpisodicMemory) -> None:
    path = talk.folder / "s-1.jsonl"
    rows = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([rows[0], b"not a line", b"\x00\xff", *rows[1:5]]) + b'\n{"seq":')
    out = run.ok("log", "show").out
    assert "#1  user" in out
    assert out.endswith("\n2 lines could not be read; `engramdown doctor` says where\n")
    assert run.ok("log", "show", "--json").json["malformed"] == 2
    path.write_bytes(b"no\nlines\n")
    done = run("log", "show", "s-1")
    assert done.code == 1
    assert "none of the 2 lines in s-1 can be read" in done.err


def test_events_are_told_in_words(run: Runner, memory: Path) -> None:
    episodes = EpisodicMemory(memory.parent)
    episodes.log("s", "user", "x", name="Ada")
    episodes.log("s", "memory_read", "", meta={"shown": ["k3v9q2ht"]})
    episodes.mark("s", "exclude", of=[1])
    out = run.ok("log", "show", "s").out
    assert "#1  Ada (user)" in out
    assert "#2  memory shown" in out
    assert "  left out of recall (of: [1])\n" in out
    assert "more  shown: ['k3v9q2ht']\n" in run.ok("log", "show", "s#2").out


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("columns", [80, 30])
def test_a_terminal_is_never_too_narrow(columns: int, child_env: dict[str, str]) -> None:
    env = {**child_env, "PAGER": "cat"}
    del env["PYTHONWARNDEFAULTENCODING"]  # of the pager of click
    with Terminal(["engramdown", "log", "show", "s-1"], env, columns) as terminal:
        assert terminal.end() == 0
        rows = terminal.text.split("\n")
    assert [row for row in rows if cells(row) > columns] == []
    assert "\x1b[33m#1\x1b[0m" in terminal.raw


@pytest.mark.usefixtures("talk")
def test_a_terminal_is_paged(child_env: dict[str, str], tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f'#!/bin/sh\necho "$LESS" > {tmp_path}/less\ncat\n', encoding="utf-8")
    pager.chmod(0o755)
    env = {**child_env, "PAGER": str(pager)}
    with Terminal(["engramdown", "log", "show", "s-1#4", "--whole"], env) as terminal:
        assert terminal.end() == 0
    assert terminal.text.count("läng") == 1_000
    assert (tmp_path / "less").read_text(encoding="utf-8") == "FRX\n"


def test_no_more_is_read_than_is_looked_at(memory: Path) -> None:
    with closing(EpisodicMemory(memory.parent)) as talk:
        for text in "abc":
            talk.log("long", "user", text)
        waiting = iter(talk.session("long").episodes)
    assert next(talk_lines("long", waiting, 10)).parts[0].text == "#1"
    assert [each.seq for each in waiting] == [2, 3]


@pytest.mark.usefixtures("talk")
def test_looking_writes_nothing(run: Runner, memory: Path) -> None:
    before = {path: path.read_bytes() for path in memory.parent.rglob("*") if path.is_file()}
    for arguments in ([], ["list", "--json"], ["show"], ["show", "s-1#4", "--whole"]):
        run.ok("log", *arguments)
    after = {path: path.read_bytes() for path in memory.parent.rglob("*") if path.is_file()}
    assert after == before
