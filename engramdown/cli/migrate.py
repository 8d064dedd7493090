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
from engramdown.cli.commands import dry_run_option, given, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, pick
from engramdown.cli.process import Place
from engramdown.engram import Scope

if TYPE_CHECKING:
    from engramdown import Receipt
    from engramdown.importers import Came, Migration, Surveyed


_STYLES: Final = {"queued": "warn", "discarded": "warn", "failed": "bad", "merged": "dim"}


@click.command()
@click.argument(
    "paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path)
)
@click.option("--yes", is_flag=True, help="Bring it in without asking.")
@click.option("--again", is_flag=True, help="Bring also what came before and is gone here.")
@scope_options("Keep it for all projects.", "Keep it in this project (default).")
@json_option
@dry_run_option
@pass_place
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
        raise output.RefusalError(nothing_found(paths))
    if dry_run or not yes:
        cortex.scopes.rehearse()
        came = migration.bring(surveyed, dry_run=True)
        is_patch = dry_run and not process.is_terminal(sys.stdout)
        changes = output.rehearsed_lines(cortex.scopes.rehearsed()) if is_patch else []
        if not as_json:
            output.screen().show([*_shown(surveyed, came, would=True), *changes])
        if not dry_run:
            migration = _asked(place, scope, came)
    if not dry_run:
        came = migration.bring(surveyed)
        if not as_json:
            output.screen().show(_shown(surveyed, came, would=False) if yes else _told(came))
            _say_what_stays(came)
    if as_json:
        output.print_json(_data(cortex, surveyed, came, dry_run=dry_run))
    raise Exit(_exit_code(surveyed, came))


def _open(place: Place, scope: Scope) -> Cortex:
    cortex = open_cortex(place, "project" if scope == "project" else "nothing")
    if scope == "global":
        cortex.scopes.allow_global()
    return cortex


def _where(place: Place, scope: Scope) -> tuple[tuple[Path, ...], Path]:
    """Return where to look, and the folder from which files are named."""
    paths: tuple[Path, ...] = given()["paths"]
    found = project_of(place)
    base = found.parent if found is not None else start_of(place)
    if not paths and scope == "global":
        raise click.UsageError(NO_PATH)
    return paths or (base,), base


def _asked(place: Place, scope: Scope, came: Sequence[Came]) -> Migration:
    """Ask, and return what writes after a yes."""
    from engramdown.importers import Migration

    if not came:
        raise Exit(0)
    user_input.ask(ASK)
    return Migration(_open(place, scope).scopes, scope)


def _exit_code(surveyed: Iterable[Surveyed], came: Iterable[Came]) -> int:
    if any(each.receipt.action == "failed" for each in came):
        return output.STORE_FAILED
    return output.REFUSED if any(each.problem for each in surveyed) else 0


# ---- for a person ----


def _shown(surveyed: Sequence[Surveyed], came: Sequence[Came], *, would: bool) -> Iterator[Line]:
    if given()["dry_run"]:
        yield line((messages.DRY_RUN, "warn"))
    by_file: dict[str, list[Came]] = {}
    for each in came:
        by_file.setdefault(each.path, []).append(each)
    for found in surveyed:
        yield line((found.path, "where"))
        if found.problem:
            yield line((found.problem, "bad"), indent=2, hang=4)
        for each in by_file.get(found.path, ()):
            yield from _memory(each)
        if found.known:
            yield line((duplicates(found.known), "dim"), indent=2)
        if found.waiting:
            yield line((waiting(found.waiting), "warn"), indent=2, hang=4)
        for reason, lines in _reasons(found).items():
            yield line((passed(reason, lines), "dim"), indent=2, hang=4)
    yield line()
    known = sum(found.known for found in surveyed)
    yield line((summary((each.receipt for each in came), known, would=would), "good"), hang=2)
    if known and not came:
        yield line((AGAIN, "dim"), hang=2)


