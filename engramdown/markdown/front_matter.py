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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.forks import cached_property

__all__ = [
    "LONGEST_HEAD",
    "Front",
    "Key",
    "Page",
    "Scalar",
    "Span",
    "fold",
    "parse",
    "quoted",
    "read",
    "split",
    "written",
]

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


# The plain texts of YAML: read where they stand in a front matter, and written as one line.
#
# Promises: no I/O; nothing is expanded, resolved or run: an alias, a tag, a list or a mapping is
# told to be no text, and stays as it is. What :func:`written` returns is read as the same text by
# :func:`read` and by any reader of YAML. The cost grows linearly with the text.

Span = tuple[int, int]

# White space, and lines of nothing but a comment, in front of a value.
_LEAD: Final = re.compile(r"(?:[ \t]++|\r?\n|(?<=[ \t\n])#[^\n]*+)*+")
_HEADER: Final = re.compile(r"[|>](?:([-+])([1-9])?|([1-9])([-+])?)?(?=[ \t\r\n]|\Z)")
_NESTED_SCALARS: Final = re.compile(r"-(?=\s|\Z)|\?(?=\s|\Z)|[^\s:#'\"|>][^\s:#]*+:(?=\s|\Z)")
_QUOTED_SCALARS: Final = {
    "'": re.compile(r"'((?:[^']|'')*+)'"),
    '"': re.compile(r'"((?:[^"\\]|\\[\s\S])*+)"'),
}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))")
_ESCAPES: Final = dict(
    zip(
        '0abt\tnvfre "/\\N_LP',
        '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029',
        strict=True,
    )
)
# A letter first, so that it is no number and no date; no colon or hash that could mean something.
_BARE: Final = re.compile(
    r"[A-Za-z](?:[^\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff:#]"
    r"|:(?=[^ ])|(?<=[^ ])#)*+(?<! )"
)
_WORDS_SCALARS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_UNPRINTABLE: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_OPAQUE: Final = {
    "&": "an anchor",
    "*": "an alias",
    "!": "a tag",
    "[": "a list",
    "{": "a mapping",
}
_TABBED: Final = re.compile(r"\n\t++[^\s#]")
_CLOSES: Final = {"[": "]", "{": "}"}
_STRINGS: Final = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"\\]|\\[\s\S])*+"|(?:^|\s)#[^\n]*+""")
_KEPT: Final = "%@`,]}|>"
_NO_TEXT: Final = ", not a text"
_SURROGATES: Final = range(0xD800, 0xE000)
_CODES: Final = range(0x110000)


class Scalar(NamedTuple):
    """A value in a front matter.

    Attributes:
        text: What it says; ``None`` if it is no text.
        spans: The pieces of the source that say it; what stands between and behind them, like a
            comment, does not belong to it. None if the value cannot be replaced.
        problem: What is wrong with it, or ``""``.
    """

    text: str | None
    spans: tuple[Span, ...] = ()
    problem: str = ""

    @property
    def is_other(self) -> bool:
        """Whether nothing is wrong but that it is something else than a text."""
        return self.problem.endswith(_NO_TEXT)


def read(source: str, start: int, end: int) -> Scalar:
    r"""Read the value that stands in ``source`` from ``start``, right behind a key, to ``end``.

    >>> read("a: 'it''s'  # why\n", 2, 18)
    Scalar(text="it's", spans=((3, 10),), problem='')
    """
    lead = _LEAD.match(source, start, end)
    at = lead.end() if lead else start
    if at == end:
        return Scalar("", ((start, start),))
    first = source[at]
    if first in _QUOTED_SCALARS:
        return _quoted(source, at, end)
    found = _unquoted(source, start, at, end)
    # Not so in quotes, where any white space is folded.
    if (found.is_other or not found.problem) and _TABBED.search(source, start, end):
        return found._replace(problem="has a line that begins with a tab; indent it by spaces")
    return found


def _unquoted(source: str, start: int, at: int, end: int) -> Scalar:
    first = source[at]
    header = _HEADER.match(source, at, end)
    if header is not None:
        return _block(source, header, end)
    if first in _CLOSES and not _is_closed(source[at:end]):
        return Scalar(None, (), f"begins with {first} and does not end with {_CLOSES[first]}")
    if first in _OPAQUE:
        return Scalar(None, (), f"is {_OPAQUE[first]}{_NO_TEXT}")
    nested = _NESTED_SCALARS.match(source, at, end)
    if nested is not None and (nested[0] in "-?" or "\n" in source[start:at]):
        return Scalar(None, (), f"is {'a list' if first == '-' else 'a mapping'}{_NO_TEXT}")
    return _plain(source, at, end)


