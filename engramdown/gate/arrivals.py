"""What git brought that somebody else wrote: how it is announced to a person and approved.

With ``pulled = "review"``, nothing that git brought reaches a model before a person approves it,
neither an entry nor a page. An approval holds for the same words in the same place and for no
others. With ``news``, everything is loaded and announced once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from engramdown.clock import moment
from engramdown.engram import Engram, Scope
from engramdown.errors import EngramdownError, InvalidEngramError, SettingsError, StoreError
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.entry import Entry, as_entry, entry_id
from engramdown.hippocampus.git_state import known_to_git
from engramdown.hippocampus.provenance import Brought, Provenance, page_key
from engramdown.hippocampus.snapshot import meant
from engramdown.hippocampus.store import Hippocampus, HippocampusProtocol
from engramdown.kinds import ARCHIVE, PENDING, SOUL
from engramdown.markdown.metadata import ADDRESS
from engramdown.secrets.redaction import redact
from engramdown.settings import CONFIG, named
from engramdown.storage.disk import Disk, json_lines, named_errors

if TYPE_CHECKING:
    from engramdown.gate.intake import Receipt, Resolved
    from engramdown.gate.pending import Answer, Proposal
    from engramdown.skills.store import SkillStore

_AS_IT_IS: Final = ("accept", None)
_HOLD: Final = "it came with git, and you approve what does"
_BLANK: Final = "(nothing but white space)"
_PAGE: Final = "it shapes what a model is told, and came with git"


class Arrival(NamedTuple):
    """Something that git brought, and nobody here wrote, said or changed.

    Attributes:
        id: Its id in a review.
        text: Its text without secrets.
        scope: ``project`` or ``global``.
        path: The file.
        line: Its line, from 1; 0 for a page as a whole.
        kind: The kind of an entry, see :class:`engramdown.Engram`; ``page`` for a file that shapes
            a prompt, ``proposal`` for a line of ``pending.md``, ``settings`` for a ``config.toml``,
            whose text names what it sets.
        key: Its key, which does not depend on its line.
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
        # Many files have this name; the folder distinguishes them.
        name = f"{self.path.parent.name}/{name}" if name == "SKILL.md" else name
        where = f"{name}:{self.line}" if self.line else name
        words = "" if self.kind == "page" else f": {' '.join(self.text.split())}"
        return f"{self.scope} {where}{words}"


