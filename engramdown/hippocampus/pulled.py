"""What stands in a scope that git brought: entries, pages that shape a prompt, and settings.

Promises: reads the journal once and goes on from there; what is kept of it in the cache may be
deleted or spoilt at any time. A journal that git knows may be a stranger's: then it tells nothing,
and whatever git knows counts as brought. Where there is no git, nothing is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.clock import today
from engramdown.errors import EntryNotFoundError, SettingsError, StoreError
from engramdown.hippocampus import placement
from engramdown.hippocampus.changeset import Act, Draft
from engramdown.hippocampus.checkouts import is_versioned, known_to_git
from engramdown.hippocampus.files import new_id
from engramdown.hippocampus.history import Step, digest
from engramdown.hippocampus.origins import Origins, follow, keys_in, page_key
from engramdown.hippocampus.snapshot import AGENTS
from engramdown.hippocampus.snapshot import SOUL as SPELLED
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.metadata import Metadata
from engramdown.settings import CONFIG, config_text
from engramdown.storage.disk import Disk

__all__ = ["NAME", "SOUL", "Brought", "Provenance"]

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
        texts += [(f"{AGENTS}/{name}", self._beside(name)) for name in (SPELLED, placement.PROFILE)]
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
                if not at and name != placement.PENDING:
                    entry = placement.as_entry(name, self._store.scope, placed)
                    record = {"kind": entry.kind, "was": name, "reason": "forgotten", "by": "user"}
                    placement.retire(draft, placed, record, new_id(), today().isoformat())
                draft.put(name, draft.get(name).remove(placed.block))

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
            text = self._head_text(name, head) if placement.is_name(name) else None
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
