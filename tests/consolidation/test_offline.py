"""Tidying that needs no model."""

from __future__ import annotations

from datetime import date
from typing import Final

import pytest
from hypothesis import given

from engramdown.consolidation.offline import duplicates, expired, tidy
from engramdown.consolidation.plan import Drop, Expire, Plan
from engramdown.consolidation.rules import is_safe, judged
from engramdown.hippocampus.entry import Entry
from tests.consolidation.memories import any_memories, known, learned

TODAY: Final = date(2026, 3, 15)


def test_what_expired_and_what_stands_twice_is_found() -> None:
    memories = [*learned("use uv", "Use uv.", "CI"), known("d", "old", expires="2026-03-14")]
    assert tidy(memories, TODAY) == Plan(
        (Expire("d", "its last day was 2026-03-14"), Drop("b", "a", "the same words"))
    )


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
    assert duplicates([worse, better]) == [Drop("a", "b", "the same words")]
    assert duplicates([better, worse]) == [Drop("a", "b", "the same words")]


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


@given(any_memories)
def test_what_is_found_is_safe_unless_it_is_a_persons(memories: list[Entry]) -> None:
    memories = list({memory.id: memory for memory in memories}.values())
    plan = tidy(memories, TODAY)
    found = judged(plan, memories, TODAY)
    first = {memory.id: memory for memory in memories}
    assert found.refusal in ("", "the plan is empty")
    assert all(is_safe(each, first, TODAY) for each in found.apply)
    asked = {each for ruling in found.propose for each in ruling.operation.ids}
    assert all(
        first[each].by_person or "headings" in ruling.why
        for ruling in found.propose
        for each in ruling.operation.ids
    ), asked
