"""`engramdown.consolidation.actions`: what an assistant did, and how each of it ended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.actions import Cell, arguments_of, by_turn, cells_of, last_line
from engramdown.transcripts.episode import Episode
from tests.consolidation.lines import SESSION, call, cell, result, said, talk
from tests.strategies import any_text
from tests.tables import every


def test_a_call_and_its_result_are_one_cell() -> None:
    lines = talk(
        said("user", "Run the tests"),
        call("shell", {"command": "pytest", "description": "Run the tests"}),
        result("shell", "2 failed", error="exit code 1"),
    )
    given = '{"command": "pytest", "description": "Run the tests"}'
    assert cells_of(SESSION, lines) == [
        Cell(
            f"{SESSION}#2",
            "tool",
            "shell",
            "Run the tests",
            "pytest",
            "2 failed",
            "2 failed",
            "error",
            given,
            1,
        )
    ]


def test_results_find_their_calls_by_id_or_else_by_tool() -> None:
    lines = talk(
        call("a", "one", call="c1"),
        call("a", "two", call="c2"),
        result("a", "of two", call="c2"),
        result("a", "of one", call="c1"),
        call("b", "three"),
        call("b", "four"),
        result("b", "of three"),
        result("b", "of four"),
    )
    found = cells_of(SESSION, lines)
    assert [(each.code, each.output) for each in found] == [
        ("one", "of one"),
        ("two", "of two"),
        ("three", "of three"),
        ("four", "of four"),
    ]


def test_a_result_without_a_call_is_a_cell() -> None:
    assert cell(result("shell", "ok")).output == "ok"


def test_a_call_without_a_result_was_cancelled_only_if_the_talk_went_on() -> None:
    lines = talk(said("user", "go"), call("shell", "sleep 99"))
    assert cells_of(SESSION, lines) == []
    (found,) = cells_of(SESSION, talk(*lines, said("user", "and now?")))
    assert (found.status, found.error, found.output) == ("cancelled", "", "")


@pytest.mark.parametrize(
    "output, error, meta, status",
    [
        pytest.param("done", False, {}, "ok", id="ok"),
        pytest.param("he is skilled, and was killed", False, {}, "ok", id="only-words"),
        pytest.param("", True, {}, "error", id="flag"),
        pytest.param("", "KeyError: 'cancelled'", {}, "error", id="reason-that-speaks-of-it"),
        pytest.param("", "Unskilled", {}, "error", id="skilled"),
        pytest.param("", "Killed", {}, "killed", id="killed"),
        pytest.param("", "the command was cancelled by the user", {}, "cancelled", id="cancelled"),
        pytest.param("", "timed out after 30 s", {}, "killed", id="slow"),
        pytest.param("", False, {"status": "Cancelled"}, "cancelled", id="meta-status"),
        pytest.param("", False, {"killed": True}, "killed", id="meta-flag"),
        pytest.param("", False, {"killed": "no"}, "ok", id="meta-no-flag"),
        pytest.param("", False, {"status": "failed"}, "error", id="meta-failed"),
        pytest.param("", False, {"status": "fine"}, "ok", id="meta-unknown"),
        pytest.param("", True, {"status": "ok"}, "error", id="an-error-wins"),
        pytest.param("", False, {"status": 3}, "ok", id="meta-number"),
        pytest.param({"exit_code": 0, "stdout": "killed"}, False, {}, "ok", id="exit-0"),
        pytest.param({"exit_code": 2}, False, {}, "error", id="exit-2"),
        pytest.param({"exit_code": True}, False, {}, "ok", id="exit-true"),
        pytest.param({"returncode": -9}, False, {}, "killed", id="signal"),
        pytest.param({"exit_code": 130}, False, {}, "cancelled", id="ctrl-c"),
        pytest.param({"is_error": True, "content": "x"}, False, {}, "error", id="is-error"),
        pytest.param({"error": "no such table"}, False, {}, "error", id="error-field"),
        pytest.param({"error": None, "stdout": "x"}, False, {}, "ok", id="no-error"),
        pytest.param({"order": 7, "status": "cancelled"}, False, {}, "ok", id="an-order"),
    ],
)
def test_how_it_ended_is_told_by_fields(
    *, output: dict[str, Any] | str, error: bool | str, meta: dict[str, Any], status: str
) -> None:
    assert cell(call("t", "x"), result("t", output, error=error, meta=meta)).status == status


@pytest.mark.parametrize(
    "output, error, why",
    [
        pytest.param("log", "ValueError: no", "ValueError: no", id="told"),
        pytest.param("log", "exit code 1", "log", id="generic"),
        pytest.param("", "exit code 1", "exit code 1", id="only-generic"),
        pytest.param("log", True, "log", id="flag"),
        pytest.param({"stderr": "bad", "stdout": "log"}, True, "bad", id="stderr"),
        pytest.param({"stderr": " ", "stdout": "log"}, True, "log", id="blank"),
    ],
)
def test_why_it_failed(*, output: dict[str, Any] | str, error: bool | str, why: str) -> None:
    assert cell(call("t", "x"), result("t", output, error=error)).error == why


def test_what_it_said_it_would_do_is_among_its_arguments_or_was_said_before() -> None:
    lines = talk(
        said("user", "go"),
        said("assistant", "I list the files."),
        call("shell", "ls"),
        result("shell", "a"),
        call("shell", "cat a"),
        result("shell", "b"),
    )
    assert [each.said for each in cells_of(SESSION, lines)] == ["I list the files.", ""]


def test_a_scratchpad_line_is_a_cell() -> None:
    meta = {"code": "1/0", "description": "Divide"}
    found = cell(said("scratchpad", "ZeroDivisionError", name="pad", error=True, meta=meta))
    assert found[1:8] == (
        "scratchpad",
        "pad",
        "Divide",
        "1/0",
        "ZeroDivisionError",
        "ZeroDivisionError",
        "error",
    )


def test_a_scratchpad_line_that_shows_the_output_of_a_call_again_is_no_cell() -> None:
    run = call("scratchpad", {"code": "print(1)"})
    assert cell(run, result("scratchpad", "1"), said("scratchpad", "1")).output == "1"
    assert cell(run, said("scratchpad", "1"), result("scratchpad", "1")).output == "1"
    two = cells_of(SESSION, talk(run, result("scratchpad", "1"), said("scratchpad", "2")))
    assert len(two) == 2


@every(
    "text",
    [
        "No, use uv",
        "Stop! Undo that",
        "Hm.\nUse uv instead, please",
        "that's wrong",
        "Not that file",
        "I meant the other one",
        "You should have asked",
    ],
)
def test_what_a_user_says_against_it_stands_with_it(text: str) -> None:
    found = cell(
        said("user", "add it"), call("shell", "pip"), result("shell", ""), said("user", text)
    )
    assert (found.corrected, found.corrected_at) == (text, f"{SESSION}#4")


@every(
    "text", ["Thanks", "No problem", "no, thanks", "Now the docs", "that's not bad", "Note this"]
)
def test_what_is_said_next_is_often_no_correction(text: str) -> None:
    found = cell(
        said("user", "add it"), call("shell", "pip"), result("shell", ""), said("user", text)
    )
    assert found.corrected == ""


def test_only_the_turn_before_is_corrected() -> None:
    lines = talk(
        said("user", "add it"),
        call("shell", "pip"),
        result("shell", ""),
        said("user", "ok"),
        said("user", "No, use uv"),
    )
    assert [each.corrected for each in cells_of(SESSION, lines)] == [""]


def test_cells_are_grouped_by_turn() -> None:
    step = call("t", "x"), result("t", "y")
    lines = talk(*step, said("user", "a"), *step, *step, said("user", "b"))
    assert [len(each) for each in by_turn(cells_of(SESSION, lines))] == [1, 2]


@every("given", ["[1]", "{", "", "{" * 100_001, '{"a":' * 20_000, "{1}"])
def test_what_is_no_object_has_no_arguments(given: str) -> None:
    assert arguments_of(given) == {}


def test_the_last_line_says_something() -> None:
    assert (last_line("a\n b \n\n"), last_line(" "), last_line("")) == ("b", "", "")


_lines = st.builds(
    said,
    st.sampled_from(["user", "assistant", "tool_call", "tool_result", "scratchpad", "event"]),
    any_text | st.sampled_from(["{}", '{"error": 1}', '{"status": []}', "[]"]),
    name=st.sampled_from(["", "a", "scratchpad"]),
    call=st.sampled_from(["", "c1"]),
    error=st.booleans() | any_text,
)


@given(st.lists(_lines, max_size=12))
def test_any_lines_give_cells_that_point_at_them(lines: list[Episode]) -> None:
    numbered = talk(*lines)
    found = cells_of(SESSION, numbered)
    pointers = [each.pointer for each in found]
    assert len(set(pointers)) == len(pointers)
    assert set(pointers) <= {f"{SESSION}#{line.seq}" for line in numbered}
    assert all(each.error == "" for each in found if each.status == "ok")
