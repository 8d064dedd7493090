"""What a line of a transcript shows of a text: the one place that redacts and cuts.

Promises: what a tool got or gave is cut between code points, and whole beside the line if the
settings say so; a secret is hidden in both; what a person or an assistant said is never cut.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engramdown.episodes.payloads import digest
from engramdown.settings import EpisodeSettings
from engramdown.transcripts.episode import cut

__all__ = ["TOOL_ROLES", "Shown", "hidden", "shown"]

TOOL_ROLES: Final = frozenset({"tool_call", "tool_result", "scratchpad"})
"""Whose lines show what a tool was given or gave back."""


class Shown(NamedTuple):
    """What becomes of a text.

    Attributes:
        text: What stands in the line.
        length: How long the whole was, in code points, if the line holds only its beginning.
        payload: The digest of the whole, and the whole, if it is to be kept beside the line.
    """

    text: str
    length: int | None = None
    payload: tuple[str, str] | None = None


def shown(role: str, text: str, settings: EpisodeSettings) -> Shown:
    """Return what a line of ``role`` shows of ``text``."""
    text = hidden(role, text, settings)
    if role not in TOOL_ROLES:
        return Shown(text)
    limit = settings.input_limit if role == "tool_call" else settings.output_limit
    beginning, length = cut(text, limit)
    keep = length is not None and settings.payloads == "keep"
    return Shown(beginning, length, (digest(text), text) if keep else None)


def hidden(role: str, text: str, settings: EpisodeSettings) -> str:
    """Return ``text`` without the secrets that ``settings`` hide in a line of ``role``."""
    if text and (settings.redact == "all" or (settings.redact == "tools" and role in TOOL_ROLES)):
        # Imported here: nothing is recorded by most commands.
        from engramdown.secrets.redaction import redact

        return redact(text)
    return text
