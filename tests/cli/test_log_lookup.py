"""engramdown log grep, describe and expand: the way back from summaries to the words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Runner
from tests.cli.test_log_summaries import SESSION, log_of, say, summarised


@pytest.fixture(autouse=True)
def talk(memory: Path) -> Path:
    """Record a conversation of thirty turns, and return the scope's folder."""
    say(memory.parent, 30)
    return memory.parent


def test_a_summary_is_shown_with_its_facts(run: Runner) -> None:
    leaf = summarised(run)
    rows = run.ok("log", "describe", leaf[:8]).out.split("\n")
    facts = dict(re.split(r"\s{2,}", row, maxsplit=1) for row in rows[: rows.index("")])
    assert facts["summary"] == leaf
    assert facts["covers"] == "40 messages, #1-40"
    assert (facts["form"], facts["made from"]) == ("leaf, depth 0", "#1-40")
    top = summarised(run, "--mode", "handoff", "--tail", "4")
    data = run.ok("log", "describe", leaf, "--json").json
    assert (data["session"], data["derived"], data["in_view"]) == (SESSION, top, False)
    assert top in run.ok("log", "describe", leaf).out


def test_the_newest_session_that_has_it_is_meant(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    say(talk, 30, "later")
    newest = run.ok("log", "compact", "later", "--without-model", "--json").json["gists"][0]["id"]
    assert run.ok("log", "describe", newest, "--json").json["session"] == "later"
    assert run.ok("log", "describe", leaf, "--json").json["session"] == SESSION
    # Somebody else's file in the place of a log hides no other.
    log_of(talk, "later").unlink()
    log_of(talk, "later").symlink_to(log_of(talk))
    assert run.ok("log", "describe", leaf, "--json").json["session"] == SESSION
    assert run("log", "describe", leaf, "--session", "later").code in (1, 3)


@pytest.mark.parametrize("command", ["describe", "expand"])
def test_an_unknown_summary_is_told(run: Runner, command: str) -> None:
    summarised(run)
    for wanted in ("gnone", "g", "", "../x", "é", '"'):
        done = run("log", command, wanted)
        assert (done.code, done.out) == (1, ""), wanted
        assert "no session has a summary" in done.err
        done = run("log", command, wanted, "--session", "tal")
        assert (done.code, done.out) == (1, ""), wanted
        assert "talk: no summary" in done.err
        assert run("log", command, wanted, "--session", "none").code == 1


def test_what_was_said_is_shown(run: Runner) -> None:
    leaf = summarised(run)
    done = run.ok("log", "expand", leaf)
    rows = done.out.split("\n")
    assert re.fullmatch(r"talk#1  \d{4}-\d\d-\d\d \d\d:\d\d  user", rows[0])
    assert rows[1:3] == ["  Where is file1.py?", ""]
    assert done.err == ""
    top = summarised(run, "--mode", "handoff", "--tail", "10")
    out = run.ok("log", "expand", top, "--tokens", "5").out
    assert re.match(rf"{leaf}  \S+ \S+  leaf summary  a part of it\n", out)


def test_following_what_it_says_shows_all_of_it(run: Runner) -> None:
    summarised(run, "--tail", "40")
    summarised(run)
    top = summarised(run, "--mode", "handoff")
    seen: list[str] = []
    command = ["log", "expand", top, "--tokens", "60", "--depth", "9"]
    while True:
        done = run.ok(*command)
        seen += re.findall(r"(?m)^talk#(\d+)  ", done.out)
        found = re.search(r"there is more: `engramdown (log expand [^`]+)`", done.err)
        if found is None:
            break
        command = found[1].split()
    assert seen == [str(seq) for seq in range(1, 41)]


def test_a_program_is_given_where_to_go_on(run: Runner) -> None:
    leaf = summarised(run)
    data = run.ok("log", "expand", leaf, "--tokens", "20", "--json").json
    assert (data["session"], data["id"], data["truncated"]) == (SESSION, leaf, True)
    assert [item["source"] for item in data["items"]] == ["talk#1", "talk#2", "talk#3"]
    rest = run.ok("log", "expand", leaf, "--cursor", data["cursor"], "--json").json
    assert [item["source"] for item in rest["items"]] == [f"talk#{seq}" for seq in range(4, 41)]
    assert (rest["truncated"], rest["cursor"]) == (False, "")
    wrong = run("log", "expand", leaf, "--cursor", "x")
    assert (wrong.code, "'x'" in wrong.err) == (2, True)


def test_one_message_is_shown_whole_by_its_pointer(run: Runner) -> None:
    done = run.ok("log", "expand", "tal#3")
    assert re.fullmatch(r"talk#3  \S+ \S+  user\n  Where is file2\.py\?\n", done.out)
    part = run.ok("log", "expand", "talk#4", "--tokens", "5", "--json").json
    assert (part["id"], part["truncated"], part["items"][0]["cut"]) == ("talk#4", True, True)
    rest = run.ok("log", "expand", "talk#4", "--cursor", part["cursor"], "--json").json
    both = part["items"][0]["text"] + rest["items"][0]["text"]
    assert both == "I decided to keep it in src/file2.py."
    for wrong in ("talk#0", "talk#999", "none#1"):
        assert run("log", "expand", wrong).code == 1


def test_the_newest_is_found_first_and_says_where_it_is(run: Runner) -> None:
    leaf = summarised(run)
    done = run.ok("log", "grep", "FILE3", "--scope", "messages", "-n", "3")
    rows = done.out.rstrip("\n").split("\n")
    said = r"talk#60  \S+ \S+  assistant  I decided to keep it in src/file30\.py\."
    assert re.fullmatch(said, rows[0])
    assert len(rows) == 3
    assert re.match(rf"talk#6  \S+ \S+  assistant  in {leaf}  I decided", rows[2])
    assert "there are more than 3; --limit shows more" in done.err
    data = run.ok("log", "grep", "file30", "tal", "--json").json
    hits = [(hit["source"], hit["role"]) for hit in data]
    assert hits == [("talk#60", "assistant"), ("talk#59", "user")]
    (row,) = run.ok("log", "grep", "file", "--scope", "summaries").out.rstrip("\n").split("\n")
    assert re.match(rf"{leaf}  \S+ \S+  leaf summary  ", row)


@pytest.mark.parametrize("pattern", ["file%", "file*", "zeppelin", "_", "x" * 5_000])
def test_nothing_found_is_said(run: Runner, pattern: str) -> None:
    done = run("log", "grep", pattern)
    assert (done.code, done.out) == (1, "")
    assert "not found in talk; the text is matched literally" in done.err
    assert run("log", "grep", pattern, "--json").json == []


def test_looking_writes_nothing(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    before = {path: path.read_bytes() for path in talk.rglob("*") if path.is_file()}
    for arguments in (["describe", leaf], ["expand", leaf], ["grep", "file"]):
        run.ok("log", *arguments)
    assert {path: path.read_bytes() for path in talk.rglob("*") if path.is_file()} == before


def test_what_was_redacted_is_in_no_summary(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    run.ok("log", "redact", "talk#3")
    assert run("log", "describe", leaf).code == 1
    assert not log_of(talk).exists()
    assert json.dumps(run("log", "grep", "file2.py", "--json").json).count("talk#") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("expand", "gabcd", "--tokens", "0"),
        ("expand", "gabcd", "--depth", "0"),
        ("expand",),
        ("describe",),
        ("grep",),
        ("grep", " \n"),
        ("grep", "x", "--limit", "0"),
        ("grep", "x", "--scope", "all"),
    ],
)
def test_wrong_usage_is_told(run: Runner, arguments: tuple[str, ...]) -> None:
    done = run("log", *arguments)
    assert (done.code, done.out) == (2, "")
    assert f"`engramdown log {arguments[0]} --help`" in done.err
    assert f"\n  {arguments[0]}  " not in run.ok("log", "--help").out
