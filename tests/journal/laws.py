"""What holds for every page of the journal, whatever stands on it.

Promises: a law takes any text and fails by an assertion that says what is wrong.
"""

from __future__ import annotations

from engramdown.journal.page import Section, normalized, parse


def pages_come_back(text: str) -> None:
    """A page is its text, and each section stands on a line of its own, in order."""
    page = parse(text)
    assert page.render() == text
    lines = [section.line for section in page.sections]
    assert lines == sorted(set(lines))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


def sections_are_added(text: str, section: Section) -> None:
    """A section stands behind those before it, which are as they were, and is read as written."""
    page = parse(text)
    after = page.with_section(section)
    assert after.front.body.startswith(page.front.body)
    assert (after.front.opening, after.front.closing) == (page.front.opening, page.front.closing)
    again = parse(after.render())
    assert again.render() == after.render()
    assert [_said(each) for each in again.sections] == [
        *map(_said, page.sections),
        _said(section._replace(text=normalized(section.text))),
    ]
    assert again.front.text("words") in (f"{again.words}", page.front.text("words"))


def texts_are_kept(text: str) -> None:
    """What is kept of a text is kept as it is the next time."""
    kept = normalized(text)
    assert normalized(kept) == kept
    assert normalized(f"\n \r\n{kept} \r\n\t\n") == kept
    assert kept.replace("\ufffd", "") in text.replace("\r\n", "\n").replace("\ufffd", "") or (
        "\r" in text or not text.isprintable()
    )


def comments_are_closed(section: Section) -> None:
    """The comment behind a heading ends where we end it."""
    heading = parse("").with_section(section).render().split("\n")[0]
    assert heading.find("--", heading.find("<!--") + 4) == len(heading) - 3


def prose_is_left_alone(text: str) -> None:
    """A page without front matter gets none, and no key."""
    section = Section("10:15", "x", themes=("ci",))
    assert parse(text).with_section(section).render().startswith(text)


def words_are_counted(text: str) -> None:
    """The front matter says how many words there are."""
    after = parse(text).with_section(Section("10:15", "one two"))
    assert parse(after.render()).front.text("words") == f"{after.words}" == "2"


def themes_stand_once(text: str, theme: str) -> None:
    """A theme that is there, in whichever case, is not added."""
    before = parse(text)
    after = before.with_section(Section("10:15", "x", themes=(theme,)))
    assert after.front.items("themes") == before.front.items("themes")


def _said(section: Section) -> Section:
    return section._replace(line=0)
