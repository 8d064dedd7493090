"""``engramdown skills import``: brings in skills of other assistants, of folders and archives.

Promises: a skill comes in whole or not at all, and takes no other's place unasked; one that is
refused keeps no other out; without a path, what assistants keep is only told of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import messages, output
from engramdown.cli import skill_messages as said
from engramdown.cli.access import meant, opened, start_of
from engramdown.cli.commands import dry_run_option, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import REFUSED, STORE_FAILED, RefusalError
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.errors import StoreError
from engramdown.skills.imports import PLACES, Incoming, found_at
from engramdown.skills.library import Fate

_STYLES: Final = {
    "added": "good",
    "replaced": "warn",
    "unchanged": "dim",
    "refused": "bad",
    "failed": "bad",
}


@click.command("import")
@click.argument("path", metavar="[PATH]", type=click.Path(path_type=Path), required=False)
@click.option("--only", metavar="LABEL", multiple=True, help="Only this one; repeatable.")
@click.option(
    "--replace", is_flag=True, help="Also where there is one of that label, which is kept aside."
)
@scope_options("Keep them for all projects.", "Keep them in this project (default).")
@json_option
@dry_run_option
@pass_place
def import_skills(
    place: Place,
    /,
    *,
    path: Path | None,
    only: tuple[str, ...],
    replace: bool,
    scope: Scope | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Bring in skills: PATH is the folder of one, a folder of several, or a .zip.

    Without PATH it tells where assistants keep some. Each comes whole, with its references and
    scripts, or not at all: one with errors or a secret is refused.
    """
    if path is None:
        _tell_places(start_of(place), as_json=as_json)
        return
    found = _chosen(found_at(path.expanduser()), only)
    if not found:
        raise RefusalError(said.NO_SKILL_THERE.format(path=path))
    where, _ = meant(place, scope or "project")
    skills = opened(place, where)
    fates = [
        skills.fate_of(where, each, replace=replace)
        if dry_run
        else skills.bring_in(where, each, replace=replace)
        for each in found
    ]
    counts = Counter(fate.action for fate in fates)
    if as_json:
        output.print_json({"dry_run": dry_run, "skills": [_data(fate) for fate in fates]})
    else:
        heading = [line((messages.DRY_RUN, "warn"))] if dry_run else []
        rows = [row for fate in fates for row in _rows(fate)]
        ending = line((said.imported(counts, dry_run=dry_run), "strong"))
        output.screen().show([*heading, *rows, ending])
    if counts["failed"]:
        raise Exit(STORE_FAILED)
    if counts["refused"]:
        raise Exit(REFUSED)


def _chosen(found: list[Incoming], only: tuple[str, ...]) -> list[Incoming]:
    known = {each.label for each in found}
    missing = [label for label in only if label not in known]
    if missing:
        values = {"labels": ", ".join(missing), "known": ", ".join(sorted(known)) or "none"}
        raise RefusalError(said.NO_SUCH_LABEL.format(**values))
    return [each for each in found if not only or each.label in only]


def _tell_places(start: Path, *, as_json: bool) -> None:
    """Tell where assistants keep skills: in this project, and at home."""
    found: dict[Path, int] = {}
    for folder in dict.fromkeys((start, Path.home())):
        for name in PLACES:
            try:
                count = len(found_at(folder / name)) if (folder / name).is_dir() else 0
            except (StoreError, OSError) as error:
                output.note(str(error))
                continue
            if count:
                found[folder / name] = count
    if as_json:
        output.print_json([{"path": str(path), "skills": found[path]} for path in found])
    elif found:
        rows = [whole(said.found_in(found[path], str(path))) for path in found]
        output.screen().show([*rows, line((said.FOUND, "dim"))])
    if not found:
        raise RefusalError(said.NOTHING_FOUND)


def _rows(fate: Fate) -> Iterator[Line]:
    each = fate.incoming
    action = (fate.action, _STYLES[fate.action])
    yield line((each.label, "id"), "  ", action, f"  {said.comes(fate)}", hang=4)
    if fate.action in ("added", "replaced"):
        yield line((" ".join(each.page.text("description").split()), "dim"), indent=4)
    for finding in each.findings if fate.action != "refused" else ():
        yield line((f"{finding.file}:{finding.line}: {finding.message}", "warn"), indent=4)
    if fate.kept is not None:
        yield whole((f"    {said.kept_at(str(fate.kept))}", "where"))


def _data(fate: Fate) -> dict[str, Any]:
    each = fate.incoming
    return {
        "label": each.label,
        "action": fate.action,
        "reason": fate.reason,
        "source": each.source,
        "path": str(fate.path) if fate.path else None,
        "kept": str(fate.kept) if fate.kept else None,
        "description": each.page.text("description"),
        "files": [
            {"name": name, "size": len(each.files[name].data), "runs": each.files[name].runs}
            for name in sorted(each.files)
        ],
        "hidden": each.hidden,
        "findings": [{**one._asdict(), "level": one.level} for one in each.findings],
    }
