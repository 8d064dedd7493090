"""``engramdown review``: a person decides on what waits in pending.md.

Promises: nothing is decided without a key, an option or a tick; each decision is carried out at
once, so that quitting loses none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import click
from click.exceptions import Exit

from engramdown import Cortex, Proposal
from engramdown.cli import output, process, review_messages
from engramdown.cli.access import find_proposal, folders, open_cortex
from engramdown.cli.commands import (
    complete_proposals,
    dry_run_option,
    given,
    json_option,
    pass_place,
)
from engramdown.cli.layout import Line, line
from engramdown.cli.output import STORE_FAILED, Outcome
from engramdown.cli.process import Place
from engramdown.cli.proposals import heading, proposal_lines
from engramdown.cli.receipts import receipt_line
from engramdown.cli.views import arrival_data, proposal_data, receipt_data
from engramdown.cli.walk import Walk
from engramdown.cortex.waiting import Answer

if TYPE_CHECKING:
    from engramdown.cortex.pulled import Arrival
    from engramdown.cortex.receipts import Receipt


# So much of what came is listed; who clones a large memory reads its files.
_MOST: Final = 40


class _Decision(NamedTuple):
    """What is to be done with one proposal."""

    proposal: Proposal
    action: Literal["accept", "decline"]
    text: str | None = None


@click.command()
@click.option(
    "--accept",
    metavar="ID",
    shell_complete=complete_proposals,
    multiple=True,
    help="Accept this one; repeatable.",
)
@click.option(
    "--decline",
    metavar="ID",
    shell_complete=complete_proposals,
    multiple=True,
    help="Decline this one; repeatable.",
)
@click.option(
    "--edit",
    metavar="ID TEXT",
    type=(str, str),
    multiple=True,
    help="Accept this one with another text; repeatable.",
)
@click.option("--all", "everything", is_flag=True, help="Accept all that no other option names.")
@json_option
@dry_run_option
@pass_place
def review(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Decide on what waits in pending.md.

    On a terminal each proposal is shown, and one key decides: accept, edit, decline, skip, all
    of this kind, stop. Without a terminal, options decide; without options, what waits is listed.
    Lines that are ticked in pending.md are applied first.
    """
    cortex = open_cortex(place)
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    receipts = cortex.apply_ticks()
    cortex.keep_own()
    arrivals = cortex.if_readable(cortex.arrivals)
    cortex.told(arrivals)
    if cortex.settings.pulled == "review":
        # All else waits to be approved, and is shown as what waits.
        arrivals = [each for each in arrivals if each.kind == "settings"]
    if any(_orders().values()):
        receipts += cortex.resolve_all(
            Answer(item.proposal.id, item.action, item.text)
            for item in _decisions(cortex, _orders())
        )
    elif output.is_person() and not as_json and not dry_run:
        output.screen().show([*_news_lines(arrivals), *map(receipt_line, _told(receipts))])
        walk = Walk(cortex.resolve, cortex.resolve_all, process.complain)
        walk.through(cortex.pending())
        left = review_messages.walk_done(walk.decided, cortex.count_pending())
        output.screen().show([line((left, "dim"))])
        return
    waiting = cortex.pending()
    where = folders(cortex)
    outcome.show(
        [*_news_lines(arrivals), *map(receipt_line, _told(receipts)), *_waiting_lines(waiting)],
        {
            "news": [arrival_data(arrival) for arrival in arrivals],
            "receipts": [receipt_data(receipt) for receipt in receipts],
            "pending": [proposal_data(proposal, where) for proposal in waiting],
        },
    )
    if any(receipt.action == "failed" for receipt in receipts):
        raise Exit(STORE_FAILED)


def _told(receipts: Sequence[Receipt]) -> list[Receipt]:
    """Leave out ticks of somebody else that wait: they are listed with the rest that does."""
    return [each for each in receipts if each.is_ours or each.action != "queued"]


def _orders() -> dict[str, Any]:
    return {key: given()[key] for key in ("accept", "decline", "edit", "everything")}


def _decisions(cortex: Cortex, orders: dict[str, Any]) -> list[_Decision]:
    """Return what the options say; every id is looked up before anything is done."""
    decisions = [
        *(_Decision(find_proposal(cortex, item), "decline") for item in orders["decline"]),
        *(_Decision(find_proposal(cortex, item), "accept", text) for item, text in orders["edit"]),
        *(_Decision(find_proposal(cortex, item), "accept") for item in orders["accept"]),
    ]
    named: set[str] = set()
    for item in decisions:
        if item.proposal.id in named:
            raise click.UsageError(review_messages.decided_twice(item.proposal.id))
        named.add(item.proposal.id)
    if orders["everything"]:
        rest = (item for item in cortex.pending() if item.id not in named)
        decisions += [_Decision(item, "accept") for item in rest]
    return decisions


def _news_lines(arrivals: Sequence[Arrival]) -> Iterator[Line]:
    """Return what came with git and is loaded; nobody has to decide on it."""
    if arrivals:
        yield line((review_messages.came_with_git(len(arrivals)), "where"))
        for arrival in arrivals[:_MOST]:
            yield line((str(arrival), ""), indent=2, hang=4)
        if len(arrivals) > _MOST:
            yield line((review_messages.more_came(len(arrivals) - _MOST), "dim"), indent=2)
        yield line()


def _waiting_lines(waiting: Sequence[Proposal]) -> Iterator[Line]:
    for number, proposal in enumerate(waiting, 1):
        yield line((heading(proposal, number, len(waiting)), "where"))
        for found in proposal_lines(proposal):
            yield found._replace(indent=found.indent + 2, hang=found.hang + 2)
        yield line()
    yield line(review_messages.waiting(len(waiting)))
