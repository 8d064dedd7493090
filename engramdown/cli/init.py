"""``engramdown init``: sets up a project, the global scope, agents and git; and the merge driver.

What exists is left alone, so that it can be run again. It only asks on a terminal.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from click.exceptions import Exit

from engramdown import Hippocampus
from engramdown.cli import output, process
from engramdown.cli.access import home_of, start_of
from engramdown.cli.commands import changes, given, show
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import DONE, REFUSED, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.errors import UnfitFileError
from engramdown.git import DRIVER, Markers, Setup, drive, plan_setup, set_up
from engramdown.git import program as driver_program
from engramdown.hippocampus import REFUSAL
from engramdown.integrations import Change, write
from engramdown.integrations.claude_code.install import AGENTS, plan, program, to_paste
from engramdown.settings import find_project, scope_folder

HOOK_NEEDS_GIT: Final = "--hook belongs to --git; give both"
NEEDS_AGENT: Final = "--remove belongs to --claude, --codex, --gemini or --cursor; give one of them"
NEEDS_YES: Final = "nothing is written without a yes; give --yes, or --dry-run to look only"
NOBODY_WANTS: Final = """\
Nobody here wants a memory for all projects: this project keeps what would go there.
`engramdown init --global` sets one up.
"""
_ELSEWHERE: Final = (
    "`engramdown` is not on the PATH here, so the settings have its full path; whoever shares "
    "these settings has it somewhere else."
)
_NO_SERVER: Final = (
    "The tools (MCP) are left out, as their extra is not installed: `pip install "
    "'engramdown[mcp]'` (from a clone `'.[mcp]'`), and the same command again."
)
_NOTES: Final = (
    *("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md", "MEMORY.md"),
    *(".cursorrules", ".cursor/rules", ".windsurfrules", ".anton"),
)
_MARKER_SIZE: Final = 7
_LABELS: Final = ("base", "ours", "theirs")


class _NewScope(NamedTuple):
    """A scope that is set up now: its folder, and the files that are new in it."""

    scope: Scope
    root: Path
    files: Sequence[Path]


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--global/--no-global", "everywhere", default=None, help="Also for all projects, or never."
)
@click.option("--git", "for_git", is_flag=True, help="Let git merge memory entry by entry.")
@click.option("--hook", is_flag=True, help="With --git: look at memory before each commit.")
@click.option("--claude", "for_claude", is_flag=True, help="Set up Claude Code: hooks and tools.")
@click.option("--codex", "for_codex", is_flag=True, help="Set up Codex: hooks and tools.")
@click.option("--gemini", "for_gemini", is_flag=True, help="Set up Gemini CLI: hooks and tools.")
@click.option("--cursor", "for_cursor", is_flag=True, help="Set up Cursor: hooks and tools.")
@click.option("--remove", is_flag=True, help="With one of these: take it out again.")
@click.option("-y", "--yes", is_flag=True, help="Answer every question with yes.")
@changes
def init(
    place: Place, /, *, folder: Path | None, as_json: bool, dry_run: bool, **_: object
) -> None:
    """Set up memory in DIR (default: here): a folder .engramdown with starter files.

    Existing files are left alone. The memory that all projects share is offered, too.
    --git adds a line to .gitattributes and registers the merge driver in this clone. --claude,
    --codex, --gemini and --cursor show what they add to the files of that assistant in the
    project (with --global, in your home folder), and ask once.
    """
    options = given()
    names = [name for name in AGENTS if options[f"for_{name}"]]
    if options["hook"] and not options["for_git"]:
        raise click.UsageError(HOOK_NEEDS_GIT)
    if options["remove"] and not names:
        raise click.UsageError(NEEDS_AGENT)
    project = scope_folder(folder.expanduser().absolute() if folder else start_of(place))
    home = home_of(place)
    outer = find_project(project.parent.parent)
    # All is planned, and agreed to, before anything is written.
    setup = plan_setup(project, hook=options["hook"]) if options["for_git"] else None
    has_server = find_spec("mcp") is not None
    changes = _plan_agents(project.parent, names, server=has_server) if names else []
    scopes: list[_NewScope] = []
    if options["remove"]:
        setup = None
    else:
        scopes = _start_scopes(project, home, may_ask=not as_json, dry_run=dry_run)
    if not dry_run:
        if setup is not None:
            set_up(setup)
        for change in changes:
            write(change)
    data: dict[str, Any] = {"project": None, "global": None, "dry_run": dry_run}
    lines = [] if options["remove"] else [*_scope_lines(scopes, outer, home)]
    if setup is not None:
        data["git"] = _git_data(setup)
        lines += _git_lines(setup)
    if names:
        data["agents"] = _agents_data(names, changes, server=has_server)
        lines += _agents_lines(names, changes, server=has_server)
    for each in scopes:
        data[each.scope] = {"root": str(each.root), "created": each.files}
    show(lines, data)


def _start_scopes(project: Path, home: Path, *, may_ask: bool, dry_run: bool) -> list[_NewScope]:
    """Set up the scopes that are wanted."""
    # Not Path.resolve, which raises where a link leads to itself.
    is_home = os.path.realpath(project) == os.path.realpath(home)
    everywhere: bool | None = given()["everywhere"]
    if is_home and not everywhere:
        raise RefusalError(
            f"{home} is where memory for all projects is kept, so it cannot be a project too; run "
            "`engramdown init` in a project's folder, or `engramdown init --global` here"
        )
    # Without an answer the question of memory for all projects stays open.
    wants = True if everywhere is None and given()["yes"] else everywhere
    if wants is None and not home.is_dir() and may_ask and output.is_person():
        question = f"Also keep memory for all your projects, in {home}?"
        wants = click.confirm(question, default=True)
    roots: list[tuple[Scope, Path]] = [] if is_home else [("project", project)]
    roots += [("global", home)] if wants else []
    scopes = []
    for scope, root in roots:
        store = Hippocampus(root, scope)
        if dry_run:
            store.dry_run()
        scopes.append(_NewScope(scope, root, store.start()))
    if wants is not None and not dry_run and not is_home:
        if wants:
            (project / REFUSAL).unlink(missing_ok=True)
        else:
            (project / REFUSAL).write_text(NOBODY_WANTS, encoding="utf-8")
    return scopes


def _scope_lines(scopes: Sequence[_NewScope], outer: Path | None, home: Path) -> Iterator[Line]:
    for each in scopes:
        kind = "all projects" if each.scope == "global" else "this project"
        state = "ready" if each.files else "there already"
        yield line((f"Memory for {kind} is {state}:", "good"), hang=2)
        yield whole(str(each.root), indent=2)
        for path in each.files:
            yield whole((str(path.relative_to(each.root)), "where"), indent=4)
    projects = [each for each in scopes if each.scope == "project"]
    if outer is not None and any(each.files for each in projects):
        used = "is above this folder; from here on, this project is used instead."
        yield line((f"Note: {outer} {used}", "warn"), hang=2)
    yield line()
    yield line(("What to do next", "strong"))
    steps = [
        ('engramdown remember "Always run the linter before pushing"', "writes it to rules.md"),
        ("engramdown context", "prints what a model sees"),
        ("engramdown tour", "shows the rest in a minute"),
    ]
    if notes := [name for each in projects for name in _notes_beside(each.root)]:
        brings = f"shows what {', '.join(notes)} would bring, and asks"
        steps.insert(0, ("engramdown migrate", brings))
    if not home.is_dir():
        steps.append(("engramdown init --global", "also keeps memory for all your projects"))
    for command, does in steps:
        yield line((command, "id"), indent=2)
        yield line((does, "dim"), indent=6)


def _notes_beside(root: Path) -> list[str]:
    """Return the notes of other assistants beside a project, unless they were brought in."""
    notes = [name for name in _NOTES if (root.parent / name).exists()]
    if not notes:
        return []
    # Imported here: most projects have no such notes.
    from engramdown.importers import MIGRATED

    return [] if (root / MIGRATED).exists() else notes


# ---- agents ----


def _plan_agents(project: Path, names: Sequence[str], *, server: bool) -> list[Change]:
    """Return the changes of the files of agents, after a person saw them and said yes.

    Raises:
        UnfitFileError: If they cannot be edited; the text to paste is shown.
        RefusalError: If nobody is there to say yes, and no option did.
        Exit: If the person says no.
    """
    options = given()
    remove, everywhere = options["remove"], bool(options["everywhere"])
    screen = None if options["as_json"] else output.screen()
    try:
        changes = [*plan(project, names, everywhere=everywhere, server=server, remove=remove)]
    except UnfitFileError:
        if screen and not remove:
            rows = [row for name in names for row in to_paste(name, server=server).split("\n")]
            title = line("To set it up by hand, put this into these files:", hang=2)
            screen.show([title, *(whole((row, "dim"), indent=2) for row in rows)])
            process.flush()
        raise
    if not any(change.is_new for change in changes):
        return changes
    if screen:
        for change in changes:
            if change.is_new:
                screen.show(file_diff(change.path, *_texts(change), str(change.path)))
        process.flush()
    output.check(NEEDS_YES)
    if not options["dry_run"]:
        output.ask("Take this out?" if remove else "Write this?")
    return changes


def _texts(change: Change) -> tuple[str | None, str | None]:
    """Return the text of a file before and after."""
    before = None if change.before is None else change.before.decode()
    return before, None if change.is_gone else change.after.decode()


def _agents_data(
    names: Sequence[str], changes: Sequence[Change], *, server: bool
) -> dict[str, Any]:
    files = []
    for change in changes:
        before, after = _texts(change)
        file = {"path": str(change.path), "changed": change.is_new}
        files.append({**file, "before": before, "after": after})
    return {"names": [*names], "removed": given()["remove"], "tools": server, "files": files}


def _agents_lines(
    names: Sequence[str], changes: Sequence[Change], *, server: bool
) -> Iterator[Line]:
    options = given()
    remove, is_new = options["remove"], any(change.is_new for change in changes)
    verb = "would be" if options["dry_run"] else "is"
    if is_new or not remove:
        yield line()
    for change in changes:
        state = "has no memory set up" if remove else "is set up already"
        sentence = f"{change.path} {state}."
        if change.is_new:
            sentence = f"Memory {verb} {'removed from' if remove else 'set up in'} {change.path}."
        yield line((sentence, "good"), hang=2)
    if not (remove or server):
        yield line((_NO_SERVER, "warn"), hang=2)
    if remove or not is_new:
        return
    for name in names:
        if note := AGENTS[name].note:
            yield line((note, "warn"), hang=2)
    words = " ".join(f"--{name}" for name in names)
    where = " --global" if options["everywhere"] else ""
    undo = f"To take it out again: engramdown init {words} --remove{where}"
    yield line((undo, "dim"), hang=2)
    if program() != ["engramdown"]:
        yield line((_ELSEWHERE, "warn"), hang=2)


# ---- git ----


def _git_data(setup: Setup) -> dict[str, Any]:
    return {
        "repository": str(setup.repository.top),
        "attributes": str(setup.attributes),
        "attributes_changed": setup.before != setup.after,
        "settings": dict(setup.settings),
        "hook": str(setup.hook) if setup.hook else None,
        "hook_in_the_way": str(setup.hook_kept) if setup.hook_kept else None,
    }


def _git_lines(setup: Setup) -> Iterator[Line]:
    """Yield the setup of git, and how to take it back."""
    yield line()
    if setup.hook_kept is not None:
        stays = "This hook is not ours and stays as it is; to look at memory, let it call:"
        yield line((stays, "warn"))
        yield whole((str(setup.hook_kept), "where"), indent=2)
        yield whole((f"{shlex.join(driver_program())} doctor --staged", "id"), indent=2)
    if setup.is_done:
        yield line(("git knows how to merge memory in this clone.", "good"), hang=2)
        return
    yield line(("git merges memory entry by entry, by:", "good"), hang=2)
    is_new = setup.before != setup.after
    if is_new:
        yield whole((str(setup.attributes), "where"), indent=2)
        added = setup.after[len(setup.before or b"") :].decode("utf-8", "surrogateescape")
        for each in added.split("\n"):
            yield whole((each.rstrip("\r"), "dim"), indent=4)
    if setup.settings:
        yield whole(("the configuration of this clone", "where"), indent=2)
        for key, value in setup.settings.items():
            yield whole((f"{key} = {value}", "dim"), indent=4)
    if setup.hook is not None:
        yield whole((str(setup.hook), "where"), indent=2)
    if is_new:
        yield line("Commit .gitattributes; in every other clone run `engramdown init --git` once.")
    yield line("To take it back, delete the line of .gitattributes and run:")
    undo = f"git config --local --remove-section merge.{DRIVER}"
    yield whole((undo, "id"), indent=2)


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
    markers = Markers(int(size) if size.isdecimal() else _MARKER_SIZE, ours, base, theirs)
    done = drive(*files, path, markers)
    if done.word:
        process.complain(done.word)
    raise Exit(REFUSED if done.conflict else DONE)
