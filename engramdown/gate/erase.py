"""Erases memories for good, which a person may ask for and a model may not.

It says what will go before it changes anything. The words leave every file in the folders of both
scopes, and our blocks in files of the project. An erasure that is interrupted is finished by
whoever opens memory next, and what cannot be reached is named. What was erased is not learned
again, and nothing is kept that would let anybody guess it quickly.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.engram import Engram, Scope, fold
from engramdown.episodes.eraser import EpisodeEraser, Held
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import (
    EngramdownError,
    EntryNotFoundError,
    InvalidEngramError,
    LockTimeoutError,
    StoreError,
)
from engramdown.gate.erasure_marks import Marks
from engramdown.hippocampus import entry
from engramdown.hippocampus.changeset import new_id
from engramdown.hippocampus.entry import address, by_prefix, entry_id
from engramdown.hippocampus.erase import Sieve
from engramdown.hippocampus.git_state import is_versioned, known_to_git
from engramdown.hippocampus.history import Step
from engramdown.hippocampus.provenance import key_of
from engramdown.hippocampus.snapshot import Reader
from engramdown.hippocampus.store import Hippocampus
from engramdown.journal.journal import Journal
from engramdown.kinds import PENDING
from engramdown.language.similarity import is_rewording
from engramdown.markdown.blocks import entry_block
from engramdown.markdown.marked_block import BEGIN, BlockError, found, put_in
from engramdown.storage.disk import ERASING as NOTE
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.erasure import Erasure, Words, begin, end, unfinished
from engramdown.storage.exchange import TEMPORARY, Swap
from engramdown.storage.locks import ScopeLock
from engramdown.transcripts.changes import FOLDER as EPISODES
from engramdown.transcripts.payloads import PAYLOADS
from engramdown.transcripts.summary_log import FOLDER as GISTS

if TYPE_CHECKING:
    from engramdown.settings import Settings

_LOCK: Final = "erasing.lock"
_GOES_ON: Final = "What is left of the erasure is done by the next command that opens memory."
_HANDLED: Final = frozenset({"history.jsonl", NOTE, f"{NOTE}.part", "erased"})
"""What is seen to elsewhere, or holds no words that can be read."""
_LOCKS: Final = frozenset({".lock"})
_INDEXES: Final = ("index.", "vectors.")
_DIGESTS: Final = ("pulled.json", "given.json", "refused-")
_DIGESTED: Final = re.compile(rb'("digest": ?")([0-9a-f]{8,64})(")')
_HAND: Final = "~_"
_OWN: Final = frozenset({"skills", "templates", "prompts", "config.toml", "memory"})
"""What a person writes for another purpose: only what says all of it, or most, is taken out."""
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
        file: Where it stands, relative to the memory folder; ``""`` if only the journal has it.
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
        lines: Their numbers: of a transcript, those of ``engramdown log show``.
    """

    scope: Scope
    session: str
    path: Path
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What an erasure takes away, or took.

    Attributes:
        memories: The memories, wherever they stand: live, waiting, retired.
        versions: How many texts they had, earlier ones included.
        steps: How many steps of the journals of changes lose words.
        lines: The lines of transcripts that are emptied, by scope.
        files: Every other file that loses words, or goes.
        stays: The ids of other memories that share some words with them, and stay.
        shared: Lines that share less than half of a text, or stand in pages that a person wrote for
            another purpose, such as skills, and stay.
        unreached: What cannot be reached from here, and what would, a sentence each.
        left: What could not be done yet, and why; the next command tries again.
        changed: Whether it was done, and not only told.
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
) -> Erased:
    """Erase memories for good; see :meth:`engramdown.gate.review.Review.erase`."""
    if not stores:
        raise StoreError("no scope has files, so there is nothing that could be erased from them")
    if not ids and not any(text.strip() for text in texts):
        raise InvalidEngramError("ids", "name at least one memory to erase")
    asked = _Asked(stores)
    for each in ids:
        asked.add(each)
    for text in texts:
        asked.texts.setdefault(text)
    erasure = asked.erasure(pieces=pieces)
    told = _Telling(stores, erasure).told(asked)
    if dry_run:
        return told
    disk = Disk()
    roots = [Path(root) for root in erasure.roots]
    for path in told.files:
        disk.check_writable(path.parent)
        disk.check_writable(path)
    with _alone(roots[0], settings.lock_timeout):
        for root in roots:
            begin(root, erasure, disk)
        try:
            left = _carry_out(stores, settings, erasure, wait=True)
        except StoreError as error:
            raise StoreError(f"{error} {_GOES_ON}") from error
    return _replaced(told, left=tuple(left), changed=True)