class Found(NamedTuple):
    """Something that git brought, with its store.

    Attributes:
        place: The provenance of the store.
        store: The store.
        item: The entry or page.
    """

    place: Provenance
    store: Hippocampus
    item: Brought

    @property
    def id(self) -> str:
        """Its id in a review."""
        return f"{ADDRESS}{self.item.key[:12]}"

    @property
    def path(self) -> Path:
        """Its file."""
        return self.place.path(self.item)

    @property
    def engram(self) -> Engram:
        """The engram that waits; claims that are invalid are left out."""
        # Imported here: a session that begins only announces and decides nothing.
        from engramdown.gate.gate import without_secrets

        text = self.item.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        scope = self.store.scope
        if self.item.placed is None:
            return without_secrets(Engram(text if text.strip() else _BLANK, "profile", scope))
        entry = as_entry(self.item.file, scope, self.item.placed)
        try:
            return without_secrets(entry.engram())
        except InvalidEngramError:
            return without_secrets(Engram(text, entry.kind, scope, entry.confidence))

    def proposal(self) -> Proposal:
        """Return the proposal on which a person decides."""
        from engramdown.gate.pending import Proposal

        why = _PAGE if self.item.placed is None else _HOLD
        return Proposal(
            self.id,
            self.engram,
            hold=why,
            reason=why,
            op="load",
            file=str(self.path),
            line=self.item.line,
            comments=self.item.comments,
        )


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
            stores: The stores of files.
            home: The folder of the global scope, which keeps what a person decided.
            review: Whether nothing is loaded before a person approved it.
            dry: Whether nothing may be written; called each time.
        """
        self._places = {store.root: (Provenance(store), store) for store in stores}
        self._approvals = Approvals(home, dry)
        self.reviews = review

    def news(self) -> list[Arrival]:
        """Return what was not announced yet.

        Raises:
            StoreError: If memory or the decisions cannot be read.
        """
        found = self._found(lambda said: said.seen | said.approved | said.declined)
        arrivals = [_arrival(each) for each in found if each.item.file != ARCHIVE]
        # Settings come first, as they take effect at once and are only one line.
        return sorted(arrivals, key=lambda each: each.kind != "settings")

    def told(self, arrivals: Iterable[Arrival]) -> None:
        """Note that ``arrivals`` were announced.

        Raises:
            StoreError: If it cannot be written.
        """
        keys = {arrival.key for arrival in arrivals}
        for root, (place, _) in self._places.items() if keys else ():
            here = {item.key for item in (*place.brought(), *brought_skills(place, root))}
            self._approvals.add(root, "seen", keys & here)

    def keep_own(self) -> None:
        """Note what git does not know, so that nobody asks once it is committed.

        Raises:
            StoreError: If it cannot be read or written.
        """
        for root, (place, _) in self._places.items():
            place.begin()
            own = place.own_pages() | own_skills(place, root)
            if own:
                self._approvals.add(root, "own", own - self._approvals.of(root).approved)

    def held(self) -> list[Found]:
        """Return what waits for approval; nothing if all is loaded."""
        if not self.reviews:
            return []
        # Settings need no approval: only those that are stricter than the user's own take effect.
        aside = (PENDING, ARCHIVE, CONFIG)
        found = self._found(lambda said: said.approved | said.declined)
        return [each for each in found if each.item.file not in aside]

    def shown(self, store: HippocampusProtocol, entries: list[Entry]) -> list[Entry]:
        """Return those of ``entries`` of a store that may be loaded."""
        hidden, unread = self._hidden(store)
        if not hidden and not unread:
            return entries
        return [
            each
            for each in entries
            if (each.file, each.line) not in hidden and each.file not in unread
        ]

    def page(self, store: Hippocampus, name: str, text: str) -> str:
        """Return ``text`` of the page ``name`` if it may be loaded, else ``""``."""
        hidden, unread = self._hidden(store) if text else (set(), frozenset())
        return "" if (name, 0) in hidden or name in unread else text

    def approved_texts(self, store: Hippocampus) -> dict[str, str]:
        """Return the texts of the files of a store without what may not be loaded."""
        hidden, unread = self._hidden(store)
        found = {SOUL: self.page(store, f"memory/{SOUL}", store.soul())}
        for name in store.files.names():
            document = store.files.document(name)
            for each in document.placed():
                if (name, each.line) in hidden:
                    document = document.remove(each.block)
            found[name] = "" if name in unread else document.render()
        return found

    def hidden_skills(self, labels: Collection[str] | None = None) -> set[tuple[str, str]]:
        """Return scope and label of each skill that waits to be approved; none if all is loaded.

        Args:
            labels: Look only at skills with these labels.
        """
        return {
            (store.scope, item.file.split("/")[1])
            for root, (place, store) in self._places.items()
            if self.reviews
            for item in self._open(root, brought_skills(place, root, whole=False, labels=labels))
        }

    def is_brought(self, scope: Scope, file: str, line: int) -> bool:
        """Whether git brought the entry on this line, and nobody approved it."""
        return any((item.file, item.line) == (file, line) for item in self._open_in(scope))

    def brought_proposals(self, scope: Scope) -> set[tuple[int, str]]:
        """Return the lines of ``pending.md`` that came with git: number and text.

        Raises:
            StoreError: If memory or the decisions cannot be read.
        """
        return {
            (item.line, placement.split_task(item.text)[1])
            for item in self._open_in(scope)
            if item.file == PENDING
        }

    def resolve(self, answers: Sequence[Answer]) -> dict[int, Resolved]:
        """Carry out the decisions that are about something held; return what became of each.

        An approved entry stays in its place, in the same words or those of the person, and becomes
        verified if it was only observed; a declined one goes to the archive. A declined page is
        not announced again. Approvals without changes are noted together.
        """
        from engramdown.gate.intake import Receipt

        held = {each.id: each for each in self.held()}
        mine = {at: (held[each.id], each) for at, each in enumerate(answers) if each.id in held}
        plain = {it.id for it, each in mine.values() if (each.decision, each.text) == _AS_IT_IS}
        for root in self._places if plain else ():
            here = (held[each].item.key for each in plain if held[each].store.root == root)
            self._approvals.add(root, "approved", [*here])
        resolved: dict[int, Resolved] = {}
        for at, (found, each) in mine.items():
            try:
                resolved[at] = self._resolve(found, each.decision, each.text), None
            except EngramdownError as error:
                why, file = str(error), found.item.file
                resolved[at] = Receipt(found.engram, "failed", why, found.id, file), error
        return resolved

    def said(self, receipts: Iterable[Receipt]) -> None:
        """Approve entries that the user has now said themselves."""
        lines = {
            (each.engram.scope, meant(each.file), each.line)
            for each in receipts
            if each.action == "merged" and each.engram.source == "user"
        }
        for found in self.held() if lines else ():
            if (found.store.scope, found.item.file, found.item.line) in lines:
                self._approvals.add(found.store.root, "approved", [found.item.key])

    def _found(self, without: Callable[[Said], frozenset[str]]) -> list[Found]:
        """Return each thing that git brought, except those in ``without``.

        A lesson has a copy under its topic; both are one thing, which is returned once.
        """
        once: dict[tuple[Path, str], Found] = {}
        for root, (place, store) in self._places.items():
            brought = [*place.brought(), *brought_skills(place, root)]
            known = without(self._approvals.of(root)) if brought else frozenset[str]()
            for item in brought:
                if item.key not in known:
                    once.setdefault((root, item.key), Found(place, store, item))
        return [*once.values()]

    def _open(self, root: Path, brought: Iterable[Brought]) -> list[Brought]:
        """Return the items that nobody approved."""
        items = [*brought]
        known = self._approvals.of(root).approved if items else frozenset[str]()
        return [item for item in items if item.key not in known]

    def _open_in(self, scope: Scope) -> list[Brought]:
        """Return what git brought into a scope and nobody approved."""
        places = [(root, it) for root, (it, store) in self._places.items() if store.scope == scope]
        return [item for root, place in places for item in self._open(root, place.brought())]

    def _hidden(self, store: HippocampusProtocol) -> tuple[set[tuple[str, int]], frozenset[str]]:
        """Return the places that may not be loaded, and the files of unknown origin."""
        if not self.reviews or not isinstance(store, Hippocampus):
            return set(), frozenset()
        place = self._places[store.root][0]
        hidden = {(item.file, item.line) for item in self._open(store.root, place.brought())}
        return hidden, place.unread

    def _resolve(self, found: Found, decision: str, text: str | None) -> Receipt:
        """Carry out a decision; that all is approved as it is was noted before.

        Raises:
            InvalidEngramError: If a page should be loaded in other words.
            EntryNotFoundError: If the entry is gone.
            StoreError: If it could not be written.
        """
        from engramdown.gate.intake import Receipt

        engram, item, root = found.engram, found.item, found.store.root
        if decision == "skip":
            return Receipt(engram, "queued", "skipped", found.id, item.file)
        if decision == "decline":
            if item.placed is None:
                self._approvals.add(root, "declined", [item.key])
            else:
                found.place.retire(item)
            return Receipt(engram, "discarded", "declined")
        if text is not None:
            if item.placed is None:
                reason = f"{found.path} is a page; change it in an editor, then accept it"
                raise InvalidEngramError("text", reason)
            engram = replace(engram, text=redact(text))
            found.place.reword(item, text)
        elif engram.basis == "observed":
            found.place.verify(item)
        own = entry_id(item.placed) if item.placed else found.id
        return Receipt(engram, "encoded", "approved", own, item.file, item.line)


def _arrival(found: Found) -> Arrival:
    kind, item = "page", found.item
    beside = f" {item.comments}" if item.comments else ""
    text = f"{item.text}{beside}"
    if item.file == PENDING:
        kind = "proposal"
    elif item.placed is not None:
        kind = as_entry(item.file, found.store.scope, item.placed).kind
    elif item.file == CONFIG:
        kind = "settings"
        try:
            text = f"sets {', '.join(named(found.path.parent)) or 'nothing'}"
        except SettingsError as error:
            text = f"sets nothing, as it is broken: {error.problem}"
    scope = found.store.scope
    return Arrival(found.id, redact(text), scope, found.path, item.line, kind, item.key)


# ---- what was announced, approved or declined ----
#
# One file in the folder of the global scope has it for every scope, so that nothing that was cloned
# or pulled can approve itself. A line that cannot be read is skipped; a file that git knows is
# ignored. Reading creates nothing.

# The name of the file.
NAME: Final = "pulled.jsonl"

Did = Literal["seen", "approved", "declined", "own"]


class Said(NamedTuple):
    """The decisions about one scope, as keys; see :mod:`engramdown.hippocampus.provenance`.

    Attributes:
        seen: What was announced.
        approved: What a person approved, and what was here before git knew it.
        declined: What they declined.
    """

    seen: frozenset[str] = frozenset()
    approved: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()


class Approvals:
    """The record in a folder."""

    def __init__(self, folder: Path | None, dry: Callable[[], bool] = bool) -> None:
        """Use ``folder``, which need not exist; without one, or if ``dry``, keep it in memory."""
        self._dry = dry
        self._path = folder / NAME if folder else None
        self._disk = Disk()
        self._read: tuple[tuple[int, ...], bytes] = ((), b"")
        self._kept: list[bytes] = []

    def of(self, root: Path) -> Said:
        """Return the decisions about the scope in the folder ``root``.

        Raises:
            StoreError: If it cannot be read.
        """
        found: dict[str, set[str]] = {did: set() for did in get_args(Did)}
        about = os.path.realpath(root)
        for record in json_lines(b"".join([self._data(), b"\n", *self._kept])):
            did, keys = record.get("did"), record.get("keys")
            if record.get("scope") == about and isinstance(keys, list) and isinstance(did, str):
                found.get(did, set()).update(map(str, keys))
        approved = frozenset(found["approved"] | found["own"])
        return Said(frozenset(found["seen"]), approved, frozenset(found["declined"] - approved))

    def add(self, root: Path, did: Did, keys: Collection[str]) -> None:
        """Note a decision about ``keys`` in the scope in the folder ``root``.

        Raises:
            StoreError: If it cannot be written.
        """
        if not keys:
            return
        scope = os.path.realpath(root)
        record = {"at": moment(), "scope": scope, "did": did, "keys": sorted(keys)}
        line = json.dumps(record).encode() + b"\n"
        if self._path is None or self._dry():
            self._kept.append(line)
            return
        with named_errors(self._path, "written", ""):
            self._disk.make_folder(self._path.parent)
            self._disk.append(self._path, line)

    def _data(self) -> bytes:
        if self._path is None:
            return b""
        with named_errors(self._path, "read", ""):
            found = self._disk.find(self._path)
            mark = () if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)
            if mark != self._read[0]:
                strange = known_to_git([self._path], self._disk)
                self._read = (mark, b"" if strange else self._disk.read(self._path) or b"")
        return self._read[1]


# ---- skills that git brought ----
#
# The key of a skill covers all of its files, so that an approval does not hold after any of them
# changed: also what links lead to, and files that are too many for a model to be told of. Hidden
# files, and those that programs leave, count if git knows them. A skill with too many files to look
# at is never approved.

_MOST: Final = 64 * 1024


class SkillPage(NamedTuple):
    """A skill as something that git may have brought.

    Attributes:
        item: Its SKILL.md, with a key over all of its files; ``""`` if they cannot be read.
        is_known: Whether git knows one of those files.
        committed: The key that it has once git also knows its hidden files.
    """

    item: Brought
    is_known: bool
    committed: str


def brought_skills(
    place: Provenance, root: Path, *, whole: bool = True, labels: Collection[str] | None = None
) -> Iterator[Brought]:
    """Yield the skills of a scope of which git knows a file: they may be somebody else's.

    Args:
        place: The provenance of the scope.
        root: Its folder.
        whole: Leave out skills without a key.
        labels: Look only at skills with these labels.
    """
    wanted = (lambda found: found) if labels is None else set(labels).intersection
    for page in _pages(place, root, wanted):
        if page.is_known and (page.item.key or not whole):
            yield page.item


def own_skills(place: Provenance, root: Path) -> set[str]:
    """Return the keys of skills that git does not know, and those they have once committed."""

    def is_maybe_own(labels: set[str]) -> set[str]:
        # Git knows this page of most skills that it brought; the rest need not be read.
        pages = {root / "skills" / label / "SKILL.md": label for label in labels}
        return labels - {pages[path] for path in place.knows([*pages])}

    mine = (page for page in _pages(place, root, is_maybe_own) if not page.is_known)
    return {key for page in mine for key in (page.item.key, page.committed)} - {""}


def _pages(
    place: Provenance, root: Path, wanted: Callable[[set[str]], set[str]]
) -> list[SkillPage]:
    if not (root / "skills").is_dir() or not place.is_versioned():
        return []
    # Imported here: a scope without skills needs none of it.
    from engramdown.skills.store import SkillStore

    store = SkillStore(root)
    try:
        labels = store.labels()
    except StoreError:
        return []  # No skill can be shown either.
    # The pages are not parsed, as this runs with every prompt.
    chosen = wanted(set(labels))
    found = [_page(place, store, label) for label in labels if label in chosen]
    pages = [each for each in found if each is not None]
    known = place.knows([path for _, paths, _ in pages for path in paths]) if pages else set()
    return [SkillPage(it, not known.isdisjoint(paths), key) for it, paths, key in pages]


def _page(
    place: Provenance, store: SkillStore, label: str
) -> tuple[Brought, list[Path], str] | None:
    """Return a skill, the files that its key covers, and its key once all are committed."""
    from engramdown.skills.files import parts_of

    disk, home = Disk(durable=False), store.folder / label
    name, path = f"skills/{label}/SKILL.md", home / "SKILL.md"
    text = ""
    try:
        data = store.load(label)
        if data is None:
            return None
        text = data.decode("utf-8", "surrogateescape")
        parts = parts_of(disk, home, lambda folder: bool(place.knows([folder])))
        aside = [home / each.name for each in parts if each.is_aside]
        known = place.knows(aside) if aside else set[Path]()
        digests = {each.name: f"\n{each.name} {_digest(disk, home / each.name)}" for each in parts}
    except (StoreError, OSError):
        return Brought("", name, 0, _shown(text)), [path], ""
    counting = [each.name for each in parts if not each.is_aside or home / each.name in known]
    key = page_key(name, text + "".join(digests[each] for each in counting))
    committed = page_key(name, text + "".join(digests.values()))
    return Brought(key, name, 0, _shown(text)), [path, *(home / it for it in counting)], committed


def _shown(text: str) -> str:
    """Return as much of a page as a person is shown; they are asked about all of it."""
    if len(text) <= _MOST:
        return text
    end = text.rfind("\n", 0, _MOST) + 1 or _MOST
    return f"{text[:end].rstrip()}\n\n(cut here: {len(text) - end} characters more stand there)\n"


def _digest(disk: Disk, path: Path) -> str:
    """Return a digest of a file.

    It is the target of a link, the size and time of a file that is too large to be read, and the
    error for a pipe or a device.
    """
    if path.is_symlink():
        return f"-> {os.readlink(path)}"  # noqa: PTH115 - as it stands there
    try:
        return hashlib.sha256(disk.read(path) or b"").hexdigest()
    except StoreError as error:
        try:
            return f"{disk.identity(path)[0]} {disk.changed_at(path)}"
        except StoreError:
            return str(error)
