"""By which words a sentence shows what it is for."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.consolidation.extractive import (
    agrees,
    decides,
    files_in,
    is_file,
    leaves_open,
    names,
    orders,
    tells,
)
from tests.strategies import any_text
from tests.tables import every


@every(
    "said",
    [
        "We decided on SQLite",
        "Let's use uv",
        "Let\u2019s not mock the disk",
        "go with the blue one",
        "Then tabs instead of spaces",
        "We switched the worker to asyncio",
        "we're going to drop Windows 7",
        "From now on all dates are UTC",
        "Wir haben uns für Postgres entschieden",
        "Lass uns pnpm nehmen",
        "dann nehmen wir lieber das zweite",
        "Nicht Redis, sondern Valkey",
        "On a décidé de garder Flask",
        "Usemos Go en vez de Rust",
    ],
)
def test_this_decides(said: str) -> None:
    assert decides(said)


@every(
    "said",
    ["Let's see", "let us know", "let's look at it", "I can not decide", "The state is good"],
)
def test_this_does_not_decide(said: str) -> None:
    assert not decides(said)


@every(
    "said",
    [
        "No, the other file",
        "Actually, make it blue",
        "don't touch main",
        "Ok, use the second one",
        "It has to be under 2 MB",
        "I meant the left one",
        "Bitte nie direkt pushen",
        "Nein, das andere",
        "Der Port soll 8081 sein",
        "Nunca en viernes",
        "Il faut deux relectures",
    ],
)
def test_this_says_how_it_shall_be(said: str) -> None:
    assert orders(said)


@pytest.mark.parametrize(
    "said", ["No problem", "No worries at all", "It works now", "Nobody knows"]
)
def test_this_orders_nothing(said: str) -> None:
    assert not orders(said)


@pytest.mark.parametrize(
    "said", ["TODO: docs", "we still need a logo", "blocked by legal", "Das ist noch offen"]
)
def test_this_is_still_to_be_done(said: str) -> None:
    assert leaves_open(said)


@every(
    "said",
    ["Yes", "ok, do that!", "Sounds good, thanks.", "Ja, passt", "d'accord", "Vale, gracias"],
)
def test_this_is_a_nod(said: str) -> None:
    assert agrees(said)


@pytest.mark.parametrize("said", ["", "Yes, but use 15", "okra", "Good point about the cache"])
def test_this_is_no_nod(said: str) -> None:
    assert not agrees(said)


@every(
    "text, files",
    [
        ("open src/app.py:12:4, please", ["src/app.py"]),
        ("tests/test_a.py::test_b[x] fails", ["tests/test_a.py"]),
        ("(see README.md) and `docs/a-b/c.d.yaml`.", ["README.md", "docs/a-b/c.d.yaml"]),
        ("~/.config/x.toml ../up.ts /etc/a.conf", ["~/.config/x.toml", "../up.ts", "/etc/a.conf"]),
        (r"C:\work\a.cs and .env and Dockerfile", [r"C:\work\a.cs", ".env", "Dockerfile"]),
        ("https://x.org/a.py, Node.js, example.com, v1.2, e.g., and/or, 5 p.m.", []),
        ("", []),
    ],
)
def test_files_are_found_by_their_names(text: str, files: list[str]) -> None:
    assert files_in(text) == files


def test_numbers_and_names_can_be_looked_up() -> None:
    assert tells("on 4 May")
    assert not tells("in May")
    assert names("the MAX_SIZE of fooBar")
    assert not names("It is late")


@given(any_text)
def test_any_text_may_be_asked_about(text: str) -> None:
    for ask in (decides, orders, leaves_open, agrees, tells, names, is_file):
        assert ask(text) in (True, False)
    assert all(is_file(file) for file in files_in(text))
