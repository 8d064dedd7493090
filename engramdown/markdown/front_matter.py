r"""Front matter, read as YAML and edited without touching the rest: of skills, journals and notes.

``parse_front_matter(x).render() == x`` for every ``x``. An edit changes the bytes of the value that
it is about and no others: comments, order, line ends, a byte order mark and keys that nobody knows
stay as they are. Nothing is expanded, resolved or run: an alias, a tag or a mapping is reported as
not being a text, and stays. Only ``\n`` ends a line. The cost grows linearly with the text, and
front matter longer than :data:`LONGEST_HEAD` was not written by anybody: no key of it is read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from engramdown.errors import InvalidSkillError

# How long front matter may be that is read, in characters.
LONGEST_HEAD: Final = 16 * 1024

_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?(?:\n|\Z)")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_KEY: Final = re.compile(
    r"""(?:"([^"\\\n]*+)"|'([^'\n]*+)'"""
    r"""|([^\s:#\[\]{},&*!|>'"%@`-](?:[^\s:#]|:(?=\S)|[ \t]++(?=[^\s:#]))*+))"""
    r"[ \t]*+:(?=[ \t\r\n])"
)
# What may stand at the beginning of a line and belongs to the key before it.
_BELONGS: Final = re.compile(r"[ \t\r]|#|-(?=\s|\Z)|\Z")
# A value that ends on its line, before a comment that may hold quotes.
_CLOSED: Final = re.compile(
    r"""[ \t]*+(?:"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\n]++|'')*+'|\[[^\[\]\n]*+\])"""
)
_COMMENT: Final = re.compile(r"(?:\A|[ \t])#")
_NUMBER: Final = re.compile(r"[0-9]+\Z")
_NESTED_LINE: Final = re.compile(r"[ \t]+\S|-[ \t]")
_LIST: Final = re.compile(r"\[[^\[\]\n]*+\]\Z")
_ROW: Final = re.compile(
    r"(?:[ \t]*+#[^\n]*+\n|[ \t]*+\r?\n)*+(?P<dash>[ \t]*+-[ \t]++)(?P<item>[^\n]*+)"
)
_ITEM: Final = re.compile(
    r"""\s*+("(?:[^"\\]++|\\.)*+"|'(?:[^']++|'')*+'|[^,]*+)\s*+(?:,|\Z)|\s*+([^,]*+)(?:,|\Z)"""
)

# White space, and lines of nothing but a comment, in front of a value.
_LEAD: Final = re.compile(r"(?:[ \t]++|\r?\n|(?<=[ \t\n])#[^\n]*+)*+")
_HEADER: Final = re.compile(r"[|>](?:([-+])([1-9])?|([1-9])([-+])?)?(?=[ \t\r\n]|\Z)")
_NESTED: Final = re.compile(r"-(?=\s|\Z)|\?(?=\s|\Z)|[^\s:#'\"|>][^\s:#]*+:(?=\s|\Z)")
_QUOTED: Final = {
    "'": re.compile(r"'((?:[^']|'')*+)'"),
    '"': re.compile(r'"((?:[^"\\]|\\[\s\S])*+)"'),
}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))")
_ESCAPES: Final = dict(
    zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True)
)
# A letter first, so that it is not a number or a date; no colon or hash with a meaning.
_BARE: Final = re.compile(
    r"[A-Za-z](?:[^\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff:#]"
    r"|:(?=[^ ])|(?<=[^ ])#)*+(?<! )"
)
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_UNPRINTABLE: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_OPAQUE: Final = {"&": "an anchor", "*": "an alias", "!": "a tag", "[": "a list", "{": "a mapping"}
_TABBED: Final = re.compile(r"\n\t++[^\s#]")
_CLOSES: Final = {"[": "]", "{": "}"}
_STRINGS: Final = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"\\]|\\[\s\S])*+"|(?:^|\s)#[^\n]*+""")
_IN_LISTS: Final = frozenset(",[]{}'\"")
_RESERVED: Final = "%@`,]}|>"
_NO_TEXT: Final = ", not a text"
_SURROGATES: Final = range(0xD800, 0xE000)
_CODES: Final = range(0x110000)


