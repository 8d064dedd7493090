"""What adding a memory means for the files.

Promises: pure over a :class:`engramdown.hippocampus.placement.Folder`; adding what is known changes
nothing but, upwards, its metadata; what gave way to another memory is known by that one.
"""

from __future__ import annotations

from collections.abc import Callable

from engramdown.engram import CONFIDENCES, RULE_KINDS, SOURCES, Engram, fact_key, slug
from engramdown.hippocampus.placement import (
    ARCHIVE,
    LESSONS,
    PROFILE,
    Filed,
    Folder,
    address,
    as_entry,
    entry_id,
    fields,
    file_of,
    lift_tombstones,
    older_fact,
    raw_entries,
    retire_fact,
    successors,
    title_of,
    topic_file,
    twin,
)
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import Metadata

__all__ = ["file_engram", "standing_for"]


def file_engram(folder: Folder, engram: Engram, new_id: Callable[[], str], today: str) -> Filed:
    """Write a memory into the file of its kind, and into the one of its topic.

    Args:
        folder: The memory files.
        engram: What to write.
        new_id: Gives the id of a new line.
        today: The date of a new line, ``YYYY-MM-DD``.
    """
    known = _known(folder, engram)
    stands = standing_for(folder.get, engram) if known is None else None
    if stands is not None:
        # It gave way to this before, which gains nothing by it: these are not its words.
        name, placed = stands
        return Filed(entry_id(placed), name, added=False, said=engram)
    filed = _strengthen(folder, known, engram) if known else _add(folder, engram, new_id, today)
    lift_tombstones(folder, engram.text, engram.kind)
    return filed


def _add(folder: Folder, engram: Engram, new_id: Callable[[], str], today: str) -> Filed:
    file, entry_id = file_of(engram.kind), new_id()
    section = engram.kind if engram.kind in RULE_KINDS else ""
    meta = Metadata().update(fields(engram, entry_id, today))
    document = folder.get(file)
    replaced = older_fact(folder, engram.text) if file == PROFILE else None
    if replaced is not None:
        retire_fact(folder, replaced, engram.source, new_id(), today)
        folder.put(file, folder.get(file).replace(replaced.block, engram.text, meta))
    else:
        folder.put(file, document.add(engram.text, meta, section, title_of(file)))
    if engram.topic and file == LESSONS:
        _file_topic(folder, engram, meta)
    return Filed(entry_id, file, added=True, said=engram)


def standing_for(get: Callable[[str], Document], engram: Engram) -> tuple[str, Placed] | None:
    """Return what took the place of a memory that comes again and is no news, and its file.

    Args:
        get: Returns the document of a name.
        engram: The memory that comes again.
    """
    for memory_id in successors(get(ARCHIVE), engram):
        for name in _files(engram):
            placed = next(
                (each for each in raw_entries(name, get(name)) if _is_it(each, memory_id, engram)),
                None,
            )
            if placed is not None:
                return name, placed
    return None


def _is_it(placed: Placed, memory_id: str, engram: Engram) -> bool:
    """Whether an entry has an id; where there is none, whether it is the fact with the same key."""
    if memory_id:
        return entry_id(placed) == memory_id
    key = fact_key(engram.text) if engram.kind == "profile" else ""
    return bool(key) and fact_key(placed.block.text) == key


def _files(engram: Engram) -> list[str]:
    """Return the files in which a memory may stand."""
    file = file_of(engram.kind)
    return [file, topic_file(engram.topic)] if file == LESSONS and engram.topic else [file]


def _known(folder: Folder, engram: Engram) -> tuple[str, Placed] | None:
    """Return the entry that says the same already, and its file."""
    for name in _files(engram):
        placed = twin(folder, name, engram.text, engram.kind)
        if placed is not None:
            return name, placed
    return None


def _strengthen(folder: Folder, known: tuple[str, Placed], engram: Engram) -> Filed:
    """Let what is known already gain from hearing it again: better source, never *verified*."""
    file, placed = known
    meta = placed.block.meta
    if meta is None or not meta.get("id"):
        return Filed(address(placed.block.text), file, added=False, said=engram)
    entry = as_entry(file, engram.scope, placed)
    values: dict[str, str] = {}
    if SOURCES.index(engram.source) < SOURCES.index(entry.source):
        values["source"] = engram.source
        if engram.source == "user" and entry.basis in ("inferred", "observed"):
            values["basis"] = "" if engram.basis in ("told", "verified") else engram.basis
    if CONFIDENCES.index(engram.confidence) < CONFIDENCES.index(entry.confidence):
        values["confidence"] = engram.confidence
    if engram.topic and not entry.topic:
        values["topic"] = slug(engram.topic)
    better = meta.update(values)
    if values:
        folder.put(file, folder.get(file).note(placed.block, better))
    if file == LESSONS and engram.topic:
        _file_topic(folder, engram, better)
    return Filed(entry.id, file, added=False, said=engram)


def _file_topic(folder: Folder, engram: Engram, meta: Metadata) -> None:
    """File a lesson under its topic too, with the same id."""
    name = topic_file(engram.topic)
    document = folder.get(name)
    if not document.same(engram.text):
        folder.put(name, document.add(engram.text, meta, "", title_of(name)))
