"""``engramdown import`` and ``export``: transcripts from other programs, and sessions as files.

An import says what came, what was known and what was not taken, with the reason. A dry run says the
same and writes nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import output, process
from engramdown.cli.access import open_all, open_transcripts
from engramdown.cli.commands import json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, pick, table
from engramdown.cli.messages import DRY_RUN, counted
from engramdown.cli.output import RefusalError, bar
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.language import on_screen
from engramdown.storage import make_folder, open_regular, patiently

if TYPE_CHECKING:
    from engramdown.episodes import EpisodicMemory
    from engramdown.importers import FileReport, Report
    from engramdown.transcripts import Episode


# Here by name, so that the help loads no importer; a test compares the two.
SOURCES: Final = (
    "claude-code",
    "chatgpt",
    "claude",
    "openai",
    "openclaw",
    "anton",
    "engramdown",
)
_SHOWN: Final = 20


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--from", "source", type=click.Choice(SOURCES), help="Whose files they are.")
@click.option(
    "--purge-import",
    "purge",
    type=click.Choice(SOURCES),
    help="Remove what was imported from a source.",
)
@scope_options("Keep them for all projects.", "Keep them in this project (default).")
@json_option
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would come.")
@pass_place
def import_command(
    place: Place,
    /,
    *,
    paths: tuple[Path, ...],
    source: str | None,
    purge: str | None,
    scope: Scope | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Import transcripts from PATH: files, folders, or the .zip of an export.

    What was imported before is not imported again; of a file that grew, the new lines come.
    """
    if bool(paths) == bool(purge):
        raise click.UsageError(IMPORT_WHAT)
    memory = open_transcripts(place, scope, write=not (purge or dry_run)).memory
    if purge:
        _purge(memory, purge, as_json=as_json, dry=dry_run)
        return
    report = _run(memory, paths, source, dry=dry_run)
    if as_json:
        output.print_json(_data(report, dry=dry_run))
    else:
        output.screen().show(_lines(report, dry=dry_run))
        _complain(report)
    states = report.states()
    if states["failed"]:
        raise RefusalError(next(file.error for file in report.files if file.error))
    if not states["read"] and not states["unchanged"]:
        raise RefusalError(nothing_recognised(list(SOURCES)))


def _run(memory: EpisodicMemory, paths: Sequence[Path], source: str | None, *, dry: bool) -> Report:
    from engramdown.importers import Importer, find_inputs, sources

    inputs = find_inputs(paths)
    chosen = sources()[source] if source else None
    with bar(READING, sum(found.size for found in inputs)) as advance:
        importer = Importer(memory.folder, memory.settings, dry=dry)
        return importer.run(inputs, chosen, advance)


def _purge(memory: EpisodicMemory, source: str, *, as_json: bool, dry: bool) -> None:
    from engramdown.importers import purge_import

    gone = purge_import(memory.folder, source, dry=dry)
    if as_json:
        output.print_json(
            {
                "source": source,
                "sessions": list(gone.sessions),
                "payloads": len(gone.texts),
                "dry_run": dry,
            }
        )
    elif gone.sessions:
        said = purged(source, len(gone.sessions), len(gone.texts), dry=dry)
        output.screen().show([line((said, "good"))])
    if not gone.sessions:
        raise RefusalError(nothing_purged(source))


# ---- for a person ----


def _lines(report: Report, *, dry: bool) -> Iterator[Line]:
    came = [brought for brought in report.sessions if brought.new]
    said = imported(len(came), report.new, report.known, dry=dry)
    yield line((said, "good" if report.new else "dim"))
    rows = [
        (each.session, session_counts(each.new, each.known), " ".join(each.title.split()))
        for each in came[:_SHOWN]
    ]
    yield from table(rows, ("id", "strong"), indent=2)
    if len(came) > _SHOWN:
        yield line((more_sessions(len(came) - _SHOWN), "dim"), indent=2)
    reasons = report.skipped(damaged=False)
    if reasons:
        yield line((left_out(reasons), "dim"), hang=2)
    states = report.states()
    if states["unchanged"] or states["unknown"]:
        yield line((other_files(states["unchanged"], states["unknown"]), "dim"), hang=2)
    if dry:
        yield line((DRY_RUN, "dim"))


