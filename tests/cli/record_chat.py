"""Records a chat as docs/chat.svg: a real terminal, a real program, a model of a script.

``python -m tests.cli.record_chat`` writes the picture anew. tests/cli/test_record_chat.py says when
it shows what a chat does not show any more.
"""

from __future__ import annotations

import html
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.cli.terminal import Terminal
from tests.consolidation.wire import wired
from tests.integrations.chat.streams import calls, chunk, says, stream

__all__ = ["PICTURE", "Sheet", "drawn", "recorded", "words_of"]

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURE: Final = ROOT / "docs" / "chat.svg"

_WIDTH: Final = 80
_SETTINGS: Final = """\
mode = "copilot"

[consolidation]
model = "openai/llama3.2"
base_url = "{url}"
"""
_RULES: Final = "# Rules\n\n## Always\n\n- Use pip-tools for dependencies\n"
_ANSWER: Final = """\
Ask uv, and commit what it writes:

```sh
uv add httpx
git commit -m "Add httpx" pyproject.toml uv.lock
```
"""
# What is another with each run, as long as what stands for it.
_STEADY: Final = (
    (re.compile(r"127\.0\.0\.1:\d{5}"), "localhost:11434"),
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b"), "20260227-101500-4f2a"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), "2026-02-27"),
)
# An id may be made of letters alone: it is known by what stands before it.
_ID: Final = re.compile(r"(?:(?<=id )|(?<=as )|(?<=· )|(?<=\d  ))[0-9a-hjkmnp-tv-z]{8}(?=[ .;)]|$)")
_IDS: Final = ("k3v9q2ht", "p81dz5ka", "7m0xw4ce", "9c2hq7xk")
_CONTROL: Final = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
# rich fetches its letters from a server of somebody's.
_FETCHED: Final = re.compile(r"@font-face \{.*?\n    \}\n", re.DOTALL)
_NUMBER: Final = re.compile(r"\d[\d,]*")
_SPOKEN: Final = re.compile(r"<text[^>]*>(.*?)</text>")


class Sheet:
    """What stands on a terminal in the end: as much of one as a chat needs."""

    def __init__(self) -> None:
        """Begin empty."""
        self.rows: list[list[tuple[str, str]]] = [[]]
        self._row = self._column = 0
        self._style = ""

    def take(self, shown: str) -> None:
        """Take in what a program showed."""
        at = 0
        while at < len(shown):
            found = _CONTROL.match(shown, at)
            if found:
                self._obey(found[1], found[2])
                at = found.end()
                continue
            self._put(shown[at])
            at += 1

    def lines(self, steady: Callable[[str], str]) -> Iterator[str]:
        """Yield the rows with their colours, and in ``steady`` words, which are as long."""
        for row in self.rows:
            words = steady("".join(char for char, _ in row))
            runs = groupby(zip(words, row, strict=True), key=lambda each: each[1][1])
            yield "".join(f"{style}{_joined(run)}\x1b[0m" for style, run in runs)

    def _put(self, char: str) -> None:
        if char == "\n":
            self._row, self._column = self._row + 1, 0
            self.rows += [[] for _ in range(self._row + 1 - len(self.rows))]
        elif char == "\r":
            self._column = 0
        elif char.isprintable():
            row = self.rows[self._row]
            row += [(" ", "")] * (self._column + 1 - len(row))
            row[self._column] = (char, self._style)
            self._column += 1

    def _obey(self, number: str, letter: str) -> None:
        if letter == "K":
            del self.rows[self._row][self._column :]
        elif letter == "m":
            self._style = "" if number in ("", "0") else f"{self._style}\x1b[{number}m"


def recorded(env: dict[str, str]) -> str:
    """Run the chat in a folder of its own, and return what a terminal showed."""
    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / "home")
        memory = Path(folder) / "shop" / ".engramdown" / "memory"
        memory.mkdir(parents=True)
        Path(home).mkdir()
        (memory / "rules.md").write_text(_RULES, encoding="utf-8")
        project = memory.parents[1]
        keep = {"text": "Use uv for dependencies, never pip-tools", "kind": "always"}
        script = (
            calls("memorize", keep),
            says("uv from now on. You wrote the old rule, so you replace it."),
            stream(chunk({"content": _ANSWER}), chunk({}, "stop")),
        )
        words = ["env", "-C", str(project), "engramdown", "chat"]
        with wired(*script) as server:
            # Set, not given: what ends the chat repeats options that were given.
            settings = _SETTINGS.format(url=server.url)
            (Path(home) / "config.toml").write_text(settings, encoding="utf-8")
            with Terminal(words, {**env, "ENGRAMDOWN_HOME": home}, _WIDTH) as screen:
                _act(screen)
                shown = screen.raw
    return shown.replace(f"{folder}/", "~/")


def _act(screen: Terminal) -> None:
    """Do what the person of the picture does."""
    screen.expect("> ")
    screen.type("From now on we use uv, not pip-tools.")
    screen.expect("q stop > ")
    screen.press("a")
    screen.expect("accept\n")
    screen.expect("> ")
    screen.type("How do I add httpx?")
    screen.expect("uv.lock")
    screen.expect("\n> ")
    screen.type("/memory")
    screen.expect("It is kept in")
    screen.expect("\n> ")
    screen.type("/quit")
    screen.end()


def _joined(run: Iterable[tuple[str, object]]) -> str:
    return "".join(char for char, _ in run)


class _Steady:
    """Puts ids and dates of one day in the place of those of another."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        for pattern, instead in _STEADY:
            text = pattern.sub(instead, text)
        return _ID.sub(self._id, text)

    def _id(self, found: re.Match[str]) -> str:
        return self._known.setdefault(found[0], _IDS[len(self._known) % len(_IDS)])


def drawn(shown: str) -> str:
    """Return the picture of what a terminal showed."""
    sheet = Sheet()
    sheet.take(shown)
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    for row in sheet.lines(_Steady()):
        console.print(Text.from_ansi(row), soft_wrap=True)
    made = console.export_svg(title="engramdown chat", theme=MONOKAI, unique_id="chat")
    return _FETCHED.sub("", made).replace("Fira Code", "ui-monospace, Menlo, Consolas")


def words_of(picture: str) -> list[str]:
    """Return what a picture says, word by word; numbers may be any."""
    said = html.unescape(" ".join(_SPOKEN.findall(picture))).replace("\xa0", " ")
    return _NUMBER.sub("0", said).split()


if __name__ == "__main__":
    here = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    PICTURE.write_text(drawn(recorded(here)), encoding="utf-8")
