"""``engramdown skills``: procedures that an assistant follows, each a folder with a SKILL.md.

Without a command it lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown import skills as library
from engramdown.cli import commands, output
from engramdown.cli.access import meant, opened
from engramdown.cli.layout import Line, diff, line, whole
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.engram import Scope
from engramdown.errors import EngramdownError, SkillExistsError, SkillNotFoundError
from engramdown.markdown import FrontMatter
from engramdown.storage import Disk, Used

NO_SKILLS: Final = "none of yours yet; begin with `engramdown skills new LABEL --description TEXT`"
EDIT_INSTEAD: Final = "give --description or --body-file"
EMPTY_EDIT: Final = "the text is empty; `engramdown skills delete LABEL` removes the skill"
_STYLES: Final = {"error": "bad", "warning": "warn"}
_SCOPES: Final = {
    "project": "this project's",
    "global": "the one of all projects",
    "builtin": "the built-in one",
}
_ACTION_STYLES: Final = {"added": "good", "unchanged": "dim", "refused": "bad", "failed": "bad"}
_KILOBYTE: Final = 1024

COMMANDS: Final = commands.read_table(__file__)


@click.group(cls=commands.ListingCommands, table=COMMANDS, subcommand_metavar="[COMMAND] [ARGS]...")
def skills() -> None:
    """Keep procedures that an assistant follows, each a folder with a SKILL.md.

    Without a command it lists them, as `engramdown skills list` does.
    """


@click.command("list")
@commands.scoped("Only skills for all projects.", "Only skills of this project.")
def list_skills(place: Place, /, *, scope: Scope | None, as_json: bool) -> None:
    """List skills, each with what it is for."""
    skills = opened(place, scope)
    found = skills.known(scope)
    uses = skills.uses() if as_json else {}
    data, lines, group = [], [], ""
    for known in found:
        skill = known.skill
        data.append(serializers.listed_skill_data(known, uses))
        if skill.scope != group:
            lines += [line()] if group else []
            lines.append(_heading("skills", skill))
        group = skill.scope
        relation = ""
        if known.other:
            name = _SCOPES[known.other]
            relation = f"instead of {name}" if known.counts else f"not used: {name} counts"
        notes = [(f"  ({relation})", "dim")] if relation else []
        text = " ".join(skill.description.split())
        lines.append(line((skill.label, "id"), "  ", text, *notes, indent=2, hang=6))
        lines += [_finding_line(each, indent=6) for each in skill.findings]
    commands.show(lines, data)
    _refuse_unread(skills)
    if all(each.skill.scope == "builtin" for each in found):
        output.note(NO_SKILLS)
    if not found:
        raise Exit(output.REFUSED)


@click.command("show")
@commands.label_argument
@commands.scoped("The one for all projects.", "The one of this project.")
def show_skill(place: Place, /, *, label: str, scope: Scope | None, **_: object) -> None:
    """Show one skill as it is: this project's, if there are two of that label."""
    skills = opened(place, scope)
    skill = skills.read(label, scope)
    uses = skills.uses()
    used = uses.get(f"{skill.scope}/{skill.label}", Used())
    files = library.files_beside(Disk(durable=False), skill.path.parent)
    lines = [_heading(skill.label, skill), whole((str(skill.path), "where"))]
    if used.times:
        last = used.last[:10]
        often = f"read by assistants {used.times} time{'s' if used.times != 1 else ''}"
        lines.append(line((f"{often}, last on {last}", "dim")))
    lines += finding_lines(skill)
    lines += [line((f"{each.name}  {each.size} bytes", "dim"), indent=2) for each in files]
    lines += [line(), whole(skill.page.render().rstrip("\n"))]
    commands.show(lines, serializers.whole_skill_data(skill, uses, files))


@click.command()
@click.argument("labels", metavar="[LABEL]...", nargs=-1)
@commands.scoped("Only skills for all projects.", "Only skills of this project.")
def validate(place: Place, /, *, labels: tuple[str, ...], scope: Scope | None, **_: object) -> None:
    """Check skills, or all of them, against the Agent Skills standard.

    Ends with 1 if there is anything to mend, and with 3 if a skill cannot be read.
    """
    skills = opened(place, scope)
    chosen = [each.skill for each in skills.known(scope) if each.skill.scope != "builtin"]
    if labels:
        known = {skill.label for skill in chosen}
        for label in labels:
            if label not in known:
                skills.read(label, scope)  # says that there is none, and which one is near
        chosen = [skill for skill in chosen if skill.label in labels]
    wrong = [finding for skill in chosen for finding in skill.findings]
    healthy = f"{len(chosen)} skill{'s are' if len(chosen) != 1 else ' is'} fine."
    ending = (f"{counted(len(wrong), 'finding')}.", "strong") if wrong else (healthy, "good")
    commands.show(
        [*(each for skill in chosen for each in finding_lines(skill)), line(ending)],
        serializers.validity_data(chosen, is_valid=not (wrong or skills.troubles)),
    )
    _refuse_unread(skills)
    if wrong:
        raise Exit(
            output.STORE_FAILED if "unreadable" in {each.code for each in wrong} else output.REFUSED
        )


