"""``engramdown review``: a person decides on what waits in pending.md.

Nothing is decided without a key, an option or a tick. Each decision is carried out at once, so that
quitting loses none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

import click
from click.exceptions import Exit

from engramdown import Cortex, Proposal, Receipt
from engramdown.cli import commands, messages, output, process, views
from engramdown.cli.access import find_proposal, folders, open_cortex
from engramdown.cli.layout import Line, line
from engramdown.cli.output import STORE_FAILED, Outcome
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_text
from engramdown.cli.views import arrival_data, beside, place, proposal_data, receipt_data
from engramdown.errors import EngramdownError
from engramdown.gate import Answer

if TYPE_CHECKING:
    from engramdown.gate import Arrival


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
    shell_complete=commands.complete_proposals,
    multiple=True,
    help="Accept this one; repeatable.",
)
@click.option(
    "--decline",
    metavar="ID",
    shell_complete=commands.complete_proposals,
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
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def review(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Decide on what waits in pending.md.

    On a terminal each proposal is shown, and one key decides: accept, edit, decline, skip, all
    of this kind, stop. Without a terminal, options decide; without options, what waits is listed.
    Lines that are ticked in pending.md are applied first.
    """
    cortex = open_cortex(place)
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    receipts = cortex.review.apply_ticks()
    cortex.review.keep_own()
    arrivals = cortex.scopes.if_readable(cortex.review.arrivals)
    cortex.review.mark_told(arrivals)
    if cortex.scopes.settings.pulled == "review":
        # All else waits to be approved, and is shown as what waits.
        arrivals = [each for each in arrivals if each.kind == "settings"]
    if any(_orders().values()):
        receipts += cortex.review.resolve_all(
            Answer(item.proposal.id, item.action, item.text)
            for item in _decisions(cortex, _orders())
        )
    elif output.is_person() and not as_json and not dry_run:
        output.screen().show([*_news_lines(arrivals), *map(receipt_line, _told(receipts))])
        walk = Walk(cortex.resolve, cortex.review.resolve_all, process.complain)
        walk.through(cortex.pending())
        left = walk_done(walk.decided, cortex.review.count())
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
    return {key: commands.given()[key] for key in ("accept", "decline", "edit", "everything")}


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
            raise click.UsageError(decided_twice(item.proposal.id))
        named.add(item.proposal.id)
    if orders["everything"]:
        rest = (item for item in cortex.pending() if item.id not in named)
        decisions += [_Decision(item, "accept") for item in rest]
    return decisions


def _news_lines(arrivals: Sequence[Arrival]) -> Iterator[Line]:
    """Return what came with git and is loaded; nobody has to decide on it."""
    if arrivals:
        yield line((came_with_git(len(arrivals)), "where"))
        for arrival in arrivals[:_MOST]:
            yield line((str(arrival), ""), indent=2, hang=4)
        if len(arrivals) > _MOST:
            yield line((more_came(len(arrivals) - _MOST), "dim"), indent=2)
        yield line()


def _waiting_lines(waiting: Sequence[Proposal]) -> Iterator[Line]:
    for number, proposal in enumerate(waiting, 1):
        yield line((heading(proposal, number, len(waiting)), "where"))
        for found in proposal_lines(proposal):
            yield found._replace(indent=found.indent + 2, hang=found.hang + 2)
        yield line()
    yield line(how_many_wait(len(waiting)))


# Ctrl-C where it does not end the program, Ctrl-D, Escape.
_STOP: Final = ("q", "\x03", "\x04", "\x1b")


class _Resolve(Protocol):
    """Carries out what a person decided: :meth:`engramdown.Cortex.resolve`, or a session's."""

    def __call__(self, proposal_id: str, decision: str, text: str | None = None, /) -> Receipt:
        """Return what became of it."""
        ...


class _Then(Enum):
    """What comes after a key."""

    NEXT = "the next proposal"
    SAME = "the same one again"
    STOP = "nothing"


