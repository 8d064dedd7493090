"""The measuring tape of the benchmarks measures."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import pytest

from benchmarks import measure


def test_a_pair_runs_in_turn_and_warms_up_once() -> None:
    calls: list[str] = []
    measure.paired(lambda: calls.append("a"), lambda: calls.append("b"), runs=2)
    assert "".join(calls) == "ababab"


def test_the_ratio_is_the_median_of_the_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 9.0, 0.0, 2.0, 0.0, 6.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    assert measure.paired(lambda: None, lambda: None, runs=3) == (1.0, 6.0, 3.0)


@pytest.mark.parametrize(
    "seconds, text",
    [
        pytest.param(0.00001234, "0.0123", id="small"),
        pytest.param(0.0123, "12.3", id="middle"),
        pytest.param(0.9999, "1000", id="round"),
        pytest.param(12.3456, "12346", id="large"),
    ],
)
def test_milliseconds_have_three_digits(seconds: float, text: str) -> None:
    assert measure.ms(seconds) == text


def test_the_machine_has_no_name_and_no_path() -> None:
    facts = measure.machine()
    assert set(facts) == {"processor", "cores", "python", "system", "date"}
    assert all(facts.values())
    assert platform.node() not in facts.values()


def test_a_saved_result_says_how_to_get_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path / "results")
    monkeypatch.setattr("sys.argv", ["parse", "--save"])
    measure.finish("parse", "| a |")
    assert capsys.readouterr().out == "| a |\n"
    page = (tmp_path / "results" / "parse.md").read_text(encoding="utf-8")
    assert "python -m benchmarks.parse --save" in page
    assert page.endswith("\n\n| a |\n")
