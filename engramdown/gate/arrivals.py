"""What git brought that somebody else wrote: how a person hears of it and approves it.

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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from engramdown.clock import moment
from engramdown.engram import Engram, Scope
from engramdown.errors import EngramdownError, InvalidEngramError, SettingsError, StoreError
from engramdown.hippocampus import entry
from engramdown.hippocampus.entry import Entry, as_entry, entry_id
from engramdown.hippocampus.git_state import known_to_git
from engramdown.hippocampus.provenance import Brought, Provenance, page_key
from engramdown.hippocampus.snapshot import meant
from engramdown.hippocampus.store import Hippocampus, HippocampusProtocol
from engramdown.kinds import ARCHIVE, PENDING
from engramdown.markdown.metadata import ADDRESS
from engramdown.secrets.redaction import redact
from engramdown.settings import CONFIG, named
from engramdown.storage.disk import Disk

if TYPE_CHECKING:
    from engramdown.gate.intake import Answer, Receipt
    from engramdown.gate.pending import Proposal
    from engramdown.skills.files import SkillFiles

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
                (item.line, entry.split_task(item.text)[1])
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


# What git brought, as a person decides on it.
#
# What is approved stays where it stands, in the same words or those of the person, and is
# verified if it was only observed; what is declined is not told of again, and an entry goes to the
# archive.

_LOAD: Final = "load"
_HOLD: Final = "it came with git, and you approve what does"
_BLANK: Final = "(nothing but white space)"
_PAGE: Final = "it shapes what a model is told, and came with git"


def proposal(found: Found) -> Proposal:
    """Return what waits for approval, as a person decides on it."""
    from engramdown.gate.pending import Proposal

    is_page = found.item.placed is None
    return Proposal(
        id=found.id,
        engram=_engram(found),
        hold=_PAGE if is_page else _HOLD,
        reason=_PAGE if is_page else _HOLD,
        op=_LOAD,
        file=str(found.path),
        line=found.item.line,
        comments=found.item.comments,
    )


def resolve(found: Found, decision: str, text: str | None, add: Callable[[Did], object]) -> Receipt:
    """Carry out what a person decided about what waits.

    Args:
        found: What waits.
        decision: What they decided.
        text: Other words that they want it loaded in, if any.
        add: Takes note of it.

    Raises:
        InvalidEngramError: If a page is to be loaded in other words.
        EntryNotFoundError: If the entry is not there any more.
        StoreError: If it could not be written.
    """
    from engramdown.gate.intake import Receipt

    engram = _engram(found)
    if decision == "skip":
        return Receipt(engram, "queued", "skipped", found.id, found.item.file)
    if decision == "decline":
        if found.item.placed is None:
            add("declined")
        else:
            found.place.retire(found.item)
        return Receipt(engram, "discarded", "declined")
    if text is None:
        if engram.basis == "observed":
            found.place.verify(found.item)
        add("approved")
    else:
        engram = replace(engram, text=redact(text))
        _reword(found, text)
    own = entry_id(found.item.placed) if found.item.placed else found.id
    return Receipt(engram, "encoded", "approved", own, found.item.file, found.item.line)


def resolve_each(
    found: Found, decision: str, text: str | None, add: Callable[[Did], object]
) -> Receipt:
    """Carry out what a person decided about one of many; an error becomes a receipt."""
    from engramdown.gate.intake import Receipt

    try:
        return resolve(found, decision, text, add)
    except EngramdownError as error:
        return Receipt(_engram(found), "failed", str(error), found.id, found.item.file)


def _reword(found: Found, text: str) -> None:
    if found.item.placed is None:
        reason = f"{found.path} is a page; change it in an editor, then accept it"
        raise InvalidEngramError("text", reason)
    found.place.reword(found.item, text)


def _engram(found: Found) -> Engram:
    """Return what waits as an engram: its words, and of what it claims what can be."""
    # Imported here: a session that begins is told of news and decides nothing.
    from engramdown.gate.gate import harmless

    text = found.item.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if found.item.placed is None:
        return harmless(Engram(text if text.strip() else _BLANK, "profile", found.store.scope))
    entry = as_entry(found.item.file, found.store.scope, found.item.placed)
    try:
        return harmless(entry.engram())
    except InvalidEngramError:
        return harmless(Engram(text, entry.kind, found.store.scope, entry.confidence))


# What a person was told of what git brought, and what of it they approved or declined.
#
# It stands in the folder of the global scope, by the folder of the scope that it is
# about, so that nothing that was cloned or pulled can say so of itself; a line that cannot be read
# is skipped; a file that git knows says nothing. Reading creates nothing.

NAME: Final = "pulled.jsonl"
"""The name of the file."""

Did = Literal["seen", "approved", "declined", "own"]


class Said(NamedTuple):
    """What is known of one scope, as keys; see :mod:`engramdown.hippocampus.provenance`.

    Attributes:
        seen: What a person was told of.
        approved: What they approved, and what stood there before git knew it.
        declined: What they do not want.
    """

    seen: frozenset[str] = frozenset()
    approved: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()


class Approvals:
    """The record in a folder."""

    def __init__(self, folder: Path | None, dry: Callable[[], bool] = bool) -> None:
        """Keep it in ``folder``, which need not exist; ``None``, or ``dry``, keeps it in mind."""
        self._dry = dry
        self._path = folder / NAME if folder else None
        self._disk = Disk()
        self._read: tuple[tuple[int, ...], bytes] = ((), b"")
        self._kept: list[bytes] = []

    def of(self, root: Path) -> Said:
        """Return what is known of the scope in the folder ``root``.

        Raises:
            StoreError: If it cannot be read.
        """
        found: dict[Did, set[str]] = {did: set() for did in get_args(Did)}
        about = _real(root)
        for line in (*self._data().split(b"\n"), *self._kept):
            if (told := _told(line, about)) is not None:
                found[told[0]].update(told[1])
        kept = frozenset(found["approved"] | found["own"])
        return Said(frozenset(found["seen"]), kept, frozenset(found["declined"] - kept))

    def add(self, root: Path, did: Did, keys: Collection[str]) -> None:
        """Write down what was done about ``keys`` in the scope in the folder ``root``.

        Raises:
            StoreError: If it cannot be written.
        """
        if not keys:
            return
        record = {"at": moment(), "scope": _real(root), "did": did, "keys": sorted(keys)}
        line = json.dumps(record).encode() + b"\n"
        if self._path is None or self._dry():
            self._kept.append(line)
            return
        try:
            self._disk.make_folder(self._path.parent)
            self._disk.append(self._path, line)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {error.strerror}") from error

    def _data(self) -> bytes:
        if self._path is None:
            return b""
        try:
            found = self._path.lstat()
            mark = (found.st_ino, found.st_size, found.st_mtime_ns)
            if mark != self._read[0]:
                strange = known_to_git([self._path], self._disk)
                self._read = (mark, b"" if strange else self._disk.read(self._path) or b"")
        except FileNotFoundError:
            self._read = ((), b"")
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error.strerror}") from error
        return self._read[1]


def _told(line: bytes, about: str) -> tuple[Did, list[str]] | None:
    """Return what a line tells about a scope, or ``None``."""
    try:
        record: Any = json.loads(line) if line else {}
        did, keys = record["did"], [str(key) for key in record["keys"]]
        return (did, keys) if record["scope"] == about and did in get_args(Did) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _real(root: Path) -> str:
    return os.path.realpath(root)


# What git brought of skills: each as a whole, its references and scripts with it.
#
# A skill is known by all of its files, so that whoever approved it approved none of what
# is changed in them later: hidden ones too and what links lead to, be there so many that a model is
# not told of all; of what is hidden or what a program left, that counts which git knows. One that
# cannot be looked at as a whole, as it has too many files, is never approved.

_MOST: Final = 64 * 1024


class SkillPage(NamedTuple):
    """A skill as something that git may have brought.

    Attributes:
        item: Its SKILL.md, known by all of its files; by nothing if they cannot be looked at.
        paths: Those files.
        committed: What it is known by once git knows what is hidden of it, too.
    """

    item: Brought
    paths: tuple[Path, ...]
    committed: str


def brought_skills(
    place: Provenance, root: Path, *, whole: bool = True, labels: Collection[str] | None = None
) -> Iterator[Brought]:
    """Yield the skills of a scope of which git knows a file: they may be somebody else's.

    Args:
        place: Whose the scope is.
        root: Its folder.
        whole: Leave out what cannot be looked at as a whole, and is known by nothing.
        labels: Look only at those with these labels.
    """
    pages = _pages(place, root, lambda found: found if labels is None else found & set(labels))
    known = place.knows([path for page in pages for path in page.paths]) if pages else set[Path]()
    for page in pages:
        if known.intersection(page.paths) and (page.item.key or not whole):
            yield page.item


def own_skills(place: Provenance, root: Path) -> set[str]:
    """Return the keys of skills of which git knows nothing, also as they are once it does."""

    def is_maybe_own(labels: set[str]) -> set[str]:
        # Of most that git brought it knows this page, and the rest need not be read.
        pages = {root / "skills" / label / "SKILL.md": label for label in labels}
        return labels - {pages[path] for path in place.knows([*pages])}

    pages = _pages(place, root, is_maybe_own)
    known = place.knows([path for page in pages for path in page.paths]) if pages else set[Path]()
    mine = (page for page in pages if not known.intersection(page.paths))
    return {key for page in mine for key in (page.item.key, page.committed)} - {""}


def _pages(
    place: Provenance, root: Path, wanted: Callable[[set[str]], set[str]]
) -> list[SkillPage]:
    if not (root / "skills").is_dir() or not place.is_versioned():
        return []
    # Imported here: where nobody keeps a skill, nothing is loaded for them.
    from engramdown.skills.store import SkillStore

    files = SkillStore(root).files
    try:
        labels = files.labels()
    except StoreError:
        return []  # Then nobody is told of any.
    # What a page says of itself is not looked at: this is asked with every prompt.
    chosen = wanted(set(labels))
    found = (_page(place, files, label) for label in labels if label in chosen)
    return [page for page in found if page is not None]


def _page(place: Provenance, files: SkillFiles, label: str) -> SkillPage | None:
    from engramdown.skills.files import parts_of

    disk, home = Disk(durable=False), files.folder / label
    name, path = f"skills/{label}/SKILL.md", home / "SKILL.md"
    text = ""
    try:
        data = files.read(label)
        if data is None:
            return None
        text = data.decode("utf-8", "surrogateescape")
        parts = parts_of(disk, home, lambda folder: bool(place.knows([folder])))
        aside = [home / each.name for each in parts if each.is_aside]
        known = place.knows(aside) if aside else set[Path]()
        told = {each.name: f"\n{each.name} {_digest(disk, home / each.name)}" for each in parts}
    except (StoreError, OSError):
        return SkillPage(Brought("", name, 0, _shown(text)), (path,), "")
    counting = [each for each in parts if not each.is_aside or home / each.name in known]
    key = page_key(name, text + "".join(told[each.name] for each in counting))
    committed = page_key(name, text + "".join(told.values()))
    paths = (path, *(home / each.name for each in counting))
    return SkillPage(Brought(key, name, 0, _shown(text)), paths, committed)


def _shown(text: str) -> str:
    """Return as much of a page as a person is shown, who is asked about all of it."""
    if len(text) <= _MOST:
        return text
    end = text.rfind("\n", 0, _MOST) + 1 or _MOST
    return f"{text[:end].rstrip()}\n\n(cut here: {len(text) - end} characters more stand there)\n"


def _digest(disk: Disk, path: Path) -> str:
    """Return a digest of a file; of one that is too large to be read, its size and time.

    Of a link it is where it leads; of a pipe or a device, that it is one.
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