class Scalar(NamedTuple):
    """A value in front matter.

    Attributes:
        text: What it says; ``None`` if it is not a text.
        spans: The pieces of the source that say it; what is between and behind them, like a
            comment, does not belong to it. None if the value cannot be replaced.
        problem: What is wrong with it, or ``""``.
    """

    text: str | None
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""

    @property
    def is_other(self) -> bool:
        """Whether nothing is wrong but that it is something else than a text."""
        return self.problem.endswith(_NO_TEXT)


class Key(NamedTuple):
    """A key of the front matter.

    Attributes:
        name: What it is called.
        line: Its line in the file, counted from 1.
        at: The offset behind its colon.
        value: Its value.
    """

    name: str
    line: int
    at: int
    value: Scalar


class FrontMatter(NamedTuple):
    """A text in four parts.

    Attributes:
        opening: The line that begins the front matter, or ``""``.
        head: The lines of the front matter.
        closing: The line that ends it.
        body: The rest, or all of the text if it has no front matter.
    """

    opening: str
    head: str
    closing: str
    body: str

    def render(self) -> str:
        """Return the text."""
        return "".join(self)

    # ---- reading ----

    @property
    def is_open(self) -> bool:
        """Whether front matter begins that nothing ends: what comes next might end it."""
        opening = None if self.opening else _OPENING.match(self.body)
        return opening is not None and _CLOSING.search(self.body, opening.end()) is None

    @property
    def is_long(self) -> bool:
        """Whether the front matter is too long to be read."""
        return len(self.head) > LONGEST_HEAD

    @property
    def line_end(self) -> str:
        """How the lines of the text end, as its first one does."""
        return "\r\n" if re.match(r"[^\n]*\r\n", self.opening or self.body) else "\n"

    @property
    def body_line(self) -> int:
        """The line on which the body begins, counted from 1."""
        return "".join(self[:3]).count("\n") + 1

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the front matter, in their order."""
        return () if self.is_long else _scan(self.head)[0]

    @property
    def strangers(self) -> tuple[int, ...]:
        """The lines of the front matter that neither are a key nor belong to one."""
        return () if self.is_long else _scan(self.head)[1]

    def find(self, name: str) -> Key | None:
        """Return a key, the first one if it is there twice; ``None`` without it."""
        return next((key for key in self.keys if key.name == name), None)

    def text(self, name: str) -> str:
        r"""Return the text of a key, without the white space around it, or ``""``.

        >>> parse_front_matter("---\nname: charts # ours\n---\n").text("name")
        'charts'
        """
        key = self.find(name)
        return (key.value.text or "").strip() if key else ""

    def raw(self, name: str) -> str:
        """Return the value on the line of a key, without a comment; ``""`` without the key."""
        key = self.find(name)
        return self.head[slice(*self._span(key))] if key else ""

    def items(self, name: str) -> tuple[str, ...]:
        r"""Return the items of a list, in whichever form it is written.

        >>> parse_front_matter("---\nthemes:\n- ci\n- 'it''s'\n---\n").items("themes")
        ('ci', "it's")
        """
        key, value = self.find(name), self.raw(name)
        if key is None:
            return ()
        if not value:
            return tuple(filter(None, (_item(row["item"]) for row in self._rows(key))))
        if _LIST.match(value):
            return tuple(_items(value[1:-1]))
        return () if value[0] in "|>" else tuple(_items(key.value.text or ""))

    # ---- editing ----

    def with_text(self, name: str, text: str) -> FrontMatter:
        """Return the whole with another text for a key, which is added if it is missing.

        Raises:
            InvalidSkillError: If its value cannot be replaced by a text.
        """
        if self.is_open:
            raise InvalidSkillError("front matter", "is not closed; end it with a line ---")
        if self.is_long:
            reason = f"has {len(self.head)} characters of {LONGEST_HEAD}; shorten it in the file"
            raise InvalidSkillError("front matter", reason)
        key = self.find(name)
        if key is None:
            # A list or a block may stand at the end, but never goes on with a key.
            opening, closing = self.opening or "---\n", self.closing or "---\n"
            return self._added(f"{name}: {written(text)}", opening=opening, closing=closing)
        value = key.value
        if value.text is not None and value.text.strip() == text and not value.problem:
            return self
        if not value.spans:
            raise InvalidSkillError(name, f"{value.problem}; correct it in the file")
        (first, last), *more = value.spans
        head = self.head
        for start, end in reversed(more):
            head = head[:start] + head[end:]
        gap = " " if head[first - 1] == ":" else ""
        return self._replace(head=f"{head[:first]}{gap}{written(text)}{head[last:]}")

    def with_mapping(self, name: str, texts: Mapping[str, str]) -> FrontMatter:
        """Return the whole with a key that holds texts of its own, unless it has that key."""
        if self.find(name) is not None or not self.opening or self.is_long:
            return self
        rows = (f"  {key}: {written(text)}" for key, text in texts.items())
        return self._added(f"{name}:", *rows)

    def with_number(self, name: str, number: int) -> FrontMatter:
        r"""Return the whole with a number in the place of another, or below the last key.

        >>> parse_front_matter("---\nwords: 7 # counted\n---\n").with_number("words", 12).head
        'words: 12 # counted\n'
        """
        return self._with(name, f"{number}", _NUMBER.match)

    def with_value(self, name: str, value: str) -> FrontMatter:
        r"""Return the whole with a value in the place of the one on the line of a key.

        >>> page = parse_front_matter("---\nupdated: 2026 # by us\n---\n")
        >>> page.with_value("updated", "2027").head
        'updated: 2027 # by us\n'
        """
        return self._with(name, value, lambda old: old[:1] not in ("|", ">"))

    def with_items(self, name: str, items: Iterable[str]) -> FrontMatter:
        r"""Return the whole with items that its list does not have yet, in the form that it has.

        >>> parse_front_matter("---\nthemes: [ci]\n---\n").with_items("themes", ["CI", "no"]).head
        'themes: [ci, "no"]\n'
        """
        known = {fold(item) for item in self.items(name)}
        fresh = {fold(item): in_list(item) for item in items if fold(item) not in known}
        new = ", ".join(fresh.values())
        if not new or not self.opening:
            return self
        key = self.find(name)
        if key is not None and _LIST.match(self.raw(name)):
            inside = self.raw(name)[1:-1].rstrip()
            joint = "" if not inside else " " if inside.endswith(",") else ", "
            at = self._span(key)[0] + 1 + len(inside)
            return self._put(at, at, joint + new)
        if key is not None and (rows := self._rows(key)):
            dash, end = rows[-1]["dash"], rows[-1].end() + 1
            added = "".join(f"{dash}{each}{self.line_end}" for each in fresh.values())
            return self if _NESTED_LINE.match(self.head, end) else self._put(end, end, added)
        return self._with(name, f"[{new}]", lambda _: False)

    def with_body(self, body: str) -> FrontMatter:
        """Return the whole with another body."""
        needs_end = self.closing and body and not self.closing.endswith("\n")
        closing = self.closing + self.line_end if needs_end else self.closing
        return self._replace(closing=closing, body=body)

    def _with(self, name: str, value: str, is_ours: Callable[[str], object]) -> FrontMatter:
        """Return the whole with a value in the place of none, or of one that ``is_ours``."""
        if not self.opening or self.is_long:
            return self
        key = self.find(name)
        if key is None:
            return self._added(f"{name}: {value}")
        start, end = self._span(key)
        if start < end:
            is_set = start > key.at and is_ours(self.head[start:end])
            return self._put(start, end, value) if is_set else self
        is_nested = _NESTED_LINE.match(self.head, self.head.find("\n", key.at) + 1)
        return self if is_nested else self._put(key.at, key.at, f" {value}")

    def _added(self, *rows: str, **parts: str) -> FrontMatter:
        """Return the whole with lines more below the last one, and other ``parts``."""
        added = "".join(f"{row}{self.line_end}" for row in rows)
        return self._replace(head=self.head + added, **parts)

    def _put(self, start: int, end: int, text: str) -> FrontMatter:
        return self._replace(head=self.head[:start] + text + self.head[end:])

    def _span(self, key: Key) -> tuple[int, int]:
        """Return where the value is on the line of a key, without a comment."""
        raw = self.head[key.at : self.head.find("\n", key.at)]
        closed = _CLOSED.match(raw)
        comment = _COMMENT.search(raw, closed.end() if closed else 0)
        shown = (raw[: comment.start()] if comment else raw).rstrip(" \t\r")
        indent = len(raw) - len(raw.lstrip(" \t"))
        return key.at + min(indent, len(shown)), key.at + len(shown)

    def _rows(self, key: Key) -> list[re.Match[str]]:
        """Return the items of a list with one item a line."""
        start, end = self._span(key)
        at = len(self.head) if start < end else self.head.find("\n", key.at) + 1
        rows = []
        while (row := _ROW.match(self.head, at)) is not None:
            rows.append(row)
            at = row.end() + 1
        return rows


def parse_front_matter(text: str) -> FrontMatter:
    """Return the parts of a text."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is not None and closing is not None:
        head = text[opening.end() : closing.start()]
        return FrontMatter(opening[0], head, closing[0], text[closing.end() :])
    return FrontMatter("", "", "", text)


