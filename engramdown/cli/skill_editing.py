"""``engramdown skills new``, ``edit``, ``delete``, ``restore``: a person writes skills.

Promises: nothing is overwritten that was not read; a text from an editor that cannot be written is
kept in a file that is named.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engramdown.cli import messages, output
from engramdown.cli import skill_messages as said
from engramdown.cli.access import meant, opened
from engramdown.cli.commands import (
    dry_run_option,
    json_option,
    label_argument,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, diff, diff_rows, line, whole
from engramdown.cli.output import RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.skill_listing import finding_lines, skill_data
from engramdown.cli.user_input import edit_whole, keep_text, read_stdin
from engramdown.engram import Scope
from engramdown.errors import EngramdownError, SkillExistsError, SkillNotFoundError
from engramdown.markdown.front_matter import Page
from engramdown.skills.library import (
    Change,
    Skills,
    changed,
    with_body,
    with_description,
    with_text,
)
from engramdown.skills.store import Skill, built_in

_body_option = click.option(
    "--body-file",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    help='What stands below the front matter; "-" reads it from stdin.',
)


@click.command()
@click.argument("label", metavar="LABEL")
@click.option("--description", metavar="TEXT", required=True, help="What it does, and when.")
@_body_option
@click.option("--license", "terms", metavar="TEXT", default="", help="Under which license it is.")
@scope_options("Keep it for all projects.", "Keep it in this project (default).")
@json_option
@dry_run_option
@pass_place
def new(
    place: Place,
    /,
    *,
    label: str,
    description: str,
    body_file: Path | None,
    terms: str,
    scope: Scope | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Write a new skill: LABEL is small letters, digits and hyphens, and names its folder."""
    where, root = meant(place, scope or "project")
    skills = opened(place, where)
    page = skills.drafted(label, description, _body(body_file), license=terms)
    if dry_run:
        path = root / "skills" / label / "SKILL.md"
        if path.exists():
            raise SkillExistsError(str(path), label)
        _show_rehearsed(Skill(label, where, path, page), "", as_json=as_json)
        return
    skill = skills.create(where, label, page)
    lines = [whole((said.added(skill), "good")), *finding_lines(skill)]
    if body_file is None:
        lines.append(line((said.now_edit(label), "dim")))
    _show(lines, {"changed": True, **skill_data(skill)}, as_json=as_json)


