r"""The front matter of a page that people edit, too: a value is set, and nothing else is touched.

Promises: pure; ``split(x).render() == x`` for every ``x``; setting a value changes the bytes of
that value alone: comments, order, line ends, a byte order mark and keys that nobody knows stay. A
value in a form that is not ours is a person's, and stays. Where a person began a page without
front matter, there is none.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

__all__ = ["Front", "fold", "quoted", "split"]

_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?(?:\n|\Z)")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_KEY: Final = re.compile(r"[^\s:#\[\]{},&*!|>%@`-][^\n]*?:(?=[ \t\r]|\Z)")
# What may stand at the begin of a line and belongs to the key before it.
_BELONGS: Final = re.compile(r"[ \t\r]|-(?=[ \t\r]|\Z)|\Z")
_COMMENT: Final = re.compile(r"(?:\A|[ \t])#")
_QUOTED: Final = re.compile(
    r"""[ \t]*+(?:"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\n]++|'')*+'|\[[^\[\]\n]*+\])"""
)
_NUMBER: Final = re.compile(r"[0-9]+\Z")
_NESTED: Final = re.compile(r"[ \t]+\S|-[ \t]")
_LIST: Final = re.compile(r"\[[^\[\]\n]*+\]\Z")
_ITEM: Final = re.compile(
    r"(?:[ \t]*+#[^\n]*+\n|[ \t]*+\r?\n)*+(?P<dash>[ \t]*+-[ \t]++)(?P<item>[^\n]*+)"
)
_PIECE: Final = re.compile(
    r"""\s*+("(?:[^"\\]++|\\.)*+"|'(?:[^']++|'')*+'|[^,]*+)\s*+(?:,|\Z)|\s*+([^,]*+)(?:,|\Z)"""
)
# What YAML reads as itself, and as nothing but a text.
_PLAIN: Final = re.compile(r"[^\W\d_](?:[\w/+.-]| (?=[^\W\d_]))*\Z")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


class _Spot(NamedTuple):
    """Where a value stands, or could.

    Attributes:
        at: Behind the colon.
        start: The offset of its first character.
        end: The offset behind its last one.
        line_end: The offset of the end of its line.
    """

    at: int
    start: int
    end: int
    line_end: int


