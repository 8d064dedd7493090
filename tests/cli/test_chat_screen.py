"""What a model says steers no terminal, and is printed as it comes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.cli.chat_screen import TurnScreen, Words
from engramdown.cortex.tools import Answer
from tests.attacks.test_terminal import HOSTILE, OUR_COLOURS, RAW
from tests.cli.conftest import Runner

# What the mark of a model that is asked ends with.
DRAWING = re.compile(r"\r")
# HTML may spell what no answer may hold; a link may lead elsewhere than it says.
SPELT = "&#x202e;gnp.exe &#27;[2J &lrm; [bank](https://evil.example) ![x](http://evil.example/i)"


def show(screen: TurnScreen, *pieces: str) -> None:
    screen.waits()
    for piece in pieces:
        screen.said(piece)
    screen.finish()


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> TurnScreen:
    """Return what shows a turn on a terminal with colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("engramdown.cli.process.is_terminal", lambda _: True)
    return TurnScreen()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> TurnScreen:
    """Return what shows a turn on a terminal with colours."""
    return on_terminal(monkeypatch)


def test_no_answer_steers_the_terminal(
    screen: TurnScreen, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (HOSTILE, SPELT, f"```{HOSTILE}\n{HOSTILE}\n```", f"# {HOSTILE}\n\n* {HOSTILE}"):
        show(screen, *text)
        show(screen, text)
        screen.calls(HOSTILE, {HOSTILE: HOSTILE})
        screen.calls("x", HOSTILE)
        screen.answered(HOSTILE, Answer(HOSTILE, (), is_error=True))
    shown = capsys.readouterr().out
    found = RAW.search(DRAWING.sub("", OUR_COLOURS.sub("", shown)))
    assert found is None, shown[max(found.start() - 80, 0) : found.end() + 20]
    assert "https://evil.example" in shown


def test_headings_and_code_are_coloured_and_no_letter_is_changed(
    screen: TurnScreen, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "## Plan\n\nUse **uv**, #1.\n\n```py\n# a\n```\n\n日本語"
    for pieces in (text, [text]):
        show(screen, *pieces)
        shown = capsys.readouterr().out.rpartition("\r")[2].removeprefix("\x1b[0m")
        assert OUR_COLOURS.sub("", shown) == f"{text}\n"
        rows = [row.removeprefix("\x1b[0m") for row in shown.split("\n")]
        styles = [re.findall(r"\x1b\[([1-9]+)m", row)[:1] for row in rows]
        assert [*zip(*styles[4:7], strict=True)] == [("36", "36", "36")]
        assert (styles[0], styles[2], styles[8]) == (["1"], [], [])


def test_an_answer_that_begins_with_empty_rows_leaves_no_mark_above_it(
    screen: TurnScreen, capsys: pytest.CaptureFixture[str]
) -> None:
    show(screen, "\n", "\n", "Hello\n\nAda")
    assert OUR_COLOURS.sub("", capsys.readouterr().out) == "…\rHello\n\nAda\n"


def test_a_plain_answer_is_words_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    screen = TurnScreen()
    screen.waits()
    screen.said("# Us")
    screen.said("e uv, ")
    assert capsys.readouterr().out == "# Use uv,"
    screen.said("never pip")
    screen.calls("recall", {})
    screen.answered("recall", Answer("x"))
    screen.said("Yes.\n")
    screen.finish()
    assert capsys.readouterr().out == " never pip\nYes.\n"


def test_an_emoji_of_several_is_not_torn(capsys: pytest.CaptureFixture[str]) -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    show(TurnScreen(), *(f"A {family} here"))
    assert capsys.readouterr().out == f"A {family} here\n"


def test_a_call_fits_into_a_row(
    screen: TurnScreen, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    screen.calls("recall", {"query": "日本語" * 30})
    screen.calls("recall", {})
    screen.answered("recall", Answer("found\nmore"))
    screen.answered("memorize", Answer("Remembered: rules.md:3\nmore"))
    shown = OUR_COLOURS.sub("", capsys.readouterr().out)
    assert shown.split("\n")[0].startswith("· recall  query: 日本")
    assert shown.split("\n")[0].endswith("…")
    assert "found" not in shown
    assert "Remembered: rules.md:3" in shown


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[first:last] for first, last in pairwise(ends)]


@given(st.text(alphabet="ab \n\u200d\U0001f469", max_size=200), st.lists(st.integers(0, 99)))
def test_words_are_whole_and_none_is_lost(text: str, places: list[int]) -> None:
    words = Words()
    given_out = [words.add(piece) for piece in cut(text, places)]
    assert "".join(given_out) + words.rest() == text


def test_a_text_without_spaces_does_not_wait_for_ever() -> None:
    assert len(Words().add("x" * 500)) == 484


def test_empty_rows_without_end_are_counted(
    screen: TurnScreen, capsys: pytest.CaptureFixture[str]
) -> None:
    show(screen, "One", *(["\n" * 50] * 20_000), "two")
    assert "999,999 empty lines" in capsys.readouterr().out


def test_without_memory_it_says_how_to_begin(run: Runner) -> None:
    done = run("chat", "--model", "ollama/small")
    assert done.code == 1
    assert "engramdown init" in done.err