@click.command("edit")
@label_argument
@click.option("--description", metavar="TEXT", help="What it does, and when.")
@_body_option
@scope_options("The one for all projects.", "The one of this project.")
@json_option
@dry_run_option
@pass_place
def edit_skill(
    place: Place,
    /,
    *,
    label: str,
    description: str | None,
    body_file: Path | None,
    scope: Scope | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Change a skill: its description, what stands below it, or all of it in your editor.

    Of a built-in one a copy is changed, which is yours: in this project, or with --global.
    """
    skills = opened(place, scope)
    skill = _meant(skills, label, scope)
    changes = [] if description is None else [with_description(skill, description)]
    changes += [] if body_file is None else [with_body(skill, _body(body_file))]
    typed = None if changes else _typed(skill)
    changes = changes or [with_text(skill, typed or "")]
    try:
        if dry_run:
            after = changed(skill.page, _in_turn(changes))
            _show_rehearsed(skill._replace(page=after), skill.page.render(), as_json=as_json)
            return
        if skill.scope == "builtin":
            copy = changed(skill.page, _in_turn(changes))
            is_same = copy.render() == skill.page.render()
            written = skill if is_same else skills.create(meant(place, scope)[0], label, copy)
        else:
            written = skills.edit(skill, _in_turn(changes))
    except EngramdownError as error:
        if typed is None:
            raise
        raise RefusalError(said.draft_kept(str(keep_text(typed)), str(error))) from error
    _show_written(skill, written, as_json=as_json)


@click.command("delete")
@label_argument
@scope_options("The one for all projects.", "The one of this project.")
@json_option
@dry_run_option
@pass_place
def delete_skill(
    place: Place, /, *, label: str, scope: Scope | None, as_json: bool, dry_run: bool
) -> None:
    """Put a skill aside, with all its files: it moves to skills-replaced/.

    `engramdown skills restore LABEL` brings it back. A built-in one stays.
    """
    skills = opened(place, scope)
    skill = _meant(skills, label, scope)
    home = skill.path.parent
    if skill.scope == "builtin":
        raise RefusalError(said.built_in(skill.label))
    if dry_run:
        lines = [line((messages.DRY_RUN, "warn")), whole(f"{home} would be put aside.")]
        _show(lines, {**skill_data(skill), "changed": True, "dry_run": True}, as_json=as_json)
        return
    kept = skills.delete(skill)
    where = " --global" if skill.scope == "global" else ""
    lines = [
        whole((f"Deleted {label}; it is kept in {kept}.", "good")),
        line((f"To bring it back: engramdown skills restore {label}{where}", "dim")),
    ]
    _show(lines, {**skill_data(skill), "changed": True, "kept": str(kept)}, as_json=as_json)


@click.command("restore")
@click.argument("label", metavar="LABEL")
@scope_options("One of all projects.", "One of this project (default).")
@json_option
@dry_run_option
@pass_place
def restore_skill(
    place: Place, /, *, label: str, scope: Scope | None, as_json: bool, dry_run: bool
) -> None:
    """Bring back the skill called LABEL that was deleted or replaced last."""
    where, root = meant(place, scope or "project")
    skills = opened(place, where)
    if dry_run:
        lines = [
            line((messages.DRY_RUN, "warn")),
            whole(f"{root / 'skills' / label} would be back."),
        ]
        _show(lines, {"label": label, "scope": where, "dry_run": True}, as_json=as_json)
        return
    skill = skills.restore(where, label)
    _show(
        [whole((said.added(skill), "good"))],
        {"changed": True, **skill_data(skill)},
        as_json=as_json,
    )


def _meant(skills: Skills, label: str, scope: Scope | None) -> Skill:
    """Return the skill that is to be changed: a built-in one, if the scope has none of its own."""
    try:
        return skills.read(label, scope)
    except SkillNotFoundError:
        if label not in built_in().files.labels():
            raise
        return skills.read(label, "builtin")


def _body(file: Path | None) -> str:
    """Return what is to stand below the front matter, ending with a line end."""
    if file is None:
        return ""
    if str(file) == "-":
        text = read_stdin()
        return f"{text}\n" if text else ""
    return file.read_bytes().decode("utf-8", "surrogateescape")


def _typed(skill: Skill) -> str:
    """Return the text as a person left it in their editor."""
    before = skill.page.render()
    text = edit_whole(before, said.EDIT_INSTEAD)
    if not text.strip():
        raise click.UsageError(said.EMPTY_EDIT)
    # Editors end the last line of a file that they save, be nothing else changed in it.
    return before if text == f"{before}\n" else text


def _in_turn(changes: list[Change]) -> Change:
    def change(page: Page) -> Page:
        for each in changes:
            page = each(page)
        return page

    return change


def _show_written(before: Skill, after: Skill, *, as_json: bool) -> None:
    old, text = before.page.render(), after.page.render()
    if old == text:
        _show(
            [whole(said.unchanged(after))], {"changed": False, **skill_data(after)}, as_json=as_json
        )
        return
    lines = [
        whole((said.changed(after), "good")),
        *diff(old, text, after.path.name),
        *finding_lines(after),
    ]
    _show(lines, {"changed": True, **skill_data(after)}, as_json=as_json)


def _show_rehearsed(skill: Skill, before: str, *, as_json: bool) -> None:
    after = skill.page.render()
    name = str(skill.path)
    rows = diff_rows(before, after, skill.path.name)
    found = {"changed": before != after, **skill_data(skill), "dry_run": True}
    found["changes"] = [{"path": name, "diff": "\n".join(rows)}] if rows else []
    lines = [line((messages.DRY_RUN, "warn")), *file_diff(skill.path, before, after, name)]
    _show(lines, found, as_json=as_json)


def _show(lines: list[Line], data: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        output.print_json(data)
    else:
        output.screen().show(lines)
