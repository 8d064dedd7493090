"""Erases memories for good, which a person may ask for and a model may not.

A preview comes before any change. The words are removed from every file in the folders of both
scopes, and from our blocks in files of the project. An interrupted erasure is finished by whoever
opens memory next, and what cannot be reached is named. Erased words are not learned again, and
nothing is kept that would let anybody guess them quickly.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown import errors
from engramdown.engram import Engram, Scope, fold
from engramdown.episodes.eraser import Held
from engramdown.episodes.memory import EpisodicMemory
from engramdown.gate.erasure_marks import Marks
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import address, by_prefix, entry_id
from engramdown.hippocampus.erase import Sieve
from engramdown.hippocampus.git_state import is_versioned, known_to_git
from engramdown.hippocampus.history import Change
from engramdown.hippocampus.provenance import key_of
from engramdown.hippocampus.snapshot import Reader
from engramdown.hippocampus.store import Hippocampus
from engramdown.journal.journal import Journal
from engramdown.kinds import PENDING
from engramdown.language.similarity import is_rewording
from engramdown.markdown.blocks import entry_block
from engramdown.markdown.document import Placed, parse
from engramdown.markdown.marked_block import BEGIN, BlockError, found, put_in
from engramdown.storage.disk import ERASING as NOTE
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.erasure import Erasure, Words, begin, end, unfinished
from engramdown.storage.exchange import TEMPORARY, Swap
from engramdown.storage.locks import ScopeLock
from engramdown.storage.usage import MEMORIES, Usage
from engramdown.transcripts.changes import FOLDER as EPISODES
from engramdown.transcripts.payloads import PAYLOADS
from engramdown.transcripts.summary_log import FOLDER as GISTS

if TYPE_CHECKING:
    from engramdown.settings import Settings

_LOCK: Final = "erasing.lock"
_GOES_ON: Final = "The next command that opens memory finishes the erasure."
# Files that are handled elsewhere, or hold no readable words.
_HANDLED: Final = frozenset({"history.jsonl", NOTE, f"{NOTE}.part", "erased"})
_INDEXES: Final = ("index.", "vectors.")
_DIGESTS: Final = ("pulled.json", "given.json", "refused-", "memories.sqlite", "pages.sqlite")
_DIGESTED: Final = re.compile(rb'("digest": ?")([0-9a-f]{8,64})(")')
_HAND: Final = "~_"
_HEADINGS: Final = ("", "## Always\n\n", "## Never\n\n", "## When\n\n")
# What a person writes for another purpose: only lines that say all or most of it are removed.
_OWN: Final = frozenset({"skills", "templates", "prompts", "config.toml", "memory"})
_PAGE_FOLDERS: Final = frozenset(
    {"journal", "working", "gists", "skills", "templates", "prompts", "memory"}
)
_TEXTS: Final = (".md", ".j2", ".txt")
_PAGES: Final = frozenset({".md", ".mdc"})
_NOT_ENTERED: Final = frozenset({".git", "node_modules", "venv", "dist", "build", "target"})
_DEEPEST: Final = 3
_MOST_PAGES: Final = 2_000
_LARGEST_PAGE: Final = 4 * 1024 * 1024


_IN_GIT: Final = (
    "what git has committed, stashed or staged in {folder}: write the words into a file outside of "
    "it, a line each, and run `git filter-repo --replace-text FILE` there, then "
    "`git reflog expire --expire=now --all && git gc --prune=now` and `git push --force --all`; "
    "every other clone keeps them until it is cloned anew"
)
_ELSEWHERE: Final = (
    "exports, backups, snapshots, other machines, and what a model's provider has kept",
    "other projects: run `engramdown forget --forever -` there, and type the words",
)


class Gone(NamedTuple):
    """A memory that goes.

    Attributes:
        id: Its id; an address if a person wrote it.
        scope: Its scope.
        file: Its file, relative to the memory folder; ``""`` if only the journal has it.
        kind: Its kind.
    """

    id: str
    scope: Scope
    file: str
    kind: str


class Shared(NamedTuple):
    """Lines that share a run with what goes, and stay.

    Attributes:
        scope: The scope.
        session: The session whose transcript they are in; ``""`` if they are in a file.
        path: That file, or the transcript.
        lines: Their numbers; for a transcript, those of ``engramdown log show``.
    """

    scope: Scope
    session: str
    path: Path
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What an erasure removes, or removed.

    Attributes:
        memories: The memories: live, waiting, retired.
        versions: How many texts they had, earlier ones included.
        steps: How many steps of the journals of changes lose words.
        lines: The lines of transcripts that are emptied, by scope.
        files: Every other file that loses words, or is removed.
        stays: The ids of other memories that share some words with them, and stay.
        shared: Lines that stay because they share less than half of a text, or are in pages that a
            person wrote for another purpose, such as skills.
        unreached: What cannot be reached from here, and what would reach it, a sentence each.
        left: What could not be done yet, and why; the next command tries again.
        changed: Whether it was done; ``False`` for a preview.
    """

    memories: tuple[Gone, ...]
    versions: int
    steps: int
    lines: tuple[tuple[Scope, Held], ...]
    files: tuple[Path, ...]
    stays: tuple[str, ...]
    shared: tuple[Shared, ...]
    unreached: tuple[str, ...]
    left: tuple[str, ...] = ()
    changed: bool = False


