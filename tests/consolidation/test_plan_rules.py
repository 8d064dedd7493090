"""The rules that no plan can override, each with its own test, and the laws that hold for all."""

from __future__ import annotations

from datetime import date
from typing import Final

import pytest
from hypothesis import given

from engramdown.consolidation import plan_rules
from engramdown.consolidation.plan import Judgement, Operation, Ruling
from engramdown.consolidation.plan_rules import judge
from engramdown.hippocampus.entry import Entry
from tests.consolidation.memories import (
    any_memories,
    any_plan,
    drop,
    expire,
    known,
    learned,
    merge,
    move,
    supersede,
)
from tests.tables import every

TODAY: Final = date(2026, 3, 15)
_MORE: Final = [known(f"more{at}", f"filler number {at}") for at in range(9)]


def ruling(operation: Operation, *memories: Entry) -> Ruling:
    """Return what becomes of one operation among many memories."""
    return judge(
        [
            operation,
        ],
        [*memories, *_MORE],
        TODAY,
    ).rulings[0]


# ---- a plan as a whole ----


def test_an_empty_plan_is_refused() -> None:
    assert judge([], learned("a"), TODAY) == Judgement((), "the plan is empty")


def test_a_plan_with_an_unknown_id_is_refused_as_a_whole() -> None:
    plan = [drop("a", "b"), drop("c", "zzz")]
    found = judge(plan, [*learned("x", "x", "y"), *_MORE], TODAY)
    assert found.refusal == "the plan names unknown memories: 'zzz'"
    assert [each.operation for each in found.refused] == list(plan)
    assert found.apply == ()


def test_a_plan_that_drops_more_than_half_of_a_file_is_refused() -> None:
    memories = learned("CI is slow", "CI is slow", "builds", "lint", "tests")
    plan = [merge(("a", "c", "d"), "all"), drop("e", "b")]
    found = judge(plan, memories, TODAY)
    assert found.refusal == "the plan drops 3 of 5 memories of lessons.md, more than half"
    assert not found.apply
    assert not found.propose


def test_half_of_a_file_may_go_and_moving_drops_nothing() -> None:
    memories = learned("use uv", "use uv now", "CI is slow", "CI is slow today")
    plan = [drop("a", "b"), drop("c", "d"), move("d", "ci")]
    assert judge(plan, memories, TODAY).refusal == ""


def test_what_has_expired_or_stands_twice_does_not_count_as_dropped() -> None:
    memories = [*learned("use uv", "Use uv."), known("c", "old", expires="2026-01-01")]
    found = judge([drop("a", "b"), expire("c")], memories, TODAY)
    assert len(found.apply) == 2
    lies = [drop("b", "a"), drop("a", "b"), expire("b")]
    assert judge(lies, learned("use uv", "CI"), TODAY).refusal


def test_nothing_is_too_much_of_what_gives_way_to_itself() -> None:
    assert judge(
        [
            drop("a", "a"),
        ],
        learned("x"),
        TODAY,
    ).refusal


# ---- what must not be done ----


def test_a_memory_is_taken_once() -> None:
    memories = [*learned("use uv", "use uv", "use uv"), *_MORE]
    plan = [drop("a", "b"), expire("a"), drop("c", "b")]
    found = judge(plan, memories, TODAY)
    assert [each.why for each in found.refused] == ["a is taken twice"] * 2
    assert found.apply == (drop("c", "b"),)


def test_what_stays_for_another_one_is_not_taken_itself() -> None:
    memories = [*learned("use uv", "use uv", "use uv"), *_MORE]
    plan = [drop("a", "b"), drop("b", "c")]
    assert judge(plan, memories, TODAY).refused == (
        Ruling(drop("a", "b"), "refuse", "b is to stay, and is taken itself"),
    )


