"""Asks the person in front of a client about proposals.

Only a person decides, through the form of their own client: no text of a model, no other client and
no silence does. An undecided proposal waits in ``pending.md``, and the answer says so. Held
proposals are not asked about.
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
_GONE: Final = (
    "The user was asked, but {id} is not pending any more, or its memory is gone: somebody else "
    "was quicker. recall shows what is remembered."
)


def can_be_asked(declared: types.ClientCapabilities | None) -> bool:
    """Whether a client says that it can show a form to a person."""
    elicitation = declared.elicitation if declared is not None else None
    # A client that names neither means a form, which was the only kind at first.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def to_ask(
    cortex: Cortex, receipts: Iterable[Receipt], name: str, arguments: object
) -> list[Proposal]:
    """Return the proposals of a call that a person may be asked about now.

    Args:
        cortex: The Cortex of the call.
        receipts: The receipts of the call.
        name: The tool.
        arguments: Its arguments.

    Raises:
        StoreError: If the proposals cannot be read.
    """
    queued = {receipt.id for receipt in receipts if receipt.action == "queued"}
    given = arguments.get("id") if name == "forget" and isinstance(arguments, dict) else ""
    wanted = given.strip() if isinstance(given, str) else ""

    def forgets(proposal: Proposal) -> bool:
        ids = (each.id for each in (proposal.replaces, *proposal.takes) if each)
        return proposal.op == "forget" and any(begins(each, wanted) for each in ids)

    if not queued and not wanted:
        return []
    waiting = [each for each in cortex.pending() if not each.hold]
    return [each for each in waiting if each.id in queued or (wanted and forgets(each))]


def question(proposal: Proposal) -> types.ElicitRequest:
    """Return the form for a person about a proposal."""
    engram = proposal.engram
    forgets = proposal.op == "forget"
    gone = proposal.replaces if forgets else None
    text = on_screen(gone.text if gone is not None else engram.text)
    about = f"{KIND_TABLE[engram.kind].label}, {_SCOPES[engram.scope]}"
    rows = [f"The assistant wants to {'forget' if forgets else 'remember'} this ({about}):"]
    rows.append(_apart(text))
    if proposal.replaces is not None and not forgets:
        rows += ["It takes the place of:", _apart(on_screen(proposal.replaces.text))]
    if proposal.reason:
        rows += ["Why you are asked:", _apart(on_screen(proposal.reason))]
    rows.append("Decline, and it is not proposed again. Leave it, and it waits in pending.md.")
    field = {
        "type": "string",
        "title": "In these words",
        "description": "Change them if they are not right.",
        "default": text,
        "maxLength": _LONGEST,
    }
    properties = {} if forgets or len(engram.text) > _LONGEST else {"text": field}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message="\n\n".join(rows), requested_schema=schema)
    )


def _apart(text: str) -> str:
    """Return a text indented as code, so that clients that draw markdown show every letter."""
    return "\n".join(f"    {row}" for row in text.split("\n"))


def mark(question: types.ElicitRequest) -> str:
    """Return a digest of the words of a question."""
    return hashlib.sha256(question.params.message.encode("utf-8", "replace")).hexdigest()


def settle(cortex: Cortex, proposal_id: str, reply: types.ElicitResult | None, shown: str) -> str:
    """Carry out a decision of a person, and return the sentence for the model.

    Args:
        cortex: The Cortex.
        proposal_id: The id of the proposal.
        reply: The answer, or ``None`` if there was none.
        shown: The mark of the question that the person saw.
    """
    if reply is None or reply.action == "cancel":
        return f"The user was asked and has not decided; it waits in pending.md as {proposal_id}."
    try:
        return _carry_out(cortex, proposal_id, reply, shown)
    except EntryNotFoundError:
        return _GONE.format(id=proposal_id)
    except EngramdownError as error:
        why = inert(str(error))
        return f"The user was asked, but what they decided could not be carried out: {why}"


def _carry_out(cortex: Cortex, proposal_id: str, reply: types.ElicitResult, shown: str) -> str:
    waiting = next((each for each in cortex.pending() if each.id == proposal_id), None)
    if waiting is None:
        return _GONE.format(id=proposal_id)
    if mark(question(waiting)) != shown:
        # They decided on what they saw, not on what took its place.
        changed = "What the user was asked about was changed meanwhile"
        return f"{changed}; it waits as {proposal_id}."
    if reply.action == "decline":
        cortex.resolve(proposal_id, "decline")
        return "The user was asked and declined; do not propose it again."
    words = (reply.content or {}).get("text")
    words = "" if words is None else words
    if not (isinstance(words, str) and len(words) <= _LONGEST):
        # It is unknown whether they want the words as they were.
        return (
            "What came back from the form of the user is not what it asked for (text: a string of "
            f"at most {_LONGEST} characters), so nothing is decided; it waits in pending.md as "
            f"{proposal_id}."
        )
    # The form shows invisible characters as visible ones; unchanged, the original text counts.
    is_own = bool(words.strip()) and words != on_screen(waiting.engram.text)
    receipt = cortex.resolve(proposal_id, "accept", words if is_own else None)
    accepted = "The user was asked and accepted."
    if receipt.action == "forgotten":
        return f"{accepted} Forgotten."
    where = f"{receipt.file}:{receipt.line}" if receipt.file else "memory"
    changed = f" In their own words: {inert(receipt.engram.text)!r}." if is_own else ""
    did = "Known already" if receipt.action == "merged" else "Remembered"
    return f"{accepted} {did}: {where}, id {receipt.id}.{changed}"
