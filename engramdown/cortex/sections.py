"""What a model is shown of memory, in its parts.

Promises: a context is the text that a model gets, and knows what it is made of. No clock, no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from engramdown.hippocampus.entry import Entry

__all__ = ["MemoryContext", "Section"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section, as it is shown.

    Attributes:
        name: Its key in :data:`BUDGETS`.
        heading: Its first line.
        budget: What it may cost, in tokens.
        tokens: What it costs.
        shown: The entries that it shows, in file order. A paragraph of the soul is an entry of the
            file ``soul.md`` without an id.
        left_out: The entries that did not fit, in file order.
        text: Its words, ``""`` if the budget does not even hold its heading.
    """

    name: str
    heading: str
    budget: int
    tokens: int
    shown: tuple[Entry, ...]
    left_out: tuple[Entry, ...]
    text: str


class MemoryContext(str):
    """What a model is shown: a ``str`` that also knows its sections.

    Attributes:
        sections: The sections that have entries, in order.
        degraded: Why a model is told that memory is degraded, the last line of the text, or ``""``.
    """

    __slots__ = ("degraded", "sections")

    degraded: str
    sections: tuple[Section, ...]

    def __new__(cls, text: str = "", sections: Sequence[Section] = ()) -> Self:
        """Take the whole ``text`` and the ``sections`` that it is made of."""
        self = super().__new__(cls, text)
        self.sections = tuple(sections)
        self.degraded = ""
        return self

    def degrade(self, why: str) -> MemoryContext:
        """Return the same with ``why`` as its last line."""
        told = MemoryContext(f"{self}\n\n{why}" if self else why, self.sections)
        told.degraded = why
        return told
