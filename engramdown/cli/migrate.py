"""``engramdown migrate``: takes memories from the notes of other assistants.

Nothing is written before a yes, and the notes are not changed. It shows what becomes of each
memory, by file, and what is not taken, with the reason.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex
from engramdown.cli import messages, output, process, user_input, views
from engramdown.cli.access import open_cortex, project_of, start_of
from engramdown.cli.commands import given, scoped
from engramdown.cli.layout import Line, line, pick
from engramdown.cli.process import Place
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown.importers import Came, Surveyed

AGAIN: Final = "`engramdown migrate --again` brings what is gone here since once more"
ASK: Final = "Bring this in?"
NEEDS_YES: Final = (
    "migrating needs a person's yes; --dry-run shows what would come, --yes brings it in"
)
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
_READ_BY_AGENTS: Final = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "MEMORY.md")


@click.command()
@click.argument(
    "paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path)
)
@click.option("--yes", is_flag=True, help="Bring it in without asking.")
@click.option("--again", is_flag=True, help="Bring also what came before and is gone here.")
@scoped("Keep it for all projects.", "Keep it in this project (default).", dry_run=True)
def migrate(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Bring in what other assistants and you wrote down: shows it, asks, remembers it.

    PATH is a file, or a folder in which files are looked for (default: the project's): CLAUDE.md,
    AGENTS.md, MEMORY.md with what it links to, .cursorrules, .cursor/rules, memory/YYYY-MM-DD.md,
    .anton. Nothing there is changed. What came before does not come again; of a file that grew,
    what is new comes.
    """
    scope: Scope = given()["scope"] or "project"
    cortex = _open(place, scope)
    if cortex.mode == "off":
        raise output.RefusalError(messages.OFF)
    yes = given()["yes"]
    user_input.check(NEEDS_YES)
    from engramdown.importers import Migration

    migration = Migration(cortex.scopes, scope, again=given()["again"])
    paths, base = _where(place, scope)
    surveyed = migration.survey(paths, base)
    if not surveyed:
        places = ", ".join(map(str, paths))
        nothing = f"nothing to migrate in {places}; name the files, such as docs/notes.md"
        raise output.RefusalError(nothing)
    if dry_run or not yes:
        cortex.scopes.rehearse()
        came = migration.bring(surveyed, dry_run=True)
        if not as_json:
            _preview(cortex, surveyed, came)
        if not dry_run:
            if not came:
                raise Exit(0)
            user_input.ask(ASK)
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
    """Return where to look, and the folder from which files are named."""
    paths: tuple[Path, ...] = given()["paths"]
    project = project_of(place)
    base = project.parent if project is not None else start_of(place)
    if not paths and scope == "global":
        raise click.UsageError(NO_PATH)
    return paths or (base,), base


def _open(place: Place, scope: Scope) -> Cortex:
    cortex = open_cortex(place, "project" if scope == "project" else "nothing")
    if scope == "global":
        cortex.scopes.allow_global()
    return cortex


def _preview(cortex: Cortex, surveyed: Sequence[Surveyed], came: Sequence[Came]) -> None:
    is_patch = given()["dry_run"] and not process.is_terminal(sys.stdout)
    changes = output.rehearsed_lines(cortex.scopes.rehearsed()) if is_patch else []
    output.show([*_survey_lines(surveyed, came, would=True), *changes])


def _survey_lines(
    surveyed: Sequence[Surveyed], came: Sequence[Came], *, would: bool
) -> Iterator[Line]:
    if given()["dry_run"]:
        yield line((messages.DRY_RUN, "warn"))
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
    """Say what is not taken, and where it stands.

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
    """Say how many memories came to what end; ``would`` if it is a preview."""
    counts = Counter[str](each.receipt.action for each in came)
    said = ", ".join(f"{counts[key]:,} {words}" for key, words in _DONE.items() if counts[key])
    before = f"; {known:,} came before" if known else ""
    if not said:
        return f"Nothing new{before}."
    return f"{'Would be: ' if would else ''}{said}{before}."


def _note_repeated(came: Sequence[Came]) -> None:
    """Say that files which assistants read by themselves say the same as memory now."""
    there = (each.path for each in came if each.receipt.action in ("encoded", "merged"))
    for path in dict.fromkeys(there):
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
                **pick(found, "known waiting"),
                "passed": [pick(each, "line reason") for each in found.passed],
            }
            for found in surveyed
        ],
        "memories": [
            {
                **views.receipt_data(each.receipt),
                "from": each.path,
                "from_line": each.brought.line,
                **pick(each.receipt.engram, "topic confidence source basis"),
                "ts": each.brought.engram.ts,
            }
            for each in came
        ],
        "changes": output.rehearsed_data(cortex.scopes.rehearsed()) if dry_run else [],
    }
