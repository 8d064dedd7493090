"""``engramdown import``, ``migrate`` and ``export``: transcripts and notes in and out.

An import reports what came, what was known and what was left out, with the reason. The notes of
other assistants become memory only after a yes, and are not changed. A dry run reports the same and
writes nothing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown.cli import output, process, views
from engramdown.cli.access import open_all, open_cortex, open_transcripts, project_of, start_of
from engramdown.cli.commands import (
    PATH,
    given,
    json_option,
    pass_place,
    scope_options,
    scoped,
    show,
    shows,
)
from engramdown.cli.layout import Line, line, table
from engramdown.cli.output import RefusalError, bar
from engramdown.cli.process import Place
from engramdown.cli.views import DRY_RUN, counted
from engramdown.engram import Scope
from engramdown.errors import StoreError
from engramdown.settings import FOLDER
from engramdown.storage import Disk, make_folder

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.episodes import EpisodicMemory
    from engramdown.importers import Came, Report, Surveyed

# Here by name, so that the help loads no importer; a test compares the two.
SOURCES: Final = ("claude-code", "chatgpt", "claude", "openai", "openclaw", "anton")
IMPORT_WHAT: Final = "name what to import: files, folders or a .zip; or --purge-import SOURCE"
EXPORT_WHAT: Final = "name the session to export, or --all"
NEEDS_FOLDER: Final = "--all writes a file for each session: name a folder with -o FOLDER"
_MOST_SESSIONS: Final = 20
_MOST_SIMILAR: Final = 8


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--from", "source", type=click.Choice(SOURCES), help="Whose files they are.")
@click.option(
    "--purge-import", "purge", type=click.Choice(SOURCES), help="Remove what came from a source."
)
@scope_options("Keep them for all projects.", "Keep them in this project (default).")
@json_option
@click.option("--dry-run", is_flag=True, help="Write nothing; report what would come.")
@pass_place
def import_command(
    place: Place, /, *, paths: tuple[Path, ...], purge: str | None, dry_run: bool, **_: object
) -> None:
    """Import transcripts from PATH: files, folders, or the .zip of an export.

    What was imported before is not imported again; from a file that grew, the new lines come.
    """
    if bool(paths) == bool(purge):
        raise click.UsageError(IMPORT_WHAT)
    source, scope = given()["source"], given()["scope"]
    memory = open_transcripts(place, scope, write=not (purge or dry_run)).memory
    if purge:
        _purge(memory, purge, dry=dry_run)
        return
    from engramdown.importers import Importer, find_inputs, sources

    inputs = find_inputs(paths)
    chosen = sources()[source] if source else None
    with bar("Reading", sum(found.size for found in inputs)) as advance:
        importer = Importer(memory.folder, memory.settings, dry=dry_run)
        report = importer.run(inputs, chosen, advance)
    show(_report_lines(report, dry=dry_run), _report_data(report, dry=dry_run))
    if not given()["as_json"]:
        _note_damage(report)
    states = report.states()
    if states["failed"]:
        raise RefusalError(next(file.error for file in report.files if file.error))
    if not states["read"] and not states["unchanged"]:
        names = ", ".join(SOURCES)
        raise RefusalError(f"no transcript found there; --from says what it is: {names}")


def _purge(memory: EpisodicMemory, source: str, *, dry: bool) -> None:
    from engramdown.importers import purge_import

    gone = purge_import(memory.folder, source, dry=dry)
    sessions = counted(len(gone.sessions), "session")
    verb = "Would remove" if dry else "Removed"
    texts = f", with {counted(len(gone.texts), 'whole text')}" if gone.texts else ""
    said = line((f"{verb} {sessions} imported from {source}{texts}.", "good"))
    data = {"source": source, "sessions": list(gone.sessions), "payloads": len(gone.texts)}
    show([said] if gone.sessions else [], {**data, "dry_run": dry})
    if not gone.sessions:
        raise RefusalError(f"nothing here was imported from {source}")


def _report_lines(report: Report, *, dry: bool) -> Iterator[Line]:
    came = [brought for brought in report.sessions if brought.new]
    said = imported(len(came), report.new, report.known, dry=dry)
    yield line((said, "good" if report.new else "dim"))
    rows = []
    for each in came[:_MOST_SESSIONS]:
        counts = f"{each.new:,} new" + (f", {each.known:,} known" if each.known else "")
        rows.append((each.session, counts, " ".join(each.title.split())))
    yield from table(rows, ("id", "strong"), indent=2)
    if len(came) > _MOST_SESSIONS:
        more = counted(len(came) - _MOST_SESSIONS, "session")
        yield line((f"… and {more} more; --json lists all.", "dim"), indent=2)
    if reasons := report.skipped(damaged=False):
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        yield line((f"Left out: {left_out}", "dim"), hang=2)
    states = report.states()
    if states["unchanged"] or states["unknown"]:
        yield line((other_files(states), "dim"), hang=2)


def _note_damage(report: Report) -> None:
    """Report on stderr what was damaged, and where."""
    for file in report.files:
        for reason, found in file.skipped.items():
            if found.damaged:
                lines = ", ".join(map(str, found.lines))
                more = ", …" if found.count > len(found.lines) else ""
                output.note(f"{file.path}: skipped {found.count:,}: {reason} ({lines}{more})")
        if file.unfinished:
            output.note(f"{file.path}: the last line is unfinished; the next import reads it")


def imported(sessions: int, new: int, known: int, *, dry: bool) -> str:
    """Report how much came.

    >>> imported(1, 12, 0, dry=True)
    'Would import 12 episodes of 1 session.'
    """
    verb = "Would import" if dry else "Imported"
    if not new:
        return "Nothing new" + (f": {counted(known, 'episode')} known already." if known else ".")
    said = f"{verb} {counted(new, 'episode')} of {counted(sessions, 'session')}"
    return f"{said}; {known:,} known already." if known else f"{said}."


def other_files(states: Mapping[str, int]) -> str:
    """Say how many files were not read, and why.

    >>> other_files({"unchanged": 2, "unknown": 1})
    '2 files unchanged; 1 file not recognised.'
    """
    names = {"unchanged": "unchanged", "unknown": "not recognised"}
    found = [f"{counted(states[key], 'file')} {name}" for key, name in names.items() if states[key]]
    return f"{'; '.join(found)}."


def _report_data(report: Report, *, dry: bool) -> dict[str, Any]:
    each_session = "session title started fresh new known"
    files = [
        {
            **serializers.pick(file, "path source state error unfinished"),
            "sessions": [serializers.pick(each, each_session) for each in file.sessions],
            "skipped": [
                {"reason": reason, **serializers.pick(found, "count damaged lines")}
                for reason, found in file.skipped.items()
            ],
        }
        for file in report.files
    ]
    return {"dry_run": dry, **serializers.pick(report, "new known"), "files": files}


@click.command()
@click.argument("session", required=False)
@click.option("--all", "everything", is_flag=True, help="Export every session.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json"]),
    default="md",
    show_default=True,
    help="A page to read, or everything for a program.",
)
@click.option(
    "-o", "--output", "target", metavar="FILE", type=PATH, help="Write to FILE, or a folder."
)
@shows
def export(
    place: Place, /, *, session: str | None, everything: bool, target: Path | None, **_: object
) -> None:
    """Export SESSION, given by its id or the beginning of it."""
    if bool(session) == everything:
        raise click.UsageError(EXPORT_WHAT)
    if everything and target is None:
        raise click.UsageError(NEEDS_FOLDER)
    if target is not None and not everything and target.exists() and not target.is_file():
        raise StoreError(f"{target} is not a file; name the file to write with -o")
    form: str = "json" if given()["as_json"] else given()["form"]
    memories: dict[str, EpisodicMemory] = {}
    for memory in open_all(place):
        for info in memory.sessions():
            # The first of two with one id.
            memories.setdefault(info.id, memory)
    if session:
        name = _find_session(session, list(memories))
        memories = {name: memories[name]}
    if target is not None:
        files = _write(memories, target, form, is_folder=everything)
        done = f"Exported {counted(len(files), 'session')} to {target}."
        show([line((done, "good"))], {"files": files})
        return
    for name, memory in memories.items():
        rendered = _rendered(name, memory, form)
        if form == "json":
            output.print_json(rendered)
        else:
            output.print_exact(rendered)


def _find_session(session: str, names: Sequence[str]) -> str:
    similar = [session] if session in names else [n for n in names if n.startswith(session)]
    if not similar:
        raise RefusalError(f"no session {session!r}; `engramdown log` lists them")
    if len(similar) > 1:
        several = f"{session!r} is not unique; give more characters"
        raise RefusalError(several, similar[:_MOST_SIMILAR])
    return similar[0]


def _write(
    memories: Mapping[str, EpisodicMemory], target: Path, form: str, *, is_folder: bool
) -> list[Path]:
    if is_folder:
        make_folder(target)
    files = []
    with bar("Writing", len(memories)) as advance:
        for name, memory in memories.items():
            path = target / f"{name}.{form}" if is_folder else target
            text = _rendered(name, memory, form)
            # JSON in ASCII only: half a surrogate pair has no bytes in UTF-8.
            text = f"{json.dumps(text, indent=2)}\n" if form == "json" else text
            # For the user alone, as the transcripts are.
            data = text.encode("utf-8", "backslashreplace")
            Disk().save(path, data, durable=False, replace=True)
            files.append(path)
            advance(1)
    return files


def _rendered(name: str, memory: EpisodicMemory, form: str) -> Any:  # noqa: ANN401 - JSON
    """Return a session as a page of markdown, or as JSON."""
    from engramdown.episodes import as_json, as_markdown
    from engramdown.transcripts import PAYLOADS, Payloads

    payloads = Payloads(memory.folder / PAYLOADS, Disk(), durable=False)
    render = as_json if form == "json" else as_markdown
    episodes = memory.session(name).episodes
    return render(name, episodes, lambda episode: payloads.fetch(episode.payload))


AGAIN: Final = "`engramdown migrate --again` brings back what is gone since"
ASK: Final = "Bring this in?"
NEEDS_YES: Final = (
    "migrating needs a person's yes; --dry-run shows what would come, --yes brings it in"
)
NO_MEMORY: Final = (
    "no project memory in {} or above; run `engramdown init`, then `engramdown migrate`"
)
BEGIN: Final = "There is no memory in {} or above yet. Begin it here?"
NO_PATH: Final = "name the files or folders whose memories are for all projects"
_STYLES: Final = {"queued": "warn", "discarded": "warn", "failed": "bad", "merged": "dim"}
_MOST_LINES: Final = 8
_DONE: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "queued": "waiting in pending.md",
    "discarded": "not written",
    "failed": "failed",
}
# Files that an assistant reads by itself.
_READ_BY_AGENTS: Final = (
    *("CLAUDE.md", "AGENTS.md", "GEMINI.md", "MEMORY.md", "copilot-instructions.md"),
)


@click.command()
@click.argument(
    "paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path)
)
@click.option("--yes", is_flag=True, help="Bring it in without asking.")
@click.option("--again", is_flag=True, help="Bring also what came before and is gone here.")
@scoped("Keep it for all projects.", "Keep it in this project (default).", dry_run=True)
def migrate(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Bring in notes of yours and of other assistants: show them, ask, remember them.

    PATH is a file, or a folder in which files are looked for (default: the project's): CLAUDE.md,
    AGENTS.md, GEMINI.md, MEMORY.md with what it links to, .cursorrules, .cursor/rules,
    .windsurfrules, memory/YYYY-MM-DD.md, .anton, the instructions of Copilot. Nothing there is
    changed. What came before does not come again; from a file that grew, the new lines come.
    """
    scope: Scope = given()["scope"] or "project"
    cortex = _open(place, scope)
    if cortex.mode == "off":
        raise output.RefusalError(views.OFF)
    yes = given()["yes"]
    output.check(NEEDS_YES)
    from engramdown.importers import Migration

    migration = Migration(cortex.scopes, scope, again=given()["again"])
    paths, base = _where(place, scope)
    surveyed = migration.survey(paths, base)
    if not surveyed:
        places = ", ".join(map(str, paths))
        nothing = f"nothing to migrate in {places}; name the files, such as docs/notes.md"
        raise output.RefusalError(nothing)
    if dry_run or not yes:
        cortex.scopes.dry_run()
        came = migration.bring(surveyed, dry_run=True)
        if not as_json:
            _preview(cortex, surveyed, came)
        if not dry_run:
            if not came:
                raise Exit(0)
            output.ask(ASK)
            migration = Migration(_open(place, scope).scopes, scope)
    if not dry_run:
        came = migration.bring(surveyed)
        if not as_json:
            lines = _survey_lines(surveyed, came, would=False) if yes else _result_lines(came)
            output.show(lines)
            _note_repeated(came)
    if as_json:
        output.print_json(_data(cortex, surveyed, came, dry_run=dry_run))
    raise Exit(_exit_code(surveyed, came))


