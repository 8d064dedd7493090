"""What git brought of somebody else's, as a person is told of it and decides on it.

Promises: with ``pulled = "review"`` nothing that git brought reaches a model before a person
approved it, neither an entry nor a page; what was approved stays so for the same words in the same
place, and for no others. With ``news`` everything is loaded, and told of once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.cortex.approvals import Approvals, Did, Said
from engramdown.cortex.pulled_skills import brought_skills, own_skills
from engramdown.engram import Scope
from engramdown.errors import SettingsError
from engramdown.hippocampus import placement
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.placement import as_entry
from engramdown.hippocampus.protocol import HippocampusProtocol
from engramdown.hippocampus.provenance import Brought, Provenance
from engramdown.hippocampus.snapshot import meant
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import ARCHIVE, PENDING
from engramdown.markdown.metadata import ADDRESS
from engramdown.settings import CONFIG, named

if TYPE_CHECKING:
    from engramdown.gate.proposals import Proposal
    from engramdown.gate.queue import Answer
    from engramdown.gate.receipts import Receipt

__all__ = ["Arrival", "Found", "Pulled"]


_AS_IT_IS: Final = ("accept", None)


class Arrival(NamedTuple):
    """Something that git brought, and nobody here wrote, said or changed.

    Attributes:
        id: What it is called in a review.
        text: What it says, without the secrets that it may hold.
        scope: ``project`` or ``global``.
        path: The file.
        line: Where it stands there, from 1; 0 for a page as a whole.
        kind: Of an entry, see :class:`engramdown.Engram`; ``page`` for what shapes a prompt,
            ``proposal`` for a line of ``pending.md``, ``settings`` for a ``config.toml``, whose
            text names what it sets.
        key: What it is known by, whatever line it stands on.
    """

    id: str
    text: str
    scope: Scope
    path: Path
    line: int
    kind: str
    key: str

    def __str__(self) -> str:
        """Return it in one line."""
        name = self.path.name
        # There are many of these: what tells them apart is their folder.
        name = f"{self.path.parent.name}/{name}" if name == "SKILL.md" else name
        where = f"{name}:{self.line}" if self.line else name
        said = "" if self.kind == "page" else f": {' '.join(self.text.split())}"
        return f"{self.scope} {where}{said}"


class Found(NamedTuple):
    """Something that git brought, where it stands.

    Attributes:
        place: What git brought into its store.
        store: The store.
        item: What it is.
    """

    place: Provenance
    store: Hippocampus
    item: Brought

    @property
    def id(self) -> str:
        """What it is called in a review."""
        return f"{ADDRESS}{self.item.key[:12]}"

    @property
    def path(self) -> Path:
        """The file that it stands in."""
        return self.place.path(self.item)


class Pulled:
    """What git brought into the stores of a cortex."""

    def __init__(
        self,
        stores: Sequence[Hippocampus],
        home: Path | None,
        *,
        review: bool,
        dry: Callable[[], bool] = bool,
    ) -> None:
        """Look at ``stores``.

        Args:
            stores: Those of files.
            home: The folder of the global scope, where it is kept what a person decided.
            review: Whether nothing is loaded before a person approved it.
            dry: Whether nothing is to be written; asked each time.
        """
        self._places = {store.root: (Provenance(store), store) for store in stores}
        self._approvals = Approvals(home, dry)
        self.reviews = review

    def news(self) -> list[Arrival]:
        """Return what a person was not told of yet.

        Raises:
            StoreError: If memory, or what was decided, cannot be read.
        """
        found = self._waiting(lambda said: said.seen | said.approved | said.declined)
        arrivals = [_arrival(each) for each in _once(found) if each.item.file != ARCHIVE]
        # Settings hold at once and are one line: they are not to be lost among the rest.
        return sorted(arrivals, key=lambda each: each.kind != "settings")

    def told(self, arrivals: Iterable[Arrival]) -> None:
        """Take note that a person was told of ``arrivals``, and of pages that git does not know.

        Raises:
            StoreError: If it cannot be written.
        """
        keys = {arrival.key for arrival in arrivals}
        for root, (place, _) in self._places.items():
            here = [each.key for each in _brought(place, root) if each.key in keys] if keys else []
            self._approvals.add(root, "seen", here)

    def keep_own(self) -> None:
        """Take note of what git does not know, so that to commit it makes nobody ask.

        Raises:
            StoreError: If it cannot be read or written.
        """
        for root, (place, _) in self._places.items():
            place.begin()
            own = place.own_pages() | own_skills(place, root)
            if own:
                self._approvals.add(root, "own", own - self._approvals.of(root).approved)

    def proposals(self) -> list[Proposal]:
        """Return what waits for approval, as a person decides on it; nothing if all is loaded."""
        held = self._held() if self.reviews else []
        if not held:
            return []
        # Imported here: it decides on new memory, and hardly ever anything waits.
        from engramdown.cortex.approving import proposal

        return [proposal(each) for each in held]

    def count(self) -> int:
        """Return how many things wait for approval; none if all is loaded."""
        return len(self._held()) if self.reviews else 0

    def shown(self, store: HippocampusProtocol, entries: list[Entry]) -> list[Entry]:
        """Return those of ``entries`` of a store that may be loaded."""
        hidden, unread = self._hidden(store), self._unread(store)
        if not hidden and not unread:
            return entries
        return [
            each
            for each in entries
            if (each.file, each.line) not in hidden and each.file not in unread
        ]

    def page(self, store: Hippocampus, name: str, text: str) -> str:
        """Return ``text`` of the page ``name`` if it may be loaded, else ``""``."""
        is_hidden = text and ((name, 0) in self._hidden(store) or name in self._unread(store))
        return "" if is_hidden else text

    def hidden_skills(self, labels: Collection[str] | None = None) -> set[tuple[str, str]]:
        """Return scope and label of each skill that waits to be approved; none if all is loaded.

        Args:
            labels: Look only at those with these labels.
        """
        found: set[tuple[str, str]] = set()
        for root, (place, store) in self._places.items() if self.reviews else ():
            items = list(brought_skills(place, root, whole=False, labels=labels))
            known = self._approvals.of(root).approved if items else frozenset[str]()
            found |= {
                (store.scope, item.file.split("/")[1]) for item in items if item.key not in known
            }
        return found

    def is_brought(self, scope: Scope, file: str, line: int) -> bool:
        """Whether git brought the entry that stands there, and nobody approved it."""
        return any(
            (item.file, item.line) == (file, line)
            and item.key not in self._approvals.of(root).approved
            for root, (place, store) in self._places.items()
            if store.scope == scope
            for item in place.brought()
        )

    def brought_proposals(self, scope: Scope) -> set[tuple[int, str]]:
        """Return which lines of ``pending.md`` came with git, their ticks too: line and text.

        Raises:
            StoreError: If memory, or what was decided, cannot be read.
        """
        found: set[tuple[int, str]] = set()
        for root, (place, store) in self._places.items():
            brought = place.brought() if store.scope == scope else []
            items = [item for item in brought if item.file == PENDING]
            known = self._approvals.of(root).approved if items else frozenset[str]()
            found |= {
                (item.line, placement.split_task(item.text)[1])
                for item in items
                if item.key not in known
            }
        return found

    def resolve(self, proposal_id: str, decision: str, text: str | None) -> Receipt | None:
        """Carry out what a person decided about what waits; ``None`` if it is nothing of ours.

        Raises:
            InvalidEngramError: If a page is to be loaded in other words.
            EntryNotFoundError: If the entry is not there any more.
            StoreError: If it could not be written.
        """
        found = next((each for each in self._held() if each.id == proposal_id), None)
        if found is None:
            return None
        from engramdown.cortex.approving import resolve

        def add(did: Did) -> None:
            self._add(found, did)

        return resolve(found, decision, text, add)

    def ids(self) -> frozenset[str]:
        """Return what those are called in a review that wait for approval."""
        return frozenset(each.id for each in self._held()) if self.reviews else frozenset()

    def resolve_all(self, answers: Sequence[Answer]) -> dict[int, Receipt]:
        """Carry out what a person decided about what waits here; the receipts by place.

        What is approved as it stands is written down at once; errors of the rest are as for
        :meth:`resolve`, but become receipts that say *failed*.
        """
        held = {each.id: each for each in self._held()}
        mine = {at: each for at, each in enumerate(answers) if each.id in held}
        if not mine:
            return {}
        from engramdown.cortex.approving import resolve, resolve_each

        plain = [held[each.id] for each in mine.values() if (each.decision, each.text) == _AS_IT_IS]
        for root in self._places:
            keys = [each.item.key for each in plain if each.store.root == root]
            self._approvals.add(root, "approved", keys)
        known = {each.id for each in plain}
        return {
            at: resolve(held[each.id], "accept", None, lambda _: None)
            if each.id in known
            else resolve_each(
                held[each.id], each.decision, each.text, partial(self._add, held[each.id])
            )
            for at, each in mine.items()
        }

    def said(self, receipts: Iterable[Receipt]) -> None:
        """Approve what the user says themselves that stands there already."""
        lines = {
            (each.engram.scope, meant(each.file), each.line)
            for each in receipts
            if each.action == "merged" and each.engram.source == "user"
        }
        for found in self._held() if lines else ():
            if (found.store.scope, found.item.file, found.item.line) in lines:
                self._add(found, "approved")

    def _held(self) -> list[Found]:
        """Return what waits to be approved."""
        found = self._waiting(lambda said: said.approved | said.declined)
        # Settings are not asked about: they hold as far as they are stricter than one's own.
        aside = (PENDING, ARCHIVE, CONFIG)
        return [each for each in _once(found) if each.item.file not in aside]

    def _waiting(self, without: Callable[[Said], frozenset[str]]) -> list[Found]:
        return [
            Found(place, store, item)
            for root, (place, store) in self._places.items()
            if (brought := _brought(place, root))
            for known in (without(self._approvals.of(root)),)
            for item in brought
            if item.key not in known
        ]

    def _hidden(self, store: HippocampusProtocol) -> set[tuple[str, int]]:
        """Return where stands what may not be loaded, of the files of a store."""
        if not self.reviews or not isinstance(store, Hippocampus):
            return set()
        place = self._places[store.root][0]
        brought = place.brought()
        known = self._approvals.of(store.root).approved if brought else frozenset[str]()
        return {(item.file, item.line) for item in brought if item.key not in known}

    def _unread(self, store: HippocampusProtocol) -> frozenset[str]:
        """Return the files of a store of which nobody can say whose they are, as it was looked."""
        if not self.reviews or not isinstance(store, Hippocampus):
            return frozenset()
        return self._places[store.root][0].unread

    def _add(self, found: Found, did: Did) -> None:
        self._approvals.add(found.store.root, did, [found.item.key])


def _brought(place: Provenance, root: Path) -> list[Brought]:
    """Return what git brought into a scope: entries, pages, and skills as a whole."""
    return [*place.brought(), *brought_skills(place, root)]


def _once(found: Sequence[Found]) -> list[Found]:
    """Return each thing once, in whatever lines it stands: a lesson has a copy under its topic."""
    once = {(each.store.root, each.item.key): each for each in reversed(found)}
    return [*reversed(once.values())]


def _arrival(found: Found) -> Arrival:
    # Imported here: news is told once.
    from engramdown.secrets.redaction import redact

    kind = "page"
    if found.item.file == PENDING:
        kind = "proposal"
    elif found.item.placed is not None:
        kind = as_entry(found.item.file, found.store.scope, found.item.placed).kind
    beside = f" {found.item.comments}" if found.item.comments else ""
    text, line = redact(f"{found.item.text}{beside}"), found.item.line
    if found.item.file == CONFIG:
        kind, text = "settings", redact(_set(found.path.parent))
    return Arrival(found.id, text, found.store.scope, found.path, line, kind, found.item.key)


def _set(root: Path) -> str:
    """Return what the settings of a scope name; of what is broken, what is wrong."""
    try:
        return f"sets {', '.join(named(root)) or 'nothing'}"
    except SettingsError as error:
        return f"sets nothing, as it is broken: {error.problem}"
