"""Checks memory files line by line, on the disk or in the index of git, and makes safe repairs.

Lines of a person are reported and never fixable. A repair is one step for each file, which ``undo``
takes back; a file that changed after the check is left as it is. A dry run shows exactly the bytes
that the real run writes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import today
from engramdown.doctor.findings import Finding, find
from engramdown.doctor.folder import Inspection, inspect_settings
from engramdown.doctor.recordings import inspect_citations, inspect_origins, telling_findings
from engramdown.doctor.syntax import Sheet, corrected, damage, day, metadata_findings
from engramdown.engram import Scope
from engramdown.errors import EntryNotFoundError, GitError, StoreError
from engramdown.gate import contradictions_among
from engramdown.git.repository import Repository, Staged
from engramdown.hippocampus import Entry, Hippocampus, as_entry, entry_id
from engramdown.hippocampus.files import is_for_git
from engramdown.hippocampus.snapshot import decoded, meant, named
from engramdown.kinds import LESSONS, PROFILE, SOUL, in_reading_order, is_name
from engramdown.language.claims import Mark, read
from engramdown.language.meaning import Statements
from engramdown.language.similarity import is_rewording
from engramdown.markdown import Metadata, Placed, is_address, parse
from engramdown.secrets.redaction import find_secrets
from engramdown.settings import FOLDER
from engramdown.storage.disk import megabytes
from engramdown.storage.trouble_log import TROUBLE, troubles

# Days.
_WEEK: Final = 7
# Texts that differ in one of these are never the same, see engramdown.language.similarity.
_MARKS: Final[tuple[Mark, ...]] = ("number", "version", "path")


@dataclass(frozen=True, slots=True)
class _Kept:
    """One memory of one file, and whether we may change it."""

    sheet: Sheet
    placed: Placed
    entry: Entry

    @property
    def id(self) -> str:
        """Its id, or ``""`` for a line without one."""
        return "" if is_address(self.entry.id) else self.entry.id

    @property
    def ours(self) -> bool:
        """Whether we wrote it, and no person said, confirmed or pinned it."""
        return bool(self.id) and not self.entry.by_person

    @property
    def where(self) -> str:
        return f"{self.sheet.disk_file}:{self.placed.line}"

    def find(self, code: str, *, fixable: bool = False, **fields: object) -> Finding:
        return self.sheet.find(self.placed.line, code, fixable=fixable, **fields)


def check(files: Mapping[str, str], today: date, scope: Scope = "project") -> list[Finding]:
    r"""Return the findings about the files of one scope, by file and line.

    Args:
        files: The texts by name, relative to the memory folder and as it is spelled there, as
            UTF-8 with surrogateescape.
        today: The day on which memories may have expired.
        scope: The scope of the files.

    >>> from datetime import date
    >>> check({"lessons.md": "- CI is slow\n- CI is slow!\n"}, date(2026, 3, 1))[0].message
    'says the same as lessons.md:1'
    """
    sheets, kept = _read(files, scope)
    memories = [one for sheet in sheets if sheet.is_list for one in kept[sheet.file]]
    found = _formed(sheets, kept, frozenset(files))
    # Lessons with a topic are in several files.
    places = {(one.id, one.sheet.file) for one in memories if one.id}
    copied = {name for name, count in Counter(name for name, _ in places).items() if count > 1}
    for sheet in sheets:
        found += _repeated(kept[sheet.file], copied) if sheet.is_list else []
    for earlier, later in contradictions_among([one.entry for one in memories]):
        one = memories[earlier]
        found.append(memories[later].find("contradiction", other=one.where, text=one.entry.text))
    # A memory is forgotten by its id, which must be unique.
    folds: dict[str, set[str]] = {}
    for one in memories:
        folds.setdefault(one.id, set()).add(one.entry.fold)
    for one in memories:
        last = day(one.entry.expires)
        if last is not None and last < today:
            mine = one.ours and len(folds[one.id]) == 1
            found.append(one.find("expired", fixable=mine, date=one.entry.expires))
    if scope == "project" and kept.get(PROFILE):
        found.append(kept[PROFILE][0].find("profile-in-project"))
    return _sorted(found, sheets)


def check_form(files: Mapping[str, str], of: Collection[str]) -> list[Finding]:
    r"""Return the findings about damage, metadata and ids of some files.

    Args:
        files: The texts of all files of a scope, as for :func:`check`.
        of: The names of the files to check; the others only say which ids exist.

    >>> check_form({"lessons.md": "- a <!-- id:k3v9q2ht ts:soon -->\n"}, {"lessons.md"})[0].code
    'metadata-value'
    """
    sheets, kept = _read(files, "project")
    return _sorted(_formed(sheets, kept, of), sheets)


def _read(files: Mapping[str, str], scope: Scope) -> tuple[list[Sheet], dict[str, list[_Kept]]]:
    """Return the files in order, and the memories of each."""
    spelled = {name: file for file, name in named(files).items()}
    names = in_reading_order(spelled)
    sheets = [Sheet.read(name, files[spelled[name]], spelled[name]) for name in names]
    return sheets, {
        sheet.file: [
            _Kept(sheet, placed, as_entry(sheet.file, scope, placed))
            for placed in (sheet.memories() if sheet.file != SOUL else ())
        ]
        for sheet in sheets
    }


def _formed(
    sheets: list[Sheet], kept: Mapping[str, list[_Kept]], of: Collection[str]
) -> list[Finding]:
    """Return the findings about damage, metadata and ids."""
    found: list[Finding] = []
    for sheet in sheets:
        if sheet.disk_file in of:
            found += damage(sheet)
            for one in kept[sheet.file]:
                found += metadata_findings(sheet, one.placed, ours=one.ours)
            found += [] if sheet.is_list else [each for _, each in _shared(kept[sheet.file])]
    memories = [one for sheet in sheets if sheet.is_list for one in kept[sheet.file]]
    return found + [finding for files, finding in _shared(memories) if files & {*of}]


def _sorted(found: Iterable[Finding], sheets: Iterable[Sheet]) -> list[Finding]:
    places = {sheet.disk_file: place for place, sheet in enumerate(sheets)}
    return sorted(found, key=lambda finding: (places[finding.file], finding.line))


def _shared(entries: Iterable[_Kept]) -> Iterator[tuple[set[str], Finding]]:
    """Yield a finding for each two entries with one id, and the files that have them."""
    first: dict[str, _Kept] = {}
    for one in entries:
        other = first.setdefault(one.id, one) if one.id else one
        differs = other.entry.fold != one.entry.fold
        files = {one.sheet.disk_file, other.sheet.disk_file}
        # A lesson may also be in the file of its topic.
        if other.sheet.file == LESSONS and one.sheet.file.startswith("topics/"):
            if differs:
                yield files, one.find("copies-differ", other=other.where)
        elif other is not one and (other.sheet is not one.sheet or differs):
            yield files, one.find("id-twice", fixable=one.ours, id=one.id, other=other.where)


def _by_kind(entries: Iterable[_Kept]) -> dict[str, list[_Kept]]:
    kinds: dict[str, list[_Kept]] = {}
    for one in entries:
        kinds.setdefault(one.entry.kind, []).append(one)
    return kinds


def _repeated(entries: list[_Kept], copied: set[str]) -> Iterator[Finding]:
    """Yield duplicates within one file."""
    groups: dict[str, list[_Kept]] = {}
    for one in entries:
        groups.setdefault(one.entry.fold, []).append(one)
    for group in groups.values():
        if len(group) > 1 and any(map(str.isalnum, group[0].entry.fold)):
            yield from _same(group, copied)
    # The first of each kind, of those that say the same.
    firsts = [some[0] for group in groups.values() for some in _by_kind(group).values()]
    for group in _by_kind(firsts).values():
        yield from _alike(group)


def _same(group: list[_Kept], copied: set[str]) -> Iterator[Finding]:
    """Yield all but one of the entries that say the same."""

    def rank(one: _Kept) -> tuple[bool, bool, str]:
        """Order them: a person's first, then one with copies, then the oldest."""
        return one.ours, one.id not in copied, one.entry.ts or "9999"

    kinds = _by_kind(group)
    keepers = {kind: min(some, key=rank) for kind, some in kinds.items()}
    for kind, some in kinds.items():
        keeper = keepers[kind]
        section = keeper.placed.kind, keeper.placed.heading
        for one in some:
            if one is not keeper:
                is_here = (one.placed.kind, one.placed.heading) == section
                mine = one.ours and one.id not in copied and is_here
                yield one.find("duplicate", fixable=mine, other=keeper.where)
    first, *others = keepers.values()
    for one in others:
        opposed = {first.entry.kind, one.entry.kind} == {"always", "never"}
        yield one.find("always-and-never" if opposed else "duplicate", other=first.where)