def parse_strict(text: str) -> FrontMatter:
    """Return the parts of a text; front matter with a line that is not a key is taken for prose."""
    page = parse_front_matter(text)
    return FrontMatter("", "", "", text) if page.strangers else page


def fold(item: str) -> str:
    """Return what two items have in common that are the same."""
    return unicodedata.normalize("NFC", item).casefold().strip()


@lru_cache(maxsize=64)
def _scan(head: str) -> tuple[tuple[Key, ...], tuple[int, ...]]:
    """Return the keys of front matter, and the lines that neither are one nor belong to one."""
    keys: list[Key] = []
    strangers: list[int] = []
    begun: tuple[str, int, int] | None = None
    at = 0

    def end() -> None:
        if begun is not None:
            keys.append(Key(*begun, read_scalar(head, begun[-1], at)))

    for number, line in enumerate(head.split("\n"), 2):
        key = _KEY.match(head, at)
        belongs = _BELONGS.match(line) and (begun or not line.strip() or line[0] == "#")
        if key is not None or not belongs:
            end()
            begun = None
        if key is not None:
            name = next(each for each in key.groups() if each is not None)
            begun = name, number, key.end()
        elif not belongs:
            strangers.append(number)
        at += len(line) + 1
    at = len(head)
    end()
    return tuple(keys), tuple(strangers)


