"""Which memory git brought, and nobody here wrote, said or changed.

An entry is known by its words, under its heading and in the files of its kind: one of ours that git
puts under another heading is not ours there, and one that went with a branch and is back is. What
an automatic job did to a brought entry does not make it ours; what a person did to it does. The
journal is read once, and followed from there; what is kept of it in the cache may be deleted or
damaged. A journal that git knows may be a stranger's: then all that git knows counts as brought.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from engramdown.clock import today
from engramdown.engram import fold
from engramdown.errors import EntryNotFoundError, SettingsError, StoreError
from engramdown.hippocampus import placement
from engramdown.hippocampus.changeset import Act, Draft, new_id
from engramdown.hippocampus.changeset import retire as archive
from engramdown.hippocampus.entry import entry_id
from engramdown.hippocampus.git_state import is_versioned, known_to_git
from engramdown.hippocampus.history import CLONED, Change, Part, Step, digest
from engramdown.hippocampus.snapshot import AGENTS
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import ARCHIVE, ASIDE, LESSONS, PENDING, PROFILE, RULES, is_name
from engramdown.kinds import SOUL as SPELLED
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.metadata import Metadata
from engramdown.settings import CONFIG, config_text
from engramdown.storage.disk import Disk

_BY_GIT: Final = "checkout"
_FOUND: Final = "found"
_TICKED_BY_GIT: Final = "git"
# What a person does to a memory by a command that names it, or by saying it.
_ASKED_FOR: Final = frozenset({"encode", "update", "restore", "accept"})
_DIGITS: Final = 32
# With more to look for it is cheaper to read the file.
_MANY: Final = 256
_LINE: Final = 16


class Origins(NamedTuple):
    """Whose the entries of a scope are, up to some step of its journal.

    Attributes:
        ours: The keys of entries that stood here when git came, and were not brought by it.
        brought: The keys of entries that git brought.
        reworded: By the id of an entry, what it said before: the kind of its file, and the words.
    """

    ours: frozenset[str] = frozenset()
    brought: frozenset[str] = frozenset()
    reworded: Mapping[str, frozenset[tuple[str, str]]] = MappingProxyType({})


def follow(origins: Origins, steps: Iterable[Step], texts: Mapping[str, str]) -> Origins:
    """Return whose the entries are after ``steps``.

    Args:
        origins: Whose they were before them.
        steps: The oldest first.
        texts: What each file held before them.
    """
    trail = _Trail(origins, texts)
    for step in steps:
        trail.take(step)
    reworded = {name: frozenset(said) for name, said in trail.reworded.items()}
    return Origins(frozenset(trail.ours), frozenset(trail.brought), reworded)


def keys_in(file: str, document: Document) -> Iterator[tuple[str, Placed]]:
    """Yield the entries of a file that is no archive, each with its key."""
    if file != ARCHIVE:
        for placed in placement.raw_entries(file, document):
            yield key_of(file, placed), placed


def key_of(file: str, placed: Placed) -> str:
    """Return what an entry is known by; a proposal by all of its line, tick and metadata too."""
    if file == PENDING:
        return _key(file, "", placed.block.raw)
    return _key(_kind_of(file), placed.kind or placed.heading, placed.block.text)


def page_key(name: str, text: str) -> str:
    """Return what a whole file is known by, one that is no list of entries."""
    return _digest("page", name, text)


class _Trail:
    """What is known on the way through a journal."""

    def __init__(self, origins: Origins, texts: Mapping[str, str]) -> None:
        self.ours = set(origins.ours)
        self.brought = set(origins.brought)
        self.reworded = {name: set(said) for name, said in origins.reworded.items()}
        self._texts: dict[str, str] = dict(texts)
        # Files that git changed when we could not tell what they held.
        self._blurred: set[str] = set()
        # Under what stood what git brought, if all of that was seen.
        self._sections: set[str] | None = None if origins.brought else set()
        # Each file as it was read last, by its digest.
        self._read: dict[str, tuple[str, list[tuple[str, Placed]]]] = {}

    def take(self, step: Step) -> None:
        is_gits = step.op == _BY_GIT or (step.op, step.why) == (_FOUND, CLONED)
        if is_gits:
            self._settle()
        before = {part.file: self._texts.get(part.file, "") for part in step.parts}
        for part in step.parts:
            was_blurred = part.file in self._blurred
            self._apply(part, blurs=is_gits)
            if is_gits or (was_blurred and part.file not in self._blurred):
                self._bring(part.file)
        if not is_gits:
            for change in step.changes:
                self._leave(change)
            self._bring_changed(step)
        if _is_persons(step) and not is_gits:
            self._make_own(step, before)

    def _settle(self) -> None:
        """What stands when git comes is ours, unless git brought it before."""
        for file in self._texts:
            for key, placed in self._entries(file):
                self._own(key)
                for kind, words in self.reworded.pop(entry_id(placed), ()):
                    self._own(_key(kind, placed.kind or placed.heading, words))

    def _apply(self, part: Part, *, blurs: bool) -> None:
        """Carry a text on; one that is not as the step says is forgotten."""
        before = self._texts.pop(part.file, None)
        text = part.begins
        if text is None and before is not None:
            text = part.forward(before)
        if text is not None and len(text) == part.size and (not blurs or _fits(text, part)):
            self._texts[part.file] = text
            self._blurred.discard(part.file)
        elif blurs:
            self._blurred.add(part.file)

    def _bring(self, file: str) -> None:
        for key, placed in self._entries(file):
            if key not in self.ours:
                self.brought.add(key)
                if self._sections is not None:
                    self._sections.add(placed.kind or placed.heading)

    def _bring_changed(self, step: Step) -> None:
        """What a tick made that came with git is no more a person's than the tick."""
        made: dict[str, set[str | None]] = {}
        for change in step.changes if step.by == _TICKED_BY_GIT else ():
            made.setdefault(change.file, set()).add(change.after)
        for file, lines in made.items():
            self.brought |= {key for key, each in self._entries(file) if each.block.raw in lines}

    def _leave(self, change: Change) -> None:
        """Take note of what was ours and is not there any more, or says something else."""
        if change.before is None or change.file in ASIDE:
            return
        kind = _kind_of(change.file)
        for placed in parse(change.before).placed()[:1]:
            if change.after is None:
                self._own(_key(kind, change.section, placed.block.text))
            else:
                # Under which heading it stood is seen when git comes.
                said = (kind, fold(placed.block.text))
                self.reworded.setdefault(change.id, set()).add(said)

    def _make_own(self, step: Step, before: Mapping[str, str]) -> None:
        """Let the very lines be a person's that they wrote, changed, marked or named in a command.

        Their editor may have laid out every line anew: that says nothing about any of them.
        """
        written = [change for change in step.changes if change.after is not None]
        for file in {change.file for change in written} if self.brought else ():
            theirs = [change for change in written if change.file == file]
            if self._may_be_brought(file, theirs):
                self._make_lines_own(file, theirs, before.get(file, ""), by_name=step.by == "user")

    def _make_lines_own(
        self, file: str, theirs: Sequence[Change], before: str, *, by_name: bool
    ) -> None:
        stood = {key for key, _ in keys_in(file, parse(before))}
        lines: dict[str, list[tuple[str, Placed]]] = {}
        for key, placed in self._entries(file):
            lines.setdefault(placed.block.raw, []).append((key, placed))
        for change in theirs:
            named = change.before is not None and by_name
            for key, placed in lines.get(change.after or "", ()):
                if named or key not in stood or _is_marked(change.before, placed):
                    self.brought.discard(key)

    def _may_be_brought(self, file: str, theirs: Sequence[Change]) -> bool:
        """Whether changes may be about what git brought; those of most steps are not.

        So a file need not be read again for each step that added a line to it.
        """
        if self._sections is None or file == PENDING:
            return True
        texts = [
            placed.block.text for each in theirs for placed in parse(each.after or "").placed()
        ]
        many = _MANY + len(self._texts.get(file, "")) // _LINE
        if len(self._sections) * len(texts) > many or len(texts) < len(theirs):
            return True
        kind = _kind_of(file)
        return any(
            _key(kind, each, text) in self.brought for each in self._sections for text in texts
        )

    def _own(self, key: str) -> None:
        if key not in self.brought:
            self.ours.add(key)

    def _entries(self, file: str) -> list[tuple[str, Placed]]:
        text = self._texts.get(file, "")
        known = digest(text)
        if self._read.get(file, ("",))[0] != known:
            self._read[file] = (known, list(keys_in(file, parse(text))))
        return self._read[file][1]


