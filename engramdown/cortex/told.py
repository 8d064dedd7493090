"""What is new in one session, as a job of sleep is given it.

Promises: pure; what is said to be a user's word was said by the one user of a session, not by an
assistant that began it, nor by one of several people.
"""

from __future__ import annotations

from typing import NamedTuple

from engramdown.transcripts.episode import Episode

__all__ = ["Told"]


class Told(NamedTuple):
    """What a job is given.

    Attributes:
        session: The id of the session.
        lines: Its lines that are new to the job and that nobody took out, in order.
        parent: The session that it was begun from, or ``""``.
    """

    session: str
    lines: tuple[Episode, ...]
    parent: str = ""

    def by_one_user(self) -> bool:
        """Whether whoever speaks as the user in it is the user."""
        names = {line.name for line in self.lines if line.role == "user"}
        return not self.parent and len(names) <= 1