def _exit_code(surveyed: Iterable[Surveyed], came: Iterable[Came]) -> int:
    if any(each.receipt.action == "failed" for each in came):
        return output.STORE_FAILED
    return output.REFUSED if any(each.problem for each in surveyed) else 0


def _where(place: Place, scope: Scope) -> tuple[tuple[Path, ...], Path]:
    """Return the paths to search, and the folder that file names are relative to."""
    paths: tuple[Path, ...] = given()["paths"]
    project = project_of(place)
    base = project.parent if project is not None else start_of(place)
    if not paths and scope == "global":
        raise click.UsageError(NO_PATH)
    return paths or (base,), base


def _begin(place: Place) -> None:
    """Begin memory in a project that has none, if a person says so."""
    folder = start_of(place)
    if given()["dry_run"] or given()["as_json"] or given()["yes"] or not output.is_person():
        raise RefusalError(NO_MEMORY.format(folder))
    output.ask(BEGIN.format(folder))
    from engramdown.hippocampus import Hippocampus

    Hippocampus(folder / FOLDER, "project").start()


def _open(place: Place, scope: Scope) -> Cortex:
    if scope == "project" and project_of(place) is None:
        _begin(place)
    cortex = open_cortex(place, "project" if scope == "project" else "nothing")
    if scope == "global":
        cortex.scopes.allow_global()
    return cortex


