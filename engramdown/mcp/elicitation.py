"""Asks the person in front of a client about what waits for them.

Only a person decides, through the form of their own client: no text of a model, no other
client and no silence does; what is not decided waits in ``pending.md``, and the answer says so.
What is held without prompting is not asked about.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types

from engramdown.errors import EngramdownError, EntryNotFoundError
from engramdown.hippocampus import begins
from engramdown.kinds import KIND_TABLE
from engramdown.language import inert, on_screen

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.gate import Proposal, Receipt

_LONGEST: Final = 4_000
_SCOPES: Final = {"global": "for all projects", "project": "for this project"}
_REMEMBER: Final = "The assistant wants to remember this ({kind}, {scope}):"
_FORGET: Final = "The assistant wants to forget this ({kind}, {scope}):"
_INSTEAD: Final = "It takes the place of:"
_WHY: Final = "Why you are asked:"
_HOW: Final = "Decline, and it is not proposed again. Leave it, and it waits in pending.md."
_LEFT: Final = "The user was asked and has not decided; it waits in pending.md as {id}."
_MISFIT: Final = (
    "What came back from the form of the user is not what it asked for (text: a string of at most "
    "{most} characters), so nothing is decided; it waits in pending.md as {id}."
)
_CHANGED: Final = "What the user was asked about was changed meanwhile; it waits as {id}."
_GONE: Final = (
    "The user was asked, but {id} waits no more, or what it is about is gone: somebody was "
    "quicker. recall shows what is remembered."
)
_DECLINED: Final = "The user was asked and declined; do not propose it again."
_ACCEPTED: Final = "The user was asked and accepted."
_FAILED: Final = "The user was asked, but what they decided could not be carried out: {why}"


def can_be_asked(declared: types.ClientCapabilities | None) -> bool:
    """Whether a client says that it can show a form to a person."""
    elicitation = declared.elicitation if declared is not None else None
    # One that names neither means a form: there was nothing else at first.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def to_ask(
    cortex: Cortex, receipts: Iterable[Receipt], name: str, arguments: object
) -> list[Proposal]:
    """Return what a call left waiting, if a person may be asked about it now.

    Args:
        cortex: What the call worked on.
        receipts: What happened to what it proposed.
        name: The tool.
        arguments: What it was given.

    Raises:
        StoreError: If what waits cannot be read.
    """
    queued = {receipt.id for receipt in receipts if receipt.action == "queued"}
    given = arguments.get("id") if name == "forget" and isinstance(arguments, dict) else ""
    wanted = given.strip() if isinstance(given, str) else ""
    if not queued and not wanted:
        return []
    return [
        each
        for each in cortex.pending()
        if not each.hold and (each.id in queued or (wanted and _forgets(each, wanted)))
    ]


def _forgets(proposal: Proposal, prefix: str) -> bool:
    """Whether a proposal is to forget the memory whose id begins with ``prefix``."""
    ids = (each.id for each in (proposal.replaces, *proposal.takes) if each)
    return proposal.op == "forget" and any(begins(each, prefix) for each in ids)


def question(proposal: Proposal) -> types.ElicitRequest:
    """Return the form that a person is shown about a proposal."""
    engram = proposal.engram
    forgets = proposal.op == "forget"
    gone = proposal.replaces if forgets else None
    text = on_screen(gone.text if gone is not None else engram.text)
    rows = [
        (_FORGET if forgets else _REMEMBER).format(
            kind=KIND_TABLE[engram.kind].label, scope=_SCOPES[engram.scope]
        ),
        _apart(text),
    ]
    if proposal.replaces is not None and not forgets:
        rows += [_INSTEAD, _apart(on_screen(proposal.replaces.text))]
    if proposal.reason:
        rows += [_WHY, _apart(on_screen(proposal.reason))]
    field = {
        "type": "string",
        "title": "In these words",
        "description": "Change them if they are not right.",
        "default": text,
        "maxLength": _LONGEST,
    }
    properties = {} if forgets or len(engram.text) > _LONGEST else {"text": field}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    message = "\n\n".join([*rows, _HOW])
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def _apart(text: str) -> str:
    """Return a text as a client shows it that draws markdown, or not: letter by letter."""
    return "\n".join(f"    {row}" for row in text.split("\n"))


def mark(question: types.ElicitRequest) -> str:
    """Return what tells the words of a question from others."""
    return hashlib.sha256(question.params.message.encode("utf-8", "replace")).hexdigest()


def settle(cortex: Cortex, proposal_id: str, reply: types.ElicitResult | None, shown: str) -> str:
    """Carry out what a person decided, and return what a model is told of it.

    Args:
        cortex: What is asked.
        proposal_id: What they were asked about.
        reply: What they answered, or ``None`` if nothing came.
        shown: The mark of the question that they were shown.
    """
    if reply is None or reply.action == "cancel":
        return _LEFT.format(id=proposal_id)
    try:
        return _decided(cortex, proposal_id, reply, shown)
    except EntryNotFoundError:
        return _GONE.format(id=proposal_id)
    except EngramdownError as error:
        return _FAILED.format(why=inert(str(error)))


def _decided(cortex: Cortex, proposal_id: str, reply: types.ElicitResult, shown: str) -> str:
    waiting = next((each for each in cortex.pending() if each.id == proposal_id), None)
    if waiting is None:
        return _GONE.format(id=proposal_id)
    if mark(question(waiting)) != shown:
        # They decided on what they saw, and on nothing that took its place.
        return _CHANGED.format(id=proposal_id)
    if reply.action == "decline":
        cortex.resolve(proposal_id, "decline")
        return _DECLINED
    words = (reply.content or {}).get("text")
    if words is not None and not (isinstance(words, str) and len(words) <= _LONGEST):
        # Whatever they wrote, it is not known that they want the words as they were.
        return _MISFIT.format(most=_LONGEST, id=proposal_id)
    return _accepted(cortex, proposal_id, waiting, words or "")


def _accepted(cortex: Cortex, proposal_id: str, waiting: Proposal, words: str) -> str:
    own: str | None = None
    if words.strip():
        # What the form showed is not what is meant, if a sign had to be made visible.
        own = None if words == on_screen(waiting.engram.text) else words
    receipt = cortex.resolve(proposal_id, "accept", own)
    if receipt.action == "forgotten":
        return f"{_ACCEPTED} Forgotten."
    where = f"{receipt.file}:{receipt.line}" if receipt.file else "memory"
    changed = f" In their own words: {inert(receipt.engram.text)!r}." if own else ""
    did = "Known already" if receipt.action == "merged" else "Remembered"
    return f"{_ACCEPTED} {did}: {where}, id {receipt.id}.{changed}"
