"""Reading the episodes of Anton."""

from __future__ import annotations

from typing import Any

import pytest

from engramdown.importers.anton import ANTON
from engramdown.importers.records import FILE
from tests.importers.told import read


def line(role: object, content: object, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    ts = "2026-02-27T10:15:00.123456+00:00"
    known = {"ts": ts, "session": "20260227_101500", "turn": 3, "role": role, "meta": {}}
    return known | {"content": content} | more


def test_its_roles_are_ours() -> None:
    roles = [
        "user",
        "assistant",
        "tool_call",
        "tool_result",
        "scratchpad",
        "memory_read",
        "memory_write",
    ]
    told = read(ANTON, *(line(role, f"{role} says") for role in roles))
    assert told.lines == [(role, f"{role} says") for role in roles]
    assert {said.turn for said in told.said} == {3}
    (found,) = told.conversations
    assert (found.key, found.id, found.at) == (FILE, "20260227_101500", told.said[0].at)


def test_what_is_known_of_an_episode_stays() -> None:
    (said,) = read(ANTON, line("tool_call", {"a": 1}, meta={"tool": "exec", "ok": True})).said
    assert (said.text, said.name, said.meta) == ('{"a": 1}', "exec", {"tool": "exec", "ok": True})


@pytest.mark.parametrize("turn", [True, -1, "3", None])
def test_a_turn_that_is_none_is_left_out(turn: object) -> None:
    assert read(ANTON, line("user", "x", turn=turn)).said[0].turn is None


def test_two_sessions_in_a_file_are_two() -> None:
    told = read(ANTON, line("user", "a"), line("user", "b", session="other"))
    assert [found.key for found in told.conversations] == [FILE, "other"]
    assert [said.key for said in told.said] == [FILE, "other"]


def test_what_is_no_episode_is_skipped() -> None:
    told = read(ANTON, line("event", "x"), line("robot", "x"), {"role": "user"}, line([], "x"), 5)
    assert told.said == []
    assert told.reasons == ["is not an episode of Anton!"] * 5
