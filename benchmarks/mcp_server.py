"""What an assistant waits for our MCP server, and what its tools cost in every prompt.

The yardstick is an empty server of the same SDK in the same run: one tool that returns an empty
text. First: from nothing to the first answer, a handshake, the list of tools and one recall, in a
new process. Then single calls of servers that run, spoken to line by line, so that no client is
measured. The memory holds two hundred lessons; a second project has ten thousand lines of
transcripts beside them, and the index of them, which is made before.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex, Engram, Hippocampus
from engramdown.tokens import estimate_tokens
from engramdown.transcripts.episode import Episode, stamp, write_line

__all__ = ["main"]

STARTS: Final = 15
CALLS: Final = 200
LESSONS: Final = 200
EPISODES: Final = 10_000
SESSION: Final = 25
ROOT: Final = Path(__file__).resolve().parent.parent
OURS: Final = "import sys; from engramdown.cli.main import main; sys.exit(main(['mcp']))"
EMPTY: Final = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty")
@server.tool()
def recall(query: str) -> str:
    "Search."
    return ""
server.run()
"""
HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
QUERY: Final = {"name": "recall", "arguments": {"query": "when does the harbour open"}}
KNOWN: Final = {"text": "Lesson 7 about the harbour, which opens at 7", "kind": "lesson"}

_number = itertools.count()


class Server:
    """A server that is spoken to line by line."""

    def __init__(self, program: str, folder: Path) -> None:
        """Start it in ``folder``."""
        env = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
        env |= {
            "ENGRAMDOWN_HOME": str(folder.parent / "home"),
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode"),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        """Shake hands."""
        self.ask("initialize", HELLO)
        self._say({"method": "notifications/initialized"})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it; how long that takes is not measured anywhere."""
        self._process.kill()
        self._process.communicate()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request."""
        self._say({"id": next(_number), "method": method, "params": params})
        found: dict[str, Any] = json.loads(_pipe(self._process.stdout).readline())
        result: dict[str, Any] = found["result"]
        return result

    def _say(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        _pipe(self._process.stdin).write(line)
        _pipe(self._process.stdin).flush()


_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"


def main() -> None:
    """Time starts and calls against the empty server, and count what the tools cost."""
    with tempfile.TemporaryDirectory() as name:
        plain, told = _project(Path(name) / "plain"), _project(Path(name) / "told")
        _say(told / ".engramdown" / "episodes")
        rows: list[tuple[str, ...]] = [("", "ms", "empty server, ms", "ratio")]
        rows += _starts(plain, told)
        rows += _calls(plain, told)
        tokens = _tokens(plain)
    note = (
        f"Medians of {STARTS} pairs of starts, each a handshake, `tools/list` and one `recall` in "
        f"a new process, and of {CALLS} pairs of calls. The yardstick of a call is that of the "
        "empty tool; both go through two pipes and JSON. `memorize` of something new is on the "
        "disk, fsync included, when it answers."
    )
    finish("mcp_server", f"{table(rows)}\n\n{note}\n\n{table(tokens)}")


def _starts(plain: Path, told: Path) -> list[tuple[str, ...]]:
    empty = _start(EMPTY, plain)
    rows: list[tuple[str, ...]] = []
    for name, folder in (("", plain), (f", {EPISODES:,} episodes", told)):
        base, ours, ratio = paired(empty, _start(OURS, folder), STARTS)
        rows.append((f"start to first answer{name}", ms(ours), ms(base), f"{ratio:.2f}"))
    return rows


def _start(program: str, folder: Path) -> Callable[[], object]:
    def run() -> None:
        with Server(program, folder) as server:
            server.ask("tools/list", {})
            server.ask("tools/call", QUERY)

    return run


def _calls(plain: Path, told: Path) -> list[tuple[str, ...]]:
    fresh = itertools.count()

    def new() -> dict[str, Any]:
        told = {"text": f"Something new, number {next(fresh)}", "kind": "lesson"}
        return {"name": "memorize", "arguments": told}

    subjects: list[tuple[str, Path, str, Callable[[], dict[str, Any]]]] = [
        ("`recall`", plain, "tools/call", lambda: QUERY),
        (f"`recall`, {EPISODES:,} episodes", told, "tools/call", lambda: QUERY),
        ("`review`", plain, "tools/call", lambda: {"name": "review", "arguments": {}}),
        (
            *("`memorize`, known already", plain, "tools/call"),
            lambda: {"name": "memorize", "arguments": KNOWN},
        ),
        ("`memorize`", plain, "tools/call", new),
        ("`memory://lessons`", plain, "resources/read", lambda: {"uri": "memory://lessons"}),
        ("prompt `memory`", plain, "prompts/get", lambda: {"name": "memory"}),
    ]
    rows: list[tuple[str, ...]] = []
    with Server(EMPTY, plain) as empty:
        for name, folder, method, params in subjects:
            with Server(OURS, folder) as ours:
                call = partial(_call, ours, method, params)
                base, subject, ratio = paired(lambda: empty.ask("tools/call", QUERY), call, CALLS)
            rows.append((name, ms(subject), ms(base), f"{ratio:.2f}"))
    return rows


def _call(server: Server, method: str, params: Callable[[], dict[str, Any]]) -> object:
    return server.ask(method, params())


def _tokens(plain: Path) -> list[tuple[str, ...]]:
    with Server(OURS, plain) as server:
        tools = server.ask("tools/list", {})["tools"]
    costs = [(f"`{tool['name']}`", _cost(tool)) for tool in tools]
    rows = [("tool, as a client gets it", "tokens")]
    rows += [(name, f"{cost:,}") for name, cost in costs]
    return [*rows, ("all", f"{sum(cost for _, cost in costs):,}")]


def _cost(tool: dict[str, Any]) -> int:
    return estimate_tokens(json.dumps(tool))


def _project(folder: Path) -> Path:
    project = folder / "project"
    Hippocampus(project / ".engramdown").encode(
        Engram(f"Lesson {number} about the harbour, which opens at {number}", "lesson", "project")
        for number in range(LESSONS)
    )
    return project


def _say(folder: Path) -> None:
    """Write transcripts, the same every time, and the index of them."""
    folder.mkdir()
    dice = random.Random(1)
    known = [f"w{number:x}" for number in range(5_000)] + ["boat", "harbour", "opens"]
    for session in range(EPISODES // SESSION):
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=37 * session)
        more = {"v": 1, "session": f"s{session:04d}"}
        start = Episode(seq=0, ts=stamp(at), id="start", role="event", event="start", more=more)
        lines = [write_line(start)]
        for seq in range(1, SESSION + 1):
            text = " ".join(dice.choices(known, k=20))
            ts = stamp(at + timedelta(seconds=20 * seq))
            role = "user" if seq % 2 else "assistant"
            lines.append(write_line(Episode(seq=seq, ts=ts, id=f"{seq}", role=role, text=text)))
        (folder / f"s{session:04d}.jsonl").write_bytes(b"".join(lines))
    Cortex.open(folder.parent).use_tool("recall", QUERY["arguments"])


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("a process without a pipe")
    return stream


if __name__ == "__main__":
    main()
