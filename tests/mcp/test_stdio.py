"""A server at the other end of two pipes, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from mcp import Client, StdioServerParameters

from engramdown import Cortex
from engramdown.storage.locks import ScopeLock
from tests.conftest import ROOT
from tests.mcp.by_hand import HELLO, ByHand, pipe
from tests.mcp.conftest import ERAS, Asked, run, said

pytestmark = pytest.mark.anyio

Pipes = Callable[..., StdioServerParameters]


@pytest.fixture
def by_hand(project: Path, child_env: dict[str, str]) -> Iterator[ByHand]:
    """Return a server that is spoken to line by line."""
    server = ByHand(child_env, project)
    yield server
    server.process.kill()
    server.process.communicate()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Iterator[ByHand]:
    """Return a server that has shaken hands, which some tests share."""
    folder = tmp_path_factory.mktemp("shared")
    search = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    more = {"ENGRAMDOWN_HOME": str(folder / "home"), "PATH": search, "PYTHONPATH": str(ROOT)}
    server = ByHand({**os.environ, **more}, folder)
    server.begin()
    yield server
    server.process.kill()
    server.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_starts_it_and_uses_all_of_it(pipes: Pipes, project: Path, era: str) -> None:
    asked = Asked("accept")
    async with Client(pipes("--mode", "copilot"), mode=era, elicitation_callback=asked) as it:
        assert len((await it.list_tools()).tools) > 4
        told = {"text": "Say the word", "kind": "always"}
        assert "Remembered" in said(await it.call_tool("memorize", told))
        (known,) = Cortex.open(project).entries()
        assert "Forgotten" in said(await it.call_tool("forget", {"id": known.id}))
        assert len((await it.list_resources()).resources) == 4
        assert (await it.read_resource("memory://rules")).contents
        assert (await it.get_prompt("memory")).messages
    assert len(asked.seen) == 1
    assert Cortex.open(project).entries() == []


@pytest.mark.slow
async def test_several_clients_that_write_at_once_lose_nothing(pipes: Pipes, project: Path) -> None:
    async def write(name: int) -> None:
        async with Client(pipes(), mode=ERAS[name % 2]) as client:
            for number in range(8):
                told = {"text": f"Client {name} said {number}", "kind": "lesson"}
                assert "Remembered" in said(await client.call_tool("memorize", told))

    await asyncio.gather(*(write(name) for name in range(3)))
    texts = {entry.text for entry in Cortex.open(project).entries()}
    assert texts == {f"Client {name} said {number}" for name in range(3) for number in range(8)}


@pytest.mark.slow
def test_a_client_hears_that_a_call_is_worked_on(pipes: Pipes, project: Path) -> None:
    """Not how long it takes: the call waits for a lock that is let go of when the client heard."""
    memory = project / ".engramdown" / "memory"
    memory.mkdir()

    async def work(era: str) -> None:
        heard = asyncio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            assert progress > 0
            assert total is None
            assert message is not None
            assert message.startswith("memorize: at work for")
            heard.set()

        told = {"text": f"Slowly in {era}", "kind": "lesson"}
        async with Client(pipes(), mode=era) as client:
            with ScopeLock(memory / ".lock", 10).hold():
                call = asyncio.ensure_future(
                    client.call_tool("memorize", told, progress_callback=hear)
                )
                await heard.wait()
                assert not call.done()
            assert "Remembered" in said(await call)

    run(work("legacy"))  # Over HTTP, clients of both eras hear of it.


@pytest.mark.slow
async def test_a_call_that_is_given_up_leaves_the_server_well(pipes: Pipes, project: Path) -> None:
    memory = project / ".engramdown" / "memory"
    memory.mkdir()
    async with Client(pipes(), mode="legacy") as client:
        with ScopeLock(memory / ".lock", 10).hold():
            heard = asyncio.Event()

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                heard.set()

            told = {"text": "Given up", "kind": "lesson"}
            calls = [
                asyncio.ensure_future(client.call_tool("memorize", told, progress_callback=hear))
                for _ in range(12)
            ]
            await heard.wait()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        told = {"text": "Carried on", "kind": "lesson"}
        assert "Remembered" in said(await client.call_tool("memorize", told))
    texts = [entry.text for entry in Cortex.open(project).entries()]
    assert sorted(set(texts)) == sorted(texts)
    assert "Carried on" in texts


DIES: Final = """
import json, subprocess, sys, time
server = subprocess.Popen(["engramdown", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def say(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    server.stdin.flush()
hello = json.loads(sys.argv[1])
say(id=0, method="initialize", params=hello)
server.stdout.readline()
say(method="notifications/initialized")
told = {"name": "memorize", "arguments": {"text": "Said by who died", "kind": "lesson"}}
say(id=1, method="tools/call", params={**told, "_meta": {"progressToken": 1}})
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_a_client_that_is_killed_in_a_call_leaves_no_server_and_no_lock(
    project: Path, child_env: dict[str, str]
) -> None:
    memory = project / ".engramdown" / "memory"
    memory.mkdir()
    with ScopeLock(memory / ".lock", 10).hold():
        client = subprocess.Popen(
            [sys.executable, "-c", DIES, json.dumps(HELLO)],
            env=child_env,
            cwd=project,
            stdout=subprocess.PIPE,
        )
        # It has heard that the call is worked on.
        server = int(pipe(client.stdout).readline())
        client.kill()
        client.communicate()
    while _runs(server):
        time.sleep(0.01)
    cortex = Cortex.open(project)
    assert [entry.text for entry in cortex.entries()] in ([], ["Said by who died"])
    cortex.scopes.project_hc.encode_lesson("Nobody holds the lock")


def _runs(pid: int) -> bool:
    """Whether a process runs; one that ended and that nobody asked after does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.parametrize(
    "signal_number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=["ctrl-c", "term"]
)
def test_a_signal_ends_it_although_it_waits_for_input(
    by_hand: ByHand, signal_number: int, code: int
) -> None:
    by_hand.begin()
    by_hand.process.send_signal(signal_number)
    assert by_hand.process.wait(timeout=30) == code
    out, err = by_hand.process.communicate()
    assert out == b""
    assert b"Traceback" not in err


@pytest.mark.slow
@pytest.mark.parametrize(
    "signal_number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=["ctrl-c", "term"]
)
def test_a_signal_ends_it_while_messages_come(
    by_hand: ByHand, project: Path, signal_number: int, code: int
) -> None:
    by_hand.begin()
    for number in range(20):
        told = {"text": f"The {number}. of them", "kind": "lesson"}
        by_hand.ask(number, "tools/call", name="memorize", arguments=told)
    by_hand.process.send_signal(signal_number)
    out, err = by_hand.process.communicate(timeout=30)
    assert by_hand.process.returncode == code
    assert b"Traceback" not in err
    # What was acknowledged is there.
    assert len(Cortex.open(project).entries()) >= out.count(b"Remembered")


@pytest.mark.slow
def test_the_end_of_the_input_ends_it(by_hand: ByHand, project: Path) -> None:
    by_hand.begin()
    told = {"text": "The last word", "kind": "lesson"}
    by_hand.ask(1, "tools/call", name="memorize", arguments=told)
    code, _, err = by_hand.end()
    assert (code, err) == (0, b"")
    assert [entry.text for entry in Cortex.open(project).entries()] in ([], ["The last word"])


@pytest.mark.slow
def test_an_error_of_a_client_is_an_answer_and_no_line_to_answer(
    project: Path, child_env: dict[str, str]
) -> None:
    server = ByHand(child_env, project, "--mode", "copilot")
    server.ask(0, "initialize", **{**HELLO, "capabilities": {"elicitation": {}}})
    server.hear()
    told = {"text": f"The bucket's key is AKIA{'IOSFODNN7EXAMPL7'}", "kind": "lesson"}
    server.ask(1, "tools/call", name="memorize", arguments=told)
    asked = server.hear()
    assert asked["method"] == "elicitation/create"
    error = {"code": -32601, "message": "there is no window"}
    server.say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode())
    answered = server.hear()
    assert answered["id"] == 1
    assert "has not decided" in answered["result"]["content"][0]["text"]
    assert server.end()[0] == 0


@pytest.mark.slow
def test_a_long_text_comes_back_as_an_answer(shared: ByHand) -> None:
    text = "long " * 100_000
    shared.ask(1, "tools/call", name="memorize", arguments={"text": text, "kind": "lesson"})
    answer = shared.hear()["result"]
    assert answer["isError"] is True
    assert len(answer["content"][0]["text"]) < 2_000
    shared.ask(2, "tools/call", name="recall", arguments={"query": text})
    assert shared.hear()["id"] == 2


@pytest.mark.slow
def test_nothing_else_is_ever_printed(project: Path, child_env: dict[str, str]) -> None:
    """What a handler prints, and what a child prints, goes to stderr."""
    noisy = (
        "import sys, subprocess\n"
        "from engramdown.cortex.cortex import Cortex\n"
        "from engramdown.cortex.tools import Answer\n"
        "def use(self, name, arguments):\n"
        "    print('noise')\n"
        "    child = subprocess.run(['cat'], capture_output=True)\n"
        "    subprocess.run(['echo', 'more'])\n"
        "    return Answer(repr(child.stdout))\n"
        "Cortex.use_tool = use\n"
        "from engramdown.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    server = ByHand(child_env, project, program=[sys.executable, "-c", noisy])
    server.begin()
    server.ask(1, "tools/call", name="review")
    assert server.hear()["result"]["content"][0]["text"] == "b''"
    code, out, err = server.end()
    assert (code, out) == (0, b"")
    assert sorted(err.split()) == [b"more", b"noise"]
