"""``engramdown doctor``: what is wrong in the files of both scopes, and mending what is safe.

Promises: looking writes nothing and takes no lock; mending shows the diff first, asks, and writes
exactly what it showed; what a person wrote is only reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex
from engramdown.cli import doctor_messages as said
from engramdown.cli import messages, output, user_input
from engramdown.cli.access import home_of, open_cortex, project_of, start_of
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place
from engramdown.cli.findings import STYLES, advice_lines, column, finding_data, padded
from engramdown.cli.layout import Line, Part, line
from engramdown.cli.output import (
    DONE,
    REFUSED,
    STORE_FAILED,
    RefusalError,
    rehearsed_data,
    rehearsed_lines,
)
from engramdown.cli.process import Place
from engramdown.clock import today
from engramdown.cortex.checkup import check
from engramdown.cortex.findings import Finding, Level, find
from engramdown.cortex.inspection import UNREADABLE, inspect, inspect_settings
from engramdown.cortex.origins import inspect_origins
from engramdown.cortex.repair import Ids, repair
from engramdown.cortex.tidying import Tidying, plan_tidying, telling_findings, tidy
from engramdown.engram import Scope
from engramdown.hippocampus.files import FileChange
from engramdown.integrations.claude_code.environment import FOLDER, TROUBLE, troubles
from engramdown.settings import Settings

_LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class _Report:
    """What was found in one scope."""

    scope: Scope
    folder: Path
    files: int
    findings: tuple[Finding, ...]

    def path(self, finding: Finding) -> Path:
        return Path(os.path.realpath(self.folder / finding.file))


@dataclass(frozen=True, slots=True)
class _Mended:
    """What was mended, or would be: memory files, and transcripts."""

    changes: tuple[FileChange, ...] = ()
    tidied: tuple[Tidying, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes or self.tidied)


@click.command()
@click.option("--staged", is_flag=True, help="Only what is staged in git; for a pre-commit hook.")
@click.option("--fix", "mend", is_flag=True, help="Mend what is safe; shows the diff and asks.")
@click.option("--yes", is_flag=True, help="Mend without asking.")
@json_option
@dry_run_option
@pass_place
def doctor(place: Place, /, *, staged: bool, mend: bool, dry_run: bool, **_: object) -> None:
    """Find what is wrong in the files of memory and in transcripts, by file and line.

    Looking changes nothing. --fix mends lines that Engramdown wrote: wrong values, ids and
    lines that stand twice, memories that have expired. It ends sessions that nobody ended. What
    you wrote is only reported.
    """
    if staged:
        from engramdown.cli.staged import check_staged

        if mend or dry_run:
            raise click.UsageError(said.STAGED_ONLY_LOOKS)
        check_staged(place, as_json=given()["as_json"])
        return
    done = _mend(place) if mend or dry_run else _Mended()
    reports = _look(place)
    if given()["as_json"]:
        output.print_json(_data(reports, done))
    else:
        screen = output.screen()
        if done.changes and not dry_run:
            screen.show([line((said.mended(len(done.changes)), "good"))])
        screen.show(_lines(reports))
    raise Exit(_exit_code(reports))


# ---- looking ----


def _look(place: Place) -> list[_Report]:
    """Look at every scope that exists; raises if there is none."""
    home, project = home_of(place), project_of(place)
    scopes: list[tuple[Scope, Path]] = [("global", home)] if os.path.lexists(home) else []
    if project is not None:
        scopes.append(("project", project))
    if not scopes:
        raise click.ClickException(messages.no_memory(start_of(place), home))
    settings, configured = inspect_settings(home, project, place.mode)
    return [
        _look_at(scope, root, settings.of(scope), configured.get(root, []))
        for scope, root in scopes
    ]


def _look_at(
    scope: Scope, root: Path, settings: Settings, configured: Sequence[Finding]
) -> _Report:
    seen = inspect(root, settings.max_file_bytes)
    if not root.is_dir():
        return _Report(scope, root / "memory", 0, (*configured, *seen.findings))
    findings = [
        *configured,
        *seen.findings,
        *check(seen.files, today(), scope),
        *inspect_origins(root, scope),
        *telling_findings(root, settings.episodes),
        *_hooks(root),
    ]
    return _Report(scope, root / "memory", len(seen.files), tuple(findings))


def _hooks(root: Path) -> list[Finding]:
    """Return what went wrong in hooks of agents within a week."""
    since = (today() - timedelta(days=_WEEK)).isoformat()
    lately = [line for line in troubles(root) if line > since]
    if not lately:
        return []
    place = f"../{FOLDER}/{TROUBLE}", 0
    return [find(place, "hook-trouble", count=len(lately), reason=lately[-1].partition(" ")[2])]


def _exit_code(reports: Iterable[_Report]) -> int:
    found = [finding for report in reports for finding in report.findings]
    if any(finding.code in UNREADABLE | {"settings"} for finding in found):
        return STORE_FAILED
    return REFUSED if any(finding.level != "note" for finding in found) else DONE


# ---- mending ----


def _mend(place: Place) -> _Mended:
    """Show what would be mended, ask, and mend it; return what changed."""
    ids = Ids()
    cortex = open_cortex(place)
    changes = _rehearsed(cortex, ids)
    chosen = {store.root: cortex.settings.of(store.scope).episodes for store in cortex.stores}
    plans = [plan_tidying(root, settings) for root, settings in chosen.items()]
    done = _Mended(tuple(changes), tuple(filter(None, plans)))
    as_json, dry_run = given()["as_json"], given()["dry_run"]
    if not as_json:
        _show(done, dry_run=dry_run)
    if not done or dry_run:
        return done
    user_input.check(said.NEEDS_YES)
    user_input.ask(said.ASK)
    if _rehearsed(_open(place), ids) != changes:
        raise RefusalError(said.CHANGED_MEANWHILE)
    _repair(_open(place), ids)
    for each in done.tidied:
        tidy([each], chosen[each.root])
    return done


def _open(place: Place) -> Cortex:
    """Open memory again; what there is to notice has been said."""
    project = project_of(place) or place.project
    return Cortex.open(project=project, home=place.home, mode=place.mode)


def _rehearsed(cortex: Cortex, ids: Ids) -> list[FileChange]:
    cortex.rehearse()
    _repair(cortex, ids)
    return [change for change in cortex.rehearsed() if change.before != change.after]


def _repair(cortex: Cortex, ids: Ids) -> None:
    next_id = ids.again()
    for store in cortex.stores:
        repair(store, today(), next_id)


def _show(done: _Mended, *, dry_run: bool) -> None:
    screen = output.screen()
    head = [line((messages.DRY_RUN, "warn"))] if dry_run else []
    screen.show([*head, *rehearsed_lines(done.changes), *map(line, _tidied(done))])
    if not done:
        screen.show([line((said.NOTHING_TO_MEND, "dim"))])
    screen.show([line()])


def _tidied(done: _Mended) -> list[str]:
    """Return what is tidied in the transcripts, one sentence each."""
    return [
        sentence
        for each in done.tidied
        for sentence in (
            *map(said.ends, each.open),
            *(said.removes(path.name, why) for path, why in each.told),
            *(
                said.hides(session, seq, text)
                for session, lines in each.telling
                for seq, text in lines
            ),
        )
    ]


# ---- telling ----


def _lines(reports: Sequence[_Report]) -> list[Line]:
    found = [finding for report in reports for finding in report.findings]
    counts = {level: sum(each.level == level for each in found) for level in _LEVELS}
    lines = list(chain.from_iterable(_scope_lines(report) for report in reports if report.findings))
    if found:
        lines += [line((said.ADVICE, "strong")), *advice_lines(found), line()]
    if not counts["error"] and not counts["warning"]:
        return [
            *lines,
            line((said.healthy(sum(each.files for each in reports), counts["note"]), "good")),
        ]
    fixable = sum(finding.fixable for finding in found)
    return [*lines, line((said.summary(counts, fixable), "strong"))]


def _scope_lines(report: _Report) -> list[Line]:
    folder = report.folder
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    title = line((messages.SCOPE_NAMES[report.scope], "strong"), f"  {shown}", hang=2)
    places = [_where(finding) for finding in report.findings]
    codes = [finding.code for finding in report.findings]
    first, second = column(places), column(codes)
    rows = [
        line(
            Part(padded(place, first), "where"),
            Part(padded(finding.code, second), STYLES[finding.level]),
            finding.message,
            hang=first + second + 4,
        )
        for place, finding in zip(places, report.findings, strict=True)
    ]
    return [title, *rows, line()]


def _where(finding: Finding) -> str:
    name = finding.file.removeprefix("../")
    name = {"..": ".engramdown", ".": "memory"}.get(name, name)
    return f"{name}:{finding.line}" if finding.line else name


def _data(reports: Sequence[_Report], done: _Mended) -> dict[str, Any]:
    found = [finding for report in reports for finding in report.findings]
    return {
        "healthy": all(finding.level == "note" for finding in found),
        **{f"{level}s": sum(each.level == level for each in found) for level in _LEVELS},
        "fixable": sum(finding.fixable for finding in found),
        "dry_run": given()["dry_run"],
        "changes": rehearsed_data(done.changes),
        "tidied": _tidied(done),
        "scopes": [_report_data(report) for report in reports],
    }


def _report_data(report: _Report) -> dict[str, Any]:
    return {
        "scope": report.scope,
        "folder": str(report.folder),
        "files": report.files,
        "findings": [finding_data(finding, report.path(finding)) for finding in report.findings],
    }
