r"""Memory as a marked block in a file that somebody else owns, such as ``AGENTS.md``. No I/O.

No byte outside the block changes, whatever it is: CRLF, a byte order mark, bytes that are not
UTF-8, a last line without an end; putting the same in again changes nothing, and taking the block
out gives the file back as it was. A file in which the block cannot be found for sure is refused: a
mark without its other half, two blocks, a code fence that is never closed. So is one in which
somebody wrote between the marks. Marks in a code fence are somebody's example.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

BEGIN: Final = "<!-- engramdown:begin"
END: Final = "<!-- engramdown:end -->"

_BEGINS: Final = re.compile(
    rb"<!-- engramdown:begin(?: gap:([0-2]))?(?: sum:([0-9a-f]{12}))?(?: [^>\n]*)?-->[ \t]*\r?\n?"
)
_ENDS: Final = re.compile(rb"<!-- engramdown:end -->[ \t]*\r?\n?")
_TORN: Final = re.compile(rb"<!-- engramdown:(?:begin|end)\b")
_FENCE: Final = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_MARK: Final = b"\xef\xbb\xbf"
_OTHERS: Final = (b"\xff\xfe", b"\xfe\xff")
_ABOUT: Final = "written by `engramdown context --write`; edit memory, not this"
_DIGITS: Final = 12


class BlockError(ValueError):
    """The block of a file cannot be found for sure, or is not ours alone any more.

    Attributes:
        line: Where, from 1.
        what: What is wrong there, and what to do.
    """

    def __init__(self, line: int, what: str) -> None:
        """Say what is wrong in a line."""
        self.line = line
        self.what = what
        super().__init__(f"line {line}: {what}")


_WRONG: Final = {
    "not ours": "somebody wrote between the marks; move that out, and delete the block",
    "binary": "is UTF-16 or binary; save it as UTF-8",
    "torn": "the mark of a block is damaged; mend the line as it was, or delete the block",
    "fence": "a code fence begins here that is never closed; close it",
    "second": "a second block begins here; delete one of the two",
    "half": "the mark of a block is here without its other half; delete it",
    "open": f"a block begins here and never ends; put {END} below it, or delete the mark",
}


class _Block(NamedTuple):
    """Where the block is: its line from 1, and where its marks and the text between them are."""

    line: int
    start: int
    inner: int
    end: int
    stop: int
    gap: int
    digest: str
    newline: bytes


def put_in(data: bytes, text: str, *, force: bool = False) -> bytes:
    r"""Return a file with ``text`` in its block, which is at the end if there was none.

    Args:
        data: The file; ``b""`` if it is missing.
        text: What is to stand in it; ``""`` takes the block out.
        force: Replace also what somebody wrote between the marks.

    Raises:
        BlockError: If the file is refused.

    >>> found(put_in(b"# Ours\n", "- Use uv"))
    '- Use uv'
    """
    if not text:
        return taken_out(data, force=force)
    block = _block(data, force=force)
    if block is None:
        newline = b"\r\n" if b"\r\n" in data else b"\n"
        bare = data.removeprefix(_MARK)
        gap = 0 if not bare else 1 if bare.endswith(b"\n") else 2
        return data + newline * gap + _made(text, gap, newline) + newline
    last = block.newline if data[block.stop - 1 : block.stop] == b"\n" else b""
    made = _made(text, block.gap, block.newline) + last
    return data[: block.start] + made + data[block.stop :]


def taken_out(data: bytes, *, force: bool = False) -> bytes:
    """Return a file without the block; one without a block is returned as it is.

    Args:
        data: The file.
        force: Take also what somebody wrote between the marks.

    Raises:
        BlockError: If the file is refused.
    """
    block = _block(data, force=force)
    if block is None:
        return data
    before = data[: block.start]
    for _ in range(block.gap):
        before = before.removesuffix(block.newline)
    return before + data[block.stop :]


def found(data: bytes) -> str | None:
    """Return the text in the block, with plain line ends; ``None`` without a block.

    Raises:
        BlockError: If the file is refused.
    """
    block = _block(data, force=True)
    if block is None:
        return None
    inner = data[block.inner : block.end].replace(b"\r\n", b"\n")
    return inner.decode("utf-8", "surrogateescape").removesuffix("\n")


def _made(text: str, gap: int, newline: bytes) -> bytes:
    lines = text.replace(BEGIN[:4] + " engramdown:", "<! -- engramdown:").split("\n")
    inner = b"".join(line.encode("utf-8", "surrogateescape") + newline for line in lines)
    begin = f"{BEGIN} gap:{gap} sum:{_digest(inner)} {_ABOUT} -->".encode()
    return begin + newline + inner + END.encode()


def _digest(inner: bytes) -> str:
    return hashlib.sha256(inner.replace(b"\r\n", b"\n")).hexdigest()[:_DIGITS]


def _block(data: bytes, *, force: bool) -> _Block | None:
    """Return where the block is, or ``None``; others' text is refused unless ``force`` is set."""
    if data.startswith(_OTHERS) or b"\0" in data[:64]:
        raise BlockError(1, _WRONG["binary"])
    begun: tuple[int, int, bytes] | None = None
    block: _Block | None = None
    for (number, start, line), mark in _marks(data):
        if mark == "begin" and begun is None and block is None:
            begun = number, start, line
        elif mark == "end" and begun is not None:
            at, first, opening = begun
            gap, digest = _BEGINS.findall(opening)[0]
            newline = b"\r\n" if opening.endswith(b"\r\n") else b"\n"
            places = (at, first, first + len(opening), start, start + len(line))
            block = _Block(*places, int(gap or 0), digest.decode(), newline)
            begun = None
        else:
            is_second = mark == "begin" and begun is None
            wrong = "second" if is_second else mark if mark in _WRONG else "half"
            raise BlockError(number, _WRONG[wrong])
    if begun is not None:
        raise BlockError(begun[0], _WRONG["open"])
    # However its lines end now.
    is_ours = block is None or block.digest in ("", _digest(data[block.inner : block.end]))
    if block is not None and not is_ours and not force:
        raise BlockError(block.line, _WRONG["not ours"])
    return block


def _marks(data: bytes) -> Iterator[tuple[tuple[int, int, bytes], str]]:
    """Yield the lines that are marks outside of code fences, and a fence that is never closed.

    Each is its number from 1, where it begins, and its bytes.
    """
    fence: tuple[tuple[int, int, bytes], bytes] | None = None
    inside = False
    start = len(_MARK) if data.startswith(_MARK) else 0
    for number, line in enumerate(filter(None, re.split(rb"(?<=\n)", data[start:])), 1):
        fenced, place = _FENCE.match(line), (number, start, line)
        start += len(line)
        if fence is None and (inside or not fenced):
            mark = _mark(line)
            inside = (inside or mark == "begin") and mark != "end"
            if mark:
                yield place, mark
        elif fence is None and fenced:
            # A line of backquotes with one behind them is code in a line.
            if not (fenced[1].startswith(b"`") and b"`" in fenced[2]):
                fence = place, fenced[1]
        elif fence and fenced and fenced[1].startswith(fence[1]) and not fenced[2].strip():
            fence = None
    if fence is not None:
        yield fence[0], "fence"


def _mark(line: bytes) -> str:
    if _BEGINS.fullmatch(line):
        return "begin"
    if _ENDS.fullmatch(line):
        return "end"
    return "torn" if _TORN.match(line) else ""
