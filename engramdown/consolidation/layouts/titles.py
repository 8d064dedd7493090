"""What the headings say of what stands below them: rules of which kind, and in which case.

Promises: pure; a statement that is taken out of its section says by itself what it said there.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.consolidation.layouts.walk import Heading, Statement
from engramdown.engram import Kind

__all__ = ["kind_below", "said_below"]

_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("always", re.compile(r"(?:always|must|do's|dos)(?: do)?\Z")),
    ("never", re.compile(r"(?:never|don'?ts?|do not|must not|avoid)(?: do)?\Z")),
    ("when", re.compile(r"(?:when|whenever|if)\b")),
)
_FORBIDDING: Final = re.compile(r"(?:never|no|not|don['\u2019]?t|do not|avoid)\b", re.IGNORECASE)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST: Final = 2_000


def kind_below(statement: Statement) -> Kind | None:
    """Return the kind of rule that the nearest heading of one says, if there is any."""
    kinds = map(_kind, reversed(statement.headings))
    return next((kind for kind in kinds if kind is not None), None)


def said_below(statement: Statement, *, in_words: bool) -> str:
    """Return the words of a statement behind the case that its heading names.

    Args:
        statement: The statement.
        in_words: Whether what a heading forbids is to be said in words, too.
    """
    case, text = _case(statement), statement.whole
    if in_words and kind_below(statement) == "never" and not _FORBIDDING.match(text):
        return f"never {_in_a_sentence(text)}"
    if case:
        return f"{_in_a_sentence(case) if in_words else case}: {text}"
    return text


def _kind(heading: Heading) -> Kind | None:
    words = heading.title.replace("\u2019", "'").casefold().strip(" :*_!.")
    return next((kind for kind, pattern in _KINDS if pattern.match(words)), None)


def _case(statement: Statement) -> str:
    """Return the case that a heading names: "When deploying"."""
    titles = (each.title.strip(" :*_") for each in reversed(statement.headings) if _kind(each))
    title = next(titles, "")
    is_case = " " in title and _kind(Heading(1, title)) == "when" and not _SURROGATE.search(title)
    return title if is_case and len(title) <= _LONGEST else ""


def _in_a_sentence(text: str) -> str:
    """Return words without the capital that only begins a sentence.

    >>> _in_a_sentence("Push to main"), _in_a_sentence("CI on Fridays"), _in_a_sentence("A tag")
    ('push to main', 'CI on Fridays', 'a tag')
    """
    is_word = text[1:2].islower() or text[1:2].isspace()
    return text[:1].lower() + text[1:] if is_word else text
