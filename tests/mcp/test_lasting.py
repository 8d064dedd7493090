"""However many calls come, a server stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mcp.by_hand import ByHand


def grown(env: dict[str, str], project: Path, calls: int) -> tuple[tuple[int, ...], ...]:
    """Return memory in KB, descriptors and threads of a server half way through and at the end."""
    server = ByHand(env, project)
    try:
        server.begin()
        # What it keeps to be quick has a limit, and is there by then.
        _call_all(server, calls // 2)
        before = _size(server.process.pid)
        _call_all(server, calls // 2)
        return before, _size(server.process.pid)
    finally:
        server.process.kill()
        server.process.communicate()


def _call_all(server: ByHand, calls: int) -> None:
    told = {"text": "Said again and again", "kind": "lesson"}
    kinds: Sequence[tuple[str, dict[str, object]]] = (
        ("tools/call", {"name": "recall", "arguments": {"query": "said again"}}),
        ("tools/call", {"name": "memorize", "arguments": told}),
        ("tools/call", {"name": "forget", "arguments": {"id": "nothing"}}),
        ("resources/read", {"uri": "memory://lessons"}),
        ("prompts/get", {"name": "memory"}),
    )
    for number in range(calls):
        method, params = kinds[number % len(kinds)]
        server.ask(number + 1, method, **params)
        assert server.hear()["id"] == number + 1


def _size(pid: int) -> tuple[int, ...]:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    facts = dict(row.split(":", 1) for row in status.split("\n") if ":" in row)
    files = len([*Path(f"/proc/{pid}/fd").iterdir()])
    return int(facts["VmRSS"].split()[0]), files, int(facts["Threads"])


@pytest.mark.slow
def test_calls_leave_nothing_behind(project: Path, child_env: dict[str, str]) -> None:
    _stays(grown(child_env, project, 500))


@pytest.mark.soak
def test_thousands_of_calls_leave_nothing_behind(
    project: Path, child_env: dict[str, str], soak_seconds: float
) -> None:
    calls = int(min(10_000, 1_000 * max(1, soak_seconds)))
    _stays(grown(child_env, project, calls))


def _stays(sizes: tuple[tuple[int, ...], ...]) -> None:
    """A pool of threads may have one more where two calls overlapped; a leak has one a call."""
    (memory, files, threads), (memory_later, files_later, threads_later) = sizes
    assert files_later == files
    assert threads_later <= threads + 2
    assert memory_later - memory < 4_000, f"from {memory} KB to {memory_later} KB"
