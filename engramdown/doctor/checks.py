"""Checks memory files line by line, on the disk or in the index of git.

What a person wrote is reported and never called fixable. ``engramdown.doctor.findings`` has the
words, ``engramdown.doctor.repairs`` mends.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.doctor.findings import Finding, find
from engramdown.doctor.syntax import Sheet, damage, day, metadata_findings
from engramdown.engram import Scope
from engramdown.errors import GitError
from engramdown.git.repository import Repository, Staged
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.files import is_for_git
from engramdown.hippocampus.placement import as_entry
from engramdown.hippocampus.snapshot import decoded, meant, named
from engramdown.kinds import ARCHIVE, LESSONS, PENDING, PROFILE, RULES, SOUL, is_name
from engramdown.kinds import SOUL as SOUL_STAGED
from engramdown.language.claims import Mark, read
from engramdown.language.similarity import Rewordings
from engramdown.markdown.document import Placed
from engramdown.markdown.metadata import is_address
from engramdown.secrets.redaction import find_secrets
from engramdown.settings import FOLDER
from engramdown.storage.disk import megabytes

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


# What is wrong with memory as it stands in the index of git: before a commit, not after it.
#
# Looks at what would be committed, never at the work tree, and writes nothing; finds
# every scope below the top of the work tree, and what of it is not for git; a secret is never
# repeated.

_MEMORY: Final = "memory/"
_JOURNAL: Final = "journal/"
# What may be meant, or was there before; the rest must not be committed unseen.
_MAY_PASS: Final = frozenset({"indented-item", "near-heading", "unknown-tick"})


class StagedReport(NamedTuple):
    """What was found in the index.

    Attributes:
        files: How many files of memory, and pages of the journal, are staged.
        findings: What is wrong with them, each with its file relative to the top.
    """

    files: int
    findings: tuple[tuple[str, Finding], ...]


def stops(finding: Finding) -> bool:
    """Whether a commit is to be stopped for it."""
    return finding.level != "note" and finding.code not in _MAY_PASS


def inspect_staged(repository: Repository, home: Path, limit: int) -> StagedReport:
    """Look at what is staged.

    Args:
        repository: Whose index it is.
        home: The folder of the global scope, which may be kept in git too.
        limit: The largest file that is read, in bytes.

    Raises:
        GitError: If the index cannot be read.
    """
    own = _scope_at_top(repository, home)
    scopes: dict[str, dict[str, Staged]] = {}
    for item in repository.staged():
        scope = _scope_of(item.path, own)
        if scope is not None:
            scopes.setdefault(scope, {})[item.path.removeprefix(scope)] = item
    files, found = 0, list[tuple[str, Finding]]()
    for scope, items in scopes.items():
        memory = {name: item for name, item in items.items() if _is_memory(name)}
        files += len(memory)
        findings = [*_strangers(items), *_links(repository, memory)]
        findings += _texts(repository, scope, memory, limit)
        days = {name: item for name, item in items.items() if name.startswith(_JOURNAL)}
        files += len(days)
        findings += _days(repository, days, limit)
        found += [(_path(scope, each), each) for each in findings if each.level != "note"]
    return StagedReport(files, tuple(found))


def _scope_at_top(repository: Repository, home: Path) -> str | None:
    """Return the global scope as the beginning of a path, or the top if that is a scope itself."""
    if repository.top.name == FOLDER:
        return ""
    try:
        folder = repository.relative(home)
    except GitError:
        return None
    return f"{folder}/" if folder else ""


def _scope_of(path: str, own: str | None) -> str | None:
    """Return the scope in which a file stands as the beginning of its path, or ``None``."""
    before, mark, _ = f"/{path}".partition(f"/{FOLDER}/")
    if mark:
        return f"{before}{mark}"[1:]
    return own if own is not None and path.startswith(own) else None


def _is_memory(name: str) -> bool:
    file = name.removeprefix(_MEMORY)
    return file != name and (meant(file) == SOUL_STAGED or is_name(meant(file)))


def _strangers(names: Iterable[str]) -> list[Finding]:
    return [find((f"../{name}", 0), "not-for-git") for name in names if not is_for_git(name)]


def _links(repository: Repository, memory: Mapping[str, Staged]) -> list[Finding]:
    links = {name: item.blob for name, item in memory.items() if item.is_link}
    targets = repository.contents(links.values())
    return [
        find((name.removeprefix(_MEMORY), 0), "link", target=os.fsdecode(target))
        for name, target in zip(links, targets, strict=True)
    ]


def _texts(
    repository: Repository, scope: str, memory: Mapping[str, Staged], limit: int
) -> list[Finding]:
    """Return what the staged files say wrong, next to the others, which only say their ids."""
    staged = {name for name, item in memory.items() if item.blob and not item.is_link}
    if not staged:
        return []
    indexed = repository.indexed(f"{scope}memory")
    blobs = {name: blob for name, blob in indexed.items() if _is_memory(f"{_MEMORY}{name}")}
    sizes = dict(zip(blobs, repository.sizes(blobs.values()), strict=True))
    small = [name for name, size in sizes.items() if size <= limit]
    data = repository.contents(blobs[name] for name in small)
    texts = {name: decoded(each) or "" for name, each in zip(small, data, strict=True)}
    wanted = {name.removeprefix(_MEMORY) for name in staged}
    found = [
        find((name, 0), "too-large", size=has, limit=most)
        for name in sorted(wanted & {*sizes} - {*small})
        for has, most in [megabytes(sizes[name], limit)]
    ]
    return found + check_form(texts, wanted)


def _days(repository: Repository, days: Mapping[str, Staged], limit: int) -> list[Finding]:
    """Return the secrets on staged pages of the journal, which is a person's to write otherwise."""
    blobs = {name: item.blob for name, item in days.items() if item.blob and not item.is_link}
    sizes = repository.sizes(blobs.values())
    small = [name for name, size in zip(blobs, sizes, strict=True) if size <= limit]
    data = repository.contents(blobs[name] for name in small)
    texts = {name: decoded(each) or "" for name, each in zip(small, data, strict=True)}
    return [
        find((f"../{name}", text.count("\n", 0, secret.start) + 1), "secret", kinds=secret.kind)
        for name, text in texts.items()
        for secret in find_secrets(text)
    ]


def _path(scope: str, finding: Finding) -> str:
    name = finding.file
    return f"{scope}{name[3:] if name.startswith('../') else _MEMORY + name}"