def finish(stores: Sequence[Hippocampus], settings: Settings, *, wait: bool = True) -> list[str]:
    """Finish what was cut short; return what could not be done, and nothing if there is nothing.

    Args:
        stores: The stores of both scopes.
        settings: How long a lock is waited for.
        wait: Whether to wait for those who hold locks; who only reads need not.

    Raises:
        StoreError: If it could not be gone on with; it is tried again next time.
    """
    disk = Disk()
    for store in stores:
        erasure = unfinished(store.root, disk)
        if erasure is None:
            # What was not even noted whole was not begun.
            with contextlib.suppress(OSError):
                disk.unlink(store.root / f"{NOTE}.part")
            continue
        if store.scope != "global":
            # What a project says is about nothing but itself: it may have been cloned.
            erasure = _only(erasure, store.root)
        try:
            with _alone(store.root, 0):
                return _carry_out(stores, settings, erasure, wait=wait)
        except LockTimeoutError:
            # Somebody is at it, or at what it needs: then it is for the next one.
            return []
    return []


# ---- what is meant ----


class _Asked:
    """The memories that are to go, and everything that they ever said."""

    def __init__(self, stores: Sequence[Hippocampus]) -> None:
        self._stores = stores
        self._steps = [(store, step) for store in stores for step in store.history()]
        self._standing = [
            (store, name, placed)
            for store in stores
            for name in store.files.names()
            for placed in entry.raw_entries(name, store.files.document(name))
        ]
        self._meant: dict[str, None] = {}
        self._same: dict[str, bool] = {}
        self.ids: dict[str, None] = {}
        self.texts: dict[str, None] = {}
        self.memories: dict[tuple[Scope, str, str], Gone] = {}

    def add(self, prefix: str) -> None:
        """Add the memory whose id begins with ``prefix``: live, waiting, retired or journalled.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
        """
        names = [entry_id(placed) for _, _, placed in self._standing]
        if prefix[:1] in _HAND:
            names += [address(_said(name, p.block.text)) for _, name, p in self._standing]
            prefix = names[0][:1] + prefix[1:] if names and names[0][:1] in _HAND else prefix
        try:
            chosen = by_prefix(prefix, names, str, "memory, what waits, the archive")
        except EntryNotFoundError:
            # What is in none of the files any more may be in the journal.
            told = [change.id for _, step in self._steps for change in step.changes]
            if _is_erased(self._steps, prefix):
                raise EntryNotFoundError(prefix, "memory: it was erased for good") from None
            told = [each for each in told if each and not _is_erased(self._steps, each)]
            chosen = by_prefix(prefix, told, str, "memory, what waits, the archive, the journal")
        self.ids[chosen] = None
        self._follow()
        # Of what only says the same, nothing follows.
        self._meant |= self.texts
        self._same.clear()
        self._follow()
        if not self.texts:
            raise EntryNotFoundError(prefix, "memory: nothing is left of its words")

    def _follow(self) -> None:
        """Add every version of what is meant, and every other line that says the same."""
        count = -1
        while count != len(self.ids) + len(self.texts):
            count = len(self.ids) + len(self.texts)
            folds = {fold(text) for text in self.texts}
            for store, name, placed in self._standing:
                text = _said(name, placed.block.text)
                own = entry_id(placed)
                is_same = fold(text) in folds or self._says_same(text)
                if own in self.ids or address(text) in self.ids or is_same:
                    self._take(own, text)
                    kind = entry.as_entry(name, store.scope, placed).kind
                    gone = Gone(own, store.scope, name, kind)
                    self.memories[store.scope, name, own] = gone
            for _, step in self._steps:
                for change in step.changes:
                    if change.id in self.ids and not change.erased:
                        for raw in filter(None, (change.before, change.after)):
                            text = _said(change.file, entry_block(raw).text)
                            self._take(change.id, text)

    def _says_same(self, text: str) -> bool:
        """Whether a text says the same as one that was asked for, in other words."""
        if text not in self._same:
            words = {*fold(text).split()}
            near = [each for each in self._meant if _shares(words, each)]
            self._same[text] = any(is_rewording(text, each) for each in near)
        return self._same[text]

    def _take(self, own: str, text: str) -> None:
        self.ids[own] = None
        self.texts[text] = None
        if own[:1] in _HAND:
            # A line without an id is known by its words, and was known by other words before.
            self.ids[address(text)] = None

    def erasure(self, *, pieces: bool) -> Erasure:
        """Return what is to be erased, with all that could be made of it."""
        self._follow()
        texts = tuple(text for text in self.texts if text.strip())
        kinds = dict.fromkeys(gone.kind for gone in self.memories.values())
        roots = [str(store.root) for store in self._stores if store.root.is_dir()]
        return Erasure(
            step=new_id(),
            ids=tuple(self.ids),
            texts=texts,
            tokens=tuple(dict.fromkeys(self._tokens(texts))),
            kinds=tuple(kinds),
            pieces=pieces,
            roots=tuple(roots),
        )

    def _tokens(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield what somebody could compare a guess with."""
        # Imported here: only who migrated has such digests.
        from engramdown.engram import fingerprint

        for text in texts:
            where = address(text)
            yield from (f"{mark}{where[1:]}" for mark in _HAND)
            said = text.encode("utf-8", "surrogatepass")
            yield hashlib.sha256(said).hexdigest()[:16]
            yield fingerprint(Engram(text, "lesson", "project"))
            yield fingerprint(Engram(text, "never", "project"))
        folds = {fold(text) for text in texts}
        for _, name, placed in self._standing:
            if fold(_said(name, placed.block.text)) in folds:
                yield key_of(name, placed)
        for _, step in self._steps:
            for change in step.changes:
                for raw in filter(None, (change.before, change.after)):
                    if fold(_said(change.file, entry_block(raw).text)) in folds:
                        yield from _keys(change.file, raw)


def _keys(file: str, raw: str) -> Iterator[str]:
    """Yield by what a line may be known to whoever asks what git brought."""
    from engramdown.markdown.document import parse

    heads = ("", "## Always\n\n", "## Never\n\n", "## When\n\n")
    for head in heads:
        for placed in parse(f"{head}{raw}").placed():
            yield key_of(file, placed)


def _shares(words: set[str], text: str) -> bool:
    """Whether a text has at least half of some words."""
    return 2 * len(words.intersection(fold(text).split())) >= len(words)


def _said(name: str, text: str) -> str:
    """Return what a line says, without its tick and the question that it asks."""
    if name != PENDING:
        return text
    return entry.split_task(text)[1].removeprefix("Delete: ")


def _is_erased(steps: Iterable[tuple[Hippocampus, Step]], name: str) -> bool:
    return any(change.id == name and change.erased for _, step in steps for change in step.changes)


# ---- telling ----


class _Telling:
    """Looks at what an erasure would change; writes nothing."""

    def __init__(self, stores: Sequence[Hippocampus], erasure: Erasure) -> None:
        self._stores = stores
        self._erasure = erasure
        self._words = erasure.words()
        self._sieve = Sieve(erasure)
        self._disk = Disk()

    def told(self, asked: _Asked) -> Erased:
        """Return what would go, and what would not."""
        stores = [store for store in self._stores if store.root.is_dir()]
        lines = [
            (store.scope, held)
            for store in stores
            for held in _transcripts(store, self._words).held()
        ]
        files = [path for store in stores for path in self._files(store)]
        files += [path for store in stores for path in _blocks_of(store, self._words)]
        return Erased(
            memories=tuple(asked.memories.values()),
            versions=len(self._erasure.texts),
            steps=sum(self._is_told(step) for store in stores for step in store.history()),
            lines=tuple(lines),
            files=tuple(dict.fromkeys(files)),
            stays=tuple(self._others(stores)),
            shared=tuple(each for store in stores for each in self._shared(store)),
            unreached=tuple(_unreached(stores, self._disk, files)),
        )

    def _is_told(self, step: Step) -> bool:
        return any(self._sieve.change(change) != change for change in step.changes)

    def _files(self, store: Hippocampus) -> Iterator[Path]:
        for name in store.files.names():
            text = store.files.document(name).render()
            if self._sieve.text(name, text) != text:
                yield store.files.place(name)
        yield from _transcripts(store, self._words).payloads()
        for path, rest in _others(store.root):
            if _is_held(path, rest, self._words):
                yield path

    def _others(self, stores: Iterable[Hippocampus]) -> Iterator[str]:
        """Yield the ids of memories that stay although they share words."""
        for store in stores:
            for name in store.files.names():
                for placed in entry.raw_entries(name, store.files.document(name)):
                    fate = self._sieve.fate(name, placed.block)
                    if fate == "stays" and self._words.shares(placed.block.text):
                        yield entry_id(placed)

    def _shared(self, store: Hippocampus) -> Iterator[Shared]:
        """Yield the lines of everything else that share a run and stay."""
        for held in _transcripts(store, self._words).shared():
            path = store.root / EPISODES / f"{held.session}.jsonl"
            yield Shared(store.scope, held.session, path, held.seqs)
        for path, rest in _others(store.root, recorded=True):
            is_transcript = rest[0] == EPISODES and rest[-1].endswith(".jsonl")
            is_derived = rest[0] == "cache" and rest[1:2] != ("hooks",)
            if not (is_transcript or is_derived):
                text = _text_of(path)
                is_own = rest[0] in _OWN and not self._words.is_whole(text)
                lines = self._words.shared_lines(text, untouched=is_own)
                if lines:
                    yield Shared(store.scope, "", path, tuple(lines))


def _unreached(stores: Sequence[Hippocampus], disk: Disk, files: Sequence[Path]) -> Iterator[str]:
    """Yield what keeps the words all the same, and what would take them out there."""
    for store in stores:
        if is_versioned(store.root, disk) and known_to_git([store.memory, *files], disk):
            yield _IN_GIT.format(folder=store.root.parent)
    yield from _ELSEWHERE


def _replaced(told: Erased, *, left: tuple[str, ...], changed: bool) -> Erased:
    return replace(told, left=left, changed=changed)


# ---- doing ----


@contextlib.contextmanager
def _alone(root: Path, timeout: float) -> Iterator[None]:
    """Keep others from finishing what is being done."""
    with named_errors(root / _LOCK, "written"), ScopeLock(root / _LOCK, timeout).hold():
        yield


def _only(erasure: Erasure, root: Path) -> Erasure:
    return erasure._replace(roots=(str(root),))


def _carry_out(
    known: Sequence[Hippocampus], settings: Settings, erasure: Erasure, *, wait: bool
) -> list[str]:
    """Do everything that an erasure asks for; return what could not be done, and why."""
    disk, words = Disk(), erasure.words()
    left: list[str] = []
    roots = [root for root in map(Path, erasure.roots) if root.is_dir()]
    stores = [_opened(known, settings, root) for root in roots]
    for store in stores:
        if unfinished(store.root, disk) is None:
            begin(store.root, erasure, disk)
        store.files.erase(wait=wait)
    for store in stores:
        patience = settings.of(store.scope).lock_timeout if wait else 0
        _transcripts(store, words).erase(patience)
        left += _pages(store, words, disk, patience)
        left += _blocks(store, words, disk)
        Marks(store.root).add(erasure.texts)
        left += _sweep(store, words, disk)
    if left:
        return left
    # The first one last: it says which folders the others are.
    for store in reversed(stores):
        end(store.root, disk)
    return []


def _opened(known: Sequence[Hippocampus], settings: Settings, root: Path) -> Hippocampus:
    for store in known:
        if store.root == root:
            return store
    return Hippocampus(root, lock_timeout=settings.lock_timeout)


def _transcripts(store: Hippocampus, words: Words) -> EpisodeEraser:
    return EpisodicMemory(store.root).eraser(words)


def _pages(store: Hippocampus, words: Words, disk: Disk, patience: float) -> list[str]:
    """Take the words out of pages that people and assistants write; return what could not be."""
    left = []
    swap = Swap(disk)
    memory = EpisodicMemory(store.root)
    with contextlib.ExitStack() as stack:
        if (store.root / EPISODES).is_dir():
            stack.enter_context(memory.recorder.lock.hold(patience))
        if (store.root / "journal").is_dir():
            stack.enter_context(Journal(store.root, lock_timeout=patience).alone())
        for path, rest in _others(store.root):
            if rest[0] != "memory" and TEMPORARY.fullmatch(path.name):
                swap.clear_up(path)  # of an erasure that was cut short
                continue
            if not _is_page(rest) or not _is_held(path, rest, words):
                continue
            try:
                with named_errors(path, "written"):
                    swap.edit(path, _cutting(words))
            except StoreError as error:
                left.append(str(error))
    return left


def _cutting(words: Words) -> Callable[[bytes | None], bytes]:
    def cut(before: bytes | None) -> bytes:
        text = (before or b"").decode("utf-8", "surrogateescape")
        return words.cut(text).encode("utf-8", "surrogateescape")

    return cut


def _is_page(rest: Sequence[str]) -> bool:
    """Whether a file of a scope is a page that a person may have open."""
    folders = ("journal", "working", "gists", "skills", "templates", "prompts", "memory")
    return rest[0] in folders and rest[-1].endswith(_TEXTS) and rest[-1][:1] != "."


def _others(root: Path, *, recorded: bool = False) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield every file of a scope but those that are seen to elsewhere; no link is followed.

    Args:
        root: The folder of the scope.
        recorded: Those with what was recorded as well.
    """
    reader = Reader(root, Disk(durable=False))
    memories = {reader.place(name) for name in reader.names()}
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not (here / name).is_symlink() and not (here == root and name in _HANDLED)
        )
        for name in sorted(names):
            path = here / name
            rest = path.relative_to(root).parts
            if rest[0] in _HANDLED or name in _LOCKS or name.endswith(".lock") or path.is_symlink():
                continue
            is_other = path not in memories and (recorded or not _is_recorded(rest))
            if is_other and path.is_file():
                yield path, rest


