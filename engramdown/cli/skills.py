"""``engramdown skills``: procedures that an assistant follows, each a folder with a SKILL.md.

Without a command it lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click
from click.exceptions import Exit

from engramdown.cli import commands, messages, output
from engramdown.cli.access import meant, opened, start_of
from engramdown.cli.layout import Line, diff, diff_rows, line, whole
from engramdown.cli.output import REFUSED, STORE_FAILED, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_whole, keep_text, read_stdin
from engramdown.engram import Scope
from engramdown.errors import EngramdownError, SkillExistsError, SkillNotFoundError, StoreError
from engramdown.markdown import FrontMatter
from engramdown.skills import (
    PLACES,
    Change,
    Fate,
    Finding,
    Incoming,
    Known,
    Skill,
    Skills,
    Used,
    built_in,
    changed,
    files_beside,
    found_at,
    with_body,
    with_description,
    with_text,
)
from engramdown.storage import Disk

if TYPE_CHECKING:
    from engramdown.skills import Action


_STYLES = {"error": "bad", "warning": "warn"}


@click.command("list")
@commands.scope_options("Only skills for all projects.", "Only skills of this project.")
@commands.json_option
@commands.pass_place
def list_skills(place: Place, /, *, scope: Scope | None, as_json: bool) -> None:
    """List skills, each with what it is for."""
    skills = opened(place, scope)
    found = skills.known(scope)
    if as_json:
        uses = skills.uses()
        output.print_json([_known_data(each, uses) for each in found])
    else:
        output.screen().show(_listed(found))
    if skills.troubles:
        _end_with(skills.troubles)
    if all(each.skill.scope == "builtin" for each in found):
        output.note(NO_SKILLS)
    if not found:
        raise Exit(REFUSED)


@click.command("show")
@commands.label_argument
@commands.scope_options("The one for all projects.", "The one of this project.")
@commands.json_option
@commands.pass_place
def show_skill(place: Place, /, *, label: str, scope: Scope | None, as_json: bool) -> None:
    """Show one skill as it stands: this project's, if there are two of that label."""
    skills = opened(place, scope)
    skill = skills.read(label, scope)
    used = skills.uses().get(f"{skill.scope}/{skill.label}", Used())
    disk = Disk(durable=False)
    files = files_beside(disk, skill.path.parent)
    if as_json:
        more = {"files": [each._asdict() for each in files], "text": skill.page.render()}
        output.print_json({**skill_data(skill), **_used_data(used), **more})
        return
    screen = output.screen()
    screen.show(_facts(skill, used))
    screen.show(line((f"{each.name}  {each.size} bytes", "dim"), indent=2) for each in files)
    screen.show([line(), whole(skill.page.render().rstrip("\n"))])


@click.command()
@click.argument("labels", metavar="[LABEL]...", nargs=-1)
@commands.scope_options("Only skills for all projects.", "Only skills of this project.")
@commands.json_option
@commands.pass_place
def validate(
    place: Place, /, *, labels: tuple[str, ...], scope: Scope | None, as_json: bool
) -> None:
    """Check skills, or all of them, against the Agent Skills standard.

    Ends with 1 if there is anything to mend, and with 3 if a skill cannot be read.
    """
    skills = opened(place, scope)
    found = [each.skill for each in skills.known(scope) if each.skill.scope != "builtin"]
    if labels:
        known = {skill.label for skill in found}
        for label in labels:
            if label not in known:
                skills.read(label, scope)  # says that there is none, and which one is near
        found = [skill for skill in found if skill.label in labels]
    wrong = [finding for skill in found for finding in skill.findings]
    if as_json:
        output.print_json(
            {
                "valid": not wrong and not skills.troubles,
                "skills": [skill_data(skill) for skill in found],
            }
        )
    else:
        lines = [each for skill in found for each in finding_lines(skill)]
        ending = (findings(len(wrong)), "strong") if wrong else (healthy(len(found)), "good")
        output.screen().show([*lines, line(ending)])
    if skills.troubles:
        _end_with(skills.troubles)
    if wrong:
        raise Exit(STORE_FAILED if "unreadable" in {each.code for each in wrong} else REFUSED)


def _end_with(troubles: Iterable[str]) -> NoReturn:
    for trouble in troubles:
        output.note(trouble)
    raise Exit(STORE_FAILED)


def skill_data(skill: Skill) -> dict[str, Any]:
    """Return a skill as JSON shows it."""
    return {
        "label": skill.label,
        "scope": skill.scope,
        "path": str(skill.path),
        "name": skill.page.text("name"),
        "description": skill.description,
        "findings": [_finding_data(finding) for finding in skill.findings],
    }


def finding_lines(skill: Skill) -> Iterator[Line]:
    """Yield what is wrong with a skill, and what to do about it."""
    for finding in skill.findings:
        where = f"{skill.label}/{finding.file}" + (f":{finding.line}" if finding.line else "")
        code = (finding.code, _STYLES[finding.level])
        yield line((where, "where"), ": ", code, f": {finding.message}", hang=4)
        yield line((finding.advice, "dim"), indent=4)


