"""What a failing call teaches that a like one mended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.actions import cells_of
from engramdown.consolidation.error_lessons import MOST, lessons_of_fixes
from engramdown.engram import Engram
from engramdown.transcripts.episode import Episode
from tests.tables import every


def _line(seq: int, role: str, text: str, name: str = "shell", **more: Any) -> Episode:  # noqa: ANN401 - as given
    return Episode(seq, "2026-03-01T10:00:00.000000Z", "x", role, text, name, **more)


def _lines(*calls: tuple[str, str | None]) -> list[Episode]:
    """Return calls with their results; what is no ``None`` is why it failed."""
    lines: list[Episode] = []
    for command, why in calls:
        lines.append(_line(len(lines), "tool_call", command))
        lines.append(_line(len(lines), "tool_result", why or "ok", error=why is not None))
    return lines


def _mended(lines: list[Episode]) -> list[Engram]:
    return lessons_of_fixes(cells_of("s", lines))


def _learned(*calls: tuple[str, str | None]) -> list[str]:
    return [engram.text for engram in _mended(_lines(*calls))]


def test_a_lesson_names_both_calls_and_points_at_them() -> None:
    found = _mended(_lines(("npm test", "npm: not found"), ("ls", None), ("pnpm test", None)))
    assert found == [
        Engram(
            "shell: `npm test` failed with `npm: not found`; `pnpm test` worked",
            "lesson",
            "project",
            "low",
            source="consolidation",
            basis="observed",
            origin="s#0,s#4",
            via="tool",
        )
    ]


@every(
    "broken, whole",
    [
        pytest.param("npm test", "pnpm test", id="another-program"),
        pytest.param("pytest tests", "uv run pytest tests", id="something-before"),
        pytest.param("cat notes.md", "cat docs/notes.md", id="the-right-folder"),
        pytest.param("git comit -m x", "git commit -m x", id="spelling"),
        pytest.param("tar -xf a.tgz", "tar -xzf a.tgz", id="option"),
        pytest.param('{"cmd": "npm ci"}', '{"cmd": "pnpm ci"}', id="json"),
        pytest.param('{"n": 1, "b": 2}', '{"n": 1, "m": 2, "b": 2}', id="other-json"),
        pytest.param("{npm ci", "{pnpm ci", id="no-json"),
    ],
)
def test_a_detail_that_was_mended_is_a_lesson(broken: str, whole: str) -> None:
    assert len(_learned((broken, "boom"), (whole, None))) == 1


@every(
    "broken, whole",
    [
        pytest.param("npm test", "npm test", id="the-same"),
        pytest.param("ls", "pwd", id="another-call"),
        pytest.param("cat one.md", "cat elsewhere.txt", id="another-thing"),
        pytest.param("cp alpha beta", "cp alpha some other place", id="other-things"),
        pytest.param("git push", "git push --force", id="force"),
        pytest.param("make test", "sudo make test", id="sudo"),
        pytest.param("a\nb c", "a\nb d c", id="lines"),
        pytest.param("x " * 30, "x " * 31, id="long"),
        pytest.param("", "a", id="nothing"),
    ],
)
def test_another_call_is_none(broken: str, whole: str) -> None:
    assert _learned((broken, "boom"), (whole, None)) == []


@pytest.mark.parametrize(
    "why", ["timed out", "429 Too Many Requests", "connection reset", "Killed"]
)
def test_what_passes_by_itself_teaches_nothing(why: str) -> None:
    assert _learned(("npm test", why), ("pnpm test", None)) == []


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param('{"stdout": "", "stderr": "no npm", "exit_code": 127}', id="exit-code"),
        pytest.param('{"status": "failed", "error": "no npm"}', id="status"),
        pytest.param('{"isError": true, "content": "no npm"}', id="flag"),
    ],
)
def test_a_failure_that_only_the_result_tells_teaches_too(outcome: str) -> None:
    lines = _lines(("npm test", "boom"), ("pnpm test", None))
    lines[1] = lines[1]._replace(text=outcome, error=False)
    assert [engram.text for engram in _mended(lines)] == [
        "shell: `npm test` failed with `no npm`; `pnpm test` worked"
    ]


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize(
    "outcome", ['{"status": "cancelled", "stdout": ""}', '{"exit_code": 137, "stdout": "made"}']
)
def test_what_was_stopped_has_neither_failed_nor_worked(outcome: str, at: int) -> None:
    lines = _lines(("npm test", "boom"), ("pnpm test", None))
    lines[at] = lines[at]._replace(text=outcome, error=at == 1)
    assert _mended(lines) == []


def test_cells_of_a_scratchpad_teach_too() -> None:
    lines = [
        _line(
            1, "scratchpad", "", "pad", error="No module named numy", meta={"code": "import numy"}
        ),
        _line(2, "scratchpad", "", "pad", meta={"code": "import numpy"}),
    ]
    assert [engram.origin for engram in _mended(lines)] == ["s#1,s#2"]


def test_what_worked_in_between_as_it_was_teaches_nothing() -> None:
    assert _learned(("npm test", "boom"), ("npm test", None), ("pnpm test", None)) == []


def test_a_call_of_another_tool_mends_nothing() -> None:
    other = [line._replace(name="python") for line in _lines(("pnpm test", None))]
    assert _mended([*_lines(("npm test", "boom")), *other]) == []


def test_what_failed_twice_is_surer_and_comes_first() -> None:
    calls = [("npm test", "a"), ("pnpm test", None), ("tar -x f", "b"), ("tar -x f", "b")]
    found = _mended(_lines(*calls, ("tar -xz f", None)))
    assert [engram.confidence for engram in found] == ["medium", "low"]
    assert "tar" in found[0].text


def test_results_find_their_calls_by_their_id() -> None:
    lines = [
        _line(0, "tool_call", "npm test", call="a"),
        _line(1, "tool_call", "pnpm test", call="b"),
        _line(2, "user", "hm"),
        _line(3, "tool_result", "boom", call="a", error=True),
        _line(4, "tool_result", "ok", call="b"),
        _line(5, "tool_result", "lost", call="c"),
    ]
    assert [engram.origin for engram in _mended(lines)] == ["s#0,s#1"]


@every(
    "error, text, reason",
    [
        (True, "Traceback\n  x\nKeyError: 'a'\n\n", " with `KeyError: 'a'`"),
        ("no such file", "", " with `no such file`"),
        (True, "", ""),
        (True, "\x1b[31mred\x1b[0m\ud800", " with `red`"),
        (True, "a `b`", " with `` a `b` ``"),
        ("command failed", "sh: npm: not found", " with `sh: npm: not found`"),
        (True, "x" * 200, f" with `{'x' * 120}…`"),
    ],
)
def test_the_last_line_says_why(error: bool | str, text: str, reason: str) -> None:  # noqa: FBT001 - a case
    lines = _lines(("npm test", "boom"), ("pnpm test", None))
    lines[1] = lines[1]._replace(text=text, error=error)
    assert _mended(lines)[0].text == f"shell: `npm test` failed{reason}; `pnpm test` worked"


def test_a_tool_without_a_name_is_left_out() -> None:
    lines = [line._replace(name="") for line in _lines(("npm ci", "boom"), ("pnpm ci", None))]
    assert _mended(lines)[0].text == "`npm ci` failed with `boom`; `pnpm ci` worked"


def test_a_transcript_brings_so_many_lessons_at_most() -> None:
    calls = [pair for n in range(9) for pair in ((f"npm run n{n}", "no"), (f"pnpm run n{n}", None))]
    assert len(_learned(*calls)) == MOST


@given(
    st.lists(
        st.builds(
            _line,
            st.integers(0, 99),
            st.sampled_from(["tool_call", "tool_result", "user"]),
            st.one_of(
                st.text(max_size=30), st.sampled_from(["a b", "a c b", "{", '{"cmd": 1}', "[" * 50])
            ),
            st.sampled_from(["shell", "py", ""]),
            call=st.sampled_from(["", "1"]),
            error=st.one_of(st.booleans(), st.text(max_size=9)),
            meta=st.just({}),
        ),
        max_size=30,
    )
)
def test_any_lines_may_be_given_and_teach_the_same_again(lines: list[Episode]) -> None:
    found = _mended(lines)
    assert found == _mended(lines)
    assert len(found) <= MOST
