"""The line of a value under a key: found, and written, within one step of the store.

Promises: a key has one line; a value is written in the place of the one that has its key, whoever
wrote that meanwhile; what a person accepted gets the key under which it was put, unless they made
something else of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from engramdown.clock import moment, today
from engramdown.cortex.keyed.marks import DUPLICATE, FIELD, HIDDEN, KEY, MADE, NAMESPACE, REST, WHEN
from engramdown.cortex.keyed.namespaces import Home, Namespace, home_of, named, written
from engramdown.engram import RULE_KINDS, Engram, Scope
from engramdown.hippocampus.draft import Draft
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.files import new_id
from engramdown.hippocampus.filing import (
    ARCHIVE,
    PROFILE,
    RULES,
    Filed,
    as_entry,
    entry_id,
    fields,
    make_way,
    raw_entries,
    title_of,
)
from engramdown.markdown.document import Placed
from engramdown.markdown.metadata import Metadata, is_address

if TYPE_CHECKING:
    from engramdown.cortex.keyed.items import Item
    from engramdown.cortex.pending import Pending

__all__ = ["Place", "Stands", "accepted", "first_made", "place_of", "put_line", "standing"]


class Place(NamedTuple):
    """Where a value belongs.

    Attributes:
        namespace: Its namespace.
        key: Its key.
        home: Where values of the namespace stand.
    """

    namespace: Namespace
    key: str
    home: Home

    @property
    def label(self) -> str:
        """The namespace as its lines say it."""
        return "" if self.home.native else written(self.namespace)


class Stands(NamedTuple):
    """A value as it stands now.

    Attributes:
        placed: Its line.
        entry: The memory.
    """

    placed: Placed
    entry: Entry


def standing(draft: Draft, place: Place, item: Item | None = None) -> Stands | None:
    """Return what stands under a key now, wherever it stood when it was looked for.

    Args:
        draft: The files.
        place: The key.
        item: What was found under it before.
    """
    home = place.home
    # A look at the line is a tenth of the work of reading what it says.
    sign = item.entry.id if item else _inside(Metadata().update({KEY: place.key}))
    for file in dict.fromkeys((item.entry.file if item else home.file, home.file)):
        for placed in raw_entries(file, draft.get(file)):
            if sign not in placed.block.raw and not is_address(sign):
                continue
            meta = placed.block.meta or Metadata()
            has_key = (meta.get(KEY), meta.get(NAMESPACE)) == (place.key, place.label)
            is_it = item is not None and not item.was_put and entry_id(placed) == item.key
            went = (meta.get("reason"), meta.get("was")) != (DUPLICATE, home.file)
            if (has_key or is_it) and not (file == ARCHIVE and went):
                return Stands(placed, as_entry(file, home.scope, placed))
    return None


def put_line(
    draft: Draft, place: Place, engram: Engram, marks: Mapping[str, str], stands: Stands | None
) -> Filed:
    """Write a value in the place of the line that has its key, or as a new line.

    Args:
        draft: The files.
        place: The key.
        engram: The memory that the value is.
        marks: What its metadata says of the rest of the value, and when it was put first if that
            is not now.
        stands: The line that has its key.
    """
    home, now = place.home, moment()
    told = fields(engram, "", today().isoformat())
    if stands is not None and stands.entry.file != ARCHIVE:
        file, block = stands.entry.file, stands.placed.block
        basis = {"basis": told["basis"]} if told["basis"] else {}
        meta = (block.meta or Metadata()).update({**marks, **basis, WHEN: now})
        draft.put(file, draft.get(file).replace(block, engram.text, meta))
        return Filed(stands.entry.id, file, added=True, said=engram)
    if stands is not None:
        # It was taken for another value of the same words, and is none any more.
        draft.put(ARCHIVE, draft.get(ARCHIVE).remove(stands.placed.block))
    own = {NAMESPACE: place.label, KEY: place.key}
    times = {MADE: marks[MADE], WHEN: now} if marks.get(MADE) else {MADE: now}
    told["id"] = new_id()
    meta = Metadata().update({**told, **marks, **own, **times})
    if home.file == PROFILE:
        make_way(draft, engram.text, "llm", new_id(), today().isoformat())
    section = engram.kind if home.file == RULES else ""
    document = draft.get(home.file).add(engram.text, meta, section, title_of(home.file))
    draft.put(home.file, document)
    return Filed(told["id"], home.file, added=True, said=engram)


def place_of(item: Pending, engram: Engram, scope: Scope) -> Place | None:
    """Return where a proposal of a value belongs that a person accepted.

    Args:
        item: The proposal.
        engram: What they accepted.
        scope: The scope in whose queue it waits.
    """
    marks = dict(item.put)
    if not marks:
        return None
    namespace = named(marks.get(NAMESPACE, ""))
    home = home_of(namespace, scope)
    if home.file == RULES:
        fits = engram.kind in RULE_KINDS
    elif home.file == PROFILE:
        fits = engram.kind == "profile"
    else:
        fits = engram.kind == "lesson" and engram.topic == home.topic
    is_here = home.scope == scope and engram.scope == scope
    return Place(namespace, marks[KEY], home) if fits and is_here else None


def first_made(draft: Draft, place: Place) -> str:
    """Return when the value that stands under a key was put first, or ``""``."""
    stands = standing(draft, place)
    meta = stands.placed.block.meta if stands else None
    return meta.get(MADE) if meta else ""


def accepted(draft: Draft, item: Pending, place: Place, engram: Engram, made: str) -> Filed:
    """Write a value that a person accepted under its key; it is verified with that.

    Args:
        draft: The files, without what it is to replace.
        item: The proposal.
        place: Where it belongs.
        engram: What they accepted.
        made: When what it replaces was put first.
    """
    given = dict(item.put)
    marks = {name: given.get(name, "") for name in (FIELD, REST, HIDDEN)}
    if made:
        marks[MADE] = made
    verified = replace(engram, basis="verified")
    return put_line(draft, place, verified, marks, standing(draft, place))


def _inside(meta: Metadata) -> str:
    """Return metadata as it is written, without the comment around it."""
    return str(meta).removeprefix("<!-- ").removesuffix(" -->")