def _alike(entries: list[_Kept]) -> Iterator[Finding]:
    """Yield rewordings among entries with the same numbers, versions and paths."""
    groups: dict[tuple[frozenset[str], ...], list[_Kept]] = {}
    for one in entries:
        marks = read(one.entry.text).marks
        groups.setdefault(tuple(frozenset(marks.get(mark, ())) for mark in _MARKS), []).append(one)
    for group in groups.values():
        reported: set[int] = set()
        for earlier, later in Statements(one.entry.text for one in group).pairs(is_rewording):
            if later not in reported:
                reported.add(later)
                yield group[later].find("near-duplicate", other=group[earlier].where)


# ---- the index of git: before a commit, not after it ----

_MEMORY: Final = "memory/"
# Findings that may be intended or older; any other one stops a commit.
_MAY_PASS: Final = frozenset({"indented-item", "near-heading", "unknown-tick"})


class Report(NamedTuple):
    """The findings in one scope.

    Attributes:
        scope: The scope.
        folder: Its memory folder.
        files: How many memory files it has.
        findings: What was found.
    """

    scope: Scope
    folder: Path
    files: int
    findings: Sequence[Finding]

    def path_of(self, finding: Finding) -> Path:
        """Return the file that a finding is about, without links."""
        return Path(os.path.realpath(self.folder / finding.file))