def erase(
    stores: Sequence[Hippocampus],
    settings: Settings,
    ids: Sequence[str],
    texts: Sequence[str] = (),
    *,
    pieces: bool = False,
    dry_run: bool = False,
    holding: Callable[[Callable[[], object]], object] = lambda act: act(),
) -> Erased:
    """Erase memories for good; see :meth:`engramdown.gate.review.Review.erase`.

    ``holding`` calls what begins it, after which nothing stops it, or raises.
    """
    if not stores:
        raise errors.StoreError(
            "no scope has files, so there is nothing that could be erased from them"
        )
    if not ids and not any(text.strip() for text in texts):
        raise errors.InvalidEngramError("ids", "name at least one memory to erase")
    chosen = _Asked(stores)
    for each in ids:
        chosen.add(each)
    for text in texts:
        chosen.texts.setdefault(text)
    erasure = chosen.erasure(pieces=pieces)
    preview = _preview(stores, erasure, chosen.memories.values())
    if dry_run:
        holding(list)
        return preview
    disk = Disk()
    roots = [Path(root) for root in erasure.roots]
    for path in preview.files:
        disk.check_writable(path.parent)
        disk.check_writable(path)

    def note() -> None:
        for root in roots:
            begin(root, erasure, disk)

    with _alone(roots[0], settings.lock_timeout):
        holding(note)
        try:
            left = _carry_out(stores, settings, erasure, wait=True)
        except errors.StoreError as error:
            raise errors.StoreError(f"{error} {_GOES_ON}") from error
    return replace(preview, left=tuple(left), changed=True)


def finish(stores: Sequence[Hippocampus], settings: Settings, *, wait: bool = True) -> list[str]:
    """Finish an interrupted erasure; return what could not be done, and why.

    Args:
        stores: The stores of both scopes.
        settings: How long to wait for a lock.
        wait: Whether to wait for locks; a reader need not.

    Raises:
        StoreError: If it could not be continued; it is tried again next time.
    """
    disk = Disk()
    for store in stores:
        erasure = unfinished(store.root, disk)
        if erasure is None:
            # If the note was not written completely, nothing was begun.
            with contextlib.suppress(OSError):
                disk.unlink(store.root / f"{NOTE}.part")
            continue
        if store.scope != "global":
            # A project may have been cloned, so its note counts for itself only.
            erasure = erasure._replace(roots=(str(store.root),))
        try:
            with _alone(store.root, 0):
                return _carry_out(stores, settings, erasure, wait=wait)
        except errors.LockTimeoutError:
            # Another process is busy with it; the next one goes on.
            return []
    return []


@contextlib.contextmanager
def _alone(root: Path, timeout: float) -> Iterator[None]:
    """Keep other processes from finishing the same erasure."""
    with named_errors(root / _LOCK, "written"), ScopeLock(root / _LOCK, timeout).hold():
        yield


# ---- the memories that go ----


