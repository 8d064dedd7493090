"""Proposals over HTTP: a person decides, between turns."""

from __future__ import annotations

from typing import Final

import pytest
from starlette.testclient import TestClient

from engramdown import Cortex, Engram
from tests.web.conftest import kind_of

LIST: Final = "/v1/proposals"
RESOLVE: Final = f"{LIST}/resolve"


@pytest.fixture
def waiting(copilot: Cortex) -> list[str]:
    """Let three proposals wait, and return their ids."""
    texts = ("Use uv", "Never push on Fridays", "CI is slow")
    receipts = copilot.propose([Engram(text, "lesson", "project") for text in texts])
    return [receipt.id for receipt in receipts]


def test_they_come_in_pages(waiting: list[str], program: TestClient) -> None:
    page = program.get(f"{LIST}?limit=2")
    assert page.headers["x-total-count"] == "3"
    rest = program.get(LIST + page.links["next"]["url"])
    assert [each["id"] for each in (*page.json(), *rest.json())] == waiting
    assert "next" not in rest.links


def test_one_is_accepted_as_it_is_or_in_other_words(
    copilot: Cortex, waiting: list[str], person: TestClient
) -> None:
    answer = person.post(f"{LIST}/{waiting[0]}/accept")
    assert (answer.status_code, answer.json()["action"]) == (200, "encoded")
    answer = person.post(f"{LIST}/{waiting[1][:5]}/accept", json={"text": "Push on Mondays"})
    assert answer.json()["text"] == "Push on Mondays"
    assert [entry.text for entry in copilot.entries()] == ["Use uv", "Push on Mondays"]


def test_one_is_declined(copilot: Cortex, waiting: list[str], person: TestClient) -> None:
    answer = person.post(f"{LIST}/{waiting[0]}/decline")
    assert (answer.json()["action"], answer.json()["reason"]) == ("discarded", "declined")
    assert [item.id for item in copilot.pending()] == waiting[1:]
    gone = person.post(f"{LIST}/{waiting[0]}/decline")
    assert (gone.status_code, kind_of(gone)) == (404, "not-found")


def test_several_are_one_step(copilot: Cortex, waiting: list[str], person: TestClient) -> None:
    answers = [{"id": waiting[0]}, {"id": waiting[1]}, {"id": waiting[2], "text": "CI is fast"}]
    answer = person.post(RESOLVE, json={"answers": answers}).json()
    assert [each["action"] for each in answer["receipts"]] == ["encoded"] * 3
    assert answer["pending"] == []
    step, *before = person.get("/v1/steps").json()
    assert len(before) == 1
    # One undo takes all of it back.
    person.post(f"/v1/steps/{step['id']}/undo")
    assert copilot.entries() == []
    assert sorted(item.id for item in copilot.pending()) == sorted(waiting)


def test_several_may_be_decided_differently(
    copilot: Cortex, waiting: list[str], person: TestClient
) -> None:
    decisions = zip(waiting, ("accept", "decline", "skip"), strict=True)
    answers = [{"id": each, "decision": decision} for each, decision in decisions]
    answer = person.post(RESOLVE, json={"answers": answers}).json()
    assert [each["action"] for each in answer["receipts"]] == ["encoded", "discarded", "queued"]
    assert [each["id"] for each in answer["pending"]] == waiting[2:]
    assert [entry.text for entry in copilot.entries()] == ["Use uv"]


@pytest.mark.parametrize(
    "answers, refusal",
    [
        ([], (422, "answers")),
        ([{"id": "ONE"}, {"id": "ONE", "decision": "decline"}], (422, "answers")),
        ([{"id": "ONE", "decision": "perhaps"}], (422, "answers.0.decision")),
        ([{"id": "ONE"}, {"id": "zzzz"}], (404, "")),
    ],
)
def test_nothing_is_carried_out_if_one_is_wrong(
    copilot: Cortex,
    waiting: list[str],
    person: TestClient,
    answers: list[dict[str, str]],
    refusal: tuple[int, str],
) -> None:
    named = [{**each, "id": each["id"].replace("ONE", waiting[0])} for each in answers]
    answer = person.post(RESOLVE, json={"answers": named})
    assert (answer.status_code, answer.json().get("field", "")) == refusal
    assert len(copilot.pending()) == 3


def test_an_empty_text_is_refused(copilot: Cortex, waiting: list[str], person: TestClient) -> None:
    answer = person.post(f"{LIST}/{waiting[0]}/accept", json={"text": " "})
    assert (answer.status_code, answer.json()["field"]) == (422, "text")
    assert len(copilot.pending()) == 3


def test_nobody_decides_in_the_middle_of_a_turn(
    copilot: Cortex, waiting: list[str], person: TestClient
) -> None:
    session = copilot.session()
    session.begin_turn("hello")
    for path, body in (
        (f"{LIST}/{waiting[0]}/accept", None),
        (f"{LIST}/{waiting[0]}/decline", None),
        (RESOLVE, {"answers": [{"id": waiting[0]}]}),
    ):
        answer = person.post(path, json=body)
        assert (answer.status_code, kind_of(answer)) == (409, "mid-turn")
    assert len(person.get(LIST).json()) == 3
    session.end_turn("bye")
    assert person.post(f"{LIST}/{waiting[0]}/accept").status_code == 200