def _is_recorded(rest: Sequence[str]) -> bool:
    """Whether a file is seen to line by line, or with what was recorded."""
    if rest[0] == EPISODES:
        is_payload = rest[1] == PAYLOADS and rest[-1].endswith(".txt")
        return is_payload or (len(rest) == 2 and rest[-1].endswith(".jsonl"))  # noqa: PLR2004 - in the folder itself
    return rest[0] == GISTS and rest[-1].endswith(".jsonl")


def _is_held(path: Path, rest: Sequence[str], words: Words) -> bool:
    """Whether a file holds words that are to go."""
    if rest[0] == "cache" and rest[-1].startswith(_INDEXES):
        return False  # cleaned with the transcripts
    text = _text_of(path)
    return words.is_whole(text) if rest[0] in _OWN else words.holds(text)


def _text_of(path: Path) -> str:
    """Return what a file says; nothing if it cannot be read."""
    try:
        data = Disk().load(path) or b""
    except (OSError, StoreError):
        return ""
    return data.decode("utf-8", "surrogateescape")


def _sweep(store: Hippocampus, words: Words, disk: Disk) -> list[str]:
    """See to every file that is left, and return what still holds words, and why."""
    left = []
    root = store.root
    for path, rest in _others(root):
        if rest[0] == "cache" and rest[-1].startswith(_DIGESTS):
            disk.unlink(path)  # digests of what memory said
        elif rest == ("sleep.jsonl",):
            _mask(path, lambda data: _DIGESTED.sub(_blinded, data))
        elif not _is_held(path, rest, words):
            continue
        elif rest[0] == "cache" and rest[1:2] != ("hooks",):
            disk.unlink(path)
        elif disk.is_being_written(path):
            left.append(f"{path}: is open in another program; close it there")
        else:
            _mask(path, words.mask)
            if _is_held(path, rest, words):
                left.append(f"{path}: holds them in a form that cannot be taken out; remove it")
    return left


