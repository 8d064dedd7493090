"""Cost grows with the length of the text, whatever the text is.

No test here measures time: a cost that grows with the square of the length would not end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

import pytest

from engramdown.engram import fold, slug
from engramdown.errors import InvalidEngramError
from engramdown.markdown.blocks import scan
from engramdown.markdown.document import Document, parse
from engramdown.markdown.merge import merge
from engramdown.markdown.metadata import Metadata, escape, unescape

MEGABYTE: Final = 1_000_000
META: Final = Metadata((("id", "zzzzzzzz"),))
CHARACTERS: Final = (*"-*+#=_~`<>!\\&;%:|[]( \t\r\n\x00a", "\u2028", "\ufeff", "\udc80")
PIECES: Final = (
    "<!--",
    "-->",
    "<!-- a -->",
    "\\<!--",
    "\\\\<!--",
    "--\\",
    "&#32;",
    "&#",
    "a:b ",
    "`a` ",
    "[x](",
    "![",
    "> ",
    "- ",
    ":-|",
    " \\",
)
QUARTER: Final = MEGABYTE // 4
FIFTH: Final = MEGABYTE // 5


def read_and_edit(text: str) -> Document:
    """Do everything that a store does to a page."""
    document = parse(text)
    assert document.render() == text
    entries = document.placed()
    for placed in entries:
        _ = placed.block.meta
    for _ in range(2):
        document.same("no such memory")
    if entries:
        document = document.note(entries[-1].block, META)
        document = document.remove(document.placed()[0].block)
    return document.add("new", META, "always")


@pytest.mark.slow
@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
def test_a_megabyte_of_one_character(character: str) -> None:
    text = character * MEGABYTE
    assert len(scan(text)) <= MEGABYTE
    (block, *_) = scan(f"- a {text} b")
    assert block.text.startswith("a")
    fold(text)
    # Most of these are escaped one by one, which is linear too, and slow.
    assert unescape(escape(text[:FIFTH])) == text[:FIFTH]


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_a_quarter_of_a_megabyte_of_one_piece(piece: str) -> None:
    run = piece * (QUARTER // len(piece))
    read_and_edit(run)
    read_and_edit(f"- a\n  {run}\n")
    read_and_edit(f"a | b\n:{run}x\n")
    assert unescape(escape(run)) == run
    str(Metadata().update({"x": run}))
    Metadata.parse(run)


PAGES: Final[dict[str, Callable[[], str]]] = {
    "bullets": lambda: "- a\n" * 50_000,
    "empty-bullets": lambda: "-\n" * 250_000,
    "bullets-and-blanks": lambda: ("- a\n" + "\n" * 50) * 5_000,
    "nested-bullets": lambda: "".join("  " * depth + "- a\n" for depth in range(700)),
    "one-item": lambda: "- a\n" + "  b\n" * 120_000,
    "nested-quotations": lambda: "".join("> " * depth + "a\n" for depth in range(700)),
    "shrinking-fences": lambda: "".join("`" * (700 - size) + "\n" for size in range(690)),
    "growing-fences": lambda: "".join("~" * (size + 3) + " a\n" for size in range(700)),
    "open-notes": lambda: "<!-- a\n" * 70_000,
    "notes-that-never-meet": lambda: "<!-- a\n" * 50_000 + "-->\n" * 25_000,
    "one-paragraph": lambda: "a\n" * 200_000,
    "headings": lambda: "a\n-\n" * 30_000,
    "sections": lambda: "## Always\n- a\n" * 20_000,
    "rules-in-front": lambda: "---\n" + "- a\n---\n" * 40_000,
    "tables": lambda: "a | b\n-|-\n" * 40_000,
    "conflicts": lambda: "<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n" * 10_000,
    "notes-in-one-item": lambda: "- a" + " <!-- b -->" * 40_000 + " c\n",
    "escapes-in-one-item": lambda: "- a" + " \\<!-- b" * 50_000 + " -->\n",
    "ids-in-one-item": lambda: "- a" + " <!-- id:aaaaaaaa -->" * 20_000 + " b\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_nothing_but(name: str) -> None:
    read_and_edit(PAGES[name]())


@pytest.mark.slow
def test_a_million_bullets() -> None:
    assert len(scan("- a\n" * 1_000_000)) == 1_000_000


def test_a_comment_with_a_hundred_thousand_keys() -> None:
    meta = Metadata.parse("x:1 " * 50_000 + "id:1 " * 50_000)
    assert meta is not None
    assert meta.update({"id": "2"}).get("id") == "2"


def test_a_merge_of_many_lines() -> None:
    base = "".join(f"- {number}\n" for number in range(2_000))
    ours = base + "".join(f"- ours {number}\n" for number in range(400))
    theirs = "".join(f"- theirs {number}\n" for number in range(400)) + base
    merged = merge(parse(base), parse(ours), parse(theirs)).document
    assert len(merged.placed()) == 2_800


def test_a_topic_of_a_megabyte_is_refused() -> None:
    with pytest.raises(InvalidEngramError):
        slug("a " * QUARTER)


@pytest.mark.slow
def test_a_hundred_thousand_lines_cost_a_line_what_a_thousand_do() -> None:
    lines = (
        "# Title\n\n## Always\n\n- one <!-- id:aaaaaaaa -->\n  more\n\npara\n```\n- x\n```\n<!--\n"
        "- out <!-- id:bbbbbbbb -->\n-->\n> quote\n"
    )
    few = calls(lambda: parse(lines * 65).placed())
    many = calls(lambda: parse(lines * 6_500).placed())
    assert many <= few * 105


def calls(work: Callable[[], object]) -> int:
    """Return how many calls ``work`` makes, of Python's own functions too."""
    count = 0

    def look(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
