"""``engramdown doctor --staged``: what is wrong with memory that is about to be committed.

Promises: looks at the index, not at the work tree, and changes neither; works from a hook; what
holds a secret is named by file and line, never shown.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.exceptions import Exit

from engramdown.cli import doctor_messages as said
from engramdown.cli import output
from engramdown.cli.access import home_of, project_of, start_of
from engramdown.cli.findings import STYLES, advice_lines, finding_data
from engramdown.cli.layout import Line, line
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.cortex.findings import Level
from engramdown.cortex.staged import StagedReport, inspect_staged, stops
from engramdown.errors import SettingsError
from engramdown.git.repository import find_repository
from engramdown.settings import Settings, load


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
        output.print_json(_data(report, repository.top))
    else:
        output.screen().show(_lines(report))
    if _stops(report):
        raise Exit(REFUSED)


def _stops(report: StagedReport) -> bool:
    return any(stops(finding) for _, finding in report.findings)


def _lines(report: StagedReport) -> Iterator[Line]:
    found = report.findings
    for path, finding in found:
        where = f"{path}:{finding.line}" if finding.line else path
        code = (finding.code, STYLES[finding.level])
        yield line((where, "where"), ": ", code, f": {finding.message}", hang=4)
    if found:
        yield line()
        yield line((said.ADVICE, "strong"))
        yield from advice_lines(finding for _, finding in found)
        yield line()
        yield line((said.staged_summary(_counts(report), stops=_stops(report)), "strong"))
    elif report.files:
        yield line((said.staged_healthy(report.files), "good"))
    else:
        yield line((said.NOTHING_STAGED, "dim"))


def _counts(report: StagedReport) -> dict[Level, int]:
    found = Counter(finding.level for _, finding in report.findings)
    levels: tuple[Level, ...] = ("error", "warning")
    return {level: found[level] for level in levels}


def _data(report: StagedReport, top: Path) -> dict[str, Any]:
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