class _Asked:
    """The memories that go, and everything that they ever said."""

    def __init__(self, stores: Sequence[Hippocampus]) -> None:
        self._roots = tuple(str(store.root) for store in stores if store.root.is_dir())
        self._changes = [
            change for store in stores for step in store.history() for change in step.changes
        ]
        self._standing = [
            (store.scope, name, placed) for store in stores for name, placed in _lines_of(store)
        ]
        self._meant: dict[str, None] = {}
        self._same: dict[str, bool] = {}
        self.ids: dict[str, None] = {}
        self.texts: dict[str, None] = {}
        self.memories: dict[tuple[Scope, str, str], Gone] = {}

    def add(self, prefix: str) -> None:
        """Add the memory whose id begins with ``prefix``: live, waiting, retired or journalled.

        Raises:
            EntryNotFoundError: If no memory has such an id.
            AmbiguousIdError: If several have.
        """
        names = [entry_id(placed) for _, _, placed in self._standing]
        if prefix[:1] in _HAND:
            names += [address(_said(name, p.block.text)) for _, name, p in self._standing]
            prefix = names[0][:1] + prefix[1:] if names and names[0][:1] in _HAND else prefix
        try:
            chosen = by_prefix(prefix, names, str, "memory, what waits, the archive")
        except errors.EntryNotFoundError:
            # A memory that no file holds any more may be in the journal.
            erased = {change.id for change in self._changes if change.erased}
            if prefix in erased:
                raise errors.EntryNotFoundError(prefix, "memory: it was erased for good") from None
            ids = [change.id for change in self._changes if change.id and change.id not in erased]
            chosen = by_prefix(prefix, ids, str, "memory, what waits, the archive, the journal")
        self.ids[chosen] = None
        self._follow()
        # Memories that only say the same lead to no further ones.
        self._meant |= self.texts
        self._same.clear()
        self._follow()
        if not self.texts:
            raise errors.EntryNotFoundError(prefix, "memory: nothing is left of its words")

    def _follow(self) -> None:
        """Add every version of these memories, and every other line that says the same."""
        count = -1
        while count != len(self.ids) + len(self.texts):
            count = len(self.ids) + len(self.texts)
            folds = {fold(text) for text in self.texts}
            for scope, name, placed in self._standing:
                text, own = _said(name, placed.block.text), entry_id(placed)
                is_same = fold(text) in folds or self._says_same(text)
                if own in self.ids or address(text) in self.ids or is_same:
                    self._take(own, text)
                    kind = placement.as_entry(name, scope, placed).kind
                    self.memories[scope, name, own] = Gone(own, scope, name, kind)
            for change in self._changes:
                if change.id in self.ids and not change.erased:
                    for _, text in _versions(change):
                        self._take(change.id, text)

    def _says_same(self, text: str) -> bool:
        """Whether a text says the same as one that was asked for, in other words."""
        if text not in self._same:
            words = {*fold(text).split()}
            # Only texts with half of its words are compared closely.
            near = (
                each
                for each in self._meant
                if 2 * len(words.intersection(fold(each).split())) >= len(words)
            )
            self._same[text] = any(is_rewording(text, each) for each in near)
        return self._same[text]

    def _take(self, own: str, text: str) -> None:
        self.ids[own] = None
        self.texts[text] = None
        if own[:1] in _HAND:
            # The address of a line without an id follows from its words, and changed with them.
            self.ids[address(text)] = None

    def erasure(self, *, pieces: bool) -> Erasure:
        """Return the erasure: the texts, with all digests that could be made of them."""
        self._follow()
        texts = tuple(text for text in self.texts if text.strip())
        return Erasure(
            step=new_id(),
            ids=tuple(self.ids),
            texts=texts,
            tokens=tuple(dict.fromkeys(self._tokens(texts))),
            pieces=pieces,
            roots=self._roots,
        )

    def _tokens(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield everything with which somebody could test a guess."""
        # Only a migrated memory has such digests.
        from engramdown.engram import fingerprint

        for text in texts:
            where = address(text)
            yield from (f"{mark}{where[1:]}" for mark in _HAND)
            yield hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            yield fingerprint(Engram(text, "lesson", "project"))
            yield fingerprint(Engram(text, "never", "project"))
        folds = {fold(text) for text in texts}
        for _, name, placed in self._standing:
            if fold(_said(name, placed.block.text)) in folds:
                yield key_of(name, placed)
        for change in self._changes:
            for raw, text in _versions(change):
                # The keys under which such a line may be noted as brought by git.
                for heading in _HEADINGS if fold(text) in folds else ():
                    yield from (key_of(change.file, it) for it in parse(heading + raw).placed())


def _lines_of(store: Hippocampus) -> Iterator[tuple[str, Placed]]:
    """Yield the entries of all files, each with its file."""
    for name in store.files.names():
        for placed in placement.raw_entries(name, store.files.document(name)):
            yield name, placed


def _versions(change: Change) -> Iterator[tuple[str, str]]:
    """Yield the raw line and its text, before and after a change."""
    for raw in filter(None, (change.before, change.after)):
        yield raw, _said(change.file, entry_block(raw).text)


def _said(name: str, text: str) -> str:
    """Return the text of a line without its tick and its question."""
    if name != PENDING:
        return text
    return placement.split_task(text)[1].removeprefix("Delete: ")


# ---- the preview ----


def _preview(stores: Sequence[Hippocampus], erasure: Erasure, memories: Iterable[Gone]) -> Erased:
    """Return what an erasure would change and what would stay; nothing is written."""
    words, sieve = erasure.words(), Sieve(erasure)
    erasers = [_Eraser(store, words) for store in stores if store.root.is_dir()]
    changed = [
        any(sieve.change(change) != change for change in step.changes)
        for each in erasers
        for step in each.store.history()
    ]
    stays = [
        entry_id(placed)
        for each in erasers
        for name, placed in _lines_of(each.store)
        if sieve.fate(name, placed.block) == "stays" and words.shares(placed.block.text)
    ]
    files = [path for each in erasers for path in each.files(sieve)]
    files += [path for each in erasers for path in each.pages_with_block()]
    unreached = [
        _IN_GIT.format(folder=each.root.parent)
        for each in erasers
        if is_versioned(each.root, each.disk)
        and known_to_git([each.store.memory, *files], each.disk)
    ]
    return Erased(
        memories=tuple(memories),
        versions=len(erasure.texts),
        steps=sum(changed),
        lines=tuple((each.store.scope, held) for each in erasers for held in each.episodes.held()),
        files=tuple(dict.fromkeys(files)),
        stays=tuple(stays),
        shared=tuple(shared for each in erasers for shared in each.shared()),
        unreached=(*unreached, *_ELSEWHERE),
    )


# ---- carrying it out ----


def _carry_out(
    known: Sequence[Hippocampus], settings: Settings, erasure: Erasure, *, wait: bool
) -> list[str]:
    """Carry out an erasure; return what could not be done, and why."""
    disk, words = Disk(), erasure.words()
    opened = {store.root: store for store in known}
    stores = [
        opened.get(root) or Hippocampus(root, lock_timeout=settings.lock_timeout)
        for root in map(Path, erasure.roots)
        if root.is_dir()
    ]
    for store in stores:
        if unfinished(store.root, disk) is None:
            begin(store.root, erasure, disk)
        store.files.erase(wait=wait)
    left: list[str] = []
    for store in stores:
        eraser = _Eraser(store, words)
        patience = settings.of(store.scope).lock_timeout if wait else 0
        eraser.episodes.erase(patience)
        left += eraser.erase_blocks()
        Marks(store.root).add(erasure.texts)
        names = {f"{how}/{each}" for each in erasure.ids for how in ("shown", "recalled")}
        if not Usage(store.root, MEMORIES).drop(names):
            left.append(f"{store.root}: {MEMORIES.name}.jsonl could not be rewritten")
        left += eraser.sweep(patience)
    if left:
        return left
    # The first one last: its note names the other folders.
    for store in reversed(stores):
        end(store.root, disk)
    return []


class _Eraser:
    """Finds and erases words in and beside one scope, except in its memory files."""

    def __init__(self, store: Hippocampus, words: Words) -> None:
        self.store = store
        self.root = store.root
        self.disk = Disk()
        self.memory = EpisodicMemory(store.root)
        self.episodes = self.memory.eraser(words)
        self._words = words
        self._swap = Swap(self.disk)

    def files(self, sieve: Sieve) -> Iterator[Path]:
        """Yield the files of the scope that hold words, except transcripts."""
        for name in self.store.files.names():
            text = self.store.files.document(name).render()
            if sieve.text(name, text) != text:
                yield self.store.files.place(name)
        yield from self.episodes.payloads()
        yield from (path for path, rest in self._others() if self._holds(path, rest))

    def shared(self) -> Iterator[Shared]:
        """Yield the lines outside of memory files that share a run of characters and stay."""
        scope = self.store.scope
        for held in self.episodes.shared():
            path = self.root / EPISODES / f"{held.session}.jsonl"
            yield Shared(scope, held.session, path, held.seqs)
        for path, rest in self._others(recorded=True):
            is_transcript = rest[0] == EPISODES and rest[-1].endswith(".jsonl")
            is_derived = rest[0] == "cache" and rest[1:2] != ("hooks",)
            if not (is_transcript or is_derived):
                text = self._read(path)
                is_own = rest[0] in _OWN and not self._words.is_whole(text)
                if lines := self._words.shared_lines(text, untouched=is_own):
                    yield Shared(scope, "", path, tuple(lines))

    def sweep(self, patience: float) -> list[str]:
        """Remove the words from every other file; return which still hold some, and why.

        A page that a person may have open is exchanged, other files are overwritten in place.
        """
        left: list[str] = []
        with contextlib.ExitStack() as stack:
            if (self.root / EPISODES).is_dir():
                stack.enter_context(self.memory.recorder.lock.hold(patience))
            if (self.root / "journal").is_dir():
                stack.enter_context(Journal(self.root, lock_timeout=patience).alone())
            for path, rest in self._others():
                if rest[0] != "memory" and TEMPORARY.fullmatch(path.name):
                    self._swap.clear_up(path)  # left by an interrupted erasure
                    continue
                is_page = rest[0] in _PAGE_FOLDERS and rest[-1].endswith(_TEXTS)
                if is_page and rest[-1][:1] != "." and self._holds(path, rest):
                    try:
                        with named_errors(path, "written"):
                            self._swap.edit(path, self._cut_page)
                    except errors.StoreError as error:
                        left.append(str(error))
                left += self._overwrite(path, rest)
        return left

    def _cut_page(self, before: bytes | None) -> bytes:
        text = (before or b"").decode("utf-8", "surrogateescape")
        return self._words.cut(text).encode("utf-8", "surrogateescape")

    def _overwrite(self, path: Path, rest: tuple[str, ...]) -> Iterator[str]:
        """Remove the words from a file that nobody edits, or the file; yield why it holds some."""
        if rest[0] == "cache" and rest[-1].startswith(_DIGESTS):
            self.disk.unlink(path)  # digests or vectors of memories
        elif rest == ("sleep.jsonl",):
            _mask(path, lambda data: _DIGESTED.sub(_cross_out, data))
        elif self._holds(path, rest):
            if rest[0] == "cache" and rest[1:2] != ("hooks",):
                self.disk.unlink(path)
            elif self.disk.is_being_written(path):
                yield f"{path}: is open in another program; close it there"
            else:
                _mask(path, self._words.mask)
                if self._holds(path, rest):
                    yield f"{path}: holds them in a form that cannot be taken out; remove it"

    def _others(self, *, recorded: bool = False) -> Iterator[tuple[Path, tuple[str, ...]]]:
        """Yield every file of the scope except those that are handled elsewhere.

        Args:
            recorded: Also yield files of recordings.
        """
        reader = Reader(self.root, Disk(durable=False))
        memories = {reader.place(name) for name in reader.names()}
        for path in _walk(self.root, lambda it: it.parent != self.root or it.name not in _HANDLED):
            rest = path.relative_to(self.root).parts
            is_handled = rest[0] in _HANDLED or path.name.endswith(".lock") or path in memories
            if not is_handled and (recorded or not _is_recorded(rest)) and path.is_file():
                yield path, rest

    def _holds(self, path: Path, rest: Sequence[str]) -> bool:
        """Whether a file holds words that must go."""
        if rest[0] == "cache" and rest[-1].startswith(_INDEXES):
            return False  # handled with the transcripts
        text = self._read(path)
        return self._words.is_whole(text) if rest[0] in _OWN else self._words.holds(text)

    def _read(self, path: Path) -> str:
        """Return the text of a file, or ``""`` if it cannot be read."""
        try:
            data = self.disk.load(path) or b""
        except (OSError, errors.StoreError):
            return ""
        return data.decode("utf-8", "surrogateescape")

    # ---- our blocks in files of others ----

    def pages_with_block(self) -> Iterator[Path]:
        """Yield the files beside a scope in which a block of ours holds words."""
        for path, data in self._marked():
            with contextlib.suppress(BlockError):
                if self._words.holds(found(data) or ""):
                    yield path

    def erase_blocks(self) -> list[str]:
        """Remove the words from our blocks; return the failures."""
        for path in [*self._pages_beside()]:
            if TEMPORARY.fullmatch(path.name):
                self._swap.clear_up(path)
        left = []
        for path, data in self._marked():
            if not self._words.holds(data.decode("utf-8", "replace")):
                continue
            try:
                if self._words.holds(found(data) or ""):
                    with named_errors(path, "written"):
                        self._swap.edit(path, self._cut_block)
            except (BlockError, errors.StoreError) as error:
                left.append(f"{path}: {error}")
        return left

    def _cut_block(self, before: bytes | None) -> bytes:
        parts = []
        for old in re.split(r"(?m)^(?=[-*+] |#)", found(before or b"") or ""):
            new = self._words.cut(old) if self._words.holds(old) else old
            if new == old or not self._words.is_like(old.lstrip("-*+ ")):
                parts.append(new)
        return put_in(before or b"", "".join(parts), force=True)

    def _marked(self) -> Iterator[tuple[Path, bytes]]:
        """Yield the pages of a project, or of a home folder, that hold a block of ours."""
        for path in self._pages_beside():
            with contextlib.suppress(OSError, errors.EngramdownError):
                if path.suffix in _PAGES and path.stat().st_size <= _LARGEST_PAGE:
                    data = path.read_bytes()
                    if BEGIN.encode() in data:
                        yield path, data

    def _pages_beside(self) -> Iterator[Path]:
        """Yield the pages beside a scope, and temporary files of them."""
        top = self.root.parent
        deepest = _DEEPEST if self.store.scope == "project" else 1

        def is_entered(folder: Path) -> bool:
            is_near = len(folder.relative_to(top).parts) <= deepest
            return is_near and folder.name not in _NOT_ENTERED and folder != self.root

        found = _walk(top, is_entered)
        pages = (it for it in found if it.suffix in _PAGES or TEMPORARY.fullmatch(it.name))
        return islice(pages, _MOST_PAGES + 1)


def _walk(top: Path, is_entered: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the files below ``top``, sorted; no link is followed."""
    for folder, folders, names in os.walk(top):
        here = Path(folder)
        inside = [here / name for name in sorted(folders)]
        folders[:] = [each.name for each in inside if not each.is_symlink() and is_entered(each)]
        yield from (path for name in sorted(names) if not (path := here / name).is_symlink())


def _is_recorded(rest: Sequence[str]) -> bool:
    """Whether a file is a transcript, a payload or a list of summaries, handled elsewhere."""
    if rest[0] == EPISODES:
        is_payload = rest[1] == PAYLOADS and rest[-1].endswith(".txt")
        return is_payload or (len(rest) == 2 and rest[-1].endswith(".jsonl"))  # noqa: PLR2004 - in the folder itself
    return rest[0] == GISTS and rest[-1].endswith(".jsonl")


def _mask(path: Path, hide: Callable[[bytes], bytes]) -> None:
    """Overwrite words in place, so that a concurrent append is not lost."""
    with named_errors(path, "written"), path.open("r+b") as file:
        data = file.read()
        after = hide(data)
        if after != data:
            file.seek(0)
            file.write(after)
            file.flush()
            os.fsync(file.fileno())


def _cross_out(match: re.Match[bytes]) -> bytes:
    return match[1] + b"x" * len(match[2]) + match[3]
