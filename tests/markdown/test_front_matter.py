"""A value of a front matter is set, and every other byte stays."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from engramdown.markdown.front_matter import fold, in_list, parse_strict
from tests.tables import every

LINES = [
    *("---", "--- ", "...", "words: 7", "words:", "words: 7 # counted", "words: many", "words:7"),
    *("themes: [ci, 'a, b']", "themes: [ci,]", "themes: []", "themes:", "themes: ci", "themes: |"),
    *("- ci", "  - deploys # often", "- 'it''s'", '- "a\\"b"', "  more", "# a note", "", " ", "\t"),
    *("tags: [x]", '"quoted": y', "date: 2026-02-27", "no key", "- ", "locked: true", "\ufeff---"),
    *("words: [1]", "themes: {a: b}", "x\u2028words: 9", "\udcff", "themes: [a [b]]"),
]
ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
pages = st.lists(st.tuples(st.sampled_from(LINES), ends), max_size=12).map(
    lambda lines: "".join(map("".join, lines))
)
texts = pages | pages.map(lambda text: f"---\n{text}---\nBody\n") | st.text()
themes = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(texts)
def test_a_page_is_its_text(text: str) -> None:
    front = parse_strict(text)
    assert front.render() == text
    assert not front.head or front.head.endswith("\n")


@given(texts, st.integers(0, 10**6))
def test_a_number_changes_nothing_else(text: str, number: int) -> None:
    front = parse_strict(text)
    after = front.with_number("words", number)
    assert after._replace(head=front.head) == front
    if after.head != front.head:
        assert after.raw("words") == f"{number}"
        assert parse_strict(after.render()) == after
        assert sorted(front.head) == sorted(_without(after.head, front.head, number))


def _without(after: str, before: str, number: int) -> str:
    """Return ``after`` with the number taken for what stood there before."""
    old = parse_strict(f"---\n{before}---\n").raw("words")
    said = re.search(rf"^words[ \t]*:[ \t]+({number})", after, re.MULTILINE)
    assert said is not None
    if re.search(r"^words[ \t]*:", before, re.MULTILINE):
        cut = after[: said.start(1)] + old + after[said.end(1) :]
        return cut if old else after[: said.start(1) - 1] + after[said.end(1) :]
    return re.sub(rf"words: {number}\r?\n\Z", "", after)


@given(texts, st.lists(themes, max_size=3))
def test_items_are_added_to_those_that_stand_there(text: str, new: list[str]) -> None:
    front = parse_strict(text)
    before = front.items("themes")
    after = front.with_items("themes", new)
    assert after._replace(head=front.head) == front
    assert after.items("themes")[: len(before)] == before
    if after.head != front.head:
        known = {fold(item) for item in after.items("themes")}
        assert {fold(item) for item in new if fold(item)} <= known
        assert parse_strict(after.render()) == after
        assert _is_within(front.head, after.head)


def _is_within(before: str, after: str) -> bool:
    """Whether ``before`` is ``after`` with one piece taken out."""
    at = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before)
    )
    return after.endswith(before[at:]) or any(
        before == after[:n] + after[n + len(after) - len(before) :] for n in range(at + 1)
    )


@given(themes.filter(lambda item: item.strip()))
def test_what_is_quoted_is_read_back(item: str) -> None:
    front = parse_strict("---\n---\n").with_items("themes", [item])
    assert front.items("themes") == (item,)
    assert in_list(item) in front.head


@every(
    "head, after",
    [
        ("themes: [ci] # mine", "themes: [ci, deploys] # mine"),
        ("themes: [ci,]", "themes: [ci, deploys]"),
        ("themes: []", "themes: [deploys]"),
        ("themes:", "themes: [deploys]"),
        ("themes: # none", "themes: [deploys] # none"),
        ("themes:\n- ci", "themes:\n- ci\n- deploys"),
        ("themes:\n\n  # why\n  - ci\ndate: x", "themes:\n\n  # why\n  - ci\n  - deploys\ndate: x"),
        ("themes:\n- ci\n  more", "themes:\n- ci\n  more"),
        ("themes:\n  deep: er", "themes:\n  deep: er"),
        ("themes: |\n  ci", "themes: |\n  ci"),
        ("themes: Deploys", "themes: Deploys"),
        ("date: x", "date: x\nthemes: [deploys]"),
    ],
)
def test_a_list_keeps_its_form(head: str, after: str) -> None:
    front = parse_strict(f"---\n{head}\n---\n").with_items("themes", ["deploys"])
    assert front.head == f"{after}\n"


@every(
    "head, after",
    [
        ("words: 7 # counted", "words: 12 # counted"),
        ("words:", "words: 12"),
        ("words:\n  deep: er", "words:\n  deep: er"),
        ("words: many", "words: many"),
        ("words: '7'", "words: '7'"),
        ("date: x", "date: x\nwords: 12"),
        ("date: x\r", "date: x\r\nwords: 12"),
    ],
)
def test_a_number_keeps_what_is_not_one(head: str, after: str) -> None:
    assert parse_strict(f"---\n{head}\n---\n").with_number("words", 12).head == f"{after}\n"


def test_a_key_that_is_added_ends_as_the_lines_above() -> None:
    front = parse_strict("\ufeff---\r\n---\r\nBody\r\n").with_number("words", 1)
    assert front.render() == "\ufeff---\r\nwords: 1\r\n---\r\nBody\r\n"


@every(
    "text",
    [
        "plain",
        "---\nopen",
        "---\nA line that is no key\n---\n",
        "---\n- a list\n---\n",
        "--- not alone\n---\n",
    ],
)
def test_what_is_no_front_matter_is_body_and_stays(text: str) -> None:
    front = parse_strict(text)
    assert front.body == text
    assert front.with_number("words", 1) == front.with_items("themes", ["ci"]) == front
    assert front.is_open == (text == "---\nopen")


def test_the_items_of_any_form_are_read() -> None:
    def items(head: str) -> tuple[str, ...]:
        return parse_strict(f"---\n{head}\n---\n").items("themes")

    assert items("themes: [a, 'b, c', \"d \\u00e9\", ]") == ("a", "b, c", "d é")
    assert items("themes: a, b # c") == ("a", "b")
    assert items("themes:\n  - a # b\n  - 'c'") == ("a", "c")
    assert items("themes: {a: b}") == items("themes: |\n  a") == items("other: x") == ()
