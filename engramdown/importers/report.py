"""What an import did, or would do: by file and by session.

Promises: every line that was not taken has a reason, and is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from engramdown.importers.records import Skipped

__all__ = ["Brought", "FileReport", "Reason", "Report"]

_PLACES: Final = 5
"""Of each reason, so many places are remembered."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What one session got.

    Attributes:
        session: Its id.
        key: What tells it from the others of its file.
        title: What the source calls it.
        started: The time of the first episode that was read, as it stands in a line.
        fresh: Whether the session was not there before.
        new: How many episodes came.
        known: How many that were read were there already.
    """

    session: str
    key: str
    title: str
    started: str
    fresh: bool
    new: int
    known: int


@dataclass(slots=True)
class Reason:
    """Why something was not taken.

    Attributes:
        count: How often.
        damaged: Whether it should have been readable.
        lines: Where, the first few.
    """

    count: int = 0
    damaged: bool = False
    lines: list[int] = field(default_factory=list)


State = Literal["read", "unchanged", "unknown", "failed"]


@dataclass(slots=True)
class FileReport:
    """What one file brought.

    Attributes:
        path: Where it is.
        source: Whose it is, or ``""``.
        state: ``read``; ``unchanged`` since it was read; ``unknown``, of no source; ``failed``.
        error: Why it failed.
        sessions: What its sessions got.
        skipped: What was not taken, by reason.
        unfinished: Whether its last line is still being written.
    """

    path: str
    source: str = ""
    state: State = "read"
    error: str = ""
    sessions: list[Brought] = field(default_factory=list)
    skipped: dict[str, Reason] = field(default_factory=dict)
    unfinished: bool = False

    def skip(self, found: Skipped) -> None:
        """Count something that was not taken."""
        reason = self.skipped.setdefault(found.reason, Reason(damaged=found.damaged))
        reason.count += 1
        if len(reason.lines) < _PLACES:
            reason.lines.append(found.line)


@dataclass(slots=True)
class Report:
    """What an import did.

    Attributes:
        files: What each file brought.
    """

    files: list[FileReport] = field(default_factory=list)

    @property
    def sessions(self) -> list[Brought]:
        """What the sessions got, in the order in which they were read."""
        return [brought for file in self.files for brought in file.sessions]

    @property
    def new(self) -> int:
        """How many episodes came."""
        return sum(brought.new for brought in self.sessions)

    @property
    def known(self) -> int:
        """How many episodes that were read were there already."""
        return sum(brought.known for brought in self.sessions)

    def skipped(self, *, damaged: bool) -> Counter[str]:
        """Return how much was not taken, by reason."""
        return _counted(file.skipped.items() for file in self.files)[damaged]

    def states(self) -> Counter[str]:
        """Return how many files there are of each state."""
        return Counter(file.state for file in self.files)


def _counted(files: Iterable[Iterable[tuple[str, Reason]]]) -> dict[bool, Counter[str]]:
    counted: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for reasons in files:
        for name, reason in reasons:
            counted[reason.damaged][name] += reason.count
    return counted
