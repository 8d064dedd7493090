"""Pairs of memories, each with whether the two say the same, labelled by hand.

Promises: a pair is one line of a file here, with tabs between: its label, what the pair tries, and
the two texts. ``conflict`` is two values of one thing, which must never become one memory; ``same``
is one claim in other words; ``other`` is two things that share words or a form.

``tuning`` and ``held_out`` are the two halves, drawn by seeded dice, of 376 pairs that were all
written before they were run. The first run of ``held_out`` found 59 of 70, with one false merge.
Which pairs these were was not looked up, but how many of each class were missed was seen, their
author guessed some, and tables of words were completed. ``hard`` are more conflicts, as small as
could be thought of, and the code was changed because of them. ``seen`` was held out once; its first
run gave 20 of 22 and one false merge, and that pair changed the code. ``last`` was written after
that, and changed nothing. ``tuning_second`` was written by another author, who had not seen the
code, nor the other pairs; ``tuning_third`` and ``tuning_fourth`` by the same author after mending
what the one before had shown, with the code known by then, and ``latest`` after that; it changed
nothing. ``free`` are paraphrases as free as a person may write, of which 28 of 50 were found when
they were first read, and conflicts beside what that changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["CORPORA", "Pair", "corpus"]

CORPORA: Final = (
    "latest",
    "last",
    "held_out",
    "seen",
    "tuning",
    "tuning_second",
    "tuning_third",
    "tuning_fourth",
    "free",
    "hard",
)
"""The files, the one that says most about new pairs first."""


class Pair(NamedTuple):
    """Two memories, and whether they say the same."""

    label: str
    what: str
    a: str
    b: str


def corpus(name: str) -> list[Pair]:
    """Return the pairs of a file."""
    path = Path(__file__).with_name(f"{name}.tsv")
    return [Pair(*line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]
