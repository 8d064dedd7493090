"""Which memories ``engramdown list`` shows.

Promises: pure; an empty filter lets everything pass.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date

from engramdown import Entry
from engramdown.engram import slug


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a memory must be to be shown; the values of one field are alternatives.

    Attributes:
        kind: Its kind is one of these.
        scope: Its scope is one of these.
        confidence: Its confidence is one of these.
        source: Its source is one of these.
        topic: It is filed under this topic.
        older: It was written more than so many days ago.
        newer: It was written at most so many days ago.
    """

    kind: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    confidence: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    topic: str = ""
    older: int | None = None
    newer: int | None = None

    def __bool__(self) -> bool:
        """Return whether it keeps anything out."""
        return any(getattr(self, field.name) not in ((), "", None) for field in fields(self))

    def passes(self, entry: Entry, today: date) -> bool:
        """Return whether ``entry`` is to be shown; one without a date has no age."""
        choices = (
            (self.kind, entry.kind),
            (self.scope, entry.scope),
            (self.confidence, entry.confidence),
            (self.source, entry.source),
            ((slug(self.topic),) if self.topic else (), entry.topic),
        )
        if any(wanted and value not in wanted for wanted, value in choices):
            return False
        if self.older is None and self.newer is None:
            return True
        age = age_of(entry, today)
        return age is not None and self._fits(age)

    def _fits(self, age: int) -> bool:
        old_enough = self.older is None or age > self.older
        return old_enough and (self.newer is None or age <= self.newer)


def age_of(entry: Entry, today: date) -> int | None:
    """Return how many days ago a memory was written, or ``None`` when that is not known."""
    try:
        return (today - date.fromisoformat(entry.ts)).days
    except ValueError:
        return None
