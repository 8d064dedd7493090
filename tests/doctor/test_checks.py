"""What doctor says about the entries of memory files."""

from __future__ import annotations

from datetime import date
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from engramdown.doctor import findings
from engramdown.doctor.checks import check, check_form, fix
from engramdown.doctor.findings import Finding
from engramdown.engram import fold
from engramdown.kinds import in_reading_order
from engramdown.markdown.document import parse
from tests.hippocampus.test_gallery import PAGES

TODAY: Final = date(2026, 3, 15)
LINES: Final = sorted({line for page in PAGES for line in page.text.split("\n")})
NAMES: Final = ("rules.md", "lessons.md", "pending.md", "archive.md", "soul.md", "topics/ci.md")


@st.composite
def pages(draw: st.DrawFn) -> str:
    """Draw a file of lines of the gallery, in any order."""
    return "\n".join(draw(st.lists(st.sampled_from(LINES), max_size=12)))


def codes(files: dict[str, str]) -> list[tuple[str, int, str]]:
    return [(item.file, item.line, item.code) for item in check(files, TODAY, "global")]


def fixable(files: dict[str, str]) -> list[Finding]:
    return [item for item in check(files, TODAY, "global") if item.fixable]


def test_files_are_read_in_the_order_of_their_weight() -> None:
    names = ["archive.md", "topics/b.md", "rules.md", "pending.md", "topics/a.md", "profile.md"]
    names += ["lessons.md", "soul.md"]
    assert in_reading_order(names) == [
        "profile.md",
        "soul.md",
        "rules.md",
        "lessons.md",
        "topics/a.md",
        "topics/b.md",
        "pending.md",
        "archive.md",
    ]


def test_findings_come_by_file_and_line() -> None:
    files = {
        "lessons.md": "- a <!-- expires:2025-01-01 -->\n",
        "rules.md": "## Always\n- b\n- B\n## Never\n- b!\n",
    }
    assert codes(files) == [
        ("rules.md", 3, "duplicate"),
        ("rules.md", 5, "always-and-never"),
        ("lessons.md", 1, "expired"),
    ]


def test_a_lesson_and_its_copy_under_a_topic_are_one() -> None:
    line = "- CI is slow <!-- id:k3v9q2ht topic:ci ts:2026-01-01 -->\n"
    assert codes({"lessons.md": line, "topics/ci.md": line}) == []


def test_a_copy_that_says_something_else_is_found() -> None:
    lesson = "- CI is slow <!-- id:k3v9q2ht topic:ci ts:2026-01-01 -->\n"
    files = {"lessons.md": lesson, "topics/ci.md": lesson.replace("slow", "fast")}
    found = check(files, TODAY)
    assert [item.message for item in found] == [
        "lessons.md:1 has the same id and says something else"
    ]


def test_two_memories_of_which_one_can_hold_are_named_with_both_lines() -> None:
    files = {
        "rules.md": "## Always\n- Use uv, never pip\n",
        "lessons.md": "- Install packages with pip\n- Meet on Fridays\n- CI is slow\n",
    }
    (found,) = check(files, TODAY)
    assert (found.file, found.line, found.code) == ("lessons.md", 1, "contradiction")
    assert found.message == "only one of the two can hold: rules.md:2 says 'Use uv, never pip'"
    assert "forget or edit" in found.advice


def test_an_id_in_two_files_that_have_nothing_to_do_with_each_other_is_found() -> None:
    line = "- CI is slow <!-- id:k3v9q2ht source:llm ts:2026-01-01 -->\n"
    files = {"rules.md": f"## Always\n{line}", "lessons.md": line}
    assert codes(files) == [("lessons.md", 1, "id-twice")]
    assert codes({"pending.md": line, "archive.md": line, "lessons.md": line}) == []


def test_an_id_twice_in_the_archive_is_found_there() -> None:
    line = "- CI is {} <!-- id:k3v9q2ht source:llm ts:2026-01-01 -->\n"
    files = {"archive.md": line.format("slow") + line.format("fast")}
    assert codes(files) == [("archive.md", 2, "id-twice")]


