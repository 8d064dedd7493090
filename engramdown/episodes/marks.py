"""Which lines a person took out of recall, and brought back. No I/O.

Promises: what was redacted is out too, as there is nothing left in it to find.
"""

from __future__ import annotations

from typing import Final

from engramdown.transcripts.episode import Episode

__all__ = ["LOOKED_UP", "LOOKS", "echoes", "marked", "new_of"]

LOOKS: Final = (
    *("recall", "recall_topic", "recall_skill", "search_journals", "review"),
    *("grep", "describe", "expand"),
)
"""How the names of our tools end that give back what is known."""

_LARGEST = 0xFFFFFFFF
_TOOLS = ("tool_call", "tool_result")
_NO_ECHO = ("user", "assistant", "event")
# Nobody else has tools of these names.
_OURS = ("recall", "recall_topic", "recall_skill", "search_journals")

LOOKED_UP: Final = "(memory was looked up)"
"""What stands for what memory brought in, for whoever learns from a transcript."""


def marked(event: Episode) -> tuple[bool | None, list[int] | None]:
    """Read an event.

    Returns:
        Whether it takes out (``True``), brings back (``False``) or neither (``None``); and the
        numbers of the lines it speaks of, ``None`` for the whole session.

    >>> marked(Episode(seq=9, ts="", id="", role="event", event="exclude", more={"of": [3, 4]}))
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


def echoes(episode: Episode) -> bool:
    """Whether an episode only repeats memory, so that it is no new experience.

    That is what a tool gave back with pointers to what it recalled, and whatever our own tools
    that begin with ``recall`` and ``search_journals`` were asked and gave back; hosts may put
    ``engramdown`` before their names. Other programs have a ``grep`` or a ``review``, too: such a
    tool is ours if ``engramdown`` stands before its name.
    """
    name = episode.name
    if episode.role in _TOOLS and name.endswith(LOOKS) and (name in _OURS or "engramdown" in name):
        return True
    return bool(episode.recalled) and episode.role not in _NO_ECHO


def new_of(episode: Episode) -> Episode:
    """Return an episode without what it only repeats, so that nothing is learned from it again."""
    repeats = episode.role == "tool_result" and echoes(episode)
    return episode._replace(text=LOOKED_UP) if repeats else episode