def _preview(cortex: Cortex, surveyed: Sequence[Surveyed], came: Sequence[Came]) -> None:
    is_patch = given()["dry_run"] and not process.is_terminal(sys.stdout)
    changes = output.planned_lines(cortex.scopes.planned_changes()) if is_patch else []
    output.show([*_survey_lines(surveyed, came, would=True), *changes])


def _survey_lines(
    surveyed: Sequence[Surveyed], came: Sequence[Came], *, would: bool
) -> Iterator[Line]:
    if given()["dry_run"]:
        yield line((DRY_RUN, "warn"))
    for found in surveyed:
        yield from _file_lines(found, [each for each in came if each.path == found.path])
    yield line()
    known = sum(found.known for found in surveyed)
    yield line((_summary(came, known, would=would), "good"), hang=2)
    if known and not came:
        yield line((AGAIN, "dim"), hang=2)


def _file_lines(found: Surveyed, came: Iterable[Came]) -> Iterator[Line]:
    yield line((found.path, "where"))
    if found.problem:
        yield line((found.problem, "bad"), indent=2, hang=4)
    for each in came:
        yield from _memory_lines(each)
    if found.known:
        yield line((f"{found.known:,} came before", "dim"), indent=2)
    if found.waiting:
        text = f"{found.waiting:,} more wait for the next run"
        yield line((text, "warn"), indent=2, hang=4)
    reasons: dict[str, list[int]] = {}
    for passed in found.passed:
        reasons.setdefault(passed.reason, []).append(passed.line)
    for reason, lines in reasons.items():
        yield line((left_out(reason, lines), "dim"), indent=2, hang=4)


