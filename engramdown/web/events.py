"""What happens to memory, told to clients as it happens: server-sent events.

One thread watches memory for all clients. Each client has a queue of its own; to one that reads too
slowly only ``reset`` is told, so that it loads anew what it shows, and memory stays bounded. The id
of an event names the last step of each scope: a client that was away says it, and hears what it
missed from the journal, or ``reset`` if that is too much. What happens to transcripts is no step,
and is not told again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.errors import EngramdownError
from engramdown.serializers import folders, news_data
from engramdown.transcripts import SUFFIX
from engramdown.web.problems import encoded
from engramdown.web.workers import WorkerPool

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.sleep import News, Watching

MOST_CLIENTS: Final = 16
# Events that wait for one client.
_MOST_WAITING: Final = 256
# Seconds after which a client hears that the server is there.
_BEAT: Final = 15.0
# Seconds between two looks at the transcripts, which take a hundredth of the time at most.
_LOOK: Final = 0.5
_SHARE: Final = 100
# Milliseconds after which a browser comes back.
_RETRY: Final = 1_000
# Seconds that the end waits for a look at memory.
_PATIENCE: Final = 2.0
_NAMES: Final = {
    **dict.fromkeys(("asked", "approved", "declined"), "proposal"),
    **dict.fromkeys(("trouble", "mended", "remark"), "trouble"),
}
# The last step of each scope.
_Steps = dict[str, str]
# The size and the time of each transcript.
_Files = dict[str, tuple[int, int]]


class _Event(NamedTuple):
    """An event as it is sent, and the scope and the step that it tells of."""

    data: bytes
    step: tuple[str, str] = ("", "")


class Events:
    """The events of a server."""

    def __init__(self, cortex: Cortex) -> None:
        """Tell of the memory of ``cortex``."""
        self._cortex = cortex
        self._queues: set[asyncio.Queue[_Event | None]] = set()
        self._steps: _Steps = {}
        self._pool: WorkerPool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_watched = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether no more clients can listen."""
        return len(self._queues) >= MOST_CLIENTS

    @contextlib.asynccontextmanager
    async def running(self, pool: WorkerPool) -> AsyncIterator[None]:
        """Watch memory for the length of a ``with`` block; ``pool`` reads the journals."""
        self._loop = asyncio.get_running_loop()
        self._pool = pool
        # No request waits for it.
        task = asyncio.ensure_future(self._watch(pool))
        try:
            yield
        finally:
            self.close()
            task.cancel()
            await asyncio.wait([task])

    def close(self) -> None:
        """End all streams; may be called from a signal handler."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._is_watched.set)
            self._loop.call_soon_threadsafe(self._send, None)

    async def stream(
        self, seen: str = "", may_listen: Callable[[], bool] = lambda: True
    ) -> AsyncIterator[bytes]:
        """Yield events for a client, until it leaves or the server ends.

        Args:
            seen: The id of the last event that the client saw.
            may_listen: Whether its key counts still.
        """
        if self._pool is None:
            return
        queue: asyncio.Queue[_Event | None] = asyncio.Queue(_MOST_WAITING)
        self._queues.add(queue)
        try:
            yield f"retry: {_RETRY}\n\n".encode()
            # What changed before is not told, and whoever begins now has seen it.
            await self._is_watched.wait()
            steps = _as_steps(seen)
            missed = await self._pool.run(lambda worker: _missed(worker.cortex, steps))
            if missed is None:
                yield _reset(self._steps)
            told: set[tuple[str, str]] = set()
            for item in missed or ():
                event = self._event(item, steps)
                told.add(event.step)
                yield event.data
            # So that a client that hears of nothing knows where it is.
            yield f"id: {_as_id({**self._steps, **(steps if missed else {})})}\n\n".encode()
            while True:
                try:
                    async with asyncio.timeout(_BEAT):
                        next_event = await queue.get()
                except TimeoutError:
                    next_event = _Event(b": still here\n\n")
                if next_event is None or not may_listen():
                    return
                if next_event.step not in told:
                    yield next_event.data
        finally:
            self._queues.discard(queue)

    def _publish(self, news: Iterable[News]) -> None:
        for item in news:
            if item.what == "watching":
                self._is_watched.set()
            else:
                self._send(self._event(item, self._steps))

    def _event(self, item: News, steps: _Steps) -> _Event:
        """Return what is sent for a piece of news, after noting its step in ``steps``."""
        step = (item.scope, item.step) if item.step else ("", "")
        if item.step:
            steps[item.scope] = item.step
        data = news_data(item, folders(self._cortex))
        return _Event(_encoded(_NAMES.get(item.what, "change"), data, steps), step)

    def _send(self, event: _Event | None) -> None:
        """Put an event, or the end, into every queue; a full queue holds only a reset then."""
        for queue in self._queues:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(_Event(_reset(self._steps)))
                if event is not None:
                    continue
            queue.put_nowait(event)

    async def _watch(self, pool: WorkerPool) -> None:
        """Watch memory in a thread, and transcripts here."""
        loop = asyncio.get_running_loop()

        def tell(news: list[News]) -> None:
            with contextlib.suppress(RuntimeError):  # The loop may be gone.
                loop.call_soon_threadsafe(self._publish, news)

        def begin() -> Watching:
            return self._cortex.worker.watch(tell).start()

        memory = self._cortex.episodes
        known = _files(memory.folder) if memory else {}
        # First, as who listens is told where it is.
        with contextlib.suppress(EngramdownError, OSError):  # The watching says why.
            self._steps = await pool.run(lambda worker: _last_steps(worker.cortex))
        beginning = asyncio.ensure_future(asyncio.to_thread(begin))
        try:
            await self._watch_transcripts(await asyncio.shield(beginning), known)
        except (EngramdownError, OSError) as error:
            self._tell_trouble(str(error))
        finally:
            # However early it ends: no thread is left behind.
            await asyncio.wait([beginning])
            if not beginning.exception():
                await asyncio.to_thread(beginning.result().stop, _PATIENCE)

    def _tell_trouble(self, why: str) -> None:
        """Tell that memory is not watched (any more)."""
        self._is_watched.set()
        data = {"what": "trouble", "text": why}
        self._send(_Event(_encoded("trouble", data, self._steps)))

    async def _watch_transcripts(self, watching: Watching, known: _Files) -> None:
        """Tell which transcripts are not as ``known``, and if memory is no longer watched."""
        memory, is_told = self._cortex.episodes, False
        while True:
            began = time.monotonic()
            now = await asyncio.to_thread(_files, memory.folder) if memory else {}
            for data in _differences(known, now):
                self._send(_Event(_encoded("session", data, self._steps)))
            known = now
            if not watching.is_running and not is_told:
                is_told = True
                self._tell_trouble(watching.trouble or "memory is not watched")
            await asyncio.sleep(max(_LOOK, (time.monotonic() - began) * _SHARE))


def _encoded(name: str, data: object, steps: _Steps) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (
        _as_id(steps).encode(),
        name.encode(),
        encoded(data),
    )


def _reset(steps: _Steps) -> bytes:
    return _encoded("reset", {}, steps)


def _as_id(steps: _Steps) -> str:
    return ",".join(f"{scope}:{step}" for scope, step in sorted(steps.items()))


def _as_steps(text: str) -> _Steps:
    """Return what an id says; an id that is none of ours says nothing."""
    parts = [part.partition(":") for part in text.split(",") if ":" in part]
    return {scope: step for scope, _, step in parts}


def _last_steps(cortex: Cortex) -> _Steps:
    steps: _Steps = {}
    for store in cortex.scopes.stores:
        store.files.history.refresh()
        steps[store.scope] = store.files.history.last
    return steps


def _missed(cortex: Cortex, steps: _Steps) -> list[News] | None:
    """Return what happened after ``steps``, or ``None`` if that is too much or not known."""
    # Imported here: no start waits for it.
    from engramdown.sleep import news_of

    news: list[News] = []
    for scope, last in _last_steps(cortex).items() if steps else ():
        if steps.get(scope, last) == last:
            continue
        store = next(store for store in cortex.scopes.stores if store.scope == scope)
        later = store.files.history.steps_after(steps[scope])
        if not later or len(later) > _MOST_WAITING:
            return None
        news += news_of(later, scope)
    return news


def _files(folder: Path) -> _Files:
    """Return the transcripts in a folder."""
    found: _Files = {}
    with contextlib.suppress(OSError), os.scandir(folder) as items:
        for item in items:
            if item.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    status = item.stat(follow_symlinks=False)
                    found[item.name.removesuffix(SUFFIX)] = status.st_size, status.st_mtime_ns
    return found


def _differences(before: _Files, now: _Files) -> Iterator[dict[str, Any]]:
    """Yield which transcripts began, were written or went."""
    for session in sorted({*before, *now}):
        old, new = before.get(session), now.get(session)
        if old != new:
            what = "written" if old and new else "begun" if new else "gone"
            yield {"session": session, "what": what}
