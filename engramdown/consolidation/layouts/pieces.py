"""What one stretch of markdown says: its own words, its metadata, its context.

Promises: pure; the cost of every function grows with the length of its text, whatever stands there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

__all__ = ["after_comments", "date_in", "front_matter", "in_context", "metadata"]

_OPEN: Final = "<!--"
_CLOSE: Final = "-->"
_DATE: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_FIELD: Final = re.compile(r"([A-Za-z][A-Za-z_]{0,30}):(.*)")
_ENTRY: Final = re.compile(r"\s*-\s+(.*)")
_LONGEST_CONTEXT: Final = 100


def after_comments(text: str) -> tuple[str, str]:
    """Return ``text`` without its comments, and what stands in the one that ends it, or ``""``."""
    parts, last, at = [], "", 0
    while (start := text.find(_OPEN, at)) >= 0:
        end = text.find(_CLOSE, start + len(_OPEN))
        if end < 0:
            break
        parts.append(text[at:start].strip())
        at = end + len(_CLOSE)
        last = text[start + len(_OPEN) : end]
    rest = text[at:]
    return " ".join(filter(None, [*parts, rest.strip()])), "" if rest.strip() else last


def metadata(comment: str) -> Mapping[str, str]:
    """Return the pairs ``key:value`` of a comment; nothing if it is a note.

    >>> metadata(" confidence:high ts:2026-02-27 "), metadata(" see below ")
    ({'confidence': 'high', 'ts': '2026-02-27'}, {})
    """
    pairs = [word.partition(":") for word in comment.split()]
    if not all(key and colon for key, colon, _ in pairs):
        return {}
    return {key: value for key, _, value in pairs if value != "None"}


def date_in(text: str) -> str:
    """Return the first day that ``text`` names as ``YYYY-MM-DD``, or ``""``.

    >>> date_in("Notes of 2026-02-27"), date_in("2026-02-31")
    ('2026-02-27', '')
    """
    found = _DATE.search(text)
    try:
        return date.fromisoformat(found[0]).isoformat() if found else ""
    except ValueError:
        return ""


def in_context(text: str, context: str) -> str:
    """Return ``text`` behind what it stands below, if that is short.

    >>> in_context("run the linter", "Before pushing:")
    'Before pushing: run the linter'
    """
    words = context.rstrip(" :\uff1a.")
    if not words or len(words) > _LONGEST_CONTEXT:
        return text
    joint = "\n" if "\n" in text else " "
    return f"{words}:{joint}{text}"


def front_matter(lines: list[str]) -> tuple[Mapping[str, str], int]:
    """Return the fields of the front matter, and the number of lines that it takes."""
    if lines[0].strip() != "---":
        return {}, 0
    fields: dict[str, str] = {}
    key = ""
    for at, line in enumerate(lines[1:], 1):
        if line.strip() in ("---", "..."):
            return fields, at + 1
        found, entry = _FIELD.match(line), _ENTRY.match(line)
        if found:
            key = found[1]
            fields[key] = _bare(found[2])
        elif entry and key:
            fields[key] = ", ".join(filter(None, (fields[key], _bare(entry[1]))))
    return {}, 0


def _bare(value: str) -> str:
    return value.strip().strip("[]").replace('"', "").replace("'", "").strip()
