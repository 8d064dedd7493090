"""Tidying that needs no model."""

from __future__ import annotations

from datetime import date
from typing import Final

import pytest
from hypothesis import given

from engramdown.consolidation.compaction import duplicates, expired, superseded, tidy
from engramdown.consolidation.plan_rules import is_safe, judge
from engramdown.hippocampus.entry import Entry
from tests.consolidation.memories import any_memories, drop, expire, known, learned, supersede
from tests.tables import every

TODAY: Final = date(2026, 3, 15)
SAME: Final = "the same words"


def test_what_expired_and_what_stands_twice_is_found() -> None:
    memories = [*learned("use uv", "Use uv.", "CI"), known("d", "old", expires="2026-03-14")]
    assert tidy(memories, TODAY) == [
        expire("d", "its last day was 2026-03-14"),
        drop("b", "a", "the same words"),
    ]


def test_a_last_day_that_is_today_or_no_day_has_not_passed() -> None:
    memories = [known(day, "x", expires=day) for day in ("2026-03-15", "2025", "20250101", "")]
    assert expired(memories, TODAY) == []


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"source": "user"}, id="of-a-person"),
        pytest.param({"source": "consolidation"}, id="better-source"),
        pytest.param({"confidence": "high"}, id="surer"),
        pytest.param({"ts": "2025-01-01"}, id="older"),
    ],
)
def test_the_better_one_stays(fields: dict[str, object]) -> None:
    worse, better = known("a", "use uv"), known("b", "use uv", **fields)
    assert duplicates([worse, better]) == [drop("a", "b", "the same words")]
    assert duplicates([better, worse]) == [drop("a", "b", "the same words")]


def test_what_is_read_on_demand_and_what_will_expire_goes_first() -> None:
    plain = known("a", "use uv")
    for fields in ({"file": "topics/uv.md", "confidence": "high"}, {"expires": "2099-01-01"}):
        assert duplicates([known("b", "use uv", **fields), plain])[0].ids == ("b",)


def test_what_has_another_kind_scope_or_heading_is_no_duplicate() -> None:
    rule = known("a", "pip", kind="always", heading="Always")
    for fields in ({"kind": "never"}, {"scope": "global"}, {"heading": "Mine"}):
        other = known("b", "pip", **{"kind": "always", "heading": "Always", **fields})
        assert duplicates([rule, other]) == []
    lessons = [known("a", "pip", heading="Mine"), known("b", "pip")]
    assert len(duplicates(lessons)) == 1


def test_what_a_person_wrote_twice_and_one_id_that_stands_twice_are_left_alone() -> None:
    assert duplicates(learned("use uv", "use uv", source="user")) == []
    assert duplicates([known("a", "use uv"), known("a", "use uv")]) == []


def test_the_same_in_other_words_is_found_and_only_what_is_certain_is_safe() -> None:
    memories = learned(
        "Run the tests before a push", "Before pushing, execute the tests", "Don't use the db",
        "Never use the database", "CI is slow", "CI is slow on Mondays",
    )  # fmt: skip
    found = judge(tidy(memories, TODAY), memories, TODAY)
    near = "the same in other words"
    assert found.apply == (drop("b", "a", near), drop("d", "c", near))
    first = {memory.id: memory for memory in memories}
    assert [is_safe(each, first, TODAY) for each in found.apply] == [False, True]


def test_lessons_about_two_topics_are_two_lessons() -> None:
    limit = "The limit is 50 a minute"
    memories = [known("a", limit, topic="ci"), known("b", limit, topic="api"), known("c", limit)]
    assert duplicates(memories) == [drop("c", "a", "the same words")]


def test_the_same_words_are_found_among_many_that_are_like_them() -> None:
    orders = [f"{one} helps {other}" for one in "PQRST" for other in "UVWXYZ"]
    swapped = [" helps ".join(reversed(text.split(" helps "))) for text in orders]
    memories = [known(str(at), text) for at, text in enumerate([*orders, *swapped, *orders])]
    assert len(duplicates(memories)) == len(orders)