def _say_what_stays(came: Sequence[Came]) -> None:
    """Say that files which assistants read by themselves say the same as memory now."""
    there = (each.path for each in came if each.receipt.action in ("encoded", "merged"))
    for path in dict.fromkeys(there):
        if Path(path).name in READ_BY_AGENTS:
            output.note(still_says(path))


def _memory(each: Came) -> Iterator[Line]:
    engram = each.receipt.engram
    kind = f"{engram.kind} · {engram.topic}" if engram.topic else engram.kind
    yield line(("+ ", "good"), engram.text, (f"  {kind}", "dim"), indent=2, hang=4)
    why = become(each.receipt)
    if why:
        yield line((why, _STYLES[each.receipt.action]), indent=6, hang=6)


def _reasons(found: Surveyed) -> dict[str, list[int]]:
    reasons: dict[str, list[int]] = {}
    for each in found.passed:
        reasons.setdefault(each.reason, []).append(each.line)
    return reasons


def _told(came: Sequence[Came]) -> Iterator[Line]:
    failed = (each.receipt for each in came if each.receipt.action == "failed")
    for reason in dict.fromkeys(receipt.reason for receipt in failed):
        yield line((reason, "bad"), hang=2)
    yield line((summary((each.receipt for each in came), 0, would=False), "good"), hang=2)


# ---- for a program ----


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
                "known": found.known,
                "waiting": found.waiting,
                "passed": [{"line": each.line, "reason": each.reason} for each in found.passed],
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


AGAIN: Final = "`engramdown migrate --again` brings what is gone here since once more"

ASK: Final = "Bring this in?"
NEEDS_YES: Final = (
    "migrating needs a person's yes; --dry-run shows what would come, --yes brings it in"
)
NO_PATH: Final = "name the files or folders whose memories are for all projects"
_SHOWN: Final = 8
_DONE: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "queued": "waiting in pending.md",
    "discarded": "not written",
    "failed": "failed",
}


READ_BY_AGENTS: Final = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "MEMORY.md")
"""Files that an assistant reads by itself."""


def still_says(path: str) -> str:
    """Say that an assistant gets the same twice, and what to do about it."""
    return (
        f"{path} still says this, so an assistant that reads it and has memory gets it twice; "
        f"`engramdown context --write {path} --replace` puts a block of memory in the place of "
        "these lines."
    )


def nothing_found(paths: Iterable[Path]) -> str:
    """Say that no file of an older layout is there."""
    places = ", ".join(str(path) for path in paths)
    return f"nothing to migrate in {places}; name the files, such as docs/notes.md"


def become(receipt: Receipt) -> str:
    """Say what becomes of a memory that is not simply remembered, or ``""``."""
    if receipt.action == "encoded":
        return ""
    said = _DONE[receipt.action]
    return said if receipt.action == "merged" else f"{said}: {receipt.reason}"


def duplicates(known: int) -> str:
    """Say how many memories of a file came before."""
    return f"{known:,} came before"


def waiting(count: int) -> str:
    """Say how many memories of a file the next run brings."""
    return f"{count:,} more wait for the next run"


def passed(reason: str, lines: list[int]) -> str:
    """Say what is not taken, and where it stands.

    >>> passed("code", [3, 9])
    'left out: code (lines 3, 9)'
    """
    noun = "line" if len(lines) == 1 else "lines"
    more = ", …" if len(lines) > _SHOWN else ""
    return f"left out: {reason} ({noun} {', '.join(map(str, lines[:_SHOWN]))}{more})"


def summary(receipts: Iterable[Receipt], known: int, *, would: bool) -> str:
    """Say how many memories came to what end; ``would`` if it is a preview."""
    counts = Counter[str](receipt.action for receipt in receipts)
    said = ", ".join(f"{counts[key]:,} {words}" for key, words in _DONE.items() if counts[key])
    before = f"{known:,} came before" if known else ""
    if not said:
        return f"Nothing new; {before}." if before else "Nothing new."
    return f"{'Would be: ' if would else ''}{'; '.join(filter(None, (said, before)))}."
