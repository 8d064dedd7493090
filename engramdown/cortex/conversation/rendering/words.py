"""The few words that a renderer adds of its own.

Promises: pure; the same in every prompt, so that they change none.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EMPTY", "FAILED", "GOES_ON", "SYSTEM"]

EMPTY: Final = "(nothing was said yet)"
"""In the place of a conversation without a message."""
GOES_ON: Final = "(the conversation goes on here)"
"""Before words of an assistant, where the user has to speak first."""
FAILED: Final = "(the tool failed)"
"""Before what a tool gave back, where nothing else can tell that it failed."""
SYSTEM: Final = "(from the system, not from the user)"
"""Before words of the system, where only the user and the assistant can speak."""
