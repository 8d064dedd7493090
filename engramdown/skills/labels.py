"""Which skill is meant by words that are nearly its label.

Promises: no I/O; a label that is there is meant by itself; where two are as near, none is; what is
asked may be any text, and takes time by its first few characters only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from engramdown.skills.checking import LONGEST_LABEL

__all__ = ["label_of", "meant"]

_NO_LETTER: Final = re.compile(r"[^a-z0-9]+")
_NEAR: Final = 0.75
# A label that is so much nearer than the next one is meant.
_NEARER: Final = 0.08
_WORD: Final = 3


def label_of(text: str) -> str:
    """Return a text as a label is written: small letters and digits, hyphens for what is between.

    >>> label_of("  Release_Notes "), label_of("Änderungen"), label_of("???")
    ('release-notes', 'anderungen', '')
    """
    plain = unicodedata.normalize("NFKD", text[: 4 * LONGEST_LABEL]).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return _NO_LETTER.sub("-", plain).strip("-")[:LONGEST_LABEL].strip("-")


def meant(text: str, labels: Iterable[str]) -> str:
    """Return the one of ``labels`` that is meant, or ``""``.

    >>> meant("Release Notes", ["charts", "release-notes"])
    'release-notes'
    >>> meant("relase-notes", ["charts", "release-notes"]), meant("maps", ["charts"])
    ('release-notes', '')
    """
    known = sorted(set(labels))
    if text in known:
        return text
    asked = label_of(text)
    if not asked:
        return ""
    for is_meant in (_is_same, _has_words):
        found = [label for label in known if is_meant(asked, label)]
        if found:
            return found[0] if len(found) == 1 else ""
    return _nearest(asked, known)


def _is_same(asked: str, label: str) -> bool:
    return asked.replace("-", "") == label_of(label).replace("-", "")


def _has_words(asked: str, label: str) -> bool:
    """Whether a label has all the words that were asked for, be it in another order."""
    words = set(asked.split("-"))
    return len(asked) >= _WORD and words <= set(label_of(label).split("-"))


def _nearest(asked: str, known: list[str]) -> str:
    # Imported here: hardly ever is it needed.
    import difflib

    rated = sorted(
        ((difflib.SequenceMatcher(None, asked, label_of(label)).ratio(), label) for label in known),
        reverse=True,
    )
    (best, label), *rest = [*rated, (0.0, "")]
    is_clear = best >= _NEAR and (not rest or best - rest[0][0] >= _NEARER)
    return label if is_clear else ""
