"""A result is shown below the call that it answers."""

from __future__ import annotations

from collections.abc import Iterable

from engramdown.transcripts.episode import Episode
from engramdown.transcripts.tool_calls import paired


def said(*lines: str) -> list[Episode]:
    """Return episodes from lines such as ``call c1 shell``; ``-`` stands for no id."""
    roles = {"call": "tool_call", "result": "tool_result", "user": "user"}
    made = []
    for seq, text in enumerate(lines, 1):
        role, call, name = text.split()
        made.append(
            Episode(
                seq=seq,
                ts="2026-02-27T10:15:00.000000Z",
                id="01kjf9gc8v000001",
                role=roles[role],
                call=call.strip("-"),
                name=name.strip("-"),
            )
        )
    return made


def pairs(episodes: Iterable[Episode]) -> list[tuple[int, int]]:
    """Return the numbers of each episode and its answer, 0 for none."""
    return [(each.seq, 0 if answer is None else answer.seq) for each, answer in paired(episodes)]


def test_a_result_answers_the_call_of_its_id() -> None:
    lines = said("call a shell", "call b shell", "result b shell", "result a shell")
    assert pairs(lines) == [(1, 4), (2, 3)]


def test_an_id_that_comes_up_again_is_answered_in_order() -> None:
    lines = said("call a x", "call a x", "result a x", "result a x", "result a x")
    assert pairs(lines) == [(1, 3), (2, 4), (5, 0)]


def test_without_an_id_the_oldest_open_call_of_the_tool_is_answered() -> None:
    lines = said("call - x", "call - y", "call a x", "result - y", "result - x", "result - x")
    assert pairs(lines) == [(1, 5), (2, 4), (3, 0), (6, 0)]


def test_what_comes_before_its_call_answers_nothing() -> None:
    assert pairs(said("result a x", "call a x", "user - -")) == [(1, 0), (2, 0), (3, 0)]


def test_no_more_is_read_than_is_needed() -> None:
    waiting = iter(said("user - -", "call a x", "user - -", "result a x", "user - -", "user - -"))
    found = paired(waiting)
    next(found)
    assert next(found)[1] is not None
    assert [each.seq for each in waiting] == [5, 6]
