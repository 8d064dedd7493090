"""A result is shown below the call that it answers."""

from __future__ import annotations

from engramdown.episodes.episode import Episode
from engramdown.episodes.pairing import answers


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


def test_a_result_answers_the_call_of_its_id() -> None:
    lines = said("call a shell", "call b shell", "result b shell", "result a shell")
    assert answers(lines) == {0: 3, 1: 2}


def test_an_id_that_comes_up_again_is_answered_in_order() -> None:
    lines = said("call a x", "call a x", "result a x", "result a x", "result a x")
    assert answers(lines) == {0: 2, 1: 3}


def test_without_an_id_the_oldest_open_call_of_the_tool_is_answered() -> None:
    lines = said("call - x", "call - y", "call a x", "result - y", "result - x", "result - x")
    assert answers(lines) == {0: 4, 1: 3}


def test_what_comes_before_its_call_answers_nothing() -> None:
    assert answers(said("result a x", "call a x", "user - -")) == {}
