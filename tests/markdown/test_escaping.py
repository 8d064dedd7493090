"""Any text inside a markdown list item, and back."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.markdown.metadata import escape, unescape
from tests import laws, strategies
from tests.tables import every

texts = st.lists(st.sampled_from(strategies.TROUBLE), max_size=25).map("".join) | (
    strategies.any_text
)


@given(texts)
@example("\\<!-- \\\\<!--")
@example("<!-->")
@example("--\\>")
@example("\n")
@example("\ud800")
def test_what_was_escaped_comes_back(text: str) -> None:
    laws.escaped_text_comes_back(text)


@given(texts)
@example("<!--<!--->-->")
@example(" \n ")
@example("a \nb\t\n\xa0")
def test_escaped_text_opens_and_ends_nothing(text: str) -> None:
    laws.escaped_text_is_tame(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="\\<>&")))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert escape(text) == text


@every(
    "text, escaped",
    [
        pytest.param("a <!-- b", "a \\<!-- b", id="opens"),
        pytest.param("a --> b", "a --\\> b", id="closes"),
        pytest.param("a --!> b", "a --!> b", id="closes-in-html-only"),
        pytest.param("a -> b < c <! d", "a -> b < c <! d", id="nearly"),
        pytest.param("\\<!--", "\\\\\\<!--", id="backslash-in-front"),
        pytest.param("\\n \\ #", "\\n \\ #", id="backslashes-elsewhere"),
        pytest.param(" a ", "&#32;a&#32;", id="edges"),
        pytest.param("a \nb", "a&#32;\nb", id="end-of-a-line"),
        pytest.param("a\n b", "a\n b", id="begin-of-a-line"),
        pytest.param("a\n", "a&#10;", id="last-line-end"),
        pytest.param("a\r\nb", "a&#13;\nb", id="carriage-return"),
        pytest.param("&#32;", "\\&#32;", id="a-reference"),
        pytest.param("&#x20; &amp;", "&#x20; &amp;", id="other-references"),
        pytest.param("a\x00\x1b\u2028b", "a&#0;&#27;&#8232;b", id="controls"),
    ],
)
def test_only_what_must_be_is_escaped(text: str, escaped: str) -> None:
    assert escape(text) == escaped
    assert unescape(escaped) == text


@every(
    "written, text",
    [
        pytest.param("&#65;", "A", id="reference"),
        pytest.param("&#9999999;", "&#9999999;", id="no-such-character"),
        pytest.param("&#;", "&#;", id="empty"),
        pytest.param("&#65", "&#65", id="not-ended"),
        pytest.param("\\\\ a", "\\\\ a", id="two-backslashes"),
        pytest.param("<!--", "<!--", id="a-comment-that-is-open"),
        pytest.param("\\\\<!--", "\\\\<!--", id="escaped-backslash"),
        pytest.param("--\\\\>", "--\\\\>", id="escaped-backslash-in-the-arrow"),
    ],
)
def test_what_a_person_wrote_is_read_leniently(written: str, text: str) -> None:
    assert unescape(written) == text
