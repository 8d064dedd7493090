"""What a route shows is what the command for the same thing prints with ``--json``: all of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from engramdown.web.app import ROUTES

SESSION: Final = "20260227-100000-one"

# By the path of a route: what is asked of it, and the command. MEMORY stands for an id.
PAIRS: Final = {
    "/v1/memories": ("", "list"),
    "/v1/memories/{id}": ("/v1/memories/MEMORY", "show MEMORY"),
    "/v1/memories/{id}/why": ("/v1/memories/MEMORY/why", "why MEMORY"),
    "/v1/steps": ("", "history"),
    "/v1/diff": ("", "diff"),
    "/v1/recall": ("/v1/recall?q=staging", "recall staging"),
    "/v1/context": ("/v1/context?message=staging", "context staging"),
    "/v1/sessions": ("", "log list"),
    "/v1/sessions/{id}/episodes/{seq}": (
        f"/v1/sessions/{SESSION}/episodes/1",
        f"log show {SESSION}#1",
    ),
    "/v1/sessions/{id}/card": (f"/v1/sessions/{SESSION}/card", f"log card {SESSION}"),
    "/v1/sessions/{id}/notes": (f"/v1/sessions/{SESSION}/notes", f"log notes {SESSION}"),
    "/v1/export": (f"/v1/export?session={SESSION}&format=json", f"export {SESSION}"),
    "/v1/journal": ("", "journal list"),
    "/v1/journal/{day}": ("/v1/journal/today", "journal show"),
    "/v1/stats": ("", "stats"),
    "/v1/doctor": ("", "doctor"),
    "/v1/skills": ("", "skills list"),
    "/v1/skills/{label}": ("/v1/skills/draw-charts", "skills show draw-charts"),
}
# The same, where a route shows a part of what the command prints.
PARTS: Final[dict[str, tuple[str, str, Callable[[Any], Any]]]] = {
    "/v1/memories/{id}/history": (
        "/v1/memories/MEMORY/history",
        "why MEMORY",
        lambda printed: printed["steps"],
    ),
    "/v1/proposals": ("/v1/proposals", "review", lambda printed: printed["pending"]),
    "/v1/steps/{id}": ("/v1/steps/STEP", "history", lambda printed: printed[0]),
    "/v1/sessions/{id}": (
        f"/v1/sessions/{SESSION}",
        f"log show {SESSION}",
        lambda printed: {
            name: it for name, it in printed.items() if name not in ("lines", "malformed")
        },
    ),
    "/v1/sessions/{id}/episodes": (
        f"/v1/sessions/{SESSION}/episodes",
        f"log show {SESSION}",
        lambda printed: printed["lines"],
    ),
}
# For these there is no command that prints the same.
ALONE: Final = {"/v1/keys", "/v1/events", "/memory/summary/{conversation_id}", "/memory/chunks"} | {
    "/memory/search",
    "/health",
    "/openapi.json",
}


@pytest.fixture
def memory(copilot: Cortex, project: Path) -> str:
    """Keep one of everything, in git, and return the id of a memory."""
    engram = Engram("The staging database resets at two", "lesson", "project", topic="staging")
    key = copilot.encode(engram)[0].id
    copilot.propose(Engram("Use uv", "always", "project"))
    with copilot.session(SESSION) as session:
        session.begin_turn("When does the staging database reset?")
        session.end_turn("At two.")
        copilot.conversations.notes(SESSION).write("Staging: at two", by="agent")
    copilot.journal.write("Staging was slow", by="person")
    skills = copilot.skills.all
    page = skills.drafted("draw-charts", "Draws charts. Use it for figures.", "Use the script.\n")
    skills.create("project", "draw-charts", page)
    me = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in ("init -q", "add .", "commit -qm Begin"):
        subprocess.run(["git", "-C", project, *me, *words.split()], check=True)
    copilot.update(key, "The staging database resets at three")
    return key


def test_every_route_is_compared() -> None:
    shown = {route.path for route in ROUTES if route.method == "GET" and route.is_listed}
    assert shown == PAIRS.keys() | PARTS.keys() | ALONE


def test_it_is_what_the_command_prints(
    memory: str, person: TestClient, printed: Callable[..., Any]
) -> None:
    (newest, *_) = person.get("/v1/steps").json()
    other = {}
    for path in (*PAIRS, *PARTS):
        asked, command = PAIRS[path] if path in PAIRS else PARTS[path][:2]
        here = (asked or path).replace("MEMORY", memory).replace("STEP", newest["id"])
        answer = person.get(here)
        wanted = printed(*command.replace("MEMORY", memory).split())
        wanted = PARTS[path][2](wanted) if path in PARTS else wanted
        assert answer.status_code == 200, answer.text
        if answer.json() != wanted:
            other[path] = answer.json(), wanted
    assert not other
