"""Finds what an id or a prefix of one means: a memory, a proposal or a retired memory.

Promises: a prefix that means several things is refused with the list of them; an id that is
there in full is never ambiguous with a longer one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from engramdown import Cortex, Entry, Proposal
from engramdown.cli import views
from engramdown.cli.output import RefusalError
from engramdown.cli.views import one_line, place
from engramdown.errors import AmbiguousIdError, EntryNotFoundError, StoreError
from engramdown.hippocampus.entry import Archived
from engramdown.hippocampus.placement import by_prefix, retired_name
from engramdown.markdown.document import parse

Found = Entry | Proposal | Archived


def find_entry(cortex: Cortex, prefix: str) -> Entry:
    """Return the memory that ``prefix`` means.

    Raises:
        EntryNotFoundError: There is none.
        RefusalError: There are several, which it lists, or it is retired.
    """
    try:
        return _find_kept(cortex, prefix)
    except EntryNotFoundError as error:
        try:
            gone = find_archived(cortex, prefix)
        except EntryNotFoundError:
            _refuse_if_unread(cortex)
            raise error from None
        raise RefusalError(views.is_retired(gone.entry.id)) from error


def _find_kept(cortex: Cortex, prefix: str) -> Entry:
    try:
        return cortex.find(prefix)
    except AmbiguousIdError as error:
        matches = [entry for entry in cortex.entries() if entry.id in error.matches]
        more = [f"{entry.id}  {place(entry)}  {one_line(entry.text)}" for entry in matches]
        raise RefusalError(views.ambiguous(prefix), more) from error


def _refuse_if_unread(cortex: Cortex) -> None:
    """Say that what is sought may stand in a file that cannot be read, if there is one."""
    if cortex.unread():
        raise StoreError("; ".join(cortex.unread()))


def find_proposal(cortex: Cortex, prefix: str) -> Proposal:
    """Return the proposal that ``prefix`` means; raises as :func:`find_entry`."""
    try:
        return _find_waiting(cortex, prefix)
    except EntryNotFoundError:
        _refuse_if_unread(cortex)
        raise


def _find_waiting(cortex: Cortex, prefix: str) -> Proposal:
    pending = [(item.id, item.engram.text, item) for item in cortex.pending()]
    return _only(pending, prefix, "pending.md")


def find_archived(cortex: Cortex, prefix: str) -> Archived:
    """Return the retired memory that ``prefix`` means; raises as :func:`find_entry`."""
    items = cortex.archived()
    name = retired_name(prefix, [item.entry for item in items])
    return _only(
        [(name(item.entry), item.entry.text, item) for item in items], prefix, "archive.md"
    )


def find_anywhere(cortex: Cortex, prefix: str) -> Found:
    """Return what ``prefix`` means, memories before proposals before retired memories."""
    try:
        return _find_kept(cortex, prefix)
    except EntryNotFoundError:
        for find in (_find_waiting, find_archived):
            try:
                return find(cortex, prefix)
            except EntryNotFoundError:
                continue
        _refuse_if_unread(cortex)
        raise


_Item = TypeVar("_Item")


def _only(items: Iterable[tuple[str, str, _Item]], prefix: str, where: str) -> _Item:
    # Of several with one id it is the last.
    latest = list({key: (key, text, item) for key, text, item in items}.values())
    try:
        return by_prefix(prefix, latest, lambda each: each[0], where)[2]
    except AmbiguousIdError as error:
        more = [f"{key}  {one_line(text)}" for key, text, _ in latest if key in error.matches]
        raise RefusalError(views.ambiguous(prefix), more) from error


def raw_text(path: Path, line: int) -> str:
    """Return the entry that starts on ``line`` of the file as it stands there, or ``""``."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return next((item.block.raw for item in parse(text).placed() if item.line == line), "")