def inspect_scopes(home: Path, project: Path | None, mode: str | None = None) -> list[Report]:
    """Look for faults in each scope that exists, the global one first.

    Args:
        home: The folder of the global scope.
        project: The folder of the project, or ``None``.
        mode: The mode given as an argument, or ``None``.

    Raises:
        SettingsError: If an argument or an environment variable is wrong.
    """
    scopes: list[tuple[Scope, Path]] = [("global", home)] if os.path.lexists(home) else []
    if project is not None:
        scopes.append(("project", project))
    if not scopes:
        return []
    chosen, configured = inspect_settings(home, project, mode)
    reports = []
    for scope, root in scopes:
        settings = chosen.of(scope)
        seen = Inspection(root, settings.max_file_bytes)
        findings = [*configured.get(root, []), *seen.findings]
        if root.is_dir():
            findings += check(seen.files, today(), scope)
            findings += inspect_origins(root, scope)
            findings += inspect_citations(root) if scope == "project" else ()
            findings += telling_findings(root, settings.episodes)
            findings += _hook_findings(root)
        files = len(seen.files) if root.is_dir() else 0
        reports.append(Report(scope, root / "memory", files, findings))
    return reports


def _hook_findings(root: Path) -> list[Finding]:
    """Return the failures of hooks of agents within a week."""
    since = (today() - timedelta(days=_WEEK)).isoformat()
    lately = [line for line in troubles(root) if line > since]
    if not lately:
        return []
    place = f"../{TROUBLE}", 0
    return [find(place, "hook-trouble", count=len(lately), reason=lately[-1].partition(" ")[2])]


