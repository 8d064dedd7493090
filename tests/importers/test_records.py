"""Law: whatever a source writes, a time is one that can be or none, and a text is a text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engramdown.importers.records import Fields, content_text, digest, number, time_of
from tests.episodes.strategies import any_value, texts
from tests.tables import every

MOMENT = datetime(2026, 2, 27, 10, 15, 0, 123456, tzinfo=UTC)
SECONDS = 1_772_187_300


@every(
    "value",
    [
        "2026-02-27T10:15:00.123456Z",
        "2026-02-27T11:15:00.123456+01:00",
        "2026-02-27 10:15:00.123456",
        " 2026-02-27T10:15:00.123456789Z ",
        "20260227T101500.123456Z",
        1_772_187_300.123456,
        "1772187300.123456",
        1_772_187_300_123.456,
        1_772_187_300_123_456,
        1_772_187_300_123_456_789,
        "1772187300123456",
    ],
)
def test_a_time_is_read_exactly(value: object) -> None:
    assert time_of(value) == MOMENT


def test_whole_numbers_are_seconds_or_milliseconds() -> None:
    assert time_of(SECONDS) == time_of(SECONDS * 1_000) == MOMENT.replace(microsecond=0)


@every(
    "value",
    [
        None,
        "",
        "yesterday",
        True,
        0,
        -1,
        0.0,
        float("nan"),
        float("inf"),
        10**30,
        2 * 10**20,
        "0001-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "123456789012345678901234567890",
        [],
        {},
    ],
    ids=str,
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert time_of(value) is None


@given(st.datetimes(timezones=st.timezones()).filter(lambda at: 1971 < at.year < 9999))
def test_every_written_time_comes_back(at: datetime) -> None:
    assert time_of(at.isoformat()) == at.astimezone(UTC)


@given(st.integers(SECONDS * 1_000_000, SECONDS * 1_000_001))
def test_every_microsecond_comes_back(count: int) -> None:
    assert time_of(count) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=count)


@given(any_value)
def test_nothing_is_an_exception(value: Any) -> None:  # noqa: ANN401 - anything at all
    assert isinstance(content_text(value), str)
    assert time_of(value) is None or isinstance(time_of(value), datetime)
    members = Fields({"a": value})
    assert isinstance(members.text("a"), str)
    assert isinstance(members.fields("a"), dict)
    assert isinstance(members.list("a"), list)
    assert members.time("a") == time_of(value)
    assert number(value) is None or number(value) == value


@every(
    "content, text",
    [
        (None, ""),
        ("words", "words"),
        ("\ud83d\ude00", "\U0001f600"),
        ([], ""),
        (["a", {"type": "text", "text": "b"}, None], "a\nb"),
        ({"type": "input_audio", "transcript": "spoken"}, "spoken"),
        ({"type": "tool_result", "content": [{"type": "text", "text": "deep"}]}, "deep"),
        ({"type": "image_url", "image_url": {"url": "data:…"}}, "[image]"),
        ({"content_type": "image_asset_pointer"}, "[image]"),
        ({"content_type": "real_time_user_audio_video_asset_pointer"}, "[audio]"),
        ({"type": "file", "file": {"filename": "a.pdf"}}, "[file a.pdf]"),
        ({"type": "document", "title": "Plan"}, "[document Plan]"),
        ({"type": "odd", "x": 1}, '{"type": "odd", "x": 1}'),
        (5, "5"),
    ],
)
def test_content_is_words(content: object, text: str) -> None:
    assert content_text(content) == text


def test_content_that_is_too_deep_is_json() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]
    assert content_text(deep) == "[" * 42 + '"x"' + "]" * 42


@given(st.lists(texts), st.lists(texts))
def test_no_two_lists_of_texts_share_a_digest(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


@every("value", [True, -1, 1e20, "5", None, float("nan")])
def test_what_is_no_count_is_no_number(value: object) -> None:
    assert number(value) is None
