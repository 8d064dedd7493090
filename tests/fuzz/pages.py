r"""Laws of files for any bytes: they come back, edits stay where they are, merges keep.

Promises: bytes are read as the store reads a file. A law that needs several texts finds them in
one input, with a line of nothing but U+001E between them.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from engramdown.engram import RULE_KINDS, Scope
from engramdown.gate.intake import Waiting
from engramdown.hippocampus.store import Hippocampus
from engramdown.journal.page import Section
from engramdown.kinds import PENDING
from engramdown.markdown.blocks import scan
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata
from engramdown.storage.disk import Disk
from tests import laws
from tests.journal import laws as days
from tests.skills import laws as skills

__all__ = [
    "SEPARATOR",
    "day",
    "document",
    "edits",
    "escaping",
    "fields",
    "merge",
    "metadata",
    "pending",
    "skill",
    "text_of",
]

SEPARATOR: Final = "\n\x1e\n"
"""Stands between the texts of one input."""

_KINDS: Final = ("", *RULE_KINDS)


def text_of(data: bytes) -> str:
    """Return what the store reads in a file of these bytes."""
    return data.decode("utf-8", "surrogateescape")


def fields(data: bytes, count: int) -> list[str]:
    """Return the texts of an input, again from the first one if there are too few."""
    return [*islice(cycle(text_of(data).split(SEPARATOR)), count)]


def document(data: bytes) -> None:
    """A file comes back byte for byte, and its entries stand where they are said to stand."""
    text = text_of(data)
    assert parse(text).render().encode("utf-8", "surrogateescape") == data
    laws.blocks_are_the_text(text)
    laws.every_entry_is_found_where_it_stands(text)
    laws.same_finds_every_twin(text, text[:40])


def edits(data: bytes) -> None:
    """An edit changes the bytes of its entry and no others, and what is written is read."""
    page, text, raw = fields(data, 3)
    if "zzzzzzzz" in page:  # the id that the laws write
        return
    number = len(data)
    text = text if text.strip() else f"a{text}b"
    laws.adding_touches_nothing_else(page, text, _KINDS[number % len(_KINDS)])
    if not parse(page).placed():
        return
    laws.removing_touches_nothing_else(page, number)
    laws.replacing_touches_nothing_else(page, number, text, by_hand=bool(number % 2))
    laws.noting_changes_no_text(page, number)
    item = next(_items(raw), "- c\n")
    laws.swapping_touches_nothing_else(page, number, item)
    laws.edits_in_a_row_read_back(page, [*_row(page, text, number)])


def _items(page: str) -> Iterator[str]:
    """Yield the entries of a page, each as it would be read if it stood alone."""
    for placed in parse(page).placed():
        raw = placed.block.raw
        alone = scan(raw)
        if len(alone) == 1 and alone[0].shape == placed.block.shape == "item":
            yield raw


def _row(page: str, text: str, number: int) -> Iterator[laws.Edit]:
    for at, name in enumerate(("add", "replace", "note", "remove", "hand", "add")):
        yield laws.Edit(name, number + at, text if at % 2 else page[-30:] + "a", _KINDS[at % 4])


def merge(data: bytes) -> None:
    """A merge of three files keeps what either side added, and lets the person win."""
    base, ours, theirs = fields(data, 3)
    laws.one_sided_merges_take_that_side(base, ours)
    laws.merging_keeps_both_sides(base, ours, theirs)


def metadata(data: bytes) -> None:
    """Metadata keeps what it does not know, and every value comes back."""
    inside, first, second = fields(data, 3)
    values = {"id": first, "topic": second, "unheard-of": inside}
    laws.metadata_comes_back(values)
    if Metadata.parse(inside) is not None:
        laws.metadata_keeps_what_it_does_not_know(inside, values)


def escaping(data: bytes) -> None:
    """Any text comes back from a list item, and does nothing there."""
    for text in (text_of(data), data.decode("latin-1")):
        laws.escaped_text_comes_back(text)
        laws.escaped_text_is_tame(text)
        laws.folding_is_blind_to_form(text)


def skill(data: bytes) -> None:
    """A SKILL.md comes back byte for byte, and an edit changes what it is about alone."""
    page, said = fields(data, 2)
    skills.pages_come_back(page)
    skills.values_stand_there(page)
    skills.bodies_change_alone(page, said)
    if said.isprintable() and said:
        for key in ("name", "description", "license"):
            skills.values_change_alone(page, key, said)


def day(data: bytes) -> None:
    """A page of the journal comes back byte for byte, and a section is read as it was written."""
    page, said = fields(data, 2)
    days.pages_come_back(page)
    days.texts_are_kept(said)
    days.sections_are_added(page, Section("10:15", said, "agent", session="talk"))


def pending(data: bytes) -> None:
    """Ticks are carried out or a reason is told; a line without one is there afterwards."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        scopes: tuple[Scope, ...] = ("project", "global")
        disk = Disk(durable=False)
        stores = {each: Hippocampus(Path(folder, each), each, disk=disk) for each in scopes}
        file = stores["project"].memory / PENDING
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        os.utime(file, (0, 0))  # saved long ago: nobody has it open
        waiting = Waiting(stores)
        items = [item for _, item in waiting.items()]
        assert all(item.id and item.engram.text.strip() for item in items)
        told: list[str] = []
        receipts = waiting.apply_ticks(told.append)
        assert len(told) == sum(receipt.action == "failed" for receipt in receipts)
        known = {e.id for store in stores.values() for e in store.entries()}
        known |= {old.entry.id for store in stores.values() for old in store.archived()}
        written = [each.id for each in receipts if each.action in {"encoded", "merged"}]
        assert known.issuperset(written)
        left = _raws(file.read_bytes() if file.exists() else b"")
        ticked = {item.line for item in items if item.tick}
        assert left >= _raws(data, ticked)


def _raws(data: bytes, without: Collection[int] = ()) -> Counter[str]:
    """Return the entries of a file as they are written, but for those on some lines."""
    placed = parse(text_of(data)).placed()
    return Counter(each.block.raw.rstrip() for each in placed if each.line not in without)
