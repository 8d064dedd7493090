"""Routes about memory as a whole: recall, what a model sees, counts, faults, and skills.

What a program recalls or is shown is counted, as what the commands show is. What a person looks at
on a page is not: it says nothing about which memories are of use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import ConfigDict, Field

from engramdown.clock import today
from engramdown.errors import StoreError
from engramdown.serializers import (
    context_data,
    doctor_data,
    folders,
    listed_skill_data,
    planned_data,
    recall_data,
    stats_data,
    whole_skill_data,
)
from engramdown.skills import files_beside
from engramdown.storage import Disk
from engramdown.transcripts import RecordedRole
from engramdown.web.problems import ProblemError
from engramdown.web.routes import Call, ChangeRoute, Form, Paged, Reply, Route, page_of, when
from engramdown.web.transcripts import InScope, session_in

if TYPE_CHECKING:
    from engramdown.doctor import Report

# Where something may be found, as the answer calls it.
Source = Literal["memories", "episodes", "journal", "notes"]
_PLAIN: Final = "text/plain; charset=utf-8"


class RecallQuery(Form):
    """What is looked for."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    q: str = Field("", max_length=2_000, description="Words, a question, or the very string.")
    sources: list[Source] = Field([], alias="in", description="Only in these.")
    mode: Literal["best", "exact"] = Field("best", description="What answers, or the string.")
    limit: int = Field(20, ge=1, le=200, description="At most so many memories, and so many lines.")
    days_back: int | None = Field(None, ge=0, description="Only of the last so many days.")
    since: str = Field("", max_length=40, description="Only of this day or time or later.")
    until: str = Field("", max_length=40, description="Only of this day or time or earlier.")
    session: str = Field("", max_length=100, description="Only what was said in this session.")
    role: list[RecordedRole] = Field([], description="Only in these roles.")
    around: bool = Field(default=False, description="Also what was said around each line.")


class ContextQuery(Form):
    """What the context is for."""

    message: str = Field("", max_length=4_000, description="The message to the model.")


def recall(call: Call) -> Reply:
    """Search memories, then transcripts, the journal and notes, the best first.

    Without words, but with a range of time, it finds everything of that time, the newest first.
    """
    # Imported here: it reads tables of words, for which no start waits.
    from engramdown.context import Asked, search_all

    asked: RecallQuery = call.query
    in_time = asked.since or asked.until or asked.days_back is not None
    if not (asked.q.strip() or in_time):
        raise ProblemError("invalid", "give words, or since, until or days_back", "q")
    episodes = call.cortex.episodes
    is_wanted = not asked.sources or "episodes" in asked.sources
    found = search_all(
        call.cortex.context.notebooks,
        Asked(
            query=asked.q,
            limit=asked.limit,
            mode=asked.mode,
            days_back=asked.days_back,
            session=session_in(episodes, asked.session) if episodes and asked.session else None,
            role=tuple(asked.role),
            since=when(asked.since, "since"),
            until=when(asked.until, "until", end=True),
        ),
        episodes if is_wanted else None,
    )
    if _is_counted(call):
        call.cortex.scopes.count("recalled", found.memories)
    data = recall_data(found, folders(call.cortex))
    if asked.around and episodes and found.episodes:
        data["around"] = [
            {
                **beside._asdict(),
                "before": [each._asdict() for each in beside.before],
                "after": [each._asdict() for each in beside.after],
            }
            for beside in episodes.around(found.episodes)
        ]
    if found.notes:
        data["troubles"] = [*found.notes]
    if asked.sources:
        data = {name: each for name, each in data.items() if name in (*asked.sources, "around")}
    return Reply(data)


def context(call: Call) -> Reply:
    """Show what a model sees of memory, with tokens and budgets.

    With `Accept: text/plain` it is the text itself, byte for byte.
    """
    asked: ContextQuery = call.query
    made = call.cortex.context.build(asked.message, scratchpad=True, is_counted=_is_counted(call))
    if call.headers.get("accept", "").startswith("text/plain"):
        return Reply(_exact(made), media=_PLAIN)
    return Reply(context_data(made, folders(call.cortex)))


def _is_counted(call: Call) -> bool:
    return not (call.by_person or call.service.is_read_only)


def _exact(text: str) -> bytes:
    """Return a text byte for byte as the files have it."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, which some program recorded
        return text.encode("utf-8", "surrogatepass")


# ---- counts, faults, skills ----


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
    from engramdown.doctor import Mending  # no start waits for its checks

    mending, is_dry = Mending(call.cortex.scopes), call.body.dry_run
    if mending and not is_dry and not mending.carry_out():
        raise ProblemError("refused", "the files changed meanwhile; nothing was written")
    changes, tidied = planned_data(mending.changes), [*mending.sentences()]
    return Reply(doctor_data(_reports(call), changes, tidied, dry_run=is_dry))


def _reports(call: Call) -> list[Report]:
    from engramdown.doctor import inspect_scopes  # as above

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
    Route("GET", "/v1/recall", recall, "Recalled", query=RecallQuery),
    Route("GET", "/v1/context", context, "Context", query=ContextQuery),
    Route("GET", "/v1/stats", stats, "Stats"),
    Route("GET", "/v1/doctor", doctor, "Doctor"),
    ChangeRoute(
        "POST",
        "/v1/doctor/mend",
        mend,
        "Doctor",
        body=Mend,
        answers={200: "What was mended, or would be, and what is left."},
    ),
    Route("GET", "/v1/skills", list_skills, "[Skill]", query=SkillsQuery),
    Route("GET", "/v1/skills/{label}", show_skill, "Skill", query=InScope),
)
