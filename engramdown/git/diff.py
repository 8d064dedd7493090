"""What changed in memory between two states of its files, memory by memory.

Any texts may be passed. A memory is known by its id, wherever it is; a line
that a person wrote without one by its text, or by being like the one that went. Every file that
differs is named by at least one change; equal files by none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeVar, get_args

from engramdown.engram import RULE_KINDS, Scope
from engramdown.git.repository import Commit, Repository, find_repository
from engramdown.hippocampus import entry as placement
from engramdown.hippocampus.changeset import retired
from engramdown.hippocampus.entry import Archived, Entry, as_entry, raw_entries
from engramdown.hippocampus.snapshot import Reader, decoded, meant, named
from engramdown.kinds import ARCHIVE, PENDING, SOUL, in_reading_order, is_name, title_of
from engramdown.markdown.document import Document, parse
from engramdown.markdown.metadata import is_address
from engramdown.storage.disk import Disk

T = TypeVar("T")
_Fate = Literal["learned", "approved", "restored", "changed", "noted", "moved", "forgot"]
Verb = Literal[_Fate, "proposed", "declined", "withdrawn", "erased", "prose", "layout"]

# What else changed about a memory, each with how it was and is.
Notes = tuple[tuple[str, str, str], ...]

VERBS: Final[tuple[Verb, ...]] = get_args(Verb)
# A line without an id is taken for the one that went if this much of it is the same.
_LIKE: Final = 0.6
_LEAST_WORDS: Final = 0.35
# What is compared in pairs grows with the square: more than this many lines are left unpaired.
_PAIRED: Final = 300
_MOST_TOKENS: Final = 1_000
_LAST: Final = 1_000_000_000
_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")
_NOTED: Final = (
    *("confidence", "source", "basis", "topic", "expires", "pin", "origin", "cites", "ts"),
    "comments",
)


class Change(NamedTuple):
    """What became of one memory, or of the prose of a file.

    Attributes:
        verb: ``learned``; ``approved``: a proposal became memory; ``restored`` from the archive;
            ``changed`` its text; ``noted``: only what is said about it; ``moved`` to another file
            or section; ``forgot``; ``proposed``; ``declined``; ``withdrawn``: a proposal is gone
            undecided; ``erased`` from the archive; ``prose``: words of a file that are no memory;
            ``layout``: nothing that is said.
        file: The file in which it is now, or was last.
        before: It as it was, or ``None``.
        after: It as it is, or ``None``.
        notes: What else changed about it, each with how it was and is.
        record: What the archive says of it, or said if it came back from there.
    """

    verb: Verb
    file: str
    before: Entry | None = None
    after: Entry | None = None
    notes: Notes = ()
    record: Archived | None = None

    @property
    def entry(self) -> Entry | None:
        """It as it is now, or as it was."""
        return self.after or self.before

    @property
    def id(self) -> str:
        """Its id, or ``""`` for prose."""
        entry = self.entry
        return entry.id if entry else ""


class State(NamedTuple):
    """The memory files at one moment.

    Attributes:
        texts: The texts of the files by their names, as UTF-8 with surrogateescape.
        kept: The memories that stand, one for each id.
        copies: The same once more, in the files of their topics: by id and file.
        waiting: The proposals.
        archived: What was retired, the last time of each id.
        ticks: The tick of each proposal.
        spelled: How each file is spelled, by its name.
    """

    texts: Mapping[str, str]
    kept: Mapping[str, Entry]
    copies: Mapping[str, Entry]
    waiting: Mapping[str, Entry]
    archived: Mapping[str, Archived]
    ticks: Mapping[str, str]
    spelled: Mapping[str, str] = MappingProxyType({})


class Word(NamedTuple):
    """A piece of a text that changed.

    Attributes:
        text: The piece.
        mark: ``-`` if it went, ``+`` if it came, else ``""``.
    """

    text: str
    mark: Literal["", "-", "+"] = ""


def is_shown(name: str) -> bool:
    """Whether changes of a file below ``memory/`` are shown."""
    return name == SOUL or is_name(name)


def read_state(texts: Mapping[str, str], scope: Scope) -> State:
    """Read the memory files of a scope, by their names relative to its memory folder."""
    documents = {name: parse(texts[name]) for name in in_reading_order(texts) if name != SOUL}
    kept: dict[str, Entry] = {}
    copies: dict[str, Entry] = {}
    waiting: dict[str, Entry] = {}
    ticks: dict[str, str] = {}
    for name, document in documents.items():
        for placed in raw_entries(name, document) if name != ARCHIVE else ():
            entry = as_entry(name, scope, placed)
            if name == PENDING:
                tick, text = placement.split_task(entry.text)
                if tick:
                    waiting.setdefault(entry.id, entry._replace(text=text))
                    ticks.setdefault(entry.id, tick.strip())
            else:
                known = kept.setdefault(entry.id, entry)
                if known.file != name:
                    copies.setdefault(f"{entry.id} {name}", entry)
                elif known.fold != entry.fold:  # a line that was copied, and edited
                    kept.setdefault(f"{entry.id} {entry.fold}", entry)
    archive = retired(documents[ARCHIVE], scope) if ARCHIVE in documents else []
    return State(texts, kept, copies, waiting, {item.entry.id: item for item in archive}, ticks)


def compare(before: State, after: State) -> list[Change]:
    """Return what changed from one state to the other, file by file.

    >>> old = read_state({"lessons.md": "- Use pip <!-- id:k3v9q2ht -->"}, "project")
    >>> new = read_state({"lessons.md": "- Use uv <!-- id:k3v9q2ht -->"}, "project")
    >>> [(change.verb, change.id) for change in compare(old, new)]
    [('changed', 'k3v9q2ht')]
    """
    changes = _Comparison(before, after).run()
    changes += _prose(before, after, changes)
    files = in_reading_order({change.file for change in changes})
    places = {name: at for at, name in enumerate(files)}

    def order(change: Change) -> tuple[int, int, str]:
        entry = change.entry
        line, name = (entry.line, entry.id) if entry else (_LAST, "")
        return places[change.file], line, name

    return sorted(changes, key=order)


def words(before: str, after: str) -> list[Word]:
    """Return both texts as one, word by word; texts that have little in common one by one.

    >>> [*map(tuple, words("Use pip here", "Use uv here"))]
    [('Use ', ''), ('pip', '-'), ('uv', '+'), (' here', '')]
    """
    one, other = _TOKEN.findall(before), _TOKEN.findall(after)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if max(len(one), len(other)) > _MOST_TOKENS or matcher.ratio() < _LEAST_WORDS:
        return [Word(before, "-"), Word(after, "+")]
    pieces = []
    for op, start, end, new_start, new_end in matcher.get_opcodes():
        if end > start:
            pieces.append(Word("".join(one[start:end]), "" if op == "equal" else "-"))
        if op != "equal" and new_end > new_start:
            pieces.append(Word("".join(other[new_start:new_end]), "+"))
    return pieces


def _only_in(one: Mapping[str, T], other: Mapping[str, T]) -> dict[str, T]:
    """Return the items of one mapping whose keys the other does not have."""
    return {key: value for key, value in one.items() if key not in other}


class _Comparison:
    """Two states, and what of them is not explained yet."""

    def __init__(self, before: State, after: State) -> None:
        self.before = before
        self.after = after
        self.left = _only_in(before.kept, after.kept)
        self.came = _only_in(after.kept, before.kept)
        self.decided = _only_in(before.waiting, after.waiting)
        retired = [*_only_in(after.archived, before.archived).values()]
        self.retired_folds = {one.entry.fold: one for one in reversed(retired)}
        self.lifted = [*_only_in(before.archived, after.archived).values()]
        self.lifted_folds = {one.entry.fold: one for one in reversed(self.lifted)}

    def run(self) -> list[Change]:
        before, after = self.before, self.after
        changes = [*self._both(before.kept, after.kept), *self._both(before.waiting, after.waiting)]
        for change in self._both(before.copies, after.copies):
            # A copy counts only where it says now what the memory itself does not.
            entry = change.after
            if entry is not None and entry.text != after.kept[entry.id].text:
                changes.append(change)
        changes += self._renamed()
        changes += self._arrivals()
        for entry in self.left.values():
            record = after.archived.get(entry.id) or self.retired_folds.get(entry.fold)
            changes.append(Change("forgot", entry.file, before=entry, record=record))
        for entry in self.decided.values():
            record = after.archived.get(entry.id) if entry.id not in before.archived else None
            record = record or self.retired_folds.get(entry.fold)
            if record is not None and record.reason == "declined":
                changes.append(Change("declined", PENDING, before=entry, record=record))
            else:
                changes.append(Change("withdrawn", PENDING, before=entry))
        new = _only_in(after.waiting, before.waiting).values()
        changes += [Change("proposed", PENDING, after=entry) for entry in new]
        # Remembered again, it is kept out no longer.
        folds = {entry.fold for entry in after.kept.values()}
        erased = (item for item in self.lifted if item.entry.id not in after.kept)
        return changes + [
            Change("erased", ARCHIVE, before=item.entry, record=item)
            for item in erased
            if item.entry.fold not in folds
        ]

    def _both(self, old: Mapping[str, Entry], new: Mapping[str, Entry]) -> Iterator[Change]:
        for key, entry in new.items():
            was = old.get(key)
            if was is None:
                continue
            ticks = self._ticks(key, key)
            # All of it but its line number.
            if was._replace(line=0) != entry._replace(line=0):
                yield _change(was, entry, ticks)
            elif ticks:
                yield Change("noted", PENDING, was, entry, ticks)

    def _ticks(self, old: str, new: str) -> Notes:
        one, other = self.before.ticks.get(old, ""), self.after.ticks.get(new, "")
        return (("tick", one, other),) if one != other else ()

    def _renamed(self) -> Iterator[Change]:
        """Yield the lines that go by another name now: their text was it, or an id came or went."""
        same = {(entry.kind, entry.fold): key for key, entry in self.left.items()}
        for key, entry in [*self.came.items()]:
            old = same.pop((entry.kind, entry.fold), None)
            if old is not None:
                yield self._rename(old, key)
        for old, key in _alike(self.left, self.came):
            yield self._rename(old, key)

    def _rename(self, old: str, new: str) -> Change:
        before, after = self.left.pop(old), self.came.pop(new)
        return _change(before, after, self._ticks(before.id, after.id))

    def _arrivals(self) -> Iterator[Change]:
        """Yield the memories that are new: approved, restored or learned."""
        decided = [*reversed(self.decided.values())]
        folds = {one.fold: one for one in decided}
        origins = {(one.kind, one.origin): one for one in decided if one.origin}
        for entry in self.came.values():
            # The text of a proposal may have been edited before it became memory.
            known = folds.get(entry.fold), origins.get((entry.kind, entry.origin))
            waiting = [one.id for one in known if one is not None and one.id in self.decided]
            if waiting:
                proposal = self.decided.pop(waiting[0])
                yield Change("approved", entry.file, proposal, entry)
                continue
            record = self.before.archived.get(entry.id)
            verb: Verb = "restored" if record is not None else "learned"
            record = record or self.lifted_folds.get(entry.fold)
            yield Change(verb, entry.file, after=entry, record=record)


def _change(before: Entry, after: Entry, notes: Notes) -> Change:
    """Return what became of a memory that is in both states."""
    values = ((name, str(getattr(before, name)), str(getattr(after, name))) for name in _NOTED)
    notes += tuple(note for note in values if note[1] != note[2])
    if before.id != after.id and not (is_address(before.id) and is_address(after.id)):
        notes += (("id", before.id, after.id),)
    verb: Verb = "noted" if _place(before) == _place(after) else "moved"
    verb = verb if before.text == after.text else "changed"
    return Change(verb, after.file, before, after, notes)


def _place(entry: Entry) -> tuple[str, str, str]:
    return entry.file, entry.heading, entry.kind


def _alike(left: Mapping[str, Entry], came: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Yield the names of lines of one file that were edited, one of them without an id."""
    if len(left) * len(came) > _PAIRED**2:
        return
    scored = []
    for old, was in left.items():
        matcher = SequenceMatcher(None, b=_TOKEN.findall(was.text), autojunk=False)
        for new, entry in came.items():
            by_hand = is_address(was.id) or is_address(entry.id)
            if by_hand and was.file == entry.file:
                matcher.set_seq1(_TOKEN.findall(entry.text))
                if matcher.quick_ratio() >= _LIKE and matcher.ratio() >= _LIKE:
                    scored.append((-matcher.ratio(), was.line, entry.line, old, new))
    taken: set[str] = set()
    for *_, old, new in sorted(scored):
        if not {f"-{old}", f"+{new}"} & taken:
            taken |= {f"-{old}", f"+{new}"}
            yield old, new


