"""Words that stand for a word of a question where an answer does not hold that word itself.

The table is ``kindred.txt``: words for the same thing, and kinds of things with what there is of
each. It is read when something is first looked for, and only those of its words are stemmed that
begin like the one that is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from engramdown.language.terms import stem

# A word for the same thing, what there is of a kind, and the kind that something is of.
_SAME: Final = 0.9
_OF_KIND: Final = 0.5
_KIND: Final = 0.3


@cache
def _table() -> Mapping[str, Sequence[str]]:
    """Return the lines of the table that hold a word with two given letters at its beginning."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    table = Path(__file__).with_name("kindred.txt").read_text(encoding="utf-8")
    for line in table.split("\n"):
        if not line.startswith("#"):
            for beginning in {word[:2] for word in line.split()}:
                lines[beginning].append(line)
    return lines


@cache
def kindred(form: str) -> Mapping[str, float]:
    """Return the words that stand for one with the stem ``form``, and what each is worth.

    >>> kindred("packag")["uv"] > kindred("uv")["package"] > 0
    True
    """
    found: dict[str, float] = {}
    for line in _table().get(form[:2], ()):
        kinds, _, things = line.rpartition(":")
        is_thing, is_kind = (
            any(word.startswith(form[:2]) and stem(word) == form for word in words.split())
            for words in (things, kinds)
        )
        if not kinds:
            worth, words = _SAME * is_thing, things
        elif is_kind:
            worth, words = _OF_KIND, things
        else:
            worth, words = _KIND * is_thing, kinds
        for word in words.split() if worth else ():
            found[word] = max(worth, found.get(word, 0.0))
    return found
