"""What a model is shown of a conversation, item by item, whoever the provider is.

Promises: pure; an item is shown whole or as one line that says where the whole stands; which
message a placeholder stands for can always be told from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from engramdown.consolidation.summaries import format_summary
from engramdown.conversation.view import Said, placeholder
from engramdown.language.untrusted import one_line
from engramdown.transcripts.episode import Pointer
from engramdown.transcripts.summary_log import Gist, Source

__all__ = ["SUMMARY", "Shown", "ends", "gist_placeholder", "shown_gist", "shown_message"]

SUMMARY: Final = "summary"
"""The role of a summary."""


class Shown(NamedTuple):
    """An item of a conversation as a model is shown it.

    Attributes:
        source: The message, by its number in the transcript, or the summary, by its id.
        role: As in its line; :data:`SUMMARY` for a summary.
        text: What is shown: what was said, a summary as XML, or a placeholder.
        tokens: What it costs.
        name: The tool, or who speaks where several people do.
        call: What a tool call and its result have in common, or ``""``.
        error: ``True`` or a reason, if it failed.
        is_whole: Whether it is shown whole; a placeholder is not.
    """

    source: Source
    role: str
    text: str
    tokens: int = 0
    name: str = ""
    call: str = ""
    error: bool | str = False
    is_whole: bool = True


def shown_message(session: str, message: Said, tokens: int, *, is_whole: bool) -> Shown:
    """Return a message as it is shown.

    Args:
        session: The id of its session.
        message: The message.
        tokens: What it costs as it is shown.
        is_whole: Whether all of it is shown, or a placeholder.
    """
    episode, said, cost, _ = message
    text = said if is_whole else placeholder(session, episode, cost)
    return Shown(
        episode.seq, episode.role, text, tokens, episode.name, episode.call, episode.error, is_whole
    )


def shown_gist(session: str, gist: Gist, tokens: int) -> Shown:
    """Return a summary as it is shown."""
    return Shown(gist.id, SUMMARY, format_summary(gist, session), tokens)


def gist_placeholder(session: str, gist: Gist, span: tuple[int, int], tokens: int) -> str:
    """Return what stands in the place of a summary that is too long.

    Args:
        session: The id of its session.
        gist: The summary.
        span: The first and the last message that it stands for.
        tokens: What it costs.

    >>> told = Gist("g1", "", "leaf", 0, (4, 5), "…", 900)
    >>> gist_placeholder("s1", told, (4, 5), 900)
    '[summary g1 of s1#4 to s1#5 has about 900 tokens; read it with expand]'
    """
    which = one_line(gist.id)
    first, last = (Pointer(session, seq) for seq in span)
    said = f"[summary {which} of {first} to {last} has about {tokens:,} tokens"
    return f"{said}; read it with expand]"


def ends(gists: Mapping[str, Gist], source: Source) -> tuple[int, int]:
    """Return the first and the last message that an item stands for.

    >>> inner = Gist("g1", "", "leaf", 0, (4, 5), "", 0)
    >>> ends({"g1": inner, "g2": inner._replace(id="g2", sources=("g1", 6))}, "g2")
    (4, 6)
    """
    first = last = source
    while isinstance(first, str):
        first = gists[first].sources[0]
    while isinstance(last, str):
        last = gists[last].sources[-1]
    return first, last
