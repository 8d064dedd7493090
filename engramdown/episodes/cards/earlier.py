"""The sessions before this one, read from the transcripts for a model to be reminded of.

Promises: reading creates nothing; a transcript that cannot be read is passed over, and nothing here
ends a turn; the same transcripts give the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from engramdown.episodes.card import CardFiles
from engramdown.episodes.cards.past import SESSIONS, Past, Span, eligible, gap_before, graded
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import EngramdownError
from engramdown.storage.disk import EpisodeDisk
from engramdown.transcripts.sessions import SessionInfo

__all__ = ["earlier"]

_READ: Final = 3 * SESSIONS
"""How many transcripts are read at most to find those in which something was said."""


def earlier(memory: EpisodicMemory, running: str = "", in_view: Iterable[str] = ()) -> list[Past]:
    """Return earlier sessions, newest first.

    Args:
        memory: The transcripts.
        running: The id of the session that runs: what ended after it began is not told, so that it
            is told the same when it goes on in another process.
        in_view: The ids of sessions that the model sees anyway.
    """
    try:
        spans = [_span(info) for info in memory.sessions()]
    except (OSError, EngramdownError):
        return []
    pages = CardFiles(memory.folder.parent, EpisodeDisk())
    before = next((span.started for span in spans if span.id == running), "")
    found: list[Past] = []
    for span in eligible(spans, before, (running, *in_view))[:_READ]:
        past = _told(memory, pages, span, len(found))
        if past is not None:
            found.append(replace(past, gap=gap_before(span, spans)))
        if len(found) == SESSIONS:
            break
    return found


def _told(memory: EpisodicMemory, pages: CardFiles, span: Span, rank: int) -> Past | None:
    try:
        transcript = memory.session(span.id)
        return graded(span, pages.card(transcript), transcript.episodes, rank)
    except (OSError, EngramdownError):
        return None


def _span(info: SessionInfo) -> Span:
    return Span(info.id, info.started, info.last, info.ended, info.parent)