def _complain(report: Report) -> None:
    for file in report.files:
        for reason, found in file.skipped.items():
            if found.damaged:
                output.note(skipped_lines(file.path, reason, found.count, found.lines))
        if file.unfinished:
            output.note(unfinished(file.path))


# ---- for a program ----


def _data(report: Report, *, dry: bool) -> dict[str, Any]:
    return {
        "dry_run": dry,
        "new": report.new,
        "known": report.known,
        "files": [_file_data(file) for file in report.files],
    }


def _file_data(file: FileReport) -> dict[str, Any]:
    return {
        **pick(file, "path source state error unfinished"),
        "sessions": [pick(each, "session title started fresh new known") for each in file.sessions],
        "skipped": [
            {
                "reason": reason,
                "count": found.count,
                "damaged": found.damaged,
                "lines": found.lines,
            }
            for reason, found in file.skipped.items()
        ],
    }


_MOST_SIMILAR: Final = 8


@click.command()
@click.argument("session", required=False)
@click.option("--all", "everything", is_flag=True, help="Export every session.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json"]),
    default="md",
    show_default=True,
    help="A page to read, or everything for `engramdown import`.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to FILE; with --all to a folder.",
)
@json_option
@pass_place
def export(
    place: Place,
    /,
    *,
    session: str | None,
    everything: bool,
    form: str,
    target: Path | None,
    as_json: bool,
) -> None:
    """Export SESSION, given by its id or the beginning of it."""
    if bool(session) == everything:
        raise click.UsageError(EXPORT_WHAT)
    if everything and target is None:
        raise click.UsageError(NEEDS_FOLDER)
    form = "json" if as_json else form
    memories = open_all(place)
    found = _sessions(memories)
    if session:
        found = {name: found[name] for name in [_one(session, list(found))]}
    if target is None:
        for name, memory in found.items():
            _show(name, memory, form)
        return
    files = _write(found, target, form, apart=everything)
    if as_json:
        output.print_json({"files": [str(file) for file in files]})
    else:
        output.screen().show([line((exported(len(files), target), "good"))])


def _sessions(memories: Sequence[EpisodicMemory]) -> dict[str, EpisodicMemory]:
    """Return every session and where it is; the first of two with one id."""
    found: dict[str, EpisodicMemory] = {}
    for memory in memories:
        for info in memory.sessions():
            found.setdefault(info.id, memory)
    return found


def _one(session: str, names: Sequence[str]) -> str:
    similar = [session] if session in names else [n for n in names if n.startswith(session)]
    if not similar:
        raise RefusalError(no_session(session))
    if len(similar) > 1:
        raise RefusalError(not_one_session(session), similar[:_MOST_SIMILAR])
    return similar[0]


def _show(name: str, memory: EpisodicMemory, form: str) -> None:
    if form == "json":
        output.print_json(_session_json(name, memory))
        return
    page = _page(name, memory)
    shown = on_screen(page) if process.is_terminal(sys.stdout) else page
    # Or click would take escapes out of what is not for a terminal.
    click.echo(shown, nl=False, color=True)


def _write(found: dict[str, EpisodicMemory], target: Path, form: str, *, apart: bool) -> list[Path]:
    if apart:
        make_folder(target)
    files = []
    with bar(writing(), len(found)) as advance:
        for name, memory in found.items():
            path = target / f"{name}.{form}" if apart else target
            if form == "json":
                # ASCII only: half a surrogate pair has no bytes in UTF-8.
                text = json.dumps(_session_json(name, memory), indent=2) + "\n"
            else:
                text = _page(name, memory)
            _replace(path, text.encode("utf-8", "backslashreplace"))
            files.append(path)
            advance(1)
    return files


