"""Faults and skills over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from tests.cortex.person import Person
from tests.web.conftest import kind_of

Printed = Callable[..., Any]


def test_faults_are_found_and_nothing_is_mended(
    cortex: Cortex, program: TestClient, editor: Person
) -> None:
    assert program.get("/v1/doctor").json()["healthy"]
    cortex.encode(Engram("CI is slow", "lesson", "project"))
    editor.changes("lessons.md", "confidence:medium", "confidence:perhaps")
    before = editor.reads("lessons.md")
    found = program.get("/v1/doctor").json()
    assert (found["healthy"], found["fixable"]) == (False, 1)
    assert editor.reads("lessons.md") == before


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


def test_skills_come_in_pages(program: TestClient) -> None:
    listed = program.get("/v1/skills").json()
    page = program.get("/v1/skills?limit=1")
    rest = program.get("/v1/skills" + page.links["next"]["url"]).json()
    assert [*page.json(), *rest] == listed[:2]


def test_a_skill_is_named_by_its_label_and_no_path(program: TestClient) -> None:
    for label in ("nothing", "..", "%2e%2e%2fmemory", "draw-chart"):
        answer = program.get(f"/v1/skills/{label}")
        assert (answer.status_code, kind_of(answer)) == (404, "not-found")
