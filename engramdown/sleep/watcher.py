"""Watches memory files: takes in hand edits as they happen, and reports every change.

A save is taken in once it is whole, through the write protocol. Ticked lines are carried out. While
git is in the middle of something, nothing counts as an edit. Every step of the journal is reported
once, whoever made it, and trouble is reported when it comes and when it goes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from engramdown.errors import StoreError
from engramdown.forks import Event
from engramdown.gate.intake import Waiting
from engramdown.hippocampus import Change, Hippocampus, Step, raw_entries
from engramdown.hippocampus.entry import as_entry, entry_id, find_lines, is_memory, split_task
from engramdown.hippocampus.git_state import held_by
from engramdown.hippocampus.snapshot import has_aliases
from engramdown.kinds import ARCHIVE, ASIDE, PENDING
from engramdown.markdown import is_address, parse
from engramdown.recall.index_file import FILE
from engramdown.secrets.redaction import redact
from engramdown.sleep.background import Background
from engramdown.storage.disk import Disk
from engramdown.transcripts import changes as transcripts

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.scopes import Scopes

# Seconds between two looks at which folders there are.
_BEAT: Final = 0.5
# Seconds until what failed is tried again.
_AGAIN: Final = 2.0
# Seconds that git may take before it is told that it is waited for.
_LONG: Final = 3.0
# How many transcripts are looked at: those that were written last.
_MANY: Final = 32
# The index of transcripts is kept up for a tenth of the time at most.
_SHARE: Final = 10


class Watching(Background):
    """Watches memory in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        trouble: What keeps a scope from being looked at, or why the thread ended, or ``""``.
    """

    def __init__(
        self, scopes: Scopes, on_change: Callable[[list[News]], object], *, patience: float = 10
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
            found = [News("watching", str(each.root), scope=each.scope) for each in scopes.stores]
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


@dataclass(slots=True)
class _Scope:
    """One store that is watched.

    Attributes:
        trouble: What keeps it from being looked at, or ``""``.
    """

    store: Hippocampus
    waiting: Waiting
    trouble: str = ""
    _is_there: bool = field(init=False)
    _last: str | None = None
    _due: bool = True
    _next: float = 0.0
    _held: float = 0.0

    def __post_init__(self) -> None:
        self._is_there = self.store.memory.is_dir()

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
            yield News(what, self.trouble or before, scope=self.store.scope)
        yield from found

    def _found(self, now: float) -> Iterator[News]:
        store, history = self.store, self.store.files.history
        self._next = 0.0
        if self._last is None:
            history.refresh()
            self._last = history.last
        if not store.memory.is_dir():
            # No event tells that it is back, if it comes back between two looks at the folders.
            self.trouble = f"{store.memory}: is gone; it is waited for" if self._is_there else ""
            return
        held = held_by(store.root, Disk())
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
            yield News("remark", f"{store.memory}: is there now", scope=self.store.scope)
        store.notice()
        troubles: list[str] = []
        self.waiting.apply_ticks(troubles.append, self.store.scope, remind=troubles.append)
        yield from self._placed(news_of(history.steps_after(self._last), self.store.scope))
        self._last = history.last
        self.trouble = "; ".join(troubles)
        self._due = False

    def _placed(self, news: Iterable[News]) -> Iterator[News]:
        """Yield news with the lines where they stand now, each thing once."""
        files, found = self.store.files, list(news)
        wanted: dict[str, set[str]] = {}
        for item in found:
            wanted.setdefault(item.file, set()).add(item.id)
        lines = {file: find_lines(files.document(file), ids) for file, ids in wanted.items()}
        spelled = {name: files.place(name).name for name in wanted if has_aliases(name)}
        told: dict[News, None] = {}
        for item in found:
            placed = lines[item.file].get(item.id)
            if placed is None:
                told[item] = None
            elif item.file == PENDING:
                told[item._replace(line=placed.line)] = None
            elif is_memory(item.file, placed):
                kind = as_entry(item.file, "project", placed).kind
                told[item._replace(line=placed.line, kind=kind)] = None
            else:  # A paragraph that is no memory.
                told[edited(item)] = None
        for item in told:
            yield item._replace(file=spelled.get(item.file, item.file))


@dataclass(slots=True)
class _Index:
    """The index of transcripts, kept up so that the next recall need not."""

    memory: EpisodicMemory | None
    _named: int = 0
    _moment: int = 0
    _running: dict[str, transcripts.FileState] = field(default_factory=dict)
    _next: float = 0.0

    def keep_up(self) -> None:
        """Take in what was said, if there is an index."""
        now = time.monotonic()
        if self.memory is None or now < self._next:
            return
        folder = self.memory.folder
        cache = folder.parent / transcripts.CACHE
        # A transcript came or went, or one that is being written has grown.
        self._named, names = transcripts.touched(cache, self._named)
        changed = transcripts.changed(folder, self._running)
        before, self._moment = self._moment, transcripts.moment_of(folder)
        if self._moment != before:
            names += transcripts.listing(folder)
        if names or changed:
            looks = {
                name: transcripts.file_state(folder, name) for name in (*self._running, *names)
            }
            found = [(seen.changed, name, seen) for name, seen in looks.items() if seen]
            self._running = {name: seen for _, name, seen in sorted(found)[-_MANY:]}
        if (changed or self._moment != before) and (cache / FILE).exists():
            self.memory.keep_up()
            self._next = now + _SHARE * (time.monotonic() - now)

    def close(self) -> None:
        """Let go of the index."""
        if self.memory is not None:
            self.memory.close()


# ---- what the steps of a journal mean to a person who watches ----
#
# What several steps did to one memory in a row is told once, and what they undid among themselves
# not at all; secrets are redacted; whatever a person saved is told somehow.

_OfMemory = Literal["learned", "changed", "moved", "forgot", "restored", "edited"]
_OfProposal = Literal["asked", "approved", "declined"]
Deed = _OfMemory | _OfProposal | Literal["watching", "trouble", "mended", "remark"]
_HAND: Final = frozenset({"edit", "found", "checkout", "meanwhile", "late"})
_BACK: Final = frozenset({"restore", "undo"})
# How many pairs of lines are looked at to see whether one was made of the other.
_PAIRS: Final = 2_500
# A file and the id of an entry.
_Key = tuple[str, str]


class News(NamedTuple):
    """One thing that happened to memory, or that keeps it from being looked at.

    Attributes:
        what: ``learned``, ``changed``, ``moved`` (to another file), ``forgot``, ``restored``; of a
            proposal ``asked``, ``approved``, ``declined``; of what is no memory ``edited``; of
            what is watched
            ``watching``, ``trouble``, ``mended`` and ``remark``.
        text: The memory, the proposal, or what is wrong.
        before: What it said before, if that was something else.
        by: Who: ``user``, ``llm``, ``consolidation``, ``person`` for a hand edit, ``git``,
            ``engramdown``, or ``""`` for a file that somebody brought.
        scope: ``project`` or ``global``.
        file: The file, relative to the memory folder.
        line: Where it stands there now, from 1; 0 if it does not.
        id: The id of the memory or the proposal.
        step: The id of the step in the journal.
        at: When, in UTC, ISO 8601.
        kind: The kind of a memory that stands: ``always``, ``never``, ``when``, ``lesson`` or
            ``profile``; else ``""``.
        comments: The private comments inside its lines, as they stand; they are not part of it.
    """

    what: Deed
    text: str = ""
    before: str = ""
    by: str = ""
    scope: str = ""
    file: str = ""
    line: int = 0
    id: str = ""
    step: str = ""
    at: str = ""
    kind: str = ""
    comments: str = ""


class _Net(NamedTuple):
    """What some steps did to one entry of one file, all in all; a tick is no part of its text."""

    step: Step
    before: str
    after: str
    is_ticked: bool = False
    comments: str = ""


_Nets = dict[_Key, _Net]


def news_of(steps: Iterable[Step], scope: str) -> Iterator[News]:
    """Yield what ``steps``, the oldest first, did to the memory of a scope; lines are all 0."""
    groups: list[list[Step]] = []
    for step in steps:
        # Hand edits belong together with what follows from them.
        goes_on = groups and groups[-1][-1].op in _HAND
        if goes_on and (step.op in _HAND or step.op == "notice"):
            groups[-1].append(step)
        else:
            groups.append([step])
    for group in groups:
        nets = _nets(group)
        memories = {key: net for key, net in nets.items() if key[0] not in ASIDE}
        proposals = {key: net for key, net in nets.items() if key[0] == PENDING}
        if group[0].op == "accept":
            told = _accepted(memories, proposals)
        else:
            told = chain(_memories(memories), _proposals(proposals))
        for item in chain(told, _edited(group, nets)):
            yield item._replace(scope=scope)


def edited(item: News) -> News:
    """Return that the file was edited about which ``item`` tells more than is so."""
    return item._replace(what="edited", text="", before="", line=0, id="", comments="")


def _nets(group: Sequence[Step]) -> _Nets:
    """Return what ``group`` did to each entry, by file and id."""
    found: _Nets = {}
    for step in group:
        changes: Iterable[Change] = [change for change in step.changes if not change.erased]
        if step.op == "found":  # Of files that it brought, their entries.
            changes = [
                Change(entry_id(placed), part.file, None, placed.block.raw)
                for part in step.parts
                for placed in raw_entries(part.file, parse(part.new))
            ]
        for change in changes:
            key = (change.file, change.id)
            _, old, gone = _parts_of(change.before)
            before = found[key].before if key in found else old
            first = found[key].step if key in found else step
            tick, after, comments = _parts_of(change.after)
            beside = comments if after else gone
            found[key] = _Net(first, before, after, bool(tick.strip()), beside)
    # Lines without an id that were changed are so, not gone and new.
    hand = {key: net for key, net in found.items() if is_address(key[1])}
    lost = {(key[0], net.before): key for key, net in hand.items() if not net.after}
    come = {key: net for key, net in hand.items() if not net.before}
    for key, net in come.items() if len(lost) * len(come) <= _PAIRS else ():
        here = [text for file, text in lost if file == key[0]]
        for before in get_close_matches(net.after, here, n=1):
            del found[lost.pop((key[0], before))]
            found[key] = net._replace(before=before)
    return found


def _parts_of(raw: str | None) -> tuple[str, str, str]:
    """Return the tick and the text of an entry, and the comments inside it; of none ``""``."""
    placed = parse(raw or "").placed()
    if not placed:
        return "", "", ""
    return *split_task(placed[0].block.text), placed[0].block.comments


def _edited(group: Sequence[Step], nets: _Nets) -> Iterator[News]:
    """Yield what a person saved in which no memory says anything else."""
    told = {key[0] for key, net in nets.items() if net.before != net.after} - {ARCHIVE}
    # One who ticks a line is told what comes of it.
    told |= {key[0] for key in nets if key[0] == PENDING}
    for step in group:
        for file in step.files if step.op in _HAND else ():
            if file not in told:
                yield News("edited", by=_who(step), file=file, step=step.id, at=step.at)


def _memories(nets: _Nets) -> Iterator[News]:
    gone = {key[1]: net for key, net in nets.items() if not net.after}
    come = {key[1] for key, net in nets.items() if not net.before}
    told: set[tuple[str, str]] = set()
    for key, net in sorted(nets.items(), key=_topics_last):
        if key[1] in come and key[1] in gone:
            # It went from one file to another.
            what: Deed = "moved"
            if not net.after:
                continue
        elif not net.before:
            what = "restored" if net.step.op in _BACK else "learned"
        else:
            what = "changed" if net.after else "forgot"
        # A lesson of a topic stands in two files.
        if net.before != net.after and (what, key[1]) not in told:
            told.add((what, key[1]))
            yield _news(what, key, net)


def _topics_last(item: tuple[_Key, _Net]) -> bool:
    return item[0][0].startswith("topics/")


def _proposals(nets: _Nets) -> Iterator[News]:
    for key, net in nets.items():
        if net.before == net.after:
            continue  # ticked, or moved about
        if not net.before:
            # One who writes a line and ticks it asks nobody.
            if not net.is_ticked:
                yield _news("asked", key, net)
        elif net.after:
            yield _news("changed", key, net)
        elif net.step.op == "decline" or net.step.by == "person":
            yield _news("declined", key, net)


def _accepted(memories: _Nets, proposals: _Nets) -> Iterator[News]:
    written = [(key, net) for key, net in memories.items() if net.after]
    # A lesson of a topic stands in two files; of what one line brought about, one thing is told.
    first: dict[str, tuple[_Key, _Net]] = {}
    for key, net in sorted(written, key=_topics_last):
        first.setdefault(key[1] if len(proposals) > 1 else "", (key, net))
    for key, net in first.values():
        yield _news("approved", key, net)
    if not written:
        yield from _memories(memories)
    if not memories:
        for key, net in proposals.items():
            if not net.step.why.endswith("into the other scope"):
                yield _news("approved", key, net)


def _news(what: Deed, key: _Key, net: _Net) -> News:
    step, (file, entry_id) = net.step, key
    before = redact(net.before) if net.after and net.before != net.after else ""
    text = redact(net.after or net.before)
    news = News(what, text, before, _who(step), "", file, 0, entry_id, step.id, step.at)
    return news._replace(comments=redact(net.comments))


def _who(step: Step) -> str:
    return {"checkout": "git", "found": ""}.get(step.op, step.by)


# That a file in some folders may have changed, told as it happens.
#
# The names and times of the markdown files are looked at twice a second: on every file system, also
# on those that tell nobody of changes, and without a thread of its own. A burst of saves is told
# once, and one that does not end after :data:`LONGEST` seconds all the same. Folders may come, go
# and come back. What is told is *that* something may have changed, never what.

# For how many seconds a burst is folded together.
LONGEST: Final = 0.4
# How long nothing must happen for a burst to be over, in seconds.
_QUIET: Final = 0.1
# Seconds between two looks, at least.
_POLL: Final = 0.5
# Looks take a hundredth of the time at most, however many files there are.
_SHARE_WATCH: Final = 100


class Watch:
    """Watches the markdown files right in some folders, which need not exist."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Begin to watch; what is in folders of these folders is not looked at."""
        self._folders = folders
        self._woken = Event()
        self._pause = _POLL
        self._seen = frozenset(_files(folders))

    def wait(self, seconds: float) -> bool:
        """Wait until something may have changed, ``seconds`` at most; return whether it may."""
        end = time.monotonic() + seconds
        while not self._is_changed():
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self._woken.wait(min(self._pause, left)):
                break
        self._woken.clear()
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and not self._woken.wait(_QUIET) and self._is_changed():
            pass
        return True

    def wake(self) -> None:
        """End the waiting, as if something had changed."""
        self._woken.set()

    def _is_changed(self) -> bool:
        began, before = time.monotonic(), self._seen
        self._seen = frozenset(_files(self._folders))
        self._pause = max(_POLL, (time.monotonic() - began) * _SHARE_WATCH)
        return self._seen != before


def _files(folders: Sequence[Path]) -> Iterator[tuple[str, int, int, int]]:
    """Yield what tells one state of the folders and their memory files from another."""
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as found:
            there = folder.stat()
            yield str(folder), there.st_dev, there.st_ino, 0
            for item in found:
                # No swap, backup or temporary file.
                if item.name.lower().endswith(".md") and not item.name.startswith("."):
                    with contextlib.suppress(OSError):
                        what = item.stat()
                        yield item.path, what.st_ino, what.st_size, what.st_mtime_ns
