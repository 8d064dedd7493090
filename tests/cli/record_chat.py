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
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.cli.window import Window
from tests.consolidation.wire import wired
from tests.integrations.chat.streams import calls, chunk, says, stream

__all__ = ["PICTURE", "drawn", "recorded", "words_of"]

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
# rich fetches its letters from a server of somebody's.
_FETCHED: Final = re.compile(r"@font-face \{.*?\n    \}\n", re.DOTALL)
_NUMBER: Final = re.compile(r"\d[\d,]*")
_SPOKEN: Final = re.compile(r"<text[^>]*>(.*?)</text>")


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
        with wired(*script) as server:
            # Set, not given: what ends the chat repeats options that were given.
            settings = _SETTINGS.format(url=server.url)
            (Path(home) / "config.toml").write_text(settings, encoding="utf-8")
            with Window(project, {**env, "ENGRAMDOWN_HOME": home}, _WIDTH) as window:
                _act(window)
                shown = window.coloured
    return shown.replace(f"{folder}/", "~/").removesuffix("$")


def _act(window: Window) -> None:
    """Do what the person of the picture does."""
    window.run("engramdown", "chat")
    window.expect("Ctrl-D ends.\n\n>")
    window.type("From now on we use uv, not pip-tools.")
    window.expect("q stop >")
    window.press("a")
    window.expect("\n\n>")
    window.until(lambda shown: shown.endswith("\n\n>"))
    window.type("How do I add httpx?")
    window.until(lambda shown: "uv.lock" in shown and shown.endswith("\n\n>"))
    window.type("/memory")
    window.until(lambda shown: "It is kept in" in shown and shown.endswith("\n\n>"))
    window.type("/quit")
    window.until(lambda shown: shown.endswith("\n$"))


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
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    steady = _Steady()
    for row in shown.split("\n"):
        text = Text.from_ansi(row)
        text.plain = steady(text.plain)
        console.print(text, soft_wrap=True)
    made = console.export_svg(title="engramdown chat", theme=MONOKAI, unique_id="chat")
    return _FETCHED.sub("", made).replace("Fira Code", "ui-monospace, Menlo, Consolas")


def words_of(picture: str) -> list[str]:
    """Return what a picture says, word by word; numbers may be any."""
    said = html.unescape(" ".join(_SPOKEN.findall(picture))).replace("\xa0", " ")
    return _NUMBER.sub("0", said).split()


if __name__ == "__main__":
    here = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    PICTURE.write_text(drawn(recorded(here)), encoding="utf-8")
