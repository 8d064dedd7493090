"""Watches memory files: takes in hand edits as they happen, and reports every change.

A save is taken in once it is complete, through the write protocol. Ticked lines are carried out.
While git is in the middle of an operation, nothing counts as an edit. Every step of the journal is
reported once, whoever made it, and trouble is reported when it begins and when it ends.
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
from engramdown.transcripts.changes import CACHE

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate.scopes import Scopes

# Seconds between two checks of which folders there are.
_BEAT: Final = 0.5
# Seconds until a failure is tried again.
_AGAIN: Final = 2.0
# Seconds that git may take before the wait is reported.
_LONG: Final = 3.0
# Keeping the index of transcripts up to date takes a hundredth of the time at most.
_INDEX_SHARE: Final = 100


class Watching(Background):
    """Watches memory in a thread; use it as a context manager, or call ``start`` and ``stop``.

    Attributes:
        trouble: Why a scope cannot be watched, or why the thread ended, or ``""``.
    """

    def __init__(
        self, scopes: Scopes, on_change: Callable[[list[News]], object], *, patience: float = 10
    ) -> None:
        """Prepare to watch the scopes of ``scopes``.

        Args:
            scopes: The memory to watch; the thread opens its own copy.
            on_change: Called in the thread with the changes of each look that found any.
            patience: How many seconds the end of a ``with`` block waits for a look to end.

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
        memories = [store.memory for store in scopes.stores]
        folders = [folder for memory in memories for folder in (memory, memory / "topics")]
        watch = self._watch = Watch(folders)
        # From here on no change is missed.
        news = [News("watching", str(each.root), scope=each.scope) for each in scopes.stores]
        marked = True
        with contextlib.closing(_Index(scopes.episodes)) as index:
            while not stopping.is_set():
                for scope in watched:
                    news += scope.look(marked=marked)
                self.trouble = "; ".join(each.trouble for each in watched if each.trouble)
                if news:
                    self._on_change(news)
                news = []
                index.keep_up()
                marked = watch.wait(_BEAT)

    def _wake(self) -> None:
        if self._watch is not None:
            self._watch.wake()


