"""What was said around a hit, up to a silence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.language.snippets import shortened
from engramdown.recall.episodes import Moment, around
from engramdown.settings import EpisodeSettings
from tests.episodes.strategies import texts

MINUTE = 60_000_000
WIDE = EpisodeSettings(shown=1_000)


def at(minutes: float, seq: int = 0, session: str = "a") -> Moment:
    return Moment(int(minutes * MINUTE), session, seq)


@pytest.mark.parametrize(
    "silence, kept", [(9.99, True), (10, True), (10.0000001, False), (20, False)]
)
def test_only_a_silence_that_is_longer_ends_a_conversation(
    silence: float,
    kept: bool,  # noqa: FBT001 - pytest passes it
) -> None:
    hit = at(100)
    found = around([at(100 - silence), hit, at(100 + silence)], hit, WIDE)
    assert (bool(found.before), bool(found.after)) == (kept, kept)


def test_a_silence_is_measured_between_neighbours() -> None:
    moments = [at(minute) for minute in range(0, 50, 9)]
    assert around(moments, moments[0], WIDE).after == moments[1:]


def test_a_silence_that_was_crossed_once_is_not_crossed_again() -> None:
    moments = [at(0), at(11), at(12)]
    assert around(moments, moments[0], WIDE).after == []


@pytest.mark.parametrize("minutes, kept", [(60, True), (60.0000001, False)])
def test_an_hour_is_the_end(
    minutes: float,
    kept: bool,  # noqa: FBT001 - pytest passes it
) -> None:
    moments = [at(minute) for minute in range(0, 60, 10)] + [at(minutes - 0.5), at(minutes)]
    assert (at(minutes) in around(moments, moments[0], WIDE).after) == kept


def test_fifty_a_side_are_the_end() -> None:
    moments = [at(0, seq) for seq in range(200)]
    found = around(moments, moments[100], WIDE)
    assert (found.before, found.after) == (moments[50:100], moments[101:151])


def test_five_a_side_are_shown_and_the_others_counted() -> None:
    moments = [at(seq / 10, seq) for seq in range(30)]
    found = around(moments, moments[10], EpisodeSettings())
    assert (found.before, found.after) == (moments[5:10], moments[11:16])
    assert (found.more_before, found.more_after) == (5, 14)


def test_what_has_the_same_time_is_a_neighbour() -> None:
    moments = [at(1, 1), at(1, 2), at(1, 3), at(1, 3, "b")]
    found = around(moments, moments[1], WIDE)
    assert (found.before, found.after) == ([moments[0]], moments[2:])


def test_a_session_is_no_border() -> None:
    moments = [at(1, 8, "a"), at(2, 1, "b")]
    assert around(moments, moments[1], WIDE).before == [moments[0]]


def test_first_and_last_have_one_side_and_one_alone_none() -> None:
    moments = [at(1), at(2)]
    assert around(moments, moments[0], WIDE).before == []
    assert around(moments, moments[1], WIDE).after == []
    assert around([], at(1), WIDE) == ([], [], 0, 0)


@given(st.lists(st.builds(at, st.integers(0, 200), st.integers(0, 9)), unique=True))
def test_surroundings_are_in_order_and_without_the_hit(moments: Sequence[Moment]) -> None:
    ordered = sorted(moments)
    for hit in ordered:
        found = around(ordered, hit, EpisodeSettings(shown=3))
        both = [*found.before, hit, *found.after]
        assert both == sorted(both)
        assert len(set(both)) == len(both)


@given(texts, st.integers(0, 50))
def test_a_text_that_is_cut_is_still_a_text_and_never_nothing(text: str, size: int) -> None:
    kept, truncated = shortened(text, size)
    assert text.startswith(kept)
    assert truncated == (kept != text)
    assert kept or not text
    assert len(kept) <= 1 or len(kept.encode("utf-8", "surrogatepass")) <= size