def _is_marked(before: str | None, placed: Placed) -> bool:
    """Whether an entry that was there has other metadata now."""
    return any(old.block.meta != placed.block.meta for old in parse(before or "").placed()[:1])


def _is_persons(step: Step) -> bool:
    """Whether a step is a person's, about the very entries that it changed."""
    if step.by == "person":
        return step.op != _FOUND
    return step.by == "user" and step.op in _ASKED_FOR


def _fits(text: str, part: Part) -> bool:
    # A file that was removed has no digest.
    return digest(text) == part.target or not (text or part.target)


def _kind_of(file: str) -> str:
    """Return what the files of a kind have in common: a lesson stands in several."""
    return file if file in (RULES, PROFILE) else LESSONS


def _key(kind: str, section: str, text: str) -> str:
    return _digest(kind, fold(section), fold(text))


def _digest(*parts: str) -> str:
    told = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


NAME: Final = "cache/pulled.json"
"""Where is kept what was found out, relative to the scope's folder."""
SOUL: Final = "memory/soul.md"
"""The page that says who the assistant is."""

_FOLDERS: Final = ("templates", "prompts")
# So many steps are read again rather than written down.
_TAIL: Final = 64


class Brought(NamedTuple):
    """Something that git brought.

    Attributes:
        key: What it is known by, whatever line it stands on.
        file: An entry's file, relative to the memory folder; a page's, to the scope's folder.
        line: Where it stands there, from 1; 0 for a page.
        text: What it says.
        placed: The entry, or ``None`` for a page.
    """

    key: str
    file: str
    line: int
    text: str
    placed: Placed | None = None

    @property
    def comments(self) -> str:
        """The private comments inside the entry; of a page ``""``."""
        return "" if self.placed is None else self.placed.block.comments


