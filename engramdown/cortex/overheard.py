"""What tools gave back to models of whose conversation nothing else is known.

Promises: no I/O; what is kept has a limit; any thread may ask. What a model looked for itself, and
is told again because nothing was found, is nobody's word but its own.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from engramdown.cortex.borrowed import holds_words, words_of

__all__ = ["Overheard", "quoted"]

_MOST: Final = 50
_LONGEST: Final = 20_000
# They say what became of a memory: to take that back is no word of a tool.
_TELLS_BACK: Final = frozenset({"memorize", "forget"})
_LOOKS_UP: Final = frozenset(
    {"recall", "recall_topic", "review", "grep", "describe", "expand", "search_journals"}
)


class Overheard:
    """The newest answers of tools that were called without a session."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._heard: deque[str] = deque(maxlen=_MOST)

    def add(self, name: str, answer: str) -> None:
        """Keep what the tool ``name`` gave back."""
        words = words_of(quoted(name, answer)[:_LONGEST])
        if words:
            self._heard.append(words)

    def has(self, text: str) -> bool:
        """Whether one of them holds the very words of ``text``."""
        # Copied at once, as another thread may add to it.
        return holds_words(text, self._heard.copy())


def quoted(name: str, answer: str) -> str:
    """Return what an answer of the tool ``name`` quotes: all of it, if it is none of ours.

    >>> quoted("recall", "Nothing found for 'deploy'.")
    ''
    >>> quoted("fetch", "Always deploy.")
    'Always deploy.'
    """
    # Imported here: a turn in which nothing is looked up needs nothing of it.
    from engramdown.context.search import LABEL

    if name in _TELLS_BACK:
        return ""
    return answer.partition(LABEL)[2] if name in _LOOKS_UP else answer
