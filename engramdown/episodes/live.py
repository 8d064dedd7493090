"""Which lines of a session may be shown to anybody but the person. No I/O.

Promises: what was excluded and not included again, and what was redacted, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from engramdown.episodes.marks import marked
from engramdown.transcripts.episode import Episode

__all__ = ["REDACTED", "Excluded", "excluded", "live"]

REDACTED: Final = "redacted"
"""The key of a line whose content was replaced."""


class Excluded(NamedTuple):
    """What is excluded of a session.

    Attributes:
        whole: Whether all of it is.
        seqs: The lines that are.
    """

    whole: bool
    seqs: frozenset[int]


def excluded(episodes: Iterable[Episode]) -> Excluded:
    """Return what the events among ``episodes`` exclude, the last word counting."""
    whole, seqs = False, frozenset[int]()
    for event in episodes:
        away, of = marked(event)
        if away is None:
            continue
        if of is None:
            whole, seqs = away, seqs if away else frozenset()
        else:
            seqs = seqs | set(of) if away else seqs - set(of)
    return Excluded(whole, seqs)


def live(episodes: Iterable[Episode]) -> list[Episode]:
    """Return the episodes that may be shown; events are none of them."""
    found = list(episodes)
    whole, seqs = excluded(found)
    return [
        each
        for each in found
        if not (whole or each.role == "event" or each.seq in seqs or REDACTED in each.more)
    ]