class StagedReport(NamedTuple):
    """The findings in the index of git.

    Attributes:
        files: How many files of memory, and pages of the journal, are staged.
        findings: The findings, each with its file relative to the top.
    """

    files: int
    findings: tuple[tuple[str, Finding], ...]


def stops(finding: Finding) -> bool:
    """Whether it should stop a commit."""
    return finding.level != "note" and finding.code not in _MAY_PASS


def inspect_staged(repository: Repository, home: Path, limit: int) -> StagedReport:
    """Check what would be committed in every scope below the top; the work tree is not read.

    Args:
        repository: The repository.
        home: The folder of the global scope, which may also be in git.
        limit: The largest file that is read, in bytes.

    Raises:
        GitError: If the index cannot be read.
    """
    # The global scope as the beginning of a path, or the top if that is a scope itself.
    own: str | None = ""
    if repository.top.name != FOLDER:
        own = None
        with suppress(GitError):
            below = repository.relative(home)
            own = f"{below}/" if below else ""
    scopes: dict[str, dict[str, Staged]] = {}
    for item in repository.staged():
        before, mark, _ = f"/{item.path}".partition(f"/{FOLDER}/")
        scope = f"{before}{mark}"[1:] if mark else own
        if scope is not None and item.path.startswith(scope):
            scopes.setdefault(scope, {})[item.path.removeprefix(scope)] = item
    files, found = 0, list[tuple[str, Finding]]()
    for scope, items in scopes.items():
        memory = {name: item for name, item in items.items() if _is_memory(name)}
        days = {name: item for name, item in items.items() if name.startswith("journal/")}
        files += len(memory) + len(days)
        findings = [
            find((f"../{name}", 0), "not-for-git") for name in items if not is_for_git(name)
        ]
        links = {name: item.blob for name, item in memory.items() if item.is_link}
        targets = map(os.fsdecode, repository.contents(links.values()))
        for name, target in zip(links, targets, strict=True):
            findings.append(find((name.removeprefix(_MEMORY), 0), "link", target=target))
        findings += _staged_memory(repository, scope, memory, limit)
        # Pages of the journal are only checked for secrets.
        for name, text in _texts(repository, _blobs(days), limit)[0].items():
            for secret in find_secrets(text):
                line = text.count("\n", 0, secret.start) + 1
                findings.append(find((f"../{name}", line), "secret", kinds=secret.kind))
        for each in findings:
            if each.level != "note":
                is_outside = each.file.startswith("../")
                path = each.file[3:] if is_outside else f"{_MEMORY}{each.file}"
                found.append((f"{scope}{path}", each))
    return StagedReport(files, tuple(found))


def _is_memory(name: str) -> bool:
    file = name.removeprefix(_MEMORY)
    return file != name and (meant(file) == SOUL or is_name(meant(file)))


def _blobs(items: Mapping[str, Staged]) -> dict[str, str]:
    return {name: item.blob for name, item in items.items() if item.blob and not item.is_link}


def _texts(
    repository: Repository, blobs: Mapping[str, str], limit: int
) -> tuple[dict[str, str], dict[str, int]]:
    """Return the texts of files, and the sizes of those that are too large."""
    sizes = dict(zip(blobs, repository.sizes(blobs.values()), strict=True))
    small = [name for name, size in sizes.items() if size <= limit]
    data = repository.contents(blobs[name] for name in small)
    texts = {name: decoded(each) or "" for name, each in zip(small, data, strict=True)}
    return texts, {name: size for name, size in sizes.items() if size > limit}


def _staged_memory(
    repository: Repository, scope: str, memory: Mapping[str, Staged], limit: int
) -> list[Finding]:
    """Return the findings about staged files; the other files only say which ids exist."""
    wanted = {name.removeprefix(_MEMORY) for name in _blobs(memory)}
    if not wanted:
        return []
    indexed = repository.indexed(f"{scope}memory")
    blobs = {name: blob for name, blob in indexed.items() if _is_memory(f"{_MEMORY}{name}")}
    texts, large = _texts(repository, blobs, limit)
    found = [
        find((name, 0), "too-large", size=has, limit=most)
        for name in sorted(wanted & {*large})
        for has, most in [megabytes(large[name], limit)]
    ]
    return found + check_form(texts, wanted)


