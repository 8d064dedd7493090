"""Tells clients that listen which pages changed.

Promises: a page is told of once somebody, with whatever program, has changed a file of memory; as
long as nobody listens nothing is looked at, and a look costs a stat of a few files.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)

from engramdown.mcp import pages
from engramdown.mcp.hands import Hand

__all__ = ["Changes"]

_PAUSE: Final = 1.0
_CONTEXT: Final = "memory://context"
_FILES: Final = {
    "rules.md": "memory://rules",
    "lessons.md": "memory://lessons",
    "profile.md": "memory://profile",
    "user.md": "memory://profile",
    "pending.md": "memory://pending",
    "soul.md": _CONTEXT,
}
_Seen = Mapping[str, tuple[tuple[str, int, int, int], ...]]


class Changes(InMemorySubscriptionBus):
    """What clients listen to."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Look at memory folders."""
        super().__init__()
        self._memories = tuple(folders)
        self._listening = 0
        self._wanted = asyncio.Event()
        self._seen: _Seen = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Tell ``listener`` of what changes from now on, until what is returned is called."""
        leave = super().subscribe(listener)
        if not self._listening:
            # Now, not a moment later: what changes from here on is told.
            self._seen = self._look()
        self._listening += 1
        self._wanted.set()
        left = False

        def unsubscribe() -> None:
            nonlocal left
            leave()
            self._listening -= not left
            left = True

        return unsubscribe

    async def watch(self) -> None:
        """Look again and again while anybody listens; never returns."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            hand = Hand("engramdown-mcp-changes")
            try:
                await self._tell(hand)
            finally:
                hand.end()

    async def _tell(self, hand: Hand) -> None:
        while self._listening:
            await asyncio.sleep(_PAUSE)
            now = await hand.begin(self._look)
            events, self._seen = _events(self._seen, now), now
            for event in events:
                await self.publish(event)

    def _look(self) -> _Seen:
        """Return what tells one state of each page from another."""
        found: dict[str, list[tuple[str, int, int, int]]] = {}
        for folder in self._memories:
            for path in _files(folder):
                uri = _page(path, folder)
                if uri:
                    try:
                        state = path.stat()
                    except OSError:
                        continue
                    told = (str(path), state.st_mtime_ns, state.st_size, state.st_ino)
                    found.setdefault(uri, []).append(told)
        return {uri: tuple(sorted(each)) for uri, each in found.items()}


def _files(folder: Path) -> Iterable[Path]:
    for place in (folder, folder / "topics"):
        try:
            with os.scandir(place) as found:
                paths = [Path(each.path) for each in found if each.is_file(follow_symlinks=False)]
        except OSError:
            continue
        yield from paths


def _page(path: Path, folder: Path) -> str:
    """Return the address of the page that a file is shown on, or ``""``."""
    if path.parent != folder:
        return pages.address(pages.TOPIC, path.stem) if path.suffix == ".md" else ""
    return _FILES.get(path.name.casefold(), "")


def _events(before: _Seen, now: _Seen) -> list[ServerEvent]:
    changed = {uri for uri in (*before, *now) if before.get(uri) != now.get(uri)}
    if changed - {"memory://pending"}:
        changed.add(_CONTEXT)
    events: list[ServerEvent] = [ResourceUpdated(uri=uri) for uri in sorted(changed)]
    if {uri for uri in before if uri.startswith(pages.TOPIC)} != {
        uri for uri in now if uri.startswith(pages.TOPIC)
    }:
        events.append(ResourcesListChanged())
    return events
