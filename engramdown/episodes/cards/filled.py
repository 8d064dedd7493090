"""What a model said of a session, as it is kept: one line of JSON in ``gists/<session>.jsonl``.

Promises: pure; any bytes may be read, and the newest whole line counts; what a model said before
lines were taken back counts no more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from engramdown.episodes.cards.card import Card
from engramdown.transcripts.episode import Episode

__all__ = ["Filled", "filled_in", "read_filled", "taken_back", "without_filled", "write_filled"]

_KIND: Final = "card"
_TAKING_BACK: Final = frozenset({"exclude", "include", "redact"})
_TEXTS: Final = ("title", "one_liner", "paragraph", "detailed")
_LISTS: Final = ("decisions", "tags")


class Filled(NamedTuple):
    """What a model said of a session.

    Attributes:
        ts: When.
        model: Which.
        marks: How many times lines had been taken back, or brought back, until then.
        title: What to call it, or ``""``.
        one_liner: What it was about, in one line.
        paragraph: The same in some more.
        decisions: What was decided.
        tags: A few words under which it is looked for.
        detailed: What happened, in some paragraphs.
    """

    ts: str
    model: str
    marks: int = 0
    title: str = ""
    one_liner: str = ""
    paragraph: str = ""
    decisions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    detailed: str = ""


def write_filled(said: Filled) -> bytes:
    """Return the line of ``said``."""
    return json.dumps({"kind": _KIND, **said._asdict()}).encode() + b"\n"


def read_filled(data: bytes) -> Filled | None:
    r"""Return the newest of the lines that a model's card is, if there is one.

    >>> read_filled(b'torn\n' + write_filled(Filled("2026", "m", title="Mending CI"))).title
    'Mending CI'
    """
    return next(filter(None, map(_read, reversed(data.split(b"\n")))), None)


def without_filled(data: bytes) -> bytes:
    """Return what stands in such a file besides the cards of models."""
    return b"\n".join(line for line in data.split(b"\n") if _read(line) is None)


def taken_back(episodes: Iterable[Episode]) -> int:
    """Return how many times lines of a session were taken back, or brought back."""
    return sum(each.event in _TAKING_BACK for each in episodes)


def filled_in(card: Card, said: Filled, episodes: Sequence[Episode]) -> Card:
    """Return a computed card with what a model said; a title that was given stays."""
    given = episodes[0].more.get("title") if episodes and episodes[0].event == "start" else None
    names = [name for name in _TEXTS if not (given and name == "title")]
    kept: dict[str, Any] = {
        name: getattr(said, name) for name in (*names, "tags") if getattr(said, name)
    }
    return replace(card, **kept, decisions=said.decisions, filled_by=said.model)


def _read(line: bytes) -> Filled | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.pop("kind", "") != _KIND:
        return None
    texts = {name: value.get(name, "") for name in ("ts", "model", *_TEXTS)}
    marks = value.get("marks", 0)
    lists = {name: value.get(name, []) for name in _LISTS}
    good = all(isinstance(text, str) for text in texts.values()) and isinstance(marks, int)
    if not good or not all(isinstance(found, list) for found in lists.values()):
        return None
    known = {name: tuple(each for each in lists[name] if isinstance(each, str)) for name in _LISTS}
    return Filled(**texts, marks=marks, decisions=known["decisions"], tags=known["tags"])
