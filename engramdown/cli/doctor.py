"""``engramdown doctor``: finds faults in the files of both scopes, and repairs the safe ones.

Looking writes nothing and takes no lock. Repairing shows the diff first, asks, and writes exactly
that diff; faults in lines of a person are only reported. ``--staged`` checks what git is about to
commit.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click
from click.exceptions import Exit

from engramdown import Cortex, serializers
from engramdown import doctor as health
from engramdown.cli import output, views
from engramdown.cli.access import home_of, open_cortex, project_of, start_of
from engramdown.cli.commands import changes, given, show
from engramdown.cli.layout import Line, Part, cells, line, table
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.clock import today
from engramdown.errors import SettingsError
from engramdown.git import find_repository
from engramdown.hippocampus import FileChange, new_id
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
_WEEK: Final = 7
# A longer name of a file sticks out of its column.
_WIDEST_COLUMN: Final = 24
# How much of a line of a transcript is shown, and how much of that before a hidden secret.
_BEFORE_SECRET: Final = 40
_SHOWN: Final = 100


class _Fixes(NamedTuple):
    """The repairs that were or would be made in memory files and transcripts."""

    changes: Sequence[FileChange] = ()
    tidied: Sequence[health.Tidying] = ()

    def lines(self) -> Iterator[Line]:
        """Yield what is shown of them before they are made."""
        yield from output.planned_lines(self.changes)
        yield from map(line, self.sentences())
        if not any(self):
            yield line((NOTHING_TO_MEND, "dim"))
        yield line()

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each repair in the transcripts."""
        for each in self.tidied:
            for session in each.open:
                yield f"End the session {session}, with the time of its last line"
            for path, why in each.told:
                yield f"Remove {path.name}, which says that {why}"
            for session, lines in each.telling:
                for seq, text in lines:
                    yield f"Hide the secret in {session}#{seq}{_without_secret(text)}"


def _without_secret(text: str) -> str:
    """Return the text of a line around the secret that is hidden in it."""
    mark = text.find("[redacted: ")
    if mark < 0:
        return ", in the whole text beside it"
    at = max(0, mark - _BEFORE_SECRET)
    return f": {' '.join(text[at : at + _SHOWN].split())}"


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
    fixes = _mend(place) if mend or dry_run else _Fixes()
    home = home_of(place)
    reports = health.inspect_scopes(home, project_of(place), place.mode)
    if not reports:
        raise click.ClickException(views.no_memory(start_of(place), home))
    lines = [*fixes.lines()] if dry_run else []
    if fixes.changes and not dry_run:
        mended = counted(len(fixes.changes), "file")
        lines = [line((f"Mended {mended}; `engramdown undo` takes a step back.", "good"))]
    data = serializers.doctor_data(
        reports, output.planned_data(fixes.changes), [*fixes.sentences()], dry_run=dry_run
    )
    show([*lines, *_report_lines(reports)], data)
    found = [finding for report in reports for finding in report.findings]
    if any(finding.code in health.UNREADABLE | {"settings"} for finding in found):
        raise Exit(output.STORE_FAILED)
    is_wrong = any(finding.level != "note" for finding in found)
    raise Exit(output.REFUSED if is_wrong else output.DONE)


# ---- mending ----


def _mend(place: Place) -> _Fixes:
    """Show the repairs, ask, and make them; return them."""
    # The same new ids in each: what is written is what the preview showed.
    shown, checked, written = itertools.tee(iter(new_id, ""), 3)
    cortex = open_cortex(place)
    changes = _plan_repair(cortex, shown)
    settings = cortex.scopes.settings
    chosen = {store.root: settings.of(store.scope).episodes for store in cortex.scopes.stores}
    plans = [health.plan_tidying(root, episodes) for root, episodes in chosen.items()]
    fixes = _Fixes(changes, [plan for plan in plans if plan])
    if given()["dry_run"]:
        return fixes
    if not given()["as_json"]:
        output.show(fixes.lines())
    if not any(fixes):
        return fixes
    output.check(NEEDS_YES)
    output.ask(ASK)
    if _plan_repair(_open_again(place), checked) != changes:
        raise output.RefusalError(CHANGED_MEANWHILE)
    _repair(_open_again(place), written)
    for each in fixes.tidied:
        health.tidy([each], chosen[each.root])
    return fixes


def _open_again(place: Place) -> Cortex:
    """Open memory again, without printing its notices again."""
    project = project_of(place) or place.project
    return Cortex.open(project=project, home=place.home, mode=place.mode)


def _plan_repair(cortex: Cortex, ids: Iterator[str]) -> list[FileChange]:
    cortex.scopes.dry_run()
    _repair(cortex, ids)
    return [change for change in cortex.scopes.planned_changes() if change.before != change.after]


def _repair(cortex: Cortex, ids: Iterator[str]) -> None:
    for store in cortex.scopes.stores:
        health.repair(store, today(), ids.__next__)


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
    yield line((views.SCOPE_NAMES[report.scope], "strong"), f"  {shown}", hang=2)
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