def _refuse_unread(skills: library.Skills) -> None:
    """End with a failure if a skill could not be read, and say which."""
    for trouble in skills.troubles:
        output.note(trouble)
    if skills.troubles:
        raise Exit(output.STORE_FAILED)


def finding_lines(skill: library.Skill) -> Iterator[Line]:
    """Yield the findings in a skill, each with advice."""
    for finding in skill.findings:
        yield _finding_line(finding, f"{skill.label}/", hang=4)
        yield line((finding.advice, "dim"), indent=4)


def _finding_line(finding: library.Finding, folder: str = "", **layout: int) -> Line:
    at = f":{finding.line}" if finding.line else ""
    code = (finding.code, _STYLES[finding.level])
    where = (f"{folder}{finding.file}{at}", "where")
    return line(where, ": ", code, f": {finding.message}", **layout)


def _heading(title: str, skill: library.Skill) -> Line:
    return line((title, "strong"), (f"  {serializers.SCOPE_NAMES[skill.scope]}", "dim"))


_body_option = click.option(
    "--body-file",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    help='The text below the front matter; "-" reads it from stdin.',
)


@click.command()
@click.argument("label", metavar="LABEL")
@click.option("--description", metavar="TEXT", required=True, help="What it does, and when.")
@_body_option
@commands.scoped("Keep it for all projects.", "Keep it in this project (default).", dry_run=True)
def new(place: Place, /, *, label: str, scope: Scope | None, dry_run: bool, **_: object) -> None:
    """Write a new skill: LABEL is small letters, digits and hyphens, and names its folder."""
    where, root = meant(place, scope or "project")
    skills = opened(place, where)
    options = commands.given()
    body = _body(options["body_file"])
    page = skills.drafted(label, options["description"], body)
    if dry_run:
        path = root / "skills" / label / "SKILL.md"
        if path.exists():
            raise SkillExistsError(str(path), label)
        _show_dry_run(library.Skill(label, where, path, page), "")
        return
    skill = skills.create(where, label, page)
    lines = [whole((f"Wrote {skill.path}", "good")), *finding_lines(skill)]
    if options["body_file"] is None:
        opens = f"`engramdown skills edit {label}` opens it, to write how it is done."
        lines.append(line((opens, "dim")))
    commands.show(lines, {"changed": True, **serializers.skill_data(skill)})


@click.command("edit")
@commands.label_argument
@click.option("--description", metavar="TEXT", help="What it does, and when.")
@_body_option
@commands.scoped("The one for all projects.", "The one of this project.", dry_run=True)
def edit_skill(
    place: Place, /, *, label: str, scope: Scope | None, dry_run: bool, **_: object
) -> None:
    """Change a skill: its description, the text below it, or all of it in your editor.

    A built-in one is copied first: into this project, or with --global for all projects.
    """
    skills = opened(place, scope)
    skill = _find(skills, label, scope)
    description, body_file = commands.given()["description"], commands.given()["body_file"]
    changes = [] if description is None else [library.with_description(skill, description)]
    changes += [] if body_file is None else [library.with_body(skill, _body(body_file))]
    typed = None if changes else _edit_text(skill)
    changes = changes or [library.with_text(skill, typed or "")]

    def change(page: FrontMatter) -> FrontMatter:
        for each in changes:
            page = each(page)
        return page

    old, written = skill.page.render(), skill
    try:
        if dry_run:
            _show_dry_run(skill._replace(page=library.changed(skill.page, change)), old)
            return
        if skill.scope != "builtin":
            written = skills.edit(skill, change)
        else:
            copy = library.changed(skill.page, change)
            if copy.render() != old:
                written = skills.create(meant(place, scope)[0], label, copy)
    except EngramdownError as error:
        if typed is None:
            raise
        raise output.draft_kept(typed, error) from error
    text = written.page.render()
    lines = [whole(f"Nothing changed in {written.path}")]
    if text != old:
        lines = [whole((f"Changed {written.path}", "good"))]
        lines += [*diff(old, text, written.path.name), *finding_lines(written)]
    commands.show(lines, {"changed": text != old, **serializers.skill_data(written)})


@click.command("delete")
@commands.label_argument
@commands.scoped("The one for all projects.", "The one of this project.", dry_run=True)
def delete_skill(
    place: Place, /, *, label: str, scope: Scope | None, dry_run: bool, **_: object
) -> None:
    """Put a skill aside, with all its files: it moves to skills-replaced/.

    `engramdown skills restore LABEL` brings it back. A built-in one stays.
    """
    skills = opened(place, scope)
    skill = _find(skills, label, scope)
    data = {**serializers.skill_data(skill), "changed": True}
    if skill.scope == "builtin":
        stays = "comes with the program and stays; a skill of yours with this label replaces it"
        raise output.RefusalError(f"{skill.label} {stays}")
    if dry_run:
        _show_trial(f"{skill.path.parent} would be put aside.", data)
        return
    kept = skills.delete(skill)
    where = " --global" if skill.scope == "global" else ""
    lines = [
        whole((f"Deleted {label}; it is kept in {kept}.", "good")),
        line((f"To bring it back: engramdown skills restore {label}{where}", "dim")),
    ]
    commands.show(lines, {**data, "kept": str(kept)})


