"""``engramdown skills list``, ``show`` and ``validate``: skills as they stand.

Promises: none changes a skill; a broken one never hides another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

import click
from click.exceptions import Exit

from engramdown.cli import messages, output
from engramdown.cli import skill_messages as said
from engramdown.cli.access import opened
from engramdown.cli.commands import json_option, label_argument, pass_place, scope_options
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import REFUSED, STORE_FAILED
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.skills.files import files_beside
from engramdown.skills.library import Known
from engramdown.skills.store import Skill
from engramdown.skills.usage import Used
from engramdown.skills.validation import Finding
from engramdown.storage.disk import Disk

_STYLES = {"error": "bad", "warning": "warn"}


@click.command("list")
@scope_options("Only skills for all projects.", "Only skills of this project.")
@json_option
@pass_place
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
        output.note(said.NO_SKILLS)
    if not found:
        raise Exit(REFUSED)


@click.command("show")
@label_argument
@scope_options("The one for all projects.", "The one of this project.")
@json_option
@pass_place
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
@scope_options("Only skills for all projects.", "Only skills of this project.")
@json_option
@pass_place
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
        ending = (
            (said.findings(len(wrong)), "strong") if wrong else (said.healthy(len(found)), "good")
        )
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
    return said.shadows(known.other) if known.counts else said.shadowed(known.other)


def _facts(skill: Skill, used: Used) -> Iterator[Line]:
    yield line((skill.label, "strong"), (f"  {messages.SCOPE_NAMES[skill.scope]}", "dim"))
    yield whole((str(skill.path), "where"))
    if used.times:
        yield line((said.used(used.times, used.last[:10]), "dim"))
    yield from finding_lines(skill)
