r"""Writes memories into a prompt as data that can forge nothing.

The results contain no control character but ``\n`` and tab, nothing that some program takes for a
line break, no terminal escape and no hidden character, and can be written as UTF-8. Only the first
line of a :func:`bullet` is at column 0, so that no text can begin a heading, an item or a section
of its own; a :func:`quoted` text is on one line and closes nothing. Emoji with joiners, flags, and
scripts written from right to left stay as they are. Linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from engramdown.language.characters import visible

# The line on which a paragraph starts, from 1, and its text.
Paragraph = tuple[int, str]

# Line breaks for some programs but not for us; they become spaces.
_BREAK: Final = re.compile("[\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_PLAIN_WORD: Final = re.compile(r"(?:~?\w[\w.:#@/+-]{0,80})?\Z")
_HEADING: Final = re.compile(r"(#{1,6}+)(?=[ \t]|\Z)")
# A person's headings go two levels below the heading of their section.
_LEVELS_DOWN: Final = 2
_LOWEST: Final = 6
_BRIEF: Final = 60


def inert(text: str) -> str:
    """Return ``text`` with everything visible that could act on a reader or a terminal.

    >>> inert(chr(0x1B) + "[2J" + chr(0x2028) + "c")
    '␛[2J c'
    """
    if text.isascii() and text.isprintable():
        return text
    return visible(_BREAK.sub(" ", text.replace("\r\n", "\n")))


def bullet(text: str) -> str:
    r"""Return ``text`` as a list item, further lines indented below the first.

    >>> bullet("one\n## Always\n\n- two")
    '- one\n  ## Always\n\n  - two'
    """
    first, *more = inert(text).strip().split("\n")
    return "\n".join([f"- {first}", *(f"  {line}" if line.strip() else "" for line in more)])


def quoted(text: str) -> str:
    r"""Return ``text`` as a JSON string that closes no tag; a plain word stays as it is.

    >>> print(quoted("k3v9q2ht"), quoted("one\n</two>"))
    k3v9q2ht "one\n<\/two>"
    """
    if _PLAIN_WORD.match(text):
        return text
    return json.dumps(inert(text), ensure_ascii=False).replace("</", "<\\/")


def one_line(text: str) -> str:
    r"""Return ``text`` as one line.

    >>> one_line("Style\n  of code")
    'Style of code'
    """
    return " ".join(inert(text).split())


def heading(text: str) -> str:
    r"""Return a heading of a person's file as one line without comments: private notes.

    >>> heading("Style <!-- mine --> of code")
    'Style of code'
    """
    return one_line("".join(said for said, _ in _around_comments(text)))


def paragraphs(document: str) -> list[Paragraph]:
    """Return the paragraphs of a person's own page, as data and without its private notes.

    Its headings go two levels down, below the heading of the section of the page, and stay with the
    paragraph that follows; headings that nothing follows are left out.
    """
    # Without its comments, and with every line still in its place.
    pieces = (text + "\n" * note.count("\n") for text, note in _around_comments(document))
    result: list[Paragraph] = []
    waiting: list[str] = []
    start, lines = 0, list[str]()
    for number, line in enumerate([*inert("".join(pieces)).split("\n"), ""], 1):
        if line.strip():
            start = start or number
            lines.append(_lowered(line.rstrip()))
        elif lines:
            if all(map(_HEADING.match, lines)):
                waiting += [*lines, ""]
            else:
                result.append((start, "\n".join([*waiting, *lines])))
                waiting = []
            start, lines = 0, []
    return result


def _lowered(line: str) -> str:
    found = _HEADING.match(line)
    if found is None:
        return line
    level = min(len(found[1]) + _LEVELS_DOWN, _LOWEST)
    return "#" * level + line[found.end() :]


def _around_comments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of text, each with the comment behind it; an open comment is text."""
    at = 0
    while True:
        start = text.find("<!--", at)
        end = text.find("-->", start + 4) if start >= 0 else -1
        if end < 0:
            yield text[at:], ""
            return
        yield text[at:start], text[start : end + 3]
        at = end + 3


def json_object(text: str | bytes | bytearray) -> dict[str, Any] | None:
    """Return the JSON object that a text of somebody else's is, or ``None``.

    >>> json_object('{"code": "1/0"}'), json_object("[1]"), json_object("[" * 100_000)
    ({'code': '1/0'}, None, None)
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def brief_json(value: object) -> str:
    """Return a value of a program as JSON of at most 60 characters, to quote it in a message.

    A value that is not JSON (too deep, a circle, a number with thousands of digits) is named by its
    type.

    >>> brief_json({"limit": -1})
    '{"limit": -1}'
    """
    try:
        text = json.dumps(value, default=repr)
    except (ValueError, TypeError, RecursionError):
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"
