"""Carrying out a plan for memories that stand: some go to the archive, something stays or comes.

Promises: pure over a :class:`engramdown.hippocampus.placement.Folder`; what goes is in ``archive.md``
first, with the reason and with what replaces it; a memory that is not as the plan saw it, in words
or metadata, keeps its part of the plan from being carried out, and is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from engramdown.engram import fold, pointers
from engramdown.errors import InvalidEngramError, StoreError
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.placement import (
    ARCHIVE,
    LESSONS,
    PENDING,
    Folder,
    as_entry,
    entry_id,
    fields,
    raw_entries,
    retire,
    title_of,
    tombstones_of,
    topic_file,
    twin,
)
from engramdown.markdown.document import Placed
from engramdown.markdown.metadata import Metadata, is_address

__all__ = ["Desk", "Revised", "Revision", "revise"]


class Revision(NamedTuple):
    """One part of a plan.

    Attributes:
        taken: The memories that go, as the plan saw them.
        reason: The word for the archive: ``duplicate``, ``merged``, ``replaced`` or ``expired``.
        stays: The memory that stays for them, or that moves, as the plan saw it; or ``None``.
        comes: The memory that comes in the place of the first that goes, no id yet; or ``None``.
        learned: Pointers that the memory that stays gets in addition, with commas between.
        topic: The slug of the topic to which the memory that stays moves, or ``""``.
    """

    taken: tuple[Entry, ...] = ()
    reason: str = ""
    stays: Entry | None = None
    comes: Entry | None = None
    learned: str = ""
    topic: str = ""


class Revised(NamedTuple):
    """What became of one part of a plan.

    Attributes:
        revision: The part.
        id: The memory that stands for what went, or that moved; or ``""``.
        problem: Why it was passed over, or ``""`` if it was carried out.
    """

    revision: Revision
    id: str = ""
    problem: str = ""


class Desk(NamedTuple):
    """What carrying out a plan needs besides the files.

    Attributes:
        names: The memory files.
        new_id: Gives the id of a new line.
        day: Today, ``YYYY-MM-DD``.
        by: Who does it, for the archive.
    """

    names: Sequence[str]
    new_id: Callable[[], str]
    day: str
    by: str


class _Line(NamedTuple):
    file: str
    placed: Placed


_Standing = dict[str, list[_Line]]
_ASIDE = frozenset({ARCHIVE, PENDING})
_LATE = "another part of the plan took it, or needs it"


def revise(folder: Folder, revisions: Iterable[Revision], desk: Desk) -> list[Revised]:
    """Carry out what still fits, in order, and say what does not and why.

    Raises:
        StoreError: If a memory would be gone; nothing may be written then.
    """
    parts = list(revisions)
    standing = _find(folder, parts, desk)
    before = _ids(folder, desk.names)
    # All are looked at before any is carried out, and what stays is noted behind all that goes:
    # so a memory can stay for several.
    problems = [_problem(folder, each, standing, desk) for each in parts]
    done: list[Revised] = []
    gone: set[str] = set()
    needed: set[str] = set()
    for each, problem in zip(parts, problems, strict=True):
        taken = {entry.id for entry in each.taken}
        named = {entry.id for entry in _named(each)}
        late = _LATE if gone & named or needed & taken else ""
        if problem or late:
            done.append(Revised(each, problem=problem or late))
            continue
        done.append(Revised(each, _take(folder, each, standing, desk)))
        gone |= taken
        needed |= named
    _note_all(folder, [each.revision for each in done if not each.problem], standing)
    _check_conserved(folder, before, done, desk)
    return done


def _check_conserved(folder: Folder, before: set[str], done: Iterable[Revised], desk: Desk) -> None:
    """Make sure that everything stands where it stood, or in the archive.

    Raises:
        StoreError: If a memory would be gone; nothing may be written then.
    """
    # Imported here, as in :func:`retire`: it is not needed to read.
    from engramdown.secrets.redaction import redact

    taken = [entry for each in done if not each.problem for entry in each.revision.taken]
    gone = before - _ids(folder, desk.names)
    archived = {fold(placed.block.text) for placed in raw_entries(ARCHIVE, folder.get(ARCHIVE))}
    kept = {each.id for each in taken if fold(redact(each.text)) in archived}
    lost = sorted(gone - kept)
    if lost:
        raise StoreError(f"a plan would lose {', '.join(lost)}; nothing was written")


def _ids(folder: Folder, names: Iterable[str]) -> set[str]:
    return {
        entry_id(placed)
        for name in names
        if name not in _ASIDE
        for placed in raw_entries(name, folder.get(name))
    }


def _find(folder: Folder, parts: Iterable[Revision], desk: Desk) -> _Standing:
    """Return the lines of the memories that a plan names, each file read once."""
    wanted = {entry.id for each in parts for entry in _named(each)}
    found: _Standing = {}
    for name in desk.names:
        for placed in raw_entries(name, folder.get(name)) if name not in _ASIDE else ():
            memory_id = entry_id(placed)
            if memory_id in wanted:
                found.setdefault(memory_id, []).append(_Line(name, placed))
    return found


def _named(revision: Revision) -> tuple[Entry, ...]:
    return (*revision.taken, *([revision.stays] if revision.stays else []))


def _problem(folder: Folder, revision: Revision, standing: _Standing, desk: Desk) -> str:
    """Return why a part of a plan no longer fits what stands."""
    found = (_changed(_lines(each, standing), each) for each in _named(revision))
    problem = next(filter(None, found), "")
    comes = revision.comes
    if problem or comes is None:
        return problem
    # Only who wrote them, or reads them now, may bring words back that were turned down.
    unwanted = desk.by != "user" and tombstones_of(folder.get(ARCHIVE), comes.text)
    return "its words were turned down" if unwanted else _unwritable(folder, revision, comes)


def _unwritable(folder: Folder, revision: Revision, comes: Entry) -> str:
    """Return why what is to come cannot be written, or need not be any more."""
    try:
        comes.engram()
    except InvalidEngramError as error:
        return str(error)
    known = twin(folder, comes.file, comes.text, comes.kind)
    if known is None or entry_id(known) in {each.id for each in revision.taken}:
        return ""
    return f"{entry_id(known)} says it by now"


def _changed(lines: Sequence[_Line], seen: Entry) -> str:
    """Return in what a memory is not as it was seen: gone, other words, other metadata."""
    here = [line for line in lines if line.file == seen.file]
    if not here:
        return f"{seen.id} is not there any more"
    if len(here) > 1:
        return f"{seen.id} stands twice in {seen.file}"
    # Where it stands in its file does not matter.
    now = as_entry(seen.file, seen.scope, here[0].placed._replace(line=seen.line))
    now = now._replace(spelled=seen.spelled)  # USER.md is profile.md, whoever looked.
    if now != seen or any(line.placed.block.text != seen.text for line in lines):
        return f"{seen.id} was changed meanwhile"
    return ""


def _lines(entry: Entry, standing: _Standing) -> list[_Line]:
    """Return the lines that hold a memory: in its file, and its copies under topics."""
    return [
        line
        for line in standing.get(entry.id, ())
        if line.file == entry.file or (_has_copies(entry) and _is_of_lessons(line.file))
    ]


def _has_copies(entry: Entry) -> bool:
    """Whether a memory may stand in more than one file; a person's own line stands for itself."""
    return _is_of_lessons(entry.file) and not is_address(entry.id)


