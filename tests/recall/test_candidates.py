"""Which lines are worth ranking."""

from __future__ import annotations

import pytest

from engramdown.recall import ranking as room
from engramdown.recall.lines import CHUNK
from engramdown.recall.ranking import candidates


def anything(_key: int) -> bool:
    return True


def test_what_holds_more_of_the_question_comes_first() -> None:
    terms = [[[1, 2, 3]], [[3, 4]], [[2, 3], [9]]]
    assert candidates(terms, [1.0, 2.0, 1.5], [0] * 2, anything)[:2] == [3, 2]


def test_of_equals_the_newest_come_first_whatever_their_chunks_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "MOST", CHUNK + 1)
    chosen = candidates([[range(5 * CHUNK)]], [1.0], [30, 10, 50, 20, 40], anything)
    assert chosen == [*range(3 * CHUNK - 1, 2 * CHUNK - 1, -1), 5 * CHUNK - 1]


def test_what_is_not_wanted_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 2)
    keys = list(range(10))
    assert candidates([[keys]], [1.0], [0], lambda key: key < 3) == [2, 1]
    assert candidates([[keys]], [1.0], [0], lambda key: key == 3) == [3]


def test_no_more_are_chosen_than_are_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 3)
    terms = [[[1, 2]], [[1, 2, 3, 4, 5]]]
    assert candidates(terms, [2.0, 1.0], [0], anything) == [2, 1, 5]
    assert candidates(terms, [2.0, 1.0], [0], lambda key: key != 1) == [2, 5, 4]


def test_frequent_words_add_weight_but_bring_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LONGEST_LISTS", 4)
    terms = [[[1, 2, 3]], [[2, 3, 4, 5, 6, 7]]]
    chosen = candidates(terms, [2.0, 1.0], [0], anything)
    assert set(chosen[:2]) == {2, 3}
    assert set(chosen) == {1, 2, 3}


def test_a_question_of_frequent_words_only_is_still_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "LONGEST_LISTS", 1)
    assert set(candidates([[[1, 2, 3]], []], [1.0, 1.0], [0], anything)) == {1, 2, 3}
    assert candidates([], [], [], anything) == []


def test_where_somebody_speaks_who_is_named_comes_first() -> None:
    terms = [[[1, CHUNK, CHUNK + 1]], [[1, 2, CHUNK + 1, 2 * CHUNK]]]
    chosen = candidates(terms, [2.0, 1.0], [3, 2, 1], anything, {1})
    assert chosen == [CHUNK + 1, CHUNK, 1, 2, 2 * CHUNK]
