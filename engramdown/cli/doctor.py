"""``engramdown doctor``: finds faults in the files of both scopes, and repairs the safe ones.

Looking writes nothing and takes no lock. Repairing shows the diff first, asks, and writes exactly
that diff; faults in lines of a person are only reported. ``--staged`` checks what git is about to
commit.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from click.exceptions import Exit

from engramdown import doctor as health
from engramdown import serializers
from engramdown.cli import output, views
from engramdown.cli.access import home_of, open_cortex, project_of, start_of
from engramdown.cli.commands import changes, given, show
from engramdown.cli.layout import Line, Part, cells, line, table
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.errors import SettingsError
from engramdown.git import find_repository
from engramdown.settings import Settings, load

ADVICE: Final = "What to do"
ASK: Final = "Write this?"
NEEDS_YES: Final = "nothing was written; `engramdown doctor --fix --yes` mends without asking"
CHANGED_MEANWHILE: Final = (
    "nothing was written: the files changed meanwhile; run `engramdown doctor --fix` again"
)
NOTHING_TO_MEND: Final = "There is nothing to mend without you."
NOTHING_STAGED: Final = "No memory is staged."
STAGED_ONLY_LOOKS: Final = (
    "--staged only looks; mend with `engramdown doctor --fix`, then `git add` the files again"
)
_LEVELS: Final[tuple[health.Level, ...]] = ("error", "warning", "note")
_STYLES: Final = {"error": "bad", "warning": "warn", "note": "dim"}
# A longer name of a file sticks out of its column.
_WIDEST_COLUMN: Final = 24


@click.command()
@click.option("--staged", is_flag=True, help="Only what is staged in git; for a pre-commit hook.")
@click.option("--fix", "mend", is_flag=True, help="Mend what is safe; shows the diff and asks.")
@click.option("--yes", is_flag=True, help="Mend without asking.")
@changes
def doctor(place: Place, /, *, staged: bool, mend: bool, dry_run: bool, **_: object) -> None:
    """Find faults in the files of memory and in transcripts, by file and line.

    Looking changes nothing. --fix mends lines that Engramdown wrote: wrong values, repeated ids and
    lines, memories that have expired. It ends sessions that nobody ended. Your own lines are only
    reported.
    """
    if staged:
        if mend or dry_run:
            raise click.UsageError(STAGED_ONLY_LOOKS)
        _check_staged(place)
        return
    mending = _mend(place) if mend or dry_run else None
    mended = mending.changes if mending is not None else []
    home = home_of(place)
    reports = health.inspect_scopes(home, project_of(place), place.mode)
    if not reports:
        raise click.ClickException(views.no_memory(start_of(place), home))
    lines = [*_mending_lines(mending)] if dry_run and mending is not None else []
    if mended and not dry_run:
        files = counted(len(mended), "file")
        lines = [line((f"Mended {files}; `engramdown undo` takes a step back.", "good"))]
    tidied = [*mending.sentences()] if mending is not None else []
    data = serializers.doctor_data(
        reports, serializers.planned_data(mended), tidied, dry_run=dry_run
    )
    show([*lines, *_report_lines(reports)], data)
    found = [finding for report in reports for finding in report.findings]
    if any(finding.code in health.UNREADABLE | {"settings"} for finding in found):
        raise Exit(output.STORE_FAILED)
    is_wrong = any(finding.level != "note" for finding in found)
    raise Exit(output.REFUSED if is_wrong else output.DONE)


# ---- mending ----


def _mend(place: Place) -> health.Mending:
    """Show the repairs, ask, and make them; return them."""
    mending = health.Mending(open_cortex(place).scopes)
    if given()["dry_run"]:
        return mending
    if not given()["as_json"]:
        output.show(_mending_lines(mending))
    if mending:
        output.check(NEEDS_YES)
        output.ask(ASK)
        if not mending.carry_out():
            raise output.RefusalError(CHANGED_MEANWHILE)
    return mending


def _mending_lines(mending: health.Mending) -> Iterator[Line]:
    """Yield what is shown of repairs before they are made."""
    yield from output.planned_lines(mending.changes)
    yield from map(line, mending.sentences())
    if not mending:
        yield line((NOTHING_TO_MEND, "dim"))
    yield line()


# ---- reporting ----


def _report_lines(reports: Sequence[health.Report]) -> Iterator[Line]:
    found = [finding for report in reports for finding in report.findings]
    for report in reports:
        if report.findings:
            yield from _scope_lines(report)
    if found:
        yield from _advice_lines(found)
    counts = Counter(finding.level for finding in found)
    if counts["error"] or counts["warning"]:
        fixable = sum(finding.fixable for finding in found)
        mends = f"; `engramdown doctor --fix` can mend {fixable} of them" if fixable else ""
        yield line((f"{_counted_levels(counts)}{mends}.", "strong"))
    else:
        notes = f"; {counted(counts['note'], 'note')}" if counts["note"] else ""
        files = counted(sum(each.files for each in reports), "file")
        yield line((f"Nothing is wrong in {files}{notes}.", "good"))


def _scope_lines(report: health.Report) -> Iterator[Line]:
    folder = report.folder
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    yield line((serializers.SCOPE_NAMES[report.scope], "strong"), f"  {shown}", hang=2)
    places = []
    for finding in report.findings:
        name = finding.file.removeprefix("../")
        name = {"..": ".engramdown", ".": "memory"}.get(name, name)
        places.append(f"{name}:{finding.line}" if finding.line else name)
    first, second = _column(places), _column([finding.code for finding in report.findings])
    for place, finding in zip(places, report.findings, strict=True):
        yield line(
            Part(_padded(place, first), "where"),
            Part(_padded(finding.code, second), _STYLES[finding.level]),
            finding.message,
            hang=first + second + 4,
        )
    yield line()


def _advice_lines(findings: Iterable[health.Finding]) -> Iterator[Line]:
    """Yield the advice for each kind of finding."""
    yield line((ADVICE, "strong"))
    codes = dict.fromkeys(finding.code for finding in findings)
    yield from table([(code, health.codes()[code].advice) for code in codes], ("dim",))
    yield line()


def _column(texts: Iterable[str]) -> int:
    return min(max(map(cells, texts)), _WIDEST_COLUMN)


def _padded(text: str, width: int) -> str:
    return f"{text}{' ' * max(width - cells(text), 0)}  "


def _counted_levels(counts: Mapping[health.Level, int]) -> str:
    return ", ".join(counted(counts[level], level) for level in _LEVELS if counts[level])


# ---- staged files ----


def _check_staged(place: Place) -> None:
    """Show faults in staged files, and end with code 1 if one of them must stop a commit."""
    repository = find_repository(start_of(place))
    settings = Settings()
    # `doctor` reports wrong settings; here only the staged files count.
    with contextlib.suppress(SettingsError):
        settings = load(home_of(place), project_of(place))
    report = health.inspect_staged(repository, home_of(place), settings.max_file_bytes)
    found = [finding for _, finding in report.findings]
    is_stopped = any(map(health.stops, found))
    counts = Counter[health.Level](finding.level for finding in found if finding.level != "note")
    lines = []
    for path, finding in report.findings:
        where = f"{path}:{finding.line}" if finding.line else path
        code = (finding.code, _STYLES[finding.level])
        lines.append(line((where, "where"), ": ", code, f": {finding.message}", hang=4))
    if found:
        more = "; mend it and `git add` it again, or `git commit --no-verify`" if is_stopped else ""
        summary = f"{_counted_levels(counts)} in staged files{more}."
        lines += [line(), *_advice_lines(found), line((summary, "strong"))]
    elif report.files:
        files = counted(report.files, "staged file")
        lines.append(line((f"Nothing is wrong in {files}.", "good")))
    else:
        lines.append(line((NOTHING_STAGED, "dim")))
    show(lines, serializers.staged_data(report, repository.top))
    if is_stopped:
        raise Exit(output.REFUSED)
