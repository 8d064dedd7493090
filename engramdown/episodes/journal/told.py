"""What the journal gives back: where something was written, a day, what was found.

Promises: plain values; nothing is read or written by asking them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from engramdown.journal.page import Page, Section, title

__all__ = ["Day", "Match", "Recent", "Written", "recent_of"]


class Written(NamedTuple):
    """Where a section stands.

    Attributes:
        path: The file of its day.
        day: The day.
        section: The section as it stands, with its line.
        hidden: The kinds of secrets that were hidden before it was written.
        before: What the file held before, ``""`` for none.
        after: What it holds now, or would hold.
    """

    path: Path
    day: date
    section: Section
    hidden: tuple[str, ...]
    before: str
    after: str


class Day(NamedTuple):
    """A day of the journal.

    Attributes:
        date: Which day.
        path: Its file.
        page: What stands there; empty if it cannot be read.
        problem: Why it cannot be read, or ``""``.
    """

    date: date
    path: Path
    page: Page
    problem: str = ""

    @property
    def sections(self) -> tuple[Section, ...]:
        """What was written, in the order of the page."""
        return self.page.sections

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written."""
        return not any(section.text or section.heading for section in self.sections)


class Match(NamedTuple):
    """A section that answers a question.

    Attributes:
        date: Its day.
        path: The file of that day.
        section: The section.
        piece: Why it was found, in 250 characters at most.
        score: How well it answers; comparable within one search only.
    """

    date: date
    path: Path
    section: Section
    piece: str
    score: float


class Recent(NamedTuple):
    """A day as it is told in a prompt.

    Attributes:
        title: ``Today``, ``Yesterday`` or ``Monday, January 2``.
        date: The day.
        sections: What was written.
    """

    title: str
    date: date
    sections: tuple[Section, ...]

    @property
    def heading(self) -> str:
        """What the day is called, with its date."""
        return f"{self.title} ({self.date.isoformat()})"

    @property
    def text(self) -> str:
        """All that was written, each section below its heading."""
        return "\n\n".join("\n".join(filter(None, each[:2])) for each in self.sections)


def recent_of(days: Iterable[Day], today: date) -> list[Recent]:
    """Return days as they are told on ``today``; one on which nothing was written is not."""
    told = [day for day in days if not day.is_blank]
    return [Recent(title(day.date, today), day.date, day.sections) for day in told]