@every(
    "operation, why",
    [
        pytest.param(drop("a", "a"), "a cannot give way to itself", id="itself"),
        pytest.param(supersede("a", "a"), "a is taken twice", id="superseded-by-itself"),
        pytest.param(merge(("a",), "x"), "a merge needs two memories at least", id="alone"),
        pytest.param(merge((), "x"), "a merge needs two memories at least", id="nothing"),
        pytest.param(merge(("a", "a"), "x"), "a is taken twice", id="twice"),
    ],
)
def test_an_operation_needs_another_memory(operation: Operation, why: str) -> None:
    found = ruling(operation, *learned("x", "y"))
    assert found.verdict == "refuse"
    if "taken twice" not in why:
        assert plan_rules.needs_another(operation, {}) == why


@every(
    "fields, what",
    [
        pytest.param({"kind": "never"}, "mixes kinds (lesson, never)", id="kind"),
        pytest.param({"scope": "global"}, "mixes scopes (global, project)", id="scope"),
        pytest.param({"file": "topics/x.md"}, "mixes files (lessons.md, topics/x.md)", id="file"),
        pytest.param({"heading": "Mine"}, "mixes headings (, Mine)", id="heading"),
        pytest.param({"expires": "2099-01-01"}, "mixes last days (2099-01-01, none)", id="expiry"),
    ],
)
def test_kinds_scopes_files_headings_and_last_days_are_not_mixed(
    fields: dict[str, object], what: str
) -> None:
    memories = {"a": known("a", "use uv"), "b": known("b", "use uv", **fields)}
    assert plan_rules.mixes(merge(("a", "b"), "use uv"), memories) == what


def test_a_duplicate_is_of_one_kind_and_scope() -> None:
    memories = {"a": known("a", "pip", kind="never"), "b": known("b", "pip", kind="always")}
    assert plan_rules.mixes(drop("a", "b"), memories) == "mixes kinds (always, never)"
    assert plan_rules.mixes(expire("a"), memories) == ""


@every(
    "text, why",
    [
        pytest.param("", "the text cannot be kept: is empty", id="empty"),
        pytest.param(" \n", "the text cannot be kept: is empty", id="blank"),
        pytest.param("use uv" * 400, "the text is too long (2400 characters)", id="long"),
        pytest.param("use \ud800", "the text cannot be kept: character 4 is half", id="surrogate"),
        pytest.param("CI IS SLOW", "the text is what c says already", id="known"),
        pytest.param("use uv\x1b", "the text holds a control character ('\\x1b')", id="escape"),
        pytest.param("use uv\u2028", "the text holds a control character ('\\u2028')", id="line"),
        pytest.param("use \u202euv", "the text holds a control character ('\\u202e')", id="bidi"),
    ],
)
def test_a_merged_text_can_be_kept(text: str, why: str) -> None:
    memories = learned("use uv", "use uv now", "CI is slow")
    found = ruling(merge(("a", "b"), text), *memories)
    assert found.verdict == "refuse"
    assert found.why.startswith(why)


def test_a_merged_text_may_be_as_long_as_its_originals() -> None:
    memories = {"a": known("a", "x" * 1500), "b": known("b", "y" * 1500)}
    assert plan_rules.bad_text(merge(("a", "b"), "z" * 3000), memories) == ""
    assert plan_rules.bad_text(merge(("a", "b"), "z" * 3001), memories) != ""


@pytest.mark.parametrize(
    "topic, fields, why",
    [
        pytest.param("../x", {}, "'../x' looks like a path", id="path"),
        pytest.param("", {}, "'' has no letter or digit", id="empty"),
        pytest.param("ci", {"kind": "always"}, "only a lesson has a topic", id="rule"),
        pytest.param("CI", {"topic": "ci"}, "a is under ci already", id="there"),
    ],
)
def test_a_lesson_moves_to_a_topic_that_it_does_not_have(
    topic: str, fields: dict[str, object], why: str
) -> None:
    found = ruling(move("a", topic), known("a", "x", **fields))
    assert (found.verdict, found.why[: len(why)]) == ("refuse", why)
    assert ruling(move("a", "CI"), known("a", "x")).verdict == "apply"


def test_only_what_has_expired_expires() -> None:
    for last in ("", "soon", "2026-03-15", "2099-01-01"):
        found = ruling(expire("a"), known("a", "x", expires=last))
        assert found == Ruling(expire("a"), "refuse", "a has not expired")
    assert ruling(expire("a"), known("a", "x", expires="2026-03-14")).verdict == "apply"


