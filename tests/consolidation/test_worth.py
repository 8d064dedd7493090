"""`engramdown.consolidation.facts`: when to ask a model for facts, and what it is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.facts import MOST_BYTES, recent, should_extract, worth_showing
from engramdown.transcripts.episode import Episode
from tests.consolidation.lines import said, talk
from tests.strategies import any_text
from tests.tables import every

REPLY = "I will keep that in mind."
TEXT = "I work in Berlin."


def exchange(text: str = TEXT, reply: str = REPLY) -> tuple[Episode, Episode]:
    return said("user", text), said("assistant", reply)


@pytest.mark.parametrize(
    "messages, worth",
    [pytest.param(1, False, id="one"), pytest.param(2, True, id="two"), pytest.param(9, True)],
)
def test_two_messages_are_enough_and_one_is_not(messages: int, *, worth: bool) -> None:
    assert should_extract(TEXT, REPLY, messages) is worth


def test_how_many_are_enough_can_be_said() -> None:
    assert not should_extract(TEXT, REPLY, 5, min_messages=6)
    assert should_extract(TEXT, REPLY, 6, min_messages=6)


@pytest.mark.parametrize(
    "reply, worth",
    [
        pytest.param("x" * 19, False, id="19-bytes"),
        pytest.param("x" * 20, True, id="20-bytes"),
        pytest.param("é" * 10, True, id="20-bytes-of-ten-letters"),
        pytest.param(" " * 20, False, id="blanks"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_short_reply_closes_an_errand(reply: str, *, worth: bool) -> None:
    assert should_extract(TEXT, reply, 2) is worth


@pytest.mark.parametrize("text, worth", [("ok", False), ("1234", False), ("12345", True)])
def test_a_nod_tells_nothing(text: str, *, worth: bool) -> None:
    assert should_extract(text, REPLY, 2) is worth


@every(
    "text",
    [
        *("turn on the light", "Turn off the heating", "switch on it", "SWITCH OFF all"),
        *("set the alarm", "set my alarm", "what time is it", "What's the time?"),
        *("what\u2019s the time", "lock the door", "unlock the door", "open the gate"),
        *("close the blinds", "  turn\non the light"),
    ],
)
def test_an_order_or_a_question_of_the_moment_is_not_worth_it(text: str) -> None:
    assert not should_extract(text, REPLY, 2)


@every(
    "text",
    [
        *("turn only at the gate, I say", "I always turn on the light", "settle the bill for me"),
        *("open their letters", "clockwork is what I like", "lock them up, as we do"),
    ],
)
def test_what_only_begins_like_one_is(text: str) -> None:
    assert should_extract(text, REPLY, 2)


def test_what_a_program_asks_is_not() -> None:
    assert not should_extract(TEXT, REPLY, 9, auxiliary=True)
    assert worth_showing(talk(*exchange()), auxiliary=True) == []


def test_half_a_surrogate_pair_is_counted_and_no_error() -> None:
    assert should_extract("\ud83d\ud83d", REPLY, 2)


def test_only_exchanges_that_are_worth_it_are_shown_in_their_order() -> None:
    lines = talk(
        *exchange(),
        *exchange("Turn on the light"),
        *exchange("And I like tea.", "Ok."),
        *exchange("I have a cat."),
    )
    assert [line.seq for line in worth_showing(lines)] == [1, 2, 7, 8]


def test_a_reply_in_several_pieces_is_one_and_so_is_a_question() -> None:
    lines = talk(
        said("system", "Be kind. " * 9),
        said("user", "I ha"),
        said("user", "ve"),
        said("assistant", "I will always keep"),
        said("tool_call", "{}"),
        said("tool_result", "ok"),
        said("assistant", " that."),
        said("user", " "),
    )
    assert [line.seq for line in worth_showing(lines)] == [2, 3, 4, 7]


@pytest.mark.parametrize("roles", [["user"], ["assistant"], ["assistant", "assistant"], []])
def test_without_an_exchange_nothing_is_shown(roles: list[str]) -> None:
    assert worth_showing(talk(*(said(role, "x" * 40) for role in roles))) == []


def test_what_only_an_assistant_says_is_not_shown() -> None:
    lines = talk(said("user", "x" * 3_990), said("assistant", "y" * 30))
    assert worth_showing(lines) == []


def test_the_newest_messages_win() -> None:
    lines = talk(*(said("user", str(at) * 1_000) for at in range(9)))
    assert [line.seq for line in recent(lines)] == [6, 7, 8, 9]
    assert [line.seq for line in recent(lines, 3_999)] == [7, 8, 9]
    assert recent(lines, 999) == []


def test_one_that_is_too_long_hides_nothing_behind_it() -> None:
    lines = talk(said("user", "a"), said("user", "x" * 4_001), said("user", "b"))
    assert [line.text for line in recent(lines)] == ["a", "b"]


@given(st.lists(any_text.map(lambda text: said("user", text * 99))), st.integers(0, MOST_BYTES))
def test_what_is_shown_is_whole_fits_and_keeps_its_order(lines: list[Episode], most: int) -> None:
    numbered = talk(*lines)
    found = recent(numbered, most)
    assert sum(len(line.text.encode("utf-8", "surrogatepass")) for line in found) <= most
    assert [line for line in numbered if line in found] == found
    fit = [line for line in numbered if len(line.text.encode("utf-8", "surrogatepass")) <= most]
    assert found == fit[len(fit) - len(found) :]