def written(text: str) -> str:
    r"""Return ``text`` as one line of YAML: bare where that is safe, else in double quotes.

    >>> written("Make charts"), written("Use: this"), written("yes"), written("two\nlines")
    ('Make charts', '"Use: this"', '"yes"', '"two\\nlines"')
    """
    if _BARE.fullmatch(text) and text.casefold() not in _WORDS_SCALARS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _plain(source: str, start: int, end: int) -> Scalar:
    """Read a value without quotes, which may go on in indented lines; a comment ends it."""
    said: list[str] = []
    at = last = start
    rest = ""
    for line in source[start:end].split("\n"):
        comment = _COMMENT.search(line)
        shown = (line[: comment.start()] if comment else line).rstrip(" \t\r")
        said.append(shown.strip(" \t"))
        if said[-1]:
            last = at + len(shown)
        at += len(line) + 1
        if comment:
            rest = source[at:end]
            break
    text = _unfolded(_stripped(said))
    problem = ""
    if not text:
        return Scalar("", ((start, start),))
    if text[0] in _KEPT:
        problem = f"begins with {text[0]!r}, which YAML keeps for itself; put it in quotes"
    elif ": " in text or text[-1] == ":" or ":\n" in text:
        problem = "holds a colon and a space, which make a mapping of it; put it in quotes"
    if not _is_empty(rest):
        return Scalar(text, (), "goes on behind a comment")
    if re.search(r"\n[^\s#]", source[start:end]):
        return Scalar(text, (), "goes on in a line that is not indented")
    return Scalar(text, ((start, last),), problem)


def _quoted(source: str, start: int, end: int) -> Scalar:
    quote = source[start]
    found = _QUOTED_SCALARS[quote].match(source, start, end)
    if found is None:
        return Scalar(None, (), f"begins with {quote} and does not end with it")
    rest = source[found.end() : end]
    if not _is_empty(rest) or rest[:1] == "#":
        return Scalar(None, (), f"goes on behind the closing {quote}")
    spans = (found.span(),)
    lines = found[1].split("\n")
    if quote == "'":
        return Scalar(_unfolded(_trimmed(lines)).replace("''", "'"), spans)
    try:
        return Scalar(
            _ESCAPE.sub(_unescaped, _unfolded(_trimmed(lines, escapes=True), escapes=True)), spans
        )
    except ValueError as error:
        return Scalar(None, (), f"holds the escape {error}, which says nothing")


def _block(source: str, header: re.Match[str], end: int) -> Scalar:
    """Read a value of indented lines below ``|`` or ``>``."""
    chomp, indent = header[1] or header[4] or "", int(header[2] or header[3] or 0)
    head, newline, content = source[header.end() : end].partition("\n")
    if not _is_empty(head):
        return Scalar(None, (), f"has more than {header[0]} in front of its lines")
    lines = content.removesuffix("\n").split("\n") if content else []
    begins = (len(line) - len(line.lstrip(" ")) for line in lines if line.strip(" \r"))
    said: list[str] = []
    begun = bool(indent)
    indent = indent or next(begins, 0)
    for line in lines:
        filled_in = bool(line.strip(" \r"))
        if filled_in and (not indent or line[:indent].strip(" ")):
            break
        begun = begun or filled_in
        said.append(line[indent:].removesuffix("\r") if begun else "")
    rest = lines[len(said) :]
    filled = len(_stripped(said))
    kept = len(said) if chomp == "+" else filled
    first = header.end() + len(head) + len(newline)
    last = first + sum(len(line) + 1 for line in lines[:kept])
    text = "\n".join(said[:filled]) if header[0][0] == "|" else _unwrapped(said[:filled])
    ends = {"-": 0, "+": len(said) - filled + bool(filled)}.get(chomp, int(bool(filled)))
    text += "\n" * ends
    if not _is_empty("\n".join(rest)):
        return Scalar(text, (), "has a line that is less indented")
    return Scalar(text, (header.span(), (first, min(last, end))))


def _is_closed(source: str) -> bool:
    """Whether a list or a mapping has as many ends as beginnings, without those in quotes."""
    bare = _STRINGS.sub("", source)
    return all(bare.count(first) == bare.count(last) for first, last in _CLOSES.items())


def _is_empty(rest: str) -> bool:
    """Whether there is nothing but white space and comments."""
    return all(not line.strip() or line.lstrip()[0] == "#" for line in rest.split("\n"))