def test_of_one_file_no_more_than_half_goes_at_once_unless_it_is_word_for_word() -> None:
    memories = learned("Use the db", "Use a database", "Use databases", "the db is used")
    assert len(duplicates(memories)) == 3
    plan = tidy(memories, TODAY)
    assert len(plan) == 2
    assert judge(plan, memories, TODAY).refusal == ""
    assert len(tidy(learned("use uv", "Use uv", "use  uv"), TODAY)) == 2


def fact(name: str, text: str, ts: str, **fields: object) -> Entry:
    return known(name, text, kind="profile", ts=ts, **fields)


def test_a_fact_gives_way_to_a_newer_one_of_its_key() -> None:
    old, new = fact("a", "Editor: vim", "2026-01-01"), fact("b", "editor: emacs", "2026-02-01")
    expected = [supersede("a", "b", "a newer fact of 2026-02-01")]
    assert superseded([old, new]) == superseded([new, old]) == expected
    assert tidy([old, new], TODAY) == expected
    assert judge(expected, [old, new], TODAY).apply == tuple(expected)


@every(
    "facts",
    [
        pytest.param([fact("a", "Editor: vim", "2026-01-01"), fact("b", "Pet: cat", "2026-02-01")],
                     id="other-keys"),
        pytest.param([fact("a", "Pet: dog", "2026-01-01"), fact("b", "Pet: cat", "2026-01-01")],
                     id="one-day"),
        pytest.param([fact("a", "likes tea", "2026-01-01"), fact("b", "likes ale", "2026-02-01")],
                     id="no-keys"),
        pytest.param([known("a", "Pet: dog", ts="2026-01-01"), known("b", "Pet: cat")],
                     id="lessons"),
        pytest.param([fact("a", "Pet: dog", "2026-01-01", source="user"),
                      fact("b", "Pet: cat", "2026-02-01")], id="a-persons"),
        pytest.param([fact("a", "Pet: dog", "2026-01-01"), fact("a", "Pet: cat", "2026-02-01")],
                     id="one-id"),
    ],
)  # fmt: skip
def test_what_is_no_newer_fact_replaces_nothing(facts: list[Entry]) -> None:
    assert superseded(facts) == []


def test_what_stays_for_a_duplicate_is_replaced_the_next_time() -> None:
    vim = "Editor: vim"
    facts = [fact("a", vim, "2026-01-01"), fact("b", vim, "2026-01-02")]
    facts += [fact("c", "Editor: emacs", "2026-02-01"), fact("d", "Pet: cat", "2026-02-01")]
    assert tidy(facts, TODAY) == [
        drop("b", "a", "the same words"),
    ]
    again = tidy([facts[0], *facts[2:]], TODAY)
    assert again == [
        supersede("a", "c", "a newer fact of 2026-02-01"),
    ]


@given(any_memories)
def test_what_is_found_is_safe_unless_it_is_a_persons(memories: list[Entry]) -> None:
    memories = list({memory.id: memory for memory in memories}.values())
    plan = tidy(memories, TODAY)
    found = judge(plan, memories, TODAY)
    first = {memory.id: memory for memory in memories}
    assert found.refusal in ("", "the plan is empty")
    exact = [each for each in found.apply if each.name == "drop" and each.reason == SAME]
    assert all(is_safe(each, first, TODAY) for each in exact)
    asked = {each for ruling in found.propose for each in ruling.operation.ids}
    assert all(
        first[each].by_person or "headings" in ruling.why
        for ruling in found.propose
        for each in ruling.operation.ids
    ), asked


def test_a_memory_gives_way_to_the_line_of_a_person_that_has_its_very_words() -> None:
    memories = [
        known("a", "In the cellar, keep the crate 7", source="user"),
        known("b", "Keep crate 7 in the cellar", source="user"),
        known("c", "keep crate 7 in the cellar"),
        known("d", "Keep the crates 7 in the cellar"),
    ]
    assert duplicates(memories) == [
        drop("c", "b", "the same words"),
        drop("d", "a", "the same in other words"),
    ]