@dataclass(slots=True)
class _Scope:
    """One store that is watched.

    Attributes:
        trouble: Why it cannot be watched, or ``""``.
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
            news = list(self._take_in(now))
        except (StoreError, OSError) as error:
            self.trouble, self._next, news = str(error), now + _AGAIN, []
        if self.trouble != before:
            what: Deed = "trouble" if self.trouble else "mended"
            yield News(what, self.trouble or before, scope=self.store.scope)
        yield from news

    def _take_in(self, now: float) -> Iterator[News]:
        """Take in hand edits and ticks, and yield what the journal says since the last look."""
        store, history = self.store, self.store.files.history
        self._next = 0.0
        if self._last is None:
            history.refresh()
            self._last = history.last
        if not store.memory.is_dir():
            # Still due: nothing reports that it is back if that happens between two looks.
            self.trouble = f"{store.memory}: is gone; waiting for it" if self._is_there else ""
            return
        held = held_by(store.root, Disk())
        if held is not None:
            # An unfinished operation of git is not an edit; it is looked at when it is finished.
            self._held = self._held or now
            if now - self._held >= _LONG:
                self.trouble = f"{held}: git has not finished; hand edits wait until it has"
                self._next = now + _AGAIN
            return
        if self._held:
            # Git writes down what it did only after it has released its lock.
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
        """Yield each piece of news once, with the number of the line as it is now."""
        files, items = self.store.files, list(news)
        wanted: dict[str, set[str]] = {}
        for item in items:
            wanted.setdefault(item.file, set()).add(item.id)
        lines = {file: find_lines(files.document(file), ids) for file, ids in wanted.items()}
        spelled = {name: files.place(name).name for name in wanted if has_aliases(name)}
        unique: dict[News, None] = {}
        for item in items:
            placed = lines[item.file].get(item.id)
            if placed is None:
                unique[item] = None
            elif item.file == PENDING:
                unique[item._replace(line=placed.line)] = None
            elif is_memory(item.file, placed):
                kind = as_entry(item.file, "project", placed).kind
                unique[item._replace(line=placed.line, kind=kind)] = None
            else:  # A paragraph that is not a memory.
                unique[edited(item)] = None
        for item in unique:
            yield item._replace(file=spelled.get(item.file, item.file))


@dataclass(slots=True)
class _Index:
    """The index of transcripts, which is kept up to date if there is one."""

    memory: EpisodicMemory | None
    _next: float = 0.0

    def keep_up(self) -> None:
        """Take in new lines, so that the next recall need not."""
        began = time.monotonic()
        if self.memory is None or began < self._next:
            return
        if (self.memory.folder.parent / CACHE / FILE).exists():
            with contextlib.suppress(StoreError):  # A Python without SQLite cannot use the index.
                self.memory.keep_up()
        self._next = began + _INDEX_SHARE * (time.monotonic() - began)

    def close(self) -> None:
        """Close the index."""
        if self.memory is not None:
            self.memory.close()


# ---- what the steps of a journal mean to a person who watches ----
#
# What several steps in a row did to one memory is reported once, and what they undid among
# themselves is not reported. Secrets are redacted. Every save of a person is reported in some way.

_OfMemory = Literal["learned", "changed", "moved", "forgot", "restored", "edited"]
_OfProposal = Literal["asked", "approved", "declined"]
Deed = _OfMemory | _OfProposal | Literal["watching", "trouble", "mended", "remark"]
_HAND: Final = frozenset({"edit", "found", "checkout", "meanwhile", "late"})
_BACK: Final = frozenset({"restore", "undo"})
# What they note of a memory is reported though its text stays: that it is pinned or verified.
_NOTED: Final = frozenset({"update", "undo"})
# How many pairs of lines are compared to see whether one was made from the other.
_PAIRS: Final = 2_500
# A file and the id of an entry.
_Key = tuple[str, str]


class News(NamedTuple):
    """One thing that happened to memory, or that keeps it from being watched.

    Attributes:
        what: ``learned``, ``changed``, ``moved`` (to another file), ``forgot`` or ``restored`` for
            a memory; ``asked``, ``approved`` or ``declined`` for a proposal; ``edited`` for other
            text; ``watching``, ``trouble``, ``mended`` or ``remark`` about the watching itself.
        text: The memory, the proposal, or the trouble.
        before: The text before the change, if it was another one: not if a memory was pinned or
            verified.
        by: Who did it: ``user``, ``llm``, ``consolidation``, ``person`` for a hand edit, ``git``,
            ``engramdown``, or ``""`` for a file that somebody brought.
        scope: ``project`` or ``global``.
        file: The file, relative to the memory folder.
        line: The number of its line now, from 1; 0 if it has no line any more.
        id: The id of the memory or the proposal.
        step: The id of the step in the journal.
        at: When, in UTC, ISO 8601.
        kind: The kind of a memory that still exists: ``always``, ``never``, ``when``, ``lesson`` or
            ``profile``; else ``""``.
        comments: The private comments inside its lines; they are not part of the text.
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
    """The net effect of some steps on one entry of one file; a tick is not part of its text."""

    step: Step
    before: str
    after: str
    is_ticked: bool = False
    comments: str = ""


_Nets = dict[_Key, _Net]


def news_of(steps: Iterable[Step], scope: str) -> Iterator[News]:
    """Yield what ``steps``, the oldest first, did to the memory of a scope; all lines are 0."""
    groups: list[list[Step]] = []
    for step in steps:
        # Hand edits belong together with what follows from them.
        after_edit = groups and groups[-1][-1].op in _HAND
        if after_edit and (step.op in _HAND or step.op == "notice"):
            groups[-1].append(step)
        else:
            groups.append([step])
    for group in groups:
        nets = _nets(group)
        memories = {key: net for key, net in nets.items() if key[0] not in ASIDE}
        proposals = {key: net for key, net in nets.items() if key[0] == PENDING}
        if group[0].op == "accept":
            news = _accepted(memories, proposals)
        else:
            news = chain(_memories(memories), _proposals(proposals))
        for item in chain(news, _edited(group, nets)):
            yield item._replace(scope=scope)


def edited(item: News) -> News:
    """Return the news that a file was edited, without what ``item`` says of a memory."""
    return item._replace(what="edited", text="", before="", line=0, id="", comments="")


def _nets(group: Sequence[Step]) -> _Nets:
    """Return what ``group`` did to each entry, by file and id."""
    nets: _Nets = {}
    for step in group:
        changes: Iterable[Change] = [change for change in step.changes if not change.erased]
        if step.op == "found":  # The entries of the files that it brought.
            changes = [
                Change(entry_id(placed), part.file, None, placed.block.raw)
                for part in step.parts
                for placed in raw_entries(part.file, parse(part.new))
            ]
        for change in changes:
            key = (change.file, change.id)
            _, old, gone = _parts_of(change.before)
            before = nets[key].before if key in nets else old
            first = nets[key].step if key in nets else step
            tick, after, comments = _parts_of(change.after)
            nets[key] = _Net(first, before, after, bool(tick.strip()), comments if after else gone)
    # A changed line without an id is reported as changed, not as one that went and one that came.
    hand = {key: net for key, net in nets.items() if is_address(key[1])}
    lost = {(key[0], net.before): key for key, net in hand.items() if not net.after}
    come = {key: net for key, net in hand.items() if not net.before}
    for key, net in come.items() if len(lost) * len(come) <= _PAIRS else ():
        here = [text for file, text in lost if file == key[0]]
        for before in get_close_matches(net.after, here, n=1):
            del nets[lost.pop((key[0], before))]
            nets[key] = net._replace(before=before)
    return nets


