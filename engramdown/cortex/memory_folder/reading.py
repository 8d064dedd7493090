"""What a model may see of the memory files: pages, who the assistant is, what waits.

Promises: writes nothing; nothing is told that git brought and nobody approved, where that is set,
nor an order from outside that is held back; a page is made anew only when its files changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.cortex.gate import REASONS
from engramdown.cortex.recollection import SOUL
from engramdown.engram import Scope
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import LESSONS, entry_id, raw_entries
from engramdown.hippocampus.store import Hippocampus
from engramdown.integrations.memory_pages import TOPICS, rendered
from engramdown.language.untrusted import bullet, paragraphs
from engramdown.markdown.document import Document, Placed

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex

__all__ = ["Page", "Reading"]

_ORDER: Final = "came from outside and reads like an order; only the user sees it"


class Page(NamedTuple):
    """A memory file as it stands.

    Attributes:
        text: As the model sees it.
        entries: Its memories, in order.
    """

    text: str
    entries: tuple[Entry, ...]


class Reading:
    """The memory files of some scopes, as a model sees them."""

    def __init__(self, cortex: Cortex, stores: Mapping[Scope, Hippocampus]) -> None:
        """Read ``stores``, of which ``cortex`` says what may be used."""
        self._cortex = cortex
        self._stores = stores
        self._pages: dict[tuple[Scope, str], tuple[tuple[Document, Document], Page]] = {}

    def page(self, scope: Scope, name: str) -> Page:
        """Return a memory file as it stands: what may reach a model."""
        store = self._stores[scope]
        # What a page holds follows from these two, unless there is more to ask about than files.
        documents = (store.files.document(name), store.files.document(LESSONS))
        known = self._pages.get((scope, name))
        if known is None or known[0] != documents or self._cortex.settings.pulled == "review":
            known = (documents, self._read(store, name, documents[0]))
            self._pages[scope, name] = known
        return known[1]

    def _read(self, store: Hippocampus, name: str, document: Document) -> Page:
        found: dict[str, list[Entry]] = {}
        for each in self._cortex.usable(store):
            if each.file in (name, LESSONS):
                plain = each._replace(spelled="") if each.spelled else each
                found.setdefault(each.id, []).append(plain)
        shown = [
            (placed, entry)
            for placed in raw_entries(name, document)
            if (entry := _stands(found.get(entry_id(placed), ()), name, placed))
        ]
        return Page(
            rendered(document, [placed for placed, _ in shown]),
            tuple(entry for _, entry in shown),
        )

    def soul(self, scope: Scope) -> str:
        """Return the page that says who the assistant is, without private notes."""
        store = self._stores[scope]
        page = self._cortex.usable_page(store, SOUL, store.soul())
        return "".join(f"{text}\n\n" for _, text in paragraphs(page)).rstrip("\n")

    def queue(self, scope: Scope) -> Iterator[str]:
        """Yield what waits for a person, as lines to tick."""
        for each in self._cortex.pending(for_model=True):
            if each.engram.scope == scope:
                held = each.hold == REASONS["instruction"]
                yield bullet(f"[ ] {f'({_ORDER})' if held else each.engram.text}")


def _stands(entries: Iterable[Entry], file: str, placed: Placed) -> Entry | None:
    """Return which memory with its id an entry is; a topic's as it stands among lessons."""
    for entry in entries:
        is_here = entry.file == file and entry.line == placed.line
        is_copy = entry.file == LESSONS and entry.text == placed.block.text
        if is_here or (is_copy and file.startswith(f"{TOPICS}/")):
            return entry
    return None
