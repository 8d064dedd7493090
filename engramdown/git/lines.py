"""Three-way merge of lines, as ``git merge-file`` does it, and of other things in a row.

``merge(base, base, theirs)`` is ``theirs`` and ``merge(base, ours, base)`` is ``ours``; what both
sides changed is a :class:`Clash`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from pathlib import Path
from typing import Final, Literal, NamedTuple

from engramdown.errors import GitError
from engramdown.storage.git_program import ask, complaint, environment

_SIDES: Final = ("ours", "base", "theirs")
_MARKER: Final = 20
_SAID_NO: Final = 128
# For git a line without a letter or digit does not separate two clashes, so it is marked.
_DIGITS: Final = str.maketrans("0123456789", "!#$%&()*+,")
_NUMBERS: Final = str.maketrans("!#$%&()*+,", "0123456789")


class Clash(NamedTuple):
    """What the two sides changed in different ways: the lines of each."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]


class Markers(NamedTuple):
    """How a clash is shown.

    Attributes:
        size: How many characters a marker line begins with.
        ours: The name of our side.
        base: The name of the common ancestor, which is shown only where git merges as text.
        theirs: The name of the other side.
    """

    size: int = 7
    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"


Taken = Literal["same", "ours", "theirs", "both", "clash"]


class Region(NamedTuple):
    """A stretch of three sequences, as slices.

    Attributes:
        base: The stretch of the common ancestor.
        ours: What our side has there.
        theirs: What the other side has there.
        taken: ``same`` where all agree, the side that alone changed it, ``both`` where both made
            the same of it, or ``clash``.
    """

    base: slice
    ours: slice
    theirs: slice
    taken: Taken


Piece = str | Clash


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text with their ends; only ``\n`` ends a line.

    >>> lines_of("a\r\n\nb")
    ['a\r\n', '\n', 'b']
    """
    *ended, last = text.split("\n")
    return [f"{line}\n" for line in ended] + ([last] if last else [])


def merge(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Piece]:
    """Return the lines of the merge, in order, with what clashes.

    >>> merge(["a", "b", "c"], ["x", "b", "c"], ["a", "b", "y"])
    ['x', 'b', 'y']

    Raises:
        GitError: If git cannot be asked.
    """
    if theirs in (base, ours):
        return [*ours]
    if ours == base:
        return [*theirs]
    # Each line is a number for git: then no line is a marker, whatever its end and its characters.
    numbers: dict[str, str] = {}
    for line in (*ours, *base, *theirs):
        number = f"{len(numbers)}\n"
        has_words = any(character.isalnum() for character in line)
        numbers.setdefault(line, number if has_words else number.translate(_DIGITS))
    texts = ["".join(numbers[line] for line in side) for side in (ours, base, theirs)]
    output = _merge_file(texts)
    lines = [*numbers]
    pieces: list[Piece] = []
    sides: list[list[str]] = []
    for row in output.split("\n")[:-1]:
        if row.startswith("<" * _MARKER):
            sides = [[]]
        elif row.startswith("=" * _MARKER):
            sides.append([])
        elif row.startswith(">" * _MARKER):
            pieces.append(Clash(*map(tuple, sides)))
            sides = []
        else:
            line = lines[int(row.translate(_NUMBERS))]
            if sides:
                sides[-1].append(line)
            else:
                pieces.append(line)
    return pieces


def _merge_file(texts: Sequence[str]) -> str:
    # Imported here: it loads more than a merge without a clash needs.
    import tempfile

    with tempfile.TemporaryDirectory(prefix="engramdown-") as folder:
        place = Path(folder)
        for name, text in zip(_SIDES, texts, strict=True):
            (place / name).write_bytes(text.encode())
        args = ("merge-file", "-p", f"--marker-size={_MARKER}", *_SIDES)
        code, output, wrong = ask(place, environment(), args)
    if code >= _SAID_NO:
        raise GitError(complaint(place, wrong))
    return output.decode()


def render(pieces: Sequence[Piece], markers: Markers, eol: str = "\n") -> str:
    r"""Return the text of a merge, what clashes between markers.

    >>> render(["a\n", Clash(("b\n",), ("c",))], Markers())
    'a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n'
    """
    parts: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        shown = [
            ("<", markers.ours, piece.ours),
            ("=", "", piece.theirs),
            (">", markers.theirs, ()),
        ]
        for char, label, lines in shown:
            parts.append(f"{char * markers.size} {label}".rstrip(" ") + eol)
            parts += [line if line.endswith("\n") else line + eol for line in lines]
    return "".join(parts)


def regions(
    base: Sequence[object], ours: Sequence[object], theirs: Sequence[object]
) -> list[Region]:
    """Return the stretches of a three-way merge, in order; together they are all three.

    >>> [(region.base, region.taken) for region in regions("abc", "abx", "abc")]
    [(slice(0, 2, None), 'same'), (slice(2, 3, None), 'ours')]
    """
    stretches: list[Region] = []
    at = (0, 0, 0)
    for start, mine, other, size in _agreed(base, ours, theirs):
        old, left, right = map(slice, at, (start, mine, other))
        if at != (start, mine, other):
            taken: Taken = "clash"
            if ours[left] == theirs[right]:
                taken = "both"
            elif ours[left] == base[old]:
                taken = "theirs"
            elif theirs[right] == base[old]:
                taken = "ours"
            stretches.append(Region(old, left, right, taken))
        at = (start + size, mine + size, other + size)
        if size:
            old, left, right = map(slice, (start, mine, other), at)
            stretches.append(Region(old, left, right, "same"))
    return stretches


def _agreed(
    base: Sequence[object], ours: Sequence[object], theirs: Sequence[object]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield where all three agree: at which index of each, and how far; at last their ends."""
    mine, other = (
        SequenceMatcher(None, base, side).get_matching_blocks() for side in (ours, theirs)
    )
    waiting = iter(other)
    theirs_next: Match = next(waiting)
    for block in mine:
        while True:
            start = max(block.a, theirs_next.a)
            end = min(block.a + block.size, theirs_next.a + theirs_next.size)
            if start < end:
                left = block.b + start - block.a
                yield start, left, theirs_next.b + start - theirs_next.a, end - start
            if theirs_next.a + theirs_next.size > block.a + block.size or not theirs_next.size:
                break
            theirs_next = next(waiting)
    yield len(base), len(ours), len(theirs), 0
