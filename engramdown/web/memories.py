"""Routes about memories: list, add, show, change, forget, erase, restore, verify, pin, explain.

A change names the version that was seen, which is the ``ETag`` of a memory. If there is another one
by now, nothing is written, and the problem has what was seen (``base``), what is there (``theirs``)
and what was sent (``yours``), so that nothing that somebody typed is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from pydantic import Field

from engramdown import Entry
from engramdown.engram import Basis, Confidence, Engram, Kind, Scope, Source
from engramdown.errors import ChangedError, EntryNotFoundError, InvalidEngramError, StoreError
from engramdown.hippocampus import Archived, passes, version
from engramdown.kinds import KIND_TABLE, scope_for
from engramdown.serializers import (
    archived_data,
    changed_data,
    entry_data,
    erased_data,
    folders,
    forgotten_data,
    found_data,
    receipt_data,
    step_data,
    why_data,
)
from engramdown.web.problems import ProblemError
from engramdown.web.routes import Call, ChangeRoute, Form, Paged, Reply, Route, page_of

if TYPE_CHECKING:
    from engramdown.gate import Known, Why

T = TypeVar("T")
_TAG: Final = re.compile(r'"([^"]*)"')
_STATUSES: Final = {"encoded": 201, "queued": 202, "merged": 200}
_TEXT: Final = 20_000


class MemoriesQuery(Paged):
    """Which memories."""

    q: str = Field("", max_length=1_000, description="Only what fits these words, the best first.")
    kind: list[Kind] = Field([], description="Only of these kinds.")
    scope: list[Scope] = Field([], description="Only of these scopes.")
    topic: str = Field("", max_length=200, description="Only about this topic.")
    confidence: list[Confidence] = Field([], description="Only so sure.")
    source: list[Source] = Field([], description="Only from these sources.")
    older: int | None = Field(None, ge=0, description="Only older than so many days.")
    newer: int | None = Field(None, ge=0, description="Only of the last so many days.")
    state: Literal["kept", "archived"] = Field("kept", description="What is kept, or retired.")


class NewMemory(Form):
    """A memory to add; without a kind, its words say it."""

    text: str = Field(max_length=_TEXT, pattern=r"\S")
    kind: Kind | None = None
    scope: Scope | None = None
    topic: str = Field("", max_length=200)
    confidence: Confidence | None = None
    basis: Basis | None = None
    expires: str = Field("", max_length=10, description="The last day it holds, YYYY-MM-DD.")
    origin: str = Field("", max_length=1_000, description="Where it was learned.")
    via: Literal["", "tool", "web"] = Field("", description="For text that came from outside.")


class Text(Form):
    """What a memory says from now on."""

    text: str = Field(max_length=_TEXT, pattern=r"\S")


class Pin(Form):
    """Whether a memory is pinned."""

    pinned: bool = True


class Forgetting(Form):
    """Why a memory is retired."""

    why: str = Field("", max_length=1_000, description="The reason, for the journal.")


class Erasing(Form):
    """How a memory is erased."""

    dry_run: bool = Field(default=False, description="Change nothing, and say what would go.")
    pieces: bool = Field(default=False, description="Also lines that share a few words with it.")


# ---- reading ----


def list_memories(call: Call) -> Reply:
    """List memories, file by file, or by how well they fit words."""
    cortex, asked, where = call.cortex, call.query, folders(call.cortex)
    filters, today = asked.model_dump(exclude={"q", "state", "limit", "after"}), cortex.scopes.day()
    # Most often all are shown, of which there may be very many.
    is_filtered = any(each not in (None, "", []) for each in filters.values())
    if asked.state == "archived":
        words = asked.q.casefold().split()
        items = [
            item
            for item in cortex.scopes.archived()
            if passes(item.entry, today, filters)
            and all(word in item.entry.text.casefold() for word in words)
        ]
        return page_of(
            call, items, lambda item: item.entry.id, lambda item: archived_data(item, where)
        )
    if asked.q.strip():
        entries = [hit.entry for hit in cortex.scopes.recall_hits(asked.q)]
    else:
        entries = call.entries()
    if is_filtered:
        entries = [entry for entry in entries if passes(entry, today, filters)]
    return page_of(call, entries, lambda entry: entry.id, lambda entry: entry_data(entry, where))


def show_memory(call: Call) -> Reply:
    """Show a memory, a proposal or a retired memory, in full."""
    found = _found(call)
    data = found_data(found, folders(call.cortex))
    if not isinstance(found, Entry):
        return Reply(data)
    return Reply({**data, "raw": call.cortex.scopes.raw_text(found)}, headers=_tag(found))


def explain_memory(call: Call) -> Reply:
    """Say where a memory comes from: who said it, what taught it, each step since."""
    return Reply(why_data(_why(call), folders(call.cortex)))


def list_memory_steps(call: Call) -> Reply:
    """List the steps that touched a memory, the oldest first, reduced to it."""
    return Reply([step_data(step, scope) for step, scope in _why(call).steps])


# ---- adding ----


def add_memory(call: Call) -> Reply:
    """Add a memory through the gate: a person's word, or what an assistant proposes.

    201 if it was written, 202 if it waits for a person, 200 if it was known, 409 if it was refused.
    """
    (receipt,) = call.cortex.propose([_engram(call)], by_person=call.by_person)
    data = receipt_data(receipt)
    if receipt.action == "failed":
        raise ProblemError("store", receipt.reason, receipt=data)
    if receipt.action not in _STATUSES:
        raise ProblemError("refused", f"not written: {receipt.reason}", receipt=data)
    place = {"Location": f"/v1/memories/{receipt.id}"} if receipt.id else {}
    return Reply(data, _STATUSES[receipt.action], place)


def _engram(call: Call) -> Engram:
    """Return what is to be added.

    Raises:
        InvalidEngramError: If a field is wrong.
    """
    from engramdown.gate import kind_of, reworded

    given: NewMemory = call.body
    kind = given.kind or kind_of(given.text)
    if given.scope and given.scope not in KIND_TABLE[kind].scopes:
        only = " or ".join(KIND_TABLE[kind].scopes)
        raise InvalidEngramError("scope", f"a fact about the user is {only}, or name another kind")
    source: Source = "user" if call.by_person else "llm"
    sure: Confidence = "high" if call.by_person else "medium"
    return Engram(
        given.text if given.kind else reworded(given.text, kind),
        kind,
        given.scope or scope_for(kind, "project"),
        given.confidence or sure,
        given.topic,
        source,
        basis=given.basis or "",
        origin=given.origin,
        via=given.via,
        expires=given.expires,
    )


# ---- changing ----


def change_memory(call: Call) -> Reply:
    """Change the text of a memory; its id stays."""
    text, scopes = call.body.text, call.cortex.scopes
    entry = _kept(call, yours=text)
    tag = _seen(call, entry)
    if tag in ("", version(entry)) and text == entry.text:
        return Reply({"changed": False, "id": entry.id}, headers=_tag(entry))
    changed = _as_seen(call, entry, partial(scopes.update, entry.id, text, version=tag), text)
    return Reply(changed_data(changed, folders(call.cortex)), headers=_tag(changed))


def forget_memory(call: Call) -> Reply:
    """Retire a memory; it can be restored, and is not learned again."""
    entry = _kept(call)
    forget = partial(
        call.cortex.scopes.forget, entry.id, call.query.why, version=_seen(call, entry)
    )
    return Reply(forgotten_data([_as_seen(call, entry, forget)], folders(call.cortex)))


def verify_memory(call: Call) -> Reply:
    """Note that a person confirms a memory."""
    entry = _kept(call)
    return _noted(
        call, entry, partial(call.cortex.scopes.verify, entry.id, version=_seen(call, entry))
    )


def pin_memory(call: Call) -> Reply:
    """Pin a memory, so that no automatic job touches it, or take the pin out."""
    entry = _kept(call)
    pin = partial(call.cortex.scopes.pin, pinned=call.body.pinned, version=_seen(call, entry))
    return _noted(call, entry, partial(pin, entry.id))


def restore_memory(call: Call) -> Reply:
    """Bring back a retired memory."""
    entry = call.cortex.restore(call.path["id"])
    return Reply(entry_data(entry, folders(call.cortex)), headers=_tag(entry))


def erase_memory(call: Call) -> Reply:
    """Erase a memory for good, wherever its words stand: nothing brings them back.

    A memory that is kept needs `If-Match`; a proposal or a retired memory has no versions.
    """
    found, how = _found(call), call.body.model_dump()
    erase = partial(call.cortex.review.erase, call.path["id"], **how)
    if isinstance(found, Entry):
        done = _as_seen(call, found, partial(erase, version=_seen(call, found)))
    else:
        done = erase()
    return Reply(erased_data(done, dry_run=call.body.dry_run))


def _noted(call: Call, entry: Entry, change: Callable[[], Entry]) -> Reply:
    changed = _as_seen(call, entry, change)
    return Reply(entry_data(changed, folders(call.cortex)), headers=_tag(changed))


# ---- what is meant, and which version of it ----


def _found(call: Call) -> Known:
    from engramdown.gate import find_known

    with _looking(call):
        return find_known(call.cortex.scopes, call.cortex.review, call.path["id"])


def _why(call: Call) -> Why:
    with _looking(call):
        return call.cortex.why(call.path["id"])


@contextmanager
def _looking(call: Call) -> Iterator[None]:
    """Say so if what is not found may be in a file that cannot be read."""
    try:
        yield
    except EntryNotFoundError:
        if lost := call.cortex.scopes.unreadable():
            raise StoreError("; ".join(lost)) from None
        raise


def _kept(call: Call, yours: str | None = None) -> Entry:
    """Return the memory that is to be changed.

    Raises:
        EntryNotFoundError: If there was never one.
        ProblemError: If it is gone, or has another address by now, or is none yet.
    """
    try:
        return call.cortex.find(call.path["id"])
    except EntryNotFoundError:
        if call.headers.get("if-match", "*").strip() != "*":
            conflict = _conflict(call, None, yours)
            if conflict.data["base"] is not None:
                raise conflict from None
        found = _found(call)
        if isinstance(found, Entry):
            return found  # Somebody has just brought it back.
        if isinstance(found, Archived):
            gone = f"{found.entry.id} is retired; POST {_ONE}/restore brings it back"
        else:
            gone = f"{found.id} is a proposal; POST /v1/proposals/{{id}}/accept takes other words"
        raise ProblemError("refused", gone) from None


def _seen(call: Call, entry: Entry) -> str:
    """Return the version that a change names; ``""`` for any.

    Raises:
        ProblemError: If it names none.
    """
    given = call.headers.get("if-match", "")
    if not given:
        why = "send the ETag of what you saw as If-Match, or * to change whatever is there"
        raise ProblemError("unconditional", why, "If-Match", headers=_tag(entry))
    if given.strip() == "*":
        return ""
    tags = _tags(given)
    now = version(entry)
    return now if now in tags else tags[0]


def _tags(given: str) -> list[str]:
    tags = [found[1] for each in given.split(",") if (found := _TAG.fullmatch(each.strip()))]
    if not tags:
        raise ProblemError("invalid", 'is no version; send an ETag as it was: "…"', "If-Match")
    return tags


def _as_seen(call: Call, entry: Entry, change: Callable[[], T], yours: str | None = None) -> T:
    """Return what a change returns.

    Raises:
        ProblemError: If the memory is not what was seen.
    """
    try:
        return change()
    except (ChangedError, EntryNotFoundError) as error:
        raise _conflict(call, entry, yours) from error


def _conflict(call: Call, entry: Entry | None, yours: str | None = None) -> ProblemError:
    """Return the problem that a memory is not what was seen: all three texts, if they are known."""
    scopes, name = call.cortex.scopes, entry.id if entry else call.path["id"]
    scopes.notice()  # The journal tells what a person has just changed by hand.
    tag = next(iter(_tags(call.headers["if-match"])), "")
    seen = next(filter(None, (store.seen_as(name, tag) for store in scopes.stores)), None)
    now = seen.id if seen else name
    there = next((each for each in call.cortex.entries() if each.id == now), None)
    what = "was changed" if there else "was retired or removed"
    return ProblemError(
        "changed",
        f"{name} {what} since you saw it; nothing was written",
        "If-Match",
        headers=_tag(there) if there else {},
        id=there.id if there else "",
        base=seen.entry.text if seen else None,
        theirs=there.text if there else None,
        yours=yours,
    )


def _tag(entry: Entry) -> dict[str, str]:
    return {"ETag": f'"{version(entry)}"'}


_ONE: Final = "/v1/memories/{id}"
_WITH_TAG: Final = {200: "The memory; its `ETag` is the version that a change names."}

ROUTES: Final = (
    Route("GET", "/v1/memories", list_memories, "[Memory]", query=MemoriesQuery),
    Route(
        "POST",
        "/v1/memories",
        add_memory,
        "Receipt",
        changes=True,
        body=NewMemory,
        takes=("Idempotency-Key",),
        is_repeatable=True,
        answers={
            201: "It was written: the receipt.",
            202: "It waits for a person: the receipt.",
            200: "It was known: the receipt.",
        },
    ),
    Route("GET", _ONE, show_memory, "Found", answers=_WITH_TAG),
    ChangeRoute(
        "PATCH", _ONE, change_memory, "Changed", body=Text, takes=("If-Match",), answers=_WITH_TAG
    ),
    ChangeRoute("DELETE", _ONE, forget_memory, "Forgotten", query=Forgetting, takes=("If-Match",)),
    Route("GET", f"{_ONE}/why", explain_memory, "Why"),
    Route("GET", f"{_ONE}/history", list_memory_steps, "[Step]"),
    ChangeRoute("POST", f"{_ONE}/restore", restore_memory, "Memory", answers=_WITH_TAG),
    ChangeRoute(
        "POST", f"{_ONE}/verify", verify_memory, "Memory", takes=("If-Match",), answers=_WITH_TAG
    ),
    ChangeRoute(
        "POST",
        f"{_ONE}/pin",
        pin_memory,
        "Memory",
        body=Pin,
        takes=("If-Match",),
        answers=_WITH_TAG,
    ),
    ChangeRoute(
        "POST",
        f"{_ONE}/erase",
        erase_memory,
        "Erased",
        body=Erasing,
        takes=("If-Match",),
        answers={200: "What went, what stays, and what cannot be reached from here."},
    ),
)
