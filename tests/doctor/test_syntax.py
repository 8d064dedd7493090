"""What doctor says about the text of a file; the gallery has most of it."""

from __future__ import annotations

import pytest

from engramdown.doctor.syntax import Sheet, damage
from engramdown.markdown.metadata import comments
from tests.tables import every


def found(text: str, file: str = "lessons.md") -> list[tuple[int, str]]:
    return [(item.line, item.code) for item in damage(Sheet.read(file, text))]


def messages(text: str, file: str = "lessons.md") -> list[str]:
    return [item.message for item in damage(Sheet.read(file, text))]


def test_bytes_that_are_not_utf8_are_named_up_to_eight() -> None:
    text = (b"- \xe9\n- " + bytes(range(0xE0, 0xE9)) + b"\n").decode("utf-8", "surrogateescape")
    assert messages(text) == [
        "1 byte that is not UTF-8: 0xE9",
        "9 bytes that are not UTF-8: 0xE0 0xE1 0xE2 0xE3 0xE4 0xE5 0xE6 0xE7 …",
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_one_finding(encoding: str) -> None:
    text = "- Größe\n- Two\n".encode(encoding).decode("utf-8", "surrogateescape")
    assert found(text) == [(1, "utf-16")]


def test_one_stray_zero_is_no_utf16() -> None:
    assert found("\0") == [(1, "hidden-character")]


def test_hidden_characters_are_counted_by_line() -> None:
    (message,) = messages("\ufeff- a\u200bb\u200bc\u202e\n")
    assert "zero width space U+200B (2 times)" in message
    assert "FEFF" not in message


def test_a_byte_order_mark_inside_of_the_text_is_hidden() -> None:
    assert found("- a\n\ufeff- b\n") == [(2, "hidden-character")]


@every(
    "text, extent",
    [
        pytest.param("<<<<<<< a\n- x\n=======\n>>>>>>> b\n", "down to line 4", id="whole"),
        pytest.param("<<<<<<<\r\n- x\r\n>>>>>>>\r\n", "down to line 3", id="no-labels"),
        pytest.param("<<<<<<< a\n<<<<<<< b\n>>>>>>> c\n", "down to line 3", id="nested"),
        pytest.param("<<<<<<< a\n- x\n", "whose end is missing", id="no-end"),
        pytest.param(">>>>>>> a\n- x\n", "whose beginning is missing", id="no-beginning"),
    ],
)
def test_the_extent_of_a_conflict_is_told(text: str, extent: str) -> None:
    assert messages(text) == [f"an unresolved merge conflict, {extent}"]


@pytest.mark.parametrize("text", ["<<<<<<<<\n", "a <<<<<<< b\n", "=======\n", "- x\n|||||||\n"])
def test_what_only_looks_like_a_conflict_is_none(text: str) -> None:
    assert "conflict" not in [code for _, code in found(text)]


@every(
    "text, expected",
    [
        pytest.param("```\n- x\n", [(1, "unclosed-fence")], id="fence"),
        pytest.param(
            "```\n- x\n```\n~~~\n", [(1, "not-read"), (4, "unclosed-fence")], id="second-fence"
        ),
        pytest.param(
            "```a\n````b\n``\n", [(1, "unclosed-fence"), (2, "unclosed-fence")], id="two-fences"
        ),
        pytest.param("~~~\n```\n~~~\n", [(1, "not-read")], id="fence-in-a-fence"),
        pytest.param("<!--\n```\n-->\n", [], id="fence-in-a-comment"),
        pytest.param("```\n<!--\n```\n", [(1, "not-read")], id="comment-in-a-fence"),
        pytest.param("<!--\n- x\n", [(1, "unclosed-comment")], id="comment"),
        pytest.param("<!-- a\n- x <!-- id:k3v9q2ht -->\n-->\n", [], id="entries-in-a-comment"),
        pytest.param("<!-- <!--\nx -->\n- y\n", [], id="opened-twice"),
        pytest.param("<!-- a --> <!-- b\n- x\n", [(1, "unclosed-comment")], id="second-comment"),
        pytest.param("- x\n  y <!-- z\n", [(2, "unclosed-comment")], id="in-an-entry"),
        pytest.param("- x <!-- a --> <!-- z\n", [(1, "unclosed-comment")], id="behind-another"),
        pytest.param("- `<!--` opens one\n", [], id="in-code"),
        pytest.param("- \\<!-- is escaped\n", [], id="escaped"),
        pytest.param("---\na: b\n---\n", [], id="front-matter"),
        pytest.param("---\na: b\n- c\n---\n", [], id="front-matter-with-a-list"),
        pytest.param("---\n\n- c\n---\n", [], id="rules-around"),
        pytest.param("---\na: b\n```\n---\n- x\n", [], id="fence-in-front-matter"),
        pytest.param("---\na: b\n", [(1, "unclosed-front-matter")], id="open-front-matter"),
        pytest.param("---\n\n- a\n", [], id="line-across-the-page"),
        pytest.param("---", [], id="only-a-line"),
    ],
)
def test_what_is_left_open_is_found(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text) == expected


@every(
    "text, expected",
    [
        pytest.param("```sh\nmake\n```\n", (1, "a code block (3 lines)"), id="fence"),
        pytest.param("- a\n~~~\n~~~\n", (2, "a code block (2 lines)"), id="empty-fence"),
        pytest.param("# T\n| a |\n| - |\n\n- b\n", (2, "a table (2 lines)"), id="table"),
        pytest.param("a | b\r\n--|--\r\n1 | 2", (1, "a table (3 lines)"), id="table-without-edges"),
        pytest.param("| a |", (1, "a table (1 line)"), id="row"),
        pytest.param("> a\n> b\nc\n", (1, "a quotation (3 lines)"), id="quotation"),
    ],
)
def test_what_is_not_read_is_noted_with_its_line(text: str, expected: tuple[int, str]) -> None:
    (finding,) = damage(Sheet.read("lessons.md", text))
    assert (finding.code, finding.line) == ("not-read", expected[0])
    assert finding.message == f"{expected[1]} is not read as memory"


def test_what_is_not_read_one_below_the_other_is_noted_each() -> None:
    text = "> a\n| b |\n> c\n```\n```\n| d |\n<!-- mine -->\n"
    assert found(text) == [(line, "not-read") for line in (1, 2, 3, 4, 6)]


@pytest.mark.parametrize("file", ["soul.md", "pending.md", "archive.md"])
def test_in_files_that_are_no_lists_of_memories_nothing_is_noted(file: str) -> None:
    assert found("> a\n\n```\n```\n", file) == []


@every(
    "text, expected",
    [
        pytest.param(" - a\n - b\n   c\n", [1], id="once-for-neighbours"),
        pytest.param(" 1. a\n", [1], id="number"),
        pytest.param(" - a\n\n  - b\n", [1, 3], id="twice-when-apart"),
        pytest.param("# T\n\n   + a\n> q\n * b\n", [3, 5], id="after-a-quotation"),
        pytest.param("    - code\n", [], id="code"),
        pytest.param("\t- code\n", [], id="tab"),
        pytest.param("```\n - a\n```\n", [], id="fence"),
        pytest.param("- a\n - b\n", [], id="part-of-an-item"),
        pytest.param(" -a\n", [], id="no-bullet"),
    ],
)
def test_items_that_are_not_at_the_margin_are_found(text: str, expected: list[int]) -> None:
    assert [line for line, code in found(text) if code == "indented-item"] == expected


def test_sections_of_a_persons_own_are_counted() -> None:
    text = "- a\n- b\n## Mine\n- c\n### Deeper\n- d\n## Always\n- e\n## Mine\n- f\n# T\n- g\n"
    assert messages(text, "rules.md") == [
        "2 entries above any section count as always",
        "2 entries under 'Mine' count as always, under that heading",
        "1 entry under 'Mine' count as always, under that heading",
        "1 entry above any section count as always",
    ]
    assert messages(text, "lessons.md") == []


def test_a_heading_that_is_almost_ours_is_found_with_what_it_should_be() -> None:
    text = "## Alway\n- a\n## never!\n- b\n##When:\n#Nothing\n"
    assert messages(text, "rules.md") == [
        "'Alway' is not read as ## Always",
        "'never!' is not read as ## Never",
        "'##When:' is not read as ## When",
    ]


def test_ticks_that_are_none_are_found_among_proposals() -> None:
    text = "- [ ] a\n- [X] b\n- [-] c\n- [✓] d\n- [] e\n- [link](x)\n- f\n- [x]g\n"
    assert found(text, "pending.md") == [
        (4, "unknown-tick"),
        (5, "unknown-tick"),
        (8, "unknown-tick"),
    ]
    assert found(text, "lessons.md") == []


def test_the_character_of_an_assistant_is_a_persons_text() -> None:
    assert found("```\n - never closed\n<!--\n", "soul.md") == []
    assert found("a\u200bb\n<<<<<<< x\n", "soul.md") == [(2, "conflict"), (1, "hidden-character")]


def test_comments_nest_in_nothing() -> None:
    assert list(comments("<!-- a <!-- b --> c -->")) == [(0, 17)]
