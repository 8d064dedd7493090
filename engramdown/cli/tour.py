"""``engramdown tour``: a short story, played in a temporary folder.

Every command in it really runs, and every file that it changes is shown. Nothing outside the folder
is read or written.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from engramdown import Hippocampus
from engramdown.cli import output
from engramdown.cli.commands import json_option
from engramdown.cli.layout import diff, line


class _Scene(NamedTuple):
    """A step of the story.

    Attributes:
        title: What it shows.
        words: More about that.
        command: The command that runs.
        edit: What is edited by hand: the file, the old text and the new one.
    """

    title: str
    words: str
    command: Sequence[str] = ()
    edit: Sequence[str] = ()


def _read_story() -> Iterator[_Scene]:
    table = tomllib.loads((Path(__file__).parent / "tour.toml").read_text(encoding="utf-8"))
    for scene in table["scene"]:
        yield _Scene(**scene)


STORY: Final = tuple(_read_story())
TOUR_END: Final = "That was all; the folder is gone. Begin with `engramdown init`."


@click.command()
@click.option("--fast", is_flag=True, help="Do not wait for a key between the steps.")
@json_option
def tour(*, fast: bool, as_json: bool) -> None:
    """Play a short story in a temporary folder and show the files as they change."""
    with tempfile.TemporaryDirectory(prefix="engramdown-tour-") as folder:
        stage = _Stage(Path(folder).resolve(), quiet=as_json)
        if as_json:
            output.print_json([_data(stage, scene) for scene in STORY])
        else:
            _show(stage, wait=not fast and output.is_person())


class _Stage:
    """The folder in which the story is played."""

    def __init__(self, folder: Path, *, quiet: bool) -> None:
        self._project = folder / "project"
        self._home = folder / "home"
        self._quiet = quiet
        self._project.mkdir()

    def play(self, scene: _Scene) -> str:
        """Let a scene happen, and return what it printed if the stage is quiet."""
        if scene.edit:
            name, old, new = scene.edit
            path = self._project / ".engramdown" / "memory" / name
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(old, new), encoding="utf-8")
            return ""
        if [*scene.command] == ["init"]:
            # Only its files are shown.
            Hippocampus(self._project / ".engramdown").start()
            return ""
        # Imported here, because the program loads this module.
        from engramdown.cli.main import main

        place = ["-C", str(self._project), "--home", str(self._home), "--mode", "autopilot"]
        printed = io.BytesIO()
        stream = io.TextIOWrapper(printed, encoding="utf-8")
        with contextlib.redirect_stdout(stream) if self._quiet else contextlib.nullcontext():
            main([*place, *scene.command])
        stream.flush()
        return printed.getvalue().decode()

    def files(self) -> dict[str, str]:
        """Return the text of every memory file."""
        return {
            path.relative_to(self._project).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(self._project.rglob("memory/*.md"))
        }


def _show(stage: _Stage, *, wait: bool) -> None:
    screen = output.screen()
    for number, scene in enumerate(STORY, 1):
        title = f"{number}. {scene.title}"
        screen.show([line((title, "strong")), line(scene.words), line()])
        if scene.command:
            screen.show([line((f"$ engramdown {shlex.join(scene.command)}", "id"), hang=4)])
        before = stage.files()
        stage.play(scene)
        for name, old, new in _changes(before, stage.files()):
            rows = diff(old, new, name)
            screen.box(name, [row for row in rows if row.parts[0].style != "dim"])
        screen.show([line()])
        if wait and number < len(STORY):
            click.echo("Any key goes on, q stops. ", nl=False)
            key = click.getchar()
            click.echo("\n")
            if key in ("q", "\x1b", "\x04"):
                return
    screen.show([line((TOUR_END, "good"))])


def _data(stage: _Stage, scene: _Scene) -> dict[str, Any]:
    before = stage.files()
    printed = stage.play(scene)
    changes = [
        {"file": name, "before": old, "after": new}
        for name, old, new in _changes(before, stage.files())
    ]
    facts = {"title": scene.title, "words": scene.words, "command": list(scene.command)}
    return {**facts, "printed": printed, "changes": changes}


def _changes(before: dict[str, str], after: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in sorted(before | after):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            yield name, old, new
