r"""The text of a file, a command on it, and what the model is shown of both.

Promises: pure; a command changes the characters that it is about and no others; only ``\n`` ends a
line; a command that cannot be carried out is told in the words that models know from this tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engramdown.errors import MemoryCommandError

__all__ = [
    "MOST_SHOWN",
    "excerpt",
    "inserted",
    "lines_of",
    "listing",
    "numbered",
    "replaced",
    "shown",
]

_LISTED: Final = (
    "Here're the files and directories up to 2 levels deep in {}, excluding hidden items:"
)
MOST_SHOWN: Final = 16_000
"""Characters of a file that are shown at once."""

_WIDTH: Final = 6
_AROUND: Final = 2
_UNITS: Final = ("B", "K", "M", "G")
_KILO: Final = 1024
_QUOTED: Final = 200


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without an empty one behind its last line end.

    >>> lines_of("one\ntwo\n"), lines_of("")
    (['one', 'two'], [])
    """
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def replaced(path: str, text: str, old: str, new: str) -> str:
    """Return ``text`` with ``new`` in the place of ``old``.

    Raises:
        MemoryCommandError: If ``old`` does not stand there exactly once.
    """
    count = text.count(old) if old else 0
    if count == 0:
        raise MemoryCommandError(
            f"No replacement was performed, old_str `{_cut(old)}` did not appear verbatim in "
            f"{path}."
        )
    if count > 1:
        places, at = [], text.find(old)
        while at >= 0:
            places.append(str(text.count("\n", 0, at) + 1))
            at = text.find(old, at + 1)
        raise MemoryCommandError(
            f"No replacement was performed. Multiple occurrences of old_str `{_cut(old)}` in "
            f"lines: {', '.join(places)}. Please ensure it is unique"
        )
    return text.replace(old, new)


def inserted(text: str, line: int, new: str) -> str:
    r"""Return ``text`` with ``new`` behind a line, from 0.

    Raises:
        MemoryCommandError: If there is no such line.

    >>> inserted("one\ntwo\n", 1, "half")
    'one\nhalf\ntwo\n'
    """
    lines = lines_of(text)
    if not 0 <= line <= len(lines):
        raise MemoryCommandError(
            f"Invalid `insert_line` parameter: {line}. "
            f"It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, new.removesuffix("\n"))
    return "\n".join(lines) + "\n"


def shown(path: str, text: str, view_range: tuple[int, int] | None = None) -> str:
    """Return what a model sees of a file: its lines with their numbers, all that fit or some.

    Raises:
        MemoryCommandError: If the range is none of the file.
    """
    lines = lines_of(text)
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else last
    # A last line behind the end is asked for by whoever does not know how long the file is.
    if view_range is not None and not 1 <= first <= min(last, max(len(lines), 1)):
        raise MemoryCommandError(
            f"Invalid `view_range`: [{view_range[0]}, {view_range[1]}]. {path} has "
            f"{len(lines)} lines; -1 as the second number is the last one."
        )
    rows = numbered(lines[first - 1 : last], first)
    some = _fitting(rows)
    if len(some) < len(rows):
        left = len(rows) - len(some)
        again = f"{left} more lines; view_range [{first + len(some)}, {first + len(rows) - 1}]"
        some.append(f"({again} shows them)")
    return "\n".join([f"Here's the content of {path} with line numbers:", *some])


def _fitting(rows: Sequence[str]) -> list[str]:
    """Return as many rows as a model is shown at once, at least one."""
    fitting: list[str] = []
    size = 0
    for row in rows:
        size += len(row) + 1
        if size > MOST_SHOWN and fitting:
            break
        fitting.append(row)
    return fitting


def numbered(lines: Sequence[str], first: int = 1) -> list[str]:
    r"""Return lines with their numbers in front.

    >>> numbered(["one"], 7)
    ['     7\tone']
    """
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first)]


def excerpt(before: str, after: str) -> list[str]:
    """Return the lines around what differs in ``after``, numbered."""
    old, new = lines_of(before), lines_of(after)
    least = min(len(old), len(new))
    start = next((at for at in range(least) if old[at] != new[at]), least)
    same = next((at for at in range(least - start) if old[-1 - at] != new[-1 - at]), least - start)
    first = max(start - _AROUND, 0)
    return numbered(new[first : len(new) - same + _AROUND], first + 1)


def listing(path: str, files: Sequence[tuple[str, int]]) -> str:
    """Return what a model sees of a folder.

    Args:
        path: Its path.
        files: Each file or folder below it and its size in bytes; a folder ends with a slash.
    """
    total = sum(size for name, size in files if not name.endswith("/"))
    rows = [f"{_size(size)}\t{path}/{name}" for name, size in files]
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    return "\n".join([head, f"{_size(total)}\t{path}", *rows])


def _size(count: int) -> str:
    """Return a number of bytes as ``ls -h`` would.

    >>> _size(0), _size(1536), _size(1024)
    ('0B', '1.5K', '1K')
    """
    power = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / _KILO**power
    return f"{int(size)}{_UNITS[power]}" if size == int(size) else f"{size:.1f}{_UNITS[power]}"


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"