@click.command("restore")
@click.argument("label", metavar="LABEL")
@commands.scoped("One of all projects.", "One of this project (default).", dry_run=True)
def restore_skill(
    place: Place, /, *, label: str, scope: Scope | None, dry_run: bool, **_: object
) -> None:
    """Bring back the skill called LABEL that was deleted last."""
    where, root = meant(place, scope or "project")
    skills = opened(place, where)
    if dry_run:
        back = f"{root / 'skills' / label} would be back."
        _show_trial(back, {"label": label, "scope": where})
        return
    skill = skills.restore(where, label)
    commands.show(
        [whole((f"Wrote {skill.path}", "good"))], {"changed": True, **serializers.skill_data(skill)}
    )


def _show_trial(text: str, data: dict[str, Any]) -> None:
    commands.show([whole(text)], {**data, "dry_run": True})


def _find(skills: library.Skills, label: str, scope: Scope | None) -> library.Skill:
    """Return the skill that is to be changed: a built-in one, if the scope has none of its own."""
    try:
        return skills.read(label, scope)
    except SkillNotFoundError:
        if label not in library.built_in().labels():
            raise
        return skills.read(label, "builtin")


def _body(file: Path | None) -> str:
    """Return the text below the front matter, ending with a line end."""
    if file is None:
        return ""
    if str(file) == "-":
        text = output.read_stdin()
        return f"{text}\n" if text else ""
    return file.read_bytes().decode("utf-8", "surrogateescape")


def _edit_text(skill: library.Skill) -> str:
    """Return the text as a person left it in their editor."""
    before = skill.page.render()
    text = output.edit_whole(before, EDIT_INSTEAD)
    if not text.strip():
        raise click.UsageError(EMPTY_EDIT)
    # Editors end the last line of a file when they save it, even if nothing else changed.
    return before if text == f"{before}\n" else text


def _show_dry_run(skill: library.Skill, before: str) -> None:
    after = skill.page.render()
    data = {"changed": before != after, **serializers.skill_data(skill)}
    commands.show_dry_run(skill.path, before, after, data, name=str(skill.path))


@click.command("import")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--only", metavar="LABEL", multiple=True, help="Only this one; repeatable.")
@commands.scoped(
    "Keep them for all projects.", "Keep them in this project (default).", dry_run=True
)
def import_skills(
    place: Place, /, *, path: Path, only: tuple[str, ...], dry_run: bool, **_: object
) -> None:
    """Bring in skills: PATH is the folder of one, or a folder of several.

    Claude Code keeps some in ~/.claude/skills. Each comes whole, with its references and scripts,
    or not at all: one with errors or a secret is refused.
    """
    incoming = library.found_at(path.expanduser())
    labels = {each.label for each in incoming}
    if missing := ", ".join(label for label in only if label not in labels):
        there = ", ".join(sorted(labels)) or "none"
        raise output.RefusalError(f"no skill {missing} there; the skills there are: {there}")
    if not incoming:
        raise output.RefusalError(f"{path}: holds no skill; one is a folder with a SKILL.md")
    where, _root = meant(place, commands.given()["scope"] or "project")
    skills = opened(place, where)
    bring = skills.fate_of if dry_run else skills.bring_in
    wanted = [each for each in incoming if not only or each.label in only]
    fates = [bring(where, each) for each in wanted]
    counts = Counter[str](fate.action for fate in fates)
    came = "would come in" if dry_run else "came in"
    summary = [f"{counted(counts['added'], 'skill')} {came}"]
    rest = ("unchanged", "refused", "failed")
    summary += [f"{counts[action]} {action}" for action in rest if counts[action]]
    lines = [row for fate in fates for row in _import_lines(fate)]
    lines.append(line((f"{', '.join(summary)}.", "strong")))
    data = serializers.imported_skills_data(fates, dry_run=dry_run)
    commands.show(lines, data)
    if counts["failed"]:
        raise Exit(output.STORE_FAILED)
    if counts["refused"]:
        raise Exit(output.REFUSED)


def _import_lines(fate: library.Fate) -> Iterator[Line]:
    each = fate.incoming
    size = sum(len(content.data) for content in each.files.values())
    shown = f"{size // _KILOBYTE} KB" if size >= _KILOBYTE else f"{size} bytes"
    without = f", without {each.hidden} hidden" if each.hidden else ""
    about = f"{counted(len(each.files), 'file')}, {shown}{without}, from {each.source}"
    action = (fate.action, _ACTION_STYLES[fate.action])
    yield line((each.label, "id"), "  ", action, f"  {fate.reason or about}", hang=4)
    if fate.action == "added":
        yield line((" ".join(each.page.text("description").split()), "dim"), indent=4)
    for finding in each.findings if fate.action != "refused" else ():
        yield line((f"{finding.file}:{finding.line}: {finding.message}", "warn"), indent=4)
