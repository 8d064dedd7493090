"""``engramdown review``: a person decides on the proposals in pending.md.

Nothing is decided without a key, an option or a tick. Each decision is carried out at once, so that
quitting loses none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
from click.exceptions import Exit

from engramdown import Cortex, Proposal, Receipt, serializers
from engramdown.cli import commands, output, process, views
from engramdown.cli.access import find_proposal, open_cortex
from engramdown.cli.layout import Line, line
from engramdown.cli.output import STORE_FAILED, edit_text
from engramdown.cli.process import Place
from engramdown.cli.views import beside, place
from engramdown.errors import EngramdownError
from engramdown.gate import Answer
from engramdown.lazy import texts

if TYPE_CHECKING:
    from engramdown.gate import Arrival


# At most so many arrivals are listed; whoever clones a large memory reads its files.
_MOST: Final = 40
_STYLES: Final = {
    "encoded": "good",
    "merged": "good",
    "queued": "warn",
    "discarded": "warn",
    "forgotten": "good",
    "failed": "bad",
}
# The words of this module, by what they are about and a code.
_WORDS: Final = texts(__file__)
_STAYS: Final = "all stays as it is, and this is not proposed again"
_NOTHING: Final = "Nothing is waiting."


def _repeatable(name: str, does: str, **more: Any) -> commands.Command:  # noqa: ANN401 - as click takes them
    return click.option(name, multiple=True, help=f"{does}; repeatable.", **more)


@click.command()
@_repeatable(
    "--accept", "Accept this one", metavar="ID", shell_complete=commands.complete_proposals
)
@_repeatable(
    "--decline", "Decline this one", metavar="ID", shell_complete=commands.complete_proposals
)
@_repeatable("--edit", "Accept this one with another text", metavar="ID TEXT", type=(str, str))
@click.option("--all", "everything", is_flag=True, help="Accept all that no other option names.")
@commands.changes
def review(place: Place, /, *, as_json: bool, dry_run: bool, **orders: Any) -> None:  # noqa: ANN401 - as click gives them
    """Decide on the proposals in pending.md.

    On a terminal each proposal is shown, and one key decides: accept, edit, decline, skip, all
    of this kind, stop. Without a terminal, options decide; without options, what waits is listed.
    Lines that are ticked in pending.md are applied first.
    """
    cortex = open_cortex(place)
    commands.dry_run_if_asked(cortex)
    receipts = cortex.review.apply_ticks()
    cortex.review.keep_own()
    arrivals = cortex.scopes.if_readable(cortex.review.arrivals)
    cortex.review.mark_told(arrivals)
    if cortex.scopes.settings.pulled == "review":
        # Everything else waits to be approved, and is shown with the proposals.
        arrivals = [each for each in arrivals if each.kind == "settings"]
    walks = not any(orders.values()) and output.is_person() and not as_json and not dry_run
    if any(orders.values()):
        receipts += cortex.review.resolve_all(_decisions(cortex, orders))
    # Ticks of somebody else that wait are listed with the proposals.
    shown = [each for each in receipts if each.is_ours or each.action != "queued"]
    lines = [*_news_lines(arrivals), *map(receipt_line, shown)]
    if walks:
        output.show(lines)
        walk = Walk(cortex.resolve, cortex.review.resolve_all, process.complain)
        walk.through(cortex.pending())
        left = cortex.review.count()
        done = f"{walk.decided} decided, {left} still waiting."
        output.show([line((done if walk.decided or left else _NOTHING, "dim"))])
        return
    waiting = cortex.pending()
    where = serializers.folders(cortex)
    data = serializers.review_data(arrivals, receipts, waiting, where)
    commands.show_change(cortex, [*lines, *_waiting_lines(waiting)], data)
    if any(receipt.action == "failed" for receipt in receipts):
        raise Exit(STORE_FAILED)


def _decisions(cortex: Cortex, orders: dict[str, Any]) -> list[Answer]:
    """Return the decisions in the options; every id is looked up before anything is done."""
    asked = [
        *((each, "decline", None) for each in orders["decline"]),
        *((each, "accept", text) for each, text in orders["edit"]),
        *((each, "accept", None) for each in orders["accept"]),
    ]
    decisions: dict[str, Answer] = {}
    for prefix, action, text in asked:
        found = find_proposal(cortex, prefix).id
        if found in decisions:
            raise click.UsageError(f"{found} is named twice; decide once")
        decisions[found] = Answer(found, action, text)
    if orders["everything"]:
        rest = (item.id for item in cortex.pending() if item.id not in decisions)
        decisions |= {each: Answer(each, "accept") for each in rest}
    return list(decisions.values())


def _news_lines(arrivals: Sequence[Arrival]) -> Iterator[Line]:
    """Yield the memories that came with git and are loaded; nobody has to decide on them."""
    if not arrivals:
        return
    count = views.counted(len(arrivals), "thing")
    came = f"{count} came with git since you last looked, written by somebody else:"
    yield line((came, "where"))
    for arrival in arrivals[:_MOST]:
        yield line((str(arrival), ""), indent=2, hang=4)
    if len(arrivals) > _MOST:
        left = f"… and {len(arrivals) - _MOST:,} more; `engramdown list` shows all that is there"
        yield line((left, "dim"), indent=2)
    yield line()


def came_briefly(count: int) -> str:
    """Announce memories of somebody else in a note."""
    return f"{views.counted(count, 'thing')} in memory came with git; see `engramdown review`"


def _waiting_lines(waiting: Sequence[Proposal]) -> Iterator[Line]:
    for number, proposal in enumerate(waiting, 1):
        yield line((_heading(proposal, number, len(waiting)), "where"))
        for found in _proposal_lines(proposal):
            yield found._replace(indent=found.indent + 2, hang=found.hang + 2)
        yield line()
    how = "`engramdown review` in a terminal, or with --accept ID, --decline ID, --all"
    many = f"{len(waiting)} waiting. Decide by ticking in pending.md, or with {how}."
    yield line(many if waiting else _NOTHING)


def receipt_line(receipt: Receipt) -> Line:
    """Return what happened, in one sentence."""
    return line((views.receipt(receipt), _STYLES[receipt.action]), hang=2)


# ---- the walk ----

# Ctrl-C where it does not end the program, Ctrl-D, Escape.
_STOP: Final = ("q", "\x03", "\x04", "\x1b")


# Carries out what a person decided: :meth:`engramdown.Cortex.resolve`, or a session's.
_Resolve = Callable[[str, str, str | None], Receipt]
# What comes after a key: the next proposal, the same one again, or nothing.
_Then = Literal["next", "same", "stop"]


@dataclass(eq=False)
class Walk:
    """One walk through proposals.

    Attributes:
        resolver: Carries out one decision.
        resolve_all: Carries out many decisions.
        complain: Reports a decision that cannot be carried out.
        goes_on: Whether the program goes on after Ctrl-C, which then only stops the walk.
        decided: How many were decided.
    """

    resolver: _Resolve
    resolve_all: Callable[[Iterable[Answer]], list[Receipt]]
    complain: Callable[[str], object]
    goes_on: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Ask on the screen."""
        self.decided = 0
        self._left: list[Proposal] = []
        self._screen = output.screen()
        self._answers: dict[str, Callable[[Proposal], _Then]] = {
            "a": lambda proposal: self._resolve(proposal, "accept"),
            "A": self._accept_kind,
            "d": lambda proposal: self._resolve(proposal, "decline"),
            "e": self._edit,
            "s": lambda _: "next",
            **dict.fromkeys(_STOP, lambda _: "stop"),
        }

    def through(self, waiting: Sequence[Proposal]) -> None:
        """Ask until all are decided or the person stops."""
        self._left = [*waiting]
        numbers = {proposal.id: number for number, proposal in enumerate(waiting, 1)}
        while self._left:
            proposal = self._left.pop(0)
            number = numbers[proposal.id]
            title = _heading(proposal, number, len(waiting))
            self._screen.box(title, _proposal_lines(proposal))
            then: _Then = "same"
            while then == "same":
                click.echo(_keys(proposal, output.width()), nl=False)
                key = self._key()
                click.echo(_WORDS.get(f"key {'q' if key in _STOP else key}", ""))
                then = self._answers.get(key, self._explain)(proposal)
            if then == "stop":
                break

    def _accept_kind(self, proposal: Proposal) -> _Then:
        """Accept this one and all that are left of its kind, at once."""
        kind = _kind(proposal)
        alike = [proposal, *(each for each in self._left if _kind(each) == kind)]
        self._left = [each for each in self._left if _kind(each) != kind]
        try:
            receipts = self.resolve_all(Answer(each.id) for each in alike)
        except EngramdownError as error:
            self.complain(str(error))
            return "next"
        for receipt in receipts:
            if receipt.action == "failed":
                self.complain(receipt.reason)
        done = [receipt for receipt in receipts if receipt.action != "failed"]
        self.decided += len(done)
        self._screen.show(map(receipt_line, done))
        return "next"

    def _edit(self, proposal: Proposal) -> _Then:
        if not _has_words(proposal):
            return self._explain(proposal)
        try:
            text = edit_text(proposal.engram.text, "use `engramdown review --edit ID TEXT`")
        except click.ClickException as error:
            process.complain(error.format_message())
            return "same"
        if not text.strip():
            empty = "The text is empty; d declines a proposal."
            self._screen.show([line((empty, "warn"))])
            return "same"
        return self._resolve(proposal, "accept", text)

    def _explain(self, proposal: Proposal) -> _Then:
        """Explain what each key does to this proposal."""
        kind = _kind(proposal)
        alike = _WORDS.get(f"kind {kind}", f"of the kind {kind}")
        help_lines = [
            f"a  accept: {_WORDS[f'accept {proposal.op}']}",
            "e  edit: change the text in your editor, then accept it",
            f"d  decline: {_WORDS.get(f'decline {proposal.op}', _STAYS)}",
            "s  skip: it keeps waiting",
            f"A  accept this and every later proposal {alike}",
            "q  stop: what is decided stays decided, the rest keeps waiting",
        ]
        if not _has_words(proposal):
            del help_lines[1]
        self._screen.show([line(text, hang=3) for text in help_lines])
        return "same"

    def _resolve(
        self, proposal: Proposal, action: Literal["accept", "decline"], text: str | None = None
    ) -> _Then:
        try:
            receipt = self.resolver(proposal.id, action, text)
        except EngramdownError as error:
            self.complain(str(error))
        else:
            self.decided += receipt.action != "failed"
            self._screen.show([receipt_line(receipt)])
        return "next"

    def _key(self) -> str:
        """Return the key that was pressed; the end of the input counts as Ctrl-D."""
        try:
            return click.getchar()
        except EOFError:
            return "\x04"
        except KeyboardInterrupt:
            if not self.goes_on:
                raise
            return "\x03"


