"""The comments inside an entry: which one is its metadata, and which are private.

Promises: pure and linear; a comment that is escaped, or stands in a code span, is part of the
text; metadata is found again after a person wrote something behind it.
"""

from __future__ import annotations

import re
from typing import Final

from engramdown.hippocampus.metadata import Metadata

__all__ = ["find_metadata", "spans", "trailing_span", "without"]

_OPEN: Final = "<!--"
_CLOSE: Final = "-->"
_SPACE: Final = " \t"
_ID: Final = re.compile(r"[0-9a-z]{8}")


def find_metadata(body: str) -> tuple[tuple[int, int], Metadata] | None:
    """Return where the metadata of an entry stands and what it says, or ``None``.

    It is the comment that ends the entry. If that is none, because a person went on writing behind
    it, the last comment with an id is: a line keeps its id through every edit.
    """
    trailing = trailing_span(body)
    if trailing is not None and (found := _inside(body, trailing)) is not None:
        return trailing, found
    if "id:" not in body:
        return None
    for span in reversed(spans(body)):
        found = _inside(body, span)
        if found is not None and _ID.fullmatch(found.get("id")):
            return span, found
    return None


def spans(body: str) -> list[tuple[int, int]]:
    """Return where the comments of an entry begin and end (exclusive), in order."""
    found: list[tuple[int, int]] = []
    ticks, counted, end = 0, 0, 0
    at = body.find(_OPEN)
    while at >= 0:
        end = body.find(_CLOSE, at + len(_OPEN)) if end < at + len(_OPEN) else end
        if end < 0:
            break
        ticks += body.count("`", counted, at)
        counted = at
        if _is_escaped(body, at) or ticks % 2:
            at = body.find(_OPEN, at + len(_OPEN))
            continue
        found.append((at, end + len(_CLOSE)))
        at = body.find(_OPEN, end + len(_CLOSE))
    return found


def without(body: str) -> str:
    """Return an entry without its comments, and without the blanks that they leave at a line end.

    A line that held nothing but a comment goes with it.
    """
    kept: list[str] = []
    start, line_is_empty = 0, True
    for begin, end in spans(body):
        piece = body[start:begin]
        following = body[end : end + 1]
        if following in ("\n", ""):
            piece = piece.rstrip(_SPACE)
        kept.append(piece)
        line_is_empty = piece.endswith("\n") or (line_is_empty and not piece)
        start = end + 1 if line_is_empty and following == "\n" else end
    return "".join([*kept, body[start:]])


def trailing_span(body: str) -> tuple[int, int] | None:
    """Return where the comment that ends ``body`` stands, or ``None``."""
    if not body.endswith(_CLOSE):
        return None
    inner = len(body) - len(_CLOSE)
    at = body.rfind(_OPEN, 0, inner)
    if at < 0 or body.find(_CLOSE, at + len(_OPEN)) != inner or _is_escaped(body, at):
        return None
    return at, len(body)


def _inside(body: str, span: tuple[int, int]) -> Metadata | None:
    return Metadata.parse(body[span[0] + len(_OPEN) : span[1] - len(_CLOSE)])


def _is_escaped(text: str, at: int) -> bool:
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1