def _parts_of(raw: str | None) -> tuple[str, str, str]:
    """Return the tick of an entry, its text, and the comments inside it."""
    placed = parse(raw or "").placed()
    if not placed:
        return "", "", ""
    return *split_task(placed[0].block.text), placed[0].block.comments


def _edited(group: Sequence[Step], nets: _Nets) -> Iterator[News]:
    """Yield the files that a person saved without changing the text of a memory."""
    reported = {key[0] for key, net in nets.items() if net.before != net.after} - {ARCHIVE}
    # Whoever ticks a line sees what comes of it.
    reported |= {key[0] for key in nets if key[0] == PENDING}
    for step in group:
        for file in step.files if step.op in _HAND else ():
            if file not in reported:
                yield News("edited", by=_who(step), file=file, step=step.id, at=step.at)


def _memories(nets: _Nets) -> Iterator[News]:
    gone = {key[1]: net for key, net in nets.items() if not net.after}
    come = {key[1] for key, net in nets.items() if not net.before}
    reported: set[tuple[str, str]] = set()
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
        is_noted = bool(net.after) and net.step.op in _NOTED
        # A lesson of a topic is in two files.
        if (net.before != net.after or is_noted) and (what, key[1]) not in reported:
            reported.add((what, key[1]))
            yield _news(what, key, net)


def _topics_last(item: tuple[_Key, _Net]) -> bool:
    return item[0][0].startswith("topics/")


def _proposals(nets: _Nets) -> Iterator[News]:
    for key, net in nets.items():
        if net.before == net.after:
            continue  # ticked, or moved about
        if not net.before:
            # A person who writes a line and ticks it does not ask.
            if not net.is_ticked:
                yield _news("asked", key, net)
        elif net.after:
            yield _news("changed", key, net)
        elif net.step.op == "decline" or net.step.by == "person":
            yield _news("declined", key, net)


def _accepted(memories: _Nets, proposals: _Nets) -> Iterator[News]:
    written = [(key, net) for key, net in memories.items() if net.after]
    # A lesson of a topic is in two files, and one line of pending.md is reported once.
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


# ---- noticing that a file may have changed ----
#
# The names and times of the markdown files are checked four times a second. This works on every
# file system, including those that report no changes, and needs no thread of its own. A burst of
# saves is reported once, or after :data:`LONGEST` seconds if it does not end. Folders may come, go
# and come back. The report is *that* something may have changed, never what.

# For how many seconds a burst is reported as one change.
LONGEST: Final = 0.4
# How many seconds without a change end a burst.
_QUIET: Final = 0.1
# The least number of seconds between two checks.
_POLL: Final = 0.25
# Checks take a hundredth of the time at most, however many files there are.
_SHARE: Final = 100


class Watch:
    """Watches the markdown files directly in some folders, which need not exist."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Begin to watch; folders inside of these folders are not watched."""
        self._folders = folders
        self._woken = Event()
        self._pause = _POLL
        self._seen = frozenset(_files(folders))

    def wait(self, seconds: float) -> bool:
        """Wait at most ``seconds`` until something may have changed; return whether it may."""
        end = time.monotonic() + seconds
        while not self._is_changed():
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self._woken.wait(min(self._pause, left)):
                self._woken.clear()
                return True
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and not self._woken.wait(_QUIET) and self._is_changed():
            pass
        return True

    def wake(self) -> None:
        """End the wait, as if something had changed."""
        self._woken.set()

    def _is_changed(self) -> bool:
        began, before = time.monotonic(), self._seen
        self._seen = frozenset(_files(self._folders))
        self._pause = max(_POLL, (time.monotonic() - began) * _SHARE)
        return self._seen != before


def _files(folders: Sequence[Path]) -> Iterator[tuple[str, int, int, int]]:
    """Yield the names, sizes and times that show whether a folder or memory file has changed."""
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as items:
            status = folder.stat()
            yield str(folder), status.st_dev, status.st_ino, 0
            for item in items:
                # Not a swap, backup or temporary file.
                if item.name.lower().endswith(".md") and not item.name.startswith("."):
                    with contextlib.suppress(OSError):
                        status = item.stat()
                        yield item.path, status.st_ino, status.st_size, status.st_mtime_ns
