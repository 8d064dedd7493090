"""`engramdown.language.untrusted`: a memory in a prompt is data."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from engramdown.language.untrusted import (
    brief_json,
    bullet,
    heading,
    inert,
    one_line,
    paragraphs,
    quoted,
)
from tests.cortex.entries import any_text
from tests.tables import every

# Everything that str.splitlines and a terminal take for more than a character of the text.
ACTIVE = "\x0b\x0c\r\x1b\x1c\x1d\x1e\x85\u2028\u2029\x00\x7f\u202a\u202e\u2066\u2069\U000e0041"


@given(any_text)
def test_what_is_shown_cannot_act(text: str) -> None:
    for shown in (inert(text), bullet(text), one_line(text), heading(text)):
        assert not set(shown) & set(ACTIVE)
        assert shown.encode("utf-8").decode("utf-8") == shown


@given(any_text)
def test_only_the_first_line_of_a_bullet_stands_at_column_0(text: str) -> None:
    first, *others = bullet(text).split("\n")
    assert first.startswith("- ")
    assert all(line == "" or line.startswith("  ") for line in others)


@given(any_text)
def test_what_is_quoted_is_one_line_that_closes_nothing_and_says_the_same(text: str) -> None:
    shown = quoted(text)
    assert not set(shown) & set(ACTIVE + "\n")
    assert "</" not in shown
    assert shown == text or json.loads(shown) == inert(text)


@every("text", ["", "k3v9q2ht", "_3fa2b1c", "src/a.py", "s1#12", "v1.2", "Straße"])
def test_a_plain_word_is_not_quoted(text: str) -> None:
    assert quoted(text) == text


@every("text", ["##", "---", "- a", "</a>", '"', "a\n", "a b", "x" * 90])
def test_what_could_be_taken_for_words_of_ours_is_quoted(text: str) -> None:
    assert quoted(text)[0] == quoted(text)[-1] == '"'


@given(any_text)
def test_a_heading_is_one_line_without_comments(text: str) -> None:
    shown = heading(text)
    assert "\n" not in shown + one_line(text)
    assert "<!--" not in shown or "-->" not in shown.partition("<!--")[2]


@every(
    "text, shown",
    [
        pytest.param("a\r\nb", "a\nb", id="crlf"),
        pytest.param("a\rb\x0bc\x0cd\x85e\u2028f\u2029g", "a b c d e f g", id="line-breaks"),
        pytest.param("\x1b[2J\x00", "\u241b[2J\u2400", id="terminal"),
        pytest.param("a\u202eb", "a\u2039U+202E\u203ab", id="bidi"),
        pytest.param("hi\U000e0041", "hi\u2039U+E0041\u203a", id="tag"),
        pytest.param("\ud800", "\u2039U+D800\u203a", id="half-a-pair"),
        pytest.param("a\tb", "a\tb", id="tab-stays"),
        pytest.param("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467", id="family"),
        pytest.param("سلام", "سلام", id="right-to-left"),
    ],
)  # fmt: skip
def test_characters_are_made_visible_where_they_could_act(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_a_bullet_keeps_its_lines() -> None:
    assert bullet(" one\n\n# two\n   \n  three\n") == "- one\n\n  # two\n\n    three"


def test_a_page_is_read_by_paragraph_with_its_headings_below_ours() -> None:
    page = """# Soul
<!-- a private note
over two lines --> 

You are calm. <!-- mine -->
And dry.

## Tone

###### deep
Be brief.

#hashtag stays
<!-- never closed

# A heading that nothing follows
"""  # noqa: W291 - a person left a space there
    assert paragraphs(page) == [
        (5, "### Soul\n\nYou are calm.\nAnd dry."),
        (10, "#### Tone\n\n###### deep\nBe brief."),
        (13, "#hashtag stays\n<!-- never closed"),
    ]


@pytest.mark.parametrize("page", ["", "\n \n", "# Soul\n\n## Tone\n", "<!-- note -->\n"])
def test_a_page_of_headings_and_notes_says_nothing(page: str) -> None:
    assert paragraphs(page) == []


def test_what_a_program_sent_is_named_briefly() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert brief_json({"path": "a.md"}) == '{"path": "a.md"}'
    assert brief_json("a" * 100) == f'"{"a" * 59}…'
    assert brief_json({1}) == '"{1}"'
    assert brief_json(circle) == "a list that cannot be shown"
    assert brief_json(10**5_000) == "a int that cannot be shown"