def _stripped(lines: Sequence[str]) -> Sequence[str]:
    """Return lines without the empty ones at their end."""
    last = len(lines)
    while last and not lines[last - 1]:
        last -= 1
    return lines[:last]


def _trimmed(lines: Sequence[str], *, escapes: bool = False) -> list[str]:
    """Return the lines in quotes without the white space around their ends.

    Where there are escapes, a backslash keeps the white space behind it.
    """
    trimmed = []
    for number, whole in enumerate(lines):
        line = whole.lstrip(" \t") if number else whole
        if number < len(lines) - 1:
            line = line.removesuffix("\r")
            bare = line.rstrip(" \t")
            slashes = len(bare) - len(bare.rstrip("\\")) if escapes else 0
            line = line[: len(bare) + slashes % 2]
        trimmed.append(line)
    return trimmed


def _unfolded(lines: Sequence[str], *, escapes: bool = False) -> str:
    """Return the lines of a plain or quoted value as YAML joins them.

    A backslash that has nothing behind it glues two lines, where there are escapes.
    """
    said, breaks = [*lines[:1]], 0
    for number, line in enumerate(lines[1:], 2):
        if not line and number < len(lines):
            breaks += 1
            continue
        before = said[-1]
        glue = escapes and (len(before) - len(before.rstrip("\\"))) % 2
        if glue:
            said[-1] = before[:-1]
        said += ["\n" * breaks or ("" if glue else " "), line]
        breaks = 0
    return "".join(said)


def _unwrapped(lines: Iterable[str]) -> str:
    """Return the lines of a folded block as YAML joins them."""
    said: list[str] = []
    before, breaks = "", 0
    for line in lines:
        if line:
            indented = before[:1] in (" ", "\t") or line[0] in " \t"
            more = breaks + 1 if before and indented else breaks
            said += ["\n" * more or (" " if before else ""), line]
            before, breaks = line, 0
        else:
            breaks += 1
    return "".join(said)


def _unescaped(found: re.Match[str]) -> str:
    """Return what an escape says.

    Raises:
        ValueError: If it says nothing.
    """
    digits = found[1] or found[2] or found[3]
    code = int(digits, 16) if digits else 0
    if (not digits and found[4] not in _ESCAPES) or code in _SURROGATES or code not in _CODES:
        raise ValueError(found[0])
    return chr(code) if digits else _ESCAPES[found[4]]


# A SKILL.md as it stands: front matter and body, read and edited without touching the rest.
#
# Promises: no I/O; ``parse(x).render() == x`` for every ``x``; an edit of a value or of the body
# changes the bytes of that and no others: comments, order, line ends, a byte order mark and keys
# that nobody knows stay as they are. Only ``\n`` ends a line. What is longer than
# :data:`LONGEST_HEAD` is no front matter that anybody wrote: no key of it is read.

LONGEST_HEAD: Final = 16 * 1024
"""How long a front matter may be that is read, in characters."""

_OPENING_PAGE: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_KEY_PAGE: Final = re.compile(
    r"""(?:"([^"\\\n]*+)"|'([^'\n]*+)'|([^\s:#\[\]{},&*!|>'"%@`-](?:[^\s:#]|:(?=\S))*+))"""
    r"[ \t]*+:(?=[ \t\r\n])"
)
# What may stand at the begin of a line and belongs to the key before it.
_BELONGS_PAGE: Final = re.compile(r"[ \t\r]|#|-(?=\s)|\Z")


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
        return not self.opening and _OPENING_PAGE.match(self.body) is not None

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
        from engramdown.errors import InvalidSkillError

        if self.is_open:
            raise InvalidSkillError("front matter", "is not closed; end it with a line ---")
        if self.is_long:
            reason = f"has {len(self.head)} characters of {LONGEST_HEAD}; shorten it in the file"
            raise InvalidSkillError("front matter", reason)
        found = self.get(name)
        end = "\r\n" if self.opening.endswith("\r\n") else "\n"
        if found is None:
            line = f"{name}: {written(text)}{end}"
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
        lines = [f"{name}:", *(f"  {key}: {written(text)}" for key, text in notes.items())]
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
        said = written(text)
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
            key = _KEY_PAGE.match(self.head, at)
            if key is not None or not (_BELONGS_PAGE.match(line) and (begun or line[:1] in "#\r")):
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
        return Key(name, line, read(self.head, found.end(), end)), line


def parse(text: str) -> Page:
    """Return the page that a text is."""
    opening = _OPENING_PAGE.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Page("", "", "", text)
    head = text[opening.end() : closing.start()]
    return Page(opening[0], head, closing[0], text[closing.end() :])