def _is_of_lessons(file: str) -> bool:
    return file == LESSONS or file.startswith("topics/")


def _take(folder: Folder, revision: Revision, standing: _Standing, desk: Desk) -> str:
    """Let memories go, and another one come; return the id of what stands for them."""
    comes, stays = revision.comes, revision.stays
    new = desk.new_id() if comes else stays.id if stays else ""
    gone: list[_Line] = []
    for entry in revision.taken:
        record = {"kind": entry.kind, "was": entry.file, "reason": revision.reason}
        record |= {"by": desk.by, "replaced": new}
        lines = _lines(entry, standing)
        (own,) = [line for line in lines if line.file == entry.file]
        retire(folder, own.placed, record, desk.new_id(), desk.day)
        gone += lines
    if comes:
        _put(folder, comes, fields(comes.engram(), new, comes.ts or desk.day), gone)
    for line in gone if not comes else ():
        folder.put(line.file, folder.get(line.file).remove(line.placed.block))
    return new


def _put(folder: Folder, comes: Entry, values: dict[str, str], gone: Sequence[_Line]) -> None:
    """Write what comes in the place of the first line that goes, in its file and its topic's."""
    meta = Metadata().update(values | ({"pin": "yes"} if comes.pin else {}))
    under = topic_file(comes.topic) if comes.topic and _is_of_lessons(comes.file) else comes.file
    for name in dict.fromkeys(line.file for line in gone):
        blocks = [line.placed.block for line in gone if line.file == name]
        document = folder.get(name)
        first = min(blocks, key=document.blocks.index)
        for block in blocks:
            document = document if block is first else document.remove(block)
        if name in (comes.file, under):
            folder.put(name, document.replace(first, comes.text, meta))
        else:
            folder.put(name, document.remove(first))
    if comes.file == LESSONS and not folder.get(under).same(comes.text):
        document = folder.get(under).add(comes.text, meta, "", title_of(under))
        folder.put(under, document)


def _note_all(folder: Folder, parts: Sequence[Revision], standing: _Standing) -> None:
    """Let what stays keep the pointers of what went, and stand under its new topic."""
    noted: dict[str, Revision] = {}
    for each in parts:
        for entry in [each.stays] if each.stays else []:
            known = noted.get(entry.id, Revision())
            learned = pointers(known.learned, each.learned)
            noted[entry.id] = Revision((entry,), learned=learned, topic=each.topic or known.topic)
    for revision in noted.values():
        (stays,) = revision.taken
        _note(folder, revision, stays, _lines(stays, standing))


def _note(folder: Folder, revision: Revision, stays: Entry, lines: Sequence[_Line]) -> None:
    for line in lines:
        meta = line.placed.block.meta or Metadata()
        better = meta.update(_values(meta, revision))
        document = folder.get(line.file)
        if revision.topic and line.file.startswith("topics/"):
            folder.put(line.file, document.remove(line.placed.block))
        elif better != meta:
            folder.put(line.file, document.note(line.placed.block, better))
    if revision.topic and not is_address(stays.id):
        name = topic_file(revision.topic)
        meta = lines[0].placed.block.meta or Metadata()
        better = meta.update(_values(meta, revision))
        if not folder.get(name).same(stays.text):
            folder.put(name, folder.get(name).add(stays.text, better, "", title_of(name)))


def _values(meta: Metadata, revision: Revision) -> dict[str, str]:
    """Return what is noted on the memory that stays; a person's own line gets no pointers."""
    values = {"topic": revision.topic} if revision.topic else {}
    if revision.learned and meta.get("id"):
        values["from"] = pointers(meta.get("from"), revision.learned)
    return values
