"""How a proposal looks to the person who decides on it.

Promises: pure; everything that speaks against a proposal is shown with it: why it is held, what
it would replace, what it is like.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engramdown import Proposal
from engramdown.cli import review_messages
from engramdown.cli.layout import Line, line
from engramdown.cli.views import beside, place


def heading(proposal: Proposal, number: int, count: int) -> str:
    """Return the title of a proposal: which of how many, where it waits, and its id."""
    name = Path(proposal.file).name
    where = f"{name}:{proposal.line}" if proposal.line else name
    return f"{number} of {count} · {where} · {proposal.id}"


def proposal_lines(proposal: Proposal) -> Iterator[Line]:
    """Return what a person needs to decide."""
    yield from _change(proposal)
    if proposal.comments:
        yield line(*beside(proposal.comments))
    yield line((review_messages.proposal_facts(proposal), "dim"))
    why = proposal.reason or proposal.hold
    if why:
        yield line((review_messages.waits_because(why), "warn"))
    for entry in proposal.similar:
        yield line(
            (review_messages.SIMILAR, "dim"),
            (entry.id, "id"),
            "  ",
            (place(entry), "where"),
            "  ",
            entry.text,
            *beside(entry.comments),
            hang=2,
        )


def _change(proposal: Proposal) -> Iterator[Line]:
    """Return the text, as a diff where something gives way to it."""
    if proposal.takes:
        yield from _tidying(proposal)
        return
    old = proposal.replaces.text if proposal.replaces else ""
    new = "" if proposal.op == "forget" else proposal.engram.text
    if not old:
        yield line((new or proposal.engram.text, "strong"))
        return
    for mark, style, text in (("-", "bad", old), ("+", "good", new)):
        for row in text.split("\n") if text else ():
            yield line((f"{mark} {row}", style), hang=2)
        if mark == "-" and proposal.replaces and proposal.replaces.comments:
            yield line(*beside(proposal.replaces.comments))


def _tidying(proposal: Proposal) -> Iterator[Line]:
    """Return what a question about memories that stand would take, and what comes for it."""
    merges = proposal.op == "merge"
    if not merges:
        yield line((proposal.engram.text, "strong"))
    for entry in proposal.takes if proposal.op != "move" else ():
        for row in entry.text.split("\n"):
            yield line((f"- {row}", "bad"), "  ", (entry.id, "id"), hang=2)
        if entry.comments:
            yield line(*beside(entry.comments))
    for row in proposal.engram.text.split("\n") if merges else ():
        yield line((f"+ {row}", "good"), hang=2)