def _prose(before: State, after: State, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the files with changes that the others do not name: prose, or the layout alone."""
    sides = (side for change in changes for side in (change.before, change.after))
    entries = [side for side in sides if side is not None]
    entries += [change.record.entry for change in changes if change.record is not None]
    files = {entry.file for entry in entries}
    ids = {entry.id for entry in entries}
    for name in {**before.texts, **after.texts}:
        old, new = before.texts.get(name, ""), after.texts.get(name, "")
        if old == new:
            continue
        one, other = parse(old), parse(new)
        if _prose_lines(name, one) != _prose_lines(name, other):
            yield Change("prose", name)
        elif name not in files and not ids.intersection(
            map(placement.entry_id, [*one.placed(), *other.placed()])
        ):
            yield Change("layout", name)


def _prose_lines(name: str, document: Document) -> list[str]:
    """Return the lines of a file that are no memory, but for empty ones and headings of ours."""
    if name == SOUL:
        return [block.raw for block in document.blocks]
    memories = {placed.at for placed in raw_entries(name, document)}
    headings = {*RULE_KINDS, title_of(name).casefold()}
    lines = []
    for at, block in enumerate(document.blocks):
        ours = block.shape == "heading" and block.text.casefold() in headings
        if at not in memories and not ours:
            lines += [line for line in block.raw.split("\n") if line.strip()]
    return lines


# Memory as it was at a commit, and as it is on the disk.
#
# Writes nothing; no file of the work tree is read for what was committed, and none of
# git's for what is there now.


class Place(NamedTuple):
    """The memory of a scope, and the repository that it is in.

    Attributes:
        root: The folder of the scope.
        scope: Which scope it is.
        repository: The repository.
        folder: The memory folder, relative to the top of the work tree.
        limit: The largest file that is read, in bytes.
    """

    root: Path
    scope: Scope
    repository: Repository
    folder: str
    limit: int

    @classmethod
    def of(cls, root: Path, scope: Scope, limit: int) -> Place:
        """Return where the scope at ``root`` is.

        Raises:
            GitError: If it is in no repository.
        """
        repository = find_repository(root)
        return cls(root, scope, repository, repository.relative(root / "memory"), limit)

    def at(self, commit: Commit) -> State:
        """Return memory as a commit has it.

        Raises:
            GitError: If a file of it cannot be read.
        """
        files = self.repository.files(
            commit.id, self.folder, lambda name: is_shown(meant(name)), self.limit
        )
        texts = {name: decoded(data) or "" for name, data in files.items()}
        return self._state(texts)

    def now(self) -> State:
        """Return memory as it is on the disk.

        Raises:
            StoreError: If a file cannot be read.
        """
        disk = Disk(durable=False, limit=self.limit)
        reader = Reader(self.root, disk)
        texts = {reader.spelled(name): reader.read(name).text or "" for name in reader.names()}
        place = reader.place(SOUL)
        soul = decoded(disk.read(disk.inside(place, self.root)))
        return self._state(texts if soul is None else {**texts, place.name: soul})

    def _state(self, texts: Mapping[str, str]) -> State:
        """Read files by how they are spelled, without those that are not used."""
        names = {file: name for file, name in named(texts).items() if is_shown(name)}
        state = read_state({names[file]: texts[file] for file in names}, self.scope)
        return state._replace(spelled={name: file for file, name in names.items()})