def test_the_same_under_when_and_always_is_a_duplicate_that_nobody_mends() -> None:
    entry = "- Use tabs <!-- id:{} source:llm ts:2026-01-01 -->\n"
    text = f"## When\n{entry.format('k3v9q2ht')}## Always\n{entry.format('7m0xw4ce')}"
    assert codes({"rules.md": text}) == [("rules.md", 4, "duplicate")]
    assert fixable({"rules.md": text}) == []


def test_the_same_in_two_sections_that_load_as_always_is_a_duplicate_that_nobody_mends() -> None:
    entry = "- Use tabs <!-- id:{} source:llm ts:2026-01-01 -->\n"
    text = f"## Style\n{entry.format('k3v9q2ht')}## Always\n{entry.format('7m0xw4ce')}"
    assert [code for _, _, code in codes({"rules.md": text})] == ["own-heading", "duplicate"]
    assert fixable({"rules.md": text}) == []


def test_of_two_that_say_the_same_the_persons_stays() -> None:
    text = "- Use uv <!-- id:k3v9q2ht source:llm ts:2020-01-01 -->\n- use uv\n"
    assert [(item.line, item.message) for item in fixable({"lessons.md": text})] == [
        (1, "says the same as lessons.md:2")
    ]


def test_of_two_of_ours_the_older_one_stays() -> None:
    text = (
        "- Use uv <!-- id:k3v9q2ht source:llm -->\n"
        "- use uv <!-- id:7m0xw4ce source:llm ts:2026-02-01 -->\n"
        "- Use uv! <!-- id:5m7p9r1t source:llm ts:2026-01-01 -->\n"
    )
    assert [item.line for item in fixable({"lessons.md": text})] == [1, 2]
    assert fix(text, fixable({"lessons.md": text}), lambda: "") == text.split("\n")[2] + "\n"


def test_the_one_that_is_filed_under_a_topic_stays() -> None:
    older = "- Use uv <!-- id:k3v9q2ht source:llm ts:2026-01-01 -->\n"
    filed = "- Use uv <!-- id:7m0xw4ce source:llm topic:pip ts:2026-02-01 -->\n"
    files = {"lessons.md": older + filed, "topics/pip.md": filed}
    assert [(item.file, item.line) for item in fixable(files)] == [("lessons.md", 1)]


def test_what_a_person_said_confirmed_or_pinned_is_only_reported() -> None:
    for theirs in ("source:user", "basis:verified source:llm", "pin:yes source:llm"):
        text = (
            "- Use uv <!-- id:k3v9q2ht source:user ts:2026-01-01 -->\n"
            f"- Use uv <!-- id:k3v9q2ht {theirs} confidence:High ts:2026-02-01 -->\n"
            f"- Then <!-- id:5m7p9r1t {theirs} expires:2026-02-01 ts:2026-02-01 -->\n"
            f"- Other <!-- id:5m7p9r1t {theirs} ts:2026-02-01 -->\n"
        )
        found = check({"lessons.md": text}, TODAY)
        assert [(item.line, item.code) for item in found] == [
            (2, "metadata-value"),
            (2, "duplicate"),
            (3, "expired"),
            (4, "id-twice"),
        ]
        assert fixable({"lessons.md": text}) == []


def test_what_expired_can_be_forgotten_if_its_id_means_one_memory() -> None:
    line = "- {} <!-- id:{} source:llm expires:2026-03-14 ts:2026-01-01 -->\n"
    once = line.format("Freeze", "k3v9q2ht")
    assert [item.code for item in fixable({"lessons.md": once})] == ["expired"]
    twice = once + line.format("Thaw", "k3v9q2ht")
    assert [item.code for item in fixable({"lessons.md": twice})] == ["id-twice"]
    assert codes({"lessons.md": "- Now <!-- expires:2026-03-15 -->\n"}) == []


