"""``engramdown init``: makes the folder of a project, and of the global scope for who wants it.

Promises: what is there already is left alone, so that it can be run again; asks only on a
terminal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown import Hippocampus
from engramdown.cli import messages, output
from engramdown.cli.access import home_of, start_of
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.hippocampus.read_only import REFUSAL
from engramdown.settings import find_project, scope_folder

if TYPE_CHECKING:
    from engramdown.cli.agent_setup import ForAgents
    from engramdown.cli.git_setup import ForGit


_AGENTS: Final = ("claude", "codex", "gemini", "cursor")
_NOTES: Final = ("CLAUDE.md", "AGENTS.md", "MEMORY.md", ".cursorrules", ".cursor/rules", ".anton")


@dataclass(frozen=True, slots=True)
class _Made:
    """A scope that is set up now: its folder, and the files that are new in it."""

    scope: Scope
    root: Path
    new: list[Path]

    def data(self) -> dict[str, Any]:
        return {"root": str(self.root), "created": [str(path) for path in self.new]}


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--global/--no-global",
    "everywhere",
    default=None,
    help="Also set up the memory that all projects share, or refuse it.",
)
@click.option("--git", "for_git", is_flag=True, help="Let git merge memory entry by entry.")
@click.option("--hook", is_flag=True, help="With --git: look at memory before each commit.")
@click.option("--claude", "for_claude", is_flag=True, help="Set up Claude Code: hooks and tools.")
@click.option("--codex", "for_codex", is_flag=True, help="Set up Codex: hooks and tools.")
@click.option("--gemini", "for_gemini", is_flag=True, help="Set up Gemini CLI: hooks and tools.")
@click.option("--cursor", "for_cursor", is_flag=True, help="Set up Cursor: hooks and tools.")
@click.option("--remove", is_flag=True, help="With one of these: take it out again.")
@click.option("-y", "--yes", is_flag=True, help="Answer every question with yes.")
@json_option
@dry_run_option
@pass_place
def init(
    place: Place, /, *, folder: Path | None, as_json: bool, dry_run: bool, **_: object
) -> None:
    """Set up memory in DIR (default: here): a folder .engramdown with starter files.

    What is there already is left alone. The memory that all projects share is offered too.
    --git adds a line to .gitattributes and registers the merge driver in this clone. --claude,
    --codex, --gemini and --cursor show what they add to the files of that assistant in the
    project (with --global, in your home folder), and ask once.
    """
    _check_usage()
    target = folder.expanduser().absolute() if folder else start_of(place)
    project = scope_folder(target)
    home = home_of(place)
    outer = find_project(project.parent.parent)
    setup = _planned(project)
    agents = _asked(project)
    if given()["remove"]:
        made, setup = list[_Made](), None
    else:
        made = _made(project, home, as_json=as_json, dry_run=dry_run)
    if not dry_run:
        for each in (setup, agents):
            if each:
                each.write()
    if as_json:
        data: dict[str, Any] = {"project": None, "global": None, "dry_run": dry_run}
        data |= {"git": setup.data()} if setup else {}
        data |= {"agents": agents.data()} if agents else {}
        output.print_json(data | {item.scope: item.data() for item in made})
        return
    lines = [] if given()["remove"] else _lines(made, outer, home, dry_run=dry_run)
    more = [each.lines() for each in (setup, agents) if each]
    output.screen().show(chain(lines, *more))


def _check_usage() -> None:
    """Refuse options that belong to others."""
    options = given()
    if options["hook"] and not options["for_git"]:
        raise click.UsageError(messages.HOOK_NEEDS_GIT)
    if options["remove"] and not any(options[f"for_{name}"] for name in _AGENTS):
        from engramdown.cli.agent_setup import NEEDS_AGENT

        raise click.UsageError(NEEDS_AGENT)


def _asked(root: Path) -> ForAgents | None:
    """Show what agents need and ask, before anything is written; ``None`` if none is meant."""
    if not any(given()[f"for_{name}"] for name in _AGENTS):
        return None
    # Imported here: only who asks for it needs what edits settings.
    from engramdown.cli.agent_setup import ForAgents, chosen

    found = ForAgents.plan(root.parent, chosen())
    found.ask()
    return found


def _made(project: Path, home: Path, *, as_json: bool, dry_run: bool) -> list[_Made]:
    """Set up the scopes that are wanted."""
    made = []
    if not _is_same(project, home):
        made.append(_make("project", project, dry_run=dry_run))
    elif not given()["everywhere"]:
        raise RefusalError(messages.init_in_home(home))
    wants = _wants_global(home, may_ask=not as_json)
    if wants:
        made.append(_make("global", home, dry_run=dry_run))
    if wants is not None and not dry_run and not _is_same(project, home):
        _note_refusal(project / REFUSAL, refused=not wants)
    return made


def _note_refusal(path: Path, *, refused: bool) -> None:
    """Write down that somebody wants no memory for all projects, or that they do."""
    if refused:
        path.write_text(messages.REFUSAL, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def _planned(root: Path) -> ForGit | None:
    """Look at what git needs, before anything is written; ``None`` if nobody asked for it."""
    if not given()["for_git"]:
        return None
    # Imported here: only who asks for it needs what asks git.
    from engramdown.cli.git_setup import ForGit

    return ForGit.plan(root, hook=given()["hook"])


def _is_same(one: Path, other: Path) -> bool:
    # Not Path.resolve, which raises where a link leads to itself.
    return os.path.realpath(one) == os.path.realpath(other)


def _make(scope: Scope, root: Path, *, dry_run: bool) -> _Made:
    store = Hippocampus(root, scope)
    if dry_run:
        store.rehearse()
    return _Made(scope, root, store.start())


def _wants_global(home: Path, *, may_ask: bool) -> bool | None:
    """Return whether memory for all projects is wanted; ``None`` if nobody said so."""
    said: bool | None = given()["everywhere"]
    if said is not None or given()["yes"]:
        return said is not False
    if home.is_dir() or not (may_ask and output.is_person()):
        return None
    return click.confirm(messages.ask_global(home), default=True)


def _lines(made: list[_Made], outer: Path | None, home: Path, *, dry_run: bool) -> Iterator[Line]:
    if dry_run:
        yield line((messages.DRY_RUN, "warn"))
    for item in made:
        yield line((messages.made(item.scope, new=bool(item.new)), "good"), hang=2)
        yield whole(str(item.root), indent=2)
        for path in item.new:
            yield whole((str(path.relative_to(item.root)), "where"), indent=4)
    if outer is not None and any(item.scope == "project" and item.new for item in made):
        yield line((messages.outer_project(outer), "warn"), hang=2)
    yield line()
    yield line((messages.NEXT, "strong"))
    notes = [name for item in made if item.scope == "project" for name in _notes(item.root)]
    for command, sense in messages.next_steps(has_global=home.is_dir(), notes=notes):
        yield line((f"{command}", "id"), indent=2)
        yield line((sense, "dim"), indent=6)


def _notes(root: Path) -> list[str]:
    """Return what other assistants left beside the folder of a project, if it did not come yet."""
    found = [name for name in _NOTES if (root.parent / name).exists()]
    if not found:
        return []
    # Imported here: most projects have no such notes.
    from engramdown.importers.migration import NAME

    return [] if (root / NAME).exists() else found
