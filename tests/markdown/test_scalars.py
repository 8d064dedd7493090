"""The texts of a front matter are read as YAML says, and written so that any reader agrees.

What each case must give was taken from a reader of YAML that was written by others.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.markdown.front_matter import Scalar, read_scalar, written
from tests.tables import every


def of(value: str) -> Scalar:
    """Read a value that stands behind ``key:``."""
    source = f"key:{value}"
    return read_scalar(source, 4, len(source))


@every(
    "value, text",
    [
        pytest.param(" Make charts\n", "Make charts", id="plain"),
        pytest.param(" Make charts # why\n", "Make charts", id="plain-comment"),
        pytest.param(" a#b c\n", "a#b c", id="hash-in-a-word"),
        pytest.param("\n  below\n", "below", id="below"),
        pytest.param(" # why\n  below\n", "below", id="below-a-comment"),
        pytest.param(" one\n  two\n\n  three\r\n", "one two\nthree", id="plain-folded"),
        pytest.param(" http://x.org/a\n", "http://x.org/a", id="colon-in-a-word"),
        pytest.param(" 'it''s' # why\n", "it's", id="single"),
        pytest.param(" 'one \\\n  two'\n", "one \\ two", id="single-folded"),
        pytest.param(' "a\\tb\\"\\u00e9\\x41\\U0001F600\\/"\n', 'a\tb"éA😀/', id="double"),
        pytest.param(' "one\n\n  two\\\n  three"\n', "one\ntwothree", id="double-folded"),
        pytest.param(' "one\\  \n  two"\n', "one  two", id="double-space-kept"),
        pytest.param(' "\n one"\n', " one", id="double-begins-below"),
        pytest.param(" |\n  one\n   two\n\n  three\n\n", "one\n two\n\nthree\n", id="literal"),
        pytest.param(" |-\n  one\n\n", "one", id="literal-stripped"),
        pytest.param(" |+\n  one\n\n", "one\n\n", id="literal-kept"),
        pytest.param(" |2- # why\n   one\n", " one", id="literal-indented"),
        pytest.param(" >\r\n  one\r\n  two\r\n\r\n  three\r\n", "one two\nthree\n", id="folded"),
        pytest.param(" >-\n  one\n   two\n  three\n", "one\n two\nthree", id="folded-indented"),
        pytest.param(" >-\n\n  one\n", "\none", id="folded-begins-empty"),
        pytest.param(" >2+\n\n", "\n", id="nothing-kept"),
        pytest.param(" |\n# why\n", "", id="block-without-lines"),
        pytest.param(" |\n  one\n# why\n", "one\n", id="comment-behind-a-block"),
        pytest.param("\n", "", id="nothing"),
        pytest.param("\r \n", "", id="nothing-but-a-carriage-return"),
        pytest.param(" # why\n", "", id="nothing-but-a-comment"),
    ],
)
def test_a_text_is_read(value: str, text: str) -> None:
    found = of(value)
    assert (found.text, found.problem) == (text, "")


@every(
    "value, problem",
    [
        pytest.param(" *other\n", "is an alias", id="alias"),
        pytest.param(" &here x\n", "is an anchor", id="anchor"),
        pytest.param(" !!python/object:os.system x\n", "is a tag", id="tag"),
        pytest.param(" [a, b]\n", "is a list", id="flow-list"),
        pytest.param(" {a: b}\n", "is a mapping", id="flow-mapping"),
        pytest.param("\n  - a\n", "is a list", id="list"),
        pytest.param("\n  a: b\n", "is a mapping", id="mapping"),
        pytest.param(" 'open\n", "does not end with it", id="open-single"),
        pytest.param(' "open\\"\n', "does not end with it", id="open-double"),
        pytest.param(" 'a' b\n", "goes on behind the closing '", id="more-behind"),
        pytest.param(" 'a'#b\n", "goes on behind the closing '", id="comment-too-near"),
        pytest.param(' "\\q"\n', r"the escape \q", id="escape"),
        pytest.param(' "\\xg1"\n', r"the escape \x", id="no-digits"),
        pytest.param(' "\\ud83d"\n', r"the escape \ud83d", id="half-a-pair"),
        pytest.param(' "\\UFFFFFFFF"\n', r"the escape \UFFFFFFFF", id="no-character"),
        pytest.param(" | one\n", "has more than | in front", id="words-behind-a-header"),
        pytest.param(" [a, b\n", "begins with [ and does not end with ]", id="open-list"),
        pytest.param(" {a: '}'\n", "begins with { and does not end with }", id="open-mapping"),
        pytest.param(" [a, {b: ']'}] # [\n", "is a list", id="brackets-in-quotes-and-comments"),
        pytest.param("\n\ta: b\n", "begins with a tab; indent it by spaces", id="tab-in-mapping"),
        pytest.param("\n  - a\n\t- b\n", "begins with a tab", id="tab-in-list"),
    ],
)
def test_what_is_no_text_is_told_and_left_alone(value: str, problem: str) -> None:
    found = of(value)
    assert found.text is None
    assert found.spans == ()
    assert problem in found.problem


@every(
    "value, text, problem",
    [
        pytest.param(" Use: this\n", "Use: this", "a colon and a space", id="colon"),
        pytest.param(" ends:\n", "ends:", "a colon and a space", id="colon-at-the-end"),
        pytest.param(" %a\n", "%a", "begins with '%'", id="percent"),
        pytest.param(" a # b\n  c\n", "a", "goes on behind a comment", id="behind-a-comment"),
        pytest.param(" a\n- b\n", "a - b", "that is not indented", id="not-indented"),
        pytest.param(" |\n   one\n  two\n", "one\n", "less indented", id="less-indented"),
        pytest.param(" a\n\tb\n", "a b", "begins with a tab", id="tab"),
    ],
)
def test_what_others_read_otherwise_is_told(value: str, text: str, problem: str) -> None:
    found = of(value)
    assert found.text == text
    assert problem in found.problem


@every(
    "text, said",
    [
        ("Make charts", "Make charts"),
        ("a:b #x", '"a:b #x"'),
        ("a#b", "a#b"),
        ("ends with a space ", '"ends with a space "'),
        ("2026-02-27", '"2026-02-27"'),
        ("No", '"No"'),
        ("", '""'),
        ("- a", '"- a"'),
        ("del\x7f nel\x85 sep\u2028", '"del\\u007f nel\\u0085 sep\\u2028"'),
        ("schön", "schön"),
    ],
)
def test_a_text_is_written_on_one_line(text: str, said: str) -> None:
    assert written(text) == said


@given(st.text())
def test_what_is_written_is_read_back(text: str) -> None:
    said = written(text)
    assert "\n" not in said
    assert of(f" {said} # why\n") == Scalar(text, ((5, 5 + len(said)),))


@pytest.mark.parametrize(
    "piece", ["[", "'", '"', "\\", " ", "\n", "#", " #", "- ", ": ", "|", "a\n "]
)
def test_the_cost_grows_with_the_length(piece: str) -> None:
    """A square of these lengths would take hours."""
    begun = time.thread_time()
    for head in (" ", ' "', " '", " |\n  ", " >\n  ", " a"):
        of(head + piece * (300_000 // len(piece)))
    assert time.thread_time() - begun < 120
