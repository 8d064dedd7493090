"""The parts of a prompt that are lists of what there is: days of the journal, notes.

Promises: pure; no part costs more than its budget, an item is shown whole or not at all, and a
part says how many it leaves out; no text can pass for a heading or a line of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from engramdown.language.untrusted import bullet, inert, one_line
from engramdown.tokens import estimate_tokens

__all__ = ["JOURNAL", "NOTES", "SOUL", "Listed", "journal", "noted"]

SOUL: Final = 1_500
"""What the page that says who the assistant is may cost, in tokens."""
JOURNAL: Final = 1_500
"""What the last days of the journal may cost."""
NOTES: Final = 1_000
"""What the notes on a conversation may cost."""

_JOURNAL: Final = "## Your Memory — Journal\n\nWhat was written down in the last days.\n"


class Listed(NamedTuple):
    """A part, and how much of it is left out.

    Attributes:
        text: Its words, ``""`` if there is nothing, or no room for any of it.
        left_out: How many items it leaves out.
        tokens: What they would cost.
    """

    text: str = ""
    left_out: int = 0
    tokens: int = 0


def journal(days: Iterable[tuple[str, Sequence[tuple[str, str]]]], budget: int = JOURNAL) -> Listed:
    r"""Return days of the journal, each with its title and its sections: a heading, and a text.

    >>> today = ("Today (2026-03-01)", [("10:15", "CI is green.\n")])
    >>> print(journal([today]).text.split("\n\n")[-1])
    - Today (2026-03-01), 10:15
      CI is green.
    """
    items = [
        bullet(", ".join(filter(None, map(one_line, (title, head)))) + f"\n{text}")
        for title, sections in days
        for head, text in sections
        if text.strip()
    ]
    return _listed(_JOURNAL, items, budget, "`engramdown journal search` finds them")


def noted(text: str, budget: int = NOTES) -> Listed:
    """Return notes, marked in every line; of long ones the beginning."""
    if not text.strip():
        return Listed()
    lines = [f"> {line}".rstrip() for line in inert(text).strip().split("\n")]
    left = budget
    for at, line in enumerate(lines):
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            rest = sum(map(estimate_tokens, lines[at:]))
            return Listed("\n".join(lines[:at]), len(lines) - at, rest)
    return Listed("\n".join(lines))


def _listed(heading: str, items: Sequence[str], budget: int, more: str) -> Listed:
    """Return what fits of ``items`` below a heading; one that does not hides none behind it."""
    whole = "\n".join([heading, *items])
    if not items or estimate_tokens(whole) <= budget:
        return Listed(whole if items else "")
    left_out = f"\n({len(items)} more left out; {more})"
    room = budget - estimate_tokens(heading + left_out) - 1
    shown, tokens = [], 0
    for item in items:
        cost = estimate_tokens(f"{item}\n")
        if cost <= room:
            shown.append(item)
            room -= cost
        else:
            tokens += cost
    count = len(items) - len(shown)
    note = f"\n({count} more left out; {more})"
    return Listed("\n".join([heading, *shown, note]) if shown else "", count, tokens)
