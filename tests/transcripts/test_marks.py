"""What an event takes out of recall."""

from __future__ import annotations

import pytest

from engramdown.transcripts.episode import Episode
from engramdown.transcripts.visibility import LOOKED_UP, read_mark, repeats_memory, without_repeats


def event(kind: str, **more: object) -> Episode:
    return Episode(seq=9, ts="", id="", role="event", event=kind, more=more)


@pytest.mark.parametrize(
    "episode, expected",
    [
        pytest.param(event("exclude", of=[1, 2]), (True, [1, 2]), id="lines"),
        pytest.param(event("include", of=[1]), (False, [1]), id="back"),
        pytest.param(event("exclude"), (True, None), id="session"),
        pytest.param(event("exclude", of="all"), (True, []), id="no-list"),
        pytest.param(event("exclude", of=[True, -1, 1 << 40, "1", 7]), (True, [7]), id="nonsense"),
        pytest.param(event("end"), (None, None), id="other"),
    ],
)
def test_an_event_says_what_it_takes_out(
    episode: Episode, expected: tuple[bool | None, list[int] | None]
) -> None:
    assert read_mark(episode) == expected


def said(name: str, role: str = "tool_result", recalled: tuple[str, ...] = ()) -> Episode:
    return Episode(seq=9, ts="", id="", role=role, name=name, recalled=recalled)


@pytest.mark.parametrize(
    "name",
    [
        *("recall", "search_journals", "mcp__engramdown__recall", "mcp__engramdown__grep"),
        *("engramdown.describe", "engramdown_expand", "engramdown/search_journals"),
        *("recall_topic", "recall_skill", "mcp__engramdown__review"),
    ],
)
@pytest.mark.parametrize("role", ["tool_call", "tool_result"])
def test_our_own_tools_only_repeat(name: str, role: str) -> None:
    assert repeats_memory(said(name, role))


@pytest.mark.parametrize(
    "name",
    ["grep", "describe", "expand", "review", "ripgrep", "mcp__other__grep", "kubectl_describe", ""],
)
def test_the_tool_of_somebody_else_gives_something_new(name: str) -> None:
    assert not repeats_memory(said(name))
    assert not repeats_memory(said(name, "tool_call"))
    assert repeats_memory(said(name, recalled=("a#1",)))


def test_who_speaks_says_something_new_whatever_was_recalled() -> None:
    assert not repeats_memory(said("grep", "user", ("a#1",)))
    assert not repeats_memory(said("", "assistant", ("a#1",)))
    assert not repeats_memory(said("recall", "user"))


def test_nothing_is_learned_from_what_was_looked_up() -> None:
    result = said("recall")._replace(text="Quoted from memory")
    assert without_repeats(result).text == LOOKED_UP
    assert without_repeats(result._replace(name="shell")).text == "Quoted from memory"
    assert without_repeats(result._replace(role="tool_call")).text == "Quoted from memory"
    assert without_repeats(said("shell", recalled=("a#1",))).text == LOOKED_UP
