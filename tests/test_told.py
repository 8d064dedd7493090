"""Secrets told in prose are found; talk about them is left alone."""

from __future__ import annotations

import pytest

from engramdown.redaction import find_secrets, redact
from engramdown.told import find_told_keys, find_told_passwords
from tests.corpora import secrets_told_held_out
from tests.corpora.pieces import BASE64, HEX, UPPER36, chars

ID = "AKIA" + chars("test_told/id", UPPER36, 16)
KEY = chars("test_told/key", BASE64, 40)


def passwords(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_told_passwords(text)]


def keys(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_told_keys(text)]


@pytest.mark.parametrize(
    "text, value",
    [
        pytest.param("log in as ann/{}", "plum77x", id="pair"),
        pytest.param("Creds: ann : {}.", "plum77x", id="spaced"),
        pytest.param("(login with ann:{})", "plum77x", id="in-brackets"),
        pytest.param("use the password '{}'", "plum#tree", id="quoted"),
        pytest.param("user ann pw {}, port 22", "plum77", id="user"),
    ],
)
def test_a_password_that_is_told_is_found(text: str, value: str) -> None:
    assert passwords(text.replace("{}", value)) == [value]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("log in as ann/marigold", id="word"),
        pytest.param("log in as ann/20260227", id="number"),
        pytest.param("log in as ann/sha256ab", id="name"),
        pytest.param("log in as ann/plum-77", id="name-with-a-number"),
        pytest.param("log in as ann/step77/x", id="path"),
        pytest.param("use the password ${PLUM77}", id="placeholder"),
        pytest.param("the password plum77x", id="not-told"),
    ],
)
def test_a_word_a_name_and_a_path_are_left_alone(text: str) -> None:
    assert passwords(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"id {ID}, and then, for what it is worth, {KEY}.", id="behind"),
        pytest.param(f"{KEY} belongs to\n{ID}", id="in-front"),
    ],
)
def test_a_key_near_its_id_is_found(text: str) -> None:
    assert keys(text) == [KEY]
    assert KEY not in redact(text)
    assert {secret.kind for secret in find_secrets(text)} == {"AWS access key", "AWS secret key"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{ID}{' ' * 200}{KEY}", id="far"),
        pytest.param(f"{ID} in commit {chars('test_told/sha', HEX, 40)}", id="commit"),
        pytest.param(f"{ID} may read /srv/data/reports/of/the/last/yearss/ab", id="path"),
        pytest.param(f"{ID} has {KEY}{KEY}", id="longer"),
        pytest.param(f"the id {ID.lower()}, the key {KEY}", id="no-id"),
    ],
)
def test_what_is_no_key_near_its_id_is_left_alone(text: str) -> None:
    assert keys(text) == []


# A change of these figures is a change of what README.md may say: benchmarks/secrets.py.
def test_what_was_held_out_is_found_as_often_as_is_said() -> None:
    found = [
        not planted.is_left_in(redact(planted.text)) for planted in secrets_told_held_out.planted()
    ]
    alarms = [text for text in secrets_told_held_out.harmless() if find_secrets(text)]
    assert (sum(found), len(found), len(alarms)) == (15, 16, 0)