def _used_data(used: Used) -> dict[str, Any]:
    return {"uses": used.times, "last_used": used.last or None}


def _known_data(known: Known, uses: Mapping[str, Used]) -> dict[str, Any]:
    other = known.other or None
    skill = known.skill
    return {
        **skill_data(skill),
        **_used_data(uses.get(f"{skill.scope}/{skill.label}", Used())),
        "shadows": other if known.counts else None,
        "shadowed_by": None if known.counts else other,
    }


def _finding_data(finding: Finding) -> dict[str, Any]:
    return {**finding._asdict(), "level": finding.level, "advice": finding.advice}


def _listed(found: Iterable[Known]) -> Iterator[Line]:
    scope = ""
    for known in found:
        skill = known.skill
        if skill.scope != scope:
            if scope:
                yield line()
            yield line(("skills", "strong"), (f"  {messages.SCOPE_NAMES[skill.scope]}", "dim"))
        scope = skill.scope
        notes = [f"  ({_relation(known)})"] if known.other else []
        text = " ".join(skill.description.split())
        parts = [(note, "dim") for note in notes]
        yield line((skill.label, "id"), "  ", text, *parts, indent=2, hang=6)
        for finding in skill.findings:
            code = (finding.code, _STYLES[finding.level])
            at = f":{finding.line}" if finding.line else ""
            yield line(
                (f"{finding.file}{at}", "where"), ": ", code, f": {finding.message}", indent=6
            )


def _relation(known: Known) -> str:
    return shadows(known.other) if known.counts else shadowed(known.other)


def _facts(skill: Skill, used: Used) -> Iterator[Line]:
    yield line((skill.label, "strong"), (f"  {messages.SCOPE_NAMES[skill.scope]}", "dim"))
    yield whole((str(skill.path), "where"))
    if used.times:
        yield line((times_used(used.times, used.last[:10]), "dim"))
    yield from finding_lines(skill)


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
@commands.scope_options("Keep it for all projects.", "Keep it in this project (default).")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
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
    lines = [whole((added(skill), "good")), *finding_lines(skill)]
    if body_file is None:
        lines.append(line((now_edit(label), "dim")))
    _show(lines, {"changed": True, **skill_data(skill)}, as_json=as_json)


@click.command("edit")
@commands.label_argument
@click.option("--description", metavar="TEXT", help="What it does, and when.")
@_body_option
@commands.scope_options("The one for all projects.", "The one of this project.")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
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
        raise RefusalError(draft_kept(str(keep_text(typed)), str(error))) from error
    _show_written(skill, written, as_json=as_json)


@click.command("delete")
@commands.label_argument
@commands.scope_options("The one for all projects.", "The one of this project.")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
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
        raise RefusalError(is_built_in(skill.label))
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
@commands.scope_options("One of all projects.", "One of this project (default).")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
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
        [whole((added(skill), "good"))],
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
    text = edit_whole(before, EDIT_INSTEAD)
    if not text.strip():
        raise click.UsageError(EMPTY_EDIT)
    # Editors end the last line of a file that they save, be nothing else changed in it.
    return before if text == f"{before}\n" else text


def _in_turn(changes: list[Change]) -> Change:
    def change(page: FrontMatter) -> FrontMatter:
        for each in changes:
            page = each(page)
        return page

    return change