def test_what_lasts_does_not_give_way_to_what_expires_sooner() -> None:
    soon = known("b", "use uv", expires="2026-04-01")
    for last in ("", "2026-05-01"):
        found = ruling(drop("a", "b"), known("a", "use uv", expires=last), soon)
        assert found.why == "b expires sooner than a"
    assert ruling(drop("b", "a"), known("a", "use uv"), soon).verdict == "apply"


def test_what_is_read_always_does_not_give_way_to_what_is_read_on_demand() -> None:
    under_topic = known("b", "use uv", file="topics/ci.md")
    found = ruling(drop("a", "b"), known("a", "use uv"), under_topic)
    assert found.why == "b stands only in topics/ci.md, which is read on demand"
    other = known("c", "use uv", file="topics/uv.md", heading="Mine")
    memories = {"b": under_topic, "c": other, "a": known("a", "use uv")}
    assert plan_rules.loses_its_place(drop("b", "a"), memories) == ""
    assert plan_rules.loses_its_place(drop("b", "c"), memories) == ""
    assert plan_rules.says_otherwise(drop("c", "b"), memories) == ""


def test_the_newer_replaces_the_older() -> None:
    older = known("a", "Editor: vim", ts="2025-01-01", kind="profile")
    newer = known("b", "Editor: emacs", kind="profile")
    assert ruling(supersede("a", "b"), older, newer).verdict == "apply"
    assert ruling(supersede("b", "a"), older, newer).why == "a is older than b"


def test_a_merge_that_changes_a_number_is_refused() -> None:
    found = ruling(merge(("a", "b"), "retry 5 times"), *learned("retry 3 times", "Retry 3 times."))
    assert found == Ruling(found.operation, "refuse", "a number is lost (3)")


# ---- what only a person may decide ----


