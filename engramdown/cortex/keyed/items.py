"""Values under keys in the memory files of both scopes: read, searched, put, taken away.

Promises: a value that was put is a line of memory that a person can read and change, and it comes
back as it was put, or as they changed it; what the gate does not let through is told, and what a
person wrote or changed is only ever asked about. Several puts are one step for each scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.clock import today
from engramdown.cortex.keyed.values import Parts, joined
from engramdown.cortex.keyed_values import (
    DUPLICATE,
    FIELD,
    HIDDEN,
    KEY,
    MADE,
    NAMESPACE,
    REST,
    WHEN,
    Home,
    Namespace,
    home_of,
    named,
    native,
    written,
)
from engramdown.cortex.relevance import Index
from engramdown.engram import Scope
from engramdown.errors import InvalidEngramError, StoreError
from engramdown.hippocampus.draft import verified_by
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import ARCHIVE, LESSONS, PENDING, as_entry, raw_entries
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Document
from engramdown.markdown.metadata import Metadata

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex

__all__ = ["Item", "Items"]

_ASIDE: Final = frozenset({ARCHIVE, PENDING})
_Read = tuple[Document, tuple[str, ...], dict[Block, "Item"]]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Item(NamedTuple):
    """A value under a key.

    Attributes:
        namespace: The namespace.
        key: The key; of a memory that was not put under one, its id.
        value: The value.
        entry: The memory that it is.
        made: When it was put first.
        changed: When it was put last.
        searched: Whether a search may find it.
    """

    namespace: Namespace
    key: str
    value: dict[str, Any]
    entry: Entry
    made: datetime
    changed: datetime
    searched: bool = True

    @property
    def was_put(self) -> bool:
        """Whether a program put it, so that it has a key of its own."""
        return self.key != self.entry.id


class Items:
    """The values of a cortex."""

    def __init__(self, cortex: Cortex, scope: Scope = "project") -> None:
        """Read and write what ``cortex`` keeps.

        Args:
            cortex: Gates and keeps it.
            scope: Where namespaces stand that name no scope.

        Raises:
            InvalidEngramError: If the scope is none.
            StoreError: If a store has no files.
        """
        if scope not in ("project", "global"):
            raise InvalidEngramError.not_one_of("scope", scope, ("project", "global"))
        self.cortex = cortex
        self.scope: Scope = scope
        self.stores: dict[Scope, Hippocampus] = {}
        both: list[tuple[Scope, object]] = [
            ("project", cortex.project_hc),
            ("global", cortex.global_hc),
        ]
        for name, store in both:
            if not isinstance(store, Hippocampus):
                raise StoreError(f"{type(store).__name__}: has no files to keep values in")
            self.stores[name] = store
        self._read: dict[tuple[Scope, str], _Read] = {}
        self._index: tuple[list[Entry], Index] | None = None

    def home(self, namespace: Namespace) -> Home:
        """Return where the values of a namespace stand."""
        return home_of(namespace, self.scope)

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Return what stands under a key, or ``None``."""
        home = self.home(namespace)
        found = [*self._of(home.scope, home.file), *self._of(home.scope, ARCHIVE)]
        for each in self._usable(home.scope, found):
            if (each.namespace, each.key) == (namespace, key):
                return each
        return None

    def all(self, prefix: Namespace = ()) -> list[Item]:
        """Return what stands in the namespaces that begin so; each memory once."""
        found: dict[tuple[Scope, str, str], Item] = {}
        for scope, store in self.stores.items():
            names = [name for name in store.files.names() if name not in _ASIDE]
            # As of a topic first, then among all lessons; what tidying took for the same, last.
            names.sort(key=lambda name: (name == LESSONS, not name.startswith("topics/")))
            for name in (*names, ARCHIVE):
                for item in self._usable(scope, self._of(scope, name)):
                    if item.namespace[: len(prefix)] == prefix:
                        mark = (
                            (written(item.namespace), item.key) if item.was_put else ("", item.key)
                        )
                        found.setdefault((scope, *mark), item)
        return list(found.values())

    def search(self, query: str, items: Sequence[Item]) -> list[tuple[Item, float]]:
        """Return which of ``items`` answer a question, the best first, and how well."""
        searched = [item for item in items if item.searched]
        entries = [item.entry for item in searched]
        if self._index is None or self._index[0] != entries:
            self._index = (entries, Index(entries))
        hits = self._index[1].search(query, today())
        return [(searched[hit.position], hit.score) for hit in hits]

    def _of(self, scope: Scope, name: str) -> list[Item]:
        """Return the values of a file; of the archive those that were taken for others."""
        files = self.stores[scope].files
        document, marks = files.document(name), files.marks(name)
        known = self._read.get((scope, name))
        if known is None or known[0] is not document or known[1] != marks:
            before = known[2] if known and known[1] == marks else {}
            found = _items(scope, name, document, before, marks)
            known = self._read[scope, name] = (document, marks, dict(found))
        return list(known[2].values())

    def _usable(self, scope: Scope, items: Iterable[Item]) -> Iterator[Item]:
        """Yield those that may reach a program: not what git brought, if that waits for a yes."""
        if self.cortex.settings.pulled != "review":
            yield from items
            return
        lines = {(each.file, each.line) for each in self.cortex.usable(self.stores[scope])}
        yield from (each for each in items if (each.entry.file, each.entry.line) in lines)


def _items(
    scope: Scope,
    name: str,
    document: Document,
    known: Mapping[Block, Item],
    marks: tuple[str, ...],
) -> Iterator[tuple[Block, Item]]:
    """Yield the values of a file; a line that did not change is not read again.

    What ``marks`` name is a person's, although the file does not say so yet.
    """
    for placed in raw_entries(name, document):
        item = known.get(placed.block)
        if item is None or (item.entry.line, item.entry.heading) != (placed.line, placed.heading):
            meta = placed.block.meta or Metadata()
            if name == ARCHIVE and (meta.get("reason") != DUPLICATE or not meta.get(KEY)):
                continue
            entry = as_entry(name, scope, placed)
            if verified_by(marks, entry.id, entry.text):
                entry = entry._replace(basis="verified")
            item = _item(entry, meta)
        yield placed.block, item


def _item(entry: Entry, meta: Metadata) -> Item:
    made = _time(meta.get(MADE) or entry.ts)
    changed = _time(meta.get(WHEN)) if meta.get(WHEN) else made
    if not meta.get(KEY):
        return Item(native(entry), entry.id, _told(entry), entry, made, changed)
    value = joined(Parts(entry.text, meta.get(FIELD), meta.get(REST)))
    stood = entry._replace(file=meta.get("was") or entry.file)
    namespace = named(meta.get(NAMESPACE)) or native(stood)
    return Item(namespace, meta.get(KEY), value, entry, made, changed, not meta.get(HIDDEN))


def _told(entry: Entry) -> dict[str, Any]:
    """Return what a memory says that was not put under a key."""
    told = {"text": entry.text, "kind": entry.kind, "topic": entry.topic}
    told |= {"confidence": entry.confidence, "source": entry.source, "basis": entry.basis}
    return {name: value for name, value in told.items() if value}


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _EPOCH
    return found if found.tzinfo else found.replace(tzinfo=UTC)