def test_facts_in_a_project_are_found_once() -> None:
    files = {"profile.md": "# Profile\n\n- Name: Ada\n- Likes: tea\n"}
    assert [(item.line, item.code) for item in check(files, TODAY)] == [(3, "profile-in-project")]
    assert codes(files) == []
    assert check({"profile.md": "# Profile\n"}, TODAY) == []


def test_a_rewording_is_looked_for_among_entries_of_one_kind() -> None:
    text = "## Always\n- Deploy on a Monday\n## When\n- Deploy on Mondays\n"
    assert codes({"rules.md": text}) == []
    text += "- On Monday, deploy\n- On Mondays we deploy\n"
    assert codes({"rules.md": text}) == [
        ("rules.md", 5, "near-duplicate"),
        ("rules.md", 6, "near-duplicate"),
    ]


def test_a_secret_is_never_repeated() -> None:
    token = "ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8" + "qR9sT0uV1wX"
    text = f"## Nevr {token}\n- a <!-- id:k3v9q2ht confidence:{token} -->\n- [{token}] b\n"
    found = check({"rules.md": text, "pending.md": text}, TODAY)
    assert {"secret", "metadata-value"} <= {item.code for item in found}
    assert not any(token in item.message for item in found)


@given(st.dictionaries(st.sampled_from(NAMES), pages() | st.text(), max_size=3))
def test_any_files_can_be_checked(files: dict[str, str]) -> None:
    for finding in check(files, TODAY):
        assert finding.code in findings.codes()
        assert 1 <= finding.line <= files[finding.file].count("\n") + 1


@given(pages(), st.sampled_from(NAMES))
def test_mending_changes_only_the_entries_that_it_names(text: str, file: str) -> None:
    findings = check({file: text}, TODAY)
    mended = fix(text, findings, lambda: "00000000")
    named = {finding.line for finding in findings if finding.fixable}
    for placed in parse(text).placed():
        lines = range(placed.line, placed.line + placed.block.raw.count("\n"))
        if not named.isdisjoint(lines):
            named |= {*lines}
    left = iter(mended.split("\n"))
    for number, line in enumerate(text.split("\n"), 1):
        assert number in named or line in left


@given(pages(), st.sampled_from(NAMES))
def test_mending_loses_no_claim(text: str, file: str) -> None:
    mended = fix(text, check({file: text}, TODAY), lambda: "00000000")
    before, after = (
        {fold(item.block.text) for item in parse(each).placed()} for each in (text, mended)
    )
    assert before == after


ONCE: Final = "- a <!-- id:k3v9q2ht source:llm ts:soon -->\n"


def form(files: dict[str, str], *of: str) -> list[tuple[str, str]]:
    return [(item.file, item.code) for item in check_form(files, of)]


def test_form_says_nothing_of_what_memories_say_nor_of_the_day() -> None:
    text = "- Same\n- same\n- Old <!-- id:7m0xw4ce source:llm expires:2020-01-01 -->\n"
    assert codes({"lessons.md": text}) != []
    assert form({"lessons.md": text}, "lessons.md") == []


def test_form_is_of_the_files_that_are_asked_for() -> None:
    files = {"lessons.md": ONCE, "rules.md": "## Always\n"}
    assert form(files, "lessons.md") == [("lessons.md", "metadata-value")]
    assert form(files, "rules.md") == []


def test_an_id_that_stands_in_another_file_too_is_told_whichever_is_asked_for() -> None:
    files = {"rules.md": "## Always\n\n- b <!-- id:k3v9q2ht -->\n", "lessons.md": ONCE}
    assert ("lessons.md", "id-twice") in form(files, "lessons.md")
    assert form(files, "rules.md") == [("lessons.md", "id-twice")]
    assert form(files) == []
    twice = {"archive.md": "- a <!-- id:7m0xw4ce -->\n- b <!-- id:7m0xw4ce -->\n"}
    assert form(twice, "archive.md") == [("archive.md", "id-twice")]


@given(files=st.dictionaries(st.sampled_from(NAMES), pages(), max_size=3))
def test_what_form_finds_doctor_finds_too(files: dict[str, str]) -> None:
    assert {*check_form(files, files)} <= {*check(files, TODAY)}