def _kind(proposal: Proposal) -> str:
    """Return the kind that one key accepts together: a yes to lessons removes no memory."""
    if proposal.op == "load":
        return f"{proposal.engram.kind} of others" if proposal.line else "page"
    return proposal.engram.kind if proposal.op in ("encode", "replace") else proposal.op


def _has_words(proposal: Proposal) -> bool:
    """Whether a proposal brings words, which can be changed before they are accepted."""
    return proposal.op in ("encode", "replace", "merge", "skill") or (
        proposal.op == "load" and bool(proposal.line)
    )


def _keys(proposal: Proposal, width: int) -> str:
    """Ask for a key, in one row of a terminal."""
    edit = " · e edit" if _has_words(proposal) else ""
    asked = f"a accept{edit} · d decline · s skip · A all of this kind · q stop > "
    if len(asked) < width:
        return asked
    return "a e d s A q, ? for help > " if edit else "a d s A q, ? for help > "


# ---- a proposal ----


def _heading(proposal: Proposal, number: int, count: int) -> str:
    """Return the title of a proposal: which of how many, where it waits, and its id."""
    name = Path(proposal.file).name
    where = f"{name}:{proposal.line}" if proposal.line else name
    return f"{number} of {count} · {where} · {proposal.id}"


def _proposal_lines(proposal: Proposal) -> Iterator[Line]:
    """Yield the facts that a person needs to decide."""
    yield from _tidying(proposal) if proposal.takes else _change(proposal)
    if proposal.comments:
        yield line(*beside(proposal.comments))
    yield line((_facts(proposal), "dim"))
    why = proposal.reason or proposal.hold
    if why:
        yield line((f"Waits because: {why}", "warn"))
    for entry in proposal.similar:
        head = ("like  ", "dim"), (entry.id, "id"), "  ", (place(entry), "where"), "  "
        yield line(*head, entry.text, *beside(entry.comments), hang=2)


