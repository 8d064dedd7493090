"""What a model answered, before anything is made of it: it is anybody's text.

Promises: pure; an id counts only if it was given, a text only if it says something, hides nothing
and is no longer than allowed; what does not is told in words that quote no more of it than fits in
a line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from engramdown.language.characters import hidden_characters
from engramdown.language.untrusted import quoted

__all__ = ["LONGEST", "strange_ids", "text_problem"]

LONGEST: Final = 2000
"""How long a text may be that a model gives for one memory, in characters."""

_SHOWN: Final = 5
_BEGINNING: Final = 40


def strange_ids(ids: Iterable[str], given: Collection[str]) -> str:
    """Return which of the ``ids`` that a model named were not ``given`` to it, or ``""``.

    >>> strange_ids(["a1", "b2"], {"a1"}), strange_ids(["a1"], {"a1"})
    ('it names b2, which it was not given', '')
    """
    strange = [name for name in dict.fromkeys(ids) if name not in given]
    if not strange:
        return ""
    shown = ", ".join(quoted(name[:_BEGINNING]) or '""' for name in strange[:_SHOWN])
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    return f"it names {shown}{more}, which it was not given"


def text_problem(text: str, longest: int = LONGEST) -> str:
    """Return what is wrong with a text that a model gave for a memory, or ``""``.

    >>> text_problem("Use uv"), text_problem(" ")
    ('', 'its text says nothing')
    """
    if not text.strip():
        return "its text says nothing"
    if len(text) > longest:
        return f"its text has {len(text):,} characters; {longest:,} are allowed"
    hidden = hidden_characters(text)
    # Nobody can say yes to what cannot be seen.
    return f"its text holds a hidden character ({hidden[0][1]})" if hidden else ""
