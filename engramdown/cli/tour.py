"""``engramdown tour``: a short story, played for real in a folder that is thrown away.

Every command in it runs as a person would run it, and every file that it changes is shown. Nothing
outside the temporary folder is read or written.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown import Hippocampus
from engramdown.cli import output
from engramdown.cli.commands import json_option
from engramdown.cli.layout import diff, line

_RULE = "Always run the linter before pushing"
_REWORDED = "Always run the linter on every commit"
_PROPOSAL = "Prefer pytest fixtures over setUp"


@click.command()
@click.option("--fast", is_flag=True, help="Do not wait for a key between the steps.")
@json_option
def tour(*, fast: bool, as_json: bool) -> None:
    """Play a short story in a temporary folder and show the files as they change."""
    with tempfile.TemporaryDirectory(prefix="engramdown-tour-") as folder:
        stage = _Stage(Path(folder).resolve(), quiet=as_json)
        if as_json:
            output.print_json([_data(stage, scene) for scene in _STORY])
        else:
            _play(stage, wait=not fast and output.is_person())


class _Stage:
    """The folder in which the story is played."""

    def __init__(self, folder: Path, *, quiet: bool) -> None:
        self._project = folder / "project"
        self._home = folder / "home"
        self._quiet = quiet
        self._project.mkdir()

    def run(self, *arguments: str) -> str:
        """Run one command; return what it printed, if that is not to be seen."""
        # Imported here, because the program loads this module.
        from engramdown.cli.main import main

        place = ["-C", str(self._project), "--home", str(self._home), "--mode", "autopilot"]
        if not self._quiet:
            main([*place, *arguments])
            return ""
        printed = io.BytesIO()
        stream = io.TextIOWrapper(printed, encoding="utf-8")
        with contextlib.redirect_stdout(stream):
            main([*place, *arguments])
        stream.flush()
        return printed.getvalue().decode()

    def begin(self) -> str:
        """Set up the project; its files speak for themselves."""
        Hippocampus(self._project / ".engramdown").start()
        return ""

    def write(self, name: str, old: str, new: str) -> str:
        """Change a file as a person does with an editor."""
        path = self._project / ".engramdown" / "memory" / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new), encoding="utf-8")
        return ""

    def files(self) -> dict[str, str]:
        """Return the text of every memory file."""
        return {
            path.relative_to(self._project).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(self._project.rglob("memory/*.md"))
        }


@dataclass(frozen=True, slots=True)
class _Scene:
    """One step of the story: what it shows, the command to be seen, and what happens."""

    key: str
    command: tuple[str, ...] = ()
    act: Callable[[_Stage], str] | None = None

    @property
    def shown(self) -> str:
        """The command as a person would type it."""
        return f"$ engramdown {shlex.join(self.command)}" if self.command else ""

    def play(self, stage: _Stage) -> str:
        """Let it happen and return what was printed, if that was not to be seen."""
        return self.act(stage) if self.act else stage.run(*self.command)


_STORY = (
    _Scene("init", ("init",), lambda stage: stage.begin()),
    _Scene("remember", ("remember", _RULE)),
    _Scene("again", ("remember", f"{_RULE.lower()}.")),
    _Scene("edit", act=lambda stage: stage.write("rules.md", _RULE, _REWORDED)),
    _Scene("listed", ("list",)),
    _Scene(
        "propose",
        ("--mode", "copilot", "remember", "--always", "--source", "llm", _PROPOSAL),
    ),
    _Scene("tick", act=lambda stage: stage.write("pending.md", "- [ ]", "- [x]")),
    _Scene("review", ("review",)),
    _Scene("context", ("context",)),
    _Scene("undo", ("undo",)),
)


def _play(stage: _Stage, *, wait: bool) -> None:
    screen = output.screen()
    for number, scene in enumerate(_STORY, 1):
        title, words = TOUR[scene.key]
        screen.show([line((f"{number}. {title}", "strong")), line(words), line()])
        if scene.shown:
            screen.show([line((scene.shown, "id"), hang=4)])
        before = stage.files()
        scene.play(stage)
        for name, text in _changes(before, stage.files()):
            rows = diff(*text, name)
            screen.box(name, [row for row in rows if row.parts[0].style != "dim"])
        screen.show([line()])
        if wait and number < len(_STORY) and not _goes_on():
            return
    screen.show([line((TOUR_END, "good"))])


def _changes(
    before: dict[str, str], after: dict[str, str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in sorted(before | after):
        texts = before.get(name, ""), after.get(name, "")
        if texts[0] != texts[1]:
            yield name, texts


def _goes_on() -> bool:
    click.echo(TOUR_KEY, nl=False)
    key = click.getchar()
    click.echo("\n")
    return key not in ("q", "\x1b", "\x04")


def _data(stage: _Stage, scene: _Scene) -> dict[str, Any]:
    title, words = TOUR[scene.key]
    before = stage.files()
    printed = scene.play(stage)
    return {
        "title": title,
        "words": words,
        "command": list(scene.command),
        "printed": printed,
        "changes": [
            {"file": name, "before": old, "after": new}
            for name, (old, new) in _changes(before, stage.files())
        ],
    }


if TYPE_CHECKING:
    pass


TOUR: Final = {
    "init": (
        "Memory is a folder beside your work",
        "Each file explains itself in a private note, which no model ever sees.",
    ),
    "remember": (
        "You say something once",
        "The words tell that it is a rule. One memory is one line, with a comment of metadata.",
    ),
    "again": (
        "Saying it again adds nothing",
        "Case, spaces and the final full stop make no difference.",
    ),
    "edit": (
        "The file is yours",
        "You open rules.md in your editor and change the line.",
    ),
    "listed": (
        "What you wrote counts most",
        "Your edit is noticed. The line is verified now: nothing automatic will touch it.",
    ),
    "propose": (
        "An assistant proposes, and waits",
        "In the mode copilot, what is not certain goes to pending.md. Nobody is interrupted.",
    ),
    "tick": (
        "You decide, in any editor",
        "A cross in the box accepts, a dash declines. `engramdown review` asks with one key.",
    ),
    "review": (
        "What you ticked is done",
        "The line moves from pending.md to rules.md in one step.",
    ),
    "context": (
        "This is all that a model sees",
        "No ids, no notes, nothing that waits; always within a budget.",
    ),
    "undo": (
        "Every change can be taken back",
        "`engramdown history` lists them. What you wrote by hand is never overwritten.",
    ),
}
TOUR_KEY: Final = "Any key goes on, q stops. "
TOUR_END: Final = "That was all; the folder is gone. Begin with `engramdown init`."
