"""What is wrong with the metadata of an entry, and what it most likely should be.

Promises: pure; only keys of ours are judged; a correction never says more than what was there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Final

from engramdown.cortex.damage import Sheet, comments
from engramdown.doctor.findings import Finding
from engramdown.engram import BASES, CONFIDENCES, KINDS, SCOPES, SOURCES
from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Placed
from engramdown.markdown.metadata import Metadata, trailing_span

__all__ = ["corrected", "day", "metadata_findings"]

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "confidence": CONFIDENCES,
    "source": SOURCES,
    "basis": BASES,
    "kind": KINDS,
    "scope": SCOPES,
}
_BLANK: Final = " \t\r\n"
_DAYS: Final = ("ts", "expires", "archived")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Year first, so that nobody has to guess which number is the month.
_LIKE_A_DAY: Final = re.compile(r"([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})(?:T[0-9:.,+Z-]*)?")
_ID: Final = re.compile(r"[0-9A-Za-z_-]++")
_OUR_ID: Final = re.compile(r"[0-9a-hjkmnp-tv-z]{8}")
_NEARLY: Final = re.compile(r"(?<!\w)([a-z]++)[ \t]*+[:=][ \t]*+([\w./-]++)")
_CLOSE: Final = 0.6


def metadata_findings(sheet: Sheet, placed: Placed, *, ours: bool) -> Iterator[Finding]:
    """Yield what is wrong with the metadata of an entry.

    Args:
        sheet: The file.
        placed: The entry.
        ours: Whether we wrote it, so that ``--fix`` may mend it.
    """
    yield from _stray(sheet, placed)
    last = placed.line + placed.block.raw.rstrip(_BLANK).count("\n")
    meta = placed.block.meta
    if meta is None:
        if _is_nearly(placed.block):
            yield sheet.find(last, "near-metadata")
        return
    keys = [key for key, _ in meta.fields]
    for key in dict.fromkeys(keys):
        value = meta.get(key)
        if not _is_valid(key, value):
            fields = {"key": key, "value": value, "allowed": _allowed(key)}
            yield sheet.find(
                last, "metadata-value", fixable=ours and _is_mendable(key, value), **fields
            )
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
    values = {
        key: _nearest(key, meta.get(key)) for key in firsts if _is_mendable(key, meta.get(key))
    }
    return Metadata(tuple(firsts.items())).update(values)


def day(value: str) -> date | None:
    """Return the date that ``value`` says, or ``None`` if it is none like 2026-02-27."""
    if not _DAY.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _stray(sheet: Sheet, placed: Placed) -> Iterator[Finding]:
    """Find metadata that lost its place because something was written behind it."""
    raw = placed.block.raw
    size = len(raw.rstrip(_BLANK))
    for at, end in comments(raw):
        meta = Metadata.parse(raw[at + 4 : end - 3]) if 0 < end < size else None
        if meta is not None and _OUR_ID.fullmatch(meta.get("id")):
            yield sheet.find(placed.line + raw.count("\n", 0, at), "metadata-not-last")


def _is_nearly(block: Block) -> bool:
    """Whether the entry ends with a comment that is no metadata but for a slip of the pen."""
    body = block.raw.rstrip(_BLANK)
    span = trailing_span(body)
    if span is None:
        return False
    return any(_speaks(key, value) for key, value in _NEARLY.findall(body[span[0] + 4 : -3]))


def _speaks(key: str, value: str) -> bool:
    """Whether nobody would write this in a note of their own."""
    if key == "id":
        return _OUR_ID.fullmatch(value) is not None
    return key in (*_CHOICES, *_DAYS) and _is_valid(key, value)


def _is_valid(key: str, value: str) -> bool:
    if key in _CHOICES:
        return value in _CHOICES[key]
    if key in _DAYS:
        return day(value) is not None
    return key != "id" or _ID.fullmatch(value) is not None


def _allowed(key: str) -> str:
    if key in _CHOICES:
        return f"one of {', '.join(_CHOICES[key])}"
    return "an id" if key == "id" else "a date like 2026-02-27"


def _is_mendable(key: str, value: str) -> bool:
    """Whether a wrong value can be mended without guessing what a person meant."""
    if _is_valid(key, value) or key == "id":
        return False
    return key != "expires" or _nearest(key, value) != ""


def _nearest(key: str, value: str) -> str:
    """Return the value that was meant, or ``""``; who says it, and how it is known, is no guess."""
    if key in _DAYS:
        match = _LIKE_A_DAY.fullmatch(value)
        written = f"{match[1]}-{match[3]:0>2}-{match[4]:0>2}" if match else ""
        return written if day(written) else ""
    allowed, folded = _CHOICES[key], value.casefold()
    if folded in allowed:
        return folded
    near = get_close_matches(folded, allowed, 1, _CLOSE) if key in ("confidence", "kind") else []
    return near[0] if near else ""
