"""A statement that is taken out of its section says by itself what it said there."""

from __future__ import annotations

import pytest

from engramdown.importers.migration import Statement, kind_below, said_below, walk


def statement(text: str) -> Statement:
    """Return the last statement of a text."""
    return walk(text).statements[-1]


@pytest.mark.parametrize(
    "text, kind, plain, in_words",
    [
        pytest.param("- Push", None, "Push", "Push", id="none"),
        pytest.param("# Style\n- Push", None, "Push", "Push", id="no-rule"),
        pytest.param("## Always\n- Push", "always", "Push", "Push", id="always"),
        pytest.param("## Don\u2019t\n- Push", "never", "Push", "never push", id="never"),
        pytest.param("## Never\n- CI first", "never", "CI first", "never CI first", id="capitals"),
        pytest.param("## Never\n- A tag", "never", "A tag", "never a tag", id="one-letter"),
        pytest.param("## Never\n- Don't push", "never", "Don't push", "Don't push", id="forbids"),
        pytest.param("## Never\n### Git\n- Push", "never", "Push", "never push", id="above"),
        pytest.param("## When\n- x, then y", "when", "x, then y", "x, then y", id="case"),
        pytest.param(
            "## When testing\n- Mock", "when", "When testing: Mock", "when testing: Mock", id="when"
        ),
        pytest.param(f"## When {'x' * 2000}\n- Mock", "when", "Mock", "Mock", id="long"),
        pytest.param("## When \udcff\n- Mock", "when", "Mock", "Mock", id="no-text"),
    ],
)
def test_what_stands_below_a_heading(
    text: str, kind: str | None, plain: str, in_words: str
) -> None:
    found = statement(text)
    assert kind_below(found) == kind
    assert said_below(found, in_words=False) == plain
    assert said_below(found, in_words=True) == in_words