def _show_written(before: Skill, after: Skill, *, as_json: bool) -> None:
    old, text = before.page.render(), after.page.render()
    if old == text:
        _show([whole(unchanged(after))], {"changed": False, **skill_data(after)}, as_json=as_json)
        return
    lines = [
        whole((skill_changed(after), "good")),
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


_FATE_STYLES: Final = {
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
@commands.scope_options("Keep them for all projects.", "Keep them in this project (default).")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
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
        raise RefusalError(NO_SKILL_THERE.format(path=path))
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
        ending = line((imported(counts, dry_run=dry_run), "strong"))
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
        raise RefusalError(NO_SUCH_LABEL.format(**values))
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
        rows = [whole(found_in(found[path], str(path))) for path in found]
        output.screen().show([*rows, line((FOUND, "dim"))])
    if not found:
        raise RefusalError(NOTHING_FOUND)


def _rows(fate: Fate) -> Iterator[Line]:
    each = fate.incoming
    action = (fate.action, _FATE_STYLES[fate.action])
    yield line((each.label, "id"), "  ", action, f"  {comes(fate)}", hang=4)
    if fate.action in ("added", "replaced"):
        yield line((" ".join(each.page.text("description").split()), "dim"), indent=4)
    for finding in each.findings if fate.action != "refused" else ():
        yield line((f"{finding.file}:{finding.line}: {finding.message}", "warn"), indent=4)
    if fate.kept is not None:
        yield whole((f"    {kept_at(str(fate.kept))}", "where"))


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


NO_SKILLS: Final = "none of yours yet; begin with `engramdown skills new LABEL --description TEXT`"
FOUND: Final = "bring them in with `engramdown skills import PATH`; --dry-run shows what comes"
NOTHING_FOUND: Final = "no assistant keeps skills here or at home; give the path of some"
NO_SKILL_THERE: Final = "{path}: holds no skill; one is a folder with a SKILL.md"
NO_SUCH_LABEL: Final = "there is no skill {labels} among them; there are: {known}"
EDIT_INSTEAD: Final = "give --description or --body-file"
EMPTY_EDIT: Final = "the text is empty; `engramdown skills delete LABEL` removes the skill"
NO_BODY_TWICE: Final = "stdin can be read once; give --body-file - alone"
_SCOPES: Final = {
    "project": "this project's",
    "global": "the one of all projects",
    "builtin": "the built-in one",
}


def added(skill: Skill) -> str:
    """Say that a skill was written."""
    return f"Wrote {skill.path}"


def is_built_in(label: str) -> str:
    """Say that a built-in skill cannot be deleted."""
    return f"{label} comes with the program and stays; a skill of yours with this label replaces it"


def skill_changed(skill: Skill) -> str:
    """Say that a skill was changed."""
    return f"Changed {skill.path}"


def unchanged(skill: Skill) -> str:
    """Say that a skill is as it was."""
    return f"Nothing changed in {skill.path}"


def now_edit(label: str) -> str:
    """Say how to write what a new skill lacks."""
    return f"`engramdown skills edit {label}` opens it, to write how it is done."


def shadows(scope: str) -> str:
    """Say that a skill hides one with the same label in ``scope``."""
    return f"instead of {_SCOPES[scope]}"


def shadowed(scope: str) -> str:
    """Say that a skill is hidden by one with the same label in ``scope``."""
    return f"not used: {_SCOPES[scope]} counts"


def draft_kept(path: str, reason: str) -> str:
    """Say where a text is that could not be written."""
    return f"{reason} Your text is kept in {path}"


def found_in(count: int, place: str) -> str:
    """Say how many skills an assistant keeps in a place."""
    return f"{place}  {count} skill{'s' if count != 1 else ''}"


def comes(fate: Fate) -> str:
    """Say what became of a skill that was to be brought in, or will."""
    size = sum(len(content.data) for content in fate.incoming.files.values())
    kilobyte = 1024
    shown = f"{size // kilobyte} KB" if size >= kilobyte else f"{size} bytes"
    files = len(fate.incoming.files)
    about = f"{files} file{'s' if files != 1 else ''}, {shown}"
    hidden = fate.incoming.hidden
    without = f", without {hidden} hidden" if hidden else ""
    return fate.reason or f"{about}{without}, from {fate.incoming.source}"


def imported(counts: Counter[Action], *, dry_run: bool) -> str:
    """Say how many skills were brought in."""
    new = counts["added"] + counts["replaced"]
    words = [f"{new} skill{'s' if new != 1 else ''} {'would come in' if dry_run else 'came in'}"]
    rest: tuple[Action, ...] = ("unchanged", "refused", "failed")
    return ", ".join([*words, *(f"{counts[key]} {key}" for key in rest if counts[key])]) + "."


def kept_at(path: str) -> str:
    """Say where a skill is kept whose place another one took."""
    return f"the one before is kept in {path}"


def times_used(times: int, last: str) -> str:
    """Say how often assistants read a skill."""
    return f"read by assistants {times} time{'s' if times != 1 else ''}, last on {last}"


def healthy(count: int) -> str:
    """Say that nothing is wrong."""
    return f"{count} skill{'s are' if count != 1 else ' is'} fine."


def findings(count: int) -> str:
    """Say how much is wrong."""
    return f"{count} finding{'s' if count != 1 else ''}."


COMMANDS: Final[commands.Table] = {
    "Look": {
        "list": ("skills:list_skills", "List skills, each with what it is for."),
        "show": ("skills:show_skill", "Show one skill as it stands."),
        "validate": ("skills:validate", "Check skills against the standard."),
    },
    "Change": {
        "new": ("skills:new", "Write a new skill."),
        "edit": ("skills:edit_skill", "Change a skill."),
        "delete": ("skills:delete_skill", "Put a skill aside."),
        "restore": ("skills:restore_skill", "Bring back a skill that was put aside."),
        "import": (
            "skills:import_skills",
            "Bring in skills of other assistants, folders or a .zip.",
        ),
    },
}


@click.group(
    cls=commands.ListingCommands,
    table=COMMANDS,
    subcommand_metavar="[COMMAND] [ARGS]...",
)
def skills() -> None:
    """Keep procedures that an assistant follows, each a folder with a SKILL.md.

    Without a command it lists them, as `engramdown skills list` does.
    """