def _replace(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # For the user alone, as the transcripts are.
        with os.fdopen(
            open_regular(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb"
        ) as file:
            file.write(data)
        patiently(unfinished.replace, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _page(name: str, memory: EpisodicMemory) -> str:
    from engramdown.episodes import as_markdown

    return as_markdown(name, memory.session(name).episodes, _whole(memory))


def _session_json(name: str, memory: EpisodicMemory) -> dict[str, Any]:
    from engramdown.episodes import as_json

    return as_json(name, memory.session(name).episodes, _whole(memory))


def _whole(memory: EpisodicMemory) -> Callable[[Episode], str | None]:
    from engramdown.storage import Disk
    from engramdown.transcripts import PAYLOADS, Payloads

    payloads = Payloads(memory.folder / PAYLOADS, Disk(), durable=False)
    return lambda episode: payloads.fetch(episode.payload)


IMPORT_WHAT: Final = "say what to import: files, folders or a .zip; or --purge-import SOURCE"
EXPORT_WHAT: Final = "say which session to export, or --all"
NEEDS_FOLDER: Final = "--all writes a file for each session: say where, with -o FOLDER"
READING: Final = "Reading"


def imported(sessions: int, new: int, known: int, *, dry: bool) -> str:
    """Say what came.

    >>> imported(1, 12, 0, dry=True)
    'Would import 12 episodes of 1 session.'
    """
    verb = "Would import" if dry else "Imported"
    if not new:
        return "Nothing new" + (f": {counted(known, 'episode')} known already." if known else ".")
    said = f"{verb} {counted(new, 'episode')} of {counted(sessions, 'session')}"
    return f"{said}; {known:,} known already." if known else f"{said}."


def session_counts(new: int, known: int) -> str:
    """Say what one session got."""
    return f"{new:,} new" + (f", {known:,} known" if known else "")


def more_sessions(count: int) -> str:
    """Say how many sessions are not listed."""
    return f"… and {counted(count, 'session')} more; --json lists all."


def skipped_lines(path: str, reason: str, count: int, lines: list[int]) -> str:
    """Say what was damaged, and where.

    >>> skipped_lines("a.jsonl", "is not JSON", 9, [3, 4])
    'a.jsonl: skipped 9: is not JSON (3, 4, …)'
    """
    places = ", ".join(map(str, lines)) + (", …" if count > len(lines) else "")
    return f"{path}: skipped {count:,}: {reason} ({places})"


def left_out(reasons: Mapping[str, int]) -> str:
    """Say what belongs to no conversation."""
    return "Left out: " + ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())


def other_files(unchanged: int, unknown: int) -> str:
    """Say what was with the files that were not read.

    >>> other_files(2, 1)
    '2 files have not changed since; 1 file was not recognised.'
    """
    parts = []
    if unchanged:
        parts.append(f"{counted(unchanged, 'file')} {_has(unchanged)} not changed since")
    if unknown:
        parts.append(
            f"{counted(unknown, 'file')} {'was' if unknown == 1 else 'were'} not recognised"
        )
    return "; ".join(parts) + "."


def unfinished(path: str) -> str:
    """Say that the last line of a file is still being written."""
    return f"{path}: the last line is unfinished; the next import reads it"


def nothing_recognised(names: list[str]) -> str:
    """Say that no file is one that can be imported."""
    return f"no transcript found there; --from says what it is: {', '.join(names)}"


def purged(source: str, sessions: int, payloads: int, *, dry: bool) -> str:
    """Say what was taken back."""
    verb = "Would remove" if dry else "Removed"
    said = f"{verb} {counted(sessions, 'session')} imported from {source}"
    return f"{said}, with {counted(payloads, 'whole text')}." if payloads else f"{said}."


def nothing_purged(source: str) -> str:
    """Say that nothing was imported from a source."""
    return f"nothing here was imported from {source}"


def exported(count: int, place: Path) -> str:
    """Say where sessions were written."""
    return f"Exported {counted(count, 'session')} to {place}."


def writing() -> str:
    """Say what a progress bar is about."""
    return "Writing"


def no_session(session: str) -> str:
    """Say that there is no such session."""
    return f"no session {session!r}; `engramdown log` lists them"


def not_one_session(session: str) -> str:
    """Say that several sessions begin so."""
    return f"{session!r} is not unique; give more characters"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
