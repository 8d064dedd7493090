"""Counts, faults and skills over HTTP, as the commands print them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from tests.cortex.person import Person
from tests.web.conftest import kind_of

Printed = Callable[..., Any]


def test_what_there_is_is_counted(cortex: Cortex, program: TestClient, printed: Printed) -> None:
    cortex.encode(Engram("CI is slow", "lesson", "project"))
    counts = program.get("/v1/stats").json()
    assert counts["memories"] == 1
    assert counts == printed("stats")


def test_faults_are_found_and_nothing_is_mended(
    cortex: Cortex, program: TestClient, printed: Printed, editor: Person
) -> None:
    assert program.get("/v1/doctor").json()["healthy"]
    cortex.encode(Engram("CI is slow", "lesson", "project"))
    editor.changes("lessons.md", "confidence:medium", "confidence:perhaps")
    before = editor.everything()
    found = program.get("/v1/doctor").json()
    assert found == printed("doctor")
    assert (found["healthy"], found["fixable"]) == (False, 1)
    assert editor.everything() == before


def test_what_is_safe_is_mended_after_a_look(
    cortex: Cortex, person: TestClient, printed: Printed, editor: Person
) -> None:
    cortex.encode(Engram("CI is slow", "lesson", "project"))
    editor.changes("lessons.md", "confidence:medium", "confidence:perhaps")
    before = editor.reads("lessons.md")
    looked = person.post("/v1/doctor/mend", json={"dry_run": True}).json()
    assert looked == printed("doctor", "--fix", "--dry-run")
    assert editor.reads("lessons.md") == before
    done = person.post("/v1/doctor/mend").json()
    assert done["changes"] == looked["changes"]
    assert (done["healthy"], done["dry_run"]) == (True, False)
    assert "perhaps" not in editor.reads("lessons.md")
    assert person.post("/v1/doctor/mend").json()["changes"] == []


def test_skills_are_listed_and_shown(cortex: Cortex, program: TestClient, printed: Printed) -> None:
    skills = cortex.skills.all
    page = skills.drafted("draw-charts", "Draws charts. Use it for figures.", "Use the script.\n")
    skills.create("project", "draw-charts", page)
    listed = program.get("/v1/skills").json()
    assert listed == printed("skills", "list")
    assert program.get("/v1/skills?scope=project").json() == printed("skills", "list", "--project")
    assert listed[0]["label"] == "draw-charts"
    shown = program.get("/v1/skills/draw-charts").json()
    assert shown == printed("skills", "show", "draw-charts")
    page_of_one = program.get("/v1/skills?limit=1")
    rest = program.get("/v1/skills" + page_of_one.links["next"]["url"]).json()
    assert [*page_of_one.json(), *rest][:2] == listed[:2]


def test_a_skill_is_named_by_its_label_and_no_path(program: TestClient) -> None:
    for label in ("nothing", "..", "%2e%2e%2fmemory", "draw-chart"):
        answer = program.get(f"/v1/skills/{label}")
        assert (answer.status_code, kind_of(answer)) == (404, "not-found")
