"""Which lines of a session may be shown to anybody but the person.

What was excluded and not included again, and what was redacted, is left out. What only repeats
memory can be recognised, so that nothing is learned from it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from engramdown.transcripts.episode import Episode

# The key of a line whose content was replaced.
REDACTED: Final = "redacted"


class Excluded(NamedTuple):
    """The excluded parts of a session.

    Attributes:
        whole: Whether all of it is.
        seqs: The lines that are.
    """

    whole: bool
    seqs: frozenset[int]


def excluded(episodes: Iterable[Episode]) -> Excluded:
    """Return what the events among ``episodes`` exclude, the last word counting."""
    whole, seqs = False, frozenset[int]()
    for event in episodes:
        away, of = read_mark(event)
        if away is None:
            continue
        if of is None:
            whole, seqs = away, seqs if away else frozenset()
        else:
            seqs = seqs | set(of) if away else seqs - set(of)
    return Excluded(whole, seqs)


def visible(episodes: Iterable[Episode]) -> list[Episode]:
    """Return the episodes that may be shown, without events."""
    found = list(episodes)
    whole, seqs = excluded(found)
    return [
        each
        for each in found
        if not (whole or each.role == "event" or each.seq in seqs or REDACTED in each.more)
    ]


# Nobody else has tools of these names.
_OURS = ("recall", "recall_topic", "recall_skill", "search_journals")
# How the names of our tools end that only return memory.
LOOKS: Final = (*_OURS, "review", "grep", "describe", "expand")

_LARGEST = 0xFFFFFFFF
_TOOLS = ("tool_call", "tool_result")
_NO_ECHO = ("user", "assistant", "event")

# The text shown instead of recalled memory to jobs that learn from a transcript.
LOOKED_UP: Final = "(memory was looked up)"


def read_mark(event: Episode) -> tuple[bool | None, list[int] | None]:
    """Read an event.

    Returns:
        Whether it takes out (``True``), brings back (``False``) or neither (``None``); and the
        numbers of the lines it speaks of, ``None`` for the whole session.

    >>> read_mark(Episode(seq=9, ts="", id="", role="event", event="exclude", more={"of": [3, 4]}))
    (True, [3, 4])
    """
    of = event.more.get("of")
    if event.event not in ("exclude", "include", "redact") or (event.event, of) == ("redact", None):
        return None, None
    away = event.event != "include"
    if of is None:
        return away, None
    seqs = [seq for seq in of if type(seq) is int] if isinstance(of, list) else []
    return away, [seq for seq in seqs if 0 <= seq <= _LARGEST]


def repeats_memory(episode: Episode) -> bool:
    """Whether an episode only repeats memory, and so brings nothing new.

    That is what a tool gave back with pointers to what it recalled, and whatever our own tools
    that begin with ``recall`` and ``search_journals`` were asked and gave back; hosts may put
    ``engramdown`` before their names. Other programs have a ``grep`` or a ``review``, too: such a
    tool is ours if ``engramdown`` stands before its name.
    """
    name = episode.name
    if episode.role in _TOOLS and name.endswith(LOOKS) and (name in _OURS or "engramdown" in name):
        return True
    return bool(episode.recalled) and episode.role not in _NO_ECHO


def without_repeats(episode: Episode) -> Episode:
    """Return an episode without what it only repeats: nothing is to be learned from that."""
    repeats = episode.role == "tool_result" and repeats_memory(episode)
    return episode._replace(text=LOOKED_UP) if repeats else episode
