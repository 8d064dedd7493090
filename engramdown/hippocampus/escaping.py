r"""How any text stands inside a markdown list item, and how it comes back.

Promises: ``unescape(escape(text)) == text`` for every string; nothing that :func:`escape` returns
opens or closes an HTML comment, begins or ends with white space, ends one of its lines with white
space, or holds a character that some program takes for a line break. Linear time.

Only what must be escaped is: ``<!--`` becomes ``\<!--``, ``-->`` becomes ``--\>`` (as CommonMark
allows), and control characters and white space at an edge become numeric references (``&#32;``).
Backslashes are doubled only where they stand in front of one of these.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["escape", "unescape"]

# Possessive quantifiers, and a run of backslashes is entered only at its start: nothing backtracks.
_RUN: Final = r"(?<!\\)(\\*+)"
_UNSAFE: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_EDGE: Final = r"\A\s|[^\S\n](?=\n|\Z)|\n\Z"
_REFERENCE: Final = r"&#[0-9]{1,7}+;"
_TO_ESCAPE: Final = rf"{_RUN}(?:(<!(?=--)|{_REFERENCE})|({_EDGE}|{_UNSAFE}))|(?<=--)(\\*+)>"
_ESCAPED: Final = rf"{_RUN}(?:(<!(?=--))|({_REFERENCE}))|(?<=--)(\\++)>"
_LAST_CODE_POINT: Final = 0x10FFFF


def escape(text: str) -> str:
    r"""Return ``text`` as it may stand in a markdown list item.

    >>> escape("close with --> \x1b"), escape("tail ")
    ('close with --\\> &#27;', 'tail&#32;')
    """
    return _compiled(_TO_ESCAPE).sub(_escape_match, text)


def unescape(text: str) -> str:
    r"""Return what was escaped.

    >>> unescape("close with --\\> &#27;")
    'close with --> \x1b'
    """
    if "\\" not in text and "&#" not in text:
        return text
    return _compiled(_ESCAPED).sub(_unescape_match, text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Who only reads escapes nothing, and these take longer to compile than most files to read.
    return re.compile(pattern)


def _escape_match(match: re.Match[str]) -> str:
    run, literal, unsafe, arrow_run = match.groups()
    if arrow_run is not None:
        return f"{arrow_run * 2}\\>"
    if literal is not None:
        return f"{run * 2}\\{literal}"
    return f"{run * 2}&#{ord(unsafe)};"


def _unescape_match(match: re.Match[str]) -> str:
    run, opening, reference, arrow_run = match.groups()
    half = (arrow_run or run)[: len(arrow_run or run) // 2]
    escaped = len(arrow_run or run) % 2 == 1
    if arrow_run is not None:
        return f"{half}>" if escaped else match[0]
    if opening is not None:
        return f"{half}{opening}" if escaped else match[0]
    if escaped:
        return f"{half}{reference}"
    code = int(reference[2:-1])
    return f"{half}{chr(code)}" if code <= _LAST_CODE_POINT else match[0]
