"""Earlier sessions as a model is reminded of them: the older, the shorter.

The newest session is an excerpt of what the user and the assistant said, the next three are a
paragraph, the others one line. A silence before a session is named, measured from the end of
whatever session came before it, shown or not. Everything is one line of text, cut between code
points. A transcript that cannot be read is passed over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from engramdown.episodes.card import Card, CardFiles, cut_at_word, one_line
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import EngramdownError
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import Episode
from engramdown.transcripts.sessions import SessionInfo
from engramdown.transcripts.visibility import visible

# How many sessions are shown at most.
SESSIONS: Final = 20
# How many messages of the newest session are shown at most.
MESSAGES: Final = 50

# How many transcripts are read at most to find those in which something was said.
_READ: Final = 3 * SESSIONS
_PARAGRAPHS: Final = 3
_SHOWN: Final = 200
_GAP_MINUTES: Final = 30
# Name, minutes, and from how many minutes on: a little less, as they are rounded.
_UNITS: Final = (("day", 1440, 1410), ("hour", 60, 59.5), ("minute", 1, 0))
_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierSession:
    """One earlier session; every text is one line.

    Attributes:
        session: Its id.
        started: When it began, as a person reads it, in UTC.
        title: What to call it, if the rest does not begin with that.
        text: What it was about, if there are no messages.
        messages: What was said last in it, oldest first, each ``(speaker, text)``.
        line: What it was about, as short as it is known.
        gap: How long nothing happened before it: ``3 days later``, or ``""``.
    """

    session: str
    started: str
    title: str = ""
    text: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    line: str = ""
    gap: str = ""


def eligible(sessions: Iterable[SessionInfo], before: str = "") -> list[SessionInfo]:
    """Return the sessions that may be shown, newest first.

    These have ended, before ``before`` (a time as in a line) unless that is ``""``, and were begun
    by no other session, whose own lines say what came of them.
    """
    found = [
        each
        for each in sessions
        if each.ended and not each.parent and (not before or each.ended < before)
    ]
    return sorted(found, key=_key, reverse=True)


def gap_before(session: SessionInfo, sessions: Iterable[SessionInfo]) -> str:
    """Return how long nothing happened before a session, given all there are.

    It is ``""`` for less than half an hour, and for the first session.
    """
    ends = [other.last for other in sessions if _key(other) < _key(session)]
    if not ends:
        return ""
    silence = datetime.fromisoformat(session.started) - datetime.fromisoformat(max(ends))
    minutes = silence.total_seconds() / 60
    if minutes < _GAP_MINUTES:
        return ""
    name, size = next((name, size) for name, size, least in _UNITS if minutes >= least)
    count = round(minutes / size)
    return f"{count} {name}{'' if count == 1 else 's'} later"


def summarized(
    session: SessionInfo, card: Card, episodes: Sequence[Episode], rank: int
) -> EarlierSession | None:
    """Return an earlier session at its grade; ``None`` if nothing was said that counts.

    Args:
        session: Which one it is.
        card: What it was about.
        episodes: All its lines.
        rank: How many newer ones are shown.
    """
    said = [each for each in visible(episodes) if each.role in ("user", "assistant")]
    if not said:
        return None
    messages = tuple(
        (one_line(each.name) or each.role, _cut(one_line(each.text)))
        for each in (said[-MESSAGES:] if rank == 0 else ())
    )
    line = one_line(card.one_liner or card.title)
    text = "" if messages else one_line(card.paragraph) if 0 < rank <= _PARAGRAPHS else line
    title = one_line(card.title)
    # What begins with its title need not say it twice.
    is_said = (messages[0][1] if messages else text).startswith(title.rstrip(_ELLIPSIS))
    return EarlierSession(
        session=session.id,
        started=f"{session.started[:10]} {session.started[11:16]} UTC",
        title="" if is_said else title,
        text=text,
        messages=messages,
        line=line,
    )


def shortened(past: EarlierSession) -> EarlierSession | None:
    """Return an earlier session with less of it, in the end its time only; then ``None``.

    A quarter of the messages goes first, the oldest; of the words, the second half.
    """
    if past.messages:
        kept = len(past.messages) * 3 // 4
        left = past.messages[len(past.messages) - kept :]
        return replace(past, messages=left, text="" if kept else past.line)
    if past.text:
        half = len(past.text) // 2
        return replace(past, title="", text=cut_at_word(past.text, half) if half else "")
    return replace(past, title="") if past.title else None


def _key(session: SessionInfo) -> tuple[str, str]:
    return session.started, session.id


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + _ELLIPSIS


def earlier(memory: EpisodicMemory, running: str = "") -> list[EarlierSession]:
    """Return earlier sessions, newest first.

    Args:
        memory: The transcripts.
        running: The id of the session that runs: what ended after it began is left out, so that it
            sees the same when it goes on in another process.
    """
    try:
        sessions = memory.sessions()
    except (OSError, EngramdownError):
        return []
    pages = CardFiles(memory.folder.parent, Disk())
    before = next((each.started for each in sessions if each.id == running), "")
    found: list[EarlierSession] = []
    for info in eligible(sessions, before)[:_READ]:
        with contextlib.suppress(OSError, EngramdownError):
            transcript = memory.session(info.id)
            past = summarized(info, pages.card(transcript), transcript.episodes, len(found))
            if past is not None:
                found.append(replace(past, gap=gap_before(info, sessions)))
        if len(found) == SESSIONS:
            break
    return found
