"""Deliberate bugs in a page of the journal, each of which a named law catches with one example."""

from __future__ import annotations

from typing import Final

import pytest

from tests.mutants import Bug, mutated

# In the order of their imports. What is not named here is the real one.
PAGES: Final = (
    "engramdown.markdown.front_matter",
    "engramdown.journal.page",
    "tests.journal.laws",
)
OURS: Final = "## 09:00 <!-- by:agent -->\n\n"


BUGS: Final = (
    Bug(
        "a heading in a text begins a section",
        "journal.page",
        r'r"( {0,3})(\\*#{1,2}(?:[ \t\r]|\Z))"',
        r'r"( {0,3})(\\*#{1,1}(?:[ \t\r]|\Z))"',
        lambda core: core.sections_are_added("", core.Section("10:15", "## 11:00")),
    ),
    Bug(
        "a backslash of the text is lost",
        "journal.page",
        r'_TITLE: Final = re.compile(r"( {0,3})(\\*#',
        r'_TITLE: Final = re.compile(r"( {0,3})(\\?#',
        lambda core: core.sections_are_added("", core.Section("10:15", "\\# x")),
    ),
    Bug(
        "a comment in a text hides what comes behind",
        "journal.page",
        r'line = _OPENED.sub(r"<\1", line)',
        "",
        lambda core: core.sections_are_added("", core.Section("10:15", "a <!-- b")),
    ),
    Bug(
        "a rule ends a front matter that a person left open",
        "journal.page",
        "if rule is not None and (rule[1] or is_open):",
        "if rule is not None and rule[1]:",
        lambda core: core.sections_are_added("---\n", core.Section("10:15", "a: b\n---")),
    ),
    Bug(
        "a heading is glued to what stands above",
        "journal.page",
        "        return end * 2\n    return",
        "        return ''\n    return",
        lambda core: core.sections_are_added("By hand", core.Section("10:15", "x")),
    ),
    Bug(
        "a fence of a text swallows the next section",
        "journal.page",
        "found = _OURS.match(line) is not None or (not fence",
        "found = not fence and (_OURS.match(line) is not None",
        lambda core: core.sections_are_added(f"{OURS}```\n", core.Section("10:15", "x")),
    ),
    Bug(
        "a session ends the comment",
        "journal.page",
        r"|(?<=-)-",
        "",
        lambda core: core.comments_are_closed(core.Section("10:15", "x", session="a-->b")),
    ),
    Bug(
        "what is added is not counted",
        "journal.page",
        'longer.front.with_number("words", longer.words)',
        'longer.front.with_number("words", self.words)',
        lambda core: core.words_are_counted("---\nwords: 0\n---\n"),
    ),
    Bug(
        "line ends are kept as they come",
        "journal.page",
        r'_ENDS: Final = re.compile(r"(?<!\r)\r++\n")',
        r'_ENDS: Final = re.compile(r"\r\n")',
        lambda core: core.texts_are_kept("a\r\r\nb"),
    ),
    Bug(
        "prose between two rules is a front matter",
        "markdown.front_matter",
        "if page.strangers else page",
        "if False else page",
        lambda core: core.prose_is_left_alone("---\nNo key.\n---\n"),
    ),
    Bug(
        "a byte order mark hides the front matter",
        "markdown.front_matter",
        r'_OPENING: Final = re.compile(r"\ufeff?---',
        '_OPENING: Final = re.compile(r"---',
        lambda core: core.words_are_counted("\ufeff---\nwords: 0\n---\n"),
    ),
    Bug(
        "a theme is added twice",
        "markdown.front_matter",
        "if fold(item) not in known}",
        "}",
        lambda core: core.themes_stand_once("---\nthemes: [CI]\n---\n", "ci"),
    ),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what)
def test_a_deliberate_bug_is_caught(bug: Bug) -> None:
    with mutated(PAGES, None) as core:
        bug.law(core)
    with mutated(PAGES, bug) as core, pytest.raises(AssertionError):
        bug.law(core)
