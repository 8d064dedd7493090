"""What a model is shown of memory, in its parts.

Promises: a context is the text that a model gets, and knows what it is made of. No clock, no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from engramdown.hippocampus.entry import Entry
from engramdown.language.untrusted import one_line

_DEGRADED: Final = (
    "Memory is degraded: what is said now may be missing from the transcript. Tell the user. ({})"
)
_PARTLY: Final = "Memory is degraded: a part cannot be read, and is left out. Tell the user. ({})"
_LONGEST_REASON: Final = 400


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


def degraded(trouble: str) -> str:
    """Return what a model is told of trouble with the transcripts."""
    return _DEGRADED.format(one_line(trouble)[:_LONGEST_REASON])


def left_out(trouble: str) -> str:
    """Say to a model that what it is shown of memory is not all."""
    return _PARTLY.format(one_line(trouble)[:_LONGEST_REASON])