def _change(proposal: Proposal) -> Iterator[Line]:
    """Return the text, as a diff where something gives way to it."""
    old = proposal.replaces.text if proposal.replaces else ""
    new = "" if proposal.op == "forget" else proposal.engram.text
    if not old:
        yield line((new or proposal.engram.text, "strong"))
        return
    for row in old.split("\n"):
        yield line((f"- {row}", "bad"), hang=2)
    if proposal.replaces and proposal.replaces.comments:
        yield line(*beside(proposal.replaces.comments))
    for row in new.split("\n") if new else ():
        yield line((f"+ {row}", "good"), hang=2)


def _tidying(proposal: Proposal) -> Iterator[Line]:
    """Yield the memories that a proposal would remove, and what would replace them."""
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


def _facts(proposal: Proposal) -> str:
    """Return in one line the facts about a proposal, or the claims of one that git brought."""
    engram = proposal.engram
    is_page = proposal.op == "load" and not proposal.line
    what = "skill" if proposal.op == "skill" else engram.kind
    facts = ["page" if is_page else what, engram.scope]
    facts += [] if is_page else [f"{engram.confidence} confidence"]
    # A line names its source; if git brought it, that is not this user.
    is_ours = proposal.op != "load" and proposal.is_ours
    facts.append(f"from {serializers.BY_NAMES[engram.source]}" if is_ours else "somebody else's")
    facts += [f"topic {engram.topic}"] if engram.topic else []
    facts += [f"learned in {engram.origin}"] if engram.origin else []
    facts += [proposal.ts] if proposal.ts else []
    return " · ".join(facts)
