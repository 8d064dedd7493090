"""Where an entry begins and where it ends."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from engramdown.markdown.blocks import Block, entry_block, indented, is_rule, leaves_open, scan
from tests import laws, strategies
from tests.tables import every

_INITIALS = {"item": "i", "paragraph": "p", "heading": "h", "prose": "."}


def shapes(text: str) -> str:
    """Return one letter a block: item, paragraph, heading, and a dot for prose."""
    return "".join(_INITIALS[block.shape] for block in scan(text))


@given(strategies.markdown() | strategies.any_text)
@example("")
@example("\ufeff")
@example("\ufeff---\n- a")
@example("\r")
@example(strategies.HUGE_LINE)
def test_the_blocks_of_a_text_are_the_text(text: str) -> None:
    laws.blocks_are_the_text(text)


@every(
    "text, expected",
    [
        pytest.param("- a\n* b\n+ c", "iii", id="three-bullets"),
        pytest.param("-\ta", "i", id="tab-behind-the-bullet"),
        pytest.param("- a\n  b\n\n  c\n\nd", "i.p", id="continued-over-a-blank-line"),
        pytest.param("- a\n b\n\tc", "i", id="continued-by-less"),
        pytest.param("- a\n  - b\n    - c", "i", id="nested"),
        pytest.param("- a\n  ```\n- b\n  ```", "ii", id="fence-in-an-item"),
        pytest.param("- a\nb", "ip", id="no-lazy-continuation"),
        pytest.param("- a\n\rb", "i.", id="a-lone-return-is-no-blank"),
        pytest.param("-a\n-5", "p", id="no-space-no-item"),
        pytest.param("-\n- \n*\n", ".", id="empty-bullets"),
        pytest.param("- - -\n* * *\n***\n---\n___\n", ".", id="lines-across-the-page"),
        pytest.param("- ---\n- #\n- é\n", ".ii", id="a-line-is-no-item"),
        pytest.param("1. a\n2) b\n10.\tc", "iii", id="numbers"),
        pytest.param("1. a\n   b\n\n   c\n2. d", "ii", id="what-continues-a-number"),
        pytest.param("a\n1. b\n2. c", "pii", id="one-ends-a-paragraph"),
        pytest.param("in the year\n1984. It was\n12) b", "p", id="another-number-ends-none"),
        pytest.param("1.\n1. \n2)", ".", id="empty-numbers"),
        pytest.param("1.a\n1234567890. b\n3.5 c", "p", id="what-is-no-number"),
        pytest.param("a\nb\n\nc", "p.p", id="paragraphs"),
        pytest.param("a\n- b", "pi", id="a-bullet-ends-a-paragraph"),
        pytest.param("a\n-\nb", "hp", id="one-hyphen-underlines"),
        pytest.param("*+\n", "p", id="two-bullets-are-text"),
        pytest.param("# a\n###### b\n####### c\n#d\n", "hhp", id="headings"),
        pytest.param("#\n#\ta\n## \r\n", "hhh", id="empty-headings"),
        pytest.param("a\n===\nb\n---\nc\n", "hhp", id="underlined"),
        pytest.param("a\nb\n==\n", "h", id="two-lines-underlined"),
        pytest.param("===\na\n= =\n", ".p", id="underlines-of-nothing"),
        pytest.param("> a\nb\n\nc", ".p", id="quotation"),
        pytest.param("> - a\n- b", ".i", id="item-in-a-quotation"),
        pytest.param("a\n> b", "p.", id="a-quotation-ends-a-paragraph"),
        pytest.param("| a |\n|---|\n| b |\n", ".", id="table"),
        pytest.param("a | b\n--- | :-:\nc | d\n", ".", id="table-without-edges"),
        pytest.param("a | b\n--- x\n", "p", id="no-table"),
        pytest.param("a | b\n\n--- | ---\n", "p.p", id="no-table-either"),
        pytest.param("<div>\na\n</div>\n\nb", ".p", id="html"),
        pytest.param("a < b\n<https://x>\n", "p", id="no-html"),
        pytest.param("[a]: http://x\n[b]: y\n\n[c]:z\n", ".p", id="link-targets"),
        pytest.param("```\n- a\n# b\n```\n- c", ".i", id="fence"),
        pytest.param("```\n- a\n~~~\n- b", ".i.i", id="fence-that-stays-open"),
        pytest.param("````\n```\n- a\n`````\n- b", ".i", id="longer-fence"),
        pytest.param("~~~ a`b\n- x\n~~~", ".", id="tilde-fence"),
        pytest.param("``` a`b\n- x\n```", "pi.", id="no-fence"),
        pytest.param("a\n```\n- b\n```", "p.", id="a-fence-ends-a-paragraph"),
        pytest.param("<!-- a -->\n- b", ".i", id="note"),
        pytest.param("<!--\n- a\n-->\n- b", ".i", id="note-over-lines"),
        pytest.param("<!--\n- a <!-- id:x -->\n\n- b <!-- id:y -->\n-->\n- c", ".i", id="nested"),
        pytest.param("<!--\n- a\n", ".i", id="note-that-stays-open"),
        pytest.param("<!-- a <!-- b\n- c\n-->\n- d", ".i", id="note-with-too-many-openings"),
        pytest.param("<!-- a <!-- -->\n- b\n<!--\nc\n-->\n", ".i.", id="note-closed-at-once"),
        pytest.param("<!-- a \\<!-- b -->\n- c\n-->\n", ".ip", id="escaped-opening-in-a-note"),
        pytest.param("a\n<!-- b -->\nc", "p.p", id="a-note-ends-a-paragraph"),
        pytest.param("---\na: 1\n---\n- b", ".i", id="front-matter"),
        pytest.param("---\na: 1\n...\n- b", ".i", id="front-matter-with-dots"),
        pytest.param("---\na: 1\n- b", ".pi", id="front-matter-that-stays-open"),
        pytest.param("---\n- a\n---\n- b", ".i.i", id="lines-across-the-page-and-no-keys"),
        pytest.param("- a\n---\nb: 1\n---\n", "i.h", id="front-matter-must-be-in-front"),
        pytest.param("\ufeff---\na: 1\n---\n- b", "..i", id="mark-and-front-matter"),
        pytest.param("\ufeff- a", ".i", id="mark"),
        pytest.param("\ufeff", ".", id="nothing-but-a-mark"),
        pytest.param("- a\n\ufeff", "ip", id="a-mark-elsewhere-is-text"),
        pytest.param("<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n", ".p.p.", id="conflict"),
        pytest.param("<<<<<<< a\nb\n====\n", ".h", id="conflict-and-a-heading"),
        pytest.param("a\n||||||| b\nc\n=======\n", "p.p.", id="conflict-with-base"),
        pytest.param("- a\r\n  b\r\n\r\n- c\r\n", "i.i", id="windows"),
        pytest.param("- a\rb\x0bc\x0cd\x85e\u2028f", "i", id="only-newline-ends-a-line"),
        pytest.param("  a\n\tb\n", ".", id="indented"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_grammar(text: str, expected: str) -> None:
    assert shapes(text) == expected


@every(
    "raw, said",
    [
        pytest.param("- a\n", "a", id="one-line"),
        pytest.param("-    a  \r\n", "a", id="blanks-around"),
        pytest.param("- a\n  b\n\n    c\n", "a\nb\n\n  c", id="lines"),
        pytest.param("- a\n\tb\n c\n", "a\nb\nc", id="indented-otherwise"),
        pytest.param("- a \r\n  b\t\r\n", "a\nb", id="blanks-at-line-ends"),
        pytest.param("- a <!-- id:aaaaaaaa -->\n", "a", id="metadata"),
        pytest.param("- a <!-- mine -->\n", "a", id="private"),
        pytest.param("- a <!-- mine --> <!-- id:aaaaaaaa -->\n", "a", id="both"),
        pytest.param("- a <!-- mine --> b\n", "a  b", id="private-in-the-middle"),
        pytest.param("- a\n  <!-- mine -->\n  b\n", "a\nb", id="private-line"),
        pytest.param("- a `<!-- b -->` c\n", "a `<!-- b -->` c", id="in-code"),
        pytest.param("- a \\<!-- b -->\n", "a <!-- b -->", id="escaped"),
        pytest.param("- a <!-- b\n", "a <!-- b", id="open"),
        pytest.param("- a&#32;\n", "a ", id="reference"),
        pytest.param("- <!-- mine -->\n", "", id="nothing"),
    ],
)
def test_what_an_item_says(raw: str, said: str) -> None:
    (block,) = scan(raw)
    assert block.text == said
    assert block.text is block.text


@every(
    "raw, title, level",
    [
        pytest.param("# A\n", "A", 1, id="one"),
        pytest.param("######\tF \n", "F", 6, id="six"),
        pytest.param("## A ##\n", "A", 2, id="closed"),
        pytest.param("## C#\n", "C#", 2, id="not-closed"),
        pytest.param("## ##\n", "", 2, id="empty"),
        pytest.param("## Never <!-- mine -->\n", "Never", 2, id="with-a-note"),
        pytest.param("A\n===\n", "A", 1, id="underlined-twice"),
        pytest.param("A\nB\n---\r\n", "A\nB", 2, id="underlined"),
        pytest.param("Never <!-- mine -->\n---\n", "Never", 2, id="underlined-with-a-note"),
    ],
)
def test_what_a_heading_says(raw: str, title: str, level: int) -> None:
    (block,) = scan(raw)
    assert (block.shape, block.text, block.level) == ("heading", title, level)


def test_an_entry_without_metadata_has_none() -> None:
    assert scan("- a <!-- mine -->")[0].meta is None
    assert scan("a")[0].span is None


def test_metadata_is_read_where_it_stands() -> None:
    (block,) = scan("- a <!-- id:aaaaaaaa ts:x -->\n")
    assert block.meta is not None
    assert block.meta.values() == {"id": "aaaaaaaa", "ts": "x"}
    assert block.span == (4, 29)
    assert block.raw[4:29] == str(block.meta)


@every("raw", ["- a\n", "a\nb\n", "*a*\n", "-5\n", "+\tx"])
def test_the_block_of_an_entry_is_known_from_its_lines(raw: str) -> None:
    assert entry_block(raw).shape == scan(raw)[0].shape


@every("line", ["---", "- - -", "* * *", "___", "===", "=", "-", "--", "--\r"])
def test_these_are_lines_across_the_page_or_underlines(line: str) -> None:
    assert is_rule(line)


@every("line", ["", "- a", "**", "__", "= =", "-*-", "--x", "***a"])
def test_these_are_not(line: str) -> None:
    assert not is_rule(line)


@pytest.mark.parametrize(
    "raw, is_open",
    [
        ("- a <!-- b -->", False),
        ("- a", False),
        ("- a \\<!-- b", False),
        ("- a <!-- b", True),
        ("- a -->", True),
        ("- a <!-- b\n  c -->", True),
    ],
)
def test_what_leaves_a_comment_open_or_closes_one(raw: str, *, is_open: bool) -> None:
    assert leaves_open(raw) is is_open


def test_text_is_indented_below_its_bullet() -> None:
    assert indented("a\n\nb", "\r\n") == "a\r\n\r\n  b"


def test_a_block_shows_what_it_is() -> None:
    assert repr(Block("- a\n", "item")) == "Block('- a\\n', 'item')"


def test_the_comments_of_an_entry_are_without_its_metadata() -> None:
    assert Block("- Use uv <!-- since May --> here <!-- id:k3v9q2ht -->\n", "item").comments == (
        "<!-- since May -->"
    )
    assert Block("- Use uv\n", "item").comments == ""