# ---- repairs ----

# Mending a line can reveal another finding, such as a duplicate that also had a wrong value.
_PASSES: Final = 3


def repair(store: Hippocampus, today: date, next_id: Callable[[], str]) -> None:
    """Mend the fixable findings in the files of ``store``; unreadable files are skipped.

    Args:
        store: The store of one scope; one in a dry run writes nothing.
        today: The day on which memories may have expired.
        next_id: Returns an id for an entry whose own is not unique.

    Raises:
        StoreError: If a file could not be written; earlier repairs stay.
    """
    for _ in range(_PASSES):
        texts = {}
        for name in store.files.names():
            # The inspection has reported it; the other files can still be mended.
            with suppress(StoreError):
                texts[name] = store.files.document(name).render()
        found: dict[str, list[Finding]] = {}
        for finding in check(texts, today, store.scope):
            if finding.fixable:
                found.setdefault(finding.file, []).append(finding)
        if not found:
            return
        for name, findings in found.items():
            _mend(store, name, texts[name], findings, next_id)


def _mend(
    store: Hippocampus, name: str, text: str, findings: list[Finding], next_id: Callable[[], str]
) -> None:
    ids = expired_ids(text, findings)
    if any(finding.code in BY_TEXT for finding in findings):
        after = fix(text, findings, next_id)
        store.rewrite(name, lambda now: after if now == text else now, "doctor")
    for found in ids:
        # It may have gone with its copy in another file, or by another process.
        with suppress(EntryNotFoundError):
            store.forget(found, why="expired", reason="expired")


# The codes that :func:`fix` mends; ``expired`` is mended by forgetting the memory.
BY_TEXT: Final = frozenset({"duplicate", "id-twice", "metadata-twice", "metadata-value"})


def fix(text: str, findings: Iterable[Finding], new_id: Callable[[], str]) -> str:
    r"""Return ``text`` with the fixable findings mended; every other byte stays.

    Args:
        text: The text of a file.
        findings: The findings of :func:`engramdown.doctor.checks.check` in exactly this text.
        new_id: Returns an id for an entry whose own is not unique.

    >>> from datetime import date
    >>> from engramdown.doctor.checks import check
    >>> text = "- CI is slow <!-- id:k3v9q2ht confidence:High -->\n"
    >>> fix(text, check({"lessons.md": text}, date(2026, 3, 1)), lambda: "")
    '- CI is slow <!-- id:k3v9q2ht confidence:high -->\n'
    """
    codes = _fixable(finding for finding in findings if finding.code in BY_TEXT)
    document = parse(text)
    for placed in document.placed():
        block = placed.block
        last = placed.line + block.raw.rstrip().count("\n")
        found = codes.get(placed.line, set()) | codes.get(last, set())
        if "duplicate" in found:
            document = document.remove(block)
        elif found:
            meta = block.meta or Metadata()
            if found & {"metadata-twice", "metadata-value"}:
                meta = corrected(meta)
            meta = meta.update({"id": new_id()}) if "id-twice" in found else meta
            document = document.note(block, meta)
    return document.render()


def expired_ids(text: str, findings: Iterable[Finding]) -> list[str]:
    """Return the ids of the expired memories that may be forgotten.

    A memory with another fixable finding is left for the next pass.
    """
    lines = {line for line, found in _fixable(findings).items() if found == {"expired"}}
    return [entry_id(placed) for placed in parse(text).placed() if placed.line in lines]


def _fixable(findings: Iterable[Finding]) -> dict[int, set[str]]:
    """Return the fixable codes of each line."""
    codes: dict[int, set[str]] = {}
    for finding in findings:
        if finding.fixable:
            codes.setdefault(finding.line, set()).add(finding.code)
    return codes
