"""Learns without a model what a user states outright.

Promises: pure; any string may be passed; linear time; text that came through a tool or the web
teaches nothing, whatever it says; what is learned is told by the user and points at the line that
taught it. It misses what is said in other words than it knows: ``docs/sleep.md`` says how much.
"""

from __future__ import annotations

from typing import Final

from engramdown.consolidation.statements.scanning import statements
from engramdown.engram import Engram, fold

__all__ = ["MOST", "extract"]

MOST: Final = 20
"""So many memories one message may bring; who states more has pasted something."""


def extract(text: str, *, origin: str = "", via: str = "") -> list[Engram]:
    """Return what the user states in ``text``, one message, each thing once.

    Args:
        text: What the user wrote. Halves of surrogate pairs are left out.
        origin: Where it stands, ``<session>#<episode>``.
        via: ``tool`` or ``web`` if the text came from there: then nothing is learned.

    >>> [found] = extract("Thanks! From now on use uv, please.", origin="20260227-101500-4f2a#12")
    >>> found.kind, found.text, found.confidence, found.source, found.basis
    ('always', 'Use uv', 'high', 'user', 'told')
    """
    if via:
        return []
    found: dict[str, Engram] = {}
    for said in statements(text.encode(errors="ignore").decode()):
        engram = Engram(
            said.text, said.kind, said.scope, said.confidence, source="user", origin=origin
        )
        found.setdefault(fold(said.text), engram)
    return list(found.values())[:MOST]
