"""Statements are found in markdown, and what is no statement is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.importers.migration import (
    Page,
    after_comments,
    date_in,
    in_context,
    listed,
    metadata,
    walk,
)

LINES = st.sampled_from(
    [
        *(
            "- a b c",
            "  - nested words",
            "* star: ",
            "Words lead:",
            "plain words",
            "# T",
            "## Never",
        ),
        *("```", "~~~~", "  ```sh", "- ```", "> said", "| a |", "<b>", "<!--", "-->", "<!-- x -->"),
        *("", "", "   ", "\t- tab words", "    four words", "===", "---", "***", "1. one word"),
        *("@a.md", "[x]: y", "- [ ] todo", "<!-- engramdown:begin -->", "<!-- engramdown:end -->"),
        *(
            "- [ci](ci.md)",
            "- a <!-- ts:2026-01-01 -->",
            "\ufeffwords",
            "\udc80 bytes",
            "- Always x",
        ),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(LINES, max_size=30).map("\n".join))


def said(text: str) -> list[str]:
    """Return what a file says."""
    return [each.whole for each in walk(text).statements]


def reasons(text: str) -> list[tuple[int, str]]:
    """Return what is passed over."""
    return [(each.line, each.reason) for each in walk(text).passed]


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("", [], id="empty"),
        pytest.param("- one two\n* three\n+ four\n", ["one two", "three", "four"], id="bullets"),
        pytest.param("- one\n  two\n\n  three\n", ["one two three"], id="continued"),
        pytest.param("- one\ntwo\n", ["one two"], id="lazy"),
        pytest.param("one\ntwo\n\nthree", ["one two", "three"], id="paragraphs"),
        pytest.param("- Use uv\n  - never pip\n", ["Use uv", "Use uv: never pip"], id="nested"),
        pytest.param("- A:\n  - B:\n    - c\n", ["A: B: c"], id="twice-nested"),
        pytest.param("- A:\n  - b\n- c\n", ["A: b", "c"], id="back-out"),
        pytest.param("Before:\n\n- b\n- c\n", ["Before: b", "Before: c"], id="led"),
        pytest.param("Before:\n\n1. b\n2. c\n", ["Before: b", "Before: c"], id="led-to-numbers"),
        pytest.param("one in\n1984. two\n1. three", ["one in 1984. two", "three"], id="a-year"),
        pytest.param("Before:\n\nAfter\n", ["After"], id="leads-nowhere"),
        pytest.param("Before:\n\n## T\n- b\n", ["b"], id="led-to-a-heading"),
        pytest.param("Before:\n\n---\n- b\n", ["b"], id="led-to-a-break"),
        pytest.param("- one\n\ntwo\n\n- three\n", ["one", "two", "three"], id="list-ended"),
        pytest.param("- one\n  ```\n  x\n  ```\n  two\n", ["one", "one: two"], id="around-code"),
        pytest.param(f"- {'x' * 101}\n  - y\n", ["x" * 101, "y"], id="long-context"),
        pytest.param("\ufeff- one\r\n- two\r\n", ["one", "two"], id="bom-and-crlf"),
        pytest.param("one\n    two\n", ["one two"], id="indented-in-a-paragraph"),
        pytest.param("-\n- one\n", ["one"], id="empty-item"),
        pytest.param("- a<!-- x -->b\n", ["a b"], id="comment-inside"),
        pytest.param("- a <!-- b\n", ["a <!-- b"], id="comment-left-open-inside"),
    ],
)
def test_what_a_file_says(text: str, expected: list[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text, reason, rest",
    [
        pytest.param("```\n- x\n```\n- y", "code", ["y"], id="fence"),
        pytest.param("~~~\n- x\n```\n~~~~\n- y", "code", ["y"], id="tildes"),
        pytest.param("````\n```\n- x\n````\n- y", "code", ["y"], id="long-fence"),
        pytest.param("```\n- x\n", "code", [], id="never-closed"),
        pytest.param("```\n    ```\n- x\n```\n- y", "code", ["y"], id="deep-fence-closes-nothing"),
        pytest.param("- ```\n  x\n  ```\n- y", "code", ["y"], id="fence-in-an-item"),
        pytest.param("```a`b\n- y", "", ["```a`b", "y"], id="no-fence"),
        pytest.param("    x\n    # x\n- y", "code", ["y"], id="indented"),
        pytest.param("p\n\n    x\n- y", "code", ["p", "y"], id="indented-below-a-paragraph"),
        pytest.param("> x\n- y", "a quotation", ["y"], id="quotation"),
        pytest.param("| x |\n|---|\n- y", "a table", ["y"], id="table"),
        pytest.param("<div>\n- y", "HTML", ["y"], id="html"),
        pytest.param("[x]: y\n- y", "the target of a link", ["y"], id="target"),
        pytest.param("<!-- x -->\n- y", "a comment", ["y"], id="comment"),
        pytest.param("<!--\n- x\n-->\n- y", "a comment", ["y"], id="long-comment"),
        pytest.param("<!--\n- y", "a comment", ["y"], id="comment-never-closed"),
        pytest.param(
            "<!-- engramdown:begin -->\n- x\n<!-- engramdown:end -->\n- y",
            "written by engramdown",
            ["y"],
            id="ours",
        ),
        pytest.param("<!-- engramdown:begin -->\n- y", "a comment", ["y"], id="ours-never-closed"),
        pytest.param("- [x] done\n- y", "a task", ["y"], id="task"),
        pytest.param("Words:\n\nmore", "only introduces what follows", ["more"], id="leads"),
        pytest.param(
            "@docs/x.md\n- y",
            "names another file; `engramdown migrate docs/x.md` brings what it says",
            ["y"],
            id="import",
        ),
        pytest.param(
            "- @docs/x.md\n- y",
            "names another file; `engramdown migrate docs/x.md` brings what it says",
            ["y"],
            id="import-in-an-item",
        ),
    ],
)
def test_what_is_no_statement(text: str, reason: str, rest: list[str]) -> None:
    assert [why for _, why in reasons(text)] == ([reason] if reason else [])
    assert said(text) == rest


def test_headings_are_those_above() -> None:
    page = walk("# T\n\n## A <!-- x -->\n- a\n### B ###\n- b\n\nC\n---\n- c\n\nD\nd\n===\n- d\n")
    found = [[(each.level, each.title) for each in one.headings] for one in page.statements]
    assert found == [
        [(1, "T"), (2, "A")],
        [(1, "T"), (2, "A"), (3, "B")],
        [(1, "T"), (2, "C")],
        [(1, "D d")],
    ]


def test_metadata_and_lines_are_told() -> None:
    page = walk("x\n\n- a <!-- confidence:low ts:2026-01-02 source:None -->\n- b <!-- see -->\n")
    assert [(each.line, dict(each.meta)) for each in page.statements] == [
        (1, {}),
        (3, {"confidence": "low", "ts": "2026-01-02"}),
        (4, {}),
    ]


@pytest.mark.parametrize(
    "text, globs",
    [
        pytest.param("---\nglobs: *.py, b\n---\n", "*.py, b", id="plain"),
        pytest.param("---\nglobs: [\"a\", 'b']\n...\n", "a, b", id="list"),
        pytest.param("---\nglobs:\n  - a\n  - *.b\n---\n", "a, *.b", id="items"),
        pytest.param("---\n- a\nodd\n---\n", "", id="no-key"),
    ],
)
def test_front_matter(text: str, globs: str) -> None:
    page = walk(text + "- y")
    assert listed(page.front, "globs") == globs
    assert [each.text for each in page.statements] == ["y"]


@given(TEXTS)
def test_no_text_is_an_error_and_lines_are_those_of_the_file(text: str) -> None:
    page = walk(text)
    count = text.count("\n") + 1
    assert all(1 <= each.line <= count for each in page.statements)
    assert all(1 <= each.line <= count for each in page.passed)
    assert all(each.text.strip() for each in page.statements)


@given(TEXTS, st.sampled_from(["```", "~~~", "````"]), TEXTS)
def test_nothing_comes_out_of_a_fence(before: str, fence: str, inside: str) -> None:
    code = "\n".join(f"- INSIDE {line}" for line in inside.split("\n"))
    # What stands before may itself have opened a fence that this one closes: then it is no fence.
    text = f"{fence}\n{code}\n{fence}\n{before}"
    assert not any("INSIDE" in each for each in said(text))


@given(TEXTS, TEXTS)
def test_what_is_added_below_a_heading_changes_nothing_above(text: str, more: str) -> None:
    before = walk(text)
    after = walk(f"{text}\n\n# More\n{more}") if _ends_open(before, text) else None
    if after is not None:
        assert after.statements[: len(before.statements)] == before.statements


def _ends_open(page: Page, text: str) -> bool:
    """Whether nothing in the text waits for an end that may come later."""
    return not any(mark in text for mark in ("<!--", "---", "```", "~~~")) and bool(page)


@given(st.text())
def test_pieces_are_total(text: str) -> None:
    words, comment = after_comments(text)
    assert len(words) + len(comment) <= len(text) + 1
    assert after_comments(words)[1] == "" or "<!--" in words
    metadata(text)
    date_in(text)
    assert in_context(text, "").endswith(text)