class Walk:
    """One walk through proposals.

    Attributes:
        decided: How many were decided.
    """

    def __init__(
        self,
        resolve: _Resolve,
        resolve_all: Callable[[Iterable[Answer]], list[Receipt]],
        complain: Callable[[str], object],
        *,
        goes_on: bool = False,
    ) -> None:
        """Ask on the screen.

        Args:
            resolve: Carries out what is decided about one.
            resolve_all: Carries out what is decided about many.
            complain: Says what cannot be carried out.
            goes_on: Whether the program goes on behind Ctrl-C: then it stops the walk alone.
        """
        self.decided = 0
        self._left: list[Proposal] = []
        self._resolver = resolve
        self._resolve_all = resolve_all
        self._complain = complain
        self._goes_on = goes_on
        self._screen = output.screen()
        self._answers: Final[dict[str, Callable[[Proposal], _Then]]] = {
            "a": self._accept,
            "A": self._accept_kind,
            "d": self._decline,
            "e": self._edit,
            "s": lambda _: _Then.NEXT,
            **dict.fromkeys(_STOP, lambda _: _Then.STOP),
        }

    def through(self, waiting: Sequence[Proposal]) -> None:
        """Ask until all are decided or the person stops."""
        self._left = [*waiting]
        numbers = {proposal.id: number for number, proposal in enumerate(waiting, 1)}
        while self._left:
            proposal = self._left.pop(0)
            number = numbers[proposal.id]
            self._screen.box(heading(proposal, number, len(waiting)), proposal_lines(proposal))
            if self._ask(proposal) is _Then.STOP:
                break

    def _ask(self, proposal: Proposal) -> _Then:
        then = _Then.SAME
        while then is _Then.SAME:
            click.echo(keys(proposal, output.width()), nl=False)
            key = self._key()
            click.echo(KEY_WORDS.get("q" if key in _STOP else key, ""))
            then = self._answers.get(key, self._explain)(proposal)
        return then

    def _accept(self, proposal: Proposal) -> _Then:
        return self._resolve(proposal, "accept")

    def _accept_kind(self, proposal: Proposal) -> _Then:
        """Accept this one and all that are left of its kind, at once."""
        kind = proposal_kind(proposal)
        alike = [proposal, *(each for each in self._left if proposal_kind(each) == kind)]
        self._left = [each for each in self._left if proposal_kind(each) != kind]
        try:
            receipts = self._resolve_all(Answer(each.id) for each in alike)
        except EngramdownError as error:
            self._complain(str(error))
            return _Then.NEXT
        for receipt in receipts:
            if receipt.action == "failed":
                self._complain(receipt.reason)
        done = [receipt for receipt in receipts if receipt.action != "failed"]
        self.decided += len(done)
        self._screen.show(map(receipt_line, done))
        return _Then.NEXT

    def _decline(self, proposal: Proposal) -> _Then:
        return self._resolve(proposal, "decline")

    def _edit(self, proposal: Proposal) -> _Then:
        if not has_words(proposal):
            return self._explain(proposal)
        try:
            text = edit_text(proposal.engram.text, views.REVIEW_EDIT_INSTEAD)
        except click.ClickException as error:
            process.complain(error.format_message())
            return _Then.SAME
        if not text.strip():
            self._screen.show([line((EMPTY_PROPOSAL, "warn"))])
            return _Then.SAME
        return self._resolve(proposal, "accept", text)

    def _explain(self, proposal: Proposal) -> _Then:
        self._screen.show([line(text, hang=3) for text in key_help(proposal)])
        return _Then.SAME

    def _resolve(
        self, proposal: Proposal, action: Literal["accept", "decline"], text: str | None = None
    ) -> _Then:
        try:
            receipt = self._resolver(proposal.id, action, text)
        except EngramdownError as error:
            self._complain(str(error))
        else:
            self.decided += receipt.action != "failed"
            self._screen.show([receipt_line(receipt)])
        return _Then.NEXT

    def _key(self) -> str:
        """Return the key that was pressed; the end of the input counts as Ctrl-D."""
        try:
            return click.getchar()
        except EOFError:
            return "\x04"
        except KeyboardInterrupt:
            if not self._goes_on:
                raise
            return "\x03"


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
    yield line((proposal_facts(proposal), "dim"))
    why = proposal.reason or proposal.hold
    if why:
        yield line((waits_because(why), "warn"))
    for entry in proposal.similar:
        yield line(
            (SIMILAR, "dim"),
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


_STYLES: Final = {
    "encoded": "good",
    "merged": "good",
    "queued": "warn",
    "discarded": "warn",
    "forgotten": "good",
    "failed": "bad",
}


def receipt_line(receipt: Receipt) -> Line:
    """Return what happened, in one sentence."""
    return line((messages.receipt(receipt), _STYLES[receipt.action]), hang=2)


SIMILAR: Final = "like  "
EMPTY_PROPOSAL: Final = "The text is empty; d declines a proposal."
KEY_WORDS: Final = {
    "a": "accept",
    "A": "accept all of this kind",
    "e": "edit",
    "d": "decline",
    "s": "skip",
    "q": "stop",
}
_ACCEPT: Final = {
    "encode": "it is remembered",
    "replace": "it takes the place of what is marked -",
    "forget": "it is forgotten; `engramdown restore` brings it back",
    "drop": "it is retired; `engramdown restore` brings it back",
    "expire": "it is retired; `engramdown restore` brings it back",
    "supersede": "it is retired; `engramdown restore` brings it back",
    "merge": "one memory, marked +, takes the place of those marked -",
    "move": "it is moved, and stays a memory",
    "skill": "it is written as a skill",
    "load": "a model sees it from now on",
}
_DECLINE: Final = {
    "encode": "it is not proposed again, re-worded or not",
    "replace": "what stands there stays, and this is not proposed again",
    "forget": "it stays a memory",
    "skill": "it is not proposed again",
    "load": "no model sees it; the file stays as it is",
}
_STAYS: Final = "all stays as it is, and this is not proposed again"
_KINDS: Final = {
    "forget": "to forget something",
    "drop": "to retire a duplicate",
    "expire": "to retire what expired",
    "supersede": "to retire what is replaced",
    "merge": "to make one memory of several",
    "move": "to move something to another topic",
    "skill": "for a skill",
    "page": "about a page that came with git",
}


def proposal_kind(proposal: Proposal) -> str:
    """Return what one key accepts together: a yes to lessons takes no memory away."""
    if proposal.op == "load":
        return f"{proposal.engram.kind} of others" if proposal.line else "page"
    return proposal.engram.kind if proposal.op in ("encode", "replace") else proposal.op


def has_words(proposal: Proposal) -> bool:
    """Whether a proposal brings words, which can be changed before they are accepted."""
    return proposal.op in ("encode", "replace", "merge", "skill") or (
        proposal.op == "load" and bool(proposal.line)
    )


def keys(proposal: Proposal, width: int) -> str:
    """Ask for a key, in one row of a terminal."""
    edit = " · e edit" if has_words(proposal) else ""
    asked = f"a accept{edit} · d decline · s skip · A all of this kind · q stop > "
    if len(asked) < width:
        return asked
    return "a e d s A q, ? for help > " if edit else "a d s A q, ? for help > "


def key_help(proposal: Proposal) -> list[str]:
    """Say what each key does about this proposal."""
    edit = ["e  edit: change the text in your editor, then accept it"]
    group = proposal_kind(proposal)
    others = _KINDS.get(group, f"of the kind {group}")
    return [
        f"a  accept: {_ACCEPT[proposal.op]}",
        *(edit if has_words(proposal) else []),
        f"d  decline: {_DECLINE.get(proposal.op, _STAYS)}",
        "s  skip: it keeps waiting",
        f"A  accept this and every later proposal {others}",
        "q  stop: what is decided stays decided, the rest keeps waiting",
    ]


def proposal_facts(proposal: Proposal) -> str:
    """Say in one line what is known about a proposal, or claimed by what git brought."""
    engram = proposal.engram
    is_page = proposal.op == "load" and not proposal.line
    what = "skill" if proposal.op == "skill" else engram.kind
    facts = ["page" if is_page else what, engram.scope]
    facts += [] if is_page else [f"{engram.confidence} confidence"]
    # Whose word it is a line says of itself; of one that git brought it is not this user's.
    is_ours = proposal.op != "load" and proposal.is_ours
    facts.append(f"from {messages.SOURCE_NAMES[engram.source]}" if is_ours else "somebody else's")
    facts += [f"topic {engram.topic}"] if engram.topic else []
    facts += [f"learned in {engram.origin}"] if engram.origin else []
    facts += [proposal.ts] if proposal.ts else []
    return " · ".join(facts)


def waits_because(reason: str) -> str:
    """Say why a proposal waits."""
    return f"Waits because: {reason}"


def decided_twice(entry_id: str) -> str:
    """Say that two options are about one proposal."""
    return f"{entry_id} is named twice; decide once"


def how_many_wait(count: int) -> str:
    """Say how many proposals wait, and how to decide."""
    if not count:
        return "Nothing is waiting."
    how = "`engramdown review` in a terminal, or with --accept ID, --decline ID, --all"
    return f"{count} waiting. Decide by ticking in pending.md, or with {how}."


def came_with_git(count: int) -> str:
    """Say that memories of somebody else came."""
    what, them = ("1 thing", "it") if count == 1 else (f"{count} things", "them")
    return f"{what} came with git since you last looked, and nobody here wrote {them}:"


def came_briefly(count: int) -> str:
    """Say the same in a note."""
    what = "1 thing" if count == 1 else f"{count} things"
    return f"{what} in memory came with git; `engramdown review` lists what it is"


def more_came(count: int) -> str:
    """Say how many more came than are listed."""
    return f"… and {count:,} more; `engramdown list` shows all that is there"


def walk_done(decided: int, left: int) -> str:
    """Say what the walk did."""
    if not decided and not left:
        return "Nothing is waiting."
    return f"{decided} decided, {left} still waiting."
