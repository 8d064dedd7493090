"""What memory would hold after a plan, and whether it is still found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.plan import (
    Operation,
    Search,
    memory_after,
    merged_memory,
    no_longer_found,
    origins,
)
from engramdown.consolidation.plan_rules import judge
from engramdown.engram import CONFIDENCES, SOURCES
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

_TODAY = date(2026, 3, 15)


def by_words(memories: Sequence[Entry]) -> Search:
    """Search through ``memories``: first what holds most words of the query."""

    def search(query: str) -> list[str]:
        words = query.split()
        ranked = sorted(memories, key=lambda each: -sum(word in each.text for word in words))
        return [each.id for each in ranked if any(word in each.text for word in words)]

    return search


def test_a_merge_is_as_sure_as_the_weakest_of_its_originals() -> None:
    strong = known(
        "a", "x", confidence="high", source="user", basis="told", origin="s1#1", ts="2026-01-01"
    )
    weak = known(
        "b", "y", confidence="low", source="consolidation", origin="s2#2,s1#1", topic="ci", pin=True
    )
    new = merged_memory([strong, weak], "xy", "n")
    assert (new.id, new.text, new.confidence, new.source, new.basis) == (
        ("n", "xy", "low", "consolidation", "inferred")
    )
    assert (new.origin, new.topic, new.ts, new.expires) == ("s1#1,s2#2", "ci", "2026-02-27", "")
    assert (new.kind, new.scope, new.file, new.heading) == ("lesson", "project", "lessons.md", "")
    assert new.by_person
    assert merged_memory([weak, known("c", "z")], "yz").source == "llm"
    assert not merged_memory([known("c", "z", expires="2026-05-01")], "z").by_person


@given(st.lists(any_memories, min_size=1, max_size=1).map(lambda found: found[0] or learned("x")))
def test_no_merge_is_surer_or_better_founded_or_loses_a_pointer(memories: list[Entry]) -> None:
    new = merged_memory(memories, "text")
    for each in memories:
        assert CONFIDENCES.index(new.confidence) >= CONFIDENCES.index(each.confidence)
        assert SOURCES.index(new.source) >= SOURCES.index(each.source)
        assert each.origin == "" or set(each.origin.split(",")) <= set(new.origin.split(","))
    assert new.basis == "inferred"


def test_every_pointer_stands_once() -> None:
    assert origins(learned("a", "b", origin="s1#1,s2#2")) == "s1#1,s2#2"
    assert origins(learned("a")) == ""


def test_what_goes_is_gone_and_a_merge_stands_where_its_first_memory_stood() -> None:
    memories = learned("one", "two", "three", "four", "five", "six")
    plan = (drop("a", "b"), merge(("d", "c"), "34"), expire("e"), move("f", "ci"))
    assert [each.text for each in memory_after(plan, memories)] == ["two", "34", "six"]


def test_what_would_not_be_found_any_more_is_taken_out_of_the_plan() -> None:
    memories = learned("slow builds", "slow builds of docs", "flaky tests", "lint", "old vim", "ed")
    good = drop("a", "b")
    bad = merge(("c", "d"), "quality")
    newer = supersede("e", "f")
    found = no_longer_found([good, bad, newer, move("b", "ci")], memories, by_words)
    assert [(each.operation, each.verdict) for each in found] == [
        (bad, "refuse"),
        (newer, "refuse"),
    ]
    assert found[0].why == "a search for c would not find its replacement"


def test_the_words_that_only_few_have_find_what_replaces_them() -> None:
    crowd = [known(f"c{at}", f"backup of {name} runs") for at, name in enumerate("pqrstuvw")]
    mine = known("a", "backup of mail runs"), known("b", "backup of mail runs again")
    sent = [known(f"m{at}", f"mail is sent by {name}") for at, name in enumerate("xyz")]

    def taken_out(text: str, *others: Entry) -> bool:
        merged = merge(("a", "b"), text)
        return no_longer_found([merged], [*mine, *others], by_words) != []

    assert taken_out("backup runs", *crowd, *sent)
    assert not taken_out("backup of mail runs again", *crowd, *sent)
    # What many hold may be found anywhere, so it is not asked for by itself.
    turned = [mine[0], known("b", "mail of backup runs"), *crowd]
    many = [known(f"n{at}", "mail") for at in range(6)]
    assert no_longer_found([merge(("a", "b"), "backup runs")], [*turned, *many], by_words) == []
    assert no_longer_found([merge(("a", "b"), "backup runs")], [*turned, *many[:4]], by_words) != []


def test_a_memory_is_told_from_others_by_its_number() -> None:
    crates = [known(f"c{at}", f"keep crate {at} in the cellar") for at in range(9)]
    twin = known("t", "in the cellar, keep the crate 7")
    assert no_longer_found([drop("c7", "t")], [*crates, twin], by_words) == []
    assert no_longer_found([drop("c6", "t")], [*crates, twin], by_words) != []


def test_what_replaces_a_fact_need_not_say_it() -> None:
    facts = known("a", "editor: vim"), known("b", "editor: emacs"), known("c", "the editor wraps")
    assert no_longer_found([supersede("a", "b")], facts, by_words) == []
    assert no_longer_found([drop("a", "b")], facts, by_words) != []


def test_what_comes_back_into_the_plan_competes_with_what_replaces_the_others() -> None:
    # With "e" out of the way the text of "a" is found fifth; as "f" and "e" stay, it is not.
    crowd = [known(name, f"alpha beta {name}") for name in "pqrs"]
    memories = [*crowd, *learned("alpha beta gamma", "alpha gamma")]
    crowded = known("e", "alpha beta"), known("f", "nothing")
    plan = [drop("a", "b"), drop("e", "f")]
    found = no_longer_found(plan, [*crowd, *crowded, *memories[-2:]], by_words)
    assert [each.operation for each in found] == [drop("e", "f"), drop("a", "b")]


def test_the_same_words_are_found_and_a_text_of_small_words_is_asked_for_whole() -> None:
    memories = learned("use uv", "Use uv.", "to be", "to be or not")

    def nothing(_: Sequence[Entry]) -> Search:
        return lambda query: ["d"] if query in ("to be", "be to") else []

    assert no_longer_found([drop("a", "b"), drop("c", "d")], memories, nothing) == []


@given(any_plan, any_memories)
def test_after_any_plan_no_id_is_unknown_and_no_pointer_is_lost(
    plan: list[Operation], memories: list[Entry]
) -> None:
    memories = list({memory.id: memory for memory in memories}.values())
    operations = judge(plan, memories, _TODAY).apply
    stands = memory_after(operations, memories)
    assert {each.id for each in stands} <= {each.id for each in memories}
    assert memory_after(operations, memories) == stands
    merged = {each for plan in operations if plan.name == "merge" for each in plan.ids}
    kept = {pointer for each in stands for pointer in each.origin.split(",")}
    for each in memories:
        if each.id in merged:
            assert set(each.origin.split(",")) - {""} <= kept
