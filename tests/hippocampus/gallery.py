"""Memory files as people write them, with what a reader of our grammar must find in them.

Promises: every expectation was written by hand from the grammar in ``docs/file-format.md``, not
copied from what the code returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Said(NamedTuple):
    """One entry of a page.

    Attributes:
        line: The line on which it starts, from 1.
        under: The rule kind of its section, or the title of a section of the person's own, or "".
        text: What it says.
    """

    line: int
    under: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A memory file.

    Attributes:
        name: What is special about it.
        file: Where it stands below ``memory/``.
        data: Its bytes, as text where it is UTF-8.
        entries: What it says.
        findings: What ``doctor`` has to say about it: pairs of a line and a code, in order.
        bug: Why it is read otherwise as long as it is.
    """

    name: str
    file: str
    data: str | bytes
    entries: tuple[Said, ...] = ()
    findings: tuple[tuple[int, str], ...] = ()
    bug: str = ""

    @property
    def text(self) -> str:
        """The file as the store reads it."""
        data = self.data.encode() if isinstance(self.data, str) else self.data
        return data.decode("utf-8", "surrogateescape")
