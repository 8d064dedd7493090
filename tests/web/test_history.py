"""Steps, undo and differences over HTTP."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from tests.cortex.person import Person
from tests.web.conftest import kind_of

LIST: Final = "/v1/steps"


@pytest.fixture
def written(cortex: Cortex) -> list[str]:
    """Write three memories in three steps, and return the ids of the memories."""
    engrams = (
        Engram("Use uv", "always", "project"),
        Engram("CI is slow", "lesson", "project"),
        Engram("Name: Ada", "profile", "global", source="user"),
    )
    return [cortex.encode(engram)[0].id for engram in engrams]


def test_those_of_a_scope_a_file_or_a_time_are_listed(
    written: list[str], program: TestClient
) -> None:
    steps = program.get(LIST).json()
    assert [each["changes"][0]["id"] for each in steps] == written[::-1]
    assert program.get(f"{LIST}?scope=global").json() == steps[:1]
    for file in ("rules.md", "memory/rules.md"):
        assert program.get(f"{LIST}?file={file}").json() == steps[2:]
    assert program.get(f"{LIST}?since={steps[1]['at']}").json() == steps[:2]
    assert program.get(f"{LIST}?since=2999-01-01").json() == []


def test_they_come_in_pages(written: list[str], program: TestClient) -> None:
    page = program.get(f"{LIST}?limit=2")
    rest = program.get(LIST + page.links["next"]["url"])
    changed = [each["changes"][0]["id"] for each in (*page.json(), *rest.json())]
    assert changed == written[::-1]


def test_one_is_shown(written: list[str], program: TestClient) -> None:
    newest = program.get(LIST).json()[0]
    assert program.get(f"{LIST}/{newest['id'][:5]}").json() == newest
    assert newest["changes"][0]["id"] in written
    missing = program.get(f"{LIST}/zzzz")
    assert (missing.status_code, kind_of(missing)) == (404, "not-found")
    assert "zzzz" in missing.json()["detail"]


def test_one_is_undone(cortex: Cortex, written: list[str], person: TestClient) -> None:
    lesson = next(step for step in person.get(LIST).json() if step["scope"] == "project")
    answer = person.post(f"{LIST}/{lesson['id']}/undo").json()
    assert answer == {"undone": lesson, "together_with": [], "passed_over": []}
    assert written[1] not in {entry.id for entry in cortex.entries()}


def test_what_cannot_be_undone_says_why(
    cortex: Cortex, written: list[str], person: TestClient, editor: Person
) -> None:
    editor.changes("lessons.md", "slow", "slow on Mondays")
    cortex.scopes.notice()
    by_hand, *_ = (step for step in person.get(LIST).json() if step["by"] == "person")
    (first,) = person.get(f"/v1/memories/{written[1]}/history").json()[:1]
    for step, words in ((by_hand, "is a hand edit"), (first, "was changed by hand after it")):
        answer = person.post(f"{LIST}/{step['id']}/undo")
        assert (answer.status_code, kind_of(answer)) == (409, "refused")
        assert words in answer.json()["detail"]
    assert "slow on Mondays" in editor.reads("lessons.md")


def test_what_changed_since_a_commit_is_what_the_command_prints(
    cortex: Cortex,
    written: list[str],
    program: TestClient,
    project: Path,
    printed: Callable[..., Any],
) -> None:
    def git(*words: str) -> None:
        me = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", "-C", project, *me, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    cortex.update(written[1], "CI is fast")
    (change,) = program.get("/v1/diff").json()["changes"]
    assert (change["verb"], change["before"]["text"]) == ("changed", "CI is slow")
    git("commit", "-qam", "Go on")
    assert program.get("/v1/diff?rev=HEAD~1..HEAD").json() == printed("diff", "HEAD~1..HEAD")


@pytest.mark.parametrize("rev", ["nothing", "--output=x", "HEAD"])
def test_where_git_has_no_answer_it_says_so(program: TestClient, rev: str) -> None:
    answer = program.get(f"/v1/diff?rev={rev}")
    assert (answer.status_code, kind_of(answer)) == (404, "not-found")