def _memory_lines(each: Came) -> Iterator[Line]:
    engram, action, reason = each.receipt.engram, each.receipt.action, each.receipt.reason
    kind = f"{engram.kind} · {engram.topic}" if engram.topic else engram.kind
    yield line(("+ ", "good"), engram.text, (f"  {kind}", "dim"), indent=2, hang=4)
    if action != "encoded":
        said = _DONE[action] if action == "merged" else f"{_DONE[action]}: {reason}"
        yield line((said, _STYLES[action]), indent=6, hang=6)


def left_out(reason: str, lines: list[int]) -> str:
    """Name the lines that are left out, and why.

    >>> left_out("code", [3, 9])
    'left out: code (lines 3, 9)'
    """
    noun = "line" if len(lines) == 1 else "lines"
    more = ", …" if len(lines) > _MOST_LINES else ""
    return f"left out: {reason} ({noun} {', '.join(map(str, lines[:_MOST_LINES]))}{more})"


def _result_lines(came: Sequence[Came]) -> Iterator[Line]:
    failed = (each.receipt for each in came if each.receipt.action == "failed")
    for reason in dict.fromkeys(receipt.reason for receipt in failed):
        yield line((reason, "bad"), hang=2)
    yield line((_summary(came, 0, would=False), "good"), hang=2)


def _summary(came: Iterable[Came], known: int, *, would: bool) -> str:
    """Count the memories by what became of them; ``would`` if it is a preview."""
    counts = Counter[str](each.receipt.action for each in came)
    said = ", ".join(f"{counts[key]:,} {words}" for key, words in _DONE.items() if counts[key])
    before = f"; {known:,} came before" if known else ""
    if not said:
        return f"Nothing new{before}."
    return f"{'Would be: ' if would else ''}{said}{before}."


def _note_repeated(came: Sequence[Came]) -> None:
    """Warn that files which assistants read by themselves now repeat memory."""
    paths = (each.path for each in came if each.receipt.action in ("encoded", "merged"))
    for path in dict.fromkeys(paths):
        if Path(path).name in _READ_BY_AGENTS:
            output.note(
                f"{path} still says this, so an assistant that reads it and has memory gets it "
                f"twice; `engramdown context --write {path} --replace` puts a block of memory in "
                "the place of these lines."
            )


def _data(
    cortex: Cortex, surveyed: Iterable[Surveyed], came: Iterable[Came], *, dry_run: bool
) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "files": [
            {
                "path": found.path,
                "layout": found.layout or "",
                "problem": found.problem,
                "new": len(found.new),
                **serializers.pick(found, "known waiting"),
                "passed": [serializers.pick(each, "line reason") for each in found.passed],
            }
            for found in surveyed
        ],
        "memories": [
            {
                **serializers.receipt_data(each.receipt),
                "from": each.path,
                "from_line": each.brought.line,
                **serializers.pick(each.receipt.engram, "topic confidence source basis"),
                "ts": each.brought.engram.ts,
            }
            for each in came
        ],
        "changes": serializers.planned_data(cortex.scopes.planned_changes()) if dry_run else [],
    }