def _items(text: str) -> Iterator[str]:
    at = 0
    while at < len(text) and (match := _ITEM.match(text, at)) is not None:
        item = _item((match[1] if match[1] is not None else match[2]).strip())
        if item:
            yield item
        at = match.end()


def _item(text: str) -> str:
    """Return the text of an item, or its source if it is not a text."""
    said = read_scalar(text).text
    return text.strip() if said is None else said


# ---- scalars ----


def written(text: str) -> str:
    r"""Return ``text`` as one line of YAML: bare where that is safe, else in double quotes.

    >>> written("Make charts"), written("Use: this"), written("yes"), written("two\nlines")
    ('Make charts', '"Use: this"', '"yes"', '"two\\nlines"')
    """
    if _BARE.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def in_list(item: str) -> str:
    """Return an item as one line of YAML in a list.

    >>> in_list("code review"), in_list("no"), in_list("a, b")
    ('code review', '"no"', '"a, b"')
    """
    scalar = written(item)
    if scalar == item and not set(item).isdisjoint(_IN_LISTS):
        scalar = json.dumps(item, ensure_ascii=False)
    return scalar.replace("[", "\\u005b").replace("]", "\\u005d")


def read_scalar(source: str, start: int = 0, end: int | None = None) -> Scalar:
    r"""Read the value in ``source`` from ``start``, right behind a key, to ``end``.

    >>> read_scalar("a: 'it''s'  # why\n", 2)
    Scalar(text="it's", spans=((3, 10),), problem='')
    """
    end = len(source) if end is None else end
    lead = _LEAD.match(source, start, end)
    at = lead.end() if lead else start
    if at == end:
        return Scalar("", ((start, start),))
    if source[at] in _QUOTED:
        return _quoted(source, at, end)
    scalar = _unquoted(source, start, at, end)
    # Not so in quotes, where any white space is folded.
    if (scalar.is_other or not scalar.problem) and _TABBED.search(source, start, end):
        return scalar._replace(problem="has a line that begins with a tab; indent it by spaces")
    return scalar


def _unquoted(source: str, start: int, at: int, end: int) -> Scalar:
    first = source[at]
    header = _HEADER.match(source, at, end)
    if header is not None:
        return _block(source, header, end)
    if first in _CLOSES:
        # It has as many ends as beginnings, without those in quotes.
        bare = _STRINGS.sub("", source[at:end])
        if any(bare.count(opens) != bare.count(closes) for opens, closes in _CLOSES.items()):
            return Scalar(None, (), f"begins with {first} and does not end with {_CLOSES[first]}")
    if first in _OPAQUE:
        return Scalar(None, (), f"is {_OPAQUE[first]}{_NO_TEXT}")
    nested = _NESTED.match(source, at, end)
    if nested is not None and (nested[0] in "-?" or "\n" in source[start:at]):
        return Scalar(None, (), f"is {'a list' if first == '-' else 'a mapping'}{_NO_TEXT}")
    return _plain(source, at, end)


