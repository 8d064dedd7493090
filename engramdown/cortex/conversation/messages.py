"""A message of a conversation as a model is shown it, and what that costs.

Promises: pure; one function says what anything costs, both when it is decided whether to summarise
and when a prompt is put together. What a tool gave back in a turn that is over, and is longer than
:data:`LARGE`, is shown as a placeholder that says where the whole stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from engramdown.consolidation.summaries import Item, format_summary
from engramdown.language.untrusted import one_line
from engramdown.transcripts.episode import Episode, Pointer
from engramdown.transcripts.summary_log import Gist

__all__ = [
    "FRAME",
    "LARGE",
    "ROLES",
    "Count",
    "Said",
    "gist_item",
    "placeholder",
    "said",
    "said_item",
]

LARGE: Final = 2_000
"""So many tokens the result of a tool may have after its turn."""
ROLES: Final = frozenset({"user", "assistant", "system", "tool_call", "tool_result", "scratchpad"})
"""What is said in a conversation; other lines are about it."""

Count = Callable[[str], int]
"""Says how many tokens a text costs; never more for a joined text than for its parts."""

FRAME: Final = 4
"""What a provider adds to each message, about, in tokens."""


class Said(NamedTuple):
    """A message.

    Attributes:
        episode: Its line.
        text: All of it, but of a large result what the line shows.
        tokens: What all of it costs.
        brief: What it costs in a turn that is over.
    """

    episode: Episode
    text: str
    tokens: int
    brief: int

    @property
    def is_large(self) -> bool:
        """Whether it is shown as a placeholder once its turn is over."""
        return self.brief < self.tokens


def said(session: str, episode: Episode, whole: Callable[[Episode], str], count: Count) -> Said:
    """Return the message of a line.

    Args:
        session: The id of the session.
        episode: The line.
        whole: Returns all of what a line shows cut.
        count: Says what a text costs.
    """
    text = whole(episode) if episode.payload else episode.text
    cost = FRAME + count(text) + (count(episode.name) if episode.name else 0)
    if episode.role != "tool_result" or cost - FRAME <= LARGE:
        return Said(episode, text, cost, cost)
    brief = FRAME + count(placeholder(session, episode, cost)) + count(episode.name)
    return Said(episode, episode.text, cost, min(brief, cost))


def placeholder(session: str, episode: Episode, tokens: int) -> str:
    """Return what stands in the place of a message that is too long to be shown again.

    >>> done = Episode(4, "2026-03-01T10:15:00.000000Z", "", "tool_result", "…", "shell")
    >>> placeholder("s1", done, 5000)
    '[shell gave about 5,000 tokens at 2026-03-01 10:15; read them with expand, id s1#4]'
    """
    who = one_line(episode.name) or episode.role.replace("_", " ")
    failed = " and failed" if episode.error else ""
    gave = "gave" if episode.role == "tool_result" else "has"
    at = episode.ts[:16].replace("T", " ")
    return (
        f"[{who} {gave} about {tokens:,} tokens at {at}{failed}; read them with expand, "
        f"id {Pointer(session, episode.seq)}]"
    )


def said_item(message: Said, *, is_over: bool) -> Item:
    """Return a message as far as it matters for what becomes of it."""
    episode, _, tokens, brief = message
    return Item(episode.seq, brief if is_over else tokens, episode.role, episode.name, episode.call)


def gist_item(session: str, gist: Gist, count: Count) -> Item:
    """Return a gist as far as it matters for what becomes of it."""
    cost = FRAME + count(format_summary(gist, session))
    return Item(gist.id, cost, gist.form, depth=gist.depth)
