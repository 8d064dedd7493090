"""Where a model is, and which key goes there."""

from __future__ import annotations

import pytest

from engramdown.integrations.chat.endpoint import Address, AddressError, address_of
from tests.tables import every

KEYS = {"OPENAI_API_KEY": "of openai", "ENGRAMDOWN_MODEL_KEY": "of mine"}


@every(
    "name, base_url, model, url, key",
    [
        pytest.param(
            *("gpt-5-mini", "", "gpt-5-mini", "https://api.openai.com/v1", "of openai"), id="openai"
        ),
        pytest.param(
            *("openai/o9", "", "o9", "https://api.openai.com/v1", "of openai"), id="with-provider"
        ),
        pytest.param(
            *("ollama/small", "", "small", "http://localhost:11434/v1", "of mine"), id="ollama"
        ),
        pytest.param(
            *("ollama/small", "http://box:1/v1", "small", "http://box:1/v1", "of mine"),
            id="ollama-elsewhere",
        ),
        pytest.param(
            *("qwen/qwen3", "http://[::1]:1234/v1", "qwen/qwen3", "http://[::1]:1234/v1"),
            "of mine",
            id="with-a-slash",
        ),
    ],
)
def test_a_model_is_found(name: str, base_url: str, model: str, url: str, key: str) -> None:
    found = address_of(name, base_url, KEYS)
    assert found[:4] == (name, model, url, key)


def test_the_key_of_openai_goes_to_no_other_server() -> None:
    found = address_of("openai/x", "https://elsewhere.example/v1", {"OPENAI_API_KEY": "secret"})
    assert (found.key, found.wanted) == ("none", "ENGRAMDOWN_MODEL_KEY")


def test_where_a_person_sends_that_key_it_goes() -> None:
    there = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://gate.example/v1"}
    found = address_of("vendor/model", "", there)
    assert (found.url, found.model, found.key) == (there["OPENAI_BASE_URL"], "vendor/model", "k")


def test_without_a_key_there_is_none() -> None:
    assert address_of("x", "", {}).key == ""


@every(
    "name, base_url, environment, reason",
    [
        pytest.param("", "", {}, "no name", id="empty"),
        pytest.param("ollama/", "", {}, "no name", id="only-a-provider"),
        pytest.param("anthropic/x", "", {}, "no server is known for anthropic/…", id="unknown"),
        pytest.param("x", "localhost:1234", {}, "--base-url must be", id="no-scheme"),
        pytest.param("x", "http://", {}, "--base-url must be", id="no-host"),
        pytest.param("x", "http://[1/", {}, "--base-url must be", id="torn"),
        pytest.param("x", "http://a:0/", {}, "--base-url must be", id="port-0"),
        pytest.param("x", "http://a:99999/", {}, "--base-url must be", id="port-too-high"),
        pytest.param("x", "", {"OPENAI_BASE_URL": "x"}, "OPENAI_BASE_URL must", id="environment"),
    ],
)
def test_what_leads_nowhere_is_refused(
    name: str, base_url: str, environment: dict[str, str], reason: str
) -> None:
    with pytest.raises(AddressError, match=reason):
        address_of(name, base_url, environment)


def test_a_person_is_told_no_password() -> None:
    assert Address("x", "x", "https://me:secret@a.example:8/v1", "k", "K").host == "a.example:8"
    assert Address("x", "x", "https://me:secret@a.example/v1", "k", "K").host == "a.example"
