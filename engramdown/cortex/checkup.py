"""Looks memory files over and says what is wrong with them, line by line.

Promises: pure; any text may be passed; what a person wrote is reported and never called fixable.
``engramdown.doctor.findings`` has the words, ``engramdown.cortex.mending`` mends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from engramdown.doctor.findings import Finding
from engramdown.doctor.syntax import SOUL, Sheet, damage, day, metadata_findings
from engramdown.engram import Scope
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.placement import as_entry
from engramdown.hippocampus.snapshot import named
from engramdown.kinds import ARCHIVE, LESSONS, PENDING, PROFILE, RULES
from engramdown.language.claims import Mark, read
from engramdown.language.similarity import Rewordings
from engramdown.markdown.document import Placed
from engramdown.markdown.metadata import is_address

__all__ = ["check", "check_form", "in_order"]

_ORDER: Final = (PROFILE, SOUL, RULES, LESSONS)
# Texts that differ in one of these are never the same, see engramdown.language.similarity.
_MARKS: Final[tuple[Mark, ...]] = ("number", "version", "path")
_LAST: Final = (PENDING, ARCHIVE)


@dataclass(frozen=True, slots=True)
class _Kept:
    """One memory of one file, with what decides whether we may touch it."""

    sheet: Sheet
    placed: Placed
    entry: Entry

    @property
    def id(self) -> str:
        """Its id, or ``""`` for a line without one."""
        return "" if is_address(self.entry.id) else self.entry.id

    @property
    def ours(self) -> bool:
        """Whether we wrote it, and no person stands behind it."""
        return bool(self.id) and not self.entry.by_person

    @property
    def where(self) -> str:
        return f"{self.sheet.disk_file}:{self.placed.line}"

    @property
    def section(self) -> tuple[str, str]:
        return self.placed.kind, self.placed.heading

    def find(self, code: str, *, fixable: bool = False, **fields: object) -> Finding:
        return self.sheet.find(self.placed.line, code, fixable=fixable, **fields)


def check(files: Mapping[str, str], today: date, scope: Scope = "project") -> list[Finding]:
    r"""Return what is wrong with the files of one scope, by file and line.

    Args:
        files: The texts by name, relative to the memory folder and as it is spelled there, as
            UTF-8 with surrogateescape.
        today: The day on which memories may have expired.
        scope: Whose files they are.

    >>> from datetime import date
    >>> check({"lessons.md": "- CI is slow\n- CI is slow!\n"}, date(2026, 3, 1))[0].message
    'says the same as lessons.md:1'
    """
    sheets, kept = _read(files, scope)
    memories = [one for sheet in sheets if sheet.is_list for one in kept[sheet.file]]
    found = _formed(sheets, kept, frozenset(files))
    copied = _copied(memories)
    for sheet in sheets:
        found += _repeated(kept[sheet.file], copied) if sheet.is_list else []
    found += _expired(memories, today)
    if scope == "project" and kept.get(PROFILE):
        found.append(kept[PROFILE][0].find("profile-in-project"))
    return _sorted(found, sheets)


def check_form(files: Mapping[str, str], of: Collection[str]) -> list[Finding]:
    r"""Return what is wrong with how some files are written, whatever they say, on any day.

    That is damage, metadata and ids.

    Args:
        files: The texts of all files of a scope, as for :func:`check`.
        of: The names of those that are looked at; the others only say which ids there are.

    >>> check_form({"lessons.md": "- a <!-- id:k3v9q2ht ts:soon -->\n"}, {"lessons.md"})[0].code
    'metadata-value'
    """
    sheets, kept = _read(files, "project")
    return _sorted(_formed(sheets, kept, of), sheets)


def in_order(names: Iterable[str]) -> list[str]:
    """Return the names of memory files in the order in which they are best read."""
    ranks = {name: rank for rank, name in enumerate(_ORDER)}
    ranks |= {name: len(_ORDER) + 1 + rank for rank, name in enumerate(_LAST)}
    return sorted(names, key=lambda name: (ranks.get(name, len(_ORDER)), name))


def _read(files: Mapping[str, str], scope: Scope) -> tuple[list[Sheet], dict[str, list[_Kept]]]:
    spelled = {name: file for file, name in named(files).items()}
    sheets = [Sheet.read(name, files[spelled[name]], spelled[name]) for name in in_order(spelled)]
    return sheets, {sheet.file: _kept(sheet, scope) for sheet in sheets}


def _formed(
    sheets: list[Sheet], kept: Mapping[str, list[_Kept]], of: Collection[str]
) -> list[Finding]:
    found: list[Finding] = []
    for sheet in sheets:
        if sheet.disk_file in of:
            found += damage(sheet)
            for one in kept[sheet.file]:
                found += metadata_findings(sheet, one.placed, ours=one.ours)
            found += [] if sheet.is_list else _ids(kept[sheet.file])
    memories = [one for sheet in sheets if sheet.is_list for one in kept[sheet.file]]
    return found + [pair.finding for pair in _pairs(memories) if {pair.file, pair.other} & {*of}]


def _sorted(found: Iterable[Finding], sheets: Iterable[Sheet]) -> list[Finding]:
    places = {sheet.disk_file: place for place, sheet in enumerate(sheets)}
    return sorted(found, key=lambda finding: (places[finding.file], finding.line))


def _kept(sheet: Sheet, scope: Scope) -> list[_Kept]:
    if sheet.file == SOUL:
        return []
    return [
        _Kept(sheet, placed, as_entry(sheet.file, scope, placed)) for placed in sheet.memories()
    ]


def _copied(memories: Iterable[_Kept]) -> set[str]:
    """Return the ids that stand in several files: lessons that are filed under a topic too."""
    files: dict[str, str] = {}
    return {
        one.id
        for one in memories
        if one.id and files.setdefault(one.id, one.sheet.file) != one.sheet.file
    }


class _Pair(NamedTuple):
    """Two entries with one id, and what is wrong with that."""

    file: str
    other: str
    finding: Finding


def _ids(entries: Iterable[_Kept]) -> list[Finding]:
    return [pair.finding for pair in _pairs(entries)]


def _pairs(entries: Iterable[_Kept]) -> Iterator[_Pair]:
    first: dict[str, _Kept] = {}
    for one in entries:
        other = first.setdefault(one.id, one) if one.id else one
        if other is one:
            continue
        if _may_share(other, one):
            if other.entry.fold != one.entry.fold:
                found = one.find("copies-differ", other=other.where)
                yield _Pair(one.sheet.disk_file, other.sheet.disk_file, found)
        elif other.sheet is not one.sheet or other.entry.fold != one.entry.fold:
            found = one.find("id-twice", fixable=one.ours, id=one.id, other=other.where)
            yield _Pair(one.sheet.disk_file, other.sheet.disk_file, found)


def _may_share(one: _Kept, other: _Kept) -> bool:
    """Whether two entries are a lesson and the same lesson in the file of its topic."""
    return one.sheet.file == LESSONS and other.sheet.file.startswith("topics/")


def _expired(memories: list[_Kept], today: date) -> Iterator[Finding]:
    """Yield what no longer holds; what is forgotten is forgotten by id, so that must be unique."""
    folds: dict[str, set[str]] = {}
    for one in memories:
        folds.setdefault(one.id, set()).add(one.entry.fold)
    for one in memories:
        last = day(one.entry.expires)
        if last is not None and last < today:
            mine = one.ours and len(folds[one.id]) == 1
            yield one.find("expired", fixable=mine, date=one.entry.expires)


def _repeated(entries: list[_Kept], copied: set[str]) -> Iterator[Finding]:
    """Yield what is said twice in one file."""
    groups: dict[str, list[_Kept]] = {}
    for one in entries:
        groups.setdefault(one.entry.fold, []).append(one)
    for group in groups.values():
        if len(group) > 1 and any(map(str.isalnum, group[0].entry.fold)):
            yield from _same(group, copied)
    kinds: dict[str, list[_Kept]] = {}
    for group in groups.values():
        for one in {one.entry.kind: one for one in reversed(group)}.values():
            kinds.setdefault(one.entry.kind, []).append(one)
    for group in kinds.values():
        yield from _alike(group)


def _same(group: list[_Kept], copied: set[str]) -> Iterator[Finding]:
    kinds: dict[str, list[_Kept]] = {}
    for one in group:
        kinds.setdefault(one.entry.kind, []).append(one)
    keepers = {kind: min(some, key=lambda one: _rank(one, copied)) for kind, some in kinds.items()}
    for kind, some in kinds.items():
        keeper = keepers[kind]
        for one in some:
            if one is not keeper:
                mine = one.ours and one.id not in copied and one.section == keeper.section
                yield one.find("duplicate", fixable=mine, other=keeper.where)
    first, *others = keepers.values()
    for one in others:
        opposed = {first.entry.kind, one.entry.kind} == {"always", "never"}
        yield one.find("always-and-never" if opposed else "duplicate", other=first.where)


def _rank(one: _Kept, copied: set[str]) -> tuple[bool, bool, str]:
    """Order those that say the same: a person's first, then one with copies, then the oldest."""
    return one.ours, one.id not in copied, one.entry.ts or "9999"


def _alike(entries: list[_Kept]) -> Iterator[Finding]:
    """Yield re-wordings, sought among those that speak of the same numbers, versions and paths."""
    groups: dict[tuple[frozenset[str], ...], list[_Kept]] = {}
    for one in entries:
        marks = read(one.entry.text).marks
        groups.setdefault(tuple(frozenset(marks.get(mark, ())) for mark in _MARKS), []).append(one)
    for group in groups.values():
        told: set[int] = set()
        for earlier, later in Rewordings([one.entry.text for one in group]).pairs():
            if later not in told:
                told.add(later)
                yield group[later].find("near-duplicate", other=group[earlier].where)
