"""Finds what is wrong with the text of a memory file and the metadata of its entries.

It is pure and linear in time, whatever the text. ``docs/doctor.md`` explains each finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Final

from engramdown.doctor.findings import Finding, find
from engramdown.engram import BASES, CONFIDENCES, KINDS, RULE_KINDS, SCOPES, SOURCES, fold
from engramdown.hippocampus.entry import is_memory, split_task
from engramdown.kinds import ARCHIVE, PENDING, RULES, SOUL
from engramdown.language.characters import hidden_characters, is_utf16
from engramdown.markdown.blocks import FENCE, Ends, front_matter_end
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.metadata import Metadata, comments, trailing_span
from engramdown.secrets.redaction import find_secrets

_BLANK: Final = " \t\r\n"
_BOM: Final = "\ufeff"
_FOREIGN: Final = re.compile("[\udc80-\udcff]")
_SHOWN_BYTES: Final = 8
_CONFLICT: Final = re.compile(r"(<{7}|>{7})(?:[ \r]|\Z)")
_CONFLICT_LINE: Final = re.compile(r"[<|>]{7}")
_KEY_LINE: Final = re.compile(r"[\w-]++[ \t]*+:(?:\s|\Z)")
# Up to three spaces: with four, CommonMark reads a block of code.
_INDENTED: Final = re.compile(r" {1,3}(?:[-*+]|[0-9]{1,9}+[.)])[ \t]++\S")
_GLUED_HEADING: Final = re.compile(r"#{1,6}+(\w++):?+[ \t\r]*+\Z")
# A carriage return that ends no line, and what else str.splitlines() cuts at.
_LINE_ENDS: Final = re.compile("[\x0c\x85\u2028\u2029]|\r(?!\n|\\Z)")
_LINE_END_NAMES: Final = {
    "\r": "a carriage return",
    "\x0c": "a form feed",
    "\x85": "a next line character (U+0085)",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
}
_BOX: Final = re.compile(r"\[[^\]\n]{0,3}\]")
_LIKE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Sheet:
    """A memory file, read.

    Attributes:
        file: Its name, relative to the memory folder.
        text: Its text.
        document: Its blocks.
        spelled: Its spelling on the disk, if different.
    """

    file: str
    text: str
    document: Document
    spelled: str = ""

    @classmethod
    def read(cls, file: str, text: str, spelled: str = "") -> Sheet:
        """Read the ``text`` of ``file``."""
        return cls(file, text, parse(text), spelled)

    @property
    def disk_file(self) -> str:
        """Its name as it is spelled on the disk."""
        return self.spelled or self.file

    @property
    def is_list(self) -> bool:
        """Whether its entries are memories, not proposals, retired ones or prose."""
        return self.file not in (SOUL, PENDING, ARCHIVE)

    def memories(self) -> list[Placed]:
        """Return the entries that count as memories."""
        return [placed for placed in self.document.placed() if is_memory(self.file, placed)]

    def find(self, line: int, code: str, *, fixable: bool = False, **fields: object) -> Finding:
        """Return the finding ``code`` at ``line``."""
        return find((self.disk_file, line), code, fixable=fixable, **fields)


def damage(sheet: Sheet) -> list[Finding]:
    r"""Return the findings about the text of a file.

    >>> [finding.code for finding in damage(Sheet.read("lessons.md", "```\n- Never closed\n"))]
    ['unclosed-fence']
    """
    if is_utf16(sheet.text):
        return [sheet.find(1, "utf-16")]
    found = [*_unreadable(sheet), *_conflicts(sheet), *_characters(sheet)]
    if sheet.file != SOUL:
        found += _structure(sheet)
    if sheet.file == RULES:
        found += [*_headings(sheet), *_glued_headings(sheet)]
    for placed in sheet.memories() if sheet.file == PENDING else ():
        box = _BOX.match(placed.block.text)
        if box is not None and not split_task(placed.block.text)[0]:
            found.append(sheet.find(placed.line, "unknown-tick", box=box[0]))
    return found


# ---- bytes and characters ----


def _unreadable(sheet: Sheet) -> Iterator[Finding]:
    for number, line in enumerate([] if sheet.text.isascii() else sheet.text.split("\n"), 1):
        found = _FOREIGN.findall(line)
        if found:
            shown = " ".join(f"0x{ord(char) - 0xDC00:02X}" for char in found[:_SHOWN_BYTES])
            more = " …" if len(found) > _SHOWN_BYTES else ""
            count = "1 byte that is" if len(found) == 1 else f"{len(found)} bytes that are"
            yield sheet.find(number, "unreadable-bytes", count=count, bytes=shown + more)


def _characters(sheet: Sheet) -> Iterator[Finding]:
    """Find invisible characters, foreign line ends, and secrets."""
    text = sheet.text
    hidden = [
        (at, name)
        for at, name in hidden_characters(text)
        if not _FOREIGN.match(text[at]) and not (at == 0 and text[0] == _BOM)
    ]
    for line, names in _by_line(text, hidden):
        counts = Counter(names).items()
        shown = [f"{name} ({count} times)" if count > 1 else name for name, count in counts]
        yield sheet.find(line, "hidden-character", names=", ".join(shown))
    ends = [(match.start(), _LINE_END_NAMES[match[0]]) for match in _LINE_ENDS.finditer(text)]
    for line, names in _by_line(text, ends):
        yield sheet.find(line, "foreign-line-end", names=", ".join(dict.fromkeys(names)))
    secrets = [(secret.start, secret.kind) for secret in find_secrets(text)]
    for line, kinds in _by_line(text, secrets):
        yield sheet.find(line, "secret", kinds=", ".join(dict.fromkeys(kinds)))


def _by_line(text: str, found: Iterable[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """Group names at offsets, in order, by the line on which they stand."""
    lines: dict[int, list[str]] = {}
    line, done = 1, 0
    for at, name in found:
        line += text.count("\n", done, at)
        done = at
        lines.setdefault(line, []).append(name)
    return [*lines.items()]


def _conflicts(sheet: Sheet) -> list[Finding]:
    """Find conflicts anywhere, also in code fences, which git does not know."""
    found = []
    begun = 0
    for number, line in enumerate(sheet.text.split("\n"), 1):
        match = _CONFLICT.match(line)
        if match is None:
            continue
        if match[1][0] == "<":
            begun = begun or number
        else:
            extent = f"down to line {number}" if begun else "whose beginning is missing"
            found.append(sheet.find(begun or number, "conflict", extent=extent))
            begun = 0
    if begun:
        found.append(sheet.find(begun, "conflict", extent="whose end is missing"))
    return found


# ---- open, hidden and indented text ----


def _structure(sheet: Sheet) -> Iterator[Finding]:
    line = 1
    for block in sheet.document.blocks:
        if block.shape == "prose":
            yield from _Prose(sheet, block.raw.split("\n"), line).findings()
        elif block.shape != "heading":
            for at, end in comments(block.raw):
                if end < 0:
                    yield sheet.find(line + block.raw.count("\n", 0, at), "unclosed-comment")
        line += block.raw.count("\n")


class _Prose:
    """The lines between entries, with all that is not read and everything left open.

    A block that is closed ends within these lines, as the scanner took all of it for prose.
    """

    def __init__(self, sheet: Sheet, lines: list[str], first: int) -> None:
        self.sheet = sheet
        self.lines = lines
        self.first = first
        self.ends = Ends(lines)

    def findings(self) -> Iterator[Finding]:
        at, items = 0, 0
        if self.first == 1:
            # A byte order mark may precede the first line.
            page = [self.lines[0].removeprefix(_BOM), *self.lines[1:]]
            closes = any(line.rstrip(_BLANK) in ("---", "...") for line in page[1:])
            second = self.sheet.text.split("\n", 2)[1:2]
            opens = page[0].rstrip(_BLANK) == "---" and any(map(_KEY_LINE.match, second))
            if opens and not closes:
                yield self.sheet.find(1, "unclosed-front-matter")
            at = front_matter_end(page)
        while at < len(self.lines):
            line = self.lines[at]
            indented = _INDENTED.match(line) is not None
            if indented and not items:
                yield self.sheet.find(self.first + at, "indented-item")
            items = (items or indented) if line[:1] == " " and line.strip(_BLANK) else False
            end = self._block_end(at)
            if end is None:
                code = "unclosed-comment" if line[0] == "<" else "unclosed-fence"
                yield self.sheet.find(self.first + at, code)
            elif self.sheet.is_list and (what := self._unread(at, end)):
                end = end if end > at else self._run_end(at)
                count = "1 line" if end == at else f"{end - at + 1} lines"
                yield self.sheet.find(self.first + at, "not-read", what=what, count=count)
            at = (at if end is None else end) + 1

    def _unread(self, at: int, end: int) -> str:
        """Return what kind of unread block begins at ``at``, or ``""``."""
        line = self.lines[at]
        if end > at:
            return "a code block" if line[0] in "`~" else ""
        if _CONFLICT_LINE.match(line):
            return ""
        following = self.lines[at + 1].strip(_BLANK) if at + 1 < len(self.lines) else ""
        if line[:1] == "|" or ("|" in line and "-" in following and not following.strip(" |:-")):
            return "a table"
        return "a quotation" if line[:1] == ">" else ""

    def _run_end(self, at: int) -> int:
        """Return the last line of a table or a quotation that begins at ``at``."""
        other = "|" if self.lines[at][:1] == ">" else ">"
        while at + 1 < len(self.lines):
            following = self.lines[at + 1]
            if following[:1] in ("", " ", "\t", "\r", "`", "~", "<", other):
                break
            at += 1
        return at

    def _block_end(self, at: int) -> int | None:
        """Return the last line of the block at ``at``, or ``None`` if it stays open."""
        if found := FENCE.match(self.lines[at]):
            return self.ends.of_fence(at, found[0])
        return self.ends.of_comment(at) if self.lines[at].startswith("<!--") else at


# ---- headings ----


def _headings(sheet: Sheet) -> Iterator[Finding]:
    """Find headings in ``rules.md`` that are not ours, and entries without a heading."""
    counts: dict[int, tuple[str, int]] = {}
    by_index = {placed.at: placed for placed in sheet.memories()}
    line, lines = 1, {"": 0}
    for index, block in enumerate(sheet.document.blocks):
        if block.shape == "heading":
            lines[block.text] = line
            lines[""] = 0
            kind = _near_kind(block.text)
            if kind:
                yield sheet.find(line, "near-heading", title=block.text, kind=kind.capitalize())
        placed = by_index.get(index)
        if placed is not None and not placed.kind and not _near_kind(placed.heading):
            at = lines[placed.heading] or placed.line
            lines[placed.heading] = at
            counts[at] = (placed.heading, counts.get(at, ("", 0))[1] + 1)
        line += block.raw.count("\n")
    for at, (title, number) in counts.items():
        count = "1 entry" if number == 1 else f"{number} entries"
        code = "own-heading" if title else "no-heading"
        yield sheet.find(at, code, count=count, title=title)


def _near_kind(title: str) -> str:
    """Return the rule kind that a heading almost names, or ``""``."""
    if title.rstrip(":").rstrip().casefold() in RULE_KINDS:
        return ""
    near = get_close_matches(fold(title), RULE_KINDS, 1, _LIKE)
    return near[0] if near else ""


def _glued_headings(sheet: Sheet) -> Iterator[Finding]:
    """Find ``##Always``, which is not a heading without a space."""
    for placed in sheet.document.placed():
        raw = placed.block.raw if placed.block.shape == "paragraph" else ""
        for number, line in enumerate(raw.split("\n"), placed.line):
            match = _GLUED_HEADING.match(line)
            if match and match[1].casefold() in RULE_KINDS:
                kind = match[1].capitalize()
                yield sheet.find(number, "near-heading", title=match[0], kind=kind)


