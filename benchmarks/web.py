"""What a person waits for the page, as ratios within one run.

The yardstick of a start is importing the libraries that it needs. That of an answer is the library
call whose result it shows, in this process, on the same memory. An edit on disk is timed from the
moment it is saved to the event that a page hears. Each server runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex, Engram
from engramdown.storage import Disk
from engramdown.transcripts import Sessions, write_line
from engramdown.transcripts.episode import Episode, stamp
from engramdown.web import Keys

__all__ = ["main"]

STARTS: Final = 11
CALLS: Final = 30
EDITS: Final = 40
REQUESTS: Final = 10_000
MEMORIES: Final = 10_000
WAITING: Final = 100
LINES: Final = 100_000
ROOT: Final = Path(__file__).resolve().parent.parent
SERVE: Final = "import sys; from engramdown.cli.main import main; sys.exit(main(sys.argv[1:]))"
LIBRARIES: Final = "import uvicorn, starlette.applications, starlette.routing"


def main() -> None:
    """Measure starts, pages, edits and memory."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "home"
        os.environ["ENGRAMDOWN_HOME"] = str(home)
        small, large = Path(name) / "small", Path(name) / "large"
        _fill(small, 500, WAITING, 1_000)
        _fill(large, MEMORIES, 0, LINES)
        rows: list[tuple[str, ...]] = [("", "ms", "yardstick, ms", "ratio")]
        rows.append(_start(small))
        rows += _answers(small, large, home)
        more = _edits(small, home), _growth(small, home), _assets()
    notes = "\n".join(f"- {each}" for each in more)
    finish("web", f"{table(rows)}\n\n{notes}")


class Server:
    """A server that runs, and a connection to it."""

    def __init__(self, project: Path) -> None:
        """Start it and wait for its first answer."""
        words = ["-C", str(project), "serve", "--port", "0", "--json"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if self.process.stdout is None:
            raise RuntimeError("a process without a pipe")
        url = json.loads(self.process.stdout.readline())["url"]
        self.port = int(url[:-1].rpartition(":")[2])
        self._connection = HTTPConnection("127.0.0.1", self.port)
        self._headers: dict[str, str] = {}
        self.get("/")

    def sign_in(self, home: Path) -> None:
        """Show the key of a page from now on."""
        keys = Keys(home)
        key = keys.trade(keys.new_code())
        self._headers = {"Authorization": f"Bearer {key.secret}"} if key else {}

    def get(self, path: str) -> bytes:
        """Return what answers a path."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != 200:  # noqa: PLR2004 - as HTTP has it
            raise RuntimeError(f"{path}: {answer.status} {data[:200]!r}")
        return data

    def events(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and the data of events."""
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/v1/events", headers=self._headers)
        name = ""
        for line in connection.getresponse():
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "id" and not name:
                yield "ready", None
            if field == "event":
                name = value
            if field == "data":
                yield name, json.loads(value)

    def resident(self) -> int:
        """Return its memory in bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()


@contextmanager
def _running(project: Path, home: Path) -> Iterator[Server]:
    server = Server(project)
    try:
        server.sign_in(home)
        yield server
    finally:
        server.end()


def _start(project: Path) -> tuple[str, ...]:
    def libraries() -> None:
        subprocess.run([sys.executable, "-c", LIBRARIES], check=True)

    def start() -> None:
        process = Server(project).process
        process.kill()
        process.communicate()

    base, ours, ratio = paired(libraries, start, STARTS)
    return "start to first byte", ms(ours), ms(base), f"{ratio:.2f}"


def _answers(small: Path, large: Path, home: Path) -> Iterator[tuple[str, ...]]:
    for project, subjects in (
        (
            small,
            (
                (f"inbox of {WAITING}, with {500} memories", "/page/inbox", Cortex.pending),
                (f"`/v1/proposals`, {WAITING}", "/v1/proposals", Cortex.pending),
            ),
        ),
        (
            large,
            (
                (f"page of {MEMORIES:,} memories", "/page/memories", Cortex.entries),
                (f"`/v1/memories`, {MEMORIES:,}", "/v1/memories", Cortex.entries),
                (f"session of {LINES:,} lines", "/page/transcripts?session=long", _part),
                (f"its lines, `/v1`, {LINES:,}", "/v1/sessions/long/episodes", _part),
            ),
        ),
    ):
        cortex = Cortex.open(project)
        with _running(project, home) as server:
            for name, path, call in subjects:
                base, ours, ratio = paired(partial(call, cortex), partial(server.get, path), CALLS)
                yield name, ms(ours), ms(base), f"{ratio:.2f}"


def _part(cortex: Cortex) -> object:
    memory = cortex.episodes
    return memory and Sessions(memory.folder, Disk()).part("long", 1, 101)


def _edits(project: Path, home: Path) -> str:
    """Save lines in an editor, and wait for their events."""
    file = project / ".engramdown" / "memory" / "lessons.md"
    took = []
    with _running(project, home) as server:
        events = server.events()
        next(events)
        for number in range(EDITS):
            text = f"Saved in an editor, number {number}"
            began = time.perf_counter()
            with file.open("a", encoding="utf-8") as stream:
                stream.write(f"- {text}\n")
            next(True for _, data in events if data and data.get("text") == text)
            took.append(time.perf_counter() - began)
    p95 = statistics.quantiles(took, n=20)[-1]
    return (
        f"an edit on disk to its event: median {ms(statistics.median(took))} ms, p95 {ms(p95)} ms"
    )


def _growth(project: Path, home: Path) -> str:
    """Send many requests, and compare the memory of the process."""
    paths = ("/page/inbox", "/page/memories", "/v1/memories?limit=20", "/v1/stats", "/health")
    with _running(project, home) as server:
        sizes = []
        for number in range(REQUESTS):
            server.get(paths[number % len(paths)])
            if number in (REQUESTS // 10, REQUESTS - 1):
                sizes.append(server.resident() / 1e6)
    first, last = sizes
    return f"{REQUESTS:,} requests: {first:.1f} MB after a tenth of them, {last:.1f} MB at the end"


def _assets() -> str:
    folder = ROOT / "engramdown" / "web" / "static"
    size = sum(path.stat().st_size for path in folder.iterdir() if path.suffix in (".js", ".css"))
    return f"all assets: {size:,} bytes"


def _fill(project: Path, memories: int, waiting: int, lines: int) -> None:
    """Make a project with memories, proposals and a long session."""
    (project / ".engramdown").mkdir(parents=True)
    cortex = Cortex.open(project)
    cortex.encode(
        Engram(f"Lesson {number} about the harbour, which opens at {number}", "lesson", "project")
        for number in range(memories)
    )
    cortex.mode = "copilot"
    cortex.propose(
        Engram(f"Never moor at pier {number}", "never", "project", source="llm", unsaid=True)
        for number in range(waiting)
    )
    folder = project / ".engramdown" / "episodes"
    folder.mkdir(exist_ok=True)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    more = {"v": 1, "session": "long"}
    start = Episode(seq=0, ts=stamp(at), id="start", role="event", event="start", more=more)
    with (folder / "long.jsonl").open("wb") as file:
        file.write(write_line(start))
        for seq in range(1, lines + 1):
            role = "user" if seq % 2 else "assistant"
            ts = stamp(at + timedelta(seconds=seq))
            text = f"What opens at {seq}, and why does it not open before?"
            file.write(write_line(Episode(seq=seq, ts=ts, id=f"{seq}", role=role, text=text)))


if __name__ == "__main__":
    main()
