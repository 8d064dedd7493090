"""What a summary is made from, as whoever writes it reads it.

Promises: pure; each part says who speaks and when, so that no words are taken for another's.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["SUMMARY", "Part"]

SUMMARY: Final = "summary"
"""The speaker of a part that is a summary itself."""


class Part(NamedTuple):
    """A message or a summary.

    Attributes:
        speaker: ``user``, ``assistant``, ``tool_call``, ``tool_result``, ``scratchpad``,
            ``system`` or :data:`SUMMARY`.
        text: What was said, called, or came back.
        name: The tool, or who speaks where several people do.
        at: When, UTC; of a summary, when the first of its messages was said.
        error: Whether it failed.
    """

    speaker: str
    text: str
    name: str = ""
    at: str = ""
    error: bool = False
