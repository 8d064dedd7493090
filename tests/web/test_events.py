"""Events: told as they happen, told again to who was away, and never without bound."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engramdown import Cortex, Engram
from engramdown.sleep import News
from engramdown.web import WorkerPool
from engramdown.web.events import MOST_CLIENTS, Events
from tests.conftest import PATIENCE
from tests.cortex.person import Person

pytestmark = pytest.mark.anyio


class Event(NamedTuple):
    """An event as a client reads it."""

    id: str
    name: str
    data: Any


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests with asyncio."""
    return "asyncio"


class Client:
    """Somebody who listens.

    Attributes:
        id: The last id that they heard.
    """

    def __init__(self, pieces: AsyncIterator[bytes], seen: str = "") -> None:
        """Listen to a stream, after the event ``seen``."""
        self._pieces = pieces
        self.id = seen

    async def hear(self) -> Event:
        """Return the next event."""
        fields = await self._read("event")
        return Event(self.id, fields["event"], json.loads(fields["data"]))

    async def settle(self) -> None:
        """Read until the client knows where it is."""
        await self._read("id")

    async def leave(self) -> None:
        """Stop listening."""
        await self._pieces.aclose()  # type: ignore[attr-defined]  # it is a generator

    async def _read(self, wanted: str) -> dict[str, str]:
        """Return the fields of the next piece that has ``wanted``."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(PATIENCE):
            while wanted not in fields:
                piece = (await anext(self._pieces)).decode()
                fields = dict(line.split(": ", 1) for line in piece.strip().split("\n"))
                self.id = fields.get("id", self.id)
        return fields


async def until(client: Client, text: str) -> list[Event]:
    """Return what a client hears until it hears a text."""
    heard = [await client.hear()]
    while heard[-1].data.get("text") != text:
        heard.append(await client.hear())
    return heard


@asynccontextmanager
async def running(cortex: Cortex) -> AsyncIterator[Events]:
    """Yield the events of a memory that is watched."""
    pool, events = WorkerPool(cortex), Events(cortex)
    try:
        async with events.running(pool):
            yield events
    finally:
        pool.close()


async def test_a_change_and_a_hand_edit_are_told(cortex: Cortex, project: Path) -> None:
    cortex.propose(Engram("Deploy on Mondays", "lesson", "project", source="user"))
    async with running(cortex) as events:
        client = Client(events.stream())
        await client.settle()
        await asyncio.to_thread(
            cortex.propose, Engram("Use uv, never pip", "lesson", "project", source="user")
        )
        learned = await client.hear()
        assert (learned.name, learned.data["what"]) == ("change", "learned")
        assert learned.data["text"] == "Use uv, never pip"
        assert f"project:{learned.data['step']}" in learned.id
        Person(project / ".engramdown").adds("lessons.md", "- Written in an editor")
        edited = await client.hear()
        assert (edited.data["by"], edited.data["text"]) == ("person", "Written in an editor")
        await client.leave()


async def test_a_pin_and_a_verify_are_told_with_their_memory(cortex: Cortex) -> None:
    entry = cortex.encode(Engram("Use uv", "lesson", "project", source="llm", topic="tools"))[0]
    async with running(cortex) as events:
        client = Client(events.stream())
        await client.settle()
        for note in (cortex.scopes.pin, cortex.scopes.verify):
            await asyncio.to_thread(note, entry.id)
            heard = await client.hear()
            assert (heard.name, heard.data["what"]) == ("change", "changed")
            assert (heard.data["id"], heard.data["text"]) == (entry.id, "Use uv")
        await client.leave()


async def test_who_was_away_hears_what_was_missed_once(cortex: Cortex) -> None:
    cortex.propose(Engram("Deploy on Mondays", "lesson", "project", source="user"))
    async with running(cortex) as events:
        before = Client(events.stream())
        await before.settle()
        await before.leave()
    cortex.propose(Engram("Use uv, never pip", "lesson", "project", source="user"))
    async with running(cortex) as events:
        client = Client(events.stream(before.id), before.id)
        assert (await client.hear()).data["text"] == "Use uv, never pip"
        await asyncio.to_thread(
            cortex.propose, Engram("Lunch is at noon", "lesson", "project", source="user")
        )
        assert (await client.hear()).data["text"] == "Lunch is at noon"
        again = Client(events.stream(client.id), client.id)
        await again.settle()
        assert again.id == client.id
        await again.leave()
        await client.leave()


@pytest.mark.parametrize("seen", ["project:00000000", "project:", "project:../../x,global:y"])
async def test_a_place_that_is_not_known_is_a_reset(cortex: Cortex, seen: str) -> None:
    for number in range(3):
        cortex.propose(Engram(f"Lesson number {number}", "lesson", "project", source="user"))
    async with running(cortex) as events:
        client = Client(events.stream(seen), seen)
        first = await client.hear()
        expected = "change" if seen == "project:" else "reset"
        assert first.name == expected
        await client.leave()


async def test_who_reads_too_slowly_hears_a_reset_and_then_goes_on(cortex: Cortex) -> None:
    async with running(cortex) as events:
        slow, fast = Client(events.stream()), Client(events.stream())
        for client in (slow, fast):
            await client.settle()
        for number in range(600):
            item = News("learned", str(number), scope="project", step=f"{number:08}")
            events._publish([item])
            await until(fast, str(number))
        heard = await until(slow, "599")
        assert [each.name for each in heard[:2]] == ["reset", "change"]
        assert heard[0].id <= heard[1].id
        assert len(heard) <= 256
        # What it was not told lies before the reset, and nothing after.
        texts = [each.data["text"] for each in heard[1:]]
        assert texts == [str(number) for number in range(600 - len(texts), 600)]
        for client in (slow, fast):
            await client.leave()


async def test_a_transcript_that_is_written_is_told(cortex: Cortex) -> None:
    async with running(cortex) as events:
        client = Client(events.stream())
        await client.settle()
        session = await asyncio.to_thread(cortex.session, "s1")
        await asyncio.to_thread(session.begin_turn, "hello")
        heard = await client.hear()
        assert (heard.name, heard.data) == ("session", {"session": "s1", "what": "begun"})
        await client.leave()


async def test_streams_end_with_the_server_and_leave_nothing(cortex: Cortex) -> None:
    async with running(cortex) as events:
        clients = [Client(events.stream()) for _ in range(MOST_CLIENTS)]
        for client in clients:
            await client.settle()
        before = events.is_full
        await clients[0].leave()
        assert (before, events.is_full) == (True, False)
        events.close()
        for client in clients[1:]:
            with pytest.raises(StopAsyncIteration):
                await client.hear()


async def test_who_has_no_key_any_more_hears_nothing_more(cortex: Cortex) -> None:
    counts = True
    async with running(cortex) as events:
        client = Client(events.stream("", lambda: counts))
        await client.settle()
        counts = False
        await asyncio.to_thread(
            cortex.propose, Engram("Use uv, never pip", "lesson", "project", source="user")
        )
        with pytest.raises(StopAsyncIteration):
            await client.hear()
