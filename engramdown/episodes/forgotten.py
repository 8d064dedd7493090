"""What was taken back of a session, or would be.

Promises: a plain value; it holds no content.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engramdown.transcripts.episode import Pointer

__all__ = ["Forgotten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was taken back, or would be.

    Attributes:
        action: ``exclude``, ``include``, ``redact``, ``hide`` or ``purge``.
        session: The id of the session.
        seqs: The lines; none for the whole session.
        changed: Whether there was anything to do.
        files: The files that are removed, or lose what they held.
        card: The person's own page about the session, which is not touched by a redaction.
        notes: What an agent noted on it, which is not either.
        quoted: Where a recall has shown these lines to a model, and they may stand again.
        running: Whether a program has the session open.
    """

    action: str
    session: str
    seqs: tuple[int, ...] = ()
    changed: bool = True
    files: tuple[Path, ...] = ()
    card: Path | None = None
    notes: Path | None = None
    quoted: tuple[Pointer, ...] = ()
    running: bool = False
