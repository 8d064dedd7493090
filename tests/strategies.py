"""Nasty input for property tests: markdown as no editor would write it, texts, metadata, bytes.

Promises: every strategy makes small examples of many kinds of trouble, so that they meet each
other; nothing here knows the code under test.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

__all__ = [
    "HUGE_LINE",
    "LINES",
    "LINE_ENDS",
    "TROUBLE",
    "any_bytes",
    "any_text",
    "item_lines",
    "markdown",
    "memory_texts",
    "metadata_values",
    "repeated",
]

HUGE_LINE: Final = "- " + "x" * 100_000
"""One line of 100,000 characters and a bullet."""

LINES: Final = (
    # entries
    "- item",
    "* star",
    "+ plus",
    "- ",
    "-",
    "*",
    "-no space",
    "-\ttab",
    "- e <!-- id:aaaaaaaa ts:2026-01-01 -->",
    "- e <!-- id:aaaaaaaa x:%20 -->",
    "- twice <!-- id:cccccccc --> <!-- id:dddddddd -->",
    "- mine <!-- a private note -->",
    "- in `code <!-- x -->`",
    "- joined<!-- x -->words",
    "- a \\<!-- b",
    "- a \\\\<!-- b -->",
    "- opens <!-- here",
    "- closes --> here",
    "- [ ] task <!-- id:eeeeeeee kind:always -->",
    "- # Title in an item",
    "- ```",
    "1. one",
    "12) twelve",
    "-5 degrees",
    # what continues an entry
    "  indented",
    "  - nested",
    "    - deeper",
    " one space",
    "\tTab",
    "    code",
    "  ```",
    "  cont <!-- id:bbbbbbbb -->",
    "  <!-- id:ffffffff",
    "  ts:2026-01-02 -->",
    # headings
    "# Title",
    "## Always",
    "## Never:",
    "### when",
    "## Own words",
    "####### seven",
    "#tag",
    "## Closed ##",
    "===",
    "=======",
    "==",
    "---",
    "--",
    # paragraphs and what is none
    "para text",
    "more para",
    "text <!-- id:cccccccc --> mid",
    "**bold** x",
    "*emphasis*",
    "_ _ _",
    "***",
    "- - -",
    "> quote",
    "> - quoted item",
    "| a | b |",
    "|---|---|",
    "a | b",
    ":-- | --:",
    "[x]: http://a",
    "<div>",
    "</div>",
    "<https://example.org>",
    # fences, comments, front matter, conflicts
    "```",
    "````",
    "```py",
    "``` a`b",
    "~~~",
    "~~~~",
    "<!-- note -->",
    "<!-- id:aaaaaaaa -->",
    "<!--",
    "-->",
    "<!-- multi",
    "end -->",
    "<!-- a --> <!-- b",
    "\\<!-- x",
    "...",
    "key: value",
    "<<<<<<< HEAD",
    "||||||| base",
    ">>>>>>> other",
    # characters
    "\ufeff",
    "\ufeff# marked",
    "\x00",
    "- nul \x00 in it",
    "- \u202eright to left\u202c",
    "- zero\u200bwidth \u2066x\u2069",
    "- family \U0001f469\u200d\U0001f467 and e\u0301",
    "- a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g",
    "- &#32;reference&#10;&#9999999;",
    "- back\\slash \\",
    "\rafter a lone return",
    "- half \udc80 \udcff byte",
    "\xa0",
    "\u3000wide",
)
"""Lines that mean something in markdown, or nearly do."""

LINE_ENDS: Final = ("\n", "\n", "\n", "\r\n", "\n\n", "\r\n\r\n", "\r", " \n", "\t\r\n")

TROUBLE: Final = (
    *"\\<!->&#1;0 \t\n\r`~a.:%[]x",
    "<!--",
    "-->",
    "--!>",
    "<!---->",
    "<!-- id:aaaaaaaa source:user -->",
    "&#32;",
    "&#x20;",
    "&#9999999;",
    "%20",
    "## Always",
    "- ",
    "- [x] ",
    "1. ",
    "> ",
    "---",
    "```",
    "\x00",
    "\x0b",
    "\x0c",
    "\x1b",
    "\x1c",
    "\x85",
    "\xa0",
    "\u2028",
    "\u2029",
    "\u200b",
    "\u202e",
    "\ufeff",
    "\u0345",
    "e\u0301",
    "é",
    "\U0001f469\u200d\U0001f467",
)
"""Pieces that the escaping, the metadata or the scanner treat as special."""

_line: SearchStrategy[str] = st.sampled_from(LINES) | st.text(max_size=8)
_body: SearchStrategy[str] = st.lists(
    st.tuples(_line, st.sampled_from(LINE_ENDS)).map("".join), max_size=14
).map("".join)
_start: SearchStrategy[str] = st.sampled_from(
    [
        "",
        "",
        "",
        "",
        "\ufeff",
        "---\na: 1\n---\n",
        "\ufeff---\r\n",
        "<<<<<<< a\n",
        "\n",
        "# Rules\n\n",
    ]
)

any_text: SearchStrategy[str] = st.text(st.characters(exclude_categories=()), max_size=60)
"""Any string, lone surrogates too."""

any_bytes: SearchStrategy[bytes] = st.binary(max_size=80)


@st.composite
def markdown(draw: st.DrawFn) -> str:
    """Return a memory file; every second one ends without a line end."""
    text = draw(_start) + draw(_body)
    return text[:-1] if text and draw(st.booleans()) else text


def _says_something(text: str) -> bool:
    return bool(text) and not text.isspace()


memory_texts: SearchStrategy[str] = st.one_of(
    st.lists(st.sampled_from(TROUBLE), min_size=1, max_size=20).map("".join),
    st.lists(_line.filter(str.isprintable), min_size=1, max_size=4).map("\n".join),
    st.text(min_size=1),
).filter(_says_something)
"""What an engram may say: any text with a character that is not white space."""

metadata_values: SearchStrategy[str] = st.one_of(
    st.lists(st.sampled_from(TROUBLE), max_size=6).map("".join), any_text
)


@st.composite
def item_lines(draw: st.DrawFn) -> str:
    """Return the lines of one list item as a person might have written them."""
    bullet = draw(st.sampled_from(["- ", "* ", "+ ", "-\t", "-   "]))
    first = draw(st.sampled_from(["word", "word --> x", "word <!-- id:hhhhhhhh -->", "[ ] word"]))
    more = draw(st.lists(st.sampled_from(["  more", "", "  - nested", "  <!-- x -->"]), max_size=3))
    return bullet + "\n".join([first, *more, *(["  end"] if more else [])])


repeated: SearchStrategy[str] = st.sampled_from([*TROUBLE, *LINES])
"""One piece, to be repeated until it hurts."""
