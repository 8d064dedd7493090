"""The plain texts of YAML: read where they stand in a front matter, and written as one line.

Promises: no I/O; nothing is expanded, resolved or run: an alias, a tag, a list or a mapping is told
to be no text, and stays as it is. What :func:`written` returns is read as the same text by
:func:`read` and by any reader of YAML. The cost grows linearly with the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

__all__ = ["Scalar", "Span", "read", "written"]

Span = tuple[int, int]

# White space, and lines of nothing but a comment, in front of a value.
_LEAD: Final = re.compile(r"(?:[ \t]++|\r?\n|(?<=[ \t\n])#[^\n]*+)*+")
_COMMENT: Final = re.compile(r"(?:\A|[ \t])#")
_HEADER: Final = re.compile(r"[|>](?:([-+])([1-9])?|([1-9])([-+])?)?(?=[ \t\r\n]|\Z)")
_NESTED: Final = re.compile(r"-(?=\s|\Z)|\?(?=\s|\Z)|[^\s:#'\"|>][^\s:#]*+:(?=\s|\Z)")
_QUOTED: Final = {
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
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
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
    if first in _QUOTED:
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
    nested = _NESTED.match(source, at, end)
    if nested is not None and (nested[0] in "-?" or "\n" in source[start:at]):
        return Scalar(None, (), f"is {'a list' if first == '-' else 'a mapping'}{_NO_TEXT}")
    return _plain(source, at, end)


def written(text: str) -> str:
    r"""Return ``text`` as one line of YAML: bare where that is safe, else in double quotes.

    >>> written("Make charts"), written("Use: this"), written("yes"), written("two\nlines")
    ('Make charts', '"Use: this"', '"yes"', '"two\\nlines"')
    """
    if _BARE.fullmatch(text) and text.casefold() not in _WORDS:
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
    found = _QUOTED[quote].match(source, start, end)
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
