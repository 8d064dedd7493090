"""Law: an id that is accepted is a safe file name on every system, and its own only spelling."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.errors import EngramdownError, InvalidSessionError
from engramdown.transcripts.episode import (
    LONGEST,
    check_session_id,
    episode_id,
    is_like,
    is_session_id,
    session_id,
    session_of,
)
from tests.tables import every

REFUSED = {
    "empty": "",
    "dot": ".",
    "dots": "..",
    "above": "../x",
    "absolute": "/etc/x",
    "folder": "a/b",
    "backslash": "a\\b",
    "drive": "c:x",
    "capital": "Release",
    "device": "con",
    "device-in-capitals": "CON",
    "device-with-ending": "nul.md",
    "port": "com1",
    "port-with-endings": "lpt9.tar.gz",
    "long": "x" * (LONGEST + 1),
    "very-long": "é" * 100_000,
    "trailing-dot": "a.",
    "trailing-space": "a ",
    "space": "a b",
    "nul": "a\x00b",
    "newline": "a\n",
    "hidden": ".a",
    "option": "-a",
    "underscore": "_a",
    "accent": "é",
    "combining": "e\u0301",
    "dotless": "\u0131",
    "digit-of-another-script": "\u0663",
    "surrogate": "\ud800",
    "pointer": "a#1",
    "only-bad": "///",
    "long-device": "con." + "x" * 200,
}


@every("value", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_safe_name_is_refused_with_one_that_is(value: str) -> None:
    with pytest.raises(InvalidSessionError) as caught:
        check_session_id(value)
    assert caught.value.value == value
    assert is_session_id(caught.value.suggestion)
    assert caught.value.suggestion in str(caught.value)
    assert str(caught.value).isascii() or len(value) > 60
    assert isinstance(caught.value, EngramdownError)
    assert isinstance(caught.value, ValueError)


@every("value", [each for each in REFUSED.values() if each])
def test_a_program_may_call_a_session_as_it_likes(value: str) -> None:
    found = session_of(value)
    assert is_session_id(found)
    assert session_of(found) == found


@given(
    st.lists(st.text(st.characters(codec=None), min_size=1), min_size=2, max_size=5, unique=True)
)
def test_no_two_names_of_sessions_share_one(names: list[str]) -> None:
    assert len({session_of(name) for name in names}) == len(names)


def test_a_session_is_called_like_its_name_and_no_secret_in_it_is_told() -> None:
    assert session_of("support-42") == "support-42"
    assert session_of("user/42").startswith("user-42-")
    assert session_of("User/42") != session_of("user/42")
    assert "16c7e42f" not in session_of("for ghp_16C7e42F292c6912E7710c838347Ae178B4a")


def test_a_session_without_a_name_is_none() -> None:
    with pytest.raises(InvalidSessionError, match="is empty"):
        session_of("")


def test_a_secret_in_the_place_of_a_name_is_not_told() -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    with pytest.raises(InvalidSessionError) as caught:
        check_session_id(secret)
    assert secret[4:12].lower() not in str(caught.value).lower()


@every(
    "value", ["a", "0", "20260227-101500-4f2a", "telegram_42", "v1.2", "console", "com", "x" * 100]
)
def test_plain_names_are_taken_as_they_are(value: str) -> None:
    assert check_session_id(value) == value


@given(st.text())
@example("İ")
@example("CON")
@example("con." + "x" * 99)
@example("x" * 99 + "..")
def test_any_text_is_an_id_or_leads_to_one(value: str) -> None:
    if is_session_id(value):
        assert check_session_id(value) == value.lower()
    else:
        with pytest.raises(InvalidSessionError) as caught:
            check_session_id(value)
        assert is_session_id(caught.value.suggestion)


@every(
    "value, suggestion",
    [
        ("Release Notes", "release-notes"),
        ("../x", "x"),
        ("CON", "session-con"),
        ("naïve", "naive"),
        ("日本", "session"),
    ],
)
def test_the_suggestion_looks_like_what_was_meant(value: str, suggestion: str) -> None:
    with pytest.raises(InvalidSessionError, match=f"try '{suggestion}'"):
        check_session_id(value)


def test_a_new_id_says_when_and_differs() -> None:
    at = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
    assert session_id(at, 0x4F2A) == "20260227-101500-4f2a"
    assert session_id(at, 0x1_0000) == "20260227-101500-0000"
    assert is_session_id(session_id(at, 7))


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**48 - 1), st.integers(0), st.integers(0))
def test_ids_of_episodes_sort_by_time(first: int, second: int, a: int, b: int) -> None:
    one, other = episode_id(first, a), episode_id(second, b)
    assert len(one) == len(other) == 16
    if first < second:
        assert one < other
    assert (one == other) == (first == second and (a - b) % 2**30 == 0)


@every(
    "value, patterns, like",
    [
        pytest.param("cron-7", ["chat", "cron-?"], True, id="one-of-them"),
        pytest.param("cron-77", ["cron-?"], False, id="too-long"),
        pytest.param("nightly", ["Night*"], True, id="capitals"),
        pytest.param("nightly", ["night"], False, id="the-whole-of-it"),
        pytest.param(7, ["*"], False, id="no-text"),
        pytest.param("any", [], False, id="no-pattern"),
    ],
)
def test_an_id_is_like_a_pattern(value: object, patterns: list[str], like: bool) -> None:  # noqa: FBT001 - a case
    assert is_like(value, patterns) is like
