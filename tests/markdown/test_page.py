"""A SKILL.md comes back byte for byte, and an edit changes what it is about and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import InvalidSkillError
from engramdown.markdown.front_matter import LONGEST_HEAD, parse_front_matter
from tests.skills import laws
from tests.tables import every

LINES = [
    *("---", "--- ", "...", "----", "name: charts", "name:charts", "description: Make charts"),
    *("description: >-", "description: |", "description: 'a", 'description: "a\\', "description:"),
    *("description: *a", "description: &a [b", "description: a: b # c", '"description": x'),
    *("  indented", "    deeper", "# comment", "  # inside", "- item", "", " ", "\t", "metadata:"),
    *("a: b", "? x", "a:b: c", "no key", "allowed-tools: Bash(git:*) Read", "'", '"', "\ufeff---"),
    *("x\u2028name: y", "na\x0cme: y", "\udcff", "name: \u202etrahc"),
]
pages = st.lists(
    st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])),
    max_size=12,
).map(lambda lines: "".join(map("".join, lines)))
front_matters = pages.map(lambda text: f"---\n{text}---\nBody\n") | pages.map(
    lambda text: f"\ufeff---\r\n{text}---\r\n"
)
texts = pages | front_matters | st.text()
PAGE = (
    "\ufeff---\r\nname: charts # the label\r\n# a note\r\ndescription: >-2 # why\r\n"
    "   Make charts\r\n  and maps\r\n\r\nmetadata:\r\n  author: ada\r\n---\r\n# How\r\n"
)


@given(texts)
def test_a_page_is_its_text(text: str) -> None:
    laws.pages_come_back(text)
    laws.values_stand_there(text)


@given(texts, st.sampled_from(["name", "description", "license"]), st.text(min_size=1))
def test_another_text_changes_nothing_else(text: str, key: str, said: str) -> None:
    laws.values_change_alone(text, key, said)


@given(texts, st.text())
def test_another_body_changes_nothing_else(text: str, body: str) -> None:
    laws.bodies_change_alone(text, body)


def test_keys_are_read_with_their_lines() -> None:
    page = parse_front_matter(PAGE)
    assert [(key.name, key.line) for key in page.keys] == [
        ("name", 2),
        ("description", 4),
        ("metadata", 8),
    ]
    assert page.text("description") == "Make charts\nand maps"
    assert page.text("metadata") == page.text("license") == ""
    assert (page.body, page.body_line) == ("# How\r\n", 11)


def test_an_edit_keeps_comments_line_ends_and_keys_that_nobody_knows() -> None:
    after = parse_front_matter(PAGE).with_text("description", "Plans: all of them").render()
    old = ">-2 # why\r\n   Make charts\r\n  and maps\r\n"
    assert after == PAGE.replace(old, '"Plans: all of them" # why\r\n')


def test_what_lines_are_no_key_is_told() -> None:
    page = parse_front_matter("---\n  too early\nname: a\n  more\nwhat\n- item\n? b\n---\n")
    assert page.strangers == (2, 5, 6, 7)
    assert page.text("name") == "a more"


def test_a_key_that_stands_twice_is_its_first() -> None:
    page = parse_front_matter("---\nname: a\nname: b\n---\n").with_text("name", "c")
    assert page.render() == "---\nname: c\nname: b\n---\n"


@every(
    "text, after",
    [
        pytest.param("---\nname: a\n---", "---\nname: a\nlicense: MIT\n---", id="no-line-end"),
        pytest.param("---\r\n---\r\nB", "---\r\nlicense: MIT\r\n---\r\nB", id="empty"),
        pytest.param("Body\n", "---\nlicense: MIT\n---\nBody\n", id="no-front-matter"),
        pytest.param("---\nlicense:\n---\n", "---\nlicense: MIT\n---\n", id="no-value"),
        pytest.param("---\nlicense: MIT \n---\n", "---\nlicense: MIT \n---\n", id="the-same"),
        pytest.param("---\nlicense: # ?\n---\n", "---\nlicense: MIT # ?\n---\n", id="comment"),
    ],
)
def test_a_text_is_put_where_it_belongs(text: str, after: str) -> None:
    assert parse_front_matter(text).with_text("license", "MIT").render() == after


@pytest.mark.parametrize(
    "text, reason",
    [
        pytest.param("---\nname: a\n", "is not closed", id="open"),
        pytest.param("---\nname: [a]\n---\n", "is a list, not a text; correct it", id="list"),
        pytest.param("---\nname: 'a\n---\n", "does not end with it; correct it", id="quote"),
    ],
)
def test_what_cannot_be_replaced_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidSkillError, match=reason):
        parse_front_matter(text).with_text("name", "b")


def test_of_a_front_matter_that_is_too_long_no_key_is_read() -> None:
    line = "a: b\n"
    head = "name: charts\n" + line * ((LONGEST_HEAD - len("name: charts\n")) // len(line))
    longest = parse_front_matter(f"---\n{head}---\nBody\n")
    assert (longest.is_long, longest.text("name")) == (False, "charts")
    page = parse_front_matter(f"---\n{head}{line}---\nBody\n")
    assert (page.is_long, page.keys, page.strangers, page.body) == (True, (), (), "Body\n")
    assert page.with_mapping("metadata", {"a": "b"}) is page
    assert page.with_body("How\n").render() == f"---\n{head}{line}---\nHow\n"
    with pytest.raises(InvalidSkillError, match=f"characters of {LONGEST_HEAD}; shorten it"):
        page.with_text("name", "maps")


def test_a_body_begins_on_a_line_of_its_own() -> None:
    assert parse_front_matter("---\r\nname: a\r\n---").with_body("How\r\n").render() == (
        "---\r\nname: a\r\n---\r\nHow\r\n"
    )
    assert (
        parse_front_matter("---\nname: a\n---").with_body("How\n").render()
        == "---\nname: a\n---\nHow\n"
    )
    assert parse_front_matter("---\nname: a\n---").with_body("").render() == "---\nname: a\n---"


@given(texts, st.dictionaries(st.sampled_from(["a", "from"]), st.text(min_size=1), min_size=1))
def test_notes_are_added_and_nothing_else_changes(text: str, notes: dict[str, str]) -> None:
    page = parse_front_matter(text)
    noted = page.with_mapping("metadata", notes)
    if not page.opening or page.find("metadata") is not None:
        assert noted is page
        return
    assert noted.head.startswith(page.head)
    assert (noted.opening, noted.closing, noted.body) == (page.opening, page.closing, page.body)
    assert parse_front_matter(noted.render()).find("metadata") is not None
    assert noted.with_mapping("metadata", {"a": "b"}) is noted
