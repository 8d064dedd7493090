"""A value counts as far as the name in front of it is to be believed."""

from __future__ import annotations

import pytest

from engramdown.secrets import assignments
from engramdown.secrets.assignments import find_named, is_placeholder
from tests.corpora.pieces import ALNUM, chars
from tests.tables import every

HEX = chars("credentials/hex", "0123456789abcdef", 32)


def values(text: str) -> list[str]:
    """Return what :func:`find_named` finds, as text."""
    return sorted({text[start:end] for start, end, _ in find_named(text)})


@every(
    "text, value",
    [
        pytest.param("password: {}", "plum7x", id="six-with-a-digit"),
        pytest.param("password: '{}'", "plum", id="a-word-in-quotes"),
        pytest.param("PASSWORD={}", "aardvark", id="a-word-in-a-file-of-variables"),
        pytest.param("my password is {}.", "aardvark", id="a-word-that-is-told"),
        pytest.param("password: {}", "vmMCEvKt", id="capitals-where-no-word-has-them"),
        pytest.param("passphrase: '{}'", "four words make one", id="a-phrase"),
        pytest.param("password: {}", "a,b;c&7d", id="with-signs-that-end-others"),
        pytest.param("(password={})", "plum7x", id="in-brackets"),
        pytest.param("token={};x=1", chars("credentials/a", ALNUM, 20), id="before-another-name"),
        pytest.param("token: password: {}", "plum7x", id="behind-another-name"),
        pytest.param("the key of the sandbox is `{}`", HEX, id="hexadecimal"),
        pytest.param('key: "\\"password\\": \\"{}\\""', "plum7x", id="quoted-twice"),
    ],
)
def test_a_value_counts(text: str, value: str) -> None:
    assert values(text.replace("{}", value)) == [value]


@every(
    "text",
    [
        pytest.param("password: plum", id="a-word"),
        pytest.param(f"key: {HEX}", id="a-digest"),
        pytest.param(f"the cache key is {HEX}", id="a-key-that-anybody-may-see"),
        pytest.param("password: plu7", id="too-short"),
        pytest.param("passwort: 'geheimnis\u00df'", id="letters-of-another-language"),
        pytest.param("password: 'at least 8 letters'", id="a-sentence"),
        pytest.param("passphrase: 'two words'", id="two-words"),
        pytest.param("password: newPassword2", id="a-name"),
        pytest.param("password: UserIdField", id="a-type"),
        pytest.param("the password is aardvark.", id="a-word-that-nobody-owns"),
        pytest.param("my password is aardvark milk", id="not-the-last-word"),
        pytest.param("his password -> aardvark.", id="not-said"),
        pytest.param("my password is complicated.", id="what-one-says-of-it"),
        pytest.param('login "password" "aardvark"', id="no-sign"),
        pytest.param("secret: 'aardvark-milk'", id="a-name-with-a-hyphen"),
        pytest.param("token: plum2024", id="a-word-with-a-year"),
        pytest.param("token: 'a b c d e f 1 2 3'", id="spaces"),
        pytest.param("token: 1234567890", id="a-number"),
        pytest.param("key: plum-7x-2024-a8-kq", id="a-slug"),
        pytest.param("key = self.token2[17]", id="code"),
        pytest.param("password: /Users/ann1/x", id="a-path"),
        pytest.param("PublicKey = " + chars("credentials/b", ALNUM, 43), id="a-public-key"),
        pytest.param("token: pk_test_" + chars("credentials/c", ALNUM, 24), id="publishable"),
    ],
)
def test_a_value_does_not_count(text: str) -> None:
    assert values(text) == []


@every(
    "value",
    ["<your key>", "${KEY}", "$KEY", "{{ key }}", "%KEY%", "sk-...", "xxxx", "****", "changeme"],
)
def test_a_placeholder_is_known(value: str) -> None:
    assert is_placeholder(value)


@every("value", ["a8Kq0Zw", "myth0logy", "youth7", "pa$word", "x-x-x"])
def test_a_value_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


def test_names_are_looked_for_in_small_letters() -> None:
    assert all(name == name.lower() for name in assignments.NAMES)
    assert values("unrelated words only") == []


def test_the_cost_of_values_that_do_not_count_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []
    monkeypatch.setattr(assignments, "_counts", lambda given: judged.append(len(given.value)))
    work = []
    for length in (10_000, 40_000):
        judged.clear()
        values("token=" * (length // 6))
        work.append(sum(judged))
    assert work[1] < 4.2 * work[0]