def _mask(path: Path, hide: Callable[[bytes], bytes]) -> None:
    """Overwrite what is to go in place: whoever appends to the file meanwhile loses nothing."""
    with named_errors(path, "written"), path.open("r+b") as file:
        data = file.read()
        after = hide(data)
        if after != data:
            file.seek(0)
            file.write(after)
            file.flush()
            os.fsync(file.fileno())


def _blinded(match: re.Match[bytes]) -> bytes:
    return match[1] + b"x" * len(match[2]) + match[3]


# ---- our blocks in files of others ----


def _blocks_of(store: Hippocampus, words: Words) -> Iterator[Path]:
    """Yield the files beside a scope in which a block of ours holds words."""
    for path, data in _marked(store):
        with contextlib.suppress(BlockError):
            if words.holds(found(data) or ""):
                yield path


def _blocks(store: Hippocampus, words: Words, disk: Disk) -> list[str]:
    """Take the words out of our blocks; return what could not be, and why."""
    left = []
    swap = Swap(disk)
    for path in [*_pages_beside(store)]:
        if TEMPORARY.fullmatch(path.name):
            swap.clear_up(path)
    for path, data in _marked(store):
        if not words.holds(data.decode("utf-8", "replace")):
            continue
        try:
            inner = found(data) or ""
            if words.holds(inner):
                with named_errors(path, "written"):
                    swap.edit(path, _sifted(words))
        except (BlockError, StoreError) as error:
            left.append(f"{path}: {error}")
    return left


