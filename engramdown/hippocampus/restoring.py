"""Bringing back what was retired.

Promises: pure over a :class:`engramdown.hippocampus.placement.Folder`; what comes back stands once,
where it stood; the fact whose key it has moves to ``archive.md`` in its place.
"""

from __future__ import annotations

from typing import Final

from engramdown.engram import RULE_KINDS, Kind, Scope
from engramdown.hippocampus.entry import Archived
from engramdown.hippocampus.placement import (
    ARCHIVE,
    LESSONS,
    PROFILE,
    Filed,
    Folder,
    address,
    as_entry,
    by_prefix,
    copies_of,
    entry_id,
    file_of,
    is_name,
    older_fact,
    raw_entries,
    retire_fact,
    retired_name,
    title_of,
    twin,
)
from engramdown.markdown.document import Document, Placed
from engramdown.markdown.metadata import KEPT, Metadata

__all__ = ["pick", "retired", "unretire"]

# What an entry says only while it is in the archive.
_RECORD: Final = dict.fromkeys(
    ("kind", "scope", "was", "section", "reason", "by", "replaced", "archived", "hand"), ""
)


def retired(archive: Document, scope: Scope) -> list[Archived]:
    """Return what was retired, the oldest first."""
    found = []
    for placed in _memories(archive):
        values = placed.block.meta.values() if placed.block.meta else {}
        record = (values.get(key, "") for key in ("was", "reason", "by", "archived", "replaced"))
        found.append(Archived(as_entry(ARCHIVE, scope, placed), *record))
    return found


def pick(archive: Document, scope: Scope, prefix: str) -> Placed:
    """Return the retired memory whose id begins with ``prefix``.

    Raises:
        EntryNotFoundError: If there is none.
        AmbiguousIdError: If there are several.
    """
    placed = _memories(archive)
    entries = [as_entry(ARCHIVE, scope, each) for each in placed]
    # Of a memory that was retired more than once, the last time counts.
    name = retired_name(prefix, entries)
    latest = list({name(entry): entry for entry in entries}.values())
    return placed[entries.index(by_prefix(prefix, latest, name, "archive.md"))]


def _memories(archive: Document) -> list[Placed]:
    """Return the entries of the archive but for questions that a person answered with no."""
    return [
        placed
        for placed in raw_entries(ARCHIVE, archive)
        if placed.block.meta is None or placed.block.meta.get("reason") != KEPT
    ]


def unretire(folder: Folder, placed: Placed, new_id: str, today: str) -> Filed:
    """Bring an entry of ``archive.md`` back to the file that it was in.

    Args:
        folder: The memory files.
        placed: The entry.
        new_id: The id in the archive of a fact that gives way, if that has none.
        today: ``YYYY-MM-DD``.
    """
    gone = as_entry(ARCHIVE, "project", placed)
    meta = placed.block.meta or Metadata()
    file = _home(gone.kind, meta.get("was"))
    clean = meta.update(_RECORD | ({"id": ""} if meta.get("hand") else {}))
    standing = twin(folder, file, gone.text, gone.kind)
    # A duplicate that a plan took stood beside what replaced it, and does so again.
    beside = standing is not None and entry_id(standing) == meta.get("replaced")
    standing = None if beside else standing
    older = older_fact(folder, gone.text) if file == PROFILE and standing is None else None
    if older is not None:
        folder.put(file, folder.get(file).replace(older.block, gone.text, clean))
    for name in (file, *(copies_of(file, clean) if file == LESSONS else ())):
        document = folder.get(name)
        if (beside and older is None) or twin(folder, name, gone.text, gone.kind) is None:
            section = _section(document, gone.kind, meta.get("section"))
            folder.put(name, document.add(gone.text, clean, section, title_of(name)))
    # Before anything is added to the archive: a last line without an end would be another one then.
    folder.put(ARCHIVE, folder.get(ARCHIVE).remove(placed.block))
    if older is not None:
        retire_fact(folder, older, "user", new_id, today)
    found = entry_id(standing) if standing else clean.get("id") or address(gone.text)
    said = as_entry(file, "project", standing) if standing else gone
    return Filed(found, file, added=standing is None, said=said)


def _home(kind: Kind, was: str) -> str:
    return was if was.startswith("topics/") and is_name(was) else file_of(kind)


def _section(document: Document, kind: Kind, own: str) -> str:
    """Return the section that a memory goes to: a person's own, if it is still there."""
    # Under a heading of a person's own a rule is an *always* rule.
    if own and kind not in ("never", "when") and document.has_section(own):
        return own
    return kind if kind in RULE_KINDS else ""
