r"""A SKILL.md as it stands: front matter and body, read and edited without touching the rest.

Promises: no I/O; ``parse(x).render() == x`` for every ``x``; an edit of a value or of the body
changes the bytes of that and no others: comments, order, line ends, a byte order mark and keys that
nobody knows stay as they are. Only ``\n`` ends a line. What is longer than :data:`LONGEST_HEAD` is
no front matter that anybody wrote: no key of it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from engramdown.errors import InvalidSkillError
from engramdown.forks import cached_property
from engramdown.skills import scalars
from engramdown.skills.scalars import Scalar

__all__ = ["LONGEST_HEAD", "Key", "Page", "parse"]

LONGEST_HEAD: Final = 16 * 1024
"""How long a front matter may be that is read, in characters."""

_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_KEY: Final = re.compile(
    r"""(?:"([^"\\\n]*+)"|'([^'\n]*+)'|([^\s:#\[\]{},&*!|>'"%@`-](?:[^\s:#]|:(?=\S))*+))"""
    r"[ \t]*+:(?=[ \t\r\n])"
)
# What may stand at the begin of a line and belongs to the key before it.
_BELONGS: Final = re.compile(r"[ \t\r]|#|-(?=\s)|\Z")


class Key(NamedTuple):
    """A key of the front matter.

    Attributes:
        name: What it is called.
        line: Its line in the file, counted from 1.
        value: Its value.
    """

    name: str
    line: int
    value: Scalar


class Page:
    """The text of a SKILL.md, in four parts.

    Attributes:
        opening: The line that begins the front matter; ``""`` if there is none.
        head: The lines of the front matter.
        closing: The line that ends it.
        body: The rest: all of it, if there is no front matter.
    """

    def __init__(self, opening: str, head: str, closing: str, body: str) -> None:
        """Take the parts as they are."""
        self.opening = opening
        self.head = head
        self.closing = closing
        self.body = body

    def render(self) -> str:
        """Return the text."""
        return f"{self.opening}{self.head}{self.closing}{self.body}"

    @property
    def is_open(self) -> bool:
        """Whether a front matter begins that nothing ends."""
        return not self.opening and _OPENING.match(self.body) is not None

    @property
    def is_long(self) -> bool:
        """Whether the front matter is longer than what is read."""
        return len(self.head) > LONGEST_HEAD

    @property
    def body_line(self) -> int:
        """The line on which the body begins, counted from 1."""
        return f"{self.opening}{self.head}{self.closing}".count("\n") + 1

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the front matter, in their order."""
        return tuple(key for key, _ in self._found if key is not None)

    @property
    def strangers(self) -> list[int]:
        """The lines of the front matter that are no key and belong to none."""
        return [line for key, line in self._found if key is None]

    def get(self, name: str) -> Scalar | None:
        """Return the value of a key, the first one if it stands twice; ``None`` without it."""
        return next((key.value for key in self.keys if key.name == name), None)

    def text(self, name: str) -> str:
        r"""Return the text of a key, without the white space around it; ``""`` where there is none.

        >>> parse("---\nname: charts\n---\n").text("name")
        'charts'
        """
        value = self.get(name)
        return (value.text or "").strip() if value else ""

    def with_text(self, name: str, text: str) -> Page:
        """Return the page with another text for a key, which is added if it is missing.

        Raises:
            InvalidSkillError: If what stands there is no text that could be replaced.
        """
        if self.is_open:
            raise InvalidSkillError("front matter", "is not closed; end it with a line ---")
        if self.is_long:
            reason = f"has {len(self.head)} characters of {LONGEST_HEAD}; shorten it in the file"
            raise InvalidSkillError("front matter", reason)
        found = self.get(name)
        end = "\r\n" if self.opening.endswith("\r\n") else "\n"
        if found is None:
            line = f"{name}: {scalars.written(text)}{end}"
            # A list or a block may stand at the end, but never goes on with a key.
            opening, closing = self.opening or "---\n", self.closing or "---\n"
            return Page(opening, self.head + line, closing, self.body)
        if found.text is not None and found.text.strip() == text and not found.problem:
            return self
        if not found.spans:
            raise InvalidSkillError(name, f"{found.problem}; correct it in the file")
        return Page(self.opening, self._replaced(found, text), self.closing, self.body)

    def with_notes(self, name: str, notes: Mapping[str, str]) -> Page:
        """Return the page with a key that holds texts of its own, unless it has that key."""
        if self.get(name) is not None or not self.opening or self.is_long:
            return self
        end = "\r\n" if self.opening.endswith("\r\n") else "\n"
        lines = [f"{name}:", *(f"  {key}: {scalars.written(text)}" for key, text in notes.items())]
        head = self.head + "".join(f"{line}{end}" for line in lines)
        return Page(self.opening, head, self.closing, self.body)

    def with_body(self, body: str) -> Page:
        """Return the page with another body."""
        closing = self.closing
        if closing and body and not closing.endswith("\n"):
            closing += "\r\n" if self.opening.endswith("\r\n") else "\n"
        return Page(self.opening, self.head, closing, body)

    def _replaced(self, found: Scalar, text: str) -> str:
        """Return the front matter with ``text`` in the place of a value."""
        (first, last), *more = found.spans
        said = scalars.written(text)
        if self.head[first - 1] == ":":
            said = f" {said}"
        head = self.head
        for start, end in reversed(more):
            head = head[:start] + head[end:]
        return head[:first] + said + head[last:]

    @cached_property
    def _found(self) -> tuple[tuple[Key | None, int], ...]:
        """Each key with its line, and each line that is none as ``None``."""
        return () if self.is_long else tuple(self._scan())

    def _scan(self) -> Iterator[tuple[Key | None, int]]:
        at, first = 0, 2
        begun: tuple[re.Match[str], int] | None = None
        for number, line in enumerate(self.head.split("\n"), first):
            key = _KEY.match(self.head, at)
            if key is not None or not (_BELONGS.match(line) and (begun or line[:1] in "#\r")):
                if begun is not None:
                    yield self._key(*begun, at)
                begun = (key, number) if key is not None else None
                if key is None:
                    yield None, number
            at += len(line) + 1
        if begun is not None:
            yield self._key(*begun, len(self.head))

    def _key(self, found: re.Match[str], line: int, end: int) -> tuple[Key, int]:
        name = next(each for each in found.groups() if each is not None)
        return Key(name, line, scalars.read(self.head, found.end(), end)), line


def parse(text: str) -> Page:
    """Return the page that a text is."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Page("", "", "", text)
    head = text[opening.end() : closing.start()]
    return Page(opening[0], head, closing[0], text[closing.end() :])
