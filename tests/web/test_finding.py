"""Recall and context over HTTP."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram


@pytest.fixture
def known(cortex: Cortex) -> str:
    """Keep the same subject everywhere, and return the id of the session."""
    cortex.encode(Engram("The staging database resets at two", "lesson", "project"))
    with cortex.session("20260227-100000-one") as session:
        session.begin_turn("When does the staging database reset?")
        session.end_turn("The staging database resets at two.")
        cortex.conversations.notes(session.id).write("staging database: at two", by="agent")
    cortex.journal.write("The staging database was slow", by="person")
    return session.id


def test_everything_is_searched_or_only_some_of_it(known: str, program: TestClient) -> None:
    assert known
    path = "/v1/recall?q=staging database"
    assert set(program.get(path).json()) == {"memories", "episodes", "journal", "notes"}
    found = program.get(f"{path}&in=memories,journal").json()
    assert set(found) == {"memories", "journal"}
    assert program.get("/v1/recall?q=staging&until=2001-01-01").json()["memories"] == []


def test_what_was_said_around_it_comes_too(known: str, program: TestClient) -> None:
    assert known
    found = program.get("/v1/recall?q=when does the staging database reset&around=1").json()
    assert len(found["around"]) == len(found["episodes"])
    beside = found["around"][0]
    assert [each["text"] for each in (*beside["before"], *beside["after"])]


@pytest.mark.parametrize(
    "query, field",
    [
        ("", "q"),
        ("q=+", "q"),
        ("q=x&in=nowhere", "in.0"),
        ("q=x&since=someday", "since"),
        ("q=x&until=99999-01-01", "until"),
        ("q=x&role=nobody", "role.0"),
        ("q=x&limit=201", "limit"),
    ],
)
def test_a_wrong_question_is_named(program: TestClient, query: str, field: str) -> None:
    answer = program.get(f"/v1/recall?{query}")
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_what_a_model_sees_comes_byte_for_byte(
    cortex: Cortex, known: str, program: TestClient
) -> None:
    assert known
    path = "/v1/context?message=staging"
    shown = program.get(path).json()
    assert all(section["budget"] >= section["tokens"] for section in shown["sections"])
    plain = program.get(path, headers={"Accept": "text/plain"})
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.text == shown["text"] == str(cortex.build_memory_context("staging"))


def test_what_a_program_recalls_is_counted_and_what_a_person_looks_at_is_not(
    cortex: Cortex, known: str, person: TestClient, program: TestClient
) -> None:
    assert known
    (entry,) = cortex.entries()

    def times() -> list[int]:
        uses = cortex.scopes.uses()
        return [
            uses[name].times if (name := f"{how}/{entry.id}") in uses else 0
            for how in ("shown", "recalled")
        ]

    before = times()
    for path in ("/v1/context?message=staging", "/v1/recall?q=staging"):
        assert person.get(path).status_code == 200
    assert times() == before
    for path in ("/v1/context?message=staging", "/v1/recall?q=staging"):
        assert program.get(path).status_code == 200
    assert times() == [each + 1 for each in before]
