"""Routes about proposals: list them, and carry out what a person decided.

While a turn runs in this process, over the same memory, nobody decides: 409.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

from pydantic import Field

from engramdown.errors import InvalidEngramError
from engramdown.serializers import folders, proposal_data, receipt_data, review_data
from engramdown.web.routes import Call, ChangeRoute, Form, Paged, Reply, Route, page_of

_TEXT: Final = 20_000


class Acceptance(Form):
    """How a proposal is accepted."""

    text: str | None = Field(
        None, max_length=_TEXT, pattern=r"\S", description="Other words for it."
    )


class Decision(Form):
    """What a person decided about one proposal."""

    id: str = Field(max_length=100)
    decision: Literal["accept", "decline", "skip"] = "accept"
    text: str | None = Field(None, max_length=_TEXT, pattern=r"\S")


class Decisions(Form):
    """What a person decided about several proposals."""

    answers: list[Decision] = Field(min_length=1, max_length=1_000)


def list_proposals(call: Call) -> Reply:
    """List what waits for a person."""
    where = folders(call.cortex)
    waiting = call.cortex.pending()
    return page_of(call, waiting, lambda item: item.id, lambda item: proposal_data(item, where))


def accept_proposal(call: Call) -> Reply:
    """Accept a proposal, as it is or in other words."""
    return _resolve(call, "accept", call.body.text)


def decline_proposal(call: Call) -> Reply:
    """Decline a proposal; it is not proposed again."""
    return _resolve(call, "decline")


def _resolve(call: Call, decision: str, text: str | None = None) -> Reply:
    from engramdown.cortex import refuse_mid_turn

    refuse_mid_turn(call.cortex.scopes)
    return Reply(receipt_data(call.cortex.resolve(call.path["id"], decision, text)))


def resolve_proposals(call: Call) -> Reply:
    """Carry out decisions about several proposals, in one step for each file.

    Each has a receipt; one that says *failed* still waits. If an id is unknown or ambiguous,
    nothing is carried out.
    """
    from engramdown.cortex import refuse_mid_turn
    from engramdown.gate import Answer

    refuse_mid_turn(call.cortex.scopes)
    counts = Counter(each.id for each in call.body.answers)
    if twice := next((each for each, times in counts.items() if times > 1), ""):
        raise InvalidEngramError("answers", f"{twice!r} is named twice; decide once")
    answers = [Answer(each.id, each.decision, each.text) for each in call.body.answers]
    receipts = call.cortex.review.resolve_all(answers)
    waiting = call.cortex.pending()
    return Reply(review_data([], receipts, waiting, folders(call.cortex)))


ROUTES: Final = (
    Route("GET", "/v1/proposals", list_proposals, "[Proposal]", query=Paged),
    ChangeRoute(
        "POST",
        "/v1/proposals/resolve",
        resolve_proposals,
        "Review",
        body=Decisions,
        answers={200: "A receipt for each, and what still waits."},
    ),
    ChangeRoute("POST", "/v1/proposals/{id}/accept", accept_proposal, "Receipt", body=Acceptance),
    ChangeRoute("POST", "/v1/proposals/{id}/decline", decline_proposal, "Receipt"),
)
