"""engramdown log user and its siblings, start and end: recording from a shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import Disk
from tests.cli.conftest import Runner

ROLES: Final = ("user", "assistant", "system", "tool_call", "tool-result", "scratchpad")


def recorded(memory: Path, session: str) -> list[dict[str, Any]]:
    """Return the lines of a session as they stand in its file, without the first."""
    path = memory.parent / "episodes" / f"{session}.jsonl"
    return [json.loads(row) for row in path.read_text(encoding="utf-8").split("\n")[1:-1]]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_a_command(role: str, run: Runner, memory: Path) -> None:
    assert run.ok("log", role, "two", "words", "--session", "s").out == "s#1\n"
    (line,) = recorded(memory, "s")
    assert (line["role"], line["text"]) == (role.replace("-", "_"), "two words")


def test_what_is_known_besides_is_recorded(run: Runner, memory: Path) -> None:
    where = ["--session", "s", "--name", "shell"]
    run.ok("log", "tool_call", '{"cmd": "ls"}', *where, "--call", "c1")
    run.ok("log", "tool_result", *where, "--call", "c1", "--ms", "12.5", "--error")
    run.ok("log", "assistant", "Hm", "--session", "s", "--model", "m-1", "--name", "Ada")
    call, result, said = recorded(memory, "s")
    assert (call["text"], call["name"], call["call"]) == ('{"cmd": "ls"}', "shell", "c1")
    assert (result["text"], result["ms"], result["error"]) == ("", 12.5, True)
    assert (said["model"], said["name"]) == ("m-1", "Ada")


def test_text_comes_from_stdin(run: Runner, memory: Path) -> None:
    run.ok("log", "user", "-", "--session", "s", stdin="Grüße\nzwei\n".encode() + b"\xe9\n")
    (line,) = recorded(memory, "s")
    assert line["text"] == "Grüße\nzwei\n\udce9"


def test_without_a_session_it_goes_to_the_one_that_runs(run: Runner, memory: Path) -> None:
    first = run.ok("log", "user", "one").out.strip()
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}#1", first)
    session = first.partition("#")[0]
    assert run.ok("log", "assistant", "two").out == f"{session}#2\n"
    run.ok("log", "end")
    assert run.ok("log", "user", "three").out.partition("#")[0] != session
    assert len(recorded(memory, session)) == 3


def test_a_new_session_ends_what_was_left_open(run: Runner, memory: Path) -> None:
    episodes = EpisodicMemory(memory.parent)
    episodes.log("old", "user", "x", at=datetime.now(UTC) - timedelta(hours=3))
    episodes.close()
    assert run.ok("log", "user", "new").out.partition("#")[0] != "old"
    assert recorded(memory, "old")[-1]["reason"] == "crash_recovery"


def test_json_names_the_place(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    found = run.ok("log", "user", "x", "--session", "s", "--json").json
    assert found == {"pointer": "s#1", "session": "s", "seq": 1}


def test_a_session_is_begun_with_its_title_and_where_it_comes_from(
    run: Runner, memory: Path
) -> None:
    parent = run.ok("log", "start", "--title", "Red CI").out.strip()
    child = ["log", "start", "child", "--parent", parent, "--parent-call", "c1"]
    assert run.ok(*child, "--json").json["session"] == "child"
    assert run.ok("log", "start", "child").out == "child\n"
    run.ok("log", "user", "hello")
    (listed, other) = run.ok("log", "--json").json
    assert (listed["id"], listed["parent"], listed["parent_call"]) == ("child", parent, "c1")
    assert (other["title"], other["first"]) == ("Red CI", "hello")
    assert memory.is_dir()


def test_a_session_with_the_uuid_of_a_conversation_goes_on(run: Runner, memory: Path) -> None:
    uuid = "0b0e6f60-9a2e-4c66-9c40-2b8f0c8b1b1f"
    assert run.ok("log", "start", "mine", "--conversation", uuid.upper()).out == "mine\n"
    assert run.ok("log", "start", "--conversation", uuid).out == "mine\n"
    run.ok("log", "user", "hello", "--session", "mine")
    assert [each["conversation"] for each in run.ok("log", "--json").json] == [uuid]
    assert uuid in run.ok("log", "show", "mine").out
    refused = run("log", "start", "--conversation", "me")
    assert refused.code == 2
    assert "is not a valid UUID" in refused.err
    assert memory.is_dir()


def test_nothing_is_left_of_a_session_in_which_nothing_was_said(run: Runner, memory: Path) -> None:
    run.ok("log", "start", "s")
    assert run.ok("log", "end").out == "Ended s; nothing was said in it, so nothing is kept\n"
    assert not (memory.parent / "episodes" / "s.jsonl").exists()


def test_a_session_ends_once(run: Runner, memory: Path) -> None:
    run.ok("log", "user", "x", "--session", "s")
    found = run.ok("log", "end", "s", "--reason", "reset", "--json").json
    assert found == {"session": "s", "reason": "reset", "kept": True}
    done = run("log", "end", "s")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("engramdown: s has ended already (reset, ")
    assert recorded(memory, "s")[-1]["reason"] == "reset"


@pytest.mark.usefixtures("memory")
def test_where_nothing_runs_there_is_nothing_to_end_or_to_follow(run: Runner) -> None:
    for command in ("end", "follow"):
        done = run("log", command)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("engramdown: no session runs; `engramdown log` lists")


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    "arguments, code, complaint",
    [
        pytest.param(["user"], 2, "engramdown log user: missing argument", id="no-text"),
        pytest.param(["user", ""], 1, "engramdown: the text is empty", id="empty"),
        pytest.param(["user", "-"], 1, "engramdown: the text is empty", id="empty-stdin"),
        pytest.param(
            ["user", "x", "--session", "../x"],
            2,
            "engramdown: session id '../x' may hold small letters a-z",
            id="unsafe",
        ),
        pytest.param(["start", "CON"], 2, "engramdown: session id 'CON'", id="device"),
        pytest.param(["usr", "x"], 2, "engramdown log: no command 'usr'; did you mean", id="typo"),
        pytest.param(
            ["20260227-10"],
            2,
            "engramdown log: no command '20260227-10'; did you mean `engramdown log show 2026",
            id="id",
        ),
        pytest.param(["tool_result", "--ms", "-1"], 2, "engramdown log tool_result: ", id="ms"),
        pytest.param(["end", "nowhere"], 1, "engramdown: no session in ", id="no-session"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_next_step(
    arguments: list[str], code: int, complaint: str, run: Runner
) -> None:
    done = run("log", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(complaint)
    assert done.err.count("\n") == 1


def test_a_tool_may_give_back_nothing(run: Runner, memory: Path) -> None:
    run.ok("log", "tool_call", "--session", "s", "--name", "ls")
    run.ok("log", "tool_result", "", "--session", "s")
    assert [line["text"] for line in recorded(memory, "s")] == ["", ""]


def test_without_a_project_it_goes_to_the_global_scope(run: Runner, isolated_home: Path) -> None:
    done = run("log", "user", "x")
    assert done.code == 1
    assert "run `engramdown init`" in done.err
    run.remember("--global", "Never push to main")
    run.ok("log", "user", "x", "--session", "s")
    assert (isolated_home / ".engramdown" / "episodes" / "s.jsonl").exists()
    assert run("log", "user", "x", "--project").code == 1


def test_a_project_records_in_the_global_scope_when_asked(
    run: Runner, memory: Path, isolated_home: Path
) -> None:
    run.ok("log", "user", "x", "--session", "s", "--global")
    assert (isolated_home / ".engramdown" / "episodes" / "s.jsonl").exists()
    assert not (memory.parent / "episodes").exists()
    assert run.ok("log", "--global", "--json").json[0]["id"] == "s"


def test_switched_off_it_says_so_and_reading_works(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.ok("log", "user", "x", "--session", "s")
    monkeypatch.setenv("ENGRAMDOWN_EPISODES", "off")
    for command in (["user", "y"], ["start"], ["end"]):
        done = run("log", *command)
        assert (done.code, done.out) == (1, "")
        assert "ENGRAMDOWN_EPISODES" in done.err
    assert len(recorded(memory, "s")) == 1
    run.ok("log", "show", "s")


def test_a_secret_in_what_a_tool_got_is_not_written(run: Runner, memory: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    run.ok("log", "tool_call", f"curl -H token:{secret}", "--session", "s")
    assert secret not in recorded(memory, "s")[0]["text"]


def test_what_cannot_be_written_is_an_error(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    run.ok("log", "user", "x", "--session", "s")
    monkeypatch.setattr(Disk, "write", full)
    for command in (["user", "y"], ["end", "s"]):
        done = run("log", *command)
        assert (done.code, done.out) == (3, "")
        assert done.err.startswith("engramdown: not recorded: [Errno 28] No space left on device")
    monkeypatch.undo()
    assert len(recorded(memory, "s")) == 1


def test_what_is_written_at_the_second_attempt_is_no_error(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Disk.write
    calls: list[int] = []

    def slow(disk: Disk, descriptor: int, data: bytes | memoryview) -> int:
        calls.append(descriptor)
        if len(calls) == 1:
            raise OSError(4, "Interrupted")
        return write(disk, descriptor, data)

    run.ok("log", "user", "x", "--session", "s")
    monkeypatch.setattr(Disk, "write", slow)
    found = run.ok("log", "user", "y", "--session", "s", "--json").json
    assert found == {"pointer": None, "session": "s", "seq": None}
    assert [line["text"] for line in recorded(memory, "s")] == ["x", "y"]


@pytest.mark.slow
def test_many_hooks_at_once_lose_nothing(child_env: dict[str, str], memory: Path) -> None:
    def record(number: int) -> None:
        command = ["engramdown", "log", "user", str(number), "--session", "s"]
        subprocess.run(command, env=child_env, check=True, stdout=subprocess.DEVNULL)

    threads = [threading.Thread(target=record, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = recorded(memory, "s")
    assert sorted(int(line["text"]) for line in lines) == list(range(8))
    assert [line["seq"] for line in lines] == list(range(1, 9))


def test_hooks_that_begin_at_once_begin_one_session(memory: Path) -> None:
    folder = memory.parent

    def begin(start: threading.Barrier) -> str:
        own = EpisodicMemory(folder)
        start.wait()
        session = own.running_or_new()
        own.log(session, "user", "x")
        own.close()
        return session

    for _ in range(5):
        start = threading.Barrier(6)
        with ThreadPoolExecutor(6) as pool:
            session, *others = pool.map(begin, [start] * 6)
        assert others == [session] * 5
        assert len(recorded(memory, session)) == 6
        EpisodicMemory(folder).end(session)


def test_a_reader_that_goes_away_does_not_matter(child_env: dict[str, str], memory: Path) -> None:
    assert memory.is_dir()
    command = "engramdown log user x --session s | true; engramdown log user y --session s"
    done = subprocess.run(
        ["bash", "-c", command], env=child_env, capture_output=True, check=True, encoding="utf-8"
    )
    assert (done.stdout, done.stderr) == ("s#2\n", "")


def test_an_empty_session_file_is_begun_and_nothing_is_in_the_way(
    run: Runner, memory: Path
) -> None:
    folder = memory.parent / "episodes"
    folder.mkdir()
    (folder / "s.jsonl").touch()
    then = time.time()
    os.utime(folder / "s.jsonl", (then, then))
    assert run.ok("log", "user", "x").out.partition("#")[0] != "s"
    assert run.ok("log", "user", "x", "--session", "s").out == "s#1\n"


@pytest.mark.usefixtures("memory")
def test_a_removed_command_names_what_takes_its_place(run: Runner) -> None:
    for name, instead in (("steps", "log tools"), ("ingest", "EpisodicMemory.ingest")):
        done = run("log", name)
        assert (done.code, done.out) == (2, "")
        assert instead in done.err
