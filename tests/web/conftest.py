"""What a test of the HTTP API gets: a server in this process, and who talks to it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import pytest
from httpx2 import Response
from openapi_schema_validator import OAS31Validator
from starlette.testclient import TestClient

from engramdown import Cortex
from engramdown.web import Address, Keys, WorkerPool, cass
from engramdown.web.app import ROUTES, application, routes_for
from engramdown.web.events import Events
from engramdown.web.routes import Service
from engramdown.web.service import document
from tests.cli.conftest import Runner
from tests.conftest import PATIENCE
from tests.cortex.person import Person

PORT: Final = 8378
HERE: Final = f"http://127.0.0.1:{PORT}"

Clients = Callable[..., TestClient]
"""Returns a client of a server of its own: ``clients(person=True, is_read_only=True)``."""


@pytest.fixture(autouse=True)
def patient_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no search be refused because this machine takes long to make the index."""
    monkeypatch.setattr(cass, "_PATIENCE", PATIENCE)


@pytest.fixture
def keys(cortex: Cortex) -> Keys:
    """Return the keys of the user."""
    home = cortex.scopes.home_root
    assert home is not None
    return Keys(home)


@pytest.fixture
def clients(cortex: Cortex, keys: Keys) -> Iterator[Clients]:
    """Return what makes clients."""
    with ExitStack() as stack:
        unused = stack.enter_context(closing(socket.socket()))

        def make(key: str | None, *, is_read_only: bool = False) -> TestClient:
            pool = WorkerPool(cortex)
            stack.callback(pool.close)
            routes = routes_for(is_read_only=is_read_only)
            address = Address(unused, "127.0.0.1", PORT)
            shared = Service(address, keys, Events(cortex), routes, is_read_only)
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            client = TestClient(application(shared, pool), HERE, headers=headers)
            return stack.enter_context(client)

        yield make


@pytest.fixture
def person_key(keys: Keys) -> str:
    """Return the key of a person's page."""
    key = keys.trade(keys.new_code())
    assert key is not None
    return key.secret


@pytest.fixture
def program(clients: Clients, keys: Keys) -> TestClient:
    """Return a program that shows the token."""
    return clients(keys.token)


@pytest.fixture
def person(clients: Clients, person_key: str) -> TestClient:
    """Return the page of a person, with its key."""
    return clients(person_key)


@pytest.fixture
def nobody(clients: Clients) -> TestClient:
    """Return a client without a key."""
    return clients(None)


@pytest.fixture
def editor(project: Path) -> Person:
    """Return somebody who edits the project's memory by hand."""
    return Person(project / ".engramdown")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return what runs commands."""
    return Runner(capsys, monkeypatch)


@pytest.fixture
def printed(project: Path, run: Runner) -> Callable[..., Any]:
    """Return what runs a command in the project, and returns what its ``--json`` prints."""
    return lambda *words: run("-C", str(project), *words, "--json").json


def kind_of(answer: Response) -> str:
    """Return what kind of problem an answer is."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    kind: str = answer.json()["type"].rpartition(":")[2]
    return kind


def described(name: str, answer: Response) -> None:
    """Check that an answer is as the description of the API says."""
    found = document(ROUTES)
    operations = (each for ways in found["paths"].values() for each in ways.values())
    operation = next(each for each in operations if each["operationId"] == name)
    content = operation["responses"][str(answer.status_code)]["content"]["application/json"]
    schema = {**content["schema"], "components": found["components"]}
    wrong = [error.message for error in OAS31Validator(schema).iter_errors(answer.json())]
    assert not wrong, (name, wrong)