# ---- metadata: only keys of ours are judged, and a correction never says more than what was there

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "confidence": CONFIDENCES,
    "source": SOURCES,
    "basis": BASES,
    "kind": KINDS,
    "scope": SCOPES,
}
_DAYS: Final = ("ts", "expires", "archived")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Year first, so that it is clear which number is the month.
_LIKE_A_DAY: Final = re.compile(r"([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})(?:T[0-9:.,+Z-]*)?")
_ID: Final = re.compile(r"[0-9A-Za-z_-]++")
_OUR_ID: Final = re.compile(r"[0-9a-hjkmnp-tv-z]{8}")
_NEARLY: Final = re.compile(r"(?<!\w)([a-z]++)[ \t]*+[:=][ \t]*+([\w./-]++)")
_CLOSE: Final = 0.6


def metadata_findings(sheet: Sheet, placed: Placed, *, ours: bool) -> Iterator[Finding]:
    """Yield the findings about the metadata of an entry.

    Args:
        sheet: The file.
        placed: The entry.
        ours: Whether we wrote it, so that ``--fix`` may mend it.
    """
    raw = placed.block.raw
    body = raw.rstrip(_BLANK)
    for at, end in comments(raw):
        # Text was written behind the metadata, which is therefore not read.
        stray = Metadata.parse(raw[at + 4 : end - 3]) if 0 < end < len(body) else None
        if stray is not None and _OUR_ID.fullmatch(stray.get("id")):
            yield sheet.find(placed.line + raw.count("\n", 0, at), "metadata-not-last")
    last = placed.line + body.count("\n")
    meta = placed.block.meta
    if meta is None:
        # A comment at the end that is almost metadata.
        span = trailing_span(body)
        found = _NEARLY.findall(body[span[0] + 4 : -3]) if span is not None else []
        if any(_speaks(key, value) for key, value in found):
            yield sheet.find(last, "near-metadata")
        return
    keys = [key for key, _ in meta.fields]
    for key in dict.fromkeys(keys):
        value = meta.get(key)
        if not _is_valid(key, value):
            mends = ours and _is_mendable(key, value)
            allowed = "an id" if key == "id" else "a date like 2026-02-27"
            allowed = f"one of {', '.join(_CHOICES[key])}" if key in _CHOICES else allowed
            fields = {"key": key, "value": value, "allowed": allowed}
            yield sheet.find(last, "metadata-value", fixable=mends, **fields)
        if keys.count(key) > 1:
            yield sheet.find(last, "metadata-twice", fixable=ours, key=key)


