"""``engramdown import``: brings in what other programs recorded.

Promises: says what came, what was known and what was not taken, with the reason; a dry run says
the same and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import output
from engramdown.cli import transfer_messages as messages
from engramdown.cli.access import open_transcripts
from engramdown.cli.commands import json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, table
from engramdown.cli.messages import DRY_RUN
from engramdown.cli.output import RefusalError, bar
from engramdown.cli.process import Place
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.importers.importer import FileReport, Report


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
        raise click.UsageError(messages.IMPORT_WHAT)
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
        raise RefusalError(messages.nothing_recognised(list(SOURCES)))


def _run(memory: EpisodicMemory, paths: Sequence[Path], source: str | None, *, dry: bool) -> Report:
    from engramdown.importers.importer import SOURCES as READERS
    from engramdown.importers.importer import Importer
    from engramdown.importers.inputs import find_inputs

    inputs = find_inputs(paths)
    chosen = READERS[source] if source else None
    with bar(messages.READING, sum(found.size for found in inputs)) as advance:
        importer = Importer(memory.folder, memory.settings, dry=dry)
        return importer.run(inputs, chosen, advance)


def _purge(memory: EpisodicMemory, source: str, *, as_json: bool, dry: bool) -> None:
    from engramdown.importers.importer import purge_import

    gone = purge_import(memory.folder, source, dry=dry)
    if as_json:
        output.print_json(
            {
                "source": source,
                "sessions": list(gone.sessions),
                "payloads": gone.payloads,
                "dry_run": dry,
            }
        )
    elif gone.sessions:
        said = messages.purged(source, len(gone.sessions), gone.payloads, dry=dry)
        output.screen().show([line((said, "good"))])
    if not gone.sessions:
        raise RefusalError(messages.nothing_purged(source))


# ---- for a person ----


def _lines(report: Report, *, dry: bool) -> Iterator[Line]:
    came = [brought for brought in report.sessions if brought.new]
    said = messages.imported(len(came), report.new, report.known, dry=dry)
    yield line((said, "good" if report.new else "dim"))
    rows = [
        (each.session, messages.session_counts(each.new, each.known), " ".join(each.title.split()))
        for each in came[:_SHOWN]
    ]
    yield from table(rows, ("id", "strong"), indent=2)
    if len(came) > _SHOWN:
        yield line((messages.more_sessions(len(came) - _SHOWN), "dim"), indent=2)
    reasons = report.skipped(damaged=False)
    if reasons:
        yield line((messages.left_out(reasons), "dim"), hang=2)
    states = report.states()
    if states["unchanged"] or states["unknown"]:
        yield line((messages.other_files(states["unchanged"], states["unknown"]), "dim"), hang=2)
    if dry:
        yield line((DRY_RUN, "dim"))


def _complain(report: Report) -> None:
    for file in report.files:
        for reason, found in file.skipped.items():
            if found.damaged:
                output.note(messages.skipped_lines(file.path, reason, found.count, found.lines))
        if file.unfinished:
            output.note(messages.unfinished(file.path))


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
        "path": file.path,
        "source": file.source,
        "state": file.state,
        "error": file.error,
        "unfinished": file.unfinished,
        "sessions": [
            {
                "session": each.session,
                "title": each.title,
                "started": each.started,
                "fresh": each.fresh,
                "new": each.new,
                "known": each.known,
            }
            for each in file.sessions
        ],
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
