"""What of a conversation is shown, and what is told of the rest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.summaries import Item
from engramdown.conversation.prompt import Seen
from engramdown.conversation.rendering import strays
from engramdown.conversation.view import ROLES, gist_item, said, said_item
from engramdown.transcripts.episode import Episode
from engramdown.transcripts.summary_log import Fold, Gist

_MADE = "2026-03-01T10:15:00.000000Z"


def _episode(seq: int, role: str, text: str, call: str = "") -> Episode:
    return Episode(seq, _MADE, "x", role, text, "sh" if call else "", call)


def _seen(episodes: list[Episode], *gists: Gist) -> Seen:
    """Return a conversation as its track has it."""
    fold = Fold()
    for episode in episodes:
        fold.add(episode.seq)
    for gist in gists:
        fold.apply(gist)
    messages = {each.seq: said("s1", each, lambda one: one.text) for each in episodes}
    newest = max((each.seq for each in episodes if each.role == "user"), default=-1)
    items = [
        said_item(messages[source], is_over=source < newest)
        if isinstance(source, int)
        else gist_item("s1", fold.gists[source])
        for source in fold
    ]
    return Seen("s1", items, messages, fold.gists)


@st.composite
def _talks(draw: st.DrawFn) -> list[Episode]:
    sizes = st.sampled_from([1, 40, 400, 9_000])
    return [
        _episode(
            seq,
            role := draw(st.sampled_from(sorted(ROLES))),
            "word " * draw(sizes),
            draw(st.sampled_from(["", "a", "b"])) if role.startswith("tool") else "",
        )
        for seq in range(draw(st.integers(0, 12)))
    ]


@given(_talks(), st.integers(0, 8), st.integers(0, 5_000))
def test_each_message_is_shown_once_and_in_order_or_told(
    episodes: list[Episode], count: int, room: int
) -> None:
    seen = _seen(episodes)
    tail = seen.tail(count)
    choice = seen.chosen(tail, room)
    shown = [line.source for line in choice.lines]
    assert shown == sorted(set(map(int, shown)))
    gone = {each.where for each in choice.dropped if "placeholder" not in each.reason}
    assert {f"s1#{seq}" for seq in map(int, shown)} | gone == {f"s1#{e.seq}" for e in episodes}
    assert not {f"s1#{seq}" for seq in map(int, shown)} & gone
    assert strays(choice.lines) == []
    brief = {each.where for each in choice.dropped if "placeholder" in each.reason}
    assert brief == {f"s1#{line.source}" for line in choice.lines if not line.is_whole}
    assert choice.tokens <= room + seen.cost(tail)
    assert choice.tokens == sum(line.tokens for line in choice.lines)
    assert sum(line.tokens for line in choice.lines[choice.tail :]) == seen.cost(tail)
    said_last = [each.seq for each in episodes if each.role == "user"][-1:]
    assert all(seq in shown for seq in said_last)


@given(_talks())
def test_with_room_for_all_only_what_is_long_and_over_is_replaced(episodes: list[Episode]) -> None:
    seen = _seen(episodes)
    choice = seen.chosen(seen.tail(3), 10**9)
    assert choice.left_out == 0
    for line in choice.lines:
        assert line.is_whole or line.role == "tool_result"


def test_results_that_answer_nothing_are_told_and_not_shown() -> None:
    episodes = [
        *(_episode(1, "tool_result", "lost", "z"), _episode(2, "tool_call", "{}", "a")),
        *(_episode(3, "tool_result", "one", "a"), _episode(4, "tool_result", "two", "a")),
    ]
    choice = _seen(episodes).chosen(0, 0)
    assert [line.source for line in choice.lines] == [2, 3]
    assert [(each.what, each.where, each.reason) for each in choice.dropped] == [
        ("tool result", "s1#1", "it answers no call"),
        ("tool result", "s1#4", "its call was answered before"),
    ]
    assert choice.left_out == 0


def test_a_long_result_is_whole_until_its_turn_is_over() -> None:
    episodes = [
        *(_episode(1, "user", "?"), _episode(2, "tool_call", "{}", "a")),
        _episode(3, "tool_result", "word " * 9_000, "a"),
    ]
    running = _seen(episodes).chosen(0, 0)
    assert running.lines[-1].is_whole
    assert running.dropped == ()
    over = _seen([*episodes, _episode(4, "user", "And?")]).chosen(0, 0)
    assert "id s1#3" in over.lines[2].text
    (told,) = over.dropped
    assert (told.what, told.where, told.tokens) == ("tool result", "s1#3", 11_255)
    assert "its turn is over" in told.reason


def test_a_summary_stands_in_its_place_or_says_what_it_was_about() -> None:
    episodes = [_episode(seq, "user", "x") for seq in range(1, 6)]
    gist = Gist("g1", _MADE, "leaf", 0, (2, 3), "word " * 200, 250, messages=2)
    seen = _seen(episodes, gist)
    whole = seen.chosen(seen.tail(1), 1_000)
    assert [line.source for line in whole.lines] == [1, "g1", 4, 5]
    assert whole.lines[1].text.startswith("<summary ")
    brief = seen.chosen(seen.tail(1), 60)
    assert brief.lines[1].text.startswith("[summary g1 of s1#2 to s1#3 has about ")
    assert [(each.what, each.where) for each in brief.dropped] == [("summary", "g1")]
    out = seen.chosen(seen.tail(1), 12)
    assert [line.source for line in out.lines] == [1, 4, 5]
    assert out.dropped[0].reason == "no room for it"
    assert out.left_out == 2


def test_the_newest_words_of_the_user_are_known() -> None:
    assert _seen([_episode(1, "user", "a"), _episode(2, "assistant", "b")]).newest == "a"
    assert _seen([_episode(2, "assistant", "b")]).newest == ""
    assert Seen("s1").newest == ""
    empty = Seen("s1").chosen(0, 9)
    assert (empty.lines, empty.tail, empty.tokens) == ((), 0, 0)


def test_the_tail_of_a_view_of_summaries_is_empty() -> None:
    seen = Seen(
        "s1", [Item("g1", 9, "leaf", depth=0)], {}, {"g1": Gist("g1", "", "leaf", 0, (1,), "x", 1)}
    )
    choice = seen.chosen(seen.tail(20), 9)
    assert (len(choice.lines), choice.tail) == (1, 1)
