"""Law: what is read is what was written, one line an episode, for every text."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.transcripts.episode import (
    Episode,
    Pointer,
    as_text,
    cut,
    encode,
    join_surrogates,
    number,
    read_line,
    stamp,
    stamp_of,
    write_line,
)
from tests.episodes.strategies import NASTY, any_value, episodes, texts
from tests.tables import every

HEAD: dict[str, Any] = {
    "seq": 3,
    "ts": "2026-02-27T10:15:00.123456Z",
    "id": "01kjf9gc8v000001",
    "role": "user",
    "text": "hello",
}


def fail(*_: object) -> Any:  # noqa: ANN401 - it returns nothing
    """Raise, as looking into something does that another thread changes."""
    raise ZeroDivisionError


Moody: Final = type("Moody", (dict,), {"items": fail, "__iter__": fail, "__str__": fail})
MoodyList: Final = type("MoodyList", (list,), {"__iter__": fail, "__str__": fail})
Loud: Final = type("Loud", (str,), {"__str__": fail, "isascii": fail})


def line(**changed: object) -> bytes:
    return json.dumps(HEAD | changed).encode()


def without(key: str) -> bytes:
    return json.dumps({name: value for name, value in HEAD.items() if name != key}).encode()


class TestLines:
    """A line is one JSON object that says all of an episode."""

    @given(episodes)
    def test_what_is_read_is_what_was_written(self, episode: Episode) -> None:
        assert read_line(write_line(episode)) == episode

    @given(episodes)
    def test_a_line_ends_once(self, episode: Episode) -> None:
        written = write_line(episode)
        assert written.endswith(b"}\n")
        assert written.count(b"\n") == 1
        written.decode("utf-8")

    @given(episodes)
    def test_what_was_read_is_written_as_it_was(self, episode: Episode) -> None:
        written = write_line(episode)
        again = read_line(written)
        assert again is not None
        assert write_line(again) == written

    @every("text", NASTY)
    def test_nasty_texts_come_back(self, text: str) -> None:
        read = read_line(write_line(Episode(**(HEAD | {"text": text}))))
        assert read is not None
        assert read.text == text

    def test_the_keys_come_in_their_order_and_absent_ones_not_at_all(self) -> None:
        episode = Episode(**HEAD, call="c1", name="shell", more={"x": None}, turn=0)
        assert write_line(episode) == (
            b'{"seq":3,"ts":"2026-02-27T10:15:00.123456Z","id":"01kjf9gc8v000001","role":"user",'
            b'"text":"hello","name":"shell","call":"c1","turn":0,"x":null}\n'
        )

    def test_letters_are_written_as_they_are_and_half_surrogates_escaped(self) -> None:
        assert "naïve".encode() in write_line(Episode(**(HEAD | {"text": "naïve"})))
        assert rb"na\u00efve\ud800" in write_line(Episode(**(HEAD | {"text": "naïve\ud800"})))

    def test_a_line_in_two_pieces_is_the_line(self) -> None:
        episode = Episode(**HEAD)
        rest = encode({key: value for key, value in HEAD.items() if key != "seq"}, {})
        assert number(3, rest) == write_line(episode)

    @every("before", [b"", b"\xef\xbb\xbf"], ids=["plain", "mark"])
    @every("after", [b"", b"\n", b"\r\n"], ids=["bare", "lf", "crlf"])
    def test_what_an_editor_adds_is_no_harm(self, before: bytes, after: bytes) -> None:
        assert read_line(before + line() + after) == Episode(**HEAD)

    def test_the_moment_is_a_time_in_utc(self) -> None:
        assert Episode(**HEAD).at == datetime(2026, 2, 27, 10, 15, 0, 123456, tzinfo=UTC)


class TestNoLines:
    """Bytes that are no episode are told apart."""

    @every(
        "found",
        [
            pytest.param(b"", id="empty"),
            pytest.param(b"{", id="torn"),
            pytest.param(b"\xff\xfe", id="not-utf8"),
            pytest.param(b"[1]", id="list"),
            pytest.param(b"null", id="null"),
            pytest.param(line()[:-1] + b',"x":NaN}', id="nan"),
            pytest.param(line()[:-1] + b',"x":' + b"[" * 100_000, id="deep"),
            pytest.param(line()[:-1] + b',"x":' + b"9" * 5_000 + b"}", id="huge-number"),
            *(pytest.param(without(key), id=f"no-{key}") for key in HEAD),
            pytest.param(line(seq=-1), id="negative"),
            pytest.param(line(seq=True), id="boolean-seq"),
            pytest.param(line(seq="3"), id="text-seq"),
            pytest.param(line(ts="2026-02-27 10:15:00"), id="other-time"),
            pytest.param(line(ts="2026-13-27T10:15:00.123456Z"), id="no-such-month"),
            pytest.param(line(ts=5), id="number-as-time"),
            pytest.param(line(id=""), id="no-id"),
            pytest.param(line(role="narrator"), id="unknown-role"),
            pytest.param(line(role=["user"]), id="list-as-role"),
            pytest.param(line(text=None), id="null-text"),
        ],
    )
    def test_they_are_none(self, found: bytes) -> None:
        assert read_line(found) is None

    @given(st.binary())
    def test_any_bytes_are_an_episode_or_none(self, found: bytes) -> None:
        assert read_line(found) is None or found.strip().startswith((b"{", b"\xef\xbb\xbf"))

    @every(
        "key, value",
        [
            ("name", 5),
            ("call", ""),
            ("ms", "9"),
            ("ms", True),
            ("ms", 10**400),
            ("error", 1),
            ("model", []),
            ("turn", 1.5),
            ("cut", -1),
            ("payload", {}),
            ("recalled", "a#1"),
            ("recalled", [1]),
            ("meta", []),
            ("event", "pause"),
        ],
    )
    def test_a_known_key_with_a_wrong_value_is_kept_aside(self, key: str, value: object) -> None:
        read = read_line(line(**{key: value}))
        assert read is not None
        assert read.more == {key: value}
        assert json.loads(write_line(read)) == HEAD | {key: value}

    def test_a_number_beyond_all_bounds_is_written_as_words(self) -> None:
        read = read_line(line()[:-1] + b',"ms":1e999,"x":1e999}')
        assert read is not None
        assert json.loads(write_line(read)) == HEAD | {"ms": "inf", "x": "inf"}


class TestValues:
    """Whatever a tool is given can be said in a line."""

    @given(any_value)
    def test_any_value_has_a_text(self, value: object) -> None:
        text = as_text(value)
        read = read_line(write_line(Episode(**(HEAD | {"text": text}))))
        assert read is not None
        assert read.text == text

    @given(st.dictionaries(texts, any_value, max_size=3))
    def test_any_value_can_be_kept_with_an_episode(self, meta: dict[str, object]) -> None:
        assert read_line(write_line(Episode(**HEAD, meta=meta))) is not None

    @every(
        "value, text",
        [
            ("as it is", "as it is"),
            ({"cmd": "ls", "all": True}, '{"cmd": "ls", "all": true}'),
            ({"naïve": None}, '{"naïve": null}'),
            ([float("nan"), 1.5], '["nan", 1.5]'),
            ({(1, 2): {3}}, '{"(1, 2)": [3]}'),
            (datetime(2026, 2, 27, tzinfo=UTC), '"2026-02-27 00:00:00+00:00"'),
        ],
    )
    def test_values_read_as_a_person_would_write_them(self, value: object, text: str) -> None:
        assert as_text(value) == text

    def test_a_number_of_thousands_of_digits_is_said_in_hexadecimal(self) -> None:
        assert as_text([10**5_000, True]) == f'["{10**5_000:#x}", true]'

    def test_what_holds_itself_comes_to_an_end(self) -> None:
        loop: list[object] = [1]
        loop.append(loop)
        assert as_text(loop) == '[1, "…"]'

    def test_so_does_what_is_very_deep(self) -> None:
        deep: list[object] = []
        for _ in range(5_000):
            deep = [deep]
        assert as_text(deep) == "[" * 100 + '"…"' + "]" * 100

    def test_an_object_without_words_is_named(self) -> None:
        class Shy:
            def __str__(self) -> str:
                raise LookupError

        assert as_text([Shy()]) == '["<Shy: LookupError>"]'

    @pytest.mark.parametrize(
        "value", [Moody(a=1), [Moody(a=1)], {"a": Moody(a=1)}, MoodyList([1])], ids=repr
    )
    def test_what_cannot_be_looked_into_is_named(self, value: object) -> None:
        assert "ZeroDivisionError" in as_text(value)
        rest = {key: said for key, said in HEAD.items() if key != "seq"} | {"meta": value}
        line = number(1, encode(rest, {}))
        assert b"ZeroDivisionError" in line
        assert read_line(line) is not None

    def test_a_text_of_another_class_is_its_letters(self) -> None:
        assert as_text(Loud("a")) == "a"

    def test_a_pair_of_surrogates_is_the_character_that_it_means(self) -> None:
        assert as_text("\ud83d\ude00") == join_surrogates("\ud83d\ude00") == "\U0001f600"
        assert as_text(["\ud83d\ude00"]) == '["\U0001f600"]'
        assert join_surrogates("\ude00\ud83d") == "\ude00\ud83d"


class TestCutting:
    """A text is cut between two characters, and its length is known."""

    @given(texts, st.integers(0, 20))
    def test_it_is_a_beginning_and_the_length(self, text: str, limit: int) -> None:
        shown, length = cut(text, limit)
        assert text.startswith(shown)
        assert len(shown) <= limit
        assert (length is None) == (shown == text)
        assert length in (None, len(text))


class TestTimes:
    """Times are UTC with six digits behind the point."""

    def test_a_zone_is_carried_over(self) -> None:
        at = datetime(2026, 2, 27, 1, 15, tzinfo=timezone(timedelta(hours=2)))
        assert stamp(at) == "2026-02-26T23:15:00.000000Z"

    @given(st.datetimes(datetime(1970, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - as asked
    def test_a_count_of_nanoseconds_is_the_same_moment(self, at: datetime) -> None:
        assert stamp_of(
            (at - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1) * 1000
        ) == (stamp(at))


class TestPointers:
    """A pointer names a session and an episode."""

    @given(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True), st.integers(0, 10**9))
    def test_it_reads_as_it_was_written(self, session: str, seq: int) -> None:
        assert Pointer.parse(str(Pointer(session, seq))) == (session, seq)

    @every("text", ["", "a", "#1", "a#", "a#x", "a#-1", "../a#1", "a#1#2", "A#1"])
    def test_anything_else_is_none(self, text: str) -> None:
        assert Pointer.parse(text) is None
