"""``engramdown doctor``: finds what is wrong in the files of both scopes, and repairs what is safe.

Looking writes nothing and takes no lock. Repairing shows the diff first, asks, and writes exactly
what it showed; what a person wrote is only reported. ``--staged`` checks what git is about to
commit.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex
from engramdown.cli import messages, output, user_input
from engramdown.cli.access import home_of, open_cortex, project_of, start_of
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place
from engramdown.cli.layout import Line, Part, cells, line, pick
from engramdown.cli.messages import counted
from engramdown.cli.process import Place
from engramdown.clock import today
from engramdown.doctor import (
    CODES,
    UNREADABLE,
    Finding,
    Ids,
    Level,
    StagedReport,
    Tidying,
    check,
    find,
    inspect,
    inspect_origins,
    inspect_settings,
    inspect_staged,
    plan_tidying,
    repair,
    stops,
    telling_findings,
    tidy,
)
from engramdown.engram import Scope
from engramdown.errors import SettingsError
from engramdown.git import find_repository
from engramdown.hippocampus import FileChange
from engramdown.integrations.claude_code import FOLDER, TROUBLE, troubles
from engramdown.settings import Settings, load

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
        if mend or dry_run:
            raise click.UsageError(STAGED_ONLY_LOOKS)
        check_staged(place, as_json=given()["as_json"])
        return
    done = _mend(place) if mend or dry_run else _Mended()
    reports = _look(place)
    if given()["as_json"]:
        output.print_json(_data(reports, done))
    else:
        screen = output.screen()
        if done.changes and not dry_run:
            screen.show([line((mended(len(done.changes)), "good"))])
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
        return output.STORE_FAILED
    return output.REFUSED if any(finding.level != "note" for finding in found) else output.DONE


# ---- mending ----


def _mend(place: Place) -> _Mended:
    """Show what would be mended, ask, and mend it; return what changed."""
    ids = Ids()
    cortex = open_cortex(place)
    changes = _rehearsed(cortex, ids)
    chosen = {
        store.root: cortex.scopes.settings.of(store.scope).episodes
        for store in cortex.scopes.stores
    }
    plans = [plan_tidying(root, settings) for root, settings in chosen.items()]
    done = _Mended(tuple(changes), tuple(filter(None, plans)))
    as_json, dry_run = given()["as_json"], given()["dry_run"]
    if not as_json:
        _show(done, dry_run=dry_run)
    if not done or dry_run:
        return done
    user_input.check(NEEDS_YES)
    user_input.ask(ASK)
    if _rehearsed(_open(place), ids) != changes:
        raise output.RefusalError(CHANGED_MEANWHILE)
    _repair(_open(place), ids)
    for each in done.tidied:
        tidy([each], chosen[each.root])
    return done


def _open(place: Place) -> Cortex:
    """Open memory again; what there is to notice has been said."""
    project = project_of(place) or place.project
    return Cortex.open(project=project, home=place.home, mode=place.mode)


def _rehearsed(cortex: Cortex, ids: Ids) -> list[FileChange]:
    cortex.scopes.rehearse()
    _repair(cortex, ids)
    return [change for change in cortex.scopes.rehearsed() if change.before != change.after]


def _repair(cortex: Cortex, ids: Ids) -> None:
    next_id = ids.again()
    for store in cortex.scopes.stores:
        repair(store, today(), next_id)


def _show(done: _Mended, *, dry_run: bool) -> None:
    screen = output.screen()
    head = [line((messages.DRY_RUN, "warn"))] if dry_run else []
    screen.show([*head, *output.rehearsed_lines(done.changes), *map(line, _tidied(done))])
    if not done:
        screen.show([line((NOTHING_TO_MEND, "dim"))])
    screen.show([line()])


def _tidied(done: _Mended) -> list[str]:
    """Return what is tidied in the transcripts, one sentence each."""
    return [
        sentence
        for each in done.tidied
        for sentence in (
            *map(ends, each.open),
            *(removes(path.name, why) for path, why in each.told),
            *(hides(session, seq, text) for session, lines in each.telling for seq, text in lines),
        )
    ]


# ---- telling ----


def _lines(reports: Sequence[_Report]) -> list[Line]:
    found = [finding for report in reports for finding in report.findings]
    counts = {level: sum(each.level == level for each in found) for level in _LEVELS}
    lines = list(chain.from_iterable(_scope_lines(report) for report in reports if report.findings))
    if found:
        lines += [line((ADVICE, "strong")), *advice_lines(found), line()]
    if not counts["error"] and not counts["warning"]:
        return [
            *lines,
            line((healthy(sum(each.files for each in reports), counts["note"]), "good")),
        ]
    fixable = sum(finding.fixable for finding in found)
    return [*lines, line((summary(counts, fixable), "strong"))]


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
        "changes": output.rehearsed_data(done.changes),
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


STYLES: Final = {"error": "bad", "warning": "warn", "note": "dim"}
"""The style of each level."""
# A longer name of a file takes what it needs, and its row is out of line.
_WIDEST: Final = 24


def advice_lines(found: Iterable[Finding]) -> list[Line]:
    """Return what to do about each kind of finding."""
    codes = list(dict.fromkeys(finding.code for finding in found))
    width = column(codes)
    return [
        line(Part(padded(code, width), "dim"), CODES[code].advice, hang=width + 2) for code in codes
    ]


def column(texts: Iterable[str]) -> int:
    """Return how wide a column of ``texts`` is."""
    return min(max(map(cells, texts)), _WIDEST)


def padded(text: str, width: int) -> str:
    """Return ``text`` as a column of ``width``, with the gap behind it."""
    return f"{text}{' ' * max(width - cells(text), 0)}  "


def finding_data(finding: Finding, path: Path) -> dict[str, Any]:
    """Return a finding as JSON shows it; ``path`` is its file."""
    return {
        **pick(finding, "file line code level message advice fixable"),
        "path": str(path),
    }


def check_staged(place: Place, *, as_json: bool) -> None:
    """Show what is wrong, and end with code 1 if a commit is to be stopped for it.

    Raises:
        GitError: If there is no repository.
    """
    repository = find_repository(start_of(place))
    settings = Settings()
    # What is wrong there `doctor` says; here it is what is staged that counts.
    with contextlib.suppress(SettingsError):
        settings = load(home_of(place), project_of(place))
    report = inspect_staged(repository, home_of(place), settings.max_file_bytes)
    if as_json:
        output.print_json(_staged_data(report, repository.top))
    else:
        output.screen().show(_staged_lines(report))
    if _stops(report):
        raise Exit(output.REFUSED)


def _stops(report: StagedReport) -> bool:
    return any(stops(finding) for _, finding in report.findings)


def _staged_lines(report: StagedReport) -> Iterator[Line]:
    found = report.findings
    for path, finding in found:
        where = f"{path}:{finding.line}" if finding.line else path
        code = (finding.code, STYLES[finding.level])
        yield line((where, "where"), ": ", code, f": {finding.message}", hang=4)
    if found:
        yield line()
        yield line((ADVICE, "strong"))
        yield from advice_lines(finding for _, finding in found)
        yield line()
        yield line((staged_summary(_counts(report), stops=_stops(report)), "strong"))
    elif report.files:
        yield line((staged_healthy(report.files), "good"))
    else:
        yield line((NOTHING_STAGED, "dim"))


def _counts(report: StagedReport) -> dict[Level, int]:
    found = Counter(finding.level for _, finding in report.findings)
    levels: tuple[Level, ...] = ("error", "warning")
    return {level: found[level] for level in levels}


def _staged_data(report: StagedReport, top: Path) -> dict[str, Any]:
    return {
        "healthy": not _stops(report),
        "files": report.files,
        "errors": _counts(report)["error"],
        "warnings": _counts(report)["warning"],
        "findings": [
            {**finding_data(finding, top / path), "file": path, "stops": stops(finding)}
            for path, finding in report.findings
        ],
    }


ADVICE: Final = "What to do"
ASK: Final = "Write this?"
NEEDS_YES: Final = "nothing was written; `engramdown doctor --fix --yes` mends without asking"
CHANGED_MEANWHILE: Final = (
    "nothing was written: the files changed meanwhile; run `engramdown doctor --fix` again"
)
NOTHING_TO_MEND: Final = "There is nothing that can be mended without you."

NOTHING_STAGED: Final = "No memory is staged."
STAGED_ONLY_LOOKS: Final = (
    "--staged only looks; mend with `engramdown doctor --fix`, then `git add` the files again"
)


def healthy(files: int, notes: int) -> str:
    """Say that nothing is wrong.

    >>> healthy(1, 2)
    'Nothing is wrong in 1 file; 2 notes.'
    """
    said = f"Nothing is wrong in {counted(files, 'file')}"
    return f"{said}; {counted(notes, 'note')}." if notes else f"{said}."


def summary(counts: Mapping[Level, int], fixable: int) -> str:
    """Say how much was found, by level, and what can be done about it.

    >>> summary({"error": 1, "warning": 0, "note": 2}, 0)
    '1 error, 2 notes.'
    """
    found = [counted(number, level) for level, number in counts.items() if number]
    if not fixable:
        return f"{', '.join(found)}."
    return f"{', '.join(found)}; `engramdown doctor --fix` can mend {fixable} of them."


def staged_healthy(files: int) -> str:
    """Say that nothing is wrong with what is staged.

    >>> staged_healthy(1)
    'Nothing is wrong in 1 staged file.'
    """
    return f"Nothing is wrong in {counted(files, 'staged file')}."


def staged_summary(counts: Mapping[Level, int], *, stops: bool) -> str:
    """Say how much was found in what is staged, and what that means.

    >>> staged_summary({"error": 1, "warning": 0, "note": 0}, stops=True)
    '1 error in what is staged; mend it and `git add` it again, or `git commit --no-verify`.'
    """
    found = ", ".join(counted(number, level) for level, number in counts.items() if number)
    more = "; mend it and `git add` it again, or `git commit --no-verify`" if stops else ""
    return f"{found} in what is staged{more}."


def mended(files: int) -> str:
    """Say that ``files`` were changed.

    >>> mended(2)
    'Mended 2 files; `engramdown undo` takes a step back.'
    """
    return f"Mended {counted(files, 'file')}; `engramdown undo` takes a step back."


def ends(session: str) -> str:
    """Say that a session is ended that nobody ended."""
    return f"End the session {session}, with the time of its last line"


def removes(name: str, why: str) -> str:
    """Say that the note of a process that ended is removed, and what it told."""
    return f"Remove {name}, which told that {why}"


def hides(session: str, seq: int, text: str) -> str:
    """Say that the secrets in a line of a transcript are hidden, and show where."""
    mark = text.find("[redacted: ")
    if mark < 0:
        return f"Hide what {session}#{seq} tells in the whole text that was kept beside it"
    at = max(0, mark - _BEFORE)
    return f"Hide what {session}#{seq} tells: {' '.join(text[at : at + _SHOWN].split())}"


_BEFORE: Final = 40
_SHOWN: Final = 100
