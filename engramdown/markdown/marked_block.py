r"""Memory as a marked block in a file that somebody else owns, such as ``AGENTS.md``. No I/O.

No byte outside the block changes, whatever it is: CRLF, a byte order mark, what is no
UTF-8, a last line without an end; putting the same in again changes nothing, and taking the block
out gives the file back as it was. A file in which the block cannot be found for sure is refused: a
mark without its other half, two blocks, a code fence that is never closed. So is one in which
somebody wrote between the marks. Marks in a code fence are somebody's example.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
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


class _Line(NamedTuple):
    """A line of a file: its number from 1, where it begins, and its bytes."""

    number: int
    start: int
    data: bytes


class _Block(NamedTuple):
    """Where the block stands."""

    line: int
    start: int
    inner: int
    end: int
    stop: int
    gap: int
    digest: str

    def newline(self, data: bytes) -> bytes:
        """Return how its lines end."""
        return b"\r\n" if data[: self.inner].endswith(b"\r\n") else b"\n"

    def is_ours(self, data: bytes) -> bool:
        """Whether it holds what we wrote there, however its lines end now."""
        return not self.digest or self.digest == _digest(data[self.inner : self.end])


def put_in(data: bytes, text: str, *, force: bool = False) -> bytes:
    r"""Return a file with ``text`` in its block, which is at the end if there was none.

    Args:
        data: The file; ``b""`` if there is none.
        text: What is to stand in it; ``""`` takes the block out.
        force: Replace also what somebody wrote between the marks.

    Raises:
        BlockError: If the file is refused.

    >>> found(put_in(b"# Ours\n", "- Use uv"))
    '- Use uv'
    """
    if not text:
        return taken_out(data, force=force)
    block = _block(data)
    if block is None:
        newline = b"\r\n" if b"\r\n" in data else b"\n"
        bare = data.removeprefix(_MARK)
        gap = 0 if not bare else 1 if bare.endswith(b"\n") else 2
        return data + newline * gap + _made(text, gap, newline) + newline
    _check_ours(data, block, force=force)
    last = data[block.stop - 1 : block.stop] == b"\n"
    made = _made(text, block.gap, block.newline(data)) + (block.newline(data) if last else b"")
    return data[: block.start] + made + data[block.stop :]


def taken_out(data: bytes, *, force: bool = False) -> bytes:
    """Return a file without the block; one without a block is returned as it is.

    Args:
        data: The file.
        force: Take also what somebody wrote between the marks.

    Raises:
        BlockError: If the file is refused.
    """
    block = _block(data)
    if block is None:
        return data
    _check_ours(data, block, force=force)
    newline = block.newline(data)
    before = data[: block.start]
    for _ in range(block.gap):
        before = before.removesuffix(newline)
    return before + data[block.stop :]


def found(data: bytes) -> str | None:
    """Return what stands in the block, with plain line ends; ``None`` if there is none.

    Raises:
        BlockError: If the file is refused.
    """
    block = _block(data)
    if block is None:
        return None
    inner = data[block.inner : block.end].replace(b"\r\n", b"\n")
    return inner.decode("utf-8", "surrogateescape").removesuffix("\n")


def _check_ours(data: bytes, block: _Block, *, force: bool) -> None:
    if not force and not block.is_ours(data):
        what = (
            "somebody wrote between the marks; move that out of the block, or use --force to "
            "replace it"
        )
        raise BlockError(block.line, what)


def _made(text: str, gap: int, newline: bytes) -> bytes:
    lines = text.replace(BEGIN[:4] + " engramdown:", "<! -- engramdown:").split("\n")
    inner = b"".join(line.encode("utf-8", "surrogateescape") + newline for line in lines)
    begin = f"{BEGIN} gap:{gap} sum:{_digest(inner)} {_ABOUT} -->".encode()
    return begin + newline + inner + END.encode()


def _digest(inner: bytes) -> str:
    return hashlib.sha256(inner.replace(b"\r\n", b"\n")).hexdigest()[:_DIGITS]


def _block(data: bytes) -> _Block | None:
    """Return where the block stands, or ``None`` if there is none."""
    if data.startswith(_OTHERS) or b"\0" in data[:64]:
        raise BlockError(1, "is no UTF-8 but UTF-16 or binary; save it as UTF-8")
    begun: _Line | None = None
    block: _Block | None = None
    for line, mark in _marks(data):
        if mark == "torn":
            what = "the mark of a block is damaged; mend the line as it was, or delete the block"
            raise BlockError(line.number, what)
        if mark == "fence":
            what = "a code fence begins here that is never closed; close it"
            raise BlockError(line.number, what)
        if mark == "begin" and begun is None:
            if block is not None:
                raise BlockError(line.number, "a second block begins here; delete one of the two")
            begun = line
        elif mark == "end" and begun is not None:
            block = _between(begun, line)
            begun = None
        else:
            what = "the mark of a block stands here without its other half; delete it"
            raise BlockError(line.number, what)
    if begun is not None:
        what = f"a block begins here and never ends; put {END} below it, or delete the mark"
        raise BlockError(begun.number, what)
    return block


def _between(begun: _Line, ended: _Line) -> _Block:
    mark = _BEGINS.fullmatch(begun.data)
    gap, digest = (mark[1], mark[2]) if mark else (None, None)
    return _Block(
        line=begun.number,
        start=begun.start,
        inner=begun.start + len(begun.data),
        end=ended.start,
        stop=ended.start + len(ended.data),
        gap=int(gap or 0),
        digest=(digest or b"").decode(),
    )


def _marks(data: bytes) -> Iterator[tuple[_Line, str]]:
    """Yield the lines that are marks outside of code fences, and a fence that is never closed."""
    fence: tuple[_Line, bytes] | None = None
    inside = False
    for line in _lines(data):
        if fence is None and (inside or not _FENCE.match(line.data)):
            mark = _mark(line.data)
            inside = (inside or mark == "begin") and mark != "end"
            if mark:
                yield line, mark
        elif fence is None:
            opened = _FENCE.match(line.data)
            info = opened[2] if opened else b""
            # A line of backquotes with one behind them is code in a line.
            if opened and not (opened[1].startswith(b"`") and b"`" in info):
                fence = line, opened[1]
        elif _closes(line.data, fence[1]):
            fence = None
    if fence is not None:
        yield fence[0], "fence"


def _mark(line: bytes) -> str:
    if _BEGINS.fullmatch(line):
        return "begin"
    if _ENDS.fullmatch(line):
        return "end"
    return "torn" if _TORN.match(line) else ""


def _closes(line: bytes, opened: bytes) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(opened) and not found[2].strip()


def _lines(data: bytes) -> Iterator[_Line]:
    start = len(_MARK) if data.startswith(_MARK) else 0
    for number, line in enumerate(_split(data[start:]), 1):
        yield _Line(number, start, line)
        start += len(line)


def _split(data: bytes) -> Sequence[bytes]:
    return [line for line in re.split(rb"(?<=\n)", data) if line]
