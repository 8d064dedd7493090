"""``engramdown init``: sets up a project, the global scope, agents and git; and the merge driver.

What exists is left alone, so that it can be run again. It only asks on a terminal.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from click.exceptions import Exit

from engramdown import Hippocampus
from engramdown.cli import messages, output, process, user_input
from engramdown.cli.access import home_of, start_of
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import DONE, REFUSED, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.errors import UnfitFileError
from engramdown.git import DRIVER, Markers, Setup, drive, plan_setup, set_up
from engramdown.git import program as driver_program
from engramdown.hippocampus import REFUSAL
from engramdown.integrations import Change, write
from engramdown.integrations.claude_code import AGENTS, plan, program, to_paste
from engramdown.settings import find_project, scope_folder

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
        raise click.UsageError(NEEDS_AGENT)


def _asked(root: Path) -> ForAgents | None:
    """Show what agents need and ask, before anything is written; ``None`` if none is meant."""
    if not any(given()[f"for_{name}"] for name in _AGENTS):
        return None
    # Imported here: only who asks for it needs what edits settings.

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
    from engramdown.importers import MIGRATED

    return [] if (root / MIGRATED).exists() else found


NEEDS_AGENT: Final = "--remove belongs to --claude, --codex, --gemini or --cursor; give one of them"
_NEEDS_YES: Final = "nothing is written without a yes; give --yes, or --dry-run to look only"
_ASK: Final = "Write this?"
_ASK_REMOVE: Final = "Take this out?"
_PASTE: Final = "To set it up by hand, put this into these files:"
_ELSEWHERE: Final = (
    "`engramdown` is not on the PATH here, so the program is named by where it stands; in settings "
    "that others share, that is not where theirs is."
)
_NO_SERVER: Final = (
    "The tools (MCP) are left out, as their extra is not installed: `pip install "
    "'engramdown[mcp]'` (from a clone `'.[mcp]'`), and the same command again."
)


def chosen() -> list[str]:
    """Return the agents that were asked for."""
    return [name for name in AGENTS if given()[f"for_{name}"]]


class ForAgents(NamedTuple):
    """What is written into the files of coding agents.

    Attributes:
        names: The agents.
        changes: What is to become of their files.
        remove: Whether ours is to go.
        has_server: Whether the tools are there to be served.
    """

    names: Sequence[str]
    changes: Sequence[Change]
    remove: bool
    has_server: bool

    @classmethod
    def plan(cls, project: Path, names: Sequence[str]) -> ForAgents:
        """Look at the files; writes nothing.

        Args:
            project: The folder of the project.
            names: The agents.

        Raises:
            UnfitFileError: If they cannot be edited; what to paste is shown.
            StoreError: If something else than a file stands there.
        """
        options = given()
        remove, everywhere = options["remove"], bool(options["everywhere"])
        server = find_spec("mcp") is not None
        try:
            changes = plan(project, names, everywhere=everywhere, server=server, remove=remove)
        except UnfitFileError:
            if not (remove or options["as_json"]):
                output.screen().show(_to_paste(names, server=server))
                process.flush()
            raise
        return cls(names, changes, remove, server)

    @property
    def is_new(self) -> bool:
        """Whether anything is to be written."""
        return any(change.is_new for change in self.changes)

    def ask(self) -> None:
        """Show what would be written, and let a person say yes.

        Raises:
            RefusalError: If nobody is there to say it, and no option did.
            Exit: If the person says no.
        """
        options = given()
        if not self.is_new:
            return
        if not options["as_json"]:
            output.screen().show(self._diff())
            process.flush()
        user_input.check(_NEEDS_YES)
        if not options["dry_run"]:
            user_input.ask(_ASK_REMOVE if self.remove else _ASK)

    def write(self) -> None:
        """Write it.

        Raises:
            UnfitFileError: If somebody changed a file meanwhile.
            OSError: If one cannot be written.
        """
        for change in self.changes:
            write(change)

    def data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "names": [*self.names],
            "removed": self.remove,
            "tools": self.has_server,
            "files": [
                {
                    "path": str(change.path),
                    "changed": change.is_new,
                    "before": None if change.before is None else change.before.decode(),
                    "after": None if change.is_gone else change.after.decode(),
                }
                for change in self.changes
            ],
        }

    def lines(self) -> Iterator[Line]:
        """Yield it for people."""
        options = given()
        if self.is_new or not self.remove:
            yield line()
        for change in self.changes:
            yield line(
                (_became(change, remove=self.remove, dry=options["dry_run"]), "good"), hang=2
            )
        if self.remove:
            return
        if not self.has_server:
            yield line((_NO_SERVER, "warn"), hang=2)
        if not self.is_new:
            return
        for note in filter(None, (AGENTS[name].note for name in self.names)):
            yield line((note, "warn"), hang=2)
        words = " ".join(f"--{name}" for name in self.names)
        where = " --global" if options["everywhere"] else ""
        undo = f"To take it out again: engramdown init {words} --remove{where}"
        yield line((undo, "dim"), hang=2)
        if program() != ["engramdown"]:
            yield line((_ELSEWHERE, "warn"), hang=2)

    def _diff(self) -> Iterator[Line]:
        for change in self.changes:
            if change.is_new:
                before = None if change.before is None else change.before.decode()
                after = None if change.is_gone else change.after.decode()
                yield from file_diff(change.path, before, after, str(change.path))


def _became(change: Change, *, remove: bool, dry: bool) -> str:
    """Say what became of a file, or would."""
    if not change.is_new:
        return (
            f"{change.path} has nothing of ours." if remove else f"{change.path} is set up already."
        )
    if remove:
        return f"Ours {'would be' if dry else 'is'} gone from {change.path}."
    return f"Memory {'would be' if dry else 'is'} set up in {change.path}."


def _to_paste(names: Sequence[str], *, server: bool) -> Iterator[Line]:
    yield line(_PASTE, hang=2)
    for name in names:
        for each in to_paste(name, server=server).split("\n"):
            yield whole((each, "dim"), indent=2)


class ForGit(NamedTuple):
    """What ``init --git`` sets up beside the folder of memory."""

    setup: Setup

    @classmethod
    def plan(cls, root: Path, *, hook: bool) -> ForGit:
        """Look at what there is to set up for the memory in ``root``; writes nothing.

        Raises:
            GitError: If it is in no repository.
            StoreError: If ``.gitattributes`` is no file.
        """
        return cls(plan_setup(root, hook=hook))

    def write(self) -> None:
        """Set it up."""
        set_up(self.setup)

    def data(self) -> dict[str, Any]:
        """Return it for programs."""
        setup = self.setup
        return {
            "repository": str(setup.repository.top),
            "attributes": str(setup.attributes),
            "attributes_changed": setup.before != setup.after,
            "settings": dict(setup.settings),
            "hook": str(setup.hook) if setup.hook else None,
            "hook_in_the_way": str(setup.hook_kept) if setup.hook_kept else None,
        }

    def lines(self) -> Iterator[Line]:
        """Yield it for people, with how to take it back."""
        setup = self.setup
        yield line()
        if setup.hook_kept is not None:
            yield from _kept(setup.hook_kept)
        if setup.is_done:
            yield line((KNOWN, "good"), hang=2)
            return
        yield line((SET_UP, "good"), hang=2)
        if setup.before != setup.after:
            yield whole((str(setup.attributes), "where"), indent=2)
            added = setup.after[len(setup.before or b"") :].decode("utf-8", "surrogateescape")
            for each in added.split("\n"):
                yield whole((each.rstrip("\r"), "dim"), indent=4)
        if setup.settings:
            yield whole((SETTINGS, "where"), indent=2)
            for key, value in setup.settings.items():
                yield whole((f"{key} = {value}", "dim"), indent=4)
        if setup.hook is not None:
            yield whole((str(setup.hook), "where"), indent=2)
        if setup.before != setup.after:
            yield line(EVERY_CLONE)
        yield line(UNDO)
        yield whole((UNDO_COMMAND, "id"), indent=2)


def _kept(hook: Path) -> Iterator[Line]:
    yield line((HOOK_STAYS, "warn"))
    yield whole((str(hook), "where"), indent=2)
    yield whole((f"{shlex.join(driver_program())} doctor --staged", "id"), indent=2)


KNOWN: Final = "git knows how to merge memory in this clone."
SET_UP: Final = "git merges memory entry by entry, by:"
SETTINGS: Final = "the configuration of this clone"
EVERY_CLONE: Final = "Commit .gitattributes; in every other clone run `engramdown init --git` once."
HOOK_STAYS: Final = "This hook is not ours and stays as it is; to look at memory, let it call:"
UNDO: Final = "To take it back, delete the line of .gitattributes and run:"
UNDO_COMMAND: Final = f"git config --local --remove-section merge.{DRIVER}"


_SIZE: Final = 7
_LABELS: Final = ("base", "ours", "theirs")


# The name of a branch or a folder may look like an option.
@click.command("merge-driver", context_settings={"ignore_unknown_options": True})
@click.argument("files", metavar="%O %A %B", nargs=3, type=click.Path(path_type=Path))
@click.argument("path", metavar="%P")
@click.argument("more", metavar="[%L %S %X %Y]", nargs=-1)
def merge_driver(files: tuple[Path, Path, Path], path: str, more: tuple[str, ...]) -> None:
    """Merge a memory file entry by entry; git calls this, `engramdown init --git` says how.

    %O is the file before the branches parted, %A ours and the place of the result, %B theirs, %P
    its name; %L is the length of conflict markers, %S, %X and %Y are the names they show.
    """
    size, *labels = (*more, *("",) * (len(_LABELS) + 1 - len(more)))
    base, ours, theirs = (
        # A git that does not know a placeholder passes it on as it is.
        name if name and not name.startswith("%") else default
        for name, default in zip(labels[: len(_LABELS)], _LABELS, strict=True)
    )
    markers = Markers(int(size) if size.isdecimal() else _SIZE, ours, base, theirs)
    done = drive(*files, path, markers)
    if done.word:
        process.complain(done.word)
    raise Exit(REFUSED if done.conflict else DONE)
