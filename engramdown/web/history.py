"""Routes about the changes of memory: steps, undo, and what changed since a commit."""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import Field

from engramdown import Hippocampus
from engramdown.engram import Scope
from engramdown.errors import EntryNotFoundError, StoreError
from engramdown.hippocampus import Step, by_prefix
from engramdown.serializers import differences_data, step_data, undone_data
from engramdown.transcripts import stamp
from engramdown.web.problems import ProblemError
from engramdown.web.routes import Call, ChangeRoute, Form, Paged, Reply, Route, page_of, when


class StepsQuery(Paged):
    """Which steps."""

    scope: Scope | None = Field(None, description="Only of this scope.")
    file: str = Field("", max_length=200, description="Only what changed this file: rules.md.")
    since: str = Field("", max_length=40, description="Only from this day or time on.")


class DiffQuery(Form):
    """Between which states."""

    rev: str = Field(
        "HEAD", max_length=200, description="A commit, REV1..REV2 or REV1...REV2 as git reads it."
    )
    scope: Scope = Field("project", description="Of which memory.")


class _Kept(NamedTuple):
    step: Step
    store: Hippocampus


def list_steps(call: Call) -> Reply:
    """List the changes of memory, the newest first."""
    asked = call.query
    moment = when(asked.since, "since")
    since = stamp(moment) if moment else ""
    wanted = asked.file.removeprefix("memory/")
    items = [
        each
        for each in newest(call)
        if asked.scope in (None, each.store.scope)
        and each.step.at >= since
        and (not wanted or any(name.removeprefix("memory/") == wanted for name in each.step.files))
    ]
    return page_of(
        call,
        items,
        lambda each: each.step.id,
        lambda each: step_data(each.step, each.store.scope),
    )


def newest(call: Call) -> list[_Kept]:
    """Return the steps of all journals, the newest first."""
    return sorted(_steps(call), key=lambda each: each.step.at)[::-1]


def show_step(call: Call) -> Reply:
    """Show a step: who did what, why, and each line that it changed."""
    found = _step(call)
    return Reply(step_data(found.step, found.store.scope))


def undo_step(call: Call) -> Reply:
    """Reverse a step. A hand edit is never undone, and nothing that a person wrote since is lost.

    409 if it cannot be undone; the detail says why, and what to do instead.
    """
    found = _step(call)
    found.store.undo(found.step.id)
    return Reply(undone_data([(found.step, found.store.scope)]))


def show_differences(call: Call) -> Reply:
    """Say what changed in memory since a commit, or between two, memory by memory."""
    from engramdown.git import Place, compare

    stores = {store.scope: store for store in call.cortex.scopes.stores}
    if call.query.scope not in stores:
        raise StoreError(f"the {call.query.scope} scope has no files")
    store = stores[call.query.scope]
    limit = call.cortex.scopes.settings.of(store.scope).max_file_bytes
    place = Place.of(store.root, store.scope, limit)
    sides = place.sides(call.query.rev)
    return Reply(differences_data(place, sides, compare(sides.before, sides.after)))


def _steps(call: Call) -> list[_Kept]:
    scopes = call.cortex.scopes
    return [
        _Kept(step, each) for each in scopes.stores for step in scopes.if_readable(each.history)
    ]


def _step(call: Call) -> _Kept:
    try:
        return by_prefix(call.path["id"], _steps(call), lambda each: each.step.id, "the journal")
    except EntryNotFoundError:
        missing = f"no step {call.path['id']!r}; GET /v1/steps lists them"
        raise ProblemError("not-found", missing) from None


ROUTES: Final = (
    Route("GET", "/v1/steps", list_steps, "[Step]", query=StepsQuery),
    Route("GET", "/v1/steps/{id}", show_step, "Step"),
    ChangeRoute("POST", "/v1/steps/{id}/undo", undo_step, "Undone"),
    Route("GET", "/v1/diff", show_differences, "Differences", query=DiffQuery),
)
