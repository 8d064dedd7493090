"""What git brought, as a person decides on it.

Promises: what is approved stays where it stands, in the same words or those of the person, and is
verified if it was only observed; what is declined is not told of again, and an entry goes to the
archive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engramdown.engram import Engram
from engramdown.errors import EngramdownError, InvalidEngramError
from engramdown.gate.gate import harmless
from engramdown.gate.proposals import Proposal
from engramdown.gate.receipts import Receipt
from engramdown.hippocampus.entry import entry_id
from engramdown.hippocampus.placement import as_entry
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.cortex.approvals import Did
    from engramdown.cortex.pulled import Found

__all__ = ["proposal", "resolve", "resolve_each"]

_LOAD: Final = "load"
_HOLD: Final = "it came with git, and you approve what does"
_BLANK: Final = "(nothing but white space)"
_PAGE: Final = "it shapes what a model is told, and came with git"


def proposal(found: Found) -> Proposal:
    """Return what waits for approval, as a person decides on it."""
    is_page = found.item.placed is None
    return Proposal(
        id=found.id,
        engram=_engram(found),
        hold=_PAGE if is_page else _HOLD,
        reason=_PAGE if is_page else _HOLD,
        op=_LOAD,
        file=str(found.path),
        line=found.item.line,
        comments=found.item.comments,
    )


def resolve(found: Found, decision: str, text: str | None, add: Callable[[Did], object]) -> Receipt:
    """Carry out what a person decided about what waits.

    Args:
        found: What waits.
        decision: What they decided.
        text: Other words that they want it loaded in, if any.
        add: Takes note of it.

    Raises:
        InvalidEngramError: If a page is to be loaded in other words.
        EntryNotFoundError: If the entry is not there any more.
        StoreError: If it could not be written.
    """
    engram = _engram(found)
    if decision == "skip":
        return Receipt(engram, "queued", "skipped", found.id, found.item.file)
    if decision == "decline":
        if found.item.placed is None:
            add("declined")
        else:
            found.place.retire(found.item)
        return Receipt(engram, "discarded", "declined")
    if text is None:
        if engram.basis == "observed":
            found.place.verify(found.item)
        add("approved")
    else:
        engram = replace(engram, text=redact(text))
        _reword(found, text)
    own = entry_id(found.item.placed) if found.item.placed else found.id
    return Receipt(engram, "encoded", "approved", own, found.item.file, found.item.line)


def resolve_each(
    found: Found, decision: str, text: str | None, add: Callable[[Did], object]
) -> Receipt:
    """Carry out what a person decided about one of many; an error becomes a receipt."""
    try:
        return resolve(found, decision, text, add)
    except EngramdownError as error:
        return Receipt(_engram(found), "failed", str(error), found.id, found.item.file)


def _reword(found: Found, text: str) -> None:
    if found.item.placed is None:
        reason = f"{found.path} is a page; change it in an editor, then accept it"
        raise InvalidEngramError("text", reason)
    found.place.reword(found.item, text)


def _engram(found: Found) -> Engram:
    """Return what waits as an engram: its words, and of what it claims what can be."""
    text = found.item.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if found.item.placed is None:
        return harmless(Engram(text if text.strip() else _BLANK, "profile", found.store.scope))
    entry = as_entry(found.item.file, found.store.scope, found.item.placed)
    try:
        return harmless(entry.engram())
    except InvalidEngramError:
        return harmless(Engram(text, entry.kind, found.store.scope, entry.confidence))
