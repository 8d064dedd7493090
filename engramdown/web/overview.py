"""Routes about memory as a whole: how much there is, what is wrong with it, and skills."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from engramdown.clock import today
from engramdown.doctor import Mending, Report, inspect_scopes
from engramdown.errors import StoreError
from engramdown.serializers import (
    doctor_data,
    listed_skill_data,
    planned_data,
    stats_data,
    whole_skill_data,
)
from engramdown.skills import files_beside
from engramdown.storage import Disk
from engramdown.web.problems import ProblemError
from engramdown.web.routes import Call, Form, Paged, Reply, Route, page_of
from engramdown.web.transcripts import InScope


class Mend(Form):
    """How faults are mended."""

    dry_run: bool = Field(default=False, description="Change nothing; show what would change.")


class SkillsQuery(Paged, InScope):
    """Which skills."""

    limit: int = Field(200, ge=1, le=500, description="At most so many.")


def stats(call: Call) -> Reply:
    """Count memories by file, kind, source, basis, age and use, what waits, and calls of models."""
    return Reply(stats_data(call.cortex, today()))


def doctor(call: Call) -> Reply:
    """Find faults in the files of memory and in transcripts, by file and line; mend nothing."""
    return Reply(doctor_data(_reports(call)))


def mend(call: Call) -> Reply:
    """Mend what is safe: lines that Engramdown wrote, and sessions that nobody ended.

    The answer has the diff of each file, which `{"dry_run": true}` shows beforehand. A step back
    undoes it.
    """
    mending, is_dry = Mending(call.cortex.scopes), call.body.dry_run
    if mending and not is_dry and not mending.carry_out():
        raise ProblemError("refused", "the files changed meanwhile; nothing was written")
    changes, tidied = planned_data(mending.changes), [*mending.sentences()]
    return Reply(doctor_data(_reports(call), changes, tidied, dry_run=is_dry))


def _reports(call: Call) -> list[Report]:
    scopes = call.cortex.scopes
    if scopes.home_root is None:
        raise StoreError("memory has no files, so there are none to look at")
    own = [store.root for store in scopes.stores if store.scope == "project"]
    project = next((root for root in own if root.is_dir()), None)
    return inspect_scopes(scopes.home_root, project)


def list_skills(call: Call) -> Reply:
    """List skills, the project's first, each with how often it was used."""
    skills, uses = call.cortex.skills.all, call.cortex.skills.uses()
    known = skills.known(call.query.scope)
    reply = page_of(
        call,
        known,
        lambda each: f"{each.skill.scope}/{each.skill.label}",
        lambda each: listed_skill_data(each, uses),
    )
    if skills.troubles and not known:
        raise StoreError("; ".join(skills.troubles))
    return reply


def show_skill(call: Call) -> Reply:
    """Show a skill with its text: the project's, if there are two of that label."""
    skills = call.cortex.skills.all
    skill = skills.read(call.path["label"], call.query.scope)
    files = files_beside(Disk(durable=False), skill.path.parent)
    return Reply(whole_skill_data(skill, skills.uses(), files))


ROUTES: Final = (
    Route("GET", "/v1/stats", stats, answers={200: "The counts."}),
    Route(
        "GET", "/v1/doctor", doctor, shape="Doctor", answers={200: "What was found in each scope."}
    ),
    Route(
        "POST",
        "/v1/doctor/mend",
        mend,
        shape="Doctor",
        need="person",
        changes=True,
        body=Mend,
        answers={200: "What was mended, or would be, and what is left."},
    ),
    Route(
        "GET",
        "/v1/skills",
        list_skills,
        shape="[Skill]",
        query=SkillsQuery,
        answers={200: "A page of them; `Link` leads to the next one."},
    ),
    Route(
        "GET",
        "/v1/skills/{label}",
        show_skill,
        shape="Skill",
        query=InScope,
        answers={200: "The skill."},
    ),
)
