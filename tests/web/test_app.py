"""What holds for every route: keys, problems, the description."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

import pytest
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from engramdown import Cortex, __version__
from engramdown.web import Keys
from engramdown.web.address import bind
from engramdown.web.app import ROUTES
from engramdown.web.routes import Route
from tests.conftest import ROOT
from tests.tables import every
from tests.web.conftest import Clients

PROBLEM: Final = "application/problem+json"


def test_it_says_its_version_and_nothing_else_without_a_key(nobody: TestClient) -> None:
    assert nobody.get("/health").json() == {"version": __version__}
    assert nobody.get("/v1/stats").status_code == 401


def test_what_is_answered_goes_out_at_once() -> None:
    async def answered() -> int:
        told: list[int] = []

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            kept = writer.get_extra_info("socket")
            told.append(kept.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        address = bind()
        async with await asyncio.start_server(answer, sock=address.socket):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            await reader.read()
            writer.close()
            await writer.wait_closed()
        return told[0]

    assert asyncio.run(answered())


def test_its_description_is_valid_and_complete(nobody: TestClient) -> None:
    found = nobody.get("/openapi.json").json()
    validate(found)
    described = {(method, path) for path, ways in found["paths"].items() for method in ways}
    assert described == {(each.method.lower(), each.path) for each in ROUTES if each.is_listed}


def test_every_route_has_its_place_in_the_docs() -> None:
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    listed = [route for route in ROUTES if route.is_listed]
    described = {
        route.name: f"`{route.method} {route.path}`{' †' if route.need == 'person' else ''}"
        for route in listed
    }
    assert [name for name, words in described.items() if words not in page] == []


def test_every_route_has_a_name_of_its_own() -> None:
    names = [route.name for route in ROUTES if route.is_listed]
    assert len({*names}) == len(names)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


@every("route", [route for route in ROUTES if route.need != "nothing"])
def test_a_route_wants_the_key_that_it_says(
    nobody: TestClient, program: TestClient, route: Route
) -> None:
    path = route.path.replace("{", "").replace("}", "")
    refused = nobody.request(route.method, path)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    if route.need == "person":
        problem = program.request(route.method, path)
        assert (problem.status_code, problem.json()["type"].rpartition(":")[2]) == (
            403,
            "not-yours",
        )


def test_with_the_token_nothing_is_changed_but_by_proposing_and_asking_for_a_summary() -> None:
    changing = {each.path for each in ROUTES if each.changes and each.need != "person"}
    assert changing == {"/v1/memories", "/memory/summarize"}
    assert {each.path for each in ROUTES if each.path.endswith("/export")} == {"/v1/export"}
    (export,) = (each for each in ROUTES if each.path == "/v1/export")
    assert export.need == "person"


def test_what_changes_nothing_is_all_there_is_to_read_only(clients: Clients, keys: Keys) -> None:
    found = clients(keys.token, is_read_only=True).get("/openapi.json").json()["paths"]
    described = {(method.upper(), path) for path, ways in found.items() for method in ways}
    changing = {(route.method, route.path) for route in ROUTES if route.changes}
    assert not described & changing


@pytest.mark.parametrize(
    "method, path, status, kind",
    [
        ("GET", "/v1/nothing", 404, "not-found"),
        ("GET", "/health/", 404, "not-found"),
        ("PUT", "/health", 405, "no-such-method"),
        ("OPTIONS", "/health", 405, "no-such-method"),
        ("GET", "/health?x=1", 422, "invalid"),
    ],
)
def test_what_there_is_not_is_a_problem(
    person: TestClient, method: str, path: str, status: int, kind: str
) -> None:
    answer = person.request(method, path)
    assert answer.headers["content-type"] == PROBLEM
    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (status, status)
    assert problem["type"] == f"urn:engramdown:problem:{kind}"
    assert problem["title"]
    assert problem["detail"]


def test_a_mistake_of_the_server_is_a_problem_that_tells_nothing(
    clients: Clients, person_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Keys) -> None:
        raise RuntimeError("what nobody should read")

    monkeypatch.setattr(Keys, "listed", fails)
    page = clients(person_key)
    page._transport.raise_server_exceptions = False  # type: ignore[attr-defined]  # of the test
    answer = page.get("/v1/keys")
    assert (answer.status_code, answer.headers["content-type"]) == (500, PROBLEM)
    assert "nobody should read" not in answer.text
    assert "RuntimeError" in answer.json()["detail"]


def test_what_failed_may_be_sent_again_under_the_same_key(
    program: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"text": "We deploy on Mondays", "kind": "lesson"}
    named = {"Idempotency-Key": "one"}

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Cortex, "propose", fails)
        assert program.post("/v1/memories", json=told, headers=named).status_code == 503
    first = program.post("/v1/memories", json=told, headers=named)
    again = program.post("/v1/memories", json=told, headers=named)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    other = program.post("/v1/memories", json={**told, "text": "Other"}, headers=named)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