def _plain(source: str, start: int, end: int) -> Scalar:
    """Read a value without quotes, which may go on in indented lines; a comment ends it."""
    parts: list[str] = []
    at = last = start
    rest = ""
    for line in source[start:end].split("\n"):
        comment = _COMMENT.search(line)
        shown = (line[: comment.start()] if comment else line).rstrip(" \t\r")
        parts.append(shown.strip(" \t"))
        if parts[-1]:
            last = at + len(shown)
        at += len(line) + 1
        if comment:
            rest = source[at:end]
            break
    text = _unfolded(_stripped(parts))
    problem = ""
    if not text:
        return Scalar("", ((start, start),))
    if text[0] in _RESERVED:
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
    match = _QUOTED[quote].match(source, start, end)
    if match is None:
        return Scalar(None, (), f"begins with {quote} and does not end with it")
    rest = source[match.end() : end]
    if not _is_empty(rest) or rest[:1] == "#":
        return Scalar(None, (), f"goes on behind the closing {quote}")
    escapes = quote == '"'
    text = _unfolded(_trimmed(match[1].split("\n"), escapes=escapes), escapes=escapes)
    try:
        text = _ESCAPE.sub(_unescaped, text) if escapes else text.replace("''", "'")
        return Scalar(text, (match.span(),))
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
    shown: list[str] = []
    begun = bool(indent)
    indent = indent or next(begins, 0)
    for line in lines:
        filled_in = bool(line.strip(" \r"))
        if filled_in and (not indent or line[:indent].strip(" ")):
            break
        begun = begun or filled_in
        shown.append(line[indent:].removesuffix("\r") if begun else "")
    rest = lines[len(shown) :]
    filled = len(_stripped(shown))
    count = len(shown) if chomp == "+" else filled
    first = header.end() + len(head) + len(newline)
    last = first + sum(len(line) + 1 for line in lines[:count])
    text = "\n".join(shown[:filled]) if header[0][0] == "|" else _unwrapped(shown[:filled])
    ends = {"-": 0, "+": len(shown) - filled + bool(filled)}.get(chomp, int(bool(filled)))
    text += "\n" * ends
    if not _is_empty("\n".join(rest)):
        return Scalar(text, (), "has a line that is less indented")
    return Scalar(text, (header.span(), (first, min(last, end))))


def _is_empty(rest: str) -> bool:
    """Whether there is nothing but white space and comments."""
    return all(not line.strip() or line.lstrip()[0] == "#" for line in rest.split("\n"))


def _stripped(lines: Sequence[str]) -> Sequence[str]:
    """Return lines without the empty ones at their end."""
    last = max((at for at, line in enumerate(lines, 1) if line), default=0)
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
    parts, breaks = [*lines[:1]], 0
    for number, line in enumerate(lines[1:], 2):
        if not line and number < len(lines):
            breaks += 1
            continue
        before = parts[-1]
        glue = escapes and (len(before) - len(before.rstrip("\\"))) % 2
        if glue:
            parts[-1] = before[:-1]
        parts += ["\n" * breaks or ("" if glue else " "), line]
        breaks = 0
    return "".join(parts)


def _unwrapped(lines: Iterable[str]) -> str:
    """Return the lines of a folded block as YAML joins them."""
    parts: list[str] = []
    before, breaks = "", 0
    for line in lines:
        if line:
            indented = before[:1] in (" ", "\t") or line[0] in " \t"
            more = breaks + 1 if before and indented else breaks
            parts += ["\n" * more or (" " if before else ""), line]
            before, breaks = line, 0
        else:
            breaks += 1
    return "".join(parts)


def _unescaped(escape: re.Match[str]) -> str:
    """Return what an escape says.

    Raises:
        ValueError: If it says nothing.
    """
    digits = escape[1] or escape[2] or escape[3]
    code = int(digits, 16) if digits else 0
    if (not digits and escape[4] not in _ESCAPES) or code in _SURROGATES or code not in _CODES:
        raise ValueError(escape[0])
    return chr(code) if digits else _ESCAPES[escape[4]]
