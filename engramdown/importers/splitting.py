r"""Takes files apart: lines of JSONL, elements of a JSON list.

Promises: one line or element is held at a time, however long the file; nothing has a length limit;
what is no JSON has its place and a reason; the time grows linearly with the bytes. Only ``\n`` ends
a line.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from engramdown.importers.records import Record, Skipped

__all__ = ["elements", "is_document", "is_list", "parse"]

_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
_NO_JSON: Final = "is not JSON"
_CUT_OFF: Final = "the rest of the file is not JSON"
# Of the text that was read already, as much is kept before the rest is moved to the front.
_TRIM: Final = 1 << 20


def is_list(beginning: bytes) -> bool:
    """Whether a file that begins so is a JSON list."""
    return beginning.removeprefix(_MARK).lstrip()[:1] == b"["


def is_document(first_line: bytes) -> bool:
    """Whether the first line is only the beginning of one JSON value, laid out for a person."""
    return first_line.rstrip()[-1:] in (b"{", b"[", b",")


def parse(line: bytes, number: int, offset: int) -> Record | Skipped | None:
    """Return what stands in a line; ``None`` if nothing does.

    Bytes that are no UTF-8 become U+FFFD.
    """
    text = line.removeprefix(_MARK).decode("utf-8", "replace")
    if not text.strip():
        return None
    try:
        return Record(number, offset, json.loads(text))
    except (ValueError, RecursionError):
        return Skipped(number, _NO_JSON, damaged=True)


def elements(pieces: Iterable[bytes]) -> Iterator[Record | Skipped]:
    """Yield the elements of a JSON list whose bytes come in pieces, each as soon as it is whole.

    A value that is no list is its only element, or, if it holds a list ``conversations``, that.
    """
    text = _Text(pieces)
    if not text.begins_with("["):
        yield from _document(text.rest())
        return
    text.at += 1
    count = 0
    while text.peek() not in ("]", ""):
        count += 1
        found, value = text.value()
        if not found:
            yield Skipped(count, _CUT_OFF, damaged=True)
            return
        yield Record(count, count, value)
        if text.peek() not in (",", "]"):
            yield Skipped(count + 1, _CUT_OFF, damaged=True)
            return
        text.at += text.peek() == ","
    if text.peek() == "":
        yield Skipped(count + 1, _CUT_OFF, damaged=True)


def _document(text: str) -> Iterator[Record | Skipped]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield Skipped(1, _NO_JSON, damaged=True)
        return
    inner = value.get("conversations") if isinstance(value, dict) else None
    for place, element in enumerate(inner if isinstance(inner, list) else [value], 1):
        yield Record(place, place, element)


class _Text:
    """Text that comes in pieces, and a place in it."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text = ""
        self.at = 0

    def begins_with(self, char: str) -> bool:
        """Whether the next character that is not blank is ``char``."""
        return self.peek() == char

    def peek(self) -> str:
        """Return the next character that is not blank, or ``""`` at the end."""
        self._skip_blank()
        while self.at == len(self._text) and self._more(1):
            self._skip_blank()
        return self._text[self.at : self.at + 1]

    def value(self) -> tuple[bool, Any]:
        """Read the next value; the first of the pair is whether there was one."""
        self._skip_blank()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self.at)
            except (ValueError, RecursionError):
                # Twice as much as before, so that trying again costs no more than reading once.
                if not self._more(len(self._text) - self.at):
                    return False, None
                continue
            self.at = end
            return True, value

    def rest(self) -> str:
        """Return everything from here on."""
        parts = [self._text[self.at :], *map(self._decoder.decode, self._pieces)]
        return "".join([*parts, self._decoder.decode(b"", final=True)])

    def _skip_blank(self) -> None:
        found = _BLANK.match(self._text, self.at)
        self.at = found.end() if found else self.at

    def _more(self, least: int) -> bool:
        """Take in at least so many characters more; whether there were any."""
        if self.at > _TRIM and self.at > len(self._text) // 2:
            self._text, self.at = self._text[self.at :], 0
        parts, count = [], 0
        for piece in self._pieces:
            parts.append(self._decoder.decode(piece))
            count += len(parts[-1])
            if count >= max(least, 1):
                break
        self._text += "".join(parts)
        return count > 0
