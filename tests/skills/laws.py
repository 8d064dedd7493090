"""What holds for every SKILL.md, whatever stands in it: for property tests and for fuzzing.

Promises: a law takes any text and fails by an assertion that says what is wrong.
"""

from __future__ import annotations

import contextlib

from engramdown.errors import InvalidSkillError
from engramdown.markdown.front_matter import FrontMatter, Scalar, parse_front_matter, written
from engramdown.skills.validation import check


def pages_come_back(text: str) -> None:
    """A page is its text, and what is found in it stands on one of its lines."""
    page = parse_front_matter(text)
    assert page.render() == text
    assert not page.head or page.head.endswith("\n")
    for finding in check(page, "charts"):
        assert 0 <= finding.line <= text.count("\n") + 1
        assert finding.message
        assert finding.advice


def values_stand_there(text: str) -> None:
    """A value stands in the front matter, and no two share a character."""
    page = parse_front_matter(text)
    before = 0
    for key in page.keys:
        for start, end in key.value.spans:
            assert before <= start <= end <= len(page.head)
            before = end
        assert key.value.text is not None or key.value.problem


def values_change_alone(text: str, key: str, said: str) -> None:
    """A new text is read back; but for the spans of the old one the front matter is as it was."""
    page = parse_front_matter(text)
    try:
        after = page.with_text(key, said)
    except InvalidSkillError:
        assert page.is_open or page.find(key) is not None
        return
    key_there = page.find(key)
    found = key_there.value if key_there else None
    assert after.body == page.body
    if found is None:
        assert after.head.startswith(page.head)
        assert after.head.count("\n") == page.head.count("\n") + 1
    else:
        front, behind = _around(page, found)
        assert after.head.startswith(front)
        assert after.head.endswith(behind)
        assert after is page or after.head[len(front) :].removesuffix(behind).strip() == written(
            said
        )
    again = parse_front_matter(after.render())
    # A page of a lone "---" may become one whose body begins another way.
    assert again.render() == after.render()
    if found is not None or not page.strangers:
        kept = again.find(key)
        assert kept is not None
        value = kept.value
        assert value.text in (said, found and found.text)
        assert not value.problem


def bodies_change_alone(text: str, body: str) -> None:
    """A new body stands below the same front matter."""
    page = parse_front_matter(text)
    after = page.with_body(body)
    assert after.body == body
    assert (after.opening, after.head) == (page.opening, page.head)
    assert after.closing.rstrip("\r\n") == page.closing.rstrip("\r\n")
    if page.opening:
        with contextlib.suppress(InvalidSkillError):
            assert parse_front_matter(after.render()).body == body


def _around(page: FrontMatter, found: Scalar) -> tuple[str, str]:
    """Return what stands in front of a value and behind it."""
    (first, last), *more = found.spans
    head = page.head
    for start, end in reversed(more):
        head = head[:start] + head[end:]
    return head[:first], head[last:]
