"""What recall finds: lines of transcripts, and what was said around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from engramdown.transcripts.episode import Pointer

Mode = Literal["best", "exact"]


class Hit(NamedTuple):
    """An episode that was found.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        time: When it was said, UTC, as it stands in the transcript.
        role: Who or what speaks.
        name: The tool or the speaker.
        text: What the line says.
        snippet: The piece of it around what was found.
        score: How well it answers; comparable within one recall only.
    """

    session: str
    seq: int
    time: str
    role: str
    name: str
    text: str
    snippet: str
    score: float

    @property
    def pointer(self) -> Pointer:
        """Where it stands, ``<session>#<seq>``."""
        return Pointer(self.session, self.seq)


class Hits(list[Hit]):
    """What was found.

    Attributes:
        notes: What could not be asked, and why.
    """

    notes: tuple[str, ...] = ()


class Message(NamedTuple):
    """An episode beside a hit.

    Attributes:
        session: The id of its session.
        seq: Its number there.
        time: When it was said, UTC.
        role: Who or what speaks.
        name: The tool or the speaker.
        text: What the line says, or its beginning.
        truncated: Whether that is not all.
    """

    session: str
    seq: int
    time: str
    role: str
    name: str
    text: str
    truncated: bool


class Context(NamedTuple):
    """What was said around a hit.

    Attributes:
        before: What was said before it, in its order.
        after: What was said after it.
        more_before: How many more messages belong to it before these.
        more_after: And after.
    """

    before: Sequence[Message]
    after: Sequence[Message]
    more_before: int
    more_after: int