class Provenance:
    """Whose the memory of one scope is."""

    def __init__(self, store: Hippocampus) -> None:
        """Look at the files of ``store``.

        ``unread`` are the files that could not be read when it was looked last, so that nobody
        can say whose they are.
        """
        self._store = store
        self._disk = Disk(durable=False)
        self.unread: frozenset[str] = frozenset()
        self._known: tuple[str, Origins] = ("", Origins())
        self._keys: dict[str, tuple[Document, list[tuple[str, Placed]]]] = {}

    def brought(self) -> list[Brought]:
        """Return what git brought and nobody here wrote, said or changed, in file order.

        Raises:
            StoreError: If memory cannot be read.
        """
        self.unread = frozenset()
        return [*self._entries(), *self._pages()] if self.is_versioned() else []

    def is_versioned(self) -> bool:
        """Whether the scope is in a work tree of git."""
        return is_versioned(self._store.root, self._disk)

    def begin(self) -> None:
        """Let the journal know every file as it is: from now on a person's edits are told apart.

        Raises:
            StoreError: If it cannot be written.
        """
        if not self.is_versioned():
            return
        files = self._store.files
        files.history.refresh()
        new = [name for name in files.names() if files.history.head(name) is None]
        if new:
            # To ask for a file is enough: one that the journal does not know is taken in then.
            files.change(Act("found", "person"), lambda draft: [draft.get(name) for name in new])

    def own_pages(self) -> set[str]:
        """Return the keys of pages that git does not know: of whom they are, none could tell later.

        Raises:
            StoreError: If one cannot be read.
        """
        pages = self.pages() if self.is_versioned() else []
        known = self.knows([self.path(page) for page in pages]) if pages else set[Path]()
        return {page.key for page in pages if self.path(page) not in known}

    def pages(self) -> list[Brought]:
        """Return every page that shapes a prompt, and the settings, whoever wrote them."""
        root = self._store.root
        names = [f"{at}/{name}" for at in _FOLDERS for name in self._disk.names(root / at)]
        texts = [(name, self._page_text(name)) for name in [SOUL, *names]]
        texts += [(f"{AGENTS}/{name}", self._beside(name)) for name in (SPELLED, PROFILE)]
        texts.append((CONFIG, self._settings()))
        return [Brought(page_key(name, text), name, 0, text) for name, text in texts if text]

    def _beside(self, name: str) -> str:
        """Return what stands beside the scope; what cannot be read is shown to no model either."""
        try:
            return self._store.files.text_beside(name)
        except StoreError:
            return ""

    def _page_text(self, name: str) -> str:

        try:
            return self._store.files.text(name)
        except StoreError:
            self.unread |= {name}
            return ""

    def _settings(self) -> str:
        """Return the settings of the scope; of what cannot be read, why."""
        try:
            return config_text(self._store.root / CONFIG)
        except SettingsError as error:
            return str(error)

    def path(self, item: Brought) -> Path:
        """Return where something stands, as it is spelled there."""
        folder, _, name = item.file.rpartition("/")
        if folder == AGENTS:
            place = self._store.files.beside(name)
            return place or self._store.root.parent / item.file
        if item.placed is None and item.file != SOUL:
            return self._store.root / item.file
        return self._store.files.place(item.file.removeprefix("memory/"))

    def knows(self, paths: Sequence[Path]) -> set[Path]:
        """Return which files git knows; in doubt it does."""
        return known_to_git(paths, self._disk)

    def reword(self, item: Brought, text: str) -> None:
        """Let an entry say ``text`` wherever it stands: then it is the person's.

        Raises:
            EntryNotFoundError: If it is not there any more.
            StoreError: If it could not be written.
        """
        # Imported here: what git brought is reworded once, and looked at with every prompt.
        from engramdown.secrets.redaction import redact

        def edit(draft: Draft) -> None:
            for name, placed in self._lines(draft, item):
                document = draft.get(name)
                draft.put(name, document.replace(placed.block, redact(text), placed.block.meta))

        self._store.files.change(Act("update", "user", "approved in other words"), edit)

    def verify(self, item: Brought) -> None:
        """Let an entry be verified wherever it stands: a person approved it; raises as above."""

        def edit(draft: Draft) -> None:
            for name, placed in self._lines(draft, item):
                meta = (placed.block.meta or Metadata()).update({"basis": "verified"})
                draft.put(name, draft.get(name).note(placed.block, meta))

        self._store.files.change(Act("update", "user", "approved what git brought"), edit)

    def retire(self, item: Brought) -> None:
        """Move an entry to the archive, as what a person forgot; raises as :meth:`reword`."""

        def edit(draft: Draft) -> None:
            for at, (name, placed) in enumerate(self._lines(draft, item)):
                if not at and name != PENDING:
                    entry = placement.as_entry(name, self._store.scope, placed)
                    record = {"kind": entry.kind, "was": name, "reason": "forgotten", "by": "user"}
                    archive(draft, placed, record, new_id(), today().isoformat())
                draft.remove(name, placed.block)

        self._store.files.change(Act("forget", "user", "declined what git brought"), edit)

    def _lines(self, draft: Draft, item: Brought) -> list[tuple[str, Placed]]:
        """Return the lines that are known by the key of ``item``, and no others of its id."""
        found = [
            (name, placed)
            for name in self._store.files.names()
            for key, placed in keys_in(name, draft.get(name))
            if key == item.key
        ]
        if not found:
            raise EntryNotFoundError(item.text, "what git brought")
        return found

    # ---- entries ----

    def _entries(self) -> Iterator[Brought]:

        files = self._store.files
        files.history.refresh()
        names = files.names()
        paths = {name: files.place(name) for name in names}
        known = self.knows([files.history.path, *paths.values()])
        # What a journal says that came with a commit, anybody can have written.
        is_ours = files.history.path not in known
        origins = self._origins() if is_ours else Origins()
        for name in names:
            try:
                document = files.document(name)
            except StoreError:
                self.unread |= {name}
                continue
            told = self._told(name, document) if is_ours else frozenset[str]()
            for key, placed in self._keys_of(name, document):
                new = told is not None and paths[name] in known and key not in origins.ours | told
                if key in origins.brought or new:
                    yield Brought(key, name, placed.line, placed.block.text, placed)

    def _told(self, name: str, document: Document) -> frozenset[str] | None:
        """Return the keys of a file as the journal knows it; ``None`` if it stands there so."""
        head = self._store.files.history.head(name)
        text = document.render()
        if head and head == digest(text):
            return None
        past = self._store.files.history.text(name) if head else ""
        return frozenset(key for key, _ in keys_in(name, parse(past or "")))

    def _keys_of(self, name: str, document: Document) -> list[tuple[str, Placed]]:
        known = self._keys.get(name)
        if known is None or known[0] is not document:
            known = self._keys[name] = (document, list(keys_in(name, document)))
        return known[1]

    def _pages(self) -> Iterator[Brought]:
        pages = self.pages()
        known = self.knows([self.path(page) for page in pages])
        yield from (page for page in pages if self.path(page) in known)

    # ---- what the journal tells ----

    def _origins(self) -> Origins:
        last = self._store.files.history.last
        if not last or last == self._known[0]:
            return self._known[1] if last else Origins()
        at, before = self._known if self._known[0] else self._load()
        steps = self._store.files.history.steps_after(at) if at and at != last else []
        if at != last:
            texts = self._undone(steps) if steps else {}
            if not steps:
                before, steps = Origins(), self._store.history()
            before = follow(before, steps, texts)
            if len(steps) > _TAIL or before.brought:
                self._save(last, before)
        self._known = (last, before)
        return before

    def _undone(self, steps: Sequence[Step]) -> dict[str, str]:
        """Return the texts of files before ``steps``, of those that are known."""
        texts: dict[str, str] = {}
        for name, head in self._store.files.history.heads().items():
            text = self._head_text(name, head) if is_name(name) else None
            if text is not None:
                texts[name] = text
        for step in reversed(steps):
            for part in step.parts:
                if part.file in texts:
                    texts[part.file] = part.backward(texts[part.file])
                if not part.source:
                    texts.pop(part.file, None)
        return texts

    def _head_text(self, name: str, head: str) -> str | None:
        text = self._store.files.document(name).render() if head else ""
        return text if not head or digest(text) == head else self._store.files.history.text(name)

    def _load(self) -> tuple[str, Origins]:
        """Return what the cache holds, and up to which step; ``""`` if it holds nothing."""
        try:
            data = self._disk.read(self._cache())
            told = json.loads(data or b"")
            said = json.loads(told["said"]) if _sum(told["said"]) == told["sum"] else {}
            reworded = {
                name: frozenset((kind, words) for kind, words in pairs)
                for name, pairs in said["reworded"].items()
            }
            return said["last"], Origins(
                frozenset(said["ours"]), frozenset(said["brought"]), reworded
            )
        except (OSError, StoreError, ValueError, LookupError, TypeError, AttributeError):
            return "", Origins()
        except RecursionError:  # JSON that is nested for its own sake
            return "", Origins()

    def _save(self, last: str, origins: Origins) -> None:

        said: Mapping[str, Any] = {
            "last": last,
            "ours": sorted(origins.ours),
            "brought": sorted(origins.brought),
            "reworded": {name: sorted(pairs) for name, pairs in origins.reworded.items()},
        }
        text = json.dumps(said)
        try:
            path = self._cache()
            self._disk.make_folder(path.parent)
            self._disk.create(path, json.dumps({"sum": _sum(text), "said": text}).encode())
        except (OSError, StoreError):
            return  # Then it is found out again.

    def _cache(self) -> Path:
        return self._disk.inside(self._store.root / NAME, self._store.root)


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
