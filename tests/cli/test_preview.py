"""What is drawn again and again leaves nothing behind, whatever happens to the terminal."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from engramdown.cli.chat_screen import Preview, rows_taken, wraps_again
from tests.cli.window import Window
from tests.consolidation.wire import Sends, Wire, wired
from tests.integrations.chat.streams import hangs, says, streamed

LONG = (
    "- The memory of an assistant is a line of markdown that you can open, read and correct\n"
    "- 日本語の文 too, and 🎉, and more words, so that they do not fit into a row that is narrow\n"
    "- last"
)
# What is to be seen when it was drawn anew, and not only wrapped by the terminal.
RESIZED = {
    44: "line of\n   markdown",
    120: "markdown that you can open, read and correct\n",
    40: "is a\n   line of",
    100: "markdown that you can open, read and correct\n",
}


@contextlib.contextmanager
def chat(folder: Path, env: dict[str, str], *sends: Sends) -> Iterator[tuple[Window, Wire]]:
    """Begin a chat in a window."""
    with wired(*sends) as server, Window(folder, env) as window:
        # Full, as it is after a while.
        window.run("seq", "30")
        window.run("engramdown", "chat", "--model", "small", "--base-url", server.url)
        window.expect("Ctrl-D ends.")
        window.expect("\n>")
        yield window, server


@pytest.mark.slow
def test_a_window_that_is_resized_shows_an_answer_once(
    memory: Path, tmp_path: Path, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    with chat(tmp_path, child_env, hangs(LONG)) as (window, _):
        window.type("Tell me")
        window.expect("• last")
        for columns, rows in RESIZED.items():
            window.resize(columns)
            window.expect(rows)
            assert window.text.count("•") == 3
        window.press("C-c")
        window.expect("Stopped; the conversation goes on.")
        answer = window.text.partition("Tell me\n")[2].partition("Stopped")[0]
    assert [row[:6] for row in answer.strip("\n").split("\n")] == [
        " • The",
        " • 日本語",
        " • las",
    ]


@pytest.mark.slow
def test_what_is_typed_while_a_model_thinks_is_asked_afterwards(
    memory: Path, tmp_path: Path, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    slow = streamed("Thinking", " about it.", pause=1)
    with chat(tmp_path, child_env, slow, says("Yes.")) as (window, server):
        window.type("Hi")
        window.expect("Thinking")
        window.type("And another thing")
        window.expect("Yes.")
        rows = window.text.split("\n")
    assert [row for row in rows if "Think" in row] == ["Thinking about it."]
    assert [row for row in rows if "another" in row] == ["> And another thing"]
    assert server.asked[1]["messages"][-1]["content"] == "And another thing"


@pytest.mark.slow
def test_an_answer_goes_on_after_ctrl_z(
    memory: Path, tmp_path: Path, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    with chat(tmp_path, child_env, hangs("Thinking"), says("Yes.")) as (window, _):
        window.type("Hi")
        window.expect("Thinking")
        window.press("C-z")
        window.expect("Stopped")
        window.until(lambda shown: "Thinking" not in shown)
        window.type("echo typed $((40 + 2))")  # the shell shows what is typed
        window.expect("$ echo typed $((40 + 2))\ntyped 42\n")
        window.type("fg")
        window.expect("Thinking")
        window.press("C-c")
        window.expect("the conversation goes on.")
        window.type("Still there?")
        window.expect("Yes.")
        assert window.text.count("Thinking") == 1


@pytest.mark.slow
def test_what_is_half_typed_is_there_after_ctrl_z(
    memory: Path, tmp_path: Path, child_env: dict[str, str]
) -> None:
    assert memory.is_dir()
    with chat(tmp_path, child_env, says("Yes.")) as (window, server):
        window.press("h", "a", "l", "f")
        window.expect("> half")
        window.press("C-z")
        window.expect("Stopped")
        window.type("fg")
        window.until(lambda shown: shown.count("> half") == 2)
        window.press("X", "BSpace")
        window.type(" a line")
        window.expect("> half a line\nYes.")
    assert server.asked[0]["messages"][-1]["content"] == "half a line"


def test_rows_are_counted_as_a_terminal_wraps_them() -> None:
    assert rows_taken(["x" * 80, "x" * 81, "", "x"], 80) == 5
    # A character of two cells is never cut in half.
    assert rows_taken(["x語x"], 2) == 3
    assert rows_taken(["x" * 80, "y"], 0) == 2


@pytest.mark.parametrize(
    "env, does",
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "linux"}, False),
        ({"XTERM_VERSION": "XTerm(379)"}, False),
        ({"STY": "1.pts"}, False),
        ({"STY": "1.pts", "XTERM_VERSION": "XTerm(379)", "TMUX": "1"}, True),
    ],
)
def test_not_every_terminal_wraps_again(env: dict[str, str], *, does: bool) -> None:
    assert wraps_again(env) is does


def test_the_terminal_is_told_nothing_that_must_be_taken_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGTSTP)
    shown = Preview(Console(force_terminal=True, no_color=True), lambda: 20)
    shown.show("one")
    shown.show("two")
    shown.hide()
    shown.hide()
    out = capsys.readouterr().out
    assert out.startswith("one")
    assert "\x1b[?25l" not in out
    assert out.endswith("\x1b[1A\x1b[2K")
    assert signal.getsignal(signal.SIGTSTP) is before
