"""What a person sees of a plan before saying yes."""

from __future__ import annotations

from datetime import date

from hypothesis import given

from engramdown.consolidation.plan import Operation, diff, headline
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


def shown(operations: list[Operation], memories: list[Entry]) -> str:
    return "\n".join(map(str, diff(operations, memories)))


def test_what_goes_what_comes_and_why_is_shown_file_by_file() -> None:
    memories = [
        known("r", "Never use pip", kind="never"),
        known("s", "never use pip", kind="never"),
        *learned("builds\nare slow", "builds are slow today", "old", "ci\ntoo", origin="s1#1"),
        known("v", "Editor: vim", kind="profile"),
        known("w", "Editor: emacs", kind="profile"),
    ]
    operations: list[Operation] = [
        supersede("v", "w"),
        merge(("b", "a"), "builds are\nslow", "say the\nsame"),
        expire("c", "expired"),
        move("d", "CI"),
        drop("s", "r", ""),
    ]
    assert shown(operations, memories) == (
        "rules.md\n"
        "- never use pip  (s)\n"
        "= Never use pip  (r)\n"
        "? why: a duplicate of r\n"
        "lessons.md\n"
        "- builds are slow today  (b)\n"
        "- builds  (a)\n"
        "-   are slow\n"
        "+ builds are\n"
        "+   slow\n"
        "? the new one: medium confidence, inferred, learned in s1#1\n"
        "? why: 2 become one: say the same\n"
        "- old  (c)\n"
        "? why: expired\n"
        "= ci  (d)\n"
        "=   too\n"
        "? why: moves to the topic ci\n"
        "profile.md\n"
        "- Editor: vim  (v)\n"
        "= Editor: emacs  (w)\n"
        "? why: replaced by w"
    )


def test_a_merge_of_what_nobody_knows_where_it_was_learned_says_so_by_silence() -> None:
    assert "? the new one: medium confidence, inferred\n" in shown(
        [merge(("a", "b"), "x")], learned("x", "y")
    )


def test_every_operation_has_a_name() -> None:
    assert headline(merge(("a", "b", "c"), "x")) == "3 become one"
    assert headline(move("a", "../x\n")) == "moves to the topic '../x\\n'"
    assert diff([merge((), "x")], []) == []


@given(any_plan, any_memories)
def test_every_memory_that_is_taken_is_shown(plan: list[Operation], memories: list[Entry]) -> None:
    found = judge(plan, memories, date(2026, 3, 15))
    rows = diff(found.apply, memories)
    taken = {each for operation in found.apply for each in operation.ids}
    assert taken <= {row.id for row in rows if row.mark in ("-", "=")}
    assert rows == diff(found.apply, memories)