def _sifted(words: Words) -> Callable[[bytes | None], bytes]:
    def sifted(before: bytes | None) -> bytes:
        inner = found(before or b"") or ""
        blocks = re.split(r"(?m)^(?=[-*+] |#)", inner)
        kept = [words.cut(each) if words.holds(each) else each for each in blocks]
        kept = [
            new
            for old, new in zip(blocks, kept, strict=True)
            if new == old or not words.is_like(old.lstrip("-*+ "))
        ]
        return put_in(before or b"", "".join(kept), force=True)

    return sifted


def _marked(store: Hippocampus) -> Iterator[tuple[Path, bytes]]:
    """Yield the pages of a project, or of a home folder, that hold a block of ours."""
    for path in _pages_beside(store):
        with contextlib.suppress(OSError, EngramdownError):
            if path.suffix in _PAGES and path.stat().st_size <= _LARGEST_PAGE:
                data = path.read_bytes()
                if BEGIN.encode() in data:
                    yield path, data


def _pages_beside(store: Hippocampus) -> Iterator[Path]:
    """Yield the pages beside a scope, and what was left of writing some."""
    top = store.root.parent
    deepest = _DEEPEST if store.scope == "project" else 1
    seen = 0
    for folder, folders, names in os.walk(top):
        here = Path(folder)
        depth = len(here.relative_to(top).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < deepest
            and name not in _NOT_ENTERED
            and here / name != store.root
            and not (here / name).is_symlink()
        )
        for name in sorted(names):
            path = here / name
            is_page = path.suffix in _PAGES or TEMPORARY.fullmatch(name)
            if is_page and not path.is_symlink():
                seen += 1
                yield path
            if seen > _MOST_PAGES:
                return
