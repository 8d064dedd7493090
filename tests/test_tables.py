"""A table of cases in one test: nothing in it may go unseen."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.tables import every


def test_every_row_is_tried_and_each_that_fails_is_named() -> None:
    @every("number, least", [(1, 0), pytest.param(2, 3, id="low"), (3, 4), (5, 4)])
    def grows(number: int, least: int) -> None:
        tried.append(number)
        assert number > least

    tried: list[int] = []
    with pytest.raises(ExceptionGroup, match="2 of 4 rows") as caught:
        grows()
    assert tried == [1, 2, 3, 5]
    notes = [failure.__notes__ for failure in caught.value.exceptions]
    assert notes == [["row 2 of 4: (2, 3)"], ["row 3 of 4: (3, 4)"]]


def test_a_row_that_raises_too_little_fails() -> None:
    @every("text", ["1", "one"], ids=str.upper)
    def is_no_number(text: str) -> None:
        with pytest.raises(ValueError, match=text):
            int(text)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as caught:
        is_no_number()
    assert caught.value.__notes__ == ["row 1 of 2: 1"]


def test_tables_multiply_and_leave_the_fixtures(tmp_path: Path) -> None:
    @every("one", "ab")
    @every("other", "xy")
    def leaves_a_folder(one: str, other: str, tmp_path: Path) -> None:
        (tmp_path / f"{one}{other}").mkdir()

    assert list(inspect.signature(leaves_a_folder).parameters) == ["tmp_path"]
    leaves_a_folder(tmp_path=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"ax", "ay", "bx", "by"}


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(AssertionError, match="has no rows"):
        every("number", [])(print)
    with pytest.raises(AssertionError, match="is a test of its own"):
        every("number", [pytest.param(1, marks=pytest.mark.slow)])
