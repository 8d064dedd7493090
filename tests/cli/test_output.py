"""What is printed suits whoever reads it: a terminal, a pipe, a program."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramdown.cli import output, process
from engramdown.cli.layout import line
from tests.tables import every


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Let stdout be a terminal of 40 columns; in the test itself, for pytest sets stdout too."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm-256color")
    return stream


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=30))
def test_json_is_exact(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"text": text})
    assert json.loads(capsys.readouterr().out) == {"text": text}


def test_json_keeps_bytes_that_are_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json(["caf\udce9 é"])
    printed = capsys.readouterr().out
    assert "\\udce9 é" in printed
    assert json.loads(printed) == ["caf\udce9 é"]


def test_json_is_ascii_where_the_stream_cannot_do_more(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    output.print_json(["日本"])
    assert json.loads(written.getvalue()) == ["日本"]


def test_a_pipe_gets_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    output.screen().show([line(("a", "id"), ("b", "bad"))])
    assert capsys.readouterr().out == "ab\n"


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    output.screen().show([line(("a", "id"))])
    assert terminal.getvalue() == "\x1b[33ma\x1b[0m\n"


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    output.screen().show([line(("a", "id"))])
    assert terminal.getvalue() == "a\n"


def test_a_dumb_terminal_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    output.screen().box("title", [line(("a", "id"))])
    assert terminal.getvalue() == f"-- title {'-' * 31}\na\n{'-' * 40}\n"


def test_colour_can_be_forced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    output.screen().show([line(("a", "id"))])
    assert capsys.readouterr().out == "\x1b[33ma\x1b[0m\n"


def test_a_box_shows_what_could_fool(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    output.screen().box("t\x1b[2J", [line("words " * 12), line("[bold]no markup[/bold] :smile:")])
    shown = terminal.getvalue()
    assert "-- t␛[2J ---" in shown
    assert "[bold]no markup[/bold] :smile:" in shown


@every("columns", range(1, 16))
def test_a_box_fits_into_any_window(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    output.screen().box("1 of 2 · pending.md:3", [line("Prefer pytest fixtures")])
    assert all(len(row) <= columns for row in terminal.getvalue().split("\n"))


def test_a_person_is_asked_only_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    assert terminal.isatty()
    assert not output.is_person()
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert output.is_person()


@every("columns, width", [("80", 80), ("30", 30), ("300", 100), ("x", 80), ("0", 80), ("", 80)])
def test_the_width_is_that_of_the_terminal_within_reason(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "__stdout__", io.StringIO())
    assert output.width() == width


def test_a_stream_takes_every_character(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    process.set_up_streams()
    output.screen().show([line("é 日")])
    assert written.getvalue() == b"\xe9 \\u65e5\n"