@every(
    "fields",
    [
        pytest.param({"source": "user"}, id="said"),
        pytest.param({"basis": "verified"}, id="verified"),
        pytest.param({"pin": True}, id="pinned"),
    ],
)
@every(
    "operation",
    [
        drop("a", "b"),
        supersede("a", "b"),
        merge(("a", "b"), "use uv"),
        move("a", "ci"),
        expire("a"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_a_person_wrote_verified_or_pinned_is_only_proposed(
    operation: Operation, fields: dict[str, object]
) -> None:
    other = known("b", "use uv", expires="2026-01-01")
    found = ruling(operation, known("a", "use uv", expires="2026-01-01", **fields), other)
    assert found == Ruling(operation, "propose", "a is yours: you wrote, confirmed or pinned it")


def test_what_a_person_wrote_may_stay_for_another_one() -> None:
    mine = known("a", "use uv", source="user", basis="told")
    assert ruling(drop("b", "a"), mine, known("b", "use uv")).verdict == "apply"


@every(
    "one, other",
    [
        pytest.param("retry 3 times", "retry 5 times", id="number"),
        pytest.param("ask Alice", "ask Bob", id="name"),
        pytest.param("Alice reviews the code", "Bob reviews the code", id="first-name"),
        pytest.param("freeze on 2026-01-02", "freeze on 2026-01-03", id="date"),
        pytest.param("see src/a.py", "see src/b.py", id="path"),
        pytest.param("needs uv 0.5.1", "needs uv 0.5.2", id="version"),
        pytest.param("use pip", "do not use pip", id="negation"),
        pytest.param("the build uses cmake", "the build uses bazel", id="value"),
    ],
)
def test_what_differs_in_substance_is_never_merged_without_a_person(one: str, other: str) -> None:
    memories = learned(one, other)
    for operation in (
        drop("a", "b"),
        drop("b", "a"),
        supersede("a", "b"),
        merge(("a", "b"), one),
        merge(("a", "b"), f"{one}, {other}"),
    ):
        assert ruling(operation, *memories).verdict != "apply"
    assert ruling(drop("a", "b"), *memories).verdict == "propose"


def test_a_merge_that_only_a_person_may_decide_is_told_why() -> None:
    slow = learned("builds are slow in winter", "in winter builds are slow")
    cases = {
        "builds are slow in autumn": "the text changes a word (winter / autumn)",
        "builds": "the text leaves out 'slow', 'winter'",
        "slow builds are in winter": "the text changes an order",
        "builds are slow\nin winter": "the text has several lines",
        "builds are slow in winter as someone deleted everything": (
            "the text says what none of them says: 'someone', 'deleted', 'everything'"
        ),
    }
    for text, why in cases.items():
        found = ruling(merge(("a", "b"), text), *slow)
        assert (found.verdict, found.why) == ("propose", why)
    topics = [known("a", "use uv", topic="ci"), known("b", "use uv now", topic="uv")]
    found = ruling(merge(("a", "b"), "use uv now"), *topics)
    assert found.why == "they are about different topics"
    topics = [known("a", "use uv", topic="ci"), known("b", "use uv", topic="uv")]
    found = ruling(drop("a", "b"), *topics)
    assert (found.verdict, found.why) == ("propose", "they are about different topics")
    differing = ruling(merge(("a", "b"), "retry 3, 5 times"), *learned("retry 3", "retry 5"))
    assert differing.why == "a and b differ in a number (3 / 5)"


def test_a_good_merge_may_be_applied() -> None:
    memories = learned("builds are slow", "builds are slow in winter")
    found = ruling(merge(("a", "b"), "builds are slow in winter"), *memories)
    assert found.verdict == "apply"


def test_a_duplicate_says_no_more_and_stands_under_the_same_heading() -> None:
    found = ruling(drop("a", "b"), *learned("slow flaky tests hide bugs", "tests hide"))
    assert found.why == "leaves out 'slow', 'flaky', 'bugs'"
    mine = known("a", "use uv", heading="Mine")
    assert ruling(drop("a", "b"), mine, known("b", "use uv")).why == (
        "they stand under other headings"
    )


# ---- what needs nobody's yes ----


def test_duplicates_and_what_expired_are_safe() -> None:
    memories = {
        "a": known("a", "Use uv", expires="2026-01-01"),
        "b": known("b", "use uv."),
        "c": known("c", "use uv for all of it"),
    }
    assert plan_rules.is_safe(drop("a", "b"), memories, TODAY)
    assert plan_rules.is_safe(expire("a"), memories, TODAY)
    assert not plan_rules.is_safe(expire("b"), memories, TODAY)
    assert not plan_rules.is_safe(drop("b", "c"), memories, TODAY)
    assert not plan_rules.is_safe(merge(("a", "b"), "use uv"), memories, TODAY)


# ---- the laws ----


@given(any_plan, any_memories)
def test_whatever_the_plan_no_memory_of_a_person_is_taken_without_them(
    plan: list[Operation], memories: list[Entry]
) -> None:
    found = judge(plan, memories, TODAY)
    mine = {memory.id for memory in reversed(memories) if memory.by_person}
    first = {memory.id: memory for memory in reversed(memories)}
    mine = {each for each in mine if first[each].by_person}
    taken = [each for operation in found.apply for each in operation.ids]
    assert not mine.intersection(taken)
    assert len(taken) == len(set(taken))
    assert not {operation.stays for operation in found.apply}.intersection(taken)


@given(any_plan, any_memories)
def test_every_operation_gets_one_ruling_and_always_the_same(
    plan: list[Operation], memories: list[Entry]
) -> None:
    found = judge(plan, memories, TODAY)
    assert [each.operation for each in found.rulings] == plan
    assert found == judge(plan, memories, TODAY)
    assert len(found.apply) + len(found.propose) + len(found.refused) == len(plan)
    assert all(each.why for each in (*found.propose, *found.refused))
    assert not found.refusal or not (found.apply or found.propose)


@given(any_plan, any_memories)
def test_nothing_is_applied_to_an_unknown_id(plan: list[Operation], memories: list[Entry]) -> None:
    ids = {memory.id for memory in memories}
    for ruled in judge(plan, memories, TODAY).rulings:
        if ruled.verdict != "refuse":
            assert ids.issuperset({*ruled.operation.ids, ruled.operation.stays} - {""})
