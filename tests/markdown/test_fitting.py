"""How an entry is set between others."""

from __future__ import annotations

import pytest

from engramdown.markdown.blocks import Block, entry_block, scan
from engramdown.markdown.document import fit, joined, prose, written
from engramdown.markdown.metadata import Metadata
from tests.tables import every

META = Metadata((("id", "zzzzzzzz"),))


def fitted(page: str, at: int, raw: str, *, instead: int = 0) -> str:
    """Return ``page`` with ``raw`` set before block ``at``, in the place of ``instead`` blocks."""
    blocks = scan(page)
    new = [entry_block(raw)] if raw else []
    way = fit(blocks, range(at, at + instead), new, "\n")
    return "".join(block.raw for block in [*blocks[:at], *way, *blocks[at + instead :]])


@every(
    "page, at, raw, expected",
    [
        pytest.param("- a\n- b\n", 1, "- x\n", "- a\n- x\n- b\n", id="between-items"),
        pytest.param("one\n", 1, "two\n", "one\n\ntwo\n", id="paragraph-below-a-paragraph"),
        pytest.param("one\n", 0, "two\n", "two\n\none\n", id="paragraph-above-a-paragraph"),
        pytest.param(
            "    code\n", 0, "- x\n", "- x\n<!-- -->\n    code\n", id="item-above-indented-text"
        ),
        pytest.param("---\n", 0, "two\n", "two\n\n---\n", id="paragraph-above-a-line"),
        pytest.param("> a\n", 1, "two\n", "> a\n\ntwo\n", id="paragraph-below-a-quotation"),
    ],
)
def test_neighbours_are_kept_apart(page: str, at: int, raw: str, expected: str) -> None:
    assert fitted(page, at, raw) == expected


@pytest.mark.parametrize(
    "page, at, expected",
    [
        pytest.param("- a\n- x\n- b\n", 1, "- a\n- b\n", id="items"),
        pytest.param("one\n- x\ntwo\n", 1, "one\n\ntwo\n", id="paragraphs"),
        pytest.param("- x\n---\na: 1\n- b\n---\n", 0, "\n---\na: 1\n- b\n---\n", id="front-matter"),
        pytest.param(
            "- a\n- x\n  y\n    z\n", 1, "- a\n", id="all-lines-of-an-item-and-nothing-else"
        ),
    ],
)
def test_what_stood_apart_stays_apart(page: str, at: int, expected: str) -> None:
    assert fitted(page, at, "", instead=1) == expected


def test_what_would_close_a_comment_far_above_is_written_anew() -> None:
    page = "<!-- open\n\n- a\n\n- b\n\n- c\n\n- d\n"
    out = fitted(page, 8, "- x --> y <!-- id:zzzzzzzz -->\n")
    assert out == page + "- x --\\> y <!-- id:zzzzzzzz -->\n"


def test_what_would_end_front_matter_far_above_is_written_anew() -> None:
    page = "---\nkey: v\n\n- a\n\n- b\n\n- c\n"
    assert fitted(page, len(scan(page)), "...\n") == page + "- ...\n"


def test_a_conflict_far_above_is_seen() -> None:
    page = "<<<<<<< o\n\n- a\n\n- b\n\npara\n- x\npara\n=======\n"
    at = [block.raw for block in scan(page)].index("- x\n")
    assert fitted(page, at, "", instead=1) == page.replace("- x\n", "\n")


def test_prose_around_an_entry_stays_around_it() -> None:
    blocks = scan("## Always\n<!-- a -->\n\n## Never\n")
    way = fit(blocks, range(1, 2), [entry_block("- x\n")], "\n", ("<!-- a -->\n", "\n"))
    assert [block.raw for block in way] == ["<!-- a -->\n", "- x\n", "\n"]


@every(
    "text, raw",
    [
        pytest.param("a", "- a <!-- id:zzzzzzzz -->\n", id="plain"),
        pytest.param("a\nb", "- a\n  b <!-- id:zzzzzzzz -->\n", id="lines"),
        pytest.param("---", "- &#45;-- <!-- id:zzzzzzzz -->\n", id="a-line-across-the-page"),
        pytest.param("```\nx\n```", "- ```\n  x\n  ```\n  <!-- id:zzzzzzzz -->\n", id="fence"),
        pytest.param("a ~~~", "- a ~~~ <!-- id:zzzzzzzz -->\n", id="tildes-in-a-line"),
    ],
)
def test_how_an_entry_is_written(text: str, raw: str) -> None:
    assert written(text, META) == raw
    (block,) = scan(raw)
    assert (block.text, block.meta) == (text, META)


def test_an_entry_can_be_written_as_a_person_would() -> None:
    assert written("a\nb", None, "\r\n", "*") == "* a\r\n  b\r\n"
    assert written("* *", Metadata(), bullet="*") == "* &#42; *\n"


def test_prose_is_joined_and_a_byte_order_mark_stays_alone() -> None:
    blocks = [*prose("\ufeff"), *prose("a"), *prose(""), *prose("b"), Block("- c\n", "item")]
    assert [block.raw for block in joined(blocks)] == ["\ufeff", "ab", "- c\n"]
