"""Two states of memory are told apart memory by memory, by id, wherever each stands."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.git.diff import Change, compare, is_shown, read_state, words
from tests.strategies import any_text, markdown

ONE: Final = "- Use uv, never pip <!-- id:k3v9q2ht source:llm ts:2026-02-27 -->\n"
TWO: Final = "- CI takes nine minutes <!-- id:7m0xw4ce source:llm ts:2026-02-27 -->\n"
HAND: Final = "- The staging database is reset every night\n"
PROPOSAL: Final = "- [ ] Prefer fixtures <!-- id:p81dz5ka kind:lesson from:s1#4 -->\n"


def changes(before: dict[str, str], after: dict[str, str]) -> list[Change]:
    return compare(read_state(before, "project"), read_state(after, "project"))


def told(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(change.verb, change.file, change.id) for change in changes(before, after)]


def only(before: dict[str, str], after: dict[str, str]) -> Change:
    (change,) = changes(before, after)
    return change


def test_what_is_new_was_learned() -> None:
    assert told({}, {"lessons.md": f"# Lessons\n\n{ONE}"}) == [
        ("learned", "lessons.md", "k3v9q2ht")
    ]


def test_a_new_section_of_ours_is_no_news() -> None:
    after = {"rules.md": f"# Rules\n\n## Always\n\n{ONE}\n## When\n\n{TWO}"}
    found = told({"rules.md": f"# Rules\n\n## Always\n\n{ONE}"}, after)
    assert found == [("learned", "rules.md", "7m0xw4ce")]


def test_a_text_that_changed_is_told_with_what_it_was() -> None:
    change = only({"lessons.md": ONE}, {"lessons.md": ONE.replace("uv", "uv or pipx")})
    assert (change.verb, change.id) == ("changed", "k3v9q2ht")
    assert change.before is not None
    assert change.before.text == "Use uv, never pip"


def test_what_is_said_about_a_memory_is_told_apart_from_what_it_says() -> None:
    change = only({"lessons.md": ONE}, {"lessons.md": ONE.replace("llm", "llm basis:verified")})
    assert (change.verb, change.notes) == ("noted", (("basis", "inferred", "verified"),))


@pytest.mark.parametrize(
    "before, after",
    [
        pytest.param({"lessons.md": ONE}, {"topics/ci.md": ONE}, id="file"),
        pytest.param(
            {"rules.md": f"## Always\n\n{ONE}\n## Never\n"},
            {"rules.md": f"## Always\n\n## Never\n\n{ONE}"},
            id="section",
        ),
    ],
)
def test_what_stands_elsewhere_has_moved(before: dict[str, str], after: dict[str, str]) -> None:
    assert only(before, after).verb == "moved"


def test_the_order_of_memories_is_layout() -> None:
    found = told({"lessons.md": ONE + TWO}, {"lessons.md": TWO + ONE})
    assert found == [("layout", "lessons.md", "")]


def test_a_copy_under_a_topic_is_the_same_memory() -> None:
    lesson = ONE.replace("source", "topic:python source")
    after = {"lessons.md": lesson, "topics/python.md": f"# python\n\n{lesson}"}
    assert told({}, after) == [("learned", "lessons.md", "k3v9q2ht")]
    assert told(after, {"lessons.md": lesson}) == [("layout", "topics/python.md", "")]


def test_a_copy_that_was_edited_alone_is_told_in_its_file() -> None:
    lesson = ONE.replace("source", "topic:python source")
    before = {"lessons.md": lesson, "topics/python.md": lesson}
    after = {"lessons.md": lesson, "topics/python.md": lesson.replace("uv", "pipx")}
    assert told(before, after) == [("changed", "topics/python.md", "k3v9q2ht")]
    assert told(after, {**after, "lessons.md": lesson.replace("uv", "pipx")}) == [
        ("changed", "lessons.md", "k3v9q2ht")
    ]
    assert told(before, {name: text.replace("uv", "pipx") for name, text in before.items()}) == [
        ("changed", "lessons.md", "k3v9q2ht")
    ]


def test_a_copied_line_that_says_something_else_is_a_memory_of_its_own() -> None:
    after = {"lessons.md": ONE + ONE.replace("uv", "poetry")}
    change = only({"lessons.md": ONE}, after)
    assert (change.verb, change.entry and change.entry.text) == ("learned", "Use poetry, never pip")


# ---- by hand ----


def test_a_line_without_an_id_is_known_by_its_text() -> None:
    assert told({"lessons.md": HAND}, {"lessons.md": f"{ONE}{HAND}"}) == [
        ("learned", "lessons.md", "k3v9q2ht")
    ]


def test_an_edit_of_a_line_without_an_id_is_an_edit() -> None:
    change = only({"lessons.md": HAND}, {"lessons.md": HAND.replace("night", "Sunday")})
    assert change.verb == "changed"
    assert change.before is not None
    assert change.before.text.endswith("night")


def test_of_several_lines_the_likest_is_the_one() -> None:
    before = "- Alpha beta gamma delta\n- Alpha beta gamma omega\n"
    found = changes({"lessons.md": before}, {"lessons.md": "- Alpha beta gamma omega psi\n"})
    assert {(each.verb, each.before and each.before.text[-5:]) for each in found} == {
        ("changed", "omega"),
        ("forgot", "delta"),
    }


def test_another_line_in_its_place_is_another_memory() -> None:
    found = told({"lessons.md": HAND}, {"lessons.md": "- Deploys run on Fridays\n"})
    assert sorted(verb for verb, *_ in found) == ["forgot", "learned"]


def test_two_memories_with_ids_are_two_however_alike() -> None:
    other = ONE.replace("k3v9q2ht", "9c2hq7xk").replace("uv", "conda")
    found = told({"lessons.md": ONE}, {"lessons.md": other})
    assert {verb for verb, *_ in found} == {"forgot", "learned"}


def test_a_line_that_lost_its_comment_is_the_same_memory() -> None:
    change = only({"lessons.md": ONE}, {"lessons.md": "- Use uv, never pip\n"})
    assert change.verb == "noted"
    assert ("id", "k3v9q2ht", change.id) in change.notes
    change = only({"lessons.md": ONE}, {"lessons.md": "- Use uv, never pip3\n"})
    assert change.verb == "changed"


def test_very_many_lines_are_not_compared_in_pairs() -> None:
    old = "".join(f"- Line {at} of old\n" for at in range(400))
    new = "".join(f"- Line {at} of new\n" for at in range(400))
    verbs = {change.verb for change in changes({"lessons.md": old}, {"lessons.md": new})}
    assert verbs == {"forgot", "learned"}


# ---- the archive ----


def archived(line: str, **record: str) -> str:
    more = " ".join(f"{key}:{value}" for key, value in record.items())
    return line.replace(" -->", f" {more} -->")


def test_what_went_to_the_archive_was_forgotten_with_a_reason() -> None:
    gone = archived(ONE, was="lessons.md", reason="forgotten", by="user", archived="2026-03-01")
    change = only({"lessons.md": ONE}, {"lessons.md": "", "archive.md": gone})
    assert (change.verb, change.file) == ("forgot", "lessons.md")
    assert change.record is not None
    assert change.record.reason == "forgotten"


def test_a_line_by_hand_is_found_in_the_archive_by_its_text() -> None:
    gone = f"{HAND.strip()} <!-- id:zzzzzzz0 was:lessons.md reason:deleted hand:yes -->\n"
    change = only({"lessons.md": HAND}, {"archive.md": gone})
    assert (change.verb, change.record and change.record.reason) == ("forgot", "deleted")


def test_what_is_gone_without_a_trace_is_told_too() -> None:
    change = only({"lessons.md": ONE}, {})
    assert (change.verb, change.record) == ("forgot", None)


def test_what_comes_back_from_the_archive_is_restored() -> None:
    gone = archived(ONE, was="lessons.md", reason="forgotten")
    change = only({"archive.md": gone}, {"lessons.md": ONE})
    assert (change.verb, change.file) == ("restored", "lessons.md")


def test_what_is_learned_again_is_no_loss_of_the_archive() -> None:
    gone = archived(ONE, was="lessons.md", reason="forgotten")
    again = ONE.replace("k3v9q2ht", "9c2hq7xk")
    assert told({"archive.md": gone}, {"lessons.md": again}) == [
        ("learned", "lessons.md", "9c2hq7xk")
    ]


def test_what_is_gone_from_the_archive_is_erased() -> None:
    gone = archived(ONE, was="lessons.md", reason="forgotten")
    assert told({"archive.md": gone}, {}) == [("erased", "archive.md", "k3v9q2ht")]


# ---- proposals ----


def test_a_new_proposal_was_proposed() -> None:
    assert told({}, {"pending.md": PROPOSAL}) == [("proposed", "pending.md", "p81dz5ka")]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("- prefer  fixtures. <!-- id:b3s9v5jq -->\n", id="as-proposed"),
        pytest.param("- Prefer factories <!-- id:b3s9v5jq from:s1#4 -->\n", id="edited-first"),
    ],
)
def test_a_proposal_that_became_memory_was_approved(line: str) -> None:
    change = only({"pending.md": PROPOSAL}, {"pending.md": "", "lessons.md": line})
    assert (change.verb, change.file, change.id) == ("approved", "lessons.md", "b3s9v5jq")
    assert change.before is not None
    assert change.before.id == "p81dz5ka"


def test_a_proposal_in_the_archive_was_declined() -> None:
    gone = "- Prefer fixtures <!-- id:p81dz5ka kind:lesson was:pending.md reason:declined -->\n"
    assert told({"pending.md": PROPOSAL}, {"archive.md": gone}) == [
        ("declined", "pending.md", "p81dz5ka")
    ]


def test_a_proposal_that_is_just_gone_is_withdrawn() -> None:
    assert told({"pending.md": PROPOSAL}, {}) == [("withdrawn", "pending.md", "p81dz5ka")]
    merged = archived(ONE, was="lessons.md", reason="merged")
    ask = PROPOSAL.replace("Prefer fixtures", "Use uv, never pip")
    found = told({"pending.md": ask, "lessons.md": ONE}, {"archive.md": merged})
    assert ("withdrawn", "pending.md", "p81dz5ka") in found


def test_a_tick_is_told_before_it_is_applied() -> None:
    change = only({"pending.md": PROPOSAL}, {"pending.md": PROPOSAL.replace("[ ]", "[x]")})
    assert (change.verb, change.notes) == ("noted", (("tick", "", "x"),))


def test_a_proposal_whose_text_was_edited_has_changed() -> None:
    change = only({"pending.md": PROPOSAL}, {"pending.md": PROPOSAL.replace("fix", "dix")})
    assert (change.verb, change.file) == ("changed", "pending.md")


def test_a_note_among_the_proposals_is_layout() -> None:
    assert told({"pending.md": PROPOSAL}, {"pending.md": f"{PROPOSAL}- my own note\n"}) == [
        ("layout", "pending.md", "")
    ]


# ---- prose ----


def test_prose_is_told_by_file() -> None:
    found = told({"rules.md": f"Words\n\n## Always\n\n{ONE}"}, {"rules.md": f"## Always\n\n{ONE}"})
    assert found == [("prose", "rules.md", "")]
    assert told({"soul.md": "I am calm.\n"}, {"soul.md": "- I am calm.\n"}) == [
        ("prose", "soul.md", "")
    ]
    assert told({"lessons.md": ONE}, {"lessons.md": f"{ONE}\n<!-- mine -->\n"}) == [
        ("prose", "lessons.md", "")
    ]


def test_empty_lines_are_layout() -> None:
    assert told({"lessons.md": ONE}, {"lessons.md": f"{ONE}\n\n"}) == [("layout", "lessons.md", "")]


def test_changes_come_file_by_file_from_top_to_bottom() -> None:
    after = {
        "archive.md": "words\n",
        "lessons.md": ONE + TWO,
        "pending.md": PROPOSAL,
        "profile.md": "- Name: Ada\n",
        "rules.md": "## Never\n- b\n",
        "topics/ci.md": HAND,
    }
    files = [change.file for change in changes({}, after)]
    assert files == [
        *("profile.md", "rules.md", "lessons.md", "lessons.md", "topics/ci.md", "pending.md"),
        "archive.md",
    ]


@pytest.mark.parametrize(
    "name, shown",
    [("soul.md", True), ("rules.md", True), ("topics/ci.md", True), ("topics/../x.md", False)],
)
def test_only_memory_files_are_compared(name: str, shown: bool) -> None:  # noqa: FBT001 - a case
    assert is_shown(name) is shown


# ---- words ----


def test_words_that_changed_are_marked() -> None:
    found = [tuple(word) for word in words("one two three", "one 2 three four")]
    assert found == [("one ", ""), ("two", "-"), ("2", "+"), (" three", ""), (" four", "+")]


def test_words_that_only_went_are_marked() -> None:
    assert [tuple(word) for word in words("one two three", "one three")][1] == ("two ", "-")


def test_texts_with_little_in_common_stand_one_after_the_other() -> None:
    assert [word.mark for word in words("Alpha beta", "Nothing of it here")] == ["-", "+"]
    long = "word " * 2_000
    assert [word.mark for word in words(long, f"{long}more")] == ["-", "+"]


@given(before=any_text, after=any_text)
def test_both_texts_can_be_read_from_the_words(before: str, after: str) -> None:
    found = words(before, after)
    assert "".join(word.text for word in found if word.mark != "+") == before
    assert "".join(word.text for word in found if word.mark != "-") == after


# ---- laws ----

_NAMES: Final = ("rules.md", "lessons.md", "profile.md", "pending.md", "archive.md", "soul.md")
_LINES: Final = st.sampled_from(
    [
        *(ONE, TWO, HAND, PROPOSAL, ONE.replace("uv", "conda"), HAND.replace("night", "day")),
        *("## Never\n", "## Mine\n", "\n", "words\n", "```\n", "<!-- note -->\n", "- [x] done\n"),
        *(archived(ONE, reason="forgotten", was="lessons.md"), archived(TWO, reason="declined")),
        PROPOSAL.replace("[ ]", "[-]"),
    ]
)
_FILES: Final = st.dictionaries(
    st.sampled_from([*_NAMES, "topics/ci.md"]), st.lists(_LINES, max_size=6).map("".join)
)


@given(before=_FILES, after=_FILES)
def test_what_stands_in_one_state_alone_is_told(
    before: dict[str, str], after: dict[str, str]
) -> None:
    assert changes(before, dict(before)) == []
    found = changes(before, after)
    old, new = read_state(before, "project"), read_state(after, "project")
    named = {entry for each in found for entry in (each.before, each.after)}
    for mine, theirs in ((old, new), (new, old)):
        for key, entry in [*mine.kept.items(), *mine.waiting.items()]:
            if key not in theirs.kept and key not in theirs.waiting:
                assert entry in named
    assert bool(found) == any(
        before.get(name, "") != after.get(name, "") for name in {**before, **after}
    )


@given(name=st.sampled_from(_NAMES), before=markdown(), after=markdown())
def test_any_text_can_be_compared(name: str, before: str, after: str) -> None:
    there, back = changes({name: before}, {name: after}), changes({name: after}, {name: before})
    assert bool(there) == bool(back) == (before != after)
