"""A page of the journal only grows, and no text can forge a section of it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.journal.page import (
    Page,
    Section,
    blank_page,
    day_of,
    file_of,
    normalized,
    parse,
    title,
)
from tests.journal import laws
from tests.tables import every

OURS = "## 09:00 <!-- by:agent at:2026-02-27T09:00:00Z session:s-1 themes:ci,a%20b -->"
LINES = [
    *(OURS, "## 14:00", "## Lunch with Ann <!-- mine -->", "##", "## ", "##\t", "##no", "### deep"),
    *("# Title", "  ## indented", "\\## escaped", "\\\\# twice", "    ## code", "#tag", "#", "\\#"),
    *(
        "```",
        "~~~",
        "```sh",
        "````",
        "``` a`b",
        "  ```",
        "---",
        "\\---",
        "...",
        "--- ",
        "\ufeff---",
    ),
    *("a <!-- b", "a <\\!-- b", "<\\\\!--", "-->", "words: 3", "themes: [x]", "date: x", "- item"),
    *("", " ", "\t", "text", "日本語", "x\u2028y", "\x0c## form", "\udcff", "locked: true", "\r"),
]
ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", ""])
markdown = st.lists(st.tuples(st.sampled_from(LINES), ends), max_size=12).map(
    lambda lines: "".join(map("".join, lines))
)
texts = (
    markdown
    | markdown.map(lambda text: f"---\n{text}\n---\nBody\n")
    | markdown.map(lambda text: f"---\r\ndate: x\r\n---\r\n{text}")
    | st.text()
)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
sections = st.builds(
    Section,
    heading=st.sampled_from(["00:00", "10:15", "23:59"]),
    text=markdown | st.text(),
    by=st.sampled_from(["person", "agent"]),
    at=st.sampled_from(["", "2026-02-27T10:15:00Z"]),
    session=st.sampled_from(["", "20260227-101500-4f2a", "a--b-", "x.-"]),
    themes=st.lists(words, max_size=3).map(tuple),
)


@given(texts)
def test_a_page_is_its_text(text: str) -> None:
    laws.pages_come_back(text)


@given(texts, sections)
def test_a_section_is_added_and_nothing_is_taken(text: str, section: Section) -> None:
    laws.sections_are_added(text, section)


@given(texts)
def test_what_is_kept_of_a_text_stays(text: str) -> None:
    laws.texts_are_kept(text)


@given(st.lists(sections, max_size=4))
def test_a_day_of_sections_reads_as_it_was_written(written: list[Section]) -> None:
    page = blank_page(date(2026, 2, 27))
    for section in written:
        page = page.with_section(section)
    read = parse(page.render())
    assert [section.text for section in read.sections] == [
        normalized(each.text) for each in written
    ]
    assert read.front.text("words") == f"{read.words}"
    assert set(read.front.items("themes")) == set(read.themes) - {""}


def test_a_day_looks_as_a_person_would_write_it() -> None:
    page = blank_page(date(2026, 2, 27)).with_section(
        Section("10:15", "Moved the deploys to *Monday*.\n", "agent", "2026-02-27T10:15:00Z")
    )
    page = page.with_section(Section("14:00", "Lunch.", themes=("people", "a, b")))
    assert page.render() == (
        '---\ndate: 2026-02-27\nwords: 6\nthemes: [people, "a, b"]\n---\n\n'
        "## 10:15 <!-- by:agent at:2026-02-27T10:15:00Z -->\n\nMoved the deploys to *Monday*.\n\n"
        "## 14:00 <!-- by:person themes:people,a%2C%20b -->\n\nLunch.\n"
    )
    assert page.themes == ("people", "a, b")
    assert [section.line for section in page.sections] == [7, 11]


def test_the_sections_of_a_person_are_sections() -> None:
    page = parse(
        "Woke up early.\n\n## Lunch <!-- at Mario's -->\nPasta.\n\n```sh\n## no section\n```\n"
        "## \n### A part of it\n" + OURS + "\nHeard.\n```\nopen\n" + OURS + "\n\n\n## 14:00\n"
    )
    assert [(each.heading, each.text, each.by) for each in page.sections] == [
        ("", "Woke up early.", "person"),
        ("Lunch", "Pasta.\n\n```sh\n## no section\n```", "person"),
        ("", "### A part of it", "person"),
        ("09:00", "Heard.\n```\nopen", "agent"),
        ("09:00", "", "agent"),
        ("14:00", "", "person"),
    ]
    assert page.sections[3].session == "s-1"
    assert page.sections[3].themes == page.themes == ("ci", "a b")


@every(
    "text",
    [
        OURS,
        "# Title\n## 10:00\n  ## 11:00\n### deeper",
        "\\# not twice\n\\\\## nor this",
        "<!-- by:person --> and <\\!-- this",
        "```\n## in a fence that nobody closes",
        "---\nwords: 0\n---",
    ],
)
def test_what_looks_like_a_section_is_text(text: str) -> None:
    page = blank_page(date(2026, 2, 27)).with_section(Section("10:15", text, "agent"))
    page = parse(page.with_section(Section("10:16", "next", "agent")).render())
    assert [(each.heading, each.text) for each in page.sections] == [
        ("10:15", text),
        ("10:16", "next"),
    ]
    lines = page.front.body.split("\n")
    assert sum(line.lstrip(" ").startswith(("# ", "## ")) for line in lines) == 2


def test_a_text_does_not_end_a_front_matter_that_a_person_left_open() -> None:
    page = parse("---\ntitle: mine\n").with_section(Section("10:15", "a: b\n---\n\\..."))
    again = parse(page.render())
    assert again.front.opening == ""
    assert again.sections[-1].text == "a: b\n---\n\\..."


@every(
    "before, gap",
    [("", ""), ("Hello", "\n\n"), ("Hello\n", "\n"), ("Hello\n\n", ""), ("Hello\r\n \r\n", "")],
)
def test_a_blank_line_stands_before_a_heading(before: str, gap: str) -> None:
    after = parse(before).with_section(Section("10:15", "x")).render()
    assert after.startswith(f"{before}{gap}## 10:15 ")


def test_a_page_of_a_front_matter_alone_goes_on_below_it() -> None:
    after = parse("---\nwords: 0\n---").with_section(Section("10:15", "x")).render()
    assert after == "---\nwords: 1\n---\n\n## 10:15 <!-- by:person -->\n\nx\n"


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    page = blank_page(date(2026, 2, 27), "\ufeff")
    assert page.render().startswith("\ufeff---\n")
    windows = parse("---\r\ndate: 2026-02-27\r\n---\r\n")
    after = windows.with_section(Section("10:15", "one\ntwo", themes=("ci",))).render()
    assert "\n" not in after.replace("\r\n", "")
    assert parse(after).sections[0].text == "one\ntwo"


def test_each_character_counts_where_no_spaces_are_written() -> None:
    assert parse("用 日本語 well said").words == 6


@pytest.mark.parametrize("said, locked", [("true", True), ("True", True), ("no", False)])
def test_a_person_may_lock_a_day(said: str, *, locked: bool) -> None:
    assert parse(f"---\nlocked: {said}\n---\n").is_locked is locked
    assert isinstance(parse(""), Page)


# ---- a day has a file and a name ----


FRIDAY = date(2026, 2, 27)


@given(st.dates())
def test_the_file_of_a_day_is_of_that_day(day: date) -> None:
    assert day_of(file_of(day)) == day


@every(
    "name", ["2026-02-30.md", "2026-2-3.md", "2026-02-27.md~", "x2026-02-27.md", "2026-02-27.txt"]
)
def test_another_file_is_no_day(name: str) -> None:
    assert day_of(name) is None


@every(
    "day, called",
    [
        (FRIDAY, "Today"),
        (date(2026, 2, 26), "Yesterday"),
        (date(2026, 2, 25), "Wednesday, February 25"),
        (date(2026, 1, 2), "Friday, January 2"),
        (date(2026, 2, 28), "Saturday, February 28"),
    ],
)
def test_a_day_is_called_as_a_person_would(day: date, called: str) -> None:
    assert title(day, FRIDAY) == called