def corrected(meta: Metadata) -> Metadata:
    """Return ``meta`` with wrong values mended, or taken out, and the second of a key left out.

    >>> str(corrected(Metadata.parse(" id:k3v9q2ht confidence:High ts:2026/2/7 source:me ")))
    '<!-- id:k3v9q2ht confidence:high ts:2026-02-07 -->'
    """
    firsts: dict[str, str] = {}
    for key, value in meta.fields:
        firsts.setdefault(key, value)
    wrong = {key: value for key, value in meta.values().items() if _is_mendable(key, value)}
    values = {key: _nearest(key, value) for key, value in wrong.items()}
    return Metadata(tuple(firsts.items())).update(values)


def day(value: str) -> date | None:
    """Return ``value`` as a date, or ``None`` if it does not look like 2026-02-27."""
    if not _DAY.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _speaks(key: str, value: str) -> bool:
    """Whether a person would hardly write this in a note of their own."""
    if key == "id":
        return _OUR_ID.fullmatch(value) is not None
    return key in (*_CHOICES, *_DAYS) and _is_valid(key, value)


def _is_valid(key: str, value: str) -> bool:
    if key in _CHOICES:
        return value in _CHOICES[key]
    if key in _DAYS:
        return day(value) is not None
    return key != "id" or _ID.fullmatch(value) is not None


def _is_mendable(key: str, value: str) -> bool:
    """Whether a wrong value can be mended without guessing."""
    if _is_valid(key, value) or key == "id":
        return False
    return key != "expires" or _nearest(key, value) != ""


def _nearest(key: str, value: str) -> str:
    """Return the intended value, or ``""``; source and basis are never guessed."""
    if key in _DAYS:
        match = _LIKE_A_DAY.fullmatch(value)
        written = f"{match[1]}-{match[3]:0>2}-{match[4]:0>2}" if match else ""
        return written if day(written) else ""
    allowed, folded = _CHOICES[key], value.casefold()
    if folded in allowed:
        return folded
    near = get_close_matches(folded, allowed, 1, _CLOSE) if key in ("confidence", "kind") else []
    return near[0] if near else ""
