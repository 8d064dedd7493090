"""What texts say, without a model: words, stems, dates, snippets, claims, hidden characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.language.characters import is_encodable as is_encodable
    from engramdown.language.characters import on_screen as on_screen
    from engramdown.language.characters import visible as visible
    from engramdown.language.meaning import Statements as Statements
    from engramdown.language.meaning import contradict as contradict
    from engramdown.language.meaning import says_again as says_again
    from engramdown.language.similarity import similarity_of as similarity_of
    from engramdown.language.untrusted import brief_json as brief_json
    from engramdown.language.untrusted import bullet as bullet
    from engramdown.language.untrusted import heading as heading
    from engramdown.language.untrusted import inert as inert
    from engramdown.language.untrusted import one_line as one_line
    from engramdown.language.untrusted import paragraphs as paragraphs
    from engramdown.language.words import STOP_WORDS as STOP_WORDS
    from engramdown.language.words import UNSPACED as UNSPACED
    from engramdown.language.words import is_inflected as is_inflected
    from engramdown.language.words import spaced as spaced
    from engramdown.language.words import word_key as word_key
    from engramdown.language.words import word_set as word_set

__getattr__, __dir__ = door(
    __name__,
    {
        "characters": ["is_encodable", "on_screen", "visible"],
        "meaning": ["Statements", "contradict", "says_again"],
        "similarity": ["similarity_of"],
        "untrusted": ["brief_json", "bullet", "heading", "inert", "one_line", "paragraphs"],
        "words": ["STOP_WORDS", "UNSPACED", "is_inflected", "spaced", "word_key", "word_set"],
    },
)
