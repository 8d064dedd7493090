"""What a test of the MCP server gets: a client beside a server, or one of another process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client

from engramdown import Cortex
from engramdown.mcp.server import MemoryServer, Offer
from engramdown.web import WorkerPool
from tests.conftest import ROOT

T = TypeVar("T")

ERAS: Final = ("legacy", "auto")
"""Clients from before July 2026, which begin with a handshake, and those since."""


class Asked:
    """A person in front of a client, who answers every form in one way.

    Attributes:
        seen: What they were asked.
    """

    def __init__(self, action: Any, **content: str) -> None:  # noqa: ANN401 - one of three words
        """Answer with ``action`` and the words of the form."""
        self.seen: list[types.ElicitRequestFormParams] = []
        self._answer = types.ElicitResult(action=action, content=dict(content) or None)

    async def __call__(self, context: object, params: Any) -> types.ElicitResult:  # noqa: ANN401
        """Answer a form."""
        del context
        self.seen.append(params)
        return self._answer


@contextlib.asynccontextmanager
async def beside(
    cortex: Cortex,
    era: str = "auto",
    elicit: ElicitationFnT | None = None,
    names: Sequence[str] | None = None,
    **offered: Any,  # noqa: ANN401 - what an offer has
) -> AsyncIterator[Client]:
    """Yield a client of a server in this process."""
    pool = WorkerPool(cortex)
    offer = Offer(cortex.tool_definitions("mcp", names), **offered)
    memory = MemoryServer(pool, offer)
    try:
        async with Client(memory.server, mode=era, elicitation_callback=elicit) as client:
            yield client
    finally:
        pool.close()


def run(work: Awaitable[T]) -> T:
    """Run something asynchronous to its end."""

    async def main() -> T:
        return await work

    return asyncio.run(main())


def said(result: types.CallToolResult) -> str:
    """Return what a tool answered."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def read(result: types.ReadResourceResult) -> str:
    """Return the text of a page."""
    (content,) = result.contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


class Served(NamedTuple):
    """A server over HTTP in its own process.

    Attributes:
        process: That it runs in.
        url: Where it is.
        token: What a client shows.
        project: Whose memory it serves.
        home: Where the global scope is.
    """

    process: subprocess.Popen[str]
    url: str
    token: str
    project: Path
    home: Path

    def texts(self) -> list[str]:
        """Return what is remembered."""
        return [entry.text for entry in Cortex.open(self.project, self.home).entries()]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2].partition("/")[0])

    @contextlib.asynccontextmanager
    async def client(
        self, era: str = "auto", elicit: ElicitationFnT | None = None
    ) -> AsyncIterator[Client]:
        """Yield a client of it."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=era, elicitation_callback=elicit) as client:
                yield client


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests with asyncio."""
    return "asyncio"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project without a memory yet."""
    folder = tmp_path / "project"
    (folder / ".engramdown").mkdir(parents=True)
    return folder


@pytest.fixture
def cortex(project: Path) -> Cortex:
    """Return the memory of a project."""
    return Cortex.open(project)


@pytest.fixture
def pipes(project: Path, child_env: dict[str, str]) -> Callable[..., StdioServerParameters]:
    """Return what says how a client starts a server for the project."""

    def parameters(*before: str, after: Sequence[str] = ()) -> StdioServerParameters:
        return StdioServerParameters(
            command="engramdown", args=[*before, "mcp", *after], env=child_env, cwd=project
        )

    return parameters


@contextlib.contextmanager
def serving(folder: Path, programs: Path) -> Iterator[Served]:
    """Serve a project in ``folder`` over HTTP; it ends with the ``with`` block."""
    project, home = folder / "project", folder / "home"
    (project / ".engramdown").mkdir(parents=True)
    search = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    env = {**os.environ, "ENGRAMDOWN_HOME": str(home), "PATH": search, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        ["engramdown", "--mode", "copilot", "mcp", "--http", "--port", "0"],
        env=env,
        cwd=project,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+/mcp", process.stderr.readline())
        assert found is not None
        token = (home / "mcp-token").read_text(encoding="utf-8").strip()
        yield Served(process, found[0], token, project, home)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Iterator[Served]:
    """Return a server over HTTP, which the tests of a file share."""
    with serving(tmp_path_factory.mktemp("served"), programs) as server:
        yield server