class Front(NamedTuple):
    """A text in four parts.

    Attributes:
        opening: The line that begins the front matter; ``""`` if there is none.
        head: The lines of the front matter.
        closing: The line that ends it.
        body: The rest: all of it, if there is no front matter.
    """

    opening: str
    head: str
    closing: str
    body: str

    def render(self) -> str:
        """Return the text."""
        return "".join(self)

    @property
    def is_open(self) -> bool:
        """Whether a front matter begins that nothing ends: what comes next might end it."""
        return not self.opening and _begun(self.body) and _closing(self.body) is None

    @property
    def line_end(self) -> str:
        """How the lines of the page end, as its first one does."""
        return "\r\n" if re.match(r"[^\n]*\r\n", self.opening or self.body) else "\n"

    def get(self, key: str) -> str:
        r"""Return the value that stands on the line of a key, as a text; ``""`` without it.

        >>> split("---\ndate: 2026-02-27 # Friday\n---\n").get("date")
        '2026-02-27'
        """
        return _scalar(self._value(key))

    def items(self, key: str) -> tuple[str, ...]:
        r"""Return the items of a list, in whichever form it stands.

        >>> split("---\nthemes:\n- ci\n- 'it''s'\n---\n").items("themes")
        ('ci', "it's")
        """
        value = self._value(key)
        if _LIST.match(value):
            return tuple(_items(value[1:-1]))
        block = tuple(_scalar(_bare(item["item"])) for item in self._block(key))
        plain = "" if value[:1] in tuple("[{|>&*!") else _scalar(value)
        return tuple(filter(None, block)) or tuple(_items(plain))

    def with_number(self, key: str, number: int) -> Front:
        r"""Return the text with a number in the place of another, or below the last key.

        >>> split("---\nwords: 7 # counted\n---\n").with_number("words", 12).head
        'words: 12 # counted\n'
        """
        return self._with(key, f"{number}", _NUMBER.match)

    def with_value(self, key: str, value: str) -> Front:
        r"""Return the text with a value in the place of what stands on the line of a key.

        >>> split("---\nupdated: 2026 # by us\n---\n").with_value("updated", "2027").head
        'updated: 2027 # by us\n'
        """
        return self._with(key, value, lambda old: old[:1] not in ("|", ">"))

    def with_items(self, key: str, items: Iterable[str]) -> Front:
        r"""Return the text with items that its list does not have yet, in the form that it has.

        >>> split("---\nthemes: [ci]\n---\n").with_items("themes", ["CI", "no"]).head
        'themes: [ci, "no"]\n'
        """
        known = {fold(item) for item in self.items(key)}
        fresh = {fold(item): quoted(item) for item in items if fold(item) not in known}
        new = ", ".join(fresh.values())
        if not new or not self.opening:
            return self
        spot, block, value = self._spot(key), self._block(key), self._value(key)
        if spot is not None and _LIST.match(value):
            known_items = value[1:-1].rstrip()
            joint = "" if not known_items else " " if known_items.endswith(",") else ", "
            at = spot.start + 1 + len(known_items)
            return self._put(at, at, joint + new)
        if block:
            last = block[-1]
            if _NESTED.match(self.head, last.end() + 1):
                return self
            rows = "".join(f"{last['dash']}{each}{self.line_end}" for each in fresh.values())
            return self._put(last.end() + 1, last.end() + 1, rows)
        return self._with(key, f"[{new}]")

    def _with(
        self, key: str, value: str, is_ours: Callable[[str], object] = lambda _: False
    ) -> Front:
        """Return the text with a value in the place of none, or of one that ``is_ours``."""
        if not self.opening:
            return self
        spot = self._spot(key)
        if spot is None:
            at = len(self.head)
            return self._put(at, at, f"{key}: {value}{self.line_end}")
        old = self.head[spot.start : spot.end]
        if old:
            is_set = spot.start > spot.at and is_ours(old)
            return self._put(spot.start, spot.end, value) if is_set else self
        nested = _NESTED.match(self.head, spot.line_end + 1)
        return self if nested else self._put(spot.at, spot.at, f" {value}")

    def _put(self, start: int, end: int, text: str) -> Front:
        return self._replace(head=self.head[:start] + text + self.head[end:])

    def _spot(self, key: str) -> _Spot | None:
        """Return where the value of a key stands on its line; of the first key of that name."""
        name = re.compile(rf"^{re.escape(key)}[ \t]*+:", re.MULTILINE).search(self.head)
        if name is None:
            return None
        line_end = self.head.find("\n", name.end())
        raw = self.head[name.end() : line_end]
        closed = _QUOTED.match(raw)
        comment = _COMMENT.search(raw, closed.end() if closed else 0)
        said = raw[: comment.start()] if comment else raw
        start = name.end() + len(raw) - len(raw.lstrip(" \t"))
        end = name.end() + len(said.rstrip(" \t\r"))
        return _Spot(name.end(), min(start, end), end, line_end)

    def _value(self, key: str) -> str:
        spot = self._spot(key)
        return self.head[spot.start : spot.end] if spot else ""

    def _block(self, key: str) -> list[re.Match[str]]:
        """Return the items of a list that stands one below the other."""
        spot, items = self._spot(key), []
        at = len(self.head) if spot is None or spot.end > spot.start else spot.line_end + 1
        while (item := _ITEM.match(self.head, at)) is not None:
            items.append(item)
            at = item.end() + 1
        return items


def split(text: str) -> Front:
    """Return the parts of a text; what begins like a front matter and is prose is none."""
    opening, closing = _OPENING.match(text), _closing(text)
    if opening is None or closing is None or not _is_mapping(text[opening.end() : closing.start()]):
        return Front("", "", "", text)
    head = text[opening.end() : closing.start()]
    return Front(opening[0], head, closing[0], text[closing.end() :])


def fold(item: str) -> str:
    """Return what two items have in common that are the same."""
    return unicodedata.normalize("NFC", item).casefold().strip()


def quoted(item: str) -> str:
    """Return an item as YAML reads it for a text in a list.

    >>> quoted("code review"), quoted("no"), quoted("a, b")
    ('code review', '"no"', '"a, b"')
    """
    plain = _PLAIN.match(item) and item.lower() not in _WORDS
    if plain:
        return item
    said = json.dumps(item, ensure_ascii=not item.isprintable())
    return said.replace("[", "\\u005b").replace("]", "\\u005d")


def _begun(text: str) -> bool:
    return _OPENING.match(text) is not None


def _closing(text: str) -> re.Match[str] | None:
    opening = _OPENING.match(text)
    return _CLOSING.search(text, opening.end()) if opening else None


def _is_mapping(head: str) -> bool:
    """Whether each line is a key, belongs to one, or is a comment."""
    begun = False
    for line in head.split("\n"):
        if _KEY.match(line):
            begun = True
        elif line.startswith("#") or not line.strip():
            continue
        elif not (begun and _BELONGS.match(line)):
            return False
    return True


def _items(text: str) -> Iterator[str]:
    at = 0
    while at < len(text) and (piece := _PIECE.match(text, at)) is not None:
        item = _scalar((piece[1] if piece[1] is not None else piece[2]).strip())
        if item:
            yield item
        at = piece.end()


def _bare(text: str) -> str:
    """Return the value of a line without the comment behind it."""
    return text.strip() if text[:1] in "\"'" else re.split(r"[ \t]#", text, maxsplit=1)[0].strip()


def _scalar(text: str) -> str:
    """Return the text that a scalar of one line means."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            return text[1:-1]
    return text
