"""What a model says steers no terminal, however it is spelt, and is drawn to fit."""

from __future__ import annotations

import re

import pytest

from engramdown.cli.chat_screen import PlainTurn, RichTurn, Silent, TurnScreen, turn_screen
from engramdown.cortex.tools import Answer
from tests.attacks.test_terminal import HOSTILE, OUR_COLOURS, RAW

# What rich says on purpose: to hide the cursor, to go up, to clear a line.
DRAWING = re.compile(r"\x1b\[(?:\?25[lh]|\?2026[hl]|1A|2K)|\r")
# HTML may spell what no answer may hold; a link may lead elsewhere than it says.
SPELT = "&#x202e;gnp.exe &#27;[2J &lrm; [bank](https://evil.example) ![x](http://evil.example/i)"


def show(screen: TurnScreen, *pieces: str) -> None:
    screen.waits()
    for piece in pieces:
        screen.said(piece)
    screen.finish()


def letters(text: str) -> list[str]:
    return list(text)


@pytest.mark.parametrize("kind", [PlainTurn, RichTurn])
def test_no_answer_steers_the_terminal(
    kind: type[PlainTurn | RichTurn],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    screen = kind()
    for text in (HOSTILE, SPELT, f"```{HOSTILE}\n{HOSTILE}\n```", f"# {HOSTILE}\n\n* {HOSTILE}"):
        show(screen, *letters(text))
        show(screen, text)
        screen.calls(HOSTILE, {HOSTILE: HOSTILE})
        screen.calls("x", HOSTILE)
        screen.answered(HOSTILE, Answer(HOSTILE, (), is_error=True))
    shown = capsys.readouterr().out
    found = RAW.search(DRAWING.sub("", OUR_COLOURS.sub("", shown)))
    assert found is None, shown[max(found.start() - 80, 0) : found.end() + 20]
    assert "https://evil.example" in shown


def test_an_answer_is_drawn_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = "## Plan\n\nUse **uv**.\n\n1. one\n2. two\n\n```\na  b\n```\n\n日本語" + "語" * 30
    show(RichTurn(), *letters(text))
    shown = OUR_COLOURS.sub("", capsys.readouterr().out)
    rows = [row.rstrip() for row in shown.split("\n")]
    assert [row for row in rows if "uv" in row] == ["Use uv."]
    assert "Plan" in rows
    assert all(len(row) + row.count("語") <= 40 for row in rows)


def test_a_plain_answer_is_words_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    screen = PlainTurn()
    screen.waits()
    screen.said("# Us")
    screen.said("e uv, ")
    assert capsys.readouterr().out == "# Use uv, "
    screen.said("never pip")
    screen.calls("recall", {})
    screen.answered("recall", Answer("x"))
    screen.said("Yes.\n")
    screen.finish()
    assert capsys.readouterr().out == "never pip\nYes.\n"


def test_an_emoji_of_several_is_not_torn(capsys: pytest.CaptureFixture[str]) -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    show(PlainTurn(), *letters(f"A {family} here"))
    assert capsys.readouterr().out == f"A {family} here\n"


def test_a_huge_answer_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show(RichTurn(), "word " * 25_000)
    assert capsys.readouterr().out.count("word") >= 25_000


def test_a_call_fits_into_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    screen = RichTurn()
    screen.calls("recall", {"query": "日本語" * 30})
    screen.calls("recall", {})
    screen.answered("recall", Answer("found\nmore"))
    screen.answered("memorize", Answer("Remembered: rules.md:3\nmore"))
    shown = capsys.readouterr().out
    assert shown.split("\n")[0].startswith("· recall  query: 日本")
    assert shown.split("\n")[0].endswith("…")
    assert "found" not in shown
    assert "Remembered: rules.md:3" in shown


def test_what_is_read_by_a_program_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Silent()
    show(screen, "text")
    screen.calls("recall", {})
    screen.answered("recall", Answer("x"))
    assert capsys.readouterr().out == ""
    assert isinstance(turn_screen(), PlainTurn)


def test_a_terminal_is_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert isinstance(turn_screen(), RichTurn)
