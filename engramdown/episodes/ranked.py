"""Which of some texts answer a question best, and the piece of one that shows why.

Promises: pure; any string may be asked; the same texts and question always give the same order;
of two that answer equally well the later one comes first; a piece is never longer than it may be.

The score is BM25 over stemmed words. For pages that change under our hands and are few enough to
be read each time; transcripts have an index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from typing import Final

from engramdown.language.snippets import find, where
from engramdown.language.terms import folded, tokens
from engramdown.language.words import STOP_WORDS

__all__ = ["PREVIEW", "asked", "may_hold", "piece", "preview", "ranked", "stand_in", "telling"]

PREVIEW: Final = 250
"""Characters of a preview at most, and of one that is cut exactly."""

_ELLIPSIS: Final = "…"
_K1: Final = 1.2
_B: Final = 0.75
# A pasted log has thousands of words.
_MOST: Final = 128


def asked(query: str) -> frozenset[str]:
    """Return the stems that are looked for: those that tell something, or else all.

    >>> sorted(asked("How do we deploy?")), sorted(asked("who are you"))
    (['deploi'], ['ar', 'who', 'you'])
    """
    return telling(query) or frozenset(tokens(query)[:_MOST])


def telling(query: str) -> frozenset[str]:
    """Return the stems of the words that tell something.

    >>> sorted(telling("on the deploys")), sorted(telling("on the"))
    (['deploi'], [])
    """
    words = folded(query).split()
    said = [word for word in words if word.lower().strip(".,;:!?\"'()") not in STOP_WORDS]
    return frozenset(tokens(" ".join(said))[:_MOST])


def may_hold(text: str, stems: Iterable[str]) -> bool:
    """Whether a text may hold a word of one of ``stems``; to look closer takes much longer."""
    lowered = folded(text).lower()
    # Of a stem, no more than its last letter is not in the word: "studi", "file" for "filing".
    return any(stem[:-1] in lowered for stem in stems)


def ranked(stems: frozenset[str], texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the positions of the texts that hold one of ``stems``, the best first, with scores.

    >>> [at for at, _ in ranked(asked("deploys"), ["Lunch.", "We deployed.", "Deploy, deploy!"])]
    [2, 1]
    """
    counts = [Counter(tokens(text)) for text in texts]
    lengths = [count.total() for count in counts]
    usual = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = dict.fromkeys(range(len(texts)), 0.0)
    for stem in sorted(stems):
        holders = [at for at, count in enumerate(counts) if stem in count]
        # Never 0: what stands in every text tells little, and still more than nothing.
        rare = log(1 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for at in holders:
            often = counts[at][stem]
            spread = _K1 * (1 - _B + _B * lengths[at] / usual)
            scores[at] += rare * often * (_K1 + 1) / (often + spread)
    found = [(at, score) for at, score in scores.items() if score]
    return sorted(found, key=lambda hit: (-hit[1], -hit[0]))


def stand_in(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the positions of the texts that hold the very string, capitals or not, last first.

    >>> stand_in("use uv", ["Use UV", "uv", "We use uv."])
    [(2, 1.0), (0, 1.0)]
    """
    found = [at for at, text in enumerate(texts) if query and find(text, query)]
    return [(at, 1.0) for at in reversed(found)]


def preview(text: str) -> str:
    """Return the beginning of a text: all of it, or exactly :data:`PREVIEW` characters."""
    return text if len(text) <= PREVIEW else text[: PREVIEW - 1] + _ELLIPSIS


def piece(text: str, query: str, stems: frozenset[str]) -> str:
    """Return the piece of a text that shows why it was found, as long as a :func:`preview`."""
    start, end = find(text, query) or where(text, stems)
    if end < PREVIEW:
        return preview(text)
    room = PREVIEW - 2 * len(_ELLIPSIS)
    first = max(min(start - (room - (end - start)) // 2, start), 1)
    first = min(first, len(text) - room)
    last = first + room
    if last + len(_ELLIPSIS) >= len(text):
        return _ELLIPSIS + text[-(PREVIEW - 1) :]
    return f"{_ELLIPSIS}{text[first:last]}{_ELLIPSIS}"
