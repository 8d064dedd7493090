r"""The comments of an entry: its metadata, private ones, and how text is escaped around them.

The metadata is the HTML comment that ends an entry, space-separated ``key:value``. Keys that we do
not know, their order and their spelling survive every change; a value of any characters comes back
as it was given; what is not metadata is a private comment and left alone. A comment that is
escaped, or in a code span, is part of the text.

``unescape(escape(text)) == text`` for every string: ``<!--`` becomes ``\<!--``, ``-->`` becomes
``--\>`` (as CommonMark allows), control characters and white space at an edge become numeric
references, and nothing else changes. Everything is linear, and no text is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from engramdown.lazy import compiled

# What the address of an entry without an id begins with; no shell expands it.
ADDRESS: Final = "_"

# What it began with before: a shell takes it for somebody's home. It is read for ever.
_FORMER: Final = "~"

# The keys whose values are ids of other entries, with commas between several.
_REFERENCES: Final = frozenset({"of", "replaced"})


# The keys whose values are words that a person reads in the file: a space is written ``_``.
_WORDS: Final = frozenset({"reason"})

# The keys that we write, in the order in which we write them.
KNOWN_KEYS: Final = (
    *("id", "kind", "scope", "topic", "confidence", "source", "basis", "from", "cites"),
    *("expires", "pin", "hold", "op", "of", "seen", "was", "section", "reason", "by"),
    *("replaced", "ts", "archived"),
)

# What ``op`` says in a question in ``pending.md``: about memories that stand, or about a skill.
OPERATIONS: Final = frozenset({"drop", "merge", "supersede", "expire", "move", "skill"})

# What ``reason`` says in ``archive.md`` of such a question that a person answered with no.
KEPT: Final = "kept"

_FIELDS: Final = re.compile(r"\s*+(?:[A-Za-z][A-Za-z0-9_.-]*+:\S*+(?:\s++|\Z))++")
_FIELD: Final = re.compile(r"([^\s:]++):(\S*+)")
# What would end the value, the comment or the line, and the quoting character itself.
_TO_QUOTE: Final = r"[\s%<>\x00-\x1f\x7f-\x9f\ud800-\udfff]|(?<=-)-|-\Z"
_QUOTED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})++")


class Metadata(NamedTuple):
    """The fields of one comment, in file order.

    Attributes:
        fields: Pairs of a key and its value as it is written, quoted.

    >>> str(Metadata().update({"id": "k3v9q2ht", "topic": "a b"}))
    '<!-- id:k3v9q2ht topic:a%20b -->'
    """

    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, inside: str) -> Metadata | None:
        """Read the text between ``<!--`` and ``-->``; ``None`` for a private comment."""
        if not _FIELDS.fullmatch(inside):
            return None
        return cls(tuple(_FIELD.findall(inside)))

    def __str__(self) -> str:
        """Return the whole comment."""
        return f"<!-- {' '.join(f'{key}:{value}' for key, value in self.fields)} -->"

    def get(self, key: str) -> str:
        """Return the value of ``key``, unquoted, or ``""``; the first one counts."""
        return next((_read(key, value) for name, value in self.fields if name == key), "")

    def values(self) -> dict[str, str]:
        """Return all values by key, unquoted; the first one if a key is there twice."""
        values = dict(reversed(self.fields))
        odd = [
            key
            for key, value in values.items()
            if "%" in value or _FORMER in value or key in _WORDS
        ]
        return values | {key: _read(key, values[key]) for key in odd} if odd else values

    def update(self, values: Mapping[str, str]) -> Metadata:
        """Return the metadata with ``values`` set in place; ``""`` takes a key out."""
        fields: list[tuple[str, str]] = []
        present: set[str] = set()
        for key, value in self.fields:
            if key not in values:
                fields.append((key, value))
            elif values[key] and key not in present:
                text = value if _read(key, value) == values[key] else _quote(key, values[key])
                fields.append((key, text))
            present.add(key)
        # Known keys in our order, the others behind.
        known = [key for key in KNOWN_KEYS if key in values]
        ordered = (*known, *(key for key in values if key not in KNOWN_KEYS))
        new = (key for key in ordered if values[key] and key not in present)
        fields += [(key, _quote(key, values[key])) for key in new]
        return Metadata(tuple(fields))


def is_address(entry_id: str) -> bool:
    """Whether this is the address of an entry without an id.

    >>> is_address("_7a2pcsc"), is_address("k3v9q2ht")
    (True, False)
    """
    return entry_id.startswith(ADDRESS)


def current_id(entry_id: str) -> str:
    """Return an id or an address as it is written today.

    >>> current_id("~7a2pcsc")
    '_7a2pcsc'
    """
    return ADDRESS + entry_id[1:] if entry_id.startswith(_FORMER) else entry_id


def sort_ids(ids: Iterable[str]) -> list[str]:
    """Return ids in their order, addresses last.

    >>> sort_ids(["_7a2pcsc", "k3v9q2ht"])
    ['k3v9q2ht', '_7a2pcsc']
    """
    return sorted(ids, key=lambda each: (is_address(each), each))


def _read(key: str, value: str) -> str:
    """Return a value as it was given; an address in it as it is written today."""
    given = value[:1] + value[1:].replace("_", " ") if key in _WORDS else value
    given = _QUOTED.sub(_unquote, given) if "%" in given else given
    if key not in _REFERENCES or _FORMER not in given:
        return given
    return re.sub(rf"(?:\A|(?<=,)){_FORMER}(?=[0-9a-z]{{7}}(?:,|\Z))", ADDRESS, given)


def _quote(key: str, value: str) -> str:
    if key not in _WORDS:
        return compiled(_TO_QUOTE).sub(_quote_match, value)
    # The first character is not a space, so that an address there stays as it is.
    words = (compiled(_TO_QUOTE).sub(_quote_match, word) for word in value[1:].split(" "))
    first = compiled(_TO_QUOTE).sub(_quote_match, value[:1])
    return first + "_".join(word.replace("_", "%5F") for word in words)


def _quote_match(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _unquote(match: re.Match[str]) -> str:
    data = bytes.fromhex(match[0].replace("%", ""))
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return match[0]


_OPEN: Final = "<!--"
_CLOSE: Final = "-->"
_SPACE: Final = " \t"
_ID: Final = re.compile(r"[0-9a-z]{8}")


def find_metadata(body: str) -> tuple[tuple[int, int], Metadata] | None:
    """Return where the metadata of an entry is and what it says, or ``None``.

    It is the comment that ends the entry. If there is no such comment, because a person went on
    writing behind it, the last comment with an id is: a line keeps its id through every edit.
    """
    trailing = trailing_span(body)
    if trailing is not None and (metadata := _inside(body, trailing)) is not None:
        return trailing, metadata
    if "id:" not in body:
        return None
    for span in reversed(spans(body)):
        metadata = _inside(body, span)
        if metadata is not None and _ID.fullmatch(metadata.get("id")):
            return span, metadata
    return None


def comments(body: str) -> Iterator[tuple[int, int]]:
    """Yield where the comments of an entry begin and end (exclusive), in order; an open one at -1.

    >>> list(comments("a <!-- b --> `<!-- code -->` <!-- open"))
    [(2, 12), (29, -1)]
    """
    ticks, counted, end = 0, 0, 0
    at = body.find(_OPEN)
    while at >= 0:
        if 0 <= end < at + len(_OPEN):
            end = body.find(_CLOSE, at + len(_OPEN))
        ticks += body.count("`", counted, at)
        counted = at
        if _is_escaped(body, at) or ticks % 2:
            at = body.find(_OPEN, at + len(_OPEN))
            continue
        yield at, end + len(_CLOSE) if end >= 0 else -1
        at = body.find(_OPEN, end + len(_CLOSE)) if end >= 0 else -1


def spans(body: str) -> list[tuple[int, int]]:
    """Return where the comments of an entry begin and end (exclusive), in order."""
    return [(begin, end) for begin, end in comments(body) if end >= 0]


def without(body: str) -> str:
    """Return an entry without its comments, and without the blanks that they leave at a line end.

    A line that held nothing but a comment goes with it.
    """
    pieces: list[str] = []
    start, line_is_empty = 0, True
    for begin, end in spans(body):
        piece = body[start:begin]
        following = body[end : end + 1]
        if following in ("\n", ""):
            piece = piece.rstrip(_SPACE)
        pieces.append(piece)
        line_is_empty = piece.endswith("\n") or (line_is_empty and not piece)
        start = end + 1 if line_is_empty and following == "\n" else end
    return "".join([*pieces, body[start:]])


def trailing_span(body: str) -> tuple[int, int] | None:
    """Return where the comment that ends ``body`` is, or ``None``."""
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
    return compiled(_TO_ESCAPE).sub(_escape_match, text)


def unescape(text: str) -> str:
    r"""Return what was escaped.

    >>> unescape("close with --\\> &#27;")
    'close with --> \x1b'
    """
    if "\\" not in text and "&#" not in text:
        return text
    return compiled(_ESCAPED).sub(_unescape_match, text)


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
