"""What texts say, without a model: words, stems, dates, snippets, claims, hidden characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.language.characters import on_screen, visible
    from engramdown.language.similarity import similarity_of
    from engramdown.language.untrusted import bullet, heading, inert, one_line, paragraphs
    from engramdown.language.words import (
        STOP_WORDS,
        UNSPACED,
        is_inflected,
        spaced,
        word_key,
        word_set,
    )

__all__ = [
    "STOP_WORDS",
    "UNSPACED",
    "bullet",
    "heading",
    "inert",
    "is_inflected",
    "on_screen",
    "one_line",
    "paragraphs",
    "similarity_of",
    "spaced",
    "visible",
    "word_key",
    "word_set",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "characters": ["on_screen", "visible"],
        "similarity": ["similarity_of"],
        "untrusted": ["bullet", "heading", "inert", "one_line", "paragraphs"],
        "words": ["STOP_WORDS", "UNSPACED", "is_inflected", "spaced", "word_key", "word_set"],
    },
)
