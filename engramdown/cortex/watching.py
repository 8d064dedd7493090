"""Hand edits taken in as they happen, and all that changes in memory told to a program.

Promises: what a person saves is taken in when it is whole, by the write protocol, and no other way;
lines that they ticked are carried out; while git is in the middle of something nothing is taken
for an edit; every step of the journal is told once, whoever made it; trouble is told when it comes
and when it goes, and ends nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.cortex.news import Deed, News, edited, news_of
from engramdown.errors import StoreError
from engramdown.forks import Event
from engramdown.gate.queue import Waiting
from engramdown.hippocampus.entry import find_lines
from engramdown.hippocampus.git_state import held_by
from engramdown.hippocampus.placement import as_entry, is_memory
from engramdown.hippocampus.snapshot import has_aliases
from engramdown.hippocampus.store import Hippocampus
from engramdown.hippocampus.watch import Watch
from engramdown.kinds import PENDING
from engramdown.markdown.document import Placed
from engramdown.recall.index_file import FILE
from engramdown.sleep.background import Background
from engramdown.storage.disk import Disk
from engramdown.transcripts import changes as transcripts

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.scopes import Scopes

__all__ = ["Watching"]

_BEAT: Final = 0.5
"""Seconds between two looks at which folders there are."""
_AGAIN: Final = 2.0
"""Seconds until what failed is tried again."""
_LONG: Final = 3.0
"""Seconds that git may take before it is told that it is waited for."""
_MANY: Final = 32
"""How many transcripts are looked at: those that were written last."""
_SHARE: Final = 10
"""The index of transcripts is kept up for a tenth of the time at most."""


class Watching(Background):
    """Watches memory in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        trouble: What keeps a scope from being looked at, or why the thread ended, or ``""``.
    """

    def __init__(
        self,
        scopes: Scopes,
        on_change: Callable[[list[News]], object],
        *,
        patience: float = 10,
    ) -> None:
        """Prepare to watch the scopes of ``scopes``.

        Args:
            scopes: Whose memory it is about; it is not used by the thread.
            on_change: Is given what happened, in the thread, after each look that found something.
            patience: For how many seconds the end of a ``with`` block waits for a look to end.

        Raises:
            StoreError: If no store has files.
        """
        super().__init__(scopes, "engramdown-watch", patience)
        if not scopes.stores:
            raise StoreError("nothing to watch: only a store of files can be watched")
        self._on_change = on_change
        self._watch: Watch | None = None

    def _work(self, scopes: Scopes, stopping: Event) -> None:
        waiting = scopes.queues()
        watched = [_Scope(store, waiting) for store in scopes.stores]
        index = _Index(scopes.episodes)
        memories = [store.memory for store in scopes.stores]
        folders = [folder for memory in memories for folder in (memory, memory / "topics")]
        try:
            watch = self._watch = Watch(folders)
            # From here on nothing escapes us.
            found = [News("watching", str(each.root), scope=each.scope) for each in watched]
            marked = True
            while not stopping.is_set():
                for scope in watched:
                    found += scope.look(marked=marked)
                self.trouble = "; ".join(each.trouble for each in watched if each.trouble)
                if found:
                    self._on_change(found)
                found = []
                index.keep_up()
                marked = watch.wait(_BEAT)
        finally:
            index.close()

    def _wake(self) -> None:
        if self._watch is not None:
            self._watch.wake()


class _Scope:
    """One store that is watched.

    Attributes:
        root: Its folder.
        scope: Its name.
        trouble: What keeps it from being looked at, or ``""``.
    """

    def __init__(self, store: Hippocampus, waiting: Waiting) -> None:
        self.trouble = ""
        self.root = store.root
        self.scope = store.scope
        self._store = store
        self._waiting = waiting
        self._disk = Disk()
        self._is_there = store.memory.is_dir()
        self._last: str | None = None
        self._due = True
        self._next = 0.0
        self._held = 0.0

    def look(self, *, marked: bool) -> Iterator[News]:
        """Yield what happened since the last look, if ``marked`` or there is anything left."""
        now = time.monotonic()
        self._due = self._due or marked
        if not self._due or now < self._next:
            return
        before = self.trouble
        try:
            found = list(self._found(now))
        except (StoreError, OSError) as error:
            self.trouble, self._next, found = str(error), now + _AGAIN, []
        if self.trouble != before:
            what: Deed = "trouble" if self.trouble else "mended"
            yield News(what, self.trouble or before, scope=self.scope)
        yield from found

    def _found(self, now: float) -> Iterator[News]:
        store = self._store
        self._next = 0.0
        if self._last is None:
            store.files.history.refresh()
            self._last = store.files.history.last
        if not store.memory.is_dir():
            # No event tells that it is back, if it comes back between two looks at the folders.
            self.trouble = f"{store.memory}: is gone; it is waited for" if self._is_there else ""
            return
        held = held_by(store.root, self._disk)
        if held is not None:
            # What git has not finished is no edit; it is looked at when it has.
            self._held = self._held or now
            if now - self._held >= _LONG:
                self.trouble = f"{held}: git has not finished; hand edits wait until it has"
                self._next = now + _AGAIN
            return
        if self._held:
            # Where it went it writes down only after it has let go.
            self._held = 0.0
            return
        if not self._is_there:
            self._is_there = True
            yield News("remark", f"{store.memory}: is there now", scope=self.scope)
        store.notice()
        troubles: list[str] = []
        self._waiting.apply_ticks(troubles.append, self.scope, remind=troubles.append)
        yield from self._told()
        self.trouble = "; ".join(troubles)
        self._due = False

    def _told(self) -> Iterator[News]:
        """Yield what the steps did that the journal has since it was last asked."""
        files = self._store.files
        steps = files.history.steps_after(self._last or "")
        news = list(news_of(steps, self.scope))
        wanted: dict[str, set[str]] = {}
        for item in news:
            wanted.setdefault(item.file, set()).add(item.id)
        placed = {
            (file, found): placed
            for file, ids in wanted.items()
            for found, placed in find_lines(files.document(file), ids).items()
        }
        told = (_placed(item, placed.get((item.file, item.id))) for item in news)
        spelled = {name: files.place(name).name for name in wanted if has_aliases(name)}
        for item in dict.fromkeys(told):
            yield item._replace(file=spelled.get(item.file, item.file))
        self._last = files.history.last


def _placed(item: News, placed: Placed | None) -> News:
    """Return ``item`` with its line; of a paragraph that is no memory, that the file was edited."""
    if placed is None:
        return item
    if item.file == PENDING:
        return item._replace(line=placed.line)
    if is_memory(item.file, placed):
        return item._replace(line=placed.line, kind=as_entry(item.file, "project", placed).kind)
    return edited(item)


class _Index:
    """The index of transcripts, kept up so that the next recall need not."""

    def __init__(self, memory: EpisodicMemory | None) -> None:
        self._memory = memory
        self._named = 0
        self._moment = 0
        self._running: dict[str, transcripts.FileState] = {}
        self._next = 0.0

    def keep_up(self) -> None:
        """Take in what was said, if there is an index."""
        now = time.monotonic()
        if self._memory is None or now < self._next:
            return
        folder = self._memory.folder
        cache = folder.parent / transcripts.CACHE
        if self._has_changed(folder, cache) and (cache / FILE).exists():
            self._memory.keep_up()
            self._next = now + _SHARE * (time.monotonic() - now)

    def _has_changed(self, folder: Path, cache: Path) -> bool:
        """Whether a transcript came or went, or one that is being written has grown."""
        self._named, names = transcripts.touched(cache, self._named)
        moment, before = transcripts.moment_of(folder), self._moment
        changed = transcripts.changed(folder, self._running)
        if moment != before:
            names += transcripts.listing(folder)
        if names or changed:
            looks = {
                name: transcripts.file_state(folder, name) for name in (*self._running, *names)
            }
            found = [(seen.changed, name, seen) for name, seen in looks.items() if seen]
            self._running = {name: seen for _, name, seen in sorted(found)[-_MANY:]}
        self._moment = moment
        return bool(changed) or moment != before

    def close(self) -> None:
        """Let go of the index."""
        if self._memory is not None:
            self._memory.close()
