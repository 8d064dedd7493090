"""How an entry is set between others so that every one of them reads as before.

Promises: blocks that come out of here are the blocks that a reader finds in their text; what keeps
neighbours apart is a blank line, or an empty comment where a blank line is not enough; the bytes
of the neighbours stay. Looks at a few blocks around, and at the whole file only if it has to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engramdown.markdown.blocks import Block, indented, is_rule, leaves_open, scan
from engramdown.markdown.metadata import Metadata, escape

__all__ = ["fit", "joined", "prose", "reads_back", "written"]

_BOM: Final = "\ufeff"
_NEAR: Final = 2
# What keeps two neighbours apart when nothing else does; tried in this order.
_SEPARATORS: Final = ("", "{eol}", "<!-- -->{eol}", "{eol}<!-- -->{eol}")

_Around = tuple[str, str]


def written(text: str, meta: Metadata | None, eol: str = "\n", bullet: str = "-") -> str:
    r"""Return the list item that says ``text``, ended by ``eol``.

    >>> written("Use uv\nnever pip", Metadata((("id", "k3v9q2ht"),)))
    '- Use uv\n  never pip <!-- id:k3v9q2ht -->\n'
    """
    body = indented(escape(text), eol, len(bullet) + 1)
    first = body.partition("\n")[0]
    if is_rule(f"{bullet} {first}"):
        # "- ---" is a line across the page, not a list item.
        body = f"&#{ord(body[0])};{body[1:]}"
    if meta is None or not meta.fields:
        return f"{bullet} {body}{eol}"
    # Behind the fence that ends a code block the comment would be part of the code.
    last = body.rpartition("\n")[2].lstrip()
    gap = f"{eol}{' ' * (len(bullet) + 1)}" if last.startswith(("```", "~~~")) else " "
    return f"{bullet} {body}{gap}{meta}{eol}"


def prose(raw: str) -> list[Block]:
    """Return the block of ``raw``, or none of nothing."""
    return [Block(raw, "prose")] if raw else []


def joined(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with neighbours of prose as one; a byte order mark stays alone."""
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        if last and last.shape == block.shape == "prose" and last.raw != _BOM:
            found[-1] = Block(last.raw + block.raw, "prose")
        else:
            found.append(block)
    return found


def reads_back(blocks: Sequence[Block]) -> bool:
    """Whether a reader finds these blocks in their text, prose aside."""
    return _said(scan("".join([block.raw for block in blocks]))) == _said(blocks)


def fit(
    blocks: Sequence[Block],
    place: range,
    new: Sequence[Block],
    eol: str,
    around: _Around = ("", ""),
) -> list[Block]:
    """Return what is to stand in the place of some blocks so that all others read as before.

    Args:
        blocks: The blocks of a file.
        place: The indexes of the blocks that are replaced; may be empty.
        new: The entries to set there.
        eol: The line end of the file.
        around: Prose that stays right above and right below ``new``.

    Returns:
        ``new`` with the prose that is needed around it. An entry that could not be read back here
        as it is written is written anew.
    """
    tries = (
        way
        for way, reach in _ways(blocks, place, new, eol, around)
        if _reads_so(blocks, place, way, reach)
    )
    return next(tries, [*prose(around[0]), *new, *prose(around[1])])


def _ways(
    blocks: Sequence[Block], place: range, new: Sequence[Block], eol: str, around: _Around
) -> Iterator[tuple[list[Block], int]]:
    """Yield how ``new`` may be set, the nicest way first, and how far around to look."""
    # Front matter, an open comment or a conflict marker can decide how a line far away reads.
    if place.start > 1 and not any(map(_reaches_far, new)):
        yield from ((way, _NEAR) for way in _apart(new, eol, around))
    far = len(blocks)
    yield from ((way, far) for way in _apart(new, eol, around))
    plain = [Block(written(block.text, block.meta, eol), "item") for block in new]
    yield from ((way, far) for way in _apart(plain, eol, around))


def _apart(new: Sequence[Block], eol: str, around: _Around) -> Iterator[list[Block]]:
    for above in _SEPARATORS if new else ("",):
        for below in _SEPARATORS:
            over, under = (text.format(eol=eol) for text in (above, below))
            yield [*prose(around[0] + over), *new, *prose(under + around[1])]


def _reads_so(blocks: Sequence[Block], place: range, way: Sequence[Block], reach: int) -> bool:
    """Whether blocks set this way read as they are, with ``reach`` blocks around them."""
    before = blocks[max(place.start - reach, 0) : place.start]
    whole = [*before, *way, *blocks[place.stop : place.stop + reach]]
    # Only the very first line of a file may be a byte order mark or begin front matter.
    lead = "\n" if place.start > reach else ""
    return _said(scan(lead + "".join([block.raw for block in whole]))) == _said(whole)


def _reaches_far(block: Block) -> bool:
    return block.shape == "paragraph" or leaves_open(block.raw)


def _said(blocks: Sequence[Block]) -> list[tuple[str, str]]:
    return [(block.shape, block.raw) for block in blocks if block.shape != "prose"]
